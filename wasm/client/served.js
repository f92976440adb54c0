// SPDX-License-Identifier: Apache-2.0
// The common code of the chunks for queries and for runs: JSON from the endpoint, and the prefix of
// the keys under which `events` holds the state of runs.
import { limitedBytes } from './limited_body.js';

export const RUN = '~run/';

const BODY_MAX = 1 << 20;
const TIMEOUT_MS = 30_000;

/**
 * Fetches JSON that the endpoint serves beside its reports. Throws if it serves none.
 * @param {import('./context.js').Context} context
 * @param {'queries' | 'recipes'} path
 * @returns {Promise<any>}
 */
export async function served({ deps, url }, path) {
  const stop = new AbortController();
  const timer = deps.setTimer(() => stop.abort(), TIMEOUT_MS);
  try {
    const response = await deps.fetch(new URL(path, url).href, {
      mode: 'cors',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      redirect: 'error',
      signal: stop.signal,
    });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return JSON.parse(new TextDecoder().decode(await limitedBytes(response, BODY_MAX)));
  } finally {
    stop.abort();
    deps.clearTimer(timer);
  }
}
