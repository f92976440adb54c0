// SPDX-License-Identifier: Apache-2.0
// The core's WebAssembly exports as JavaScript, the part that a device needs: recipes, randomizing,
// the ledger. Takes a module or an instance and never fetches, reads no clock and draws no
// randomness: seeds and days are arguments. Depends on nothing. core.js adds what an edge worker
// needs.

import { Ledger } from './ledger.js';

export { Ledger };

/**
 * @typedef {{[key: string]: any}} RecipeJson a recipe file, parsed
 * @typedef {{key: string, recipe_hash: string, parameters: {[name: string]: number},
 *   records: string[], servers?: {leader: string, helper: string}}} ReportJson the report; with
 *   `servers` it is what was split and sealed for these two
 */

/**
 * An error of the core: `code` and `number` are those of core/base/shoal_err.h, `field` is a recipe
 * path or a position.
 */
export class ShoalError extends Error {
  /**
   * @param {string} code
   * @param {number} number
   * @param {string} message
   * @param {string} [field]
   * @param {{cause?: unknown}} [options] the error behind this one
   */
  constructor(code, number, message, field, options) {
    super(message, options);
    this.name = 'ShoalError';
    this.code = code;
    this.number = number;
    this.field = field;
  }
}

// Numbers of core/base/shoal_err.h that are also raised here.
export const ARGUMENT = 1;
export const RANGE = 2;
export const UNKNOWN_FIELD = 3;
export const TYPE = 5;
export const DUPLICATE = 6;

export const VALUE_MAX = 256; // bytes of one string
const INFO_WORDS = 20; // of the export recipe_info
const PAGE = 65536;

export const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** @param {Uint8Array} bytes */
export const toHex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');

/**
 * The scalars of a recipe under their dotted paths, in document order.
 * @param {RecipeJson} json @param {string} prefix
 * @returns {Generator<[string, any]>}
 */
export function* walk(json, prefix) {
  for (const [key, value] of Object.entries(json)) {
    const path = prefix + key;
    // A key with a dot would name a field of another object.
    if (key.includes('.'))
      throw new ShoalError(
        'unknown-field',
        UNKNOWN_FIELD,
        `${path} is not a field of a recipe`,
        path,
      );
    // An empty object has no scalars. It is yielded itself, so that the core refuses its name.
    const keys =
      value && typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length;
    if (keys) yield* walk(value, path + '.');
    else yield [path, value];
  }
}

export const LARGEST = 9e12; // a number whose micro-units fit an i64

/**
 * Converts a JSON number to micro-units. Returns null if that is not exact.
 * @param {number} x
 */
export function micro(x) {
  const v = Math.round(x * 1e6);
  return Math.abs(x) <= LARGEST && v / 1e6 === x ? BigInt(v) : null;
}

/**
 * A module's memory and errors. Each call lays its arguments out from `base`, the first byte that
 * is JavaScript's; nothing there outlives a call.
 */
export class Module {
  /** @param {WebAssembly.Instance} instance */
  constructor(instance) {
    /** The exports. @type {any} */ this.x = instance.exports;
    /** @type {number} */ this.base = (this.x.heap_base() + 15) & -16;
    /** All memory; a new view after growth, so take it from reserve(). */ this.bytes =
      new Uint8Array(0);
    /** The view that a value's text is written to. */ this.value = this.bytes;
  }

  /**
   * Makes room for n bytes at the base and renews the view, which growth detaches.
   * @param {number} n
   */
  reserve(n) {
    const {
      base,
      x: { memory },
    } = this;
    const end = base + n;
    // A view that growth has detached has length 0. Asking the memory for its buffer would cost
    // more.
    if (this.bytes.length < end) {
      const missing = end - memory.buffer.byteLength;
      if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
      this.bytes = new Uint8Array(memory.buffer);
      this.value = this.bytes.subarray(base, base + VALUE_MAX);
    }
    return this.bytes;
  }

  /** Static text of the module. @param {number} ptr */
  text(ptr) {
    const bytes = this.reserve(0);
    return ptr ? decoder.decode(bytes.subarray(ptr, bytes.indexOf(0, ptr))) : '';
  }

