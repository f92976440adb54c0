// SPDX-License-Identifier: Apache-2.0
// Gathers the reports that one turn of Node's event loop reads, so that the collector and the spool
// take them in one call, with one flush. Unlike group.js it starts no timer and lets calls overlap:
// the spool itself puts flushes together.

import { joined } from './group.js';

/** @typedef {import('./collection.js').Outcome} Outcome */
/** @typedef {{resolve: (outcome: Outcome) => void, reject: (error: unknown) => void}} Waiting */

/** The reports of one collection. */
export class TurnGroup {
  #store;
  /** @type {Uint8Array[]} */ #records = [];
  /** @type {string[]} */ #keys = [];
  /** One for each report. @type {Waiting[]} */ #waiting = [];

  /**
   * @param {(records: Uint8Array, keys: string[]) => Promise<Outcome[]>} store  takes concatenated
   *   records; durable when it resolves
   */
  constructor(store) {
    this.#store = store;
  }

  /**
   * Adds a report. It is durable when the promise resolves.
   * @param {Uint8Array} record
   * @param {string} key
   * @returns {Promise<Outcome>}
   */
  accept(record, key) {
    return new Promise((resolve, reject) => {
      if (this.#keys.length === 0) setImmediate(() => this.#carry());
      this.#records.push(record);
      this.#keys.push(key);
      this.#waiting.push({ resolve, reject });
    });
  }

  /** Never rejects. */
  async #carry() {
    const [records, keys, waiting] = [this.#records, this.#keys, this.#waiting];
    [this.#records, this.#keys, this.#waiting] = [[], [], []];
    try {
      const outcomes = await this.#store(joined(records), keys);
      for (let i = 0; i < waiting.length; i++) waiting[i].resolve(outcomes[i]);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
}
