// SPDX-License-Identifier: Apache-2.0
// A request and its answer as the handler and the gateway see them, without the platform's objects.

/**
 * @typedef {object} Incoming  the members of a request that are read. A Request has them; a host
 *   with faster objects of its own gives these
 * @property {string} method
 * @property {string} url
 * @property {{get: (name: string) => string | null}} headers
 * @property {{getReader: () => Reader} | null} body
 * @property {() => Promise<ArrayBuffer | Uint8Array>} [arrayBuffer]  the whole body at once, if the
 *   host ensures that it is no longer than its stated length
 * @property {() => Uint8Array | null} [whole]  the same at once, or null if it has not arrived yet
 * @property {() => Promise<number>} [wait]  takes the request off its address's rate: 0, or the
 *   seconds that the sender has to wait
 * @property {() => void} [trusted]  says that the sender has shown a valid token of a relay, so
 *   that the host keeps room for it
 *
 * @typedef {object} Reader
 * @property {() => Promise<{done: boolean, value?: Uint8Array}>} read
 * @property {() => Promise<unknown>} cancel
 *
 * @typedef {object} Answer
 * @property {number} status
 * @property {Record<string, string>} headers
 * @property {string | Uint8Array | null} body
 */

export {};
