// SPDX-License-Identifier: Apache-2.0
// Recipes that a page's small module does not take: their JSON may hold lists, and objects in
// lists, and a recipe may be of one part of a collection. Queries, joint recipes and the edge share
// this. Depends on device.js and front_coded.js.
import { DUPLICATE, Module, RANGE, Recipe, TYPE, UNKNOWN_FIELD, micro, walk } from './device.js';
import { listOf } from './front_coded.js';

/**
 * @typedef {import('./device.js').RecipeJson} RecipeJson
 * @typedef {import('./device.js').ReportJson} ReportJson
 */

// ---- JSON to the core ----

/**
 * Throws an error with the core's own sentence about a field.
 * @param {Module} module
 * @param {'recipe' | 'policy'} kind
 * @param {number} handle
 * @param {number} err
 * @param {string} [path]
 */
export function tell(module, kind, handle, err, path) {
  if (!err) return;
  const { x } = module;
  const text = module.text(x[`${kind}_error_text`](handle));
  const field = module.text(x[`${kind}_error_field`](handle)) || undefined;
  // A variable is checked when the next one begins, so the error may name a field set earlier.
  throw module.error(err, field?.startsWith('variables.') ? field : (path ?? field), text);
}

/** @param {Module} module @param {string} path @param {number} value */
function exactly(module, path, value) {
  const v = micro(value);
  if (v === null) throw module.error(RANGE, path);
  return v;
}

/**
 * Checks that an entry of `part` is a listed value of its split field, or "other".
 * @param {any[]} part
 * @param {RecipeJson} json
 */
const arePartsListed = (part, json) =>
  part.every((entry, i) => {
    const values = json.split_by?.[i]?.values;
    return entry === 'other' || (Array.isArray(values) && values.includes(entry));
  });

/**
 * Hands a list to the module. Its entries must be of one kind and distinct.
 * @param {Module} module
 * @param {'recipe' | 'policy'} kind
 * @param {number} handle
 * @param {string} path
 * @param {any[]} list
 * @param {RecipeJson} json
 */
function setList(module, kind, handle, path, list, json) {
  const { x } = module;
  if (path === 'part') {
    if (!arePartsListed(list, json))
      throw module.error(RANGE, path, 'names neither a value of split_by nor other');
  } else if (new Set(list).size !== list.length) {
    throw module.error(DUPLICATE, path);
  }
  const isValues = path === 'parameters.values' && kind === 'recipe';
  const [at, atLen] = module.place(path);
  for (const entry of list) {
    if (typeof entry !== typeof list[0]) throw module.error(TYPE, path);
    if (typeof entry === 'number' && kind === 'recipe') {
      tell(
        module,
        kind,
        handle,
        x.recipe_add_number(handle, at, atLen, exactly(module, path, entry)),
        path,
      );
    } else if (typeof entry === 'string') {
      const [text, len] = module.place(entry, atLen);
      const err = isValues
        ? x.recipe_add_value(handle, text, len)
        : x[`${kind}_add_text`](handle, at, atLen, text, len);
      tell(module, kind, handle, err, path);
    } else {
      throw module.error(TYPE, path);
    }
  }
}

/**
 * Hands the fields of a JSON object to the module, with a prefix before their names.
 * @param {Module} module
 * @param {'recipe' | 'policy'} kind
 * @param {number} handle
 * @param {string} prefix
 * @param {any} object
 * @param {RecipeJson} json
 */
export function setAll(module, kind, handle, prefix, object, json) {
  for (const [path, value] of walk(object, prefix)) {
    // A key that is a number would make an object look like a list.
    if (/(^|\.)\d/.test(path.slice(prefix.length))) throw module.error(UNKNOWN_FIELD, path);
    setOne(module, kind, handle, path, value, json);
  }
}

/** @param {unknown} value */
export const isObject = (value) =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/**
 * Hands one field to the module, or the fields inside it if it is an object or a list.
 * @param {Module} module
 * @param {'recipe' | 'policy'} kind
 * @param {number} handle
 * @param {string} path
 * @param {any} value
 * @param {RecipeJson} json
 */
function setOne(module, kind, handle, path, value, json) {
  if (Array.isArray(value) && isObject(value[0])) {
    value.forEach((entry, i) => {
      if (!isObject(entry) || !Object.keys(entry).length) throw module.error(TYPE, path);
      setAll(module, kind, handle, `${path}.${i}.`, entry, json);
    });
    return;
  }
  const coded = kind === 'recipe' && typeof value === 'string' ? listOf(path, value) : undefined;
  if (coded === null) throw module.error(TYPE, path, 'is not a list written as one string');
  const list = coded ?? value;
  if (Array.isArray(list) && list.length) {
    setList(module, kind, handle, path, list, json);
    return;
  }
  const { x } = module;
  const [at, atLen] = module.place(path);
  if (typeof value === 'number') {
    tell(
      module,
      kind,
      handle,
      x[`${kind}_set_number`](handle, at, atLen, exactly(module, path, value)),
      path,
    );
  } else if (typeof value === 'string') {
    const [text, len] = module.place(value, atLen);
    tell(module, kind, handle, x[`${kind}_set_string`](handle, at, atLen, text, len), path);
  } else {
    throw module.error(TYPE, path);
  }
}

/**
 * Hands a recipe that may have lists to the module. Core.prepare calls it.
 * @param {Module} module
 * @param {number} handle
 * @param {RecipeJson} json
 */
export const setRecipe = (module, handle, json) => setAll(module, 'recipe', handle, '', json, json);

// ---- recipes ----

/**
 * A recipe that may describe one part of a collection, with a key of its own. It also knows batches
 * and cohorts, which a page does not need.
 */
export class KeyedRecipe extends Recipe {
  /** @param {Module} module @param {number} handle @param {RecipeJson} json */
  constructor(module, handle, json) {
    super(module, handle, json);
    module.check(module.x.recipe_info(handle, module.base)); // Recipe reserved the same bytes
    const [minimum, maxAgeS, people] = module.words(11).slice(8);
    /** @readonly */ this.batch = { minimum, maxAgeS };
    /** @readonly */ this.cohort = { minimum: people };
  }

  /**
   * The name of the collection in reports and accumulators: the recipe's name, and its part.
   * @returns {string}
   */
  get key() {
    return [this.id, ...(this.json.part ?? [])].join('/');
  }

  /** The report that carries one record. @param {string} record @returns {ReportJson} */
  report(record) {
    return { ...super.report(record), key: this.key };
  }
}
