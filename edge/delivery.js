// SPDX-License-Identifier: Apache-2.0
// The page of delivery: what this worker has taken, keeps, has sent on and has refused, in plain
// words, for whoever has the admin token. A form asks for the token and posts it, so it is in no
// URL; nothing is remembered, and no script runs. The aggregator has a page for its half.

import { requireToken } from './bearer.js';
import { BODY_TIMEOUT_MS, readBody } from './body.js';
import { REPORT_REFUSALS } from './errors.js';

/**
 * @typedef {import('./incoming.js').Answer} Answer
 * @typedef {import('./incoming.js').Incoming} Incoming
 * @typedef {import('./metrics.js').Counted} Counted
 * @typedef {import('./metrics.js').Refusals} Refusals
 *
 * @typedef {object} Sources  of the handler's dependencies
 * @property {Map<string, Counted>} collections
 * @property {Map<string, Counted>} [tasks]
 * @property {Refusals} [refusals]
 * @property {string} [aggregator]
 * @property {() => number} now
 * @property {number} [bodyTimeoutMs]
 *
 * @typedef {[string, string | number, string]} Row  what is counted, the figure, what it means
 */

const FORM_BYTES = 2048; // a token of 512 characters, each escaped in three, and the field's name

const STYLE = `:root{color-scheme:light dark;--bg:#fcfcfb;--fg:#1c2326;--soft:#5c686d;--line:#d9dedc;--card:#fff;--warn:#8a5a00}
@media(prefers-color-scheme:dark){:root{--bg:#11181a;--fg:#e4eae9;--soft:#9aa8a9;--line:#2b3639;--card:#172022;--warn:#e0b25c}}
*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.45 system-ui,sans-serif}
main{max-width:56rem;margin:0 auto;padding:1.5rem 1rem}h1{font-size:1.5rem;margin:0}h2{font-size:1.15rem;margin:0;overflow-wrap:anywhere}
p,td:last-child{color:var(--soft)}section,form{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:1rem;margin:1.1rem 0}
table{width:100%;border-collapse:collapse;margin-top:.6rem}caption{position:absolute;clip-path:inset(50%)}
th,td{text-align:left;vertical-align:top;padding:.4rem .8rem .4rem 0;border-top:1px solid var(--line);font-weight:400}
thead th{color:var(--soft);font-size:.85rem;border:0}td.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums;font-weight:600;color:var(--fg)}
th:first-child{width:10rem}th:nth-child(2){width:6.5rem;text-align:right}tr.look th,tr.look .n{color:var(--warn);font-weight:600}a{color:inherit}
label{display:block}input,button{font:inherit;margin-top:.5rem;padding:.35rem .6rem;max-width:100%;color:inherit;background:var(--bg);border:1px solid var(--soft);border-radius:.4rem}
@media(max-width:40rem){thead{position:absolute;clip-path:inset(50%)}tr{display:grid;grid-template-columns:1fr auto;border-top:1px solid var(--line);padding:.4rem 0}th,td{border:0;padding:.1rem 0}td:last-child{grid-column:1/-1}}`;

/** @type {string | null} */
let policy = null;

/** The Content-Security-Policy that lets the one style sheet in, and forms to this server. */
async function policyOf() {
  if (policy !== null) return policy;
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(STYLE));
  const hash = btoa(String.fromCharCode(...new Uint8Array(bytes)));
  policy = `default-src 'none';style-src 'sha256-${hash}';base-uri 'none';form-action 'self';frame-ancestors 'none'`;
  return policy;
}

/**
 * Answers the path /delivery. A program may send the token as Bearer instead.
 * @param {Incoming} request
 * @param {Sources} sources
 * @param {string} token
 * @returns {Promise<Answer>}
 */
export async function answerDelivery(request, sources, token) {
  if (request.method !== 'POST') {
    if (request.headers.get('authorization') === null) return page(200, form(''));
    await requireToken(request, token);
    return page(200, await figures(sources));
  }
  const body = await readBody(request, FORM_BYTES, sources.bodyTimeoutMs ?? BODY_TIMEOUT_MS);
  const given = new URLSearchParams(new TextDecoder().decode(body)).get('token') ?? '';
  const headers = { get: () => `Bearer ${given.trim()}` };
  const isRight = await requireToken({ ...request, headers }, token).then(
    () => true,
    () => false,
  );
  return isRight
    ? page(200, await figures(sources))
    : page(403, form('This is not the admin token of this edge worker.'));
}

/** @param {number} status @param {string} main @returns {Promise<Answer>} */
async function page(status, main) {
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': await policyOf(),
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
  };
  const body = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>shoal: delivery at the edge</title><style>${STYLE}</style></head>