  /** @param {number} number @param {string} [field] @param {string} [message] */
  error(number, field, message) {
    const name = this.text(this.x.err_name(number));
    const text = message || this.text(this.x.err_text(number)) || name;
    return new ShoalError(name, number, field ? `${field}: ${text}` : text, field);
  }

  /** Throws unless err is 0. @param {number} err */
  check(err) {
    if (err) throw this.error(err);
  }

  /** A length, or throws what a negative one stands for. @param {number} result */
  length(result) {
    this.check(result < 0 ? -result : 0);
    return result;
  }

  /**
   * Writes a string as UTF-8 at an offset. Returns its place and its length.
   * @param {string} text @param {number} [offset]
   */
  place(text, offset = 0) {
    const bytes = encoder.encode(text);
    this.put(bytes, offset);
    return [this.base + offset, bytes.length];
  }

  /** Writes bytes at an offset. @param {Uint8Array} bytes @param {number} [offset] */
  put(bytes, offset = 0) {
    this.reserve(offset + bytes.length).set(bytes, this.base + offset);
  }

  /** A copy of bytes at an offset. @param {number} offset @param {number} len */
  take(offset, len) {
    return this.bytes.slice(this.base + offset, this.base + offset + len);
  }

  /** A view at the base. */
  view() {
    return new DataView(this.x.memory.buffer, this.base);
  }

  /** Little-endian u32 at the base. @param {number} n */
  words(n) {
    const view = this.view();
    return Array.from({ length: n }, (_, i) => view.getUint32(4 * i, true));
  }
}

/** One module instance. At most 16 recipes live in it at a time. */
export class Core {
  #module;

  /** @param {WebAssembly.Instance} instance */
  constructor(instance) {
    this.#module = new Module(instance);
    this.ledger = new Ledger(this.#module);
  }

  /**
   * @template {typeof Core} T
   * @this {T}
   * @param {WebAssembly.Module | WebAssembly.Instance} source
   * @returns {Promise<InstanceType<T>>}
   */
  static async create(source) {
    const instance =
      source instanceof WebAssembly.Module ? await WebAssembly.instantiate(source, {}) : source;
    const x = /** @type {any} */ (instance.exports);
    // A cache may hold a module of an earlier version, whose exports mean other things.
    if (x.ledger_debit && !x.ledger_reserve) throw new Error('the module is of an earlier version');
    x._initialize?.();
    return /** @type {InstanceType<T>} */ (new this(instance));
  }

  /**
   * Checks a recipe and prepares it. Release it when it is no longer needed.
   * @param {RecipeJson | string} json a parsed recipe, or its text
   */
  recipe(json) {
    return new Recipe(...this.prepare(json));
  }

  /**
   * @protected
   * @param {RecipeJson | string} json
   * @param {(module: Module, handle: number, json: RecipeJson) => void} fill hands the fields to the module
   * @returns {[Module, number, RecipeJson]}
   */
  prepare(json, fill = setFields) {
    const module = this.#module;
    const parsed = typeof json === 'string' ? JSON.parse(json) : structuredClone(json);
    if (Object(parsed) !== parsed || Array.isArray(parsed))
      throw new ShoalError('type', TYPE, 'a recipe is a JSON object');
    const handle = module.length(module.x.recipe_open());
    try {
      // The mechanism is set first. A module without it lacks its fields too, and the error should
      // name the mechanism.
      fill(module, handle, 'mechanism' in parsed ? { mechanism: null, ...parsed } : parsed);
      checkField(module, handle, module.x.recipe_finish(handle));
    } catch (error) {
      module.x.recipe_release(handle);
      throw error;
    }
    return [module, handle, parsed];
  }

  /** Releases a recipe; it must not be used again. @param {Recipe} recipe */
  release(recipe) {
    this.#module.check(this.#module.x.recipe_release(recipe.handle));
  }
}

/**
 * Throws an error with the core's own sentence about a field.
 * @param {Module} module @param {number} handle @param {number} err @param {string} [path]
 */
function checkField(module, handle, err, path) {
  if (!err) return;
  const text = module.text(module.x.recipe_error_text(handle));
  throw module.error(
    err,
    path ?? (module.text(module.x.recipe_error_field(handle)) || undefined),
    text,
  );
}

/** @param {Module} module @param {number} handle @param {RecipeJson} json */
function setFields(module, handle, json) {
  for (const [path, value] of walk(json, '')) {
    if (path === 'parameters.values' && Array.isArray(value) && value.length)
      setValues(module, handle, path, value);
    else setField(module, handle, path, value);
  }
}

/**
 * Sets one field from a JSON scalar.
 * @param {Module} module @param {number} handle @param {string} path @param {any} value
 */
function setField(module, handle, path, value) {
  const [at, atLen] = module.place(path);
  if (typeof value === 'number') {
    const v = micro(value);
    if (v === null) throw module.error(RANGE, path);
    checkField(module, handle, module.x.recipe_set_number(handle, at, atLen, v), path);
  } else if (typeof value === 'string') {
    const [text, len] = module.place(value, atLen);
    checkField(module, handle, module.x.recipe_set_string(handle, at, atLen, text, len), path);
  } else {
    throw module.error(TYPE, path);
  }
}

/** @param {Module} module @param {number} handle @param {string} path @param {any[]} values */
function setValues(module, handle, path, values) {
  if (new Set(values).size !== values.length) throw module.error(DUPLICATE, path);
  for (const value of values) {
    if (typeof value !== 'string') throw module.error(TYPE, path);
    const [text, len] = module.place(value);
    checkField(module, handle, module.x.recipe_add_value(handle, text, len), path);
  }
}

/**
 * @param {RecipeJson} json @param {number[]} words of the export recipe_info
 * @returns {import('./text.js').TextRule}
 */
const textRuleOf = ({ text }, words) => ({
  form: words[12] ? 'NFC' : 'none',
  case: ['keep', 'lower', 'fold'][words[13]],
  locale: text?.locale,
  min: words[14],
  max: words[15],
});

/** A checked recipe. Made by Core.recipe. */
export class Recipe {
  /** @protected @type {Module} */ module;

