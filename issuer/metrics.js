// SPDX-License-Identifier: Apache-2.0
// What /metrics shows of an issuer: what became of requests, and how long its keys last. No label
// and no time tells of an account. The text is Prometheus' format, version 0.0.4; this package
// depends on nothing, so it writes the few lines itself.

import { DAY_MS, toHex } from './signing_keys.js';

/** @typedef {import('./signing_keys.js').Signer} Signer */

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Requests for tokens since the start, by outcome. */
export class Outcomes {
  /** @type {Map<string, number>} */ #counts;

  /** @param {string[]} names  of all outcomes */
  constructor(names) {
    this.#counts = new Map(names.map((name) => [name, 0]));
  }

  /** @param {string} name */
  add(name) {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** Names and counts, also those of zero. */
  entries() {
    return [...this.#counts];
  }
}

/** @param {string} name @param {string} type @param {string} help */
export const head = (name, type, help) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;

/**
 * @param {object} of
 * @param {Outcomes} of.outcomes
 * @param {Signer[]} of.signers
 * @param {number} of.now  milliseconds since 1970
 */
export function metricsText({ outcomes, signers, now }) {
  const requests = 'shoal_issuer_requests_total';
  const until = 'shoal_issuer_keys_until_timestamp_seconds';
  const clock = 'shoal_clock_timestamp_seconds';
  const counted = outcomes.entries().map(([name, n]) => `${requests}{outcome="${name}"} ${n}\n`);
  const keys = [...keysUntil(signers, now)].map(
    ([recipe, seconds]) => `${until}{recipe_hash="${recipe}"} ${seconds}\n`,
  );
  return [
    head(requests, 'counter', 'Requests for tokens since the start, by what became of them.'),
    ...counted,
    ...(keys.length > 0
      ? [head(until, 'gauge', 'When the keys of a recipe run out that follow without a gap.')]
      : []),
    ...keys,
    head(clock, 'gauge', "This machine's clock, in seconds since 1970."),
    `${clock} ${now / 1000}\n`,
  ].join('');
}

/**
 * Finds the end of the last day up to which each recipe has a key for every day from today on;
 * where today's key is missing, the start of today.
 * @param {Signer[]} signers
 * @param {number} now
 * @returns {Map<string, number>}  seconds since 1970, by the recipe's hash
 */
export function keysUntil(signers, now) {
  const today = Math.floor(now / DAY_MS);
  const days = new Map();
  for (const { recipe, day } of signers) {
    if (!days.has(recipe)) days.set(recipe, new Set());
    days.get(recipe).add(day);
  }
  return new Map(
    [...days]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([recipe, has]) => {
        let day = today;
        while (has.has(day)) day++;
        return [recipe, (day * DAY_MS) / 1000];
      }),
  );
}

/**
 * Whether a request has the token. Digests are compared, so that timing reveals nothing about it.
 * @param {Request} request
 * @param {string} token
 */
export async function hasToken(request, token) {
  const digest = async (/** @type {string} */ text) =>
    toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
  const given = request.headers.get('authorization') ?? '';
  return (await digest(given)) === (await digest(`Bearer ${token}`));
}
