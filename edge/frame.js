// SPDX-License-Identifier: Apache-2.0
// Reads reports by their frame. Except for its record's text, a report is the same for every device
// of a recipe. Where those bytes match, the record is read from between them in one pass, which
// allocates nothing but the record. A report that does not match goes to the parser, which accepts
// and refuses the same reports (frame.test.mjs compares the two).

/**
 * @typedef {import('./collection.js').Collection} Collection
 * @typedef {import('./collection.js').Recipe} Recipe
 */

/**
 * @typedef {object} Frames  what a set of collections accepts
 * @property {number} longest  characters of its longest record
 * @property {Map<number, Frame[]>} byLength  of a report, in bytes
 *
 * @typedef {{collection: Collection, frame: Uint8Array, head: number}} Frame  the bytes of a report
 *   without its text: `head` of them come before it, the others after
 */

/** @type {WeakMap<Map<string, Collection>, Frames>} */
const made = new WeakMap();

/**
 * Returns the frames, which are made once for a map of collections. The map does not change
 * afterwards.
 * @param {Map<string, Collection>} collections
 * @returns {Frames}
 */
export function framesOf(collections) {
  let frames = made.get(collections);
  if (frames === undefined) made.set(collections, (frames = makeFrames(collections)));
  return frames;
}

/** @param {Map<string, Collection>} collections @returns {Frames} */
function makeFrames(collections) {
  const byLength = new Map();
  let longest = 0;
  for (const collection of collections.values()) {
    const { recipe } = collection;
    longest = Math.max(longest, recipe.textSize);
    const { frame, head } = frameOf(recipe);
    const length = frame.length + recipe.textSize;
    byLength.set(length, [...(byLength.get(length) ?? []), { collection, frame, head }]);
  }
  return { longest, byLength };
}

/** @param {Recipe} recipe */
function frameOf({ key, hash, parameters }) {
  const around = JSON.stringify({ key, recipe_hash: hash, parameters, records: [''] }); // the order in which clients write it
  const encoder = new TextEncoder();
  return {
    frame: encoder.encode(around),
    head: encoder.encode(around.slice(0, -'"]}'.length)).length,
  };
}

/**
 * Returns the collection and record of a report that fits one of the frames, or null.
 * @param {Uint8Array} report
 * @param {Frames} frames
 * @returns {{collection: Collection, record: Uint8Array} | null}
 */
export function readByFrame(report, { byLength }) {
  for (const { collection, frame, head } of byLength.get(report.length) ?? []) {
    const record = collection.recipe.recordFromReport(report, frame, head);
    if (record !== null) return { collection, record };
  }
  return null;
}
