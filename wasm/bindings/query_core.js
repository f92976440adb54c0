// SPDX-License-Identifier: Apache-2.0
// Queries as JavaScript: recipes with lists, the item of an event, the policy and the accountant.
// It has no storage, no clock and no randomness. It needs shoal-query.wasm or shoal-all.wasm.
// Depends on device.js, keyed_recipe.js, front_coded.js and text.js.
import { ARGUMENT, Core, LARGEST, Module, ShoalError, TYPE, toHex } from './device.js';
import { listOf } from './front_coded.js';
import { KeyedRecipe, isObject, setAll, setRecipe, tell } from './keyed_recipe.js';
import { applyTextRule } from './text.js';

/**
 * @typedef {import('./device.js').RecipeJson} RecipeJson
 * @typedef {import('./device.js').ReportJson} ReportJson
 * @typedef {{[field: string]: unknown}} Event what happened, field by field: numbers and strings;
 *   anything else counts as absent
 * @typedef {{[key: string]: any}} PolicyJson a policy file, parsed
 * @typedef {object} Verdict what the device answers to "may this query be answered?"
 * @property {string | null} refusal null where it may: else why not, "field-epsilon"
 * @property {number} number of core/budget/accountant.h; 0 where it may
 * @property {string} text a sentence
 * @property {string | null} field that it is about
 * @property {number} localEpsilon of one report, as really drawn; 0 before it was looked at
 * @property {number} centralEpsilon what the cohort gives; 0 before it was looked at
 * @typedef {object} Charge
 * @property {number} reports
 * @property {number} epsilon of the cohort, composed as the policy says
 * @property {number} delta
 * @property {number} localEpsilon of all reports together
 */

const NONE = 0xffffffff; // stands for "no index"
const NEXT_END = 0xfffffffe;
const FIELDS_MAX = 4;
const STEP_MAX = 4; // characters of one step
const WORDS_MAX = 4096; // words of one person that a round looks at
const INFO_WORDS = 5 + 2 * FIELDS_MAX; // of the export recipe_query_info
const VERDICT_WORDS = 5;

// ---- recipes ----

/** @param {any[]} list @returns {Map<any, number>} */
const indexed = (list) => new Map(list.map((entry, i) => [entry, i]));

/**
 * The two lists of a field: what begins a value and what may follow. A field of phrases has
 * prefixes and tokens; a field of words has starts and characters.
 * @param {any} field
 * @param {number} i
 */
function listsOf({ values = [], prefixes, tokens, starts, characters }, i) {
  /** @param {string} name @param {any} list @returns {string[]} */
  const entries = (name, list = []) =>
    typeof list === 'string' ? (listOf(`encoding.${i}.${name}`, list) ?? []) : list;
  const lists = {
    values,
    firsts: prefixes ?? entries('starts', starts),
    nexts: tokens ?? entries('characters', characters),
  };
  return {
    ...lists,
    value: indexed(values),
    first: indexed(lists.firsts),
    next: indexed(lists.nexts),
  };
}

/**
 * A query that was checked by itself. The accountant decides whether it may be answered.
 * QueryCore.query makes it.
 *
 * A phrase is split at white space, and the recipe's text rule is applied to each token. A token
 * that the rule does not count is treated as not listed.
 */
