// SPDX-License-Identifier: Apache-2.0
// Prints the demo's numbered steps with the time of each, and one line of progress on a terminal.

/** @param {number} x */
export const whole = (x) => x.toLocaleString('en-US');

/** @param {string} text */
export const say = (text) => console.log(text);

/** Lines of at most 100 characters. @param {string} text */
export const wrapped = (text) => text.replace(/(.{1,100})(?: |$)/g, '$1\n').trimEnd();

/** @typedef {(text: string) => void} Progress */

/**
 * @param {number} count of the steps
 * @returns a function that does the next of them
 */
export function makeSteps(count) {
  const began = Date.now();
  const isTerminal = process.stdout.isTTY;
  let steps = 0;
  /**
   * A numbered step with its time.
   * @template {{said: string}} T
   * @param {string} title @param {(progress: Progress) => Promise<T>} task
   * @returns {Promise<T>} what the task gives; `said` is what it found, for the reader
   */
  return async function step(title, task) {
    const head = `[${++steps}/${count}] ${title}`;
    if (isTerminal) process.stdout.write(`${head} …`);
    else say(`${head} …`);
    /** @param {string} news on one line, cut so that the next can take its place */
    const progress = (news) => {
      const line = `${head}: ${news} …`.slice(0, (process.stdout.columns || 80) - 1);
      if (isTerminal) process.stdout.write(`\r\x1b[K${line}`);
    };
    const result = await task(progress);
    const time = `${((Date.now() - began) / 1000).toFixed(1)} s`;
    say(`${isTerminal ? `\r\x1b[K${head}\n` : ''}      ${result.said} (${time})`);
    return result;
  };
}
