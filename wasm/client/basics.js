// SPDX-License-Identifier: Apache-2.0
// What every part of the client needs, defined once: the UTC day, secret randomness, the sampling
// coin, refusals, storage failures, and the check for a page policy that blocks WebAssembly.
// Depends on device.js.
import { ShoalError } from '../bindings/device.js';

export const DAY_MS = 86_400_000;
// Locks of the pages that hold records of a visit in memory. Who ends consent steals the first, which
// tells the pages, and then waits for the second (windows.js).
export const VISITS = 'shoal-visits';
export const VISITS_LIVE = 'shoal-visits-live';
const STORAGE = 18; // the number of SHOAL_ERR_LEDGER: without storage no ledger can be read

/** Days since 1970-01-01 UTC. @param {{now: () => number}} deps */
export const today = ({ now }) => Math.floor(now() / DAY_MS);

/**
 * Draws secret random bytes.
 * @param {{random: (bytes: Uint8Array) => void}} deps
 * @param {number} n
 */
export function randomBytes({ random }, n) {
  const bytes = new Uint8Array(n);
  random(bytes);
  return bytes;
}

/**
 * Draws a uniform number in [0, 1) from 48 random bits.
 * @param {{random: (bytes: Uint8Array) => void}} deps
 */
export const uniform = (deps) => randomBytes(deps, 6).reduce((sum, byte) => (sum + byte) / 256, 0);

/**
 * Tosses the sampling coin.
 * @param {{random: (bytes: Uint8Array) => void}} deps
 * @param {number} share the probability of true, in [0, 1]
 */
export const isSampled = (deps, share) => uniform(deps) < share;

/**
 * Picks an entry of a list, each with the same probability; undefined if the list is empty.
 * @template T
 * @param {{random: (bytes: Uint8Array) => void}} deps
 * @param {T[]} list
 */
export function pick(deps, list) {
  if (list.length === 0) return undefined;
  // Numbers above the last multiple of the length would favour the first entries.
  const end = 2 ** 32 - (2 ** 32 % list.length);
  for (;;) {
    const n = new DataView(randomBytes(deps, 4).buffer).getUint32(0);
    if (n < end) return list[n % list.length];
  }
}

/**
 * Why a call is not answered, as a code of explain() with its sentence. The name is set by hand
 * because every chunk carries its own copy of this class: isRefusal compares names, not classes.
 */
export class Refusal extends Error {
  /**
   * @param {string} code
   * @param {string} [text] where reasons.js has no sentence for the code
   * @param {unknown} [cause] the error behind it
   */
  constructor(code, text, cause) {
    super(text, { cause });
    this.name = 'Refusal';
    this.code = code;
  }
}

/** @param {any} error @returns {error is Refusal} */
export const isRefusal = (error) => error?.name === 'Refusal';

/**
 * Makes the error that says that storage, or the lock around it, failed.
 * @param {unknown} cause
 * @param {string} [message]
 */
export const storageFailure = (cause, message = 'storage on this device failed') =>
  new ShoalError('storage', STORAGE, message, undefined, { cause });

/** @param {any} error */
export const isStorageFailure = (error) => error?.name === 'ShoalError' && error.code === 'storage';

/**
 * Reads bytes that storage held. An error of the core means that they are damaged, which is a
 * failure of storage; any other error passes as it is.
 * @template T
 * @param {() => T} read
 */
export function readStored(read) {
  try {
    return read();
  } catch (error) {
    throw /** @type {any} */ (error)?.name === 'ShoalError' ? storageFailure(error) : error;
  }
}

/**
 * Returns how explain() names an error: a refusal by its code, a storage failure as `storage`, and
 * anything else, which is a defect of the program, as `failed`.
 * @param {any} error
 * @returns {{code: string, text?: string, cause?: unknown}}
 */
export function toldAs(error) {
  if (isRefusal(error))
    return { code: error.code, text: error.message || undefined, cause: error.cause };
  return isStorageFailure(error)
    ? { code: 'storage', cause: error.cause }
    : { code: 'failed', cause: error };
}

/**
 * Waits for a chunk that is imported when it is first needed.
 * @template T
 * @param {Promise<T>} importing
 * @returns {Promise<T>}
 */
export const chunk = (importing) =>
  importing.catch((cause) => {
    throw new Refusal('core-missing', undefined, cause);
  });

/**
 * Returns the code for a WebAssembly module that did not load. Where the page's policy blocks
 * WebAssembly, Chromium and WebKit name 'unsafe-eval', and Firefox says "blocked by CSP". What else
 * it may have been is told by diagnosis.js, which only explain() and debug load.
 * @param {unknown} error
 * @param {string} [otherwise] the code if the page's policy is not the reason
 */
export const loadFailureCode = (error, otherwise = 'core-missing') =>
  /CSP|unsafe-eval/.test(/** @type {any} */ (error)) ? 'wasm-blocked' : otherwise;