export class Query extends KeyedRecipe {
  /** @param {Module} module @param {number} handle @param {RecipeJson} json */
  constructor(module, handle, json) {
    super(module, handle, json);
    module.reserve(INFO_WORDS * 4 + 64);
    module.check(module.x.recipe_query_info(handle, module.base));
    const w = module.words(INFO_WORDS);
    /** @readonly @type {string} */ this.analysis = json.analysis;
    /** Hash of the signed bytes, the same for all parts. @readonly */ this.queryHash = toHex(
      module.take(INFO_WORDS * 4, 32),
    );
    /** Of the policy that it is under; null where it is no query. @readonly @type {string | null} */ this.policyHash =
      json.policy ?? null;
    /** The query's claim for its cohort; delta is 1 without a claim. @readonly */ this.claim = {
      epsilon: w[0] / 1e6,
      delta: w[1] ? Number(`1e-${w[1]}`) : 1,
    };
    /** Number of the round; 0: it is not one of several. @readonly */ this.round = w[2];
    /** @readonly */ this.version = w[3];
    /** @readonly */ this.aggregation = w[4] ? 'sum' : 'reports';
    /**
     * The fields that the query asks for, with their numbers of buckets.
     * @readonly
     * @type {{field: string, scheme: 'number' | 'list' | 'tokens' | 'characters', depth: number,
     *   size: number}[]}
     */
    this.fields = (json.encoding ?? []).map(
      (/** @type {any} */ { field, boundaries, values, starts }, /** @type {number} */ i) => ({
        field,
        scheme: boundaries ? 'number' : values ? 'list' : starts ? 'characters' : 'tokens',
        depth: w[5 + 2 * i],
        size: w[6 + 2 * i],
      }),
    );
    const { contributions = 0, known = [] } = json.parameters ?? {}; // a joint recipe's are its variables'
    /**
     * The number of reports with which a device answers about all of its words; 0: the device
     * answers with one report of one event.
     * @readonly
     * @type {number}
     */
    this.contributions = contributions;
    /** Names of the fields that a collection is split by. @readonly @type {string[]} */
    this.splits = (json.split_by ?? []).map((/** @type {any} */ split) => split.field);
    this.lists = /** @type {any[]} */ (json.encoding ?? []).map(listsOf);
    this.known = new Set(typeof known === 'string' ? listOf('parameters.known', known) : known);
    for (const name of ['lists', 'known']) Object.defineProperty(this, name, { enumerable: false });
  }

