// SPDX-License-Identifier: Apache-2.0
// Joint recipes as JavaScript: one event has a value for each variable, and one report answers with
// all of them. Needs shoal-all.wasm. Depends on device.js and keyed_recipe.js. Source: fanti-2016,
// section 3.
import { ARGUMENT, LARGEST, Module, RANGE, Recipe, VALUE_MAX, encoder } from './device.js';
import { KeyedRecipe } from './keyed_recipe.js';

/**
 * @typedef {import('./device.js').RecipeJson} RecipeJson
 * @typedef {{value?: any, code?: string}} Item
 * @typedef {{[name: string]: unknown}} Values of an event, by the names of variables
 * @typedef {(values: any, each: (variable: any, value: any) => Promise<Item>) => Promise<Item>}
 *   Items `each` makes the item of one variable
 */

const WORDS = 2; // of each variable, of the export joint_info
const DOMAIN_OPEN = 1;

/** One variable, with the members of a recipe that items are made from. */
export class Variable {
  /**
   * @param {any} json of the recipe's list
   * @param {Recipe['text']} text the rule of all variables
   * @param {number} domain
   * @param {number} size
   */
  constructor({ name, value, parameters }, text, domain, size) {
    const { values } = parameters;
    /** @readonly @type {string} */ this.name = name;
    /** @readonly @type {string} */ this.valueKind = value;
    /** @readonly */ this.text = text;
    /** Values of a list, or buckets of a number; 0 for strings and means. @readonly */ this.size =
      size;
    /** @readonly */ this.isOpen = domain === DOMAIN_OPEN;
    /** @readonly */ this.isNumber = value === 'number';
    /** @readonly */ this.bytesMax = VALUE_MAX;
    /** @readonly @type {Map<string, number> | null} */
    this.values = values
      ? new Map(values.map((/** @type {string} */ each, /** @type {number} */ i) => [each, i]))
      : null;
  }

  index = Recipe.prototype.index;
}

/** A recipe that may have variables. */
export class JointRecipe extends KeyedRecipe {
  /** @param {Module} module @param {number} handle @param {RecipeJson} json */
  constructor(module, handle, json) {
    super(module, handle, json);
    /**
     * The variables in the recipe's order; null for a recipe of one value.
     * @readonly
     * @type {Variable[] | null}
     */
    this.variables = json.variables ? variablesOf(module, handle, json.variables, this.text) : null;
    /**
     * Makes the items of an event with several values. A page's client calls it.
     * @readonly
     * @type {Items | undefined}
     */
    this.items = itemsOf(this.variables, json.mechanism);
    Object.defineProperty(this, 'items', { enumerable: false });
    if (this.variables) this.parameters = { epsilon: this.epsilonMicro / 1e6 }; // a report states the epsilon of all variables together
  }

  /**
   * Randomizes as any recipe does. With variables, the value is an object of values by name.
   * @protected
   * @param {any} value @param {Uint8Array} seed @param {Uint8Array} [secret]
   */
  draw(value, seed, secret) {
    const { module, variables, handle } = this;
    if (!variables) return super.draw(value, seed, secret);
    const isRefused =
      refusal(variables, value) || seed.length !== 32 || (secret && secret.length !== 32);
    if (isRefused) throw module.error(ARGUMENT);
    // The memory holds one text at a time, the seed, the device's secret, the items and the record.
    const coins = VALUE_MAX;
    const items = coins + 64;
    const record = items + 8 * variables.length;
    module
      .reserve(record + this.recordSize + this.textSize)
      .fill(255, module.base + items, module.base + record); // no variable has a value yet
    try {
      variables.forEach((variable, i) =>
        this.#place(variable, i, ownValue(value, variable.name), items + 8 * i),
      );
      module.put(seed, coins);
      if (secret) module.put(secret, coins + 32);
      const at = module.base + coins;
      module.check(
        module.x.randomize_joint(
          module.base + record,
          handle,
          module.base + items,
          at,
          secret ? at + 32 : 0,
        ),
      );
    } finally {
      module.bytes.fill(0, module.base, module.base + record);
    }
    return record;
  }

  /**
   * Writes a variable's item.
   * @param {Variable} variable
   * @param {number} i
   * @param {any} value null for nothing
   * @param {number} offset
   */
  #place(variable, i, value, offset) {
    const { module, handle } = this;
    const { x, base } = module;
    const at = base + offset;
    if (value === null) return;
    if (variable.isNumber) {
      if (!Number.isFinite(value)) throw module.error(ARGUMENT);
      const micro = BigInt(Math.round(Math.max(-LARGEST, Math.min(value, LARGEST)) * 1e6));
      module.check(x.joint_number(at, handle, i, micro));
    } else if (variable.isOpen) {
      if (typeof value !== 'string') throw module.error(ARGUMENT);
      if (encoder.encode(value).length > VALUE_MAX) throw module.error(RANGE);
      const [text, len] = module.place(value);
      module.check(x.joint_text(at, handle, i, text, len));
    } else {
      module.check(x.joint_index(at, handle, i, variable.index(value)));
    }
  }
}

/**
 * @param {Module} module
 * @param {number} handle
 * @param {any[]} list
 * @param {Recipe['text']} text
 */
function variablesOf(module, handle, list, text) {
  return list.map((json, i) => {
    module.reserve(4 * WORDS);
    module.check(module.x.joint_info(handle, i, module.base));
    const [domain, size] = module.words(WORDS);
    return new Variable(json, text, domain, size);
  });
}

/** @param {Variable[] | null} variables @param {string} mechanism @returns {Items | undefined} */
function itemsOf(variables, mechanism) {
  // No event answers an epoch of a run: tracking.js answers it once, from its state and samples.
  if (/thresh$/.test(mechanism)) return async () => ({ code: 'run' });
  if (!variables) return undefined;
  return async (values, each) => {
    const code = refusal(variables, values);
    if (code) return { code };
    /** @type {Values} */
    const value = {};
    for (const variable of variables) {
      const given = ownValue(values, variable.name);
      if (given === null) continue;
      const item = await each(variable, given);
      if (item.code) return item;
      value[variable.name] = item.value;
    }
    return { value };
  };
}

/**
 * Returns why these are not values of the variables, or null if they are.
 * @param {Variable[]} variables
 * @param {any} values
 */
function refusal(variables, values) {
  if (values === null || typeof values !== 'object' || Array.isArray(values)) return 'no-variables';
  const isNamed = (/** @type {string} */ key) => variables.some(({ name }) => name === key);
  return Object.keys(values).every(isNamed) ? null : 'unknown-variable';
}

/**
 * Returns the value of an object's own property, or null if it has none of that name.
 * @param {any} values
 * @param {string} name
 */
const ownValue = (values, name) => (Object.hasOwn(values, name) ? (values[name] ?? null) : null);