  /** @param {Module} module @param {number} handle @param {RecipeJson} json */
  constructor(module, handle, json) {
    this.module = module;
    Object.defineProperty(this, 'module', { enumerable: false });
    module.reserve(INFO_WORDS * 4 + 32);
    module.check(module.x.recipe_info(handle, module.base));
    const w = module.words(INFO_WORDS);
    /** @readonly */ this.handle = handle;
    /** @readonly */ this.json = json;
    /** @readonly @type {string} */ this.id = json.recipe;
    /** @readonly @type {string} */ this.stream = json.stream;
    /** @readonly @type {string} */ this.valueKind = json.value;
    /** @readonly @type {string} */ this.mechanism = json.mechanism;
    /** SHA-256 of the canonical bytes, hex. @readonly */ this.hash = toHex(
      module.take(INFO_WORDS * 4, 32),
    );
    /** Bytes of a binary record. @readonly */ this.recordSize = w[0];
    /** Characters of a text record. @readonly */ this.textSize = w[1];
    /** Cost of one report, micro-units. @readonly */ this.epsilonMicro = w[2];
    /** Values of a list, or buckets of a number; 0 for strings and means. @readonly */ this.size =
      w[3];
    /** @readonly */ this.limit = { perDay: w[4] };
    /** @readonly */ this.send = {
      sample: w[5] / 1e6,
      delayS: w[6],
      fresh: w[7] ? 'allow' : 'wait',
      pick: w[18] ? 'uniform' : 'first',
      window: [null, 'visit', 'day'][w[19]], // null under `first`
    };
    /** Last valid day, days since 1970-01-01 UTC. @readonly */ this.expiresDay = w[11];
    /** @readonly */ this.text = textRuleOf(json, w);
    /** Does it take any string, not only listed items? @readonly */ this.isOpen = w[16] === 1;
    /** Does it take numbers? @readonly */ this.isNumber = json.value === 'number';
    /** Does the device need a secret of its own for it? @readonly */ this.isPermanent = !!w[17];
    const { parameters = {} } = json; // a joint recipe's are its variables'
    const { values, length, n } = parameters;
    /**
     * The most bytes of a string. Fragments take any: the core reports a longer one as "none".
     * @readonly @type {number}
     */
    this.bytesMax = length && !n ? Infinity : VALUE_MAX;
    /**
     * Indices by value; null if the recipe does not list values.
     * @readonly @type {Map<string, number> | null}
     */
    this.values = values
      ? new Map(values.map((/** @type {string} */ value, /** @type {number} */ i) => [value, i]))
      : null;
    /**
     * The parameters that a report states: the recipe's numbers, and the length of each list.
     * @readonly @type {{[name: string]: number}}
     */
    this.parameters = {};
    for (const [name, value] of Object.entries(parameters)) {
      if (value === values) this.parameters.size = value.length;
      else if (value === +value) this.parameters[name] = value;
    }
  }