  /** The bucket of one field. @param {Event} event @param {number} i */
  #bucket(event, i) {
    const { module, handle } = this;
    const { x } = module;
    const { field, scheme, depth } = this.fields[i];
    const value = Object.hasOwn(event, field) ? event[field] : undefined;
    if (scheme === 'number')
      return Number.isFinite(value)
        ? x.encoded_number(handle, i, nearest(/** @type {number} */ (value)))
        : 0;
    if (typeof value !== 'string') return 0;
    const lists = this.lists[i];
    if (scheme === 'list')
      return x.encoded_value(handle, i, lists.value.get(this.#ruled(value)) ?? NONE);
    if (scheme === 'characters') return this.#word(this.#ruled(value), i);
    const words = (value.match(/\S+/g) ?? []).map((word) => this.#ruled(word));
    const prefix = lists.first.get(words.slice(0, depth).join(' ')) ?? NONE;
    return x.encoded_next(
      handle,
      i,
      prefix,
      words.length === depth ? NEXT_END : (lists.next.get(words[depth]) ?? NONE),
    );
  }

  /**
   * Finds the bucket of a word from its code points: its start, and its characters of the step.
   * @param {string} word
   * @param {number} i
   */
  #word(word, i) {
    const { module, handle } = this;
    const { first, next } = this.lists[i];
    const characters = [...word];
    const { depth } = this.fields[i];
    const start = first.get(characters.slice(0, depth).join(''));
    const run = characters.slice(depth, depth + (this.json.encoding[i].step ?? 1));
    module.reserve(4 * STEP_MAX);
    const view = module.view();
    run.forEach((character, at) => view.setUint32(4 * at, next.get(character) ?? NONE, true));
    const bucket = module.x.encoded_word(handle, i, start ?? NONE, module.base, run.length);
    for (let at = 0; at < STEP_MAX; at++) view.setUint32(4 * at, 0, true);
    return bucket;
  }

  /**
   * Makes the records of a person's words, for a query with contributions. There are
   * `contributions` records in random order, each of a word that the query asks for or of none.
   * Each costs the recipe's epsilon, and together they cost `contributions` times as much: debit
   * the accountant first.
   * @param {Event[]} events one for each time that a word was typed; only the last 4096 count
   * @param {Uint8Array} seed 32 fresh secret random bytes, used for nothing else
   * @returns {string[]} the records' text form
   */
  answers(events, seed) {
    const { module, contributions, recordSize } = this;
    if (seed.length !== 32 || !contributions) throw module.error(ARGUMENT);
    const buckets = events
      .slice(-WORDS_MAX)
      .filter((event) => !this.#isKnown(event))
      .map((event) => module.length(this.#bucket(event, 0)));
    // The memory holds the seed, the buckets, the records, and the text that print() writes.
    const at = module.base + 32;
    const records = 32 + 4 * buckets.length;
    module.reserve(records + contributions * recordSize + this.textSize);
    module.put(seed);
    const view = module.view();
    buckets.forEach((bucket, i) => view.setUint32(32 + 4 * i, bucket, true));
    const n = module.length(
      module.x.trie_randomize(module.base + records, this.handle, at, buckets.length, module.base),
    );
    const bytes = module.take(records, n * recordSize);
    return Array.from({ length: n }, (_, i) => {
      module.put(bytes.subarray(i * recordSize, (i + 1) * recordSize));
      return this.print(0);
    });
  }

  /**
   * Is the event's word on the list of known words, which the query does not ask for?
   * @param {Event} event
   */
  #isKnown(event) {
    const word = Object.hasOwn(event, this.fields[0].field)
      ? event[this.fields[0].field]
      : undefined;
    return typeof word === 'string' && this.known.has(this.#ruled(word));
  }

  /**
   * Applies the recipe's text rule. A text that the rule does not count becomes one that is on no
   * list.
   * @param {string} text
   */
  #ruled(text) {
    return applyTextRule(text, this.text) ?? '\0';
  }

  /**
   * Returns the index that stands for an event, or null if the query is not about such an event: if
   * its phrases begin with none of the prefixes, or its words with none of the starts. A field is
   * in bucket 0 if it is missing, of another type, or not listed.
   * @param {Event} event
   * @returns {number | null}
   */
  item(event) {
    const { module, handle, fields } = this;
    const buckets = fields.map((_, i) => module.length(this.#bucket(event, i)));
    if (fields.some(({ scheme }, i) => /tokens|characters/.test(scheme) && buckets[i] === 0))
      return null;
    const bytes = module.reserve(4 * FIELDS_MAX);
    const view = module.view();
    buckets.forEach((bucket, i) => view.setUint32(4 * i, bucket, true));
    const item = module.x.encoding_item(handle, module.base);
    bytes.fill(0, module.base, module.base + 4 * FIELDS_MAX);
    return module.length(item);
  }

  /**
   * Draws a uniformly random item: the answer of a device without an event that the query is about.
   * @param {Uint8Array} seed 32 fresh secret random bytes, used for nothing else
   */
  randomItem(seed) {
    const { module, handle } = this;
    if (seed.length !== 32) throw module.error(ARGUMENT);
    module.put(seed);
    return module.length(module.x.random_item(handle, module.base));
  }

  /**
   * Returns the part of the collection that an event belongs to: the value of each split field, or
   * "other". As `part` in the query's JSON it makes that part's recipe. It is empty if the
   * collection is not split.
   * @param {Event} event
   * @returns {string[]}
   */
  part(event) {
    return (this.json.split_by ?? []).map(
      (/** @type {{field: string, values: string[]}} */ { field, values }) => {
        const value = Object.hasOwn(event, field) ? event[field] : undefined;
        const text = typeof value === 'string' ? this.#ruled(value) : '';
        return values.includes(text) ? text : 'other';
      },
    );
  }

  /**
   * Describes in words what an item says about each field.
   * @param {number} item
   * @returns {{[field: string]: string}}
   */
  cells(item) {
    const { module, handle, fields } = this;
    module.reserve(4 * FIELDS_MAX);
    module.check(module.x.encoding_buckets(module.base, handle, item));
    const view = module.view();
    return Object.fromEntries(
      fields.map(({ field }, i) => [field, this.#cell(i, view.getUint32(4 * i, true))]),
    );
  }

  /** An item in words, as results print it: "[20,30) | hello world a". @param {number} item */
  label(item) {
    return Object.values(this.cells(item)).join(' | ');
  }

  /** @param {number} i @param {number} bucket */
  #cell(i, bucket) {
    const { boundaries } = this.json.encoding[i];
    const { values, firsts, nexts } = this.lists[i];
    const { scheme } = this.fields[i];
    if (bucket === 0) return firsts[0] === '' ? '<none>' : '<oov>';
    if (boundaries)
      return bucket < boundaries.length
        ? `[${boundaries[bucket - 1]},${boundaries[bucket]})`
        : `[${boundaries[bucket - 1]},inf)`;
    if (scheme === 'list') return values[bucket - 1];
    if (scheme === 'characters') return this.#spelled(i, bucket);
    const next = ['<end>', '<oov>', ...nexts];
    const prefix = firsts[Math.floor((bucket - 1) / next.length)];
    return `${prefix}${prefix && ' '}${next[(bucket - 1) % next.length]}`;
  }

  /**
   * Returns the label of a bucket of words other than 0: "covid", "covi<end>", "cov<oov>".
   * @param {number} i
   * @param {number} bucket
   */
  #spelled(i, bucket) {
    const { module, handle } = this;
    const { firsts, nexts } = this.lists[i];
    module.reserve(4 * (3 + STEP_MAX));
    module.check(module.x.encoded_word_of(module.base, handle, i, bucket));
    const [start, kind, n, ...characters] = module.words(3 + STEP_MAX);
    const run = characters
      .slice(0, n)
      .map((index) => nexts[index])
      .join('');
    const isEnd = kind === 1 || (kind === 0 && n < (this.json.encoding[i].step ?? 1));
    return `${firsts[start]}${run}${kind === 2 ? '<oov>' : isEnd ? '<end>' : ''}`;
  }
}

/** The nearest micro-unit of a number; beyond what fits, the end. @param {number} value */
const nearest = (value) => BigInt(Math.round(Math.max(-LARGEST, Math.min(value, LARGEST)) * 1e6));

// ---- the policy and the accountant ----

/** What a site promised about queries. Made by QueryCore.policy. */
export class Policy {
  /** @param {Module} module @param {number} handle @param {PolicyJson} json */
  constructor(module, handle, json) {
    module.reserve(32);
    module.check(module.x.policy_hash(handle, module.base));
    /** @readonly */ this.handle = handle;
    /** @readonly */ this.json = json;
    /** @readonly @type {string} */ this.id = json.policy;
    /** SHA-256 of the canonical bytes, hex; queries name it. @readonly */ this.hash = toHex(
      module.take(0, 32),
    );
    /** Who may sign queries. @readonly @type {string[]} */ this.keys = json.keys;
  }
}

/**
 * The ledger of queries: bytes in, bytes out; days since 1970-01-01 UTC. Store the new bytes
 * durably before a report exists. The caller verifies the query's signature by one of the policy's
 * keys.
 */
export class Accountant {
  #module;

  /** @param {Module} module */
  constructor(module) {
    this.#module = module;
  }

  /** An empty ledger that begins on `day`. @param {number} day @returns {Uint8Array} */
  init(day) {
    const module = this.#module;
    const cap = module.x.accountant_size_max();
    module.reserve(cap);
    return module.take(0, module.length(module.x.accountant_init(module.base, cap, day)));
  }

  /**
   * Decides whether the query may be answered. Nothing is charged.
   * @param {Uint8Array} books
   * @param {Policy} policy
   * @param {Query} query
   * @param {number} day
   * @returns {Verdict}
   */
  check(books, policy, query, day) {
    const module = this.#module;
    module.put(books, VERDICT_WORDS * 4);
    const at = module.base + VERDICT_WORDS * 4;
    module.check(
      module.x.query_check(module.base, at, books.length, policy.handle, query.handle, day),
    );
    return this.#verdict(query);
  }

  /**
   * Decides as check() does, and charges the query if it is accepted.
   * @param {Uint8Array} books
   * @param {Policy} policy
   * @param {Query} query
   * @param {number} day
   * @returns {{verdict: Verdict, bytes: Uint8Array}} the new ledger; the old one where the query is
   *   refused
   */
  debit(books, policy, query, day) {
    const module = this.#module;
    const { x } = module;
    const cap = Math.max(x.accountant_size_max(), books.length);
    const head = VERDICT_WORDS * 4;
    module.reserve(head + cap);
    module.put(books, head);
    const at = module.base + head;
    const len = module.length(
      x.query_debit(module.base, at, books.length, cap, policy.handle, query.handle, day),
    );
    return { verdict: this.#verdict(query), bytes: module.take(head, len) };
  }

  /**
   * Returns what an analysis or one of its fields was charged.
   * @param {Uint8Array} books @param {Policy} policy @param {number} analysis index in the policy
   * @param {number} [field] index in the analysis's fields; none: the analysis itself
   * @returns {Charge}
   */
  charge(books, policy, analysis, field = -1) {
    const module = this.#module;
    module.put(books, 32);
    module.check(
      module.x.accountant_charge(
        module.base,
        module.base + 32,
        books.length,
        policy.handle,
        analysis,
        field,
      ),
    );
    const view = module.view();
    const wide = (/** @type {number} */ at) => Number(view.getBigUint64(at, true));
    return {
      reports: view.getUint32(0, true),
      epsilon: wide(8) / 1e6,
      delta: wide(16) / 1e15,
      localEpsilon: wide(24) / 1e6,
    };
  }

  /** The verdict at the base. @param {Query} query @returns {Verdict} */
  #verdict(query) {
    const module = this.#module;
    const [number, field, , local, central] = module.words(VERDICT_WORDS);
    const { refusal_name: name, refusal_text: text } = module.x;
    const named = module.text(name(number));
    return {
      refusal: number ? named : null,
      number,
      text: module.text(text(number)),
      field: (named === 'split' ? query.splits[field] : query.fields[field]?.field) ?? null,
      localEpsilon: local / 1e6,
      centralEpsilon: central / 1e6,
    };
  }
}

/**
 * One module instance that knows queries. At most 16 of them and 2 policies live in
 * shoal-query.wasm at a time.
 */
export class QueryCore extends Core {
  #module;

  /** @param {WebAssembly.Instance} instance */
  constructor(instance) {
    super(instance);
    this.#module = new Module(instance);
    this.accountant = new Accountant(this.#module);
  }

  /**
   * Checks a query by itself. Release it when it is no longer needed.
   * @param {RecipeJson | string} json a parsed recipe, or its text
   */
  query(json) {
    return new Query(...this.prepare(json, setRecipe));
  }

  /**
   * Checks a policy. Release it when it is no longer needed.
   * @param {PolicyJson | string} json a parsed policy, or its text
   */
  policy(json) {
    const module = this.#module;
    const { x } = module;
    const parsed = typeof json === 'string' ? JSON.parse(json) : structuredClone(json);
    if (!isObject(parsed)) throw new ShoalError('type', TYPE, 'a policy is a JSON object');
    const handle = module.length(x.policy_open());
    try {
      setAll(module, 'policy', handle, '', parsed, parsed);
      tell(module, 'policy', handle, x.policy_finish(handle));
    } catch (error) {
      x.policy_release(handle);
      throw error;
    }
    return new Policy(module, handle, parsed);
  }

  /** Releases a policy; it must not be used again. @param {Policy} policy */
  releasePolicy(policy) {
    this.#module.check(this.#module.x.policy_release(policy.handle));
  }
}
