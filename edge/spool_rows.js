// SPDX-License-Identifier: Apache-2.0
// Rows of one length in memory, in a few large buffers, because an object for each would cost more
// than the row. spool_slots.js keeps the open batch's reports in them.

const CHUNK_BYTES = 1 << 16;

/** A list of rows that only grows. */
export class SlotRows {
  length = 0;
  #size;
  #perChunk;
  /** @type {Buffer[]} */ #chunks = [];

  /** @param {number} size  bytes of a row, at least 4 */
  constructor(size) {
    this.#size = size;
    this.#perChunk = Math.max(1, Math.floor(CHUNK_BYTES / size));
  }

  /**
   * Adds a row of one or two pieces.
   * @param {Uint8Array} head
   * @param {Uint8Array} [tail]
   */
  push(head, tail) {
    const place = this.length % this.#perChunk;
    if (place === 0) this.#chunks.push(Buffer.alloc(this.#perChunk * this.#size));
    const chunk = this.#chunks[this.#chunks.length - 1];
    chunk.set(head, place * this.#size);
    if (tail !== undefined) chunk.set(tail, place * this.#size + head.length);
    this.length++;
  }

  /** @param {number} i  0 .. length - 1 @returns {Buffer} a view of the row */
  at(i) {
    const from = (i % this.#perChunk) * this.#size;
    return this.#chunks[Math.floor(i / this.#perChunk)].subarray(from, from + this.#size);
  }

  /**
   * Returns the rows without their first bytes, as a list of views.
   * @param {number} head  bytes
   * @returns {import('./collector.js').Records}
   */
  without(head) {
    return { length: this.length, at: (i) => this.at(i).subarray(head) };
  }

  /**
   * Returns the first bytes of all rows, in the order of their values.
   * @param {number} head  bytes, at least 4
   * @returns {Buffer} concatenated
   */
  sortedHeads(head) {
    // The first 32 bits and the row's number in one number: such a list is sorted without calls.
    const order = Float64Array.from(
      { length: this.length },
      (_, i) => this.at(i).readUInt32BE(0) * 2 ** 21 + i,
    ).sort();
    const sorted = Buffer.alloc(head * this.length);
    for (let to = 0; to < this.length; to++) {
      const row = this.at(order[to] % 2 ** 21).subarray(0, head);
      let place = to; // rows with the same 32 bits are in the order of their numbers: insert
      while (place > 0 && row.compare(sorted, (place - 1) * head, place * head) < 0) place--;
      sorted.copyWithin((place + 1) * head, place * head, to * head);
      sorted.set(row, place * head);
    }
    return sorted;
  }
}
