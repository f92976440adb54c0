// SPDX-License-Identifier: Apache-2.0
// Which of very many cases a test tries.

/**
 * Makes a function that is asked once for each case, and says whether the case is tried: every case
 * under SHOAL_LONG, otherwise a third of them, the same third in every run. The third is drawn, so
 * that no list of values in a loop falls into step with it.
 * @returns {() => boolean}
 */
export function chosenCases() {
  if (process.env.SHOAL_LONG !== undefined) return () => true;
  let state = 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0; // Numerical Recipes' generator
    return state < 2 ** 32 / 3;
  };
}
