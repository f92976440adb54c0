// SPDX-License-Identifier: Apache-2.0
// The edge worker, as a browser on the page meets it: its answer, CORS, headers and bodies that a
// proxy may lose, and its own counts.
import { isHtml, isLoopback, jsonOf, request } from './net.js';
import { DAY_MS, PROBE, listedIn, minimumsOf } from './recipe_checks.js';
import { listenUrl } from './setup.js';

/**
 * @typedef {import('./context.js').Context} Context
 * @typedef {Map<string, number>} Metrics  by name and labels, as in Prometheus text
 */

const KEY = 'Idempotency-Key';
const NEEDED = ['content-type', 'idempotency-key'];
const REPORT_SLACK = 512; // bytes of a report besides its record's text

/** @param {import('./net.js').Answer} answer */
export const isHealth = (answer) =>
  [200, 503].includes(answer.status) && typeof jsonOf(answer)?.status === 'string';

/**
 * @param {Context} context
 * @returns {Promise<import('./recipe_checks.js').Listed | null>}  its recipes
 */
export async function checkEdge(context) {
  const { at, report } = context;
  const edge = /** @type {URL} */ (at.edge);
  if (!(await context.reach('edge', new URL('healthz', edge), isHealth))) return null;
  report.right('edge', `${edge.href} answers`);
  const answer = await context.ask('edge', new URL('v1/recipes', edge));
  const listed = answer && listedIn(answer);
  if (answer && !listed) {
    if (answer.status === 429) report.wrong('edge', 'rate-limit', { detail: answerOf(answer) });
    else
      report.wrong('edge', isHtml(answer) ? 'edge-html' : 'edge-path', {
        detail: `${edge.href}v1/recipes answers ${answer.status}`,
      });
  }
  if (at.page) await checkCors(context, edge, at.page.origin);
  await checkPost(
    context,
    edge,
    [...(listed?.values() ?? [])].map(({ json }) => json),
  );
  return listed;
}

/** @param {import('./net.js').Answer} answer */
const answerOf = (answer) => {
  const error = jsonOf(answer)?.error;
  return error?.message
    ? `${answer.status}, ${String(error.message).slice(0, 160)}`
    : `${answer.status}`;
};

/** @param {Headers} headers @param {string} name */
const listOf = (headers, name) =>
  (headers.get(name) ?? '').split(',').map((one) => one.trim().toLowerCase());

/** A browser's preflight request. @param {Context} context @param {URL} edge @param {string} origin */
async function checkCors(context, edge, origin) {
  const { report, vars } = context;
  if (edge.origin === origin) return report.right('cors', 'page and edge worker have one origin');
  const answer = await context.ask('edge', new URL('v1/reports', edge), {
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': NEEDED.join(','),
    },
  });
  if (answer === null) return;
  const { status, headers } = answer;
  const allowed = headers.get('access-control-allow-origin');
  if (status >= 300)
    return report.wrong('cors', 'cors-preflight', { detail: `OPTIONS answers ${status}` });
  if (allowed !== '*' && allowed !== origin) {
    const isOurs = await isRefusedByEdge(context, edge, origin);
    if (isOurs || allowed)
      return report.wrong('cors', 'cors-origin', {
        ...vars,
        detail: `${origin}${allowed ? `, only ${allowed}` : ''}`,
      });
    return report.wrong('cors', 'cors-headers', {
      detail: 'Access-Control-Allow-Origin is missing',
    });
  }
  const missing = NEEDED.filter(
    (name) => !listOf(headers, 'access-control-allow-headers').includes(name),
  );
  if (missing.length)
    return report.wrong('cors', 'cors-headers', {
      detail: `Access-Control-Allow-Headers lacks ${missing.join(', ')}`,
    });
  report.right('cors', `pages of ${origin} may report`);
}

