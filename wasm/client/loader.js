// SPDX-License-Identifier: Apache-2.0
// What a page embeds: a few hundred bytes that load the client and its WebAssembly only once consent is given. Before
// that nothing is fetched, stored or kept in memory, and events pass by unseen. Touches no global until start().

/**
 * @typedef {import('./client.js').Client} Client
 * @typedef {import('./client.js').Options} Options
 */

// Remembers that this browser has answered, so that the client is loaded on the next page. The client's own storage
// decides; where this memory is refused, the page asks again.
const KEY = 'shoal-consent';

/**
 * @param {Options & {client?: () => Promise<typeof import('./client.js')>}} options as for init; `client` loads the client
 */
export function start({ client: importClient = () => import('./client.js'), ...options }) {
  /** @type {Promise<Client> | null} */
  let loading = null;
  /** @type {Client | null} */
  let client = null;
  /** Elements to observe once the client is there, and what stops it. @type {Map<Element, {take?: (word: string) => unknown, stop?: () => void}>} */
  const observed = new Map();

  const gpc = () =>
    options.gpc
      ? options.gpc()
      : /** @type {any} */ (globalThis.navigator)?.globalPrivacyControl === true;
  const remembered = () => {
    try {
      return globalThis.localStorage?.getItem(KEY) ?? 'none';
    } catch {
      return 'none';
    }
  };
  /** @param {string} state */
  const remember = (state) => {
    try {
      if (state === 'granted' || remembered() !== 'none')
        globalThis.localStorage?.setItem(KEY, state);
    } catch {
      // then the page asks again
    }
    return state;
  };
  const load = () =>
    (loading ??= importClient()
      .then((module) => module.init(options))
      .then((made) => {
        client = made;
        remember(made.consent.state);
        for (const [element, each] of observed) each.stop = made.observe(element, each.take);
        return made;
      })
      .catch((error) => {
        loading = null;
        throw error;
      }));

  const state = () => client?.consent.state ?? (gpc() ? 'gpc' : remembered());
  /** Asks the client, where there is or was consent to have one. @param {keyof Client} method @param {any} [otherwise] */
  const ask =
    (method, otherwise) =>
    async (/** @type {any[]} */ ...args) =>
      loading || remembered() !== 'none'
        ? /** @type {any} */ (await load())[method](...args)
        : otherwise?.();
  /** Hands an event to the client, where there is consent. @param {keyof Client} method */
  const hand =
    (method) =>
    async (/** @type {any[]} */ ...args) =>
      loading && state() !== 'none' ? /** @type {any} */ (await loading)[method](...args) : [];
  /** The same of what runs have. @param {keyof Client['track']} method */
  const follow =
    (method) =>
    async (/** @type {any[]} */ ...args) =>
      loading && state() !== 'none'
        ? /** @type {any} */ ((await loading).track[method])(...args)
        : [];
  const none = () => [];
  const why = () => [
    gpc()
      ? {
          code: 'gpc',
          text: 'The browser sends Global Privacy Control, which counts as no.',
          recipe: null,
          count: 0,
        }
      : { code: 'no-consent', text: 'Consent has not been given.', recipe: null, count: 0 },
  ];

  // Also under Global Privacy Control: then the client takes the consent back and erases what waits.
  if (remembered() === 'granted') load().catch(() => {});

  return {
    consent: {
      get state() {
        return state();
      },
      grant: async () => (gpc() ? 'gpc' : remember(await (await load()).consent.grant())),
      withdraw: async () => {
        if (loading || remembered() !== 'none') remember(await (await load()).consent.withdraw());
        return state();
      },
    },
    /** @type {Client['record']} */ record: hand('record'),
    /** @type {Client['visit']} */ visit: hand('visit'),
    /** @type {Client['type']} */ type: hand('type'),
    /** @type {Client['donate']} */ donate: hand('donate'),
    /** @type {Client['shareExactly']} */ shareExactly: hand('shareExactly'),
    /** @type {Client['optIn']} */ optIn: hand('optIn'),
    /** @type {Client['ask']} */ ask: hand('ask'),
    track: {
      /** @type {Client['track']['optIn']} */ optIn: follow('optIn'),
      /** @type {Client['track']['sample']} */ sample: follow('sample'),
      /** @type {Client['track']['answer']} */ answer: follow('answer'),
    },
    /** @param {Element} element @param {(word: string) => unknown} [take] @returns {() => void} stops reading */
    observe(element, take) {
      observed.set(element, { take, stop: client?.observe(element, take) });
      return () => {
        observed.get(element)?.stop?.();
        observed.delete(element);
      };
    },
    /** @type {Client['flush']} */ flush: ask('flush'),
    /** @type {Client['reports']} */ reports: ask('reports', none),
    /** @type {Client['ledger']} */ ledger: ask('ledger', none),
    /** @type {Client['log']} */ log: ask('log', none),
    /** @type {Client['explain']} */ explain: ask('explain', why),
    erase: async () => {
      await ask('erase')();
      try {
        globalThis.localStorage?.removeItem(KEY);
      } catch {
        // nothing was kept
      }
    },
  };
}
