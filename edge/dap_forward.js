// SPDX-License-Identifier: Apache-2.0
// Passes a sealed report on to the leader of its recipe, so that the leader sees no device's
// address: it sends the body and its media type, and nothing else. The edge can read neither
// share. The leader's answer goes back if the protocol defines it. Source: draft-ietf-ppm-dap-18
// section "Upload Request". Like forward.js, it must not be called inside a device's request where
// a platform adds headers of that request to others.

export const UPLOAD_TYPE = 'application/ppm-dap;message=upload-req';

const ANSWER_TYPES = ['application/ppm-dap;message=upload-errors', 'application/problem+json'];
const ANSWER_MAX = 4096;
const TIMEOUT_MS = 20_000; // less than a device waits

/**
 * @typedef {object} Forwarded  a leader's answer
 * @property {number} status
 * @property {string | null} type
 * @property {string | null} retryAfter
 * @property {Uint8Array} body
 */

/**
 * @param {{leader: string, id: string, fetch: typeof globalThis.fetch, timeoutMs?: number}} deps
 *   id: of the task, base64url
 * @returns {(body: Uint8Array) => Promise<Forwarded | null>}  null if the leader gave no answer that
 *   a device could use
 */
export function createDapForward({ leader, id, fetch, timeoutMs = TIMEOUT_MS }) {
  const url = `${leader}/tasks/${id}/reports`;
  return async (body) => {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': UPLOAD_TYPE },
        body: /** @type {BodyInit} */ (/** @type {unknown} */ (body)),
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      });
      return await answerOf(response);
    } catch {
      return null;
    }
  };
}

/**
 * Reads the body; null if it is too long, because a leader must not fill this worker's memory.
 * @param {Response} response
 */
async function limitedBytes(response) {
  const reader = response.body?.getReader();
  const parts = [];
  for (let size = 0; reader;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > ANSWER_MAX) {
      reader.cancel().catch(() => {});
      return null;
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** @param {Response} response @returns {Promise<Forwarded | null>} */
async function answerOf(response) {
  const body = await limitedBytes(response);
  if (body === null) return null;
  const type = (response.headers.get('content-type') ?? '').replaceAll(' ', '').toLowerCase();
  const isAnswer = response.ok || (response.status >= 400 && response.status < 500);
  // A body that is not the protocol's may come from a proxy, so it says nothing about the report.
  if (!isAnswer || (body.length > 0 && !ANSWER_TYPES.includes(type))) return null;
  return {
    status: response.ok ? 200 : response.status,
    type: body.length ? type : null,
    retryAfter: response.headers.get('retry-after'),
    body,
  };
}

/**
 * Returns the counters that the outcome adds to.
 * @param {Forwarded | null} forwarded
 * @returns {Record<string, number>}
 */
export function countsOf(forwarded) {
  if (forwarded === null) return { relay_failures_total: 1 };
  return forwarded.status === 200 ? { relayed_reports_total: 1 } : { relay_refusals_total: 1 };
}
