// SPDX-License-Identifier: Apache-2.0
// The core's WebAssembly exports as JavaScript: recipes, records, batches, the ledger. Takes a module or an instance and
// never fetches, reads no clock and draws no randomness: seeds and days are arguments. Depends on nothing.

/**
 * @typedef {null | boolean | number | string | Json[] | {[key: string]: Json}} Json
 * @typedef {{[key: string]: any}} RecipeJson a recipe file, parsed
 * @typedef {{key: string, recipe_hash: string, parameters: {[name: string]: number}, records: string[]}} ReportJson
 * @typedef {{count: number, epsMicro: number}} Spent
 */

/** An error of the core: `code` and `number` are those of core/shoal_err.h, `field` a recipe path or a position. */
export class ShoalError extends Error {
  /** @param {string} code @param {number} number @param {string} message @param {string} [field] */
  constructor(code, number, message, field) {
    super(message);
    this.name = 'ShoalError';
    this.code = code;
    this.number = number;
    this.field = field;
  }
}

// Numbers of core/shoal_err.h that are also raised here.
const ARGUMENT = 1;
const RANGE = 2;
const UNKNOWN_FIELD = 3;
const TYPE = 5;
const DUPLICATE = 6;

const BATCH_HEADER = 72;
const BATCH_TRAILER = 8;
const VALUE_MAX = 256; // bytes of one string
const SCRATCH = 16384; // bytes at the heap base that small calls share
const PAGE = 65536;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** @param {Uint8Array} bytes */
export const toHex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');

/**
 * The scalars of a recipe under their dotted paths, in document order.
 * @param {RecipeJson} json @param {string} prefix
 * @returns {Generator<[string, any]>}
 */
function* walk(json, prefix) {
  for (const [key, value] of Object.entries(json)) {
    const path = prefix + key;
    // A dot inside a key would name another field than the one it stands in.
    if (key.includes('.')) throw new ShoalError('unknown-field', UNKNOWN_FIELD, `${path} is not a field of a recipe`, path);
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) yield* walk(value, path + '.');
    else yield [path, value];
  }
}

/**
 * A JSON number in micro-units, or null where that is not exact.
 * @param {number} x
 */
function micro(x) {
  const v = Math.round(x * 1e6);
  return Number.isFinite(x) && Math.abs(x) <= 9e12 && v / 1e6 === x ? BigInt(v) : null;
}

/** One module instance. At most 16 recipes live in it at a time. */
export class Core {
  #x;
  #memory;
  #base;
  #bytes;

  /** @param {WebAssembly.Instance} instance */
  constructor(instance) {
    this.#x = /** @type {any} */ (instance.exports);
    this.#memory = /** @type {WebAssembly.Memory} */ (this.#x.memory);
    this.#base = /** @type {number} */ (this.#x.heap_base()) + 15 & -16;
    this.#bytes = new Uint8Array(0);
    this.#reserve(SCRATCH);
  }

  /**
   * @param {WebAssembly.Module | WebAssembly.Instance} source
   * @returns {Promise<Core>}
   */
  static async create(source) {
    const instance = source instanceof WebAssembly.Module ? await WebAssembly.instantiate(source, {}) : source;
    /** @type {any} */ (instance.exports)._initialize?.();
    return new Core(instance);
  }

  /** Makes room for n bytes at the base and renews the view, which growth detaches. @param {number} n */
  #reserve(n) {
    const missing = this.#base + n - this.#memory.buffer.byteLength;
    if (missing > 0) this.#memory.grow(Math.ceil(missing / PAGE));
    if (this.#bytes.buffer !== this.#memory.buffer) this.#bytes = new Uint8Array(this.#memory.buffer);
    return this.#bytes;
  }

