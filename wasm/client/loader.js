// SPDX-License-Identifier: Apache-2.0
// What a page embeds: a few hundred bytes that load the client and its WebAssembly only once
// consent is given. Before that nothing is fetched, stored or kept in memory, and events are
// ignored. Touches no global until start().
import { checkOptions } from './option_check.js';

/**
 * @typedef {import('./client.js').Client} Client
 * @typedef {import('./client.js').ConsentState} ConsentState
 * @typedef {import('./client.js').Options} Options
 * @typedef {(word: string) => unknown} Take
 */

// The key under which this browser remembers that the person answered, so that the client is loaded
// on the next page. The client's own storage decides; where this memory is refused, the page asks
// again.
const KEY = 'shoal-consent';

/**
 * Asks this browser's memory. Where it is refused, there is nothing in it, and the page asks again.
 * @param {(memory: any) => any} task
 */
function tried(task) {
  try {
    return task(localStorage);
  } catch {
    return undefined;
  }
}

/** @returns {ConsentState} */
const rememberedState = () => tried((memory) => memory.getItem(KEY)) ?? 'none';

/** @template {string} S @param {S} state */
function remember(state) {
  const known = rememberedState();
  // Terms that are outdated are asked for anew; what was agreed to before goes on.
  const kept = state === 'outdated' ? 'granted' : state;
  if (
    !(/** @type {any} */ (globalThis.document)?.prerendering) &&
    (kept === 'granted' || known !== 'none')
  )
    tried((memory) => memory.setItem(KEY, kept));
  return state;
}

const forget = () => tried((memory) => memory.removeItem(KEY));

/** The client of a page, loaded when it is needed. */
class Loading {
  #options;
  #importClient;
  /** @type {Promise<Client> | null} */
  #loading = null;
  /** @type {Client | null} */
  #client = null;
  /**
   * Elements to observe once the client is there.
   * @type {Map<Element, {take?: Take, stop?: () => void}>}
   */
  #observed = new Map();

  /** @param {Options} options @param {() => Promise<typeof import('./client.js')>} importClient */
  constructor(options, importClient) {
    this.#options = options;
    this.#importClient = importClient;
  }

  get #hasGpc() {
    const { gpc } = this.#options;
    return gpc ? gpc() : !!(/** @type {any} */ (globalThis.navigator)?.globalPrivacyControl);
  }

  /** @returns {ConsentState} */
  get #state() {
    return this.#client?.consent.state ?? (this.#hasGpc ? 'gpc' : rememberedState());
  }

  /** Is or was there consent, so that there is something to ask the client? */
  get #isKnown() {
    return this.#loading || rememberedState() !== 'none';
  }

  /** @returns {Promise<Client>} */
  #load() {
    this.#loading ??= this.#init().catch((error) => {
      this.#loading = null;
      throw error;
    });
    return this.#loading;
  }

  async #init() {
    const { init } = await this.#importClient();
    const client = await init(this.#options, true);
    this.#client = client;
    remember(client.consent.state);
    for (const [element, each] of this.#observed) each.stop = client.observe(element, each.take);
    return client;
  }

  /**
   * Hands an event to the client if there is consent.
   * @param {(client: any, args: any[]) => any} call
   */
  #hand(call) {
    return async (/** @type {any[]} */ ...args) => {
      if (this.#loading && this.#state !== 'none') return call(await this.#loading, args);
      if (this.#options.debug) console.info('shoal', this.#why()[0].text);
      return [];
    };
  }

  /**
   * Calls a method of the client if there is or was consent.
   * @param {keyof Client} method
   * @param {() => any} [otherwise]
   */
  #ask(method, otherwise) {
    return async (/** @type {any[]} */ ...args) =>
      this.#isKnown ? /** @type {any} */ (await this.#load())[method](...args) : otherwise?.();
  }

  /** @param {Element} element @param {Take} [take] */
  #observe(element, take) {
    // A wrong argument throws at once, not later when the client is loaded.
    if (!element?.addEventListener) throw new TypeError('observe: element must be a DOM element');
    this.#observed.set(element, { take, stop: this.#client?.observe(element, take) });
    return () => {
      this.#observed.get(element)?.stop?.();
      this.#observed.delete(element);
    };
  }

  /** Why nothing is sent, before there is a client; nothing is loaded for it. */
  #why() {
    const why = this.#hasGpc
      ? { code: 'gpc', text: 'The browser sends Global Privacy Control, which counts as no.' }
      : { code: 'no-consent', text: 'Consent has not been given.' };
    return [{ ...why, recipe: null, count: 0 }];
  }

  /** The calls that the page makes. @returns {Loaded} */
  calls() {
    const loading = this;
    /** @param {string} part @returns {(method: string) => any} */
    const part = (part) => (method) =>
      this.#hand((client, args) => (part ? client[part] : client)[method](...args));
    /** @param {any} method */
    const list = (method) => this.#ask(method, () => (method === 'explain' ? this.#why() : []));

    // The client is also loaded under Global Privacy Control. It then withdraws consent and erases
    // waiting records.
    if (rememberedState() === 'granted') this.#load().catch(() => {});

    return {
      ...each(
        ['record', 'visit', 'type', 'arrive', 'reach', 'donate', 'shareExactly', 'optIn', 'ask'],
        part(''),
      ),
      ...each(['reports', 'ledger', 'log', 'explain'], list),
      consent: {
        get state() {
          return loading.#state;
        },
        grant: async () =>
          this.#hasGpc ? 'gpc' : remember(await (await this.#load()).consent.grant()),
        asks: async () => (this.#isKnown ? (await this.#load()).consent.asks() : []),
        withdraw: async () => {
          if (this.#isKnown) remember(await (await this.#load()).consent.withdraw());
          return loading.#state;
        },
      },
      exact: each(['optIn', 'optOut'], part('exact')),
      track: each(['optIn', 'sample', 'answer'], part('track')),
      observe: (/** @type {Element} */ element, /** @type {Take} */ take) =>
        this.#observe(element, take),
      flush: this.#ask('flush'),
      erase: async () => {
        await this.#ask('erase')();
        forget();
      },
    };
  }
}

/**
 * @template {string} K
 * @param {K[]} names
 * @param {(name: K) => any} make
 * @returns {any}
 */
const each = (names, make) => Object.fromEntries(names.map((name) => [name, make(name)]));

/**
 * @typedef {Pick<Client, 'record' | 'visit' | 'arrive' | 'reach' | 'type' | 'donate' | 'shareExactly' | 'optIn' | 'ask' |
 *   'exact' | 'track' | 'observe' | 'flush' | 'reports' | 'ledger' | 'log' | 'explain' | 'erase' |
 *   'consent'>} Loaded the calls of a client, without `close`
 */

/**
 * Starts a client that is loaded with consent. Throws if an option is wrong.
 * @param {Options & {client?: () => Promise<typeof import('./client.js')>}} options as for init;
 *   `client` loads the client
 * @returns {Loaded}
 */
export function start({ client: importClient = () => import('./client.js'), ...options }) {
  checkOptions(options);
  return new Loading(options, importClient).calls();
}