/** Whether the edge worker itself refuses the origin. @param {Context} context @param {URL} edge @param {string} origin */
async function isRefusedByEdge(context, edge, origin) {
  const headers = { Origin: origin, 'Content-Type': 'application/json', [KEY]: '0'.repeat(32) };
  const answer = await context.ask('edge', new URL('v1/reports', edge), {
    method: 'POST',
    headers,
    body: '{}',
  });
  return answer !== null && jsonOf(answer)?.error?.code === 'origin';
}

/**
 * Posts an empty object as long as the longest report: a worker that gets it whole, with its
 * headers, says that fields are missing. Nothing is stored.
 * @param {Context} context
 * @param {URL} edge
 * @param {any[]} recipes
 */
async function checkPost(context, edge, recipes) {
  const { at, report, vars } = context;
  const bytes = REPORT_SLACK + Math.max(...recipes.map(textSize), 0);
  const headers = {
    'Content-Type': 'application/json',
    [KEY]: '0'.repeat(32),
    ...(at.page && { Origin: at.page.origin }),
  };
  const body = `{}${' '.repeat(bytes - 2)}`;
  const answer = await context.ask('edge', new URL('v1/reports', edge), {
    method: 'POST',
    headers,
    body,
  });
  if (answer === null) return;
  const code = jsonOf(answer)?.error?.code;
  const detail = answerOf(answer);
  if (code === 'missing-field')
    return report.right('edge', 'reports reach it whole, with their headers');
  if (code === 'content-type' || code === 'idempotency-key')
    report.wrong('edge', 'header-stripped', { detail });
  else if (answer.status === 413 || code === 'body-size')
    report.wrong('edge', 'body-limit', { detail, bytes: 1024 * Math.ceil((2 * bytes) / 1024) });
  else if (answer.status === 429) report.wrong('edge', 'rate-limit', { detail });
  else if (code === 'origin')
    report.wrong('cors', 'cors-origin', { ...vars, detail: String(vars.origin) });
  else if (answer.status === 404)
    report.wrong('edge', 'edge-path', { detail: `${edge.href}v1/reports answers ${detail}` });
  else report.wrong('edge', 'edge-html', { detail: `POST /v1/reports answers ${detail}` });
}

/** An upper bound of the text of a recipe's record. @param {any} json */
function textSize(json) {
  const { m = 0, k = 0, bits = 0, values = [], size = 0 } = json?.parameters ?? {};
  const wide = /onehot|subset|cms|rappor/.test(json?.mechanism ?? '');
  return wide ? Math.ceil(Math.max(m, bits, values.length, size, k > 1024 ? 0 : k) / 6) + 64 : 128;
}

/**
 * Where a party is asked for its counts. The admin token of the edge worker goes where the operator says:
 * to --edge, or to where edge.json listens. A page does not decide where it goes, since whoever changes
 * the page would get it.
 * @param {Context} context
 * @param {'edge' | 'aggregator'} party
 * @returns {URL | null}
 */
function countsAt({ at, settings }, party) {
  if (party === 'aggregator' || at.secrets.edge === null || settings.edge) return at[party];
  const own = listenUrl(at.folder.edge);
  if (own && own.port !== '0') return own;
  const isHere = at.page === null || (isLoopback(at.page) && at.edge && isLoopback(at.edge));
  return isHere ? at.edge : null;
}

/**
 * Reads a party's metrics.
 * @param {Context} context
 * @param {'edge' | 'aggregator'} party
 * @returns {Promise<Metrics | null>}
 */
export async function metricsOf(context, party) {
  const { at, report } = context;
  const token = at.secrets[party];
  const base = countsAt(context, party);
  if (base === null && at[party] !== null)
    report.unknown(
      party,
      'its admin token is not sent to an address that only the page names',
      'give the address that the token is for: --edge URL',
    );
  if (base === null || (base === at[party] && context.lost.has(party))) return null;
  /** @type {Record<string, string>} */
  const headers = token === null ? {} : { Authorization: `Bearer ${token}` };
  const url = new URL('metrics', base);
  const answer =
    base === at[party]
      ? await context.ask(party, url, { headers })
      : await request(url.href, { headers });
  if (answer === null) return null;
  if (!answer.ok) {
    report.unknown(
      party,
      `its counts cannot be read at ${base.href}, where ${party}.json listens: ${answer.why}`,
      'run this on its machine, or give its address: --edge URL',
    );
    return null;
  }
  if (answer.status === 401 || answer.status === 403) {
    if (token !== null) report.wrong(party, `${party}-token`, { detail: String(answer.status) });
    return null;
  }
  if (answer.status !== 200 && token !== null)
    report.unknown(
      party,
      `${url.href} answers ${answer.status}, so its counts cannot be read`,
      'a proxy may hide them: run this on its machine with --config FOLDER',
    );
  return answer.status === 200 ? parse(answer.text) : null;
}

