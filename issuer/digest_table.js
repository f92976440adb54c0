// SPDX-License-Identifier: Apache-2.0
// A table from 16-byte digests to 16-byte digests in one piece of memory: 32 bytes a slot, of which
// at most two in three are used. Depends on nothing.

const SLOT = 32;
const FIRST_SLOTS = 1024;

export class DigestTable {
  #bytes = new Uint8Array(FIRST_SLOTS * SLOT);
  #used = new Uint8Array(FIRST_SLOTS);
  #size = 0;

  /** Entries. */
  get size() {
    return this.#size;
  }

  /** Bytes that it takes. */
  get bytes() {
    return this.#bytes.length + this.#used.length;
  }

  /**
   * @param {Uint8Array} key  uniformly random bytes, as those of a keyed digest
   * @returns {Uint8Array | null}
   */
  get(key) {
    const slot = this.#find(key);
    return this.#used[slot] ? this.#bytes.subarray(slot * SLOT + 16, (slot + 1) * SLOT) : null;
  }

  /** Adds an entry under a key that the table does not have. @param {Uint8Array} key @param {Uint8Array} value */
  add(key, value) {
    if (3 * (this.#size + 1) > 2 * this.#used.length) this.#grow();
    const slot = this.#find(key);
    this.#bytes.set(key, slot * SLOT);
    this.#bytes.set(value, slot * SLOT + 16);
    this.#used[slot] = 1;
    this.#size++;
  }

  /** The slot of a key, or the free one where it belongs. @param {Uint8Array} key */
  #find(key) {
    const mask = this.#used.length - 1;
    let slot = (key[0] | (key[1] << 8) | (key[2] << 16) | (key[3] << 24)) & mask;
    while (this.#used[slot] && !this.#isAt(slot, key)) slot = (slot + 1) & mask;
    return slot;
  }

  /** @param {number} slot @param {Uint8Array} key */
  #isAt(slot, key) {
    for (let i = 0; i < 16; i++) if (this.#bytes[slot * SLOT + i] !== key[i]) return false;
    return true;
  }

  #grow() {
    const [bytes, used] = [this.#bytes, this.#used];
    this.#bytes = new Uint8Array(2 * bytes.length);
    this.#used = new Uint8Array(2 * used.length);
    this.#size = 0;
    for (let slot = 0; slot < used.length; slot++)
      if (used[slot])
        this.add(
          bytes.subarray(slot * SLOT, slot * SLOT + 16),
          bytes.subarray(slot * SLOT + 16, (slot + 1) * SLOT),
        );
  }
}
