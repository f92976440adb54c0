// SPDX-License-Identifier: Apache-2.0
// What a page embeds: a few hundred bytes that load the client and its WebAssembly only once
// consent is given. Before that nothing is fetched, stored or kept in memory, and events are
// ignored. Touches no global until start().

/**
 * @typedef {import('./client.js').Client} Client
 * @typedef {import('./client.js').Options} Options
 * @typedef {(word: string) => unknown} Take
 */

// The key under which this browser remembers that the person answered, so that the client is loaded
// on the next page. The client's own storage decides; where this memory is refused, the page asks
// again.
const KEY = 'shoal-consent';

function rememberedState() {
  try {
    return globalThis.localStorage?.getItem(KEY) ?? 'none';
  } catch {
    return 'none';
  }
}

/** @template {string} S @param {S} state */
function remember(state) {
  const known = rememberedState();
  // Terms that are outdated are asked for anew; what was agreed to before goes on.
  const kept = state === 'outdated' ? 'granted' : state;
  try {
    if (
      !(/** @type {any} */ (globalThis.document)?.prerendering) &&
      (kept === 'granted' || known !== 'none')
    )
      globalThis.localStorage?.setItem(KEY, kept);
  } catch {
    // then the page asks again
  }
  return state;
}

function forget() {
  try {
    globalThis.localStorage?.removeItem(KEY);
  } catch {
    // then nothing was stored
  }
}

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

  get hasGpc() {
    if (this.#options.gpc) return this.#options.gpc();
    return /** @type {any} */ (globalThis.navigator)?.globalPrivacyControl === true;
  }

  get state() {
    return this.#client?.consent.state ?? (this.hasGpc ? 'gpc' : rememberedState());
  }

  /** Is or was there consent, so that there is something to ask the client? */
  get isKnown() {
    return this.#loading !== null || rememberedState() !== 'none';
  }

  /** @returns {Promise<Client>} */
  load() {
    this.#loading ??= this.#init().catch((error) => {
      this.#loading = null;
      throw error;
    });
    return this.#loading;
  }

  async #init() {
    const { init } = await this.#importClient();
    const client = await init(this.#options);
    this.#client = client;
    remember(client.consent.state);
    for (const [element, each] of this.#observed) each.stop = client.observe(element, each.take);
    return client;
  }

  /**
   * Hands an event to the client if there is consent.
   * @param {(client: any, args: any[]) => any} call
   */
  hand(call) {
    return async (/** @type {any[]} */ ...args) =>
      this.#loading && this.state !== 'none' ? call(await this.#loading, args) : [];
  }

  /**
   * Calls a method of the client if there is or was consent.
   * @param {keyof Client} method
   * @param {() => any} [otherwise]
   */
  ask(method, otherwise) {
    return async (/** @type {any[]} */ ...args) =>
      this.isKnown ? /** @type {any} */ (await this.load())[method](...args) : otherwise?.();
  }

  /** @param {Element} element @param {Take} [take] */
  observe(element, take) {
    // A wrong argument throws at once, not later when the client is loaded.
    if (typeof element?.addEventListener !== 'function')
      throw new TypeError('observe: element must be a DOM element');
    this.#observed.set(element, { take, stop: this.#client?.observe(element, take) });
    return () => {
      this.#observed.get(element)?.stop?.();
      this.#observed.delete(element);
    };
  }

  /** Why nothing is sent, before there is a client. */
  why() {
    const gpc = {
      code: 'gpc',
      text: 'The browser sends Global Privacy Control, which counts as no.',
    };
    const none = { code: 'no-consent', text: 'Consent has not been given.' };
    return [{ ...(this.hasGpc ? gpc : none), recipe: null, count: 0 }];
  }
}

/**
 * @param {Options & {client?: () => Promise<typeof import('./client.js')>}} options as for init;
 *   `client` loads the client
 */
export function start({ client: importClient = () => import('./client.js'), ...options }) {
  const loading = new Loading(options, importClient);
  /** @param {keyof Client} method */
  const hand = (method) => loading.hand((client, args) => client[method](...args));
  /** @param {keyof Client['exact']} method */
  const exactly = (method) => loading.hand((client, args) => client.exact[method](...args));
  /** @param {keyof Client['track']} method */
  const follow = (method) => loading.hand((client, args) => client.track[method](...args));
  const none = () => [];

  // The client is also loaded under Global Privacy Control. It then withdraws consent and erases
  // waiting records.
  if (rememberedState() === 'granted') loading.load().catch(() => {});

  return {
    consent: {
      get state() {
        return loading.state;
      },
      grant: async () =>
        loading.hasGpc ? 'gpc' : remember(await (await loading.load()).consent.grant()),
      /** @type {Client['consent']['asks']} */
      asks: async () => (loading.isKnown ? (await loading.load()).consent.asks() : []),
      withdraw: async () => {
        if (loading.isKnown) remember(await (await loading.load()).consent.withdraw());
        return loading.state;
      },
    },
    /** @type {Client['record']} */ record: hand('record'),
    /** @type {Client['visit']} */ visit: hand('visit'),
    /** @type {Client['type']} */ type: hand('type'),
    /** @type {Client['donate']} */ donate: hand('donate'),
    /** @type {Client['shareExactly']} */ shareExactly: hand('shareExactly'),
    /** @type {Client['optIn']} */ optIn: hand('optIn'),
    /** @type {Client['ask']} */ ask: hand('ask'),
    exact: {
      /** @type {Client['exact']['optIn']} */ optIn: exactly('optIn'),
      /** @type {Client['exact']['optOut']} */ optOut: exactly('optOut'),
    },
    track: {
      /** @type {Client['track']['optIn']} */ optIn: follow('optIn'),
      /** @type {Client['track']['sample']} */ sample: follow('sample'),
      /** @type {Client['track']['answer']} */ answer: follow('answer'),
    },
    /** @type {Client['observe']} */ observe: (element, take) => loading.observe(element, take),
    /** @type {Client['flush']} */ flush: loading.ask('flush'),
    /** @type {Client['reports']} */ reports: loading.ask('reports', none),
    /** @type {Client['ledger']} */ ledger: loading.ask('ledger', none),
    /** @type {Client['log']} */ log: loading.ask('log', none),
    /** @type {Client['explain']} */ explain: loading.ask('explain', () => loading.why()),
    erase: async () => {
      await loading.ask('erase')();
      forget();
    },
  };
}
