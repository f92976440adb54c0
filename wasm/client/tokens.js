// SPDX-License-Identifier: Apache-2.0
// Tokens of recipes with `send.token` (RFC 9578 type 2): an issuer, which knows a person's account,
// signs them without seeing them, and each report spends one. This is a chunk of its own, loaded if
// a page has such a recipe.
//
// A bundle has all tokens of one issuer and UTC day: of every recipe in the log's key list, as many
// as the issuer's directory says. So it is the same for everyone, whatever a page's recipes and
// events are. It is fetched a day ahead in one POST, and for today too if the device has none. When
// follows from dates and visibility. What was asked for is stored before the POST, so that a retry
// asks for the same and the issuer counts it once.
import { randomBytes, today } from './basics.js';
import { SALT_SIZE, blinded, unblinded } from './blind_rsa.js';
import { limitedBytes } from './limited_body.js';
import {
  MODULUS_SIZE,
  TOKEN_TYPE,
  challengeDigest,
  concat,
  digest,
  fromHex,
  modulusOf,
  reportKey,
  toHex,
} from '../bindings/token_format.js';

/**
 * @typedef {import('../bindings/device.js').Recipe} Recipe
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./storage.js').Transaction} Transaction
 *
 * @typedef {import('./dap.js').Sealing & {take?: (tx: Transaction, n: number) => Promise<Taken[] |
 *   null>, more?: (tx: Transaction) => Promise<Taken | undefined>}} Sealing what a recipe's reports need:
 *   `take` takes n tokens, and `more` makes the members of a row that has one
 * @typedef {{id: string, token: string}} Taken members of a row: its key, and its token in base64url
 * @typedef {[string, Uint8Array, Uint8Array, Uint8Array, Uint8Array]} Asked one token that was asked
 *   for: its recipe, then what blinded() takes
 * @typedef {object} Bundle one of the entries of `tokens` in the store `state`, by day and issuer
 * @property {Asked[]} [asked] until it is answered
 * @property {Uint8Array<ArrayBuffer>} [body] what was sent to ask for them
 * @property {number} [next] the earliest time of the next try
 * @property {{[recipe: string]: Taken[]}} [left] once it is answered, by recipe hash
 */

const STATE = 'tokens';
const HOUR_MS = 3_600_000;
const RETRY_MS = HOUR_MS / 6;
const TIMEOUT_MS = 30_000;
const ANSWER_MAX = 1 << 20; // bytes
const BUNDLE_MAX = 256; // tokens: each takes a page some milliseconds

/**
 * @typedef {object} Page
 * @property {Promise<void>} fetching is under way, or the last; before the first, what waits for it
 * @property {(fetching: Promise<void>) => void} [begin] until the first
 */
/** @type {WeakMap<Context, Page>} */
const pages = new WeakMap();

/**
 * A page's fetching. An event may come before open() does (the browser gives the chunk to both in
 * an order of its own), and waits for it then: it does not begin to fetch, and it is not lost.
 * @param {Context} context
 * @returns {Page}
 */
function pageOf(context) {
  const known = pages.get(context);
  if (known) return known;
  /** @type {any} */
  const page = {};
  /** @type {Promise<void>} */
  const fetching = new Promise((resolve) => {
    page.begin = resolve;
    context.signal.addEventListener('abort', () => resolve());
  });
  page.fetching = fetching;
  pages.set(context, page);
  return page;
}

/**
 * Fetches the bundles that the recipes need, now and each hour. Called when the page has consent,
 * and never by an event.
 * @param {Context} context
 * @param {Recipe[]} recipes
 */
export function open(context, recipes) {
  const page = pageOf(context);
  const { begin } = page;
  if (!begin) return;
  delete page.begin;
  const tick = (/** @type {Promise<void>} */ last) => {
    if (context.signal.aborted) return;
    page.fetching = fetchBundles(context, recipes, last);
    context.deps.setTimer(() => tick(page.fetching), HOUR_MS);
  };
  tick(Promise.resolve());
  begin(page.fetching);
}

/**
 * Returns what gives reports of a recipe their tokens, or the code that says that there is none.
 * @param {Context} context
 * @param {Recipe} recipe
 * @returns {Promise<Sealing>}
 */
export async function sealingFor(context, { hash, json }) {
  await pageOf(context).fetching;
  /**
   * Takes n tokens of today for good; null if fewer are left, or none.
   * @param {Transaction} tx
   * @param {number} n
   */
  const take = async (tx, n) => {
    const bundles = await bundlesOf(tx);
    const left = bundles[`${today(context.deps)} ${json.send.token}`]?.left?.[hash];
    if (!(left?.length >= (n || 1))) return null;
    const taken = left.splice(0, n);
    if (n) await tx.put('state', STATE, bundles);
    return taken;
  };
  return (await context.transaction((tx) => take(tx, 0)))
    ? { take, more: async (tx) => (await take(tx, 1))?.[0] }
    : { code: 'no-token' };
}

/** @param {Transaction} tx @returns {Promise<{[key: string]: any}>} entries of Bundle */
const bundlesOf = async (tx) => (await tx.get('state', STATE)) ?? {};

/**
 * Fetches the bundles of today and tomorrow that the device does not have. One tab does it at a
 * time.
 * @param {Context} context
 * @param {Recipe[]} recipes
 * @param {Promise<void>} last the fetching before
 */
