// SPDX-License-Identifier: Apache-2.0
// Stores reports in groups. While one call to a store is under way, new reports wait, and the next
// call takes them all, with one flush. A report that comes alone does not wait. Every report has an
// outcome of its own.
//
// All reports of a group must share a context. workerd does not let one request be answered from
// another's context, so there the group belongs to the Durable Object. If a call never ends, its
// reports fail after GIVE_UP_MS; their devices try again under the same idempotency keys.

/** @typedef {import('./collection.js').Outcome} Outcome */

/**
 * @typedef {object} Call  a call to the store, with its reports
 * @property {Uint8Array[]} records
 * @property {string[]} keys
 * @property {{resolve: (outcome: Outcome) => void, reject: (error: Error) => void}[]} waiting  one
 *   for each report
 * @property {boolean} isOpen  reports may still join
 * @property {() => void} go  called when it is the call's turn
 *
 * @typedef {object} GroupDeps
 * @property {(records: Uint8Array, keys: string[]) => Promise<Outcome[]>} store  takes concatenated
 *   records; durable when it resolves
 * @property {number} [giveUpMs]
 */

const GROUP_MAX = 256; // the most reports of a call
// A call starts when no report joined for a moment, or after a few moments: reports that arrived
// while the disk held the thread may still join. A call that follows a call of one report starts at
// once.
const PAUSE_MS = 1;
const PAUSES_MAX = 8;
const GIVE_UP_MS = 15_000; // less than a device waits

/** Groups the reports of one collection for its store. */
export class Group {
  #deps;
  #giveUpMs;
  /** Reports of the latest call. */
  #latest = 0;
  /** Calls whose reports may still be stored, also those that were given up. */
  #running = new Set();
  /** Calls in their order: the first is under way, the last may be joined. @type {Call[]} */ #line =
    [];

  /** @param {GroupDeps} deps */
  constructor(deps) {
    this.#deps = deps;
    this.#giveUpMs = deps.giveUpMs ?? GIVE_UP_MS;
  }

  /**
   * Adds a report. It is durable when the promise resolves.
   * @param {Uint8Array} record
   * @param {string} key
   * @returns {Promise<Outcome>}
   */
  async accept(record, key) {
    const last = this.#line.at(-1);
    const call =
      last !== undefined && last.isOpen && last.keys.length < GROUP_MAX ? last : this.#begin();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    try {
      return await new Promise((resolve, reject) => {
        timer = setTimeout(() => {
          this.#end(call);
          reject(new Error('late'));
        }, this.#giveUpMs);
        call.records.push(record);
        call.keys.push(key);
        call.waiting.push({ resolve, reject });
      });
    } finally {
      clearTimeout(timer);
    }
  }

  /** @returns {Call} */
  #begin() {
    let go = () => {};
    /** @type {Promise<void>} */
    const turn = new Promise((resolve) => (go = resolve));
    const call = { records: [], keys: [], waiting: [], isOpen: true, go };
    const isFirst = this.#line.push(call) === 1;
    if (isFirst) go();
    const run = isFirst && this.#latest < 2 ? this.#carry(call) : this.#carryInTurn(call, turn);
    this.#running.add(run);
    void run.then(() => this.#running.delete(run));
    return call;
  }

  /** Waits until every report that was added before is stored or failed. */
  async settle() {
    await Promise.all(this.#running);
  }

  /** @param {Call} call @param {Promise<void>} turn */
  async #carryInTurn(call, turn) {
    const timer = setTimeout(call.go, this.#giveUpMs / 2); // the call before may never end
    await turn;
    clearTimeout(timer);
    for (let had = 0, pauses = 0; call.keys.length > had && pauses < PAUSES_MAX; pauses++) {
      had = call.keys.length;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    await this.#carry(call);
  }

  /** Never rejects. @param {Call} call */
  async #carry(call) {
    await null; // lets the report that began the call join it
    call.isOpen = false;
    const { records, keys, waiting } = call;
    this.#latest = keys.length;
    try {
      const outcomes = await this.#deps.store(joined(records), keys);
      waiting.forEach(({ resolve }, i) => resolve(outcomes[i]));
    } catch (error) {
      for (const { reject } of waiting) reject(/** @type {Error} */ (error));
    }
    this.#end(call);
  }

  /**
   * Takes a call out of the line. No report can join it or wait for it any longer.
   * @param {Call} call
   */
  #end(call) {
    const place = this.#line.indexOf(call);
    if (place < 0) return;
    call.isOpen = false;
    this.#line.splice(place, 1);
    if (place === 0) this.#line[0]?.go();
  }
}

/** Concatenates the pieces. @param {Uint8Array[]} pieces  one or more, of one length */
export function joined(pieces) {
  const [{ length }] = pieces;
  const bytes = new Uint8Array(pieces.length * length);
  pieces.forEach((piece, i) => bytes.set(piece, i * length));
  return bytes;
}