  /** Static text of the module. @param {number} ptr */
  #text(ptr) {
    const bytes = this.#reserve(0);
    return ptr ? decoder.decode(bytes.subarray(ptr, bytes.indexOf(0, ptr))) : '';
  }

  /** @param {number} number @param {string} [field] @param {string} [message] */
  #error(number, field, message) {
    const text = message || this.#text(this.#x.err_text(number));
    return new ShoalError(this.#text(this.#x.err_name(number)), number, field ? `${field}: ${text}` : text, field);
  }

  /** Throws unless err is 0. @param {number} err @param {string} [field] @param {string} [message] */
  #check(err, field, message) {
    if (err) throw this.#error(err, field, message);
  }

  /** A length, or throws what a negative one stands for. @param {number} result */
  #length(result) {
    if (result < 0) throw this.#error(-result);
    return result;
  }

  /**
   * Checks a recipe and prepares it. Release it when it is no longer needed.
   * @param {RecipeJson | string} json a parsed recipe, or its text
   * @returns {Recipe}
   */
  recipe(json) {
    const parsed = typeof json === 'string' ? JSON.parse(json) : structuredClone(json);
    if (parsed === null || typeof parsed !== 'object' || Array.isArray(parsed)) {
      throw new ShoalError('type', TYPE, 'a recipe is a JSON object');
    }
    const handle = this.#length(this.#x.recipe_open());
    try {
      for (const [path, value] of walk(parsed, '')) this.#set(handle, path, value);
      this.#recipeCheck(handle, this.#x.recipe_finish(handle));
      return new Recipe(this, handle, parsed, this.#info(handle));
    } catch (error) {
      this.#x.recipe_release(handle);
      throw error;
    }
  }

  /** @param {number} handle @param {number} err @param {string} [path] */
  #recipeCheck(handle, err, path) {
    if (!err) return;
    const text = this.#text(this.#x.recipe_error_text(handle));
    throw this.#error(err, path ?? (this.#text(this.#x.recipe_error_field(handle)) || undefined), text);
  }

  /** Sets one field from a JSON scalar or the value list. @param {number} handle @param {string} path @param {any} value */
  #set(handle, path, value) {
    const x = this.#x;
    if (path === 'parameters.values' && Array.isArray(value)) {
      this.#setValues(handle, value);
      return;
    }
    const [at, atLen] = this.#place(path, 0);
    if (typeof value === 'number') {
      const v = micro(value);
      if (v === null) throw this.#error(RANGE, path);
      this.#recipeCheck(handle, x.recipe_set_number(handle, at, atLen, v), path);
    } else if (typeof value === 'string') {
      const [text, len] = this.#place(value, atLen);
      this.#recipeCheck(handle, x.recipe_set_string(handle, at, atLen, text, len), path);
    } else {
      throw this.#error(TYPE, path);
    }
  }

  /** @param {number} handle @param {any[]} values */
  #setValues(handle, values) {
    const path = 'parameters.values';
    if (new Set(values).size !== values.length) throw this.#error(DUPLICATE, path);
    for (const value of values) {
      if (typeof value !== 'string') throw this.#error(TYPE, path);
      const [text, len] = this.#place(value, 0);
      this.#recipeCheck(handle, this.#x.recipe_add_value(handle, text, len), path);
    }
  }

  /**
   * Writes a string as UTF-8 at an offset of the scratch memory. Returns where and how long.
   * @param {string} text @param {number} offset
   */
  #place(text, offset) {
    const bytes = encoder.encode(text);
    this.#reserve(offset + bytes.length).set(bytes, this.#base + offset);
    return [this.#base + offset, bytes.length];
  }

  /** @param {number} handle */
  #info(handle) {
    this.#check(this.#x.recipe_info(handle, this.#base));
    const view = new DataView(this.#memory.buffer, this.#base);
    const words = Array.from({ length: 17 }, (_, i) => view.getUint32(4 * i, true));
    return { words, hash: toHex(this.#reserve(0).subarray(this.#base + 68, this.#base + 100)) };
  }

  /** Releases a recipe; it must not be used again. @param {Recipe} recipe */
  release(recipe) {
    this.#check(this.#x.recipe_release(recipe.handle));
  }

  /**
   * Randomizes into the scratch memory. Returns where the record lies.
   * @param {Recipe} recipe @param {string | number | null} value @param {Uint8Array} seed
   */
  #randomize(recipe, value, seed) {
    if (seed.length !== 32) throw this.#error(ARGUMENT);
    const base = this.#base;
    const record = base + VALUE_MAX + 32;
    const bytes = this.#reserve(VALUE_MAX + 32 + recipe.recordSize + recipe.textSize);
    bytes.set(seed, base + VALUE_MAX);
    if (recipe.isOpen) {
      if (typeof value !== 'string') throw this.#error(ARGUMENT);
      const { read, written } = encoder.encodeInto(value, bytes.subarray(base, base + VALUE_MAX));
      if (read !== value.length) {
        bytes.fill(0, base, record);
        throw this.#error(RANGE);
      }
      this.#check(this.#x.randomize_text(record, recipe.handle, base, written, base + VALUE_MAX));
    } else {
      this.#check(this.#x.randomize_index(record, recipe.handle, recipe.index(value), base + VALUE_MAX));
    }
    return record;
  }

  /** See Recipe.randomize. @param {Recipe} recipe @param {string | number | null} value @param {Uint8Array} seed */
  randomizeText(recipe, value, seed) {
    return this.#recordText(recipe, this.#randomize(recipe, value, seed));
  }

  /** See Recipe.randomizeBytes. @param {Recipe} recipe @param {string | number | null} value @param {Uint8Array} seed */
  randomizeBytes(recipe, value, seed) {
    const record = this.#randomize(recipe, value, seed);
    return this.#bytes.slice(record, record + recipe.recordSize);
  }

  /** @param {Recipe} recipe @param {number} record */
  #recordText(recipe, record) {
    const text = record + recipe.recordSize;
    this.#check(this.#x.record_to_text(text, recipe.textSize, recipe.handle, record));
    return decoder.decode(this.#bytes.subarray(text, text + recipe.textSize));
  }

  /** See Recipe.recordFromText. @param {Recipe} recipe @param {string} text */
  recordFromText(recipe, text) {
    // A longer text is refused by its first textSize + 1 characters, so hostile input costs no memory.
    const [at, len] = this.#place(String(text).slice(0, recipe.textSize + 1), recipe.recordSize);
    const err = this.#x.record_from_text(this.#base, recipe.handle, at, len);
    if (err) throw this.#error(err, `position ${this.#x.err_position()}`);
    return this.#bytes.slice(this.#base, this.#base + recipe.recordSize);
  }

  /** See Recipe.recordToText. @param {Recipe} recipe @param {Uint8Array} record */
  recordToText(recipe, record) {
    if (record.length !== recipe.recordSize) throw this.#error(ARGUMENT);
    this.#reserve(recipe.recordSize + recipe.textSize).set(record, this.#base);
    return this.#recordText(recipe, this.#base);
  }

  /** See Recipe.sealBatch. @param {Recipe} recipe @param {Uint8Array} records @param {Uint8Array} id */
  sealBatch(recipe, records, id) {
    if (id.length !== 16 || records.length % recipe.recordSize) throw this.#error(ARGUMENT);
    const count = records.length / recipe.recordSize;
    const size = this.#length(this.#x.batch_size(recipe.handle, count));
    const bytes = this.#reserve(16 + size);
    const at = this.#base + 16;
    bytes.set(id, this.#base);
    bytes.set(records, at + BATCH_HEADER);
    this.#check(this.#x.batch_seal(at, size, recipe.handle, count, this.#base));
    return bytes.slice(at, at + size);
  }

  /** See Recipe.openBatch. @param {Recipe} recipe @param {Uint8Array} batch */
  openBatch(recipe, batch) {
    this.#reserve(batch.length).set(batch, this.#base);
    const count = this.#length(this.#x.batch_open(this.#base, batch.length, recipe.handle));
    return {
      count,
      id: batch.slice(56, BATCH_HEADER),
      records: batch.slice(BATCH_HEADER, batch.length - BATCH_TRAILER),
    };
  }

  /** The budget ledger: bytes in, bytes out; days since 1970-01-01 UTC. Store the new bytes durably before randomizing. */
  ledger = {
    /** An empty ledger made on `day`. @param {number} day @returns {Uint8Array} */
    init: (day) => {
      const cap = this.#x.ledger_size_max();
      this.#reserve(cap);
      const len = this.#length(this.#x.ledger_init(this.#base, cap, day));
      return this.#bytes.slice(this.#base, this.#base + len);
    },
    /**
     * Pays for one report; throws budget, fresh, expired or ledger.
     * @param {Uint8Array} ledger @param {Recipe} recipe @param {number} day @returns {Uint8Array}
     */
    debit: (ledger, recipe, day) => {
      const cap = this.#x.ledger_size_max();
      this.#reserve(Math.max(cap, ledger.length)).set(ledger, this.#base);
      const len = this.#length(this.#x.ledger_debit(this.#base, ledger.length, cap, recipe.handle, day));
      return this.#bytes.slice(this.#base, this.#base + len);
    },
    /**
     * Null where a debit would succeed, else the error it would throw.
     * @param {Uint8Array} ledger @param {Recipe} recipe @param {number} day @returns {ShoalError | null}
     */
    refusal: (ledger, recipe, day) => {
      this.#reserve(ledger.length).set(ledger, this.#base);
      const err = this.#x.ledger_allows(this.#base, ledger.length, recipe.handle, day);
      return err ? this.#error(err) : null;
    },
    /** Would a debit succeed? @param {Uint8Array} ledger @param {Recipe} recipe @param {number} day */
    allows: (ledger, recipe, day) => this.ledger.refusal(ledger, recipe, day) === null,
    /**
     * What the recipe's (analysis, field) has spent on the days first .. last.
     * @param {Uint8Array} ledger @param {Recipe} recipe @param {number} first @param {number} last @returns {Spent}
     */
    spent: (ledger, recipe, first, last) => {
      this.#reserve(16 + ledger.length).set(ledger, this.#base + 16);
      this.#check(this.#x.ledger_spent(this.#base, this.#base + 16, ledger.length, recipe.handle, first, last));
      const view = new DataView(this.#memory.buffer, this.#base);
      return { count: view.getUint32(0, true), epsMicro: Number(view.getBigUint64(8, true)) };
    },
  };
}

/** A checked recipe. Made by Core.recipe. */
export class Recipe {
  #core;

  /** @param {Core} core @param {number} handle @param {RecipeJson} json @param {{words: number[], hash: string}} info */
  constructor(core, handle, json, info) {
    const w = info.words;
    this.#core = core;
    /** @readonly */ this.handle = handle;
    /** @readonly */ this.json = json;
    /** @readonly @type {string} */ this.id = json.recipe;
    /** @readonly @type {string} */ this.stream = json.stream;
    /** @readonly @type {string} */ this.valueKind = json.value;
    /** @readonly @type {string} */ this.mechanism = json.mechanism;
    /** SHA-256 of the canonical bytes, hex. @readonly */ this.hash = info.hash;
    /** Bytes of a binary record. @readonly */ this.recordSize = w[0];
    /** Characters of a text record. @readonly */ this.textSize = w[1];
    /** Cost of one report, micro-units. @readonly */ this.epsilonMicro = w[2];
    /** Columns, or size of a closed domain. @readonly */ this.m = w[3];
    /** @readonly */ this.limit = { perDay: w[4] };
    /** @readonly */ this.send = { sample: w[5] / 1e6, delayS: w[6], fresh: w[7] ? 'allow' : 'wait' };
    /** @readonly */ this.batch = { minimum: w[8], maxAgeS: w[9] };
    /** @readonly */ this.cohort = { minimum: w[10] };
    /** Last valid day, days since 1970-01-01 UTC. @readonly */ this.expiresDay = w[11];
    /** @readonly */ this.text = { form: w[12] ? 'NFC' : 'none', case: w[13] ? 'lower' : 'keep', min: w[14], max: w[15] };
    /** Any string, or only the listed items? @readonly */ this.isOpen = w[16] === 1;
    /** Value to index, where the recipe lists values. @readonly @type {Map<string, number> | null} */
    this.values = json.parameters.values ? new Map(json.parameters.values.map((/** @type {string} */ v, /** @type {number} */ i) => [v, i])) : null;
    /** What a report says about the mechanism. @readonly @type {{[name: string]: number}} */
    this.parameters = {};
    for (const name of ['epsilon', 'k', 'm', 'size']) {
      if (name in json.parameters) this.parameters[name] = json.parameters[name];
    }
    if (this.values) this.parameters.size = this.values.size;
  }

  /**
   * The index that stands for a value in a closed domain: -1 for null and for what is not listed.
   * @param {string | number | null} value
   */
  index(value) {
    if (typeof value === 'number') return Number.isInteger(value) && value >= 0 && value < this.m ? value : -1;
    return (value !== null && this.values?.get(value)) ?? -1;
  }

  /**
   * Randomizes one event. Costs the recipe's epsilon: debit the ledger first.
   * @param {string | number | null} value open domains: a string of 1 to 256 bytes; closed ones: a listed value, its
   *   index, or null for none (as is anything unlisted, so that silence says nothing)
   * @param {Uint8Array} seed 32 fresh secret random bytes, used for nothing else
   * @returns {string} the record's text form
   */
  randomize(value, seed) {
    return this.#core.randomizeText(this, value, seed);
  }

  /**
   * The same, as a binary record.
   * @param {string | number | null} value @param {Uint8Array} seed @returns {Uint8Array}
   */
  randomizeBytes(value, seed) {
    return this.#core.randomizeBytes(this, value, seed);
  }

  /** Reads a text record; throws what the recipe's randomizer cannot have made. @param {string} text @returns {Uint8Array} */
  recordFromText(text) {
    return this.#core.recordFromText(this, text);
  }

  /** @param {Uint8Array} record @returns {string} */
  recordToText(record) {
    return this.#core.recordToText(this, record);
  }

  /**
   * A batch of checked records.
   * @param {Uint8Array} records count * recordSize bytes @param {Uint8Array} id 16 random bytes @returns {Uint8Array}
   */
  sealBatch(records, id) {
    return this.#core.sealBatch(this, records, id);
  }

  /** Checks a batch of this recipe and takes it apart. @param {Uint8Array} batch */
  openBatch(batch) {
    return this.#core.openBatch(this, batch);
  }

  /** The report that carries one record. @param {string} record @returns {ReportJson} */
  report(record) {
    return { key: this.id, recipe_hash: this.hash, parameters: { ...this.parameters }, records: [record] };
  }
}