  /**
   * Returns the index that stands for a value in a closed domain: -1 for null and for any value
   * that is not listed.
   * @param {string | number | null} value
   */
  index(value) {
    if (typeof value === 'number')
      return Number.isInteger(value) && value >= 0 && value < this.size ? value : -1;
    return this.values?.get(value ?? '') ?? -1;
  }

  /**
   * Randomizes into the scratch memory. Returns the record's offset.
   * @protected
   * @param {any} value @param {Uint8Array} seed @param {Uint8Array} [secret]
   */
  draw(value, seed, secret) {
    const { module, handle } = this;
    const { base, x } = module;
    // The memory holds the text, the seed, the device's secret and the record.
    const record = VALUE_MAX + 64;
    const bytes = module.reserve(record + this.recordSize + this.textSize);
    const wanted = this.isOpen
      ? typeof value === 'string'
      : !this.isNumber || Number.isFinite(value);
    if (seed.length !== 32 || (secret && secret.length !== 32) || !wanted)
      throw module.error(ARGUMENT);
    const at = base + VALUE_MAX;
    const own = secret ? at + 32 : 0;
    bytes.set(seed, at);
    if (secret) bytes.set(secret, own);
    let err;
    if (this.isOpen) {
      const { read, written } = encoder.encodeInto(value, module.value);
      // The core refuses a text that does not fit, and wipes the memory. Its start is "none" already.
      const isRefused = read < value.length && this.bytesMax <= VALUE_MAX;
      err = x.randomize_text(
        base + record,
        handle,
        base,
        isRefused ? VALUE_MAX + 1 : written,
        at,
        own,
      );
    } else if (this.isNumber) {
      const x6 = BigInt(
        Math.round(Math.max(-LARGEST, Math.min(/** @type {number} */ (value), LARGEST)) * 1e6),
      );
      err = x.randomize_number(base + record, handle, x6, at, own);
    } else {
      err = x.randomize_index(base + record, handle, this.index(value), at, own);
    }
    module.check(err);
    return record;
  }

  /**
   * Prints the record at an offset. The text is written after the record.
   * @protected @param {number} record
   */
  print(record) {
    const { module } = this;
    const at = module.base + record;
    const text = at + this.recordSize;
    module.check(module.x.record_to_text(text, this.textSize, this.handle, at));
    return decoder.decode(module.bytes.subarray(text, text + this.textSize));
  }

  /**
   * Randomizes one event. Costs the recipe's epsilon: debit the ledger first.
   * @param {string | number | null | {[variable: string]: string | number | null | undefined}} value
   *   open domains: a string of up to 256 bytes; closed ones: a listed value, its index, or null for
   *   none of the list (any unlisted value counts as none, so that silence says nothing); numbers:
   *   any finite one; several variables (joint_core.js): an object of these
   * @param {Uint8Array} seed 32 fresh secret random bytes, used for nothing else
   * @param {Uint8Array} [secret] 32 random bytes that the device keeps; needed if isPermanent
   * @returns {string} the record's text form
   */
  randomize(value, seed, secret) {
    return this.print(this.draw(value, seed, secret));
  }

  /** The report that carries one record. @param {string} record @returns {ReportJson} */
  report(record) {
    return {
      key: this.id,
      recipe_hash: this.hash,
      parameters: { ...this.parameters },
      records: [record],
    };
  }
}
