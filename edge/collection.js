// SPDX-License-Identifier: Apache-2.0
// The types of a collection, which the routes, the reader of reports and the collectors share. It
// holds no code.

/**
 * @typedef {object} Recipe  the part of core.js's recipe that routes need
 * @property {string} key  the collection's name in reports: the recipe's id, then "/" and each
 *   entry of its part
 * @property {string} hash
 * @property {number} textSize
 * @property {number} expiresDay
 * @property {any} json
 * @property {Record<string, number>} parameters
 * @property {(text: string) => Uint8Array} recordFromText
 * @property {(report: Uint8Array, frame: Uint8Array, head: number) => Uint8Array | null}
 *   recordFromReport
 */

/**
 * @typedef {'accepted' | 'expired' | 'full'} Outcome
 * @typedef {object} Collection  one pinned recipe and where its records go
 * @property {Recipe} recipe
 * @property {(record: Uint8Array, key: string) => Promise<Outcome>} accept  durable before it
 *   resolves
 * @property {() => Promise<Record<string, number>>} stats
 * @property {() => Promise<number>} retryQuarantined
 */

export {};
