// SPDX-License-Identifier: Apache-2.0
// The whole core as JavaScript: what a device needs (device.js), and what an edge worker needs in
// addition: records and batches as bytes, queries and joint recipes. It never fetches; it takes a
// module or an instance. Depends on device.js, keyed_recipe.js and joint_core.js.
import { ARGUMENT, Core as DeviceCore, Ledger as DeviceLedger, Module } from './device.js';
import { JointRecipe } from './joint_core.js';
import { setRecipe } from './keyed_recipe.js';
import { spentOf } from './ledger_sum.js';

export { Module, ShoalError, toHex } from './device.js';

/**
 * @typedef {import('./device.js').RecipeJson} RecipeJson
 * @typedef {import('./device.js').ReportJson} ReportJson
 * @typedef {import('./ledger_sum.js').Spent} Spent
 */

/** The bytes before a batch's records, by its version (core/wire/batch.h). */
export const batchHeader = (/** @type {number} */ version) => (version === 1 ? 72 : 88);
const BATCH_TRAILER = 8;

/** The budget ledger, and what it says was spent. */
export class Ledger extends DeviceLedger {
  /**
   * Returns what the recipe's (analysis, field) has spent on the days first .. last.
   * @param {Uint8Array} ledger
   * @param {Recipe} recipe
   * @param {number} first
   * @param {number} last
   * @returns {Spent}
   */
  spent(ledger, recipe, first, last) {
    return spentOf(ledger, recipe, first, last);
  }
}

/** One module instance. At most 64 recipes live in it at a time. */
export class Core extends DeviceCore {
  /** @param {WebAssembly.Instance} instance */
  constructor(instance) {
    super(instance);
    this.ledger = new Ledger(new Module(instance));
  }

  /**
   * Checks a recipe and prepares it. Release it when it is no longer needed.
   * @param {RecipeJson | string} json a parsed recipe, or its text
   * @returns {Recipe}
   */
  recipe(json) {
    return new Recipe(...this.prepare(json, setRecipe));
  }
}

/** A checked recipe. Made by Core.recipe. */
export class Recipe extends JointRecipe {
  /**
   * Randomizes as randomize does, and returns the binary record.
   * @param {any} value @param {Uint8Array} seed @param {Uint8Array} [secret] @returns {Uint8Array}
   */
  randomizeBytes(value, seed, secret) {
    return this.module.take(this.draw(value, seed, secret), this.recordSize);
  }

  /**
   * Randomizes as randomizeBytes does, into an array that the caller provides. To allocate an array
   * for each record would take a fifth of the time.
   * @param {Uint8Array} records
   * @param {number} at where the record goes
   * @param {any} value
   * @param {Uint8Array} seed
   * @param {Uint8Array} [secret]
   */
  randomizeInto(records, at, value, seed, secret) {
    const { module, recordSize } = this;
    const from = module.base + this.draw(value, seed, secret);
    records.set(module.bytes.subarray(from, from + recordSize), at);
  }

  /**
   * Reads a text record. Throws if the recipe's randomizer cannot have made it.
   * @param {string} text
   * @returns {Uint8Array}
   */
  recordFromText(text) {
    const { module } = this;
    module.reserve(this.recordSize);
    // A longer text is refused by its first textSize + 1 characters, so hostile input costs no
    // memory.
    const [at, len] = module.place(String(text).slice(0, this.textSize + 1), this.recordSize);
    const err = module.x.record_from_text(module.base, this.handle, at, len);
    if (err) throw module.error(err, `position ${module.x.err_position()}`);
    return module.take(0, this.recordSize);
  }

  /**
   * Reads the record of a whole report in bytes, if the report is byte for byte the usual frame of
   * this recipe's reports: `head` bytes of `frame`, the text record, the rest of `frame`. Returns
   * null for any other bytes, which may still be a valid report.
   * @param {Uint8Array} report
   * @param {Uint8Array} frame
   * @param {number} head
   * @returns {Uint8Array | null}
   */
  recordFromReport(report, frame, head) {
    const { module, recordSize } = this;
    const { base, x } = module;
    const at = recordSize + report.length;
    const bytes = module.reserve(at + frame.length);
    bytes.set(report, base + recordSize);
    bytes.set(frame, base + at);
    const err = x.record_from_report(
      base,
      this.handle,
      base + recordSize,
      report.length,
      base + at,
      head,
      frame.length - head,
    );
    return err ? null : module.take(0, recordSize);
  }

  /** @param {Uint8Array} record @returns {string} */
  recordToText(record) {
    const { module } = this;
    if (record.length !== this.recordSize) throw module.error(ARGUMENT);
    module.reserve(this.recordSize + this.textSize);
    module.put(record);
    return this.print(0);
  }

  /**
   * Makes a batch of checked records.
   * @param {Uint8Array} records count * recordSize bytes
   * @param {Uint8Array} salt 16 random bytes, drawn for this batch alone; in version 1 its id
   * @param {number} [day] UTC days since 1970, which version 2 carries; without it version 1 is
   *   made
   * @returns {Uint8Array}
   */
  sealBatch(records, salt, day = 0) {
    const { module } = this;
    if (salt.length !== 16 || records.length % this.recordSize) throw module.error(ARGUMENT);
    const count = records.length / this.recordSize;
    const size = module.length(module.x.batch_size(this.handle, count, day));
    module.reserve(16 + size);
    module.put(salt);
    module.put(records, 16 + batchHeader(day ? 2 : 1));
    module.check(module.x.batch_seal(module.base + 16, size, this.handle, count, module.base, day));
    return module.take(16, size);
  }

  /** Checks a batch of this recipe, of either version, and takes it apart. @param {Uint8Array} batch */
  openBatch(batch) {
    const { module } = this;
    module.put(batch);
    const count = module.length(module.x.batch_open(module.base, batch.length, this.handle));
    const { version, day, id } = batchHead(batch);
    const records = batch.slice(batchHeader(version), batch.length - BATCH_TRAILER);
    return { count, id, records, version, day };
  }
}

/**
 * Reads the head of a batch that was checked before.
 * @param {Uint8Array} batch
 * @returns {{version: number, day: number, id: Uint8Array}} day: 0 in version 1
 */
export function batchHead(batch) {
  const view = new DataView(batch.buffer, batch.byteOffset);
  return {
    version: view.getUint32(8, true),
    day: view.getUint32(20, true),
    id: batch.slice(56, 72),
  };
}
