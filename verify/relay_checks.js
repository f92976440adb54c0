// SPDX-License-Identifier: Apache-2.0
// The relay with its gateway, the log, and the issuers of tokens.
import { init } from 'shoal-client';
import { load } from 'shoal-client/node';
import { isHtml, jsonOf } from './net.js';

/** @typedef {import('./context.js').Context} Context */

const DAY_MS = 86_400_000;

/** A recipe that is never reported to: the client asks for the log's keys once it has one. */
const ASKING = {
  recipe: 'shoal-verify',
  analysis: 'shoal-verify',
  stream: 'shoal-verify',
  value: 'item',
  mechanism: 'grr',
  parameters: { epsilon: 1, values: ['probe-a', 'probe-b'] },
  limit: { per_day: 1 },
  send: { fresh: 'allow' },
  expires: '2099-12-31',
};

/**
 * Posts bytes that no gateway can open: a gateway that the relay reaches says so, and stores
 * nothing.
 * @param {Context} context
 */
export async function checkRelay(context) {
  const { at, report, vars } = context;
  const relay = /** @type {URL} */ (at.relay);
  const headers = { Origin: at.page?.origin ?? relay.origin };
  const answer = await context.ask('relay', relay, {
    method: 'POST',
    headers,
    body: new TextEncoder().encode('shoal-verify'), // a text would be sent with a type of its own
  });
  if (answer === null) return;
  const code = jsonOf(answer)?.error?.code;
  const type = answer.headers.get('content-type') ?? '';
  const detail = `${relay.href} answers ${answer.status}`;
  if (type.startsWith('application/problem+json'))
    report.right('relay', 'the relay reaches a gateway');
  else if (code === 'origin')
    report.wrong('relay', 'relay-origin', { ...vars, detail: headers.Origin });
  else if (code?.startsWith('gateway')) report.wrong('relay', 'relay-gateway', { ...vars, detail });
  else if (answer.status === 429) report.wrong('relay', 'rate-limit', { detail });
  else if (answer.status === 404 && !isHtml(answer))
    report.wrong('relay', 'relay-path', { detail });
  else report.wrong('relay', 'relay-html', { detail });
  await checkGateway(context);
}

/** @param {Context} context */
async function checkGateway(context) {
  const { at, report } = context;
  if (at.edge === null || context.lost.has('edge')) return;
  const answer = await context.ask('edge', new URL('ohttp-keys', at.edge));
  if (answer && answer.status !== 200) report.wrong('relay', 'gateway-missing');
}

/**
 * Lets the client itself read the log with the page's options, and say why it refuses it.
 * @param {Context} context
 */
export async function checkLog(context) {
  const { at, report } = context;
  const log = at.options?.log;
  if (!log) {
    if (at.relay)
      report.unknown('log', 'the page names no log, which a relay needs', 'docs/log.md');
    return;
  }
  const folder = log.url.href.endsWith('/') ? log.url : new URL(`${log.url.href}/`);
  if (
    !(await context.reach(
      'log',
      new URL('checkpoint', folder),
      ({ status, text }) => status === 200 && text.includes('\n'),
    ))
  )
    return;
  const client = await init({
    endpoint: 'https://localhost/',
    relay: at.relay?.protocol === 'https:' ? at.relay.href : 'https://localhost/',
    log: { url: log.url.href, key: log.key },
    recipes: [ASKING],
    fetch: (url, init) =>
      String(url).startsWith(log.url.href)
        ? fetch(url, init)
        : Promise.reject(new Error('not asked')),
    wasm: load,
    now: context.settings.now ?? Date.now,
    gpc: () => false,
    automated: () => false,
  });
  try {
    await client.consent.grant();
    await client.record(ASKING.stream, 'probe-a'); // waits for the log; nothing but the log is reached
    const reasons = (await client.explain()).filter(
      ({ code }) => code.startsWith('log-') || code === 'no-keys',
    );
    const over = reasons.find(({ code }) => code === 'log-no-keys');
    const [other] = reasons;
    if (over) report.wrong('log', 'log-expired', { detail: String(over.text) });
    else if (other) report.wrong('log', 'log-untrusted', { detail: String(other.text) });
    else report.right('log', 'the client takes the log');
  } finally {
    await client.close();
  }
}

/**
 * Each issuer that a recipe names must have a key for today.
 * @param {Context} context
 * @param {{id: string, hash: string, json: any}[]} recipes
 */
export async function checkIssuers(context, recipes) {
  const { report } = context;
  const today = Math.floor(Date.now() / DAY_MS);
  for (const { id, hash, json } of recipes) {
    const base = json?.send?.token;
    if (typeof base !== 'string' || !URL.canParse(base)) continue;
    const url = new URL(`${base}/.well-known/private-token-issuer-directory`);
    const answer = await context.reach('issuer', url, (one) =>
      Array.isArray(jsonOf(one)?.['token-keys']),
    );
    if (answer === null) continue;
    const keys = jsonOf(answer)['token-keys'];
    const isThere = keys.some(
      (/** @type {any} */ key) => key.recipe === hash && Number(key.day ?? today) === today,
    );
    if (isThere) report.right('tokens', `the issuer has a key of ${id} for today`);
    else report.wrong('tokens', 'issuer-keys', { detail: `${id} (${hash.slice(0, 16)}...)` });
  }
}
