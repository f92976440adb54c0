// SPDX-License-Identifier: Apache-2.0
// The options of a client, and the platform's defaults for those that are absent.
import { indexedDbStorage } from './storage.js';

/**
 * @typedef {import('../bindings/device.js').Core} Core
 * @typedef {import('../bindings/device.js').RecipeJson} RecipeJson
 * @typedef {import('../bindings/query_core.js').PolicyJson} PolicyJson
 * @typedef {import('./storage.js').Storage} Storage
 * @typedef {import('./storage.js').Locks} Locks
 *
 * @typedef {{url: string, hash: string}} PinnedRecipe fetched after consent, and refused unless it
 *   has this hash
 *
 * @typedef {object} AllOptions every option, as the parts of the client read them
 * @property {string} endpoint base URL of the edge worker; https, or loopback
 * @property {(RecipeJson | PinnedRecipe)[]} [recipes]
 * @property {PinnedRecipe} [site] the origin's recipe set, with its recipes, runs, policy and budget;
 *   in place of the options recipes, runs and policy
 * @property {PolicyJson | PinnedRecipe} [policy] what queries may ask of this page's people
 * @property {(RecipeJson | PinnedRecipe)[]} [runs] what may be followed over epochs: for each run
 *   the recipe of one of its epochs
 * @property {string[]} [keys] Ed25519 public keys, hex: recipes that none of them signed are refused
 * @property {{url: string, key: string}} [log] the log of key lists and queries: the folder of its
 *   files, and its verifier key, `<name>+<8 hex>+<base64>`. Queries that are not in it are refused
 * @property {string} [relay] URL of a relay of Oblivious HTTP, to which everything for the endpoint is
 *   posted, sealed to the gateway key that the option log lists
 * @property {typeof fetch} [fetch]
 * @property {() => number} [now] milliseconds since 1970
 * @property {Storage} [storage]
 * @property {(bytes: Uint8Array) => void} [random] fills with secret random bytes
 * @property {Locks} [locks]
 * @property {string | URL | (() => Promise<Core>)} [wasm] where the module lies, or how to get a
 *   core; by default shoal.wasm beside this file, and shoal-all.wasm where a recipe needs it
 * @property {string | URL | (() => Promise<import('../bindings/query_core.js').QueryCore>)} [queryWasm]
 *   the same for queries: shoal-query.wasm
 * @property {string | URL | (() => Promise<WebAssembly.Module>)} [dapWasm] the same for recipes of
 *   two servers: shoal-dap.wasm
 * @property {() => Promise<import('../bindings/dap_core.js').Sealer>} [hpke] what seals for the keys
 *   of the two servers; by default WebCrypto's X25519 and AES-GCM
 * @property {(context: any) => Promise<{tokens: {recipe: string, day: number, key: string}[]}>}
 *   [keyList] the key list in force today; by default that of the option log
 * @property {() => Promise<{siteOf: (host: string) => string | null}>} [sites] the list of
 *   registrable domains
 * @property {Document} [document] what says whether the page is visible, for windows; by default the
 *   page's own. Without one, as in a worker, no window opens
 * @property {() => boolean} [gpc] does the browser send Global Privacy Control?
 * @property {() => boolean} [automated] is the browser driven by a program?
 * @property {() => Promise<void> | undefined} [activation] of a prerendered page, resolves when it
 *   is shown
 * @property {() => Promise<boolean>} [persist] asks the browser not to delete what is stored
 * @property {() => boolean} [deletesStorage] does the browser delete what scripts stored after days
 *   without interaction?
 * @property {(task: () => void, ms: number) => any} [setTimer]
 * @property {(timer: any) => void} [clearTimer]
 * @property {boolean} [debug] prints each event's way in the console; for a developer's own device
 *
 * @typedef {Omit<AllOptions, 'recipes' | 'site' | 'runs' | 'policy'>} Common
 * @typedef {RecipeJson & {recipe: string, url?: undefined, hash?: any}} InlineRecipe a recipe as the
 *   file has it
 * @typedef {{recipes: (InlineRecipe | PinnedRecipe)[], runs?: (InlineRecipe | PinnedRecipe)[],
 *   policy?: PolicyJson | PinnedRecipe, site?: undefined}} OwnRecipes
 * @typedef {{site: PinnedRecipe, recipes?: undefined, runs?: undefined, policy?: undefined}} OwnSet
 * @typedef {Common & (OwnRecipes | OwnSet)} Options what start and init take
 *
 * @typedef {Required<Pick<AllOptions, 'fetch' | 'now' | 'storage' | 'random' | 'locks' | 'sites' |
 *   'gpc' | 'automated' | 'activation' | 'persist' | 'setTimer' | 'clearTimer'>> & {watch?:
 *   (context: any, recipes: any, events: any) => void, isCorsRefused?: boolean}} Dependencies
 *   debug.js sets the last two: what looks on, and whether the endpoint answers, but not to this page
 */

/**
 * Returns the dependencies that the options name, and the platform's for the others.
 * @param {AllOptions} given
 * @returns {Promise<Dependencies>}
 */
export async function dependenciesOf(given) {
  const g = /** @type {any} */ (globalThis);
  // A page whose browser has no IndexedDB gets storage that fails: memory would forget what was
  // spent.
  const storage = given.storage ?? (g.indexedDB || g.document ? indexedDbStorage() : undefined);
  const locks = given.locks ?? g.navigator?.locks;
  const memory = storage && locks ? null : await import('./memory_storage.js');
  return {
    fetch: given.fetch ?? ((...args) => g.fetch(...args)),
    now: given.now ?? (() => Date.now()),
    storage: storage ?? /** @type {any} */ (memory).memoryStorage(),
    random: given.random ?? ((bytes) => g.crypto.getRandomValues(bytes)),
    locks: locks ?? /** @type {any} */ (memory).memoryLocks(),
    sites: given.sites ?? (() => import('./site.js')),
    gpc: given.gpc ?? (() => g.navigator?.globalPrivacyControl === true),
    automated: given.automated ?? (() => g.navigator?.webdriver === true),
    activation: given.activation ?? activation,
    persist: given.persist ?? (async () => g.navigator?.storage?.persist?.()),
    setTimer: given.setTimer ?? setTimer,
    clearTimer: given.clearTimer ?? ((timer) => clearTimeout(timer)),
  };
}

function activation() {
  const page = /** @type {any} */ (globalThis.document);
  return page?.prerendering
    ? new Promise((resolve) => page.addEventListener('prerenderingchange', resolve, { once: true }))
    : undefined;
}

/**
 * Sets a timer that does not keep a Node process alive.
 * @param {() => void} task
 * @param {number} ms
 */
function setTimer(task, ms) {
  const timer = setTimeout(task, ms);
  /** @type {any} */ (timer).unref?.();
  return timer;
}

/**
 * The address that takes reports. The endpoint was checked (option_check.js).
 * @param {AllOptions} options
 */
export const reportsUrl = ({ endpoint }) =>
  urlOf(`${endpoint.replace(/\/*$/, '/')}v1/reports`).href;

/** An address, which may be relative to the page. @param {string} text */
export const urlOf = (text) => new URL(text, globalThis.location?.href);

/** @param {string} text a URL */
export const isLoopback = (text) => /^(localhost|127(\.\d+){3}|\[::1])$/.test(urlOf(text).hostname);
