// SPDX-License-Identifier: Apache-2.0
// What the chunks for queries and for runs share: JSON from the endpoint, and where in `events` the rows of runs begin. Depends on nothing.

export const RUN = '~run/';

const BODY_MAX = 1 << 20;
const TIMEOUT_MS = 30_000;

/**
 * What the endpoint serves beside its reports; throws where it does not.
 * @param {import('./client.js').View} view @param {'queries' | 'recipes'} path @returns {Promise<any>}
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
    if (!response.ok) throw new Error(String(response.status));
    return JSON.parse(await limitedText(response));
  } finally {
    stop.abort();
    deps.clearTimer(timer);
  }
}

/** A body, as far as it may be read. @param {Response} response */
async function limitedText(response) {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let size = 0; reader;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > BODY_MAX) throw new Error('too long');
    text += decoder.decode(value, { stream: true });
  }
  return text + decoder.decode();
}