/** @param {string} text @returns {Metrics} */
export function parse(text) {
  const lines = [...text.matchAll(/^([a-z_]+(?:\{[^}]*\})?) ([0-9.e+-]+)$/gm)];
  return new Map(lines.map(([, name, value]) => [name, Number(value)]));
}

/**
 * A metric of one recipe.
 * @param {Metrics | null} metrics
 * @param {string} name
 * @param {string} recipe
 */
export function metric(metrics, name, recipe) {
  for (const [key, value] of metrics ?? [])
    if (key.startsWith(`${name}{`) && key.includes(`recipe="${recipe}"`)) return value;
  return undefined;
}

/** What the edge worker's counts tell. @param {Context} context @param {Metrics} metrics */
export function checkCounts({ report, at, vars }, metrics) {
  const before = report.results.length;
  for (const [key, value] of metrics) {
    const recipe = /recipe="([^"]*)"/.exec(key)?.[1] ?? '';
    if (key.startsWith('shoal_edge_quarantined_batches{') && value > 0)
      report.wrong('edge', 'edge-quarantine', { ...vars, detail: `${value} of ${recipe}` });
    if (key.startsWith('shoal_edge_failures_in_a_row{') && value > 0 && at.edge)
      report.wrong('edge', 'edge-cannot-forward', {
        detail: `${value} tries failed in a row, ${recipe}`,
      });
  }
  if (report.results.length === before)
    report.right('edge', 'no batch is refused, and none waits for want of an aggregator');
}

/**
 * Whether the minimums are reached at the rate at which reports come in: that of each open batch,
 * once it has been open for an hour. The edge rounds when a batch opened to the hour.
 * @param {Context} context
 * @param {any[]} recipes  JSON
 * @param {Metrics} counts  of the edge worker
 * @param {number} [now]  milliseconds
 */
export function checkMinimumsSeen({ report }, recipes, counts, now = Date.now()) {
  const before = report.results.length;
  let judged = 0;
  for (const json of recipes) {
    const of = (/** @type {string} */ name) => metric(counts, `shoal_edge_${name}`, json.recipe);
    const open = of('open_reports') ?? 0;
    const opened =
      (of('open_due_timestamp_seconds') ?? 0) * 1000 - (json.batch?.max_age_s ?? 86400) * 1000;
    const days = (now - opened) / DAY_MS;
    if (json.recipe === PROBE || open === 0 || days < 1 / 24) continue;
    judged++;
    const left = Math.max(0, (Date.parse(`${json.expires}T00:00:00Z`) + DAY_MS - now) / DAY_MS);
    const more = Math.floor((open / days) * left);
    const { batch, cohort } = minimumsOf(json);
    const told = (/** @type {number} */ n, /** @type {number} */ had) =>
      `${json.recipe} needs ${n}, and has ${had}: at the rate of the last ${Math.round(days * 24)} hours ${more} more come until it ends`;
    const all = of('accepted_reports_total') ?? open;
    if (open + more < batch)
      report.wrong('minimums', 'minimum-batch', { detail: told(batch, open) });
    else if (all + more < cohort)
      report.wrong('minimums', 'minimum-cohort', { detail: told(cohort, all) });
  }
  if (judged > 0 && report.results.length === before)
    report.right('minimums', 'the reports that come in reach the minimums of every recipe');
}