async function fetchBundles(context, recipes, last) {
  await last;
  for (const { json } of recipes)
    for (const ahead of [0, 1])
      await context
        .underLock('shoal-tokens', {}, () =>
          fetchBundle(context, json.send.token, today(context.deps) + ahead),
        )
        .catch((cause) => {
          // Where the log or storage says why, so is it told.
          context.note(cause.code?.trim?.() ?? 'no-token', null, undefined, cause);
        });
}

/** @param {Context} context @param {string} issuer @param {number} day */
async function fetchBundle(context, issuer, day) {
  const { deps } = context;
  const key = `${day} ${issuer}`;
  const known = (await context.transaction(bundlesOf))[key];
  if (!context.isOn || known?.left || known?.next > deps.now()) return;
  /**
   * Stores a bundle, under consent, and drops those of days that are over.
   * @param {Bundle} bundle
   */
  const store = (bundle) =>
    context.exclusive(async (tx) => {
      const bundles = await bundlesOf(tx);
      if (bundle.left && !bundles[key]) return; // consent ended meanwhile
      for (const old in bundles) if (parseInt(old) < today(deps)) delete bundles[old];
      await tx.put('state', STATE, { ...bundles, [key]: bundle });
    });
  const { asked, body } = known ?? (await bundleOf(context, issuer, day));
  await store({ asked, body, next: deps.now() + RETRY_MS });
  if (!context.isOn) return;
  const signatures = await fetched(context, `${issuer}/token-request`, {
    method: 'POST',
    body, // untyped, so that no preflight goes before it
    credentials: 'include', // the issuer knows the account by its own login
  });
  await store({ left: await tokensOf(asked, signatures) });
}

/**
 * Makes the request for a bundle, under the keys of the day that the log's list and the issuer's
 * directory have. Its form is in docs/formats.md, "Tokens".
 * @param {Context} context
 * @param {string} issuer
 * @param {number} day
 * @returns {Promise<Required<Pick<Bundle, 'asked' | 'body'>>>}
 */
async function bundleOf(context, issuer, day) {
  const { deps } = context;
  const { log, keyList = log && (await import('./log.js')).keyList } = context.options;
  if (!keyList) throw { code: 'no-log' };
  // A second key of a recipe and day would tell those who have it from the others, so only the
  // first one counts.
  /** @type {{[recipe: string]: string}} */
  const listed = {};
  for (const one of (await keyList(context)).tokens)
    if (one.day === day) listed[one.recipe] ??= one.key;
  const url = `${issuer}/.well-known/private-token-issuer-directory`;
  const directory = await fetched(context, url);
  /** @type {{[id: string]: [Uint8Array, Uint8Array, number]}} */
  const keys = {};
  for (const known of (await new Response(/** @type {any} */ (directory)).json())['token-keys']) {
    const text = atob(known['token-key'].replace(/-/g, '+').replace(/_/g, '/'));
    const spki = Uint8Array.from(text, (char) => char.charCodeAt(0));
    const id = await digest(spki);
    keys[toHex(id)] = [id, modulusOf(spki), known['per-day']]; // the list vouches for its form
  }
  const recipes = Object.keys(listed)
    .filter((recipe) => keys[listed[recipe]])
    .sort();
  /** @type {Asked[]} */
  const asked = [];
  /** @type {(Uint8Array | number[])[]} */
  const parts = [[1, day >> 24, day >> 16, day >> 8, day, 0, recipes.length]];
  for (const recipe of recipes) {
    const [id, modulus, count] = keys[listed[recipe]];
    if (!(asked.length + count <= BUNDLE_MAX)) throw 0;
    parts.push(fromHex(recipe), [count >> 8, count]);
    const challenge = await challengeDigest(issuer, recipe, day);
    for (let i = 0; i < count; i++) {
      const input = concat([0, TOKEN_TYPE], randomBytes(deps, 32), challenge, id);
      const salt = randomBytes(deps, SALT_SIZE);
      let blind;
      let message;
      do {
        blind = randomBytes(deps, MODULUS_SIZE);
        message = await blinded(modulus, input, salt, blind);
      } while (!message);
      asked.push([recipe, modulus, input, salt, blind]);
      parts.push([0, TOKEN_TYPE, id[31]], message);
    }
  }
  if (!asked[0]) throw 0; // no key of the day is known
  return { asked, body: concat(...parts) };
}

/**
 * Fetches a body; what does not answer with one throws.
 * @param {Context} context
 * @param {string} url
 * @param {RequestInit} [init]
 */
async function fetched({ deps }, url, init) {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await deps.fetch(url, { ...init, referrerPolicy: 'no-referrer', signal });
  if (!response.ok) throw response;
  return limitedBytes(response, ANSWER_MAX);
}

/**
 * Unblinds the tokens of a bundle. Those that the issuer did not sign are left out.
 * @param {Asked[]} asked
 * @param {Uint8Array} signatures
 */
async function tokensOf(asked, signatures) {
  /** @type {{[recipe: string]: Taken[]}} */
  const left = {};
  let at = 0;
  for (const [recipe, modulus, input, ...rest] of asked) {
    const signature = signatures.subarray(at, (at += MODULUS_SIZE));
    const signed = await unblinded(modulus, input, ...rest, signature);
    if (signed) {
      const text = btoa(String.fromCharCode(...input, ...signed));
      const token = text.replace(/\+/g, '-').replace(/\//g, '_');
      (left[recipe] ??= []).push({ id: await reportKey(input.subarray(2, 34)), token });
    }
  }
  return left;
}
