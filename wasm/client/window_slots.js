// SPDX-License-Identifier: Apache-2.0
// The slots of a window, and what an event brings to one. A part of the chunk of windows.js.
import { randomizeNone } from '../bindings/none_record.js';
import { toHex } from '../bindings/device.js';
import { isSampled, randomBytes } from './basics.js';

/**
 * @typedef {import('../bindings/device.js').Recipe} Recipe
 * @typedef {import('./client_options.js').Dependencies} Dependencies
 *
 * @typedef {object} Slot of a day
 * @property {string} id the Idempotency-Key of its report
 * @property {number} u of the record that it keeps; -1 for "none"
 * @property {string} record
 * @property {string} [token] that its report spends, where the recipe's reports do
 */

/** What names a step of a funnel in place of a value: `{[STEP]: 1}`. No value of a page has it. */
export const STEP = Symbol.for('shoal step'); // one in all chunks

/**
 * Tosses the sampling coin of each report. Returns a slot for each that stays.
 * @param {Dependencies} deps
 * @param {Recipe} recipe
 * @param {import('./tokens.js').Taken[]} [tokens] one for each report
 * @returns {Slot[]}
 */
export function slotsOf(deps, recipe, tokens) {
  const slots = [];
  for (let i = 0; i < recipe.limit.perDay; i++)
    if (isSampled(deps, recipe.send.sample)) {
      const { record } = draw(deps, recipe, {});
      slots.push({ id: toHex(randomBytes(deps, 16)), u: -1, record, ...tokens?.[i] });
    }
  return slots;
}

/**
 * Draws what one event brings to one slot, with coins that nothing else uses.
 * @param {Dependencies} deps
 * @param {Recipe} recipe
 * @param {{value?: any}} item without a value for "none"
 * @param {number} [order] in place of a number that is drawn
 */
export function draw(deps, recipe, item, order) {
  const u = order ?? Number(new DataView(randomBytes(deps, 8).buffer).getBigUint64(0) >> 11n);
  const seed = randomBytes(deps, 32);
  const record =
    'value' in item ? recipe.randomize(item.value ?? null, seed) : randomizeNone(recipe, seed);
  seed.fill(0);
  return { u, record };
}

/**
 * Adds a step of a funnel to those that the window of a day had, and returns all of them, as bits;
 * nothing where the window is not open.
 * @param {import('./context.js').Context} context
 * @param {string} key of the window's row
 * @param {number} bit of the step
 * @param {number} era
 */
export const addStep = (context, key, bit, era) =>
  context.exclusive(async (tx) => {
    /** @type {{slots?: Slot[] | null, steps?: number} | undefined} */
    const row = await tx.get('events', key);
    if (era !== context.era || !row?.slots) return undefined;
    const steps = (row.steps ?? 0) | bit;
    await tx.put('events', key, { ...row, steps });
    return steps;
  });

/**
 * The event that says which steps were reached: for each variable `yes` or `no`.
 * @param {Recipe} recipe
 * @param {number} steps as bits
 */
export const stepsOf = ({ json }, steps) =>
  Object.fromEntries(
    /** @type {{name: string}[]} */ (json.variables ?? []).map(({ name }, i) => [
      name,
      (steps >> i) & 1 ? 'yes' : 'no',
    ]),
  );