<body><main><h1>Delivery: the edge's half</h1>
${main}</main></body></html>
`;
  return { status, headers, body };
}

/** @param {string} note */
const form = (note) => `<form method="post" action="/delivery">
${note && `<p id="note" role="alert">${note}</p>\n`}<label for="token">Admin token</label>
<input id="token" name="token" type="password" required autocomplete="off" spellcheck="false"${note && ' aria-invalid="true" aria-describedby="note"'}>
<button>Show</button>
</form>
<p>The token is the first line of <code>admin_token_file</code>, or the secret <code>ADMIN_TOKEN</code>.</p>
`;

/** @param {Sources} sources */
async function figures({ collections, tasks, refusals, aggregator, now }) {
  const sections = [];
  for (const { recipe, stats } of collections.values())
    sections.push(section(recipe.key, rowsOf(await stats(), now())));
  for (const { recipe, stats } of tasks?.values() ?? [])
    sections.push(section(recipe.key, rowsOfTask(await stats())));
  const url = aggregator && `${aggregator.replace(/\/*$/, '/')}delivery`;
  const other = url
    ? `<a href="${escaped(url)}" rel="noreferrer">the aggregator's page</a>`
    : "the aggregator's page";
  return `<p>What this worker took from devices, and what became of it. What happens to a batch after
that is on ${other}, as this worker cannot see it. Load the page again for newer figures.</p>
${sections.join('')}${section('Refused since the start', refused(refusals))}`;
}

/**
 * @param {Record<string, number>} counts
 * @param {number} now
 * @returns {Row[]}
 */
function rowsOf(counts, now) {
  const of = (/** @type {string} */ name) => counts[name] ?? 0;
  return [
    ['In', of('accepted_reports_total'), 'Reports that were accepted, each once.'],
    ['Waiting', of('open_reports'), whyWaiting(counts, now)],
    [
      'Batches to send',
      of('sealed_batches'),
      of('failures_in_a_row') > 0
        ? `The aggregator, or the bucket, did not take them: ${of('failures_in_a_row')} tries failed in a row. Look whether it runs, whether the address is right and whether both have the same secret.`
        : 'They leave within seconds.',
    ],
    ['Forwarded', of('forwarded_reports_total'), 'Reports that the aggregator acknowledged.'],
    [
      'Batches set aside',
      of('quarantined_batches'),
      of('quarantined_batches') > 0
        ? 'The aggregator refused them for good. Mend the cause there, then POST to /v1/quarantine/retry with the admin token.'
        : 'The aggregator has refused none.',
    ],
    [
      'Destroyed',
      of('destroyed_reports_total'),
      'Reports that were too few for a batch when their recipe expired.',
    ],
  ];
}

/** @param {Record<string, number>} counts @param {number} now */
function whyWaiting(counts, now) {
  const { open_reports: open = 0, batch_minimum_reports: minimum = 0 } = counts;
  const due = (counts.open_due_timestamp_seconds ?? 0) * 1000;
  if (counts.recipe_expires_timestamp_seconds * 1000 <= now) return 'The recipe has expired.';
  if (open === 0) return 'The next report opens a batch.';
  if (open < minimum)
    return `A batch leaves with ${minimum} reports or more: ${minimum - open} are missing.`;
  return due > now
    ? `Enough for a batch. It leaves at ${new Date(due).toISOString().slice(0, 16).replace('T', ' ')} UTC at the latest.`
    : 'Enough for a batch, which is due.';
}

/** @param {Record<string, number>} counts @returns {Row[]} */
const rowsOfTask = (counts) => [
  ['Passed on', counts.relayed_reports_total ?? 0, 'Sealed reports that the leader took.'],
  ['Refused by the leader', counts.relay_refusals_total ?? 0, 'The devices were told why.'],
  [
    'No answer',
    counts.relay_failures_total ?? 0,
    'The leader did not answer. The devices keep these reports and try again.',
  ],
];

/** @param {Refusals} [refusals] @returns {Row[]} */
function refused(refusals) {
  const rows = (refusals?.entries() ?? []).filter(([, n]) => n > 0);
  return rows.length === 0
    ? [['None', 0, 'No report was refused since this worker started.']]
    : rows.map(([code, n]) => [code, n, sentence(REPORT_REFUSALS.get(code) ?? '')]);
}

/** @param {string} text */
const sentence = (text) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;

const TO_LOOK_AT = ['Batches set aside', 'Destroyed', 'No answer'];

/** @param {string} title @param {Row[]} rows */
function section(title, rows) {
  const lines = rows.map(([what, n, meaning]) => {
    const isBad = n !== 0 && (TO_LOOK_AT.includes(what) || /tries failed/.test(meaning));
    return `<tr role="row"${isBad ? ' class="look"' : ''}><th scope="row" role="rowheader">${escaped(what)}</th><td class="n" role="cell">${grouped(n)}</td><td role="cell">${escaped(meaning)}</td></tr>`;
  });
  return `<section><h2>${escaped(title)}</h2>
<table role="table"><caption>${escaped(title)}</caption><thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">What</th><th scope="col" role="columnheader">How many</th><th scope="col" role="columnheader">What it means</th></tr></thead>
<tbody role="rowgroup">
${lines.join('\n')}
</tbody></table></section>
`;
}

/** @param {string | number} n */
const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');

/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"]/g, (found) => `&#${found.charCodeAt(0)};`);
