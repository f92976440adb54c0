// SPDX-License-Identifier: Apache-2.0
// The browser client. The way of an event: consent? -> sample coin -> ledger debit made durable -> randomize in the
// core -> record queue -> random delay -> POST. Whatever is missing on that way, nothing is sent and explain() says why.
// A raw value lives in memory while it is randomized and is never stored, logged or put into an error; events that a person
// lets queries read are the one exception, and queries.js keeps them.
// Importing this touches no global; init() takes what it needs from its options, else from the platform.
import { Core, ShoalError, encoder, toHex } from '../bindings/device.js';
import { indexedDbStorage } from './storage.js';
import { applyTextRule } from '../bindings/text.js';
import { loadModule } from '../bindings/web.js';

export { ShoalError };

/**
 * @typedef {import('../bindings/device.js').Recipe} Recipe
 * @typedef {import('../bindings/device.js').RecipeJson} RecipeJson
 * @typedef {import('../bindings/device.js').ReportJson} ReportJson
 * @typedef {import('./storage.js').Storage} Storage
 * @typedef {import('./queries.js').LogEntry} LogEntry
 * @typedef {import('./queries.js').Charge} Charge
 * @typedef {import('./tracking.js').RunBalance} RunBalance
 * @typedef {import('./queries.js').PolicyJson} PolicyJson
 * @typedef {import('./storage.js').Transaction} Transaction
 *
 * @typedef {'none' | 'granted' | 'withdrawn' | 'gpc'} ConsentState
 * @typedef {{url: string, hash: string}} PinnedRecipe fetched after consent, refused unless its hash is this
 * @typedef {{recipe: string | null, code: string}} Outcome `queued`, or a code of explain()
 * @typedef {{code: string, recipe: string | null, count: number, text?: string}} Note
 * @typedef {Note & {text: string}} Reason a machine code and its sentence
 * @typedef {object} Entry what became of one record
 * @property {'queued' | 'sent' | 'refused'} state
 * @property {string} at when it was sent or refused, or when it is due; ISO 8601
 * @property {string} text a sentence
 * @property {ReportJson} report exactly what is sent; where it names `servers`, what was split and sealed for them
 * @typedef {{recipe: string, perDay: number, today: {count: number, epsilon: number}, year: {count: number, epsilon: number}}} Balance
 * @typedef {Balance & Partial<Charge> & Partial<RunBalance>} LedgerEntry a recipe's balance; or, where `run` is there, what that run
 *   has spent; or, where only `analysis` is, what that analysis was charged for queries: and then nothing of a balance
 * @typedef {object} Locks the part of navigator.locks that is used
 * @property {<T>(name: string, options: {ifAvailable?: boolean}, task: (lock: any) => T | Promise<T>) => Promise<T>} request
 * @typedef {object} Row a record in the queue; its key is the Idempotency-Key, or the id of a sealed report
 * @property {ReportJson} report
 * @property {string} endpoint
 * @property {number} due
 * @property {number} tries
 * @property {number} [expires] last day on which it may be sent, where no recipe of the page says so
 * @property {string} [query] the analysis, where a query asked for it
 * @property {Uint8Array} [body] the report as it is sent, where it is sealed for two servers
 * @property {string} [path] where that goes, below the endpoint
 * @property {boolean} [isResealed] is it the second one of its record?
 * @property {string} [sealedTo] keys of the two servers
 *
 * @typedef {{status: number, retryAfter: string | null}} Answer
 * @typedef {{name: string | null, json: RecipeJson | string, hash?: string}} Source a recipe, and its hash where that is pinned
 * @typedef {{core: Core, recipes: Recipe[], refused: (string | null)[], isLacking: boolean}} Ready
 *
 * @typedef {object} View what a client shows of itself to its chunks
 * @property {Dependencies} deps
 * @property {Options} options
 * @property {string} url where reports go
 * @property {number} era of the consent under which the call began
 * @property {Map<string, Note>} notes what befell events, by code and recipe
 * @property {ConsentState} state
 * @property {() => Promise<Ready | null>} core
 * @property {(source: any) => Promise<Source>} source
 * @property {<T>(task: (tx: Transaction) => Promise<T>) => Promise<T | undefined>} exclusive under the lock of all tabs and
 *   consent; undefined where there is none
 * @property {(tx: Transaction, core: Core) => Promise<Uint8Array>} ledgerOf
 * @property {(tx: Transaction, core: Core, recipe: Recipe) => Promise<string | null>} refusal
 * @property {(code: string, recipe?: string | null, text?: string) => Outcome} note
 * @property {(recipe: {send: {delayS: number}}, report: ReportJson, era: number,
 *   more?: (tx: Transaction, id: string) => Promise<object | null>,
 *   seal?: (report: ReportJson, id: string) => Promise<any>) => Promise<string>} enqueue `more` adds to the row, in its transaction;
 *   `seal` makes of the report what is sent in its place
 * @property {(wants: (recipe: Recipe) => boolean, value: any) => Promise<Outcome[]>} event
 * @property {(recipe: any, value: any) => Promise<{value?: any, code?: string}>} item
 *
 * @typedef {object} Options
 * @property {string} endpoint base URL of the edge worker; https, or loopback
 * @property {(RecipeJson | PinnedRecipe)[]} recipes
 * @property {PolicyJson | PinnedRecipe} [policy] what queries may ask of this page's people
 * @property {(RecipeJson | PinnedRecipe)[]} [runs] what may be followed over epochs: any epoch's recipe of each run
 * @property {string[]} [keys] Ed25519 public keys, hex: recipes that none of them signed are refused
 * @property {typeof fetch} [fetch]
 * @property {() => number} [now] milliseconds since 1970
 * @property {Storage} [storage]
 * @property {(bytes: Uint8Array) => void} [random] fills with secret random bytes
 * @property {Locks} [locks]
 * @property {string | URL | (() => Promise<Core>)} [wasm] where the module lies, or how to get a core; by default shoal.wasm
 *   beside this file, and shoal-all.wasm where a recipe needs it
 * @property {string | URL | (() => Promise<import('../bindings/query_core.js').QueryCore>)} [queryWasm] the same for queries: shoal-query.wasm
 * @property {string | URL | (() => Promise<WebAssembly.Module>)} [dapWasm] the same for recipes of two servers: shoal-dap.wasm
 * @property {() => Promise<import('./hpke.js').Sealer>} [hpke] what seals for their keys; by default WebCrypto's X25519 and AES-GCM
 * @property {() => Promise<{siteOf: (host: string) => string | null}>} [sites] the registrable-domain list
 * @property {() => boolean} [gpc] does the browser send Global Privacy Control?
 * @property {(task: () => void, ms: number) => any} [setTimer]
 * @property {(timer: any) => void} [clearTimer]
 */

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const FIRST_RETRY_MS = 5000;
const TIMEOUT_MS = 30_000;
const KEEPALIVE_MAX = 60_000; // browsers refuse more than 64 KiB in flight
const RECIPE_MAX = 1 << 20;
const SEALED = { 'Content-Type': 'application/ppm-dap;message=upload-req' };
const DONE_MAX = 200; // finished reports kept for the person to see
const PERMANENT = [400, 404, 409, 410, 413, 415, 422];

