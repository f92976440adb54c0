// SPDX-License-Identifier: Apache-2.0
// Sends one sealed batch to the aggregator and reads its verdict. It must be called from a timer or
// an alarm, never inside a device's request: some platforms add headers of the current request to
// requests made meanwhile.

/** @typedef {import('./collector.js').Send} Send */

const TIMEOUT_MS = 30_000;
const ANSWER_MAX = 4096;

/** Statuses that no retry of the same bytes can change. */
const REFUSED = [400, 404, 413];

/**
 * @typedef {object} SenderDeps
 * @property {string} aggregator  base URL
 * @property {string} secret  the bearer secret
 * @property {typeof globalThis.fetch} fetch
 * @property {number} [timeoutMs]
 */

/**
 * @param {SenderDeps} deps
 * @returns {Send}
 */
export function createSender({ aggregator, secret, fetch, timeoutMs = TIMEOUT_MS }) {
  const url = new URL('v1/batches', aggregator.endsWith('/') ? aggregator : `${aggregator}/`).href;
  return async (batch) => {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/octet-stream', Authorization: `Bearer ${secret}` },
        body: /** @type {BodyInit} */ (/** @type {unknown} */ (batch)),
        redirect: 'manual', // the secret goes nowhere else
        signal: AbortSignal.timeout(timeoutMs),
      });
      return await verdict(response);
    } catch {
      return { outcome: 'failed' };
    }
  };
}

/**
 * A batch is dropped only if the aggregator's own answer says so, since any proxy can answer 200.
 * @param {Response} response
 * @returns {ReturnType<Send>}
 */
async function verdict(response) {
  const text = (await response.text()).slice(0, ANSWER_MAX);
  if (response.status === 200 || response.status === 201) {
    const status = parse(text)?.status;
    return { outcome: status === 'stored' || status === 'known' ? 'stored' : 'failed' };
  }
  if (REFUSED.includes(response.status)) return { outcome: 'refused' };
  const seconds = Number(response.headers.get('retry-after'));
  return { outcome: 'failed', retryAfterS: Number.isFinite(seconds) && seconds > 0 ? seconds : 0 };
}

/** @param {string} text @returns {{status?: unknown} | null} */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
