// SPDX-License-Identifier: Apache-2.0
// What was found: for each check right, wrong, or not to be checked. Prints it in plain words, or as
// JSON (docs/schema/verify.schema.json).
import { CODES, filled } from './codes.js';

/**
 * @typedef {'right' | 'wrong' | 'unknown'} State
 * @typedef {{check: string, state: State, code?: string, what: string, mend?: string}} Result
 */

export const EXIT_RIGHT = 0;
export const EXIT_WRONG = 1;
export const EXIT_USAGE = 2;
export const EXIT_UNKNOWN = 3;

const SIGNS = { right: 'right  ', wrong: 'WRONG  ', unknown: 'unknown' };

// What a server says is printed on the operator's terminal: control characters, the C1 set and those
// that turn the direction of text are shown as what they are.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** @param {string} text */
const visible = (text) =>
  text.replace(UNSEEN, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

export class Report {
  /** @type {Result[]} */ results = [];

  /** @param {string} check @param {string} what */
  right(check, what) {
    this.results.push({ check, state: 'right', what });
  }

  /**
   * Adds what is wrong, once for each sentence.
   * @param {string} check
   * @param {keyof typeof CODES & string} code
   * @param {Record<string, string | number | undefined>} [vars]
   */
  wrong(check, code, vars = {}) {
    const meaning = CODES[code];
    const what = filled(meaning.what, vars);
    const mend = filled(meaning.mend, vars);
    if (this.results.some((known) => known.code === code && known.what === what)) return;
    this.results.push({ check, state: 'wrong', code, what, mend });
  }

  /** @param {string} check @param {string} what @param {string} [mend]  what makes it checkable */
  unknown(check, what, mend) {
    if (this.results.some((known) => known.check === check && known.what === what)) return;
    this.results.push({ check, state: 'unknown', what, ...(mend && { mend }) });
  }

  /** @param {string} code */
  has(code) {
    return this.results.some((result) => result.code === code);
  }

  get exitCode() {
    const has = (/** @type {State} */ state) => this.results.some((each) => each.state === state);
    return has('wrong') ? EXIT_WRONG : has('unknown') ? EXIT_UNKNOWN : EXIT_RIGHT;
  }

  /** @param {string} target @param {string} how  'browser' or 'http' */
  toJson(target, how) {
    const count = (/** @type {State} */ state) =>
      this.results.filter((each) => each.state === state).length;
    return {
      schema: 1,
      target,
      how,
      right: count('right'),
      wrong: count('wrong'),
      unknown: count('unknown'),
      results: this.results,
    };
  }

  /** @param {string} target @param {string} how */
  toText(target, how) {
    const { right, wrong, unknown } = this.toJson(target, how);
    const lines = [`${visible(target)}, by ${how === 'browser' ? 'a browser' : 'plain HTTP'}`, ''];
    let check = '';
    for (const result of this.results) {
      const name = result.check === check ? '' : result.check;
      check = result.check;
      lines.push(`${SIGNS[result.state]}  ${name.padEnd(11)} ${visible(result.what)}`);
      if (result.mend) lines.push(`${' '.repeat(21)}-> ${visible(result.mend)}`);
    }
    const verdict = wrong
      ? `${wrong} wrong, ${unknown} could not be checked, ${right} right.`
      : unknown
        ? `Nothing wrong was found; ${unknown} could not be checked, ${right} right.`
        : `All right: ${right} checks.`;
    return `${[...lines, '', verdict].join('\n')}\n`;
  }
}
