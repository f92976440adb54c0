// SPDX-License-Identifier: Apache-2.0
// The probe: a recipe of its own with a closed list that means nothing, whose report the real client
// makes and sends. It is followed by the counts of edge worker and aggregator, never by a mark.
import { init } from 'shoal-client';
import { load } from 'shoal-client/node';
import { metric, metricsOf } from './edge_checks.js';
import { PROBE } from './recipe_checks.js';

/**
 * @typedef {import('./context.js').Context} Context
 * @typedef {{status: number, code?: string, message?: string, type: string, via: string}} Seen  an
 *   answer to a report
 * @typedef {{answers: Seen[], reasons: {code: string, text?: string}[], outcomes: {code: string}[]}} Sent
 * @typedef {(options: {endpoint: string, recipe: {url: string, hash: string}, relay?: string, log?:
 *   {url: string, key: string}, origin?: string, value: string}) => Promise<Sent>} Send
 */

const STEP_MS = 100;
const ANSWER_MAX = 64 << 10;
const SAID_MAX = 160;
const SENT_MS = 10_000;
const PATIENCE_S = 30;
const WAIT_MAX_S = 120;

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The start of a body, which its sender may never end. @param {Response} response */
async function startOf(response) {
  const pieces = [];
  let size = 0;
  for await (const piece of /** @type {any} */ (response.body) ?? []) {
    pieces.push(piece);
    size += piece.length;
    if (size > ANSWER_MAX) break;
  }
  return Buffer.concat(pieces).subarray(0, ANSWER_MAX);
}

/** @param {Response} response @param {string} text @returns {Seen} */
function seen(response, text) {
  const type = response.headers.get('content-type') ?? '';
  let error;
  try {
    ({ error } = JSON.parse(text));
  } catch {
    error = undefined;
  }
  return {
    status: response.status,
    code: error?.code,
    message: error?.message && String(error.message).slice(0, SAID_MAX),
    type,
    via: response.url,
  };
}

/** Sends by the client in this process. @type {Send} */
export async function sendHere({ endpoint, recipe, relay, log, origin, value }) {
  /** @type {Seen[]} */
  const answers = [];
  const client = await init({
    endpoint,
    recipes: [recipe],
    ...(relay && log && { relay, log }),
    wasm: load,
    gpc: () => false,
    automated: () => false,
    fetch: async (url, options = {}) => {
      const headers = new Headers(options.headers);
      if (origin) headers.set('Origin', origin);
      const signal = AbortSignal.any([
        AbortSignal.timeout(SENT_MS),
        ...(options.signal ? [options.signal] : []),
      ]);
      const response = await fetch(url, { ...options, headers, signal });
      if (options.method !== 'POST') return response;
      const body = await startOf(response);
      answers.push(seen(response, body.toString('utf8')));
      return new Response(body.length ? new Uint8Array(body) : null, response);
    },
  });
  try {
    await client.consent.grant();
    const outcomes = /** @type {{code: string}[]} */ (await client.record(PROBE, value));
    await client.flush();
    for (
      const end = Date.now() + SENT_MS;
      !answers.length && Date.now() < end;
      await pause(STEP_MS)
    )
      if ((await client.explain()).some(({ code }) => code !== 'not-yet-due')) break;
    return { answers, outcomes, reasons: await client.explain() };
  } finally {
    await client.close();
  }
}

/**
 * Sends the probe and follows it.
 * @param {Context} context
 * @param {import('./recipe_checks.js').Listed} listed  at the edge
 * @param {Send} send
 */
export async function probe(context, listed, send) {
  const { at, report, settings } = context;
  const recipe = [...listed.values()].find(({ id }) => id === PROBE);
  const values = recipe?.json?.parameters?.values;
  if (!recipe || !Array.isArray(values) || !values.every((one) => /^probe-/.test(one)))
    return report.unknown(
      'probe',
      'the edge worker has no recipe shoal-probe, so no report could be followed',
      '`shoal init` writes recipes/probe.json: add it to edge.json and aggregator.json (docs/verify.md)',
    );
  const edge = /** @type {URL} */ (at.edge);
  const before = await countsOf(context);
  const log = at.options?.log;
  const relayed = at.relay && log && !context.lost.has('relay');
  const sent = await send({
    endpoint: edge.href,
    recipe: { url: new URL(`v1/recipes/${recipe.hash}`, edge).href, hash: recipe.hash },
    ...(relayed && { relay: at.relay?.href, log: { url: log.url.href, key: log.key } }),
    ...(at.page && { origin: at.page.origin }),
    value: values[Math.floor(Math.random() * values.length)],
  }).catch((error) => ({
    answers: [],
    outcomes: [],
    reasons: [{ code: 'failed', text: String(error?.message ?? error) }],
  }));
  if (!judgeSent(context, sent, Boolean(relayed))) return;
  const waitS = recipe.json.batch?.max_age_s ?? 86_400;
  if (waitS > WAIT_MAX_S)
    return report.unknown(
      'probe',
      `the edge worker keeps the report for ${waitS} s (batch.max_age_s), so it was not followed`,
      'use the probe recipe of `shoal init`, whose batches wait for 1 s',
    );
  await follow(context, before, (settings.patienceS ?? PATIENCE_S) + waitS);
}

