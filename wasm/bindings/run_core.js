// SPDX-License-Identifier: Apache-2.0
// A run over epochs as JavaScript: the state that a device keeps of it, as bytes, and the answer to
// an epoch's recipe. It has no storage, no clock and no randomness. It needs shoal-all.wasm.
// Depends on device.js. Sources: joseph-2018; core/compound/epoch.h defines the state.
import { ARGUMENT, RANGE, ShoalError, VALUE_MAX, encoder, toHex } from './device.js';

/**
 * @typedef {import('./device.js').Module} Module
 * @typedef {import('./joint_core.js').JointRecipe} JointRecipe
 * @typedef {{used: number, allowed: number}} Use
 * @typedef {object} Spent what a run has spent on this device; the reports of its epochs are
 *   public, these figures are not
 * @property {number} epoch last answered; 0 before the first
 * @property {number} epochs of the run
 * @property {Use} votes that something has changed
 * @property {Use} estimates
 * @property {Use} epsilon of the whole run, for any server: at most what was debited
 * @typedef {object} Answer
 * @property {string | null} refusal null where it is answered: else why not, "answered"
 * @property {string} text a sentence
 * @property {Uint8Array} state the new one; the old one where it is refused
 * @property {string | null} record its text form; null where it is refused
 */

const SPENT_WORDS = 9; // of the export track_spent
const ENTRY = 16; // bytes of an item and its count
const ITEM = 8;
const SEED = 32;

/** Is the recipe an epoch of a run? @param {{mechanism?: unknown}} json */
export const isRun = ({ mechanism }) =>
  typeof mechanism === 'string' && /^(heavy)?thresh$/.test(mechanism);

/** The run that a checked recipe is an epoch of. */
export class Run {
  #recipe;
  /** @type {Module} */ #module;

  /** @param {JointRecipe} recipe stays the caller's to release */
  constructor(recipe) {
    this.#recipe = recipe;
    const module = (this.#module = /** @type {any} */ (recipe).module);
    if (!isRun(recipe.json))
      throw new ShoalError('argument', ARGUMENT, `${recipe.id} is no epoch of a run`);
    module.reserve(32);
    module.check(module.x.track_run_hash(module.base, recipe.handle));
    /** Hash of the run, hex. @readonly */ this.hash = toHex(module.take(0, 32));
    /** Of the recipe; 0 where it states none. @readonly @type {number} */ this.epoch =
      recipe.json.round?.index ?? 0;
    /** Does it follow one number, or how often strings come? @readonly */ this.isNumber =
      recipe.isNumber;
  }

  /**
   * Makes the state of a run before its first answer. Call this only for a run that the ledger was
   * just debited for: a run whose state is lost is over for this device.
   */
  start() {
    const module = this.#module;
    const { handle } = this.#recipe;
    const size = module.x.track_state_size(handle);
    module.reserve(size);
    return module.take(0, module.length(module.x.track_state_init(module.base, size, handle)));
  }

  /**
   * Answers the recipe with the mean of an epoch's numbers. Store the new state durably before the
   * record is sent.
   * @param {Uint8Array} state
   * @param {bigint | null} mean in micro-units; null where the epoch has no samples
   * @param {Uint8Array} seed 32 fresh secret random bytes, used for nothing else
   * @returns {Answer}
   */
  answerNumber(state, mean, seed) {
    return this.#answer(state, seed, 0, ({ record, kept, coins }) =>
      this.#module.x.track_answer_number(
        record,
        kept,
        state.length,
        this.#recipe.handle,
        mean ?? 0n,
        Number(mean !== null),
        coins,
      ),
    );
  }

  /**
   * Answers the recipe with the counts of an epoch's strings.
   * @param {Uint8Array} state
   * @param {Map<string, number>} counts by item()
   * @param {Uint8Array} seed as above
   * @returns {Answer}
   */
  answerCounts(state, counts, seed) {
    const module = this.#module;
    const { handle } = this.#recipe;
    const scratch = module.x.track_scratch_size(handle);
    return this.#answer(
      state,
      seed,
      ENTRY * counts.size + scratch,
      ({ record, kept, coins, rest }) => {
        const view = new DataView(module.x.memory.buffer);
        let at = rest;
        for (const [item, count] of counts) {
          view.setBigUint64(at, BigInt(`0x${item}`), true);
          view.setUint32(at + 8, count, true);
          view.setUint32(at + 12, 0, true);
          at += ENTRY;
        }
        return module.x.track_answer_counts(
          record,
          kept,
          state.length,
          handle,
          rest,
          counts.size,
          at,
          coins,
        );
      },
    );
  }

  /**
   * @param {Uint8Array} state
   * @param {Uint8Array} seed
   * @param {number} more bytes at `rest`
   * @param {(at: {kept: number, coins: number, record: number, rest: number}) => number} call
   *   returns a refusal
   * @returns {Answer}
   */
  #answer(state, seed, more, call) {
    const module = this.#module;
    const { recordSize, textSize } = /** @type {JointRecipe} */ (this.#recipe);
    if (seed.length !== SEED) throw module.error(ARGUMENT);
    // The memory holds the seed, the state, the record with its text, and the rest, each at a
    // multiple of 16.
    const kept = SEED;
    const record = kept + aligned(state.length);
    const rest = record + aligned(recordSize + textSize);
    module.reserve(rest + more);
    module.put(seed);
    module.put(state, kept);
    const { base } = module;
    try {
      const refusal = call({
        coins: base,
        kept: base + kept,
        record: base + record,
        rest: base + rest,
      });
      const isAnswered = refusal === 0;
      return {
        refusal: isAnswered ? null : module.text(module.x.track_refusal_name(refusal)),
        text: sentence(module.text(module.x.track_refusal_text(refusal))),
        state: isAnswered ? module.take(kept, state.length) : state,
        record: isAnswered ? /** @type {any} */ (this.#recipe).print(record) : null,
      };
    } finally {
      module.reserve(0).fill(0, base, base + rest + more);
    }
  }

  /**
   * Returns the item of a string, hex, after the recipe's text rule. It is the same in the whole
   * run.
   * @param {string} text
   */
  item(text) {
    const module = this.#module;
    if (encoder.encode(text).length > VALUE_MAX) throw module.error(RANGE);
    const [at, len] = module.place(text, ITEM);
    module.check(module.x.track_item(module.base, this.#recipe.handle, at, len));
    return module.view().getBigUint64(0, true).toString(16).padStart(16, '0');
  }

  /**
   * Returns what the state says was spent. Throws if the state is damaged or of another run.
   * @param {Uint8Array} state
   * @returns {Spent}
   */
  spent(state) {
    const module = this.#module;
    const { handle, epsilonMicro } = this.#recipe;
    const at = aligned(4 * SPENT_WORDS);
    module.put(state, at);
    module.check(module.x.track_spent(module.base, module.base + at, state.length, handle));
    const [epoch, epochs, votes, allVotes, estimates, allEstimates, , , used] =
      module.words(SPENT_WORDS);
    return {
      epoch,
      epochs,
      votes: { used: votes, allowed: allVotes },
      estimates: { used: estimates, allowed: allEstimates },
      epsilon: { used: used / 1e6, allowed: epsilonMicro / 1e6 },
    };
  }
}

/** @param {string} text */
const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

/** @param {number} n */
const aligned = (n) => (n + 15) & -16;
