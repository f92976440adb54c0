// SPDX-License-Identifier: Apache-2.0
// Reads a response up to a limit, so that no server can fill a device's memory. Depends on nothing.

/**
 * @param {Response} response
 * @param {number} max bytes; a longer body throws
 * @returns {Promise<Uint8Array>}
 */
export async function limitedBytes(response, max) {
  const reader = response.body?.getReader();
  const parts = [];
  for (let size = 0; reader;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > max) throw new RangeError();
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