/** @param {Context} context @param {Sent} sent @param {boolean} relayed */
function judgeSent({ report, vars }, { answers, outcomes, reasons }, relayed) {
  const last = answers.at(-1);
  const detail = last ? `${last.status}${last.message ? `, ${last.message}` : ''}` : '';
  const way = relayed ? 'through the relay' : 'directly';
  if (last && relayed && last.status === 200) return tellSent(report, way);
  if (last?.status === 202) return tellSent(report, way);
  if (relayed && last?.type.startsWith('application/problem+json'))
    report.wrong('probe', 'gateway-key-log', {
      detail: 'the gateway does not know the key that the log lists',
    });
  else if (relayed && last) report.wrong('probe', 'relay-gateway', { ...vars, detail });
  else if (!last)
    report.wrong('probe', 'probe-not-sent', {
      detail:
        reasons.map(({ text, code }) => text ?? code).join(' ') ||
        outcomes.map(({ code }) => code).join(', '),
    });
  else if (last.status === 429) report.wrong('probe', 'rate-limit', { detail });
  else if (last.code === 'store-full') report.wrong('probe', 'edge-full', { detail });
  else if (last.status >= 500) report.wrong('probe', 'edge-store', { detail });
  else report.wrong('probe', 'probe-refused', { detail });
  return false;
}

/** @param {import('./report.js').Report} report @param {string} way */
function tellSent(report, way) {
  report.right('probe', `the client sent a report ${way}, and it was acknowledged`);
  return true;
}

/** @typedef {{accepted?: number, forwarded?: number, folded?: number, closed?: number, refused?: number}} Counts */

/** Reports that an edge worker ever took: those in the open batch, and those in sealed ones. @param {import('./edge_checks.js').Metrics} edge */
const taken = (edge) =>
  (metric(edge, 'shoal_edge_open_reports', PROBE) ?? 0) +
  (metric(edge, 'shoal_edge_sealed_reports_total', PROBE) ?? 0);

/** @param {Context} context @returns {Promise<Counts>} */
async function countsOf(context) {
  const edge = await metricsOf(context, 'edge');
  const aggregator = await metricsOf(context, 'aggregator');
  return {
    accepted: edge ? taken(edge) : undefined,
    forwarded: metric(edge, 'shoal_edge_forwarded_reports_total', PROBE) ?? (edge ? 0 : undefined),
    folded: metric(aggregator, 'shoal_store_records', PROBE),
    closed: metric(aggregator, 'shoal_store_released_records', PROBE),
    refused: aggregator?.get('shoal_batches_refused_total{reason="busy"}'),
  };
}

/** The hops in their order. @type {{name: 'accepted' | 'forwarded' | 'folded' | 'closed', right: string, code: string, who: string}[]} */
const HOPS = [
  {
    name: 'accepted',
    right: 'the edge worker took it',
    code: 'probe-not-taken',
    who: 'edge worker',
  },
  {
    name: 'forwarded',
    right: 'the edge worker forwarded it',
    code: 'probe-not-forwarded',
    who: 'edge worker',
  },
  {
    name: 'folded',
    right: 'the aggregator folded it',
    code: 'probe-not-folded',
    who: 'aggregator',
  },
  {
    name: 'closed',
    right: 'its block closed: it shows in results',
    code: 'probe-no-result',
    who: 'aggregator',
  },
];

/**
 * @param {Context} context
 * @param {Counts} before
 * @param {number} patienceS
 */
async function follow(context, before, patienceS) {
  const { report, vars } = context;
  const end = Date.now() + 1000 * patienceS;
  let now = await countsOf(context);
  for (const { name, right, code, who } of HOPS) {
    const first = before[name];
    if (first === undefined) {
      const option = who === 'aggregator' ? '--aggregator-token-file' : '--edge-token-file';
      report.unknown(
        'probe',
        `whether ${right} is known to the ${who} only`,
        `give its admin token: ${option} FILE, or --config`,
      );
      continue;
    }
    const isLater = (/** @type {Counts} */ counts) => (counts[name] ?? 0) > first;
    while (!isLater(now) && Date.now() < end) {
      await pause(STEP_MS);
      now = await countsOf(context);
    }
    if (!isLater(now)) {
      const detail = `${name} stayed at ${first} for ${Math.round(patienceS)} s`;
      if (name === 'forwarded' && (now.refused ?? 0) > (before.refused ?? 0))
        report.wrong('aggregator', 'aggregator-store', { detail: 'it answers 503 to batches' });
      return report.wrong('probe', code, { ...vars, detail });
    }
    report.right('probe', right);
  }
}
