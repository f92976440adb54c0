// SPDX-License-Identifier: Apache-2.0
// Tells a failed request for what it was: the page's policy, the edge worker's list of origins, or a
// server that is not there. A part of the chunks that explain() and `debug` load. It sends nothing.
import { REASONS } from './reasons.js';

/**
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./context.js').Note} Note
 */

// The codes of requests that failed without an answer.
const UNANSWERED = ['offline', 'recipe-missing', 'set-missing', 'core-missing'];
// The codes whose error says what was wrong, in words of the core or of the browser.
const WORDED = /^(recipe|set|wasm|core)-/;

/**
 * Returns the address that the page's policy blocked, if that is what befell a request.
 * @param {Context} context
 * @param {string} code
 * @param {string | null} recipe a recipe's address, where it is pinned
 */
function blockedAddress({ blocked, url }, code, recipe) {
  const wanted = code === 'offline' ? new URL(url).origin : recipe;
  const here = globalThis.location?.href;
  const address = wanted && URL.canParse(wanted, here) ? new URL(wanted, here).href : null;
  return blocked.find((each) => (address ? each.startsWith(address) : /\.wasm$/.test(each)));
}

/**
 * Returns a reason with the code that tells what happened, and its sentence.
 * @param {Context} context
 * @param {Note} note
 * @returns {Note & {text: string}}
 */
export function diagnosed(context, note) {
  let { code } = note;
  let detail = WORDED.test(code) ? /** @type {any} */ (note.cause)?.message : undefined;
  if (UNANSWERED.includes(code)) {
    const address = blockedAddress(context, code, note.recipe);
    const error = String(note.cause);
    if (address) [code, detail] = ['csp-blocked', address];
    else if (/Security Policy/.test(error)) code = 'csp-blocked';
    else if (/wasm: HTTP/.test(error)) code = 'wasm-missing';
    else if (/^CompileError/.test(error)) code = 'wasm-type';
    else if (code === 'offline' && context.deps.isCorsRefused) code = 'cors-refused';
  }
  const text = note.text ?? REASONS[code];
  return { ...note, code, text: detail ? `${text} (${detail})` : text };
}