/** @typedef {Required<Omit<Options, 'endpoint' | 'recipes' | 'runs' | 'keys' | 'policy' | 'wasm' | 'queryWasm' | 'dapWasm' | 'hpke'>>} Dependencies */

/** What the platform offers for each dependency that is not given. @param {Options} given @returns {Promise<Dependencies>} */
async function dependencies(given) {
  const g = /** @type {any} */ (globalThis);
  // A page whose browser has no IndexedDB gets storage that fails: memory would forget what was spent.
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
    setTimer: given.setTimer ?? setTimer,
    clearTimer: given.clearTimer ?? ((timer) => clearTimeout(timer)),
  };
}

/** A timer that keeps no Node process alive. @param {() => void} task @param {number} ms */
function setTimer(task, ms) {
  const timer = setTimeout(task, ms);
  /** @type {any} */ (timer).unref?.();
  return timer;
}

/** The page's module, for browsers without vectors the one without them: asked by a module whose only function would return a v128. */
const pageModule = () =>
  WebAssembly.validate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123]))
    ? new URL('./shoal.wasm', import.meta.url)
    : new URL('./shoal-plain.wasm', import.meta.url);

/** @param {string} endpoint */
function reportsUrl(endpoint) {
  const url = new URL(
    'v1/reports',
    new URL(endpoint.replace(/\/*$/, '/'), globalThis.location?.href),
  );
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url.protocol !== 'https:' && !isLoopback)
    throw new ShoalError('argument', 1, 'endpoint must be https');
  return url.href;
}

/**
 * Starts a client. Before consent it reads whether consent was given, and nothing else happens.
 * @param {Options} options
 * @returns {Promise<Client>}
 */
export async function init(options) {
  if (typeof options?.endpoint !== 'string' || !Array.isArray(options.recipes)) {
    throw new ShoalError('argument', 1, 'endpoint and recipes are needed');
  }
  const client = new Client(options, await dependencies(options));
  await client.start();
  return client;
}

export class Client {
  #deps;
  #options;
  #url;
  /** @type {ConsentState} */
  #state = 'none';
  /** Grows with every withdrawal: work begun under an older consent stops. */
  #era = 0;
  /** @type {Promise<Ready | null> | null} */
  #ready = null;
  /** What befell events since the page was loaded: counts, no values. @type {Map<string, Note>} */
  #notes = new Map();
  /** @type {Map<string, {day: number, code: string}>} recipes that refuse until a day has passed */
  #spent = new Map();
  /** Stops the request that runs: there is one at a time. @type {AbortController | undefined} */
  #posting;
  /** The flush that runs, and the one after it. @type {Promise<void> | null} */
  #flushing = null;
  /** @type {Promise<void> | null} */
  #next = null;
  /** @type {any} */
  #timer;
  #wakeAt = Infinity;
  #closed = new AbortController();

  /** @param {Options} options @param {Dependencies} deps see init */
  constructor(options, deps) {
    this.#deps = deps;
    this.#options = options;
    this.#url = reportsUrl(options.endpoint);
    const client = this;
    /** @param {string} what @returns {(...args: any[]) => Promise<Outcome[]>} */
    const track =
      (what) =>
      (...args) =>
        this.#chunk(() => import('./tracking.js'), what, ...args);
    /** Runs: what changes over epochs. @type {import('./tracking.js').Track} */
    this.track = { optIn: track('optIn'), sample: track('sample'), answer: track('answer') };
    /** What the person decided. */
    this.consent = {
      /** @returns {ConsentState} */
      get state() {
        return client.#deps.gpc() ? 'gpc' : client.#state;
      },
      grant: () => client.#grant(),
      withdraw: () => client.#stop('withdrawn'),
    };
  }

  /** Called by init. */
  async start() {
    // A page that is hidden may never come back; one that is shown or online again may have records that became due.
    this.#listen('visibilitychange', globalThis.document);
    this.#listen('online', globalThis);
    try {
      if (!(await this.#deps.storage.open(false))) return;
      if (this.#deps.gpc()) return void (await this.#stop('withdrawn'));
      this.#state = await this.#deps.storage.transaction(
        async (tx) => (await tx.get('state', 'consent')) ?? 'none',
      );
    } catch {
      this.#note('storage');
    }
    void this.flush();
  }

  /** @param {string} event @param {any} target */
  #listen(event, target) {
    target?.addEventListener?.(event, () => void this.flush(), { signal: this.#closed.signal });
  }

  /** Stops timers, listeners and requests; consent stays as it is. */
  close() {
    this.#era++;
    this.#abort();
    this.#closed.abort();
    this.#deps.storage.close();
  }

  // ---- consent ----

  #isOn() {
    return this.consent.state === 'granted';
  }

  /** @param {string} code @param {string | null} [recipe] @param {string} [text] where reasons.js has none @returns {Outcome} */
  #note(code, recipe = null, text) {
    const key = `${code} ${recipe}`;
    this.#notes.set(key, { code, recipe, text, count: (this.#notes.get(key)?.count ?? 0) + 1 });
    return { recipe, code };
  }

  #day() {
    return Math.floor(this.#deps.now() / DAY_MS);
  }

  /** @returns {Promise<ConsentState>} */
  async #grant() {
    if (this.#deps.gpc()) return 'gpc';
    try {
      await this.#deps.storage.transaction((tx) => tx.put('state', 'consent', 'granted'));
      this.#state = 'granted';
      // The ledger is made now, so that a recipe that waits for a day waits from today on.
      const ready = await this.#core();
      if (ready) await this.#exclusive((tx) => this.#ledgerOf(tx, ready.core));
    } catch {
      this.#note('storage');
    }
    void this.flush();
    return this.consent.state;
  }

  /**
   * The end of consent: at once in this page, and for every tab when it resolves, since each looks into storage under
   * the same lock before a request starts. What waited to be sent is erased.
   * @param {ConsentState} state @param {(tx: Transaction) => Promise<void>} [more]
   */
  async #stop(state, more) {
    this.#state = state;
    this.#era++;
    this.#abort();
    try {
      if (await this.#deps.storage.open(false)) {
        await this.#locked((tx) =>
          Promise.all([
            tx.put('state', 'consent', state),
            ...['secret', 'analyses', 'keys'].map((key) => tx.delete('state', key)),
            tx.clear('queue'),
            tx.clear('events'),
            more?.(tx),
          ]),
        );
      }
    } catch (error) {
      this.#note('storage');
      throw new ShoalError('storage', 18, 'the decision is not stored');
    }
    return this.consent.state;
  }

  #abort() {
    this.#sleep();
    this.#posting?.abort();
  }

  /**
   * Erases consent, records and the list of reports. The ledger cannot simply go: fresh storage would forget what was
   * spent, and erasing would refill the budget. It cannot simply stay either: it lists the days on which something was
   * reported. So it is replaced by a mark that today is spent, whatever the recipe; the next ledger starts empty.
   * The accountant of queries stays: what it lists was asked of everybody, and it lists no days but its first and its last.
   */
  async erase() {
    const day = this.#day();
    await this.#stop('none', async (tx) => {
      await Promise.all([
        tx.clear('done'),
        tx.clear('log'),
        tx.delete('state', 'consent'),
        tx.delete('state', 'ledger'),
        tx.put('state', 'erased', day),
      ]);
    });
    this.#notes.clear();
  }

  // ---- storage ----

  /** One transaction under the lock of all tabs. @template T @param {(tx: Transaction) => Promise<T>} task */
  #locked(task) {
    return this.#deps.locks.request('shoal', {}, () => this.#deps.storage.transaction(task));
  }

  /**
   * The same while consent stands in storage too; undefined where it does not.
   * @template T @param {(tx: Transaction) => Promise<T>} task @returns {Promise<T | undefined>}
   */
  async #exclusive(task) {
    return this.#isOn()
      ? this.#locked(async (tx) => ((await this.#stands(tx)) ? task(tx) : undefined))
      : undefined;
  }

  /** Is consent given, here and by what all tabs share? @param {Transaction} tx */
  async #stands(tx) {
    const state = (await tx.get('state', 'consent')) ?? 'none';
    if (this.#state === 'granted') this.#state = state;
    return this.#isOn() && state === 'granted';
  }

  /** The stored ledger, or one made today and stored. @param {Transaction} tx @param {Core} core @returns {Promise<Uint8Array>} */
  async #ledgerOf(tx, core) {
    const stored = await tx.get('state', 'ledger');
    if (stored !== undefined) return stored;
    const ledger = core.ledger.init(this.#day());
    await tx.put('state', 'ledger', ledger);
    return ledger;
  }

  /**
   * Why the recipe may not spend today; null where it may.
   * @param {Transaction} tx @param {Core} core @param {Recipe} recipe
   */
  async #refusal(tx, core, recipe) {
    const day = this.#day();
    if (day <= ((await tx.get('state', 'erased')) ?? -1)) return 'erased';
    return core.ledger.refusal(await this.#ledgerOf(tx, core), recipe, day)?.code ?? null;
  }

  // ---- core and recipes ----

  /** The core and the accepted recipes, loaded once and only under consent. */
  async #core() {
    return this.#isOn() ? (this.#ready ??= this.#load()) : null;
  }

  async #load() {
    const { wasm, recipes, keys } = this.#options;
    try {
      if (!globalThis.WebAssembly) throw new Error('CSP');
      const sources = await Promise.all(recipes.map((source) => this.#source(source)));
      const { fetch } = this.#deps;
      const core =
        typeof wasm === 'function'
          ? wasm()
          : loadModule(wasm ?? pageModule(), fetch).then((module) => Core.create(module));
      let ready = accept(await core, sources);
      // The page's module carries what most recipes need; for a mechanism that it lacks, and for variables, there is the whole one.
      if (ready.isLacking && typeof wasm !== 'function') {
        ready = await import('../bindings/whole.js')
          .then(async ({ wholeCore }) => accept(await wholeCore(fetch, wasm), sources))
          .catch(() => ready);
      }
      for (const name of ready.refused) this.#note('recipe-refused', name);
      // Servers' keys are fetched now, and not when the first event comes: they need not learn when that was.
      for (const recipe of ready.recipes) void this.#sealer(recipe);
      if (keys)
        await (
          await import('../bindings/signature.js')
        ).keepSigned(ready, keys, (code, name) => this.#note(code, name));
      return ready;
    } catch (error) {
      // Chromium and WebKit name 'unsafe-eval', Firefox says "blocked by CSP".
      this.#note(
        /CSP|unsafe-eval|content security/i.test(String(error)) ? 'wasm-blocked' : 'core-missing',
      );
      return null;
    }
  }

  /** A recipe as it was given, or fetched. @param {any} source @returns {Promise<Source>} */
  async #source(source) {
    const { url, hash } = source;
    if (typeof url !== 'string') return { name: source.recipe ?? null, json: source };
    const text = await this.#deps
      .fetch(url, { credentials: 'omit', referrerPolicy: 'no-referrer' })
      .then((response) => (response.ok ? response.text() : ''))
      .catch(() => '');
    return { name: url, json: text.length > RECIPE_MAX ? '' : text, hash: String(hash) };
  }

  // ---- events ----

  /**
   * Reports a value to every recipe of a stream. For listed items, anything else (null too) counts as none of them. For recipes of
   * several variables, the value of each by its name; one that is missing counts as nothing.
   * @param {string} stream @param {string | number | null | {[variable: string]: string | number | null}} value
   * @returns {Promise<Outcome[]>} one for each recipe
   */
  record(stream, value) {
    return this.#event((recipe) => recipe.stream === stream, value);
  }

  /** Reports the host or site of an address to the recipes that take one. @param {string | URL} url */
  visit(url) {
    return this.#event((recipe) => isAddress(recipe), String(url));
  }

  /** Reports each word of a text to the recipes that take words. @param {string} text @returns {Promise<Outcome[]>} */
  type(text) {
    return this.#chunk(() => import('./observe.js'), 'type', text);
  }

  #off() {
    return this.#note(this.#deps.gpc() ? 'gpc' : 'no-consent');
  }

  /** @param {(recipe: Recipe) => boolean} wants @param {any} value */
  async #event(wants, value) {
    if (!this.#isOn()) return [this.#off()];
    const era = this.#era;
    const ready = await this.#core();
    if (!ready)
      return [this.#note(this.#notes.has('wasm-blocked null') ? 'wasm-blocked' : 'core-missing')];
    const recipes = ready.recipes.filter(wants);
    if (!recipes.length) return [this.#note('unknown-stream')];
    const outcomes = [];
    for (const recipe of recipes) {
      let code;
      try {
        code = await this.#privatize(ready.core, recipe, value, era);
      } catch {
        code = 'storage';
      }
      outcomes.push(code === 'queued' ? { recipe: recipe.id, code } : this.#note(code, recipe.id));
    }
    return outcomes;
  }

  /**
   * The whole way of one event for one recipe. Returns a code.
   * @param {Core} core @param {Recipe} recipe @param {any} value @param {number} era
   */
  async #privatize(core, recipe, value, era) {
    const item = await this.#item(recipe, value);
    if (item.code) return item.code;
    if (this.#uniform() >= recipe.send.sample) return 'sampled-out';
    const { code, seal } = await this.#sealer(recipe);
    if (code) return code;
    const paid = await this.#debit(core, recipe);
    if (paid.code) return paid.code;
    const seed = this.#random(32);
    const report = recipe.report(recipe.randomize(item.value ?? null, seed, paid.secret));
    seed.fill(0);
    return this.#enqueue(recipe, report, era, undefined, seal);
  }

  /** What seals the recipe's reports for two servers, where it names them; or the code that says why not. @param {Recipe} recipe */
  async #sealer(recipe) {
    const [sealer = { code: 'core-missing' }] =
      recipe.json.aggregation?.protocol === 'dap' ? await this.#tell(dap, 'sealer', recipe) : [{}];
    return sealer;
  }

  /**
   * The value as the recipe counts it, or the code that says why not.
   * @param {Recipe} recipe @param {any} value
   * @returns {Promise<{value?: any, code?: string}>}
   */
  async #item(recipe, value) {
    const { items } = /** @type {any} */ (recipe); // of a recipe with several variables
    if (items)
      return items(value, (/** @type {Recipe} */ variable, /** @type {any} */ each) =>
        this.#item(variable, each),
      );
    if (recipe.isNumber) return Number.isFinite(value) ? { value } : { code: 'not-a-number' };
    // Whatever a page hands over for a list is counted: a slip (undefined, an object) as none of it, not as silence.
    if (typeof value !== 'string') {
      return recipe.isOpen
        ? { code: 'text-rule' }
        : { value: typeof value === 'number' ? value : null };
    }
    let text = value;
    if (isAddress(recipe)) {
      const name = await import('./address.js').then(
        ({ nameOf }) => nameOf(recipe.valueKind, value, this.#deps.sites),
        () => ({ code: 'core-missing', value }),
      );
      if (name.code) return name;
      text = name.value;
    }
    // Listed items are matched as the recipe writes them, words and strings as its text rule forms them.
    const ruled =
      recipe.valueKind === 'item' && recipe.values ? text : applyTextRule(text, recipe.text);
    if (!recipe.isOpen) return { value: recipe.values && ruled };
    if (ruled === null) return { code: 'text-rule' };
    return encoder.encode(ruled).length > recipe.bytesMax ? { code: 'too-long' } : { value: ruled };
  }

  /** Secret random bytes. @param {number} n */
  #random(n) {
    const bytes = new Uint8Array(n);
    this.#deps.random(bytes);
    return bytes;
  }

  /** Uniform in [0, 1), 48 bits. */
  #uniform() {
    return this.#random(6).reduce((sum, byte) => (sum + byte) / 256, 0);
  }

  /**
   * Pays for one report, durably. Returns why not, or the device's own secret where the recipe needs one. Never taken
   * back: a page that dies before the record is in the queue has spent the budget for nothing, which is the safe side.
   * @param {Core} core @param {Recipe} recipe @returns {Promise<{code?: string, secret?: Uint8Array}>}
   */
  async #debit(core, recipe) {
    const day = this.#day();
    const known = this.#spent.get(recipe.hash);
    if (known?.day === day) return known;
    const paid = await this.#exclusive(async (tx) => {
      const code = await this.#refusal(tx, core, recipe);
      if (code) return { code };
      await tx.put(
        'state',
        'ledger',
        core.ledger.debit(await this.#ledgerOf(tx, core), recipe, day),
      );
      return recipe.isPermanent ? { secret: await this.#secretOf(tx) } : {};
    });
    if (paid?.code) this.#spent.set(recipe.hash, { day, code: paid.code });
    return paid ?? { code: 'no-consent' };
  }

  /**
   * What permanent answers are made of: drawn once, kept until consent ends. @param {Transaction} tx
   * @returns {Promise<Uint8Array>}
   */
  async #secretOf(tx) {
    const stored = await tx.get('state', 'secret');
    if (stored) return stored;
    const secret = this.#random(32);
    await tx.put('state', 'secret', secret);
    return secret;
  }

  /**
   * Puts a private record into the queue, if the consent it was made under stands. Returns a code.
   * @type {View['enqueue']}
   */
  async #enqueue(recipe, report, era, more, seal) {
    const id = toHex(this.#random(16));
    const sealed = await seal?.(report, id);
    if (sealed?.code) return sealed.code;
    const due = this.#deps.now() + Math.floor(this.#uniform() * recipe.send.delayS * 1000);
    const isQueued = await this.#exclusive(async (tx) => {
      const extra = era === this.#era && (more ? await more(tx, id) : {});
      if (extra)
        await tx.put('queue', id, {
          report,
          endpoint: this.#url,
          due,
          tries: 0,
          ...sealed,
          ...extra,
        });
      return extra;
    });
    if (!isQueued) return 'no-consent';
    this.#wake(due);
    return 'queued';
  }

  /**
   * Reads completed words from a field, or from the fields below an element that carry `data-shoal`. Fields for
   * passwords, cards, codes, numbers and addresses are never read; what a field is, is looked at again at every event.
   * Pasted text is not read.
   * @param {Element} element
   * @param {(word: string) => unknown} [take] is given each word, as `type` gives it to the recipes otherwise
   * @returns {() => void} stops reading
   */
  observe(element, take) {
    const stop = new AbortController();
    const close = () => stop.abort();
    this.#closed.signal.addEventListener('abort', close);
    void this.#tell(() => import('./observe.js'), 'observe', element, stop.signal, take);
    return close;
  }

  // ---- sending ----

  /** Wakes flush when a record is due, unless it wakes earlier anyway. @param {number} due */
  #wake(due) {
    if (due >= this.#wakeAt) return;
    this.#sleep();
    this.#wakeAt = due;
    const wait = Math.min(Math.max(due - this.#deps.now(), 0), HOUR_MS);
    this.#timer = this.#deps.setTimer(() => {
      this.#wakeAt = Infinity;
      void this.flush();
    }, wait);
  }

  #sleep() {
    this.#deps.clearTimer(this.#timer);
    this.#wakeAt = Infinity;
  }

  /** Sends the records that are due. One tab does it at a time. @returns {Promise<void>} */
  async flush() {
    if (!this.#isOn()) return;
    // One that runs may have looked at the queue already: look again after it, once for all who ask meanwhile.
    if (this.#flushing)
      return (this.#next ??= this.#flushing.then(() => ((this.#next = null), this.flush())));
    this.#flushing = this.#deps.locks
      .request('shoal-flush', { ifAvailable: true }, (lock) =>
        lock ? this.#flushAll() : this.#wake(this.#deps.now() + FIRST_RETRY_MS),
      )
      .catch(() => void this.#note('storage'))
      .finally(() => (this.#flushing = null));
    await this.#flushing;
  }

  async #flushAll() {
    // Events that are too old go, and the first day of the queries' books begins.
    if (this.#options.policy) await this.#tell(() => import('./queries.js'), 'tidy');
    if (this.#options.runs) await this.#tell(() => import('./tracking.js'), 'tidy');
    const ready = await this.#core();
    if (!ready) return;
    const era = this.#era;
    this.#sleep();
    // Keys are random, so their order says nothing about the order of events.
    for (const [key] of await this.#queue()) {
      if (era !== this.#era) return;
      await this.#send(key, ready.recipes);
    }
    const rest = await this.#queue();
    if (rest.length && this.#isOn()) this.#wake(Math.min(...rest.map(([, row]) => row.due)));
  }

  /** @returns {Promise<[string, Row][]>} */
  async #queue() {
    const rows = await this.#deps.storage.transaction((tx) => tx.entries('queue'));
    return rows.filter(([, row]) => row.endpoint === this.#url);
  }

  /**
   * Sends one record of the queue if it is due. The request starts under the lock that withdraw() takes, after a look at
   * the consent in storage: once withdraw() has resolved, no tab starts another.
   * @param {string} key @param {Recipe[]} recipes
   */
  async #send(key, recipes) {
    const started = await this.#deps.locks.request('shoal', {}, async () => {
      const row = /** @type {Row | undefined} */ (
        await this.#deps.storage.transaction(async (tx) =>
          (await this.#stands(tx)) ? tx.get('queue', key) : undefined,
        )
      );
      const expires =
        row?.expires ?? recipes.find((r) => r.hash === row?.report.recipe_hash)?.expiresDay;
      if (!row || expires === undefined || row.due > this.#deps.now() || !this.#isOn()) return null;
      /** @type {Promise<Answer | null> | 'expired'} */
      const answer = this.#day() > expires ? 'expired' : this.#post(key, row, recipes);
      return { row, answer };
    });
    if (!started) return;
    const { row } = started;
    const answer = await started.answer;
    if (answer === 'expired') await this.#finish(key, row, 'refused', answer);
    else if (answer?.status === 202) await this.#finish(key, row, 'sent');
    else if (PERMANENT.includes(/** @type {any} */ (answer?.status)))
      await this.#finish(key, row, 'refused', 'edge-refused');
    else await this.#keep(key, row, answer);
  }

  /** @param {string} key @param {Row} row @param {Recipe[]} recipes @returns {Promise<Answer | null>} null where nothing answered */
  async #post(key, row, recipes) {
    const { path, report } = row;
    const body = /** @type {any} */ (row.body ?? JSON.stringify(report));
    const stop = (this.#posting = new AbortController());
    const timer = this.#deps.setTimer(() => stop.abort(), TIMEOUT_MS);
    try {
      const response = await this.#deps.fetch(
        path ? new URL(`../${path}`, this.#url).href : this.#url,
        {
          method: 'POST',
          headers: path ? SEALED : { 'Content-Type': 'application/json', 'Idempotency-Key': key },
          body,
          mode: 'cors',
          credentials: 'omit',
          referrerPolicy: 'no-referrer',
          cache: 'no-store',
          redirect: 'error',
          keepalive: body.length <= KEEPALIVE_MAX,
          signal: stop.signal,
        },
      );
      let { status } = response;
      const answer = await response.arrayBuffer().catch(() => null); // to the end, so that the connection can be used again
      // A leader says of each report in an empty answer that it is taken.
      if (path && response.ok)
        [status] =
          answer?.byteLength === 0
            ? [202]
            : await this.#tell(dap, 'judged', key, row, answer, recipes);
      return { status, retryAfter: response.headers.get('Retry-After') };
    } catch {
      return null;
    } finally {
      this.#deps.clearTimer(timer);
    }
  }

  /** Moves a record from the queue to the list of what became of it. @param {string} key @param {Row} row @param {Entry['state']} state @param {string} [code] */
  async #finish(key, row, state, code) {
    for (const old of ['offline', 'edge-busy']) this.#notes.delete(`${old} ${row.report.key}`);
    if (code) this.#note(code, row.report.key);
    await this.#locked(async (tx) => {
      // Gone: erased meanwhile. Then nothing about it is written down again.
      if (!(await tx.get('queue', key))) return;
      const at = this.#deps.now();
      await tx.delete('queue', key);
      await tx.put('done', key, { report: row.report, state, at, code });
      const done = (await tx.entries('done')).sort((a, b) => b[1].at - a[1].at);
      for (const [old] of done.slice(DONE_MAX)) await tx.delete('done', old);
    });
  }

  /** Keeps a record for another try. @param {string} key @param {Row} row @param {Answer | null} answer */
  async #keep(key, row, answer) {
    if (!this.#isOn()) return;
    this.#note(answer ? 'edge-busy' : 'offline', row.report.key);
    const backoff = Math.min(FIRST_RETRY_MS * 2 ** row.tries, HOUR_MS);
    const asked = Math.min(retryAfterMs(answer?.retryAfter, this.#deps.now()), DAY_MS);
    // Jitter spreads the devices that failed together.
    const due = this.#deps.now() + Math.floor(Math.max(backoff, asked) * (1 + this.#uniform()));
    await this.#locked(async (tx) => {
      if (await tx.get('queue', key))
        await tx.put('queue', key, { ...row, due, tries: row.tries + 1 });
    });
  }

  // ---- queries, and what the person is told: chunks of their own ----

  /**
   * Keeps an event for queries to read, if the person opted in to an analysis that reads the stream: fields by name.
   * @param {string} stream @param {import('./queries.js').Event} event @returns {Promise<Outcome[]>} `stored`, or why not
   */
  donate(stream, event) {
    return this.#chunk(() => import('./queries.js'), 'donate', stream, event);
  }

  /**
   * Opts in to an analysis of the policy, or out of it: then what only it could read is erased.
   * @param {string} analysis @param {boolean} [yes] @returns {Promise<Outcome[]>} `opted-in` or `opted-out`, or why not
   */
  optIn(analysis, yes = true) {
    return this.#chunk(() => import('./queries.js'), 'optIn', analysis, yes);
  }

  /**
   * Answers queries, each at most once and within the policy: by default those that the endpoint serves.
   * @param {RecipeJson[]} [list] @returns {Promise<Outcome[]>} one for each query
   */
  ask(list) {
    return this.#chunk(() => import('./queries.js'), 'ask', list);
  }

  /**
   * Shares a measurement of which two servers learn EXACT sums: nothing randomizes it, and it has no budget. Ask for consent to that.
   * @param {import('./dap.js').ExactTask} task @param {import('./dap.js').Measurement} measurement
   * @returns {Promise<Outcome[]>} `queued`, or why not
   */
  shareExactly(task, measurement) {
    return this.#chunk(dap, 'shareExactly', task, measurement);
  }

  /** What was asked, and what became of it, newest first. @returns {Promise<LogEntry[]>} */
  log() {
    return this.#tell(() => import('./queries.js'), 'log');
  }

  /** As #tell, where there is consent. @param {() => Promise<any>} load @param {string} what @param {any[]} args @returns {Promise<any[]>} */
  async #chunk(load, what, ...args) {
    return this.#isOn() ? this.#tell(load, what, ...args) : [this.#off()];
  }

  /** What was sent, waits or was refused, newest first. Empty where storage cannot be read. @returns {Promise<Entry[]>} */
  reports() {
    return this.#tell(() => import('./reasons.js'), 'reports');
  }

  /**
   * What each recipe has spent, by basic composition, and what each analysis was charged for queries. Empty without consent.
   * @returns {Promise<LedgerEntry[]>}
   */
  ledger() {
    return this.#tell(() => import('./reasons.js'), 'ledger');
  }

  /** Why nothing was sent, or not everything: what holds now, and what befell events since the page was loaded. @returns {Promise<Reason[]>} */
  explain() {
    return this.#tell(() => import('./reasons.js'), 'explain');
  }

  /** Empty where it fails: then explain() says why. @param {() => Promise<any>} load @param {string} what @param {any[]} args @returns {Promise<any[]>} */
  async #tell(load, what, ...args) {
    /** @type {View} */
    const view = {
      deps: this.#deps,
      options: this.#options,
      url: this.#url,
      era: this.#era,
      notes: this.#notes,
      state: this.consent.state,
      core: () => this.#core(),
      source: (source) => this.#source(source),
      exclusive: (task) => this.#exclusive(task),
      ledgerOf: (tx, core) => this.#ledgerOf(tx, core),
      refusal: (tx, core, recipe) => this.#refusal(tx, core, recipe),
      note: (...note) => this.#note(...note),
      enqueue: (...record) => this.#enqueue(...record),
      event: (wants, value) => this.#event(wants, value),
      item: (recipe, value) => this.#item(recipe, value),
    };
    let code = 'core-missing';
    try {
      const chunk = await load();
      code = 'storage';
      return await chunk[what](view, ...args);
    } catch {
      this.#note(code);
      return [];
    }
  }
}

/** What a core makes of the recipes. @param {Core} core @param {Source[]} sources @returns {Ready} */
function accept(core, sources) {
  /** @type {Map<string, Recipe>} */
  const recipes = new Map();
  const refused = [];
  let isLacking = false;
  for (const { name, json, hash } of sources) {
    try {
      const recipe = core.recipe(json);
      const isPinned = (hash ?? recipe.hash) === recipe.hash;
      if (!isPinned || recipes.has(recipe.hash)) core.release(recipe);
      else recipes.set(recipe.hash, recipe);
      if (!isPinned) refused.push(name);
    } catch (error) {
      isLacking ||= /^(mechanism|variables)$/.test(/** @type {any} */ (error).field);
      refused.push(name);
    }
  }
  return { core, recipes: [...recipes.values()], refused, isLacking };
}

const dap = () => import('./dap.js');

/** Does the recipe count hosts or sites? @param {Recipe} recipe */
const isAddress = (recipe) => /host|site/.test(recipe.valueKind);

/** @param {any} header seconds, or a date; anything else asks for nothing @param {number} now */
const retryAfterMs = (header, now) =>
  Math.max(0, /^\d+$/.test(header) ? header * 1000 : Date.parse(header) - now || 0);
