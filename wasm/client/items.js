// SPDX-License-Identifier: Apache-2.0
// Converts what a page hands over into what a recipe counts: one value, or the values of several
// variables. Keeps nothing.
import { encoder } from '../bindings/device.js';
import { applyTextRule } from '../bindings/text.js';
import { chunk, toldAs } from './basics.js';

/**
 * @typedef {import('../bindings/joint_core.js').Items} Items
 * @typedef {Pick<import('../bindings/device.js').Recipe, 'valueKind' | 'text' | 'isNumber' |
 *   'isOpen' | 'values' | 'bytesMax'> & {items?: Items}} Counted what a recipe, or one of its
 *   variables, says of its values
 * @typedef {import('./client_options.js').Dependencies['sites']} Sites
 */

/** Does the recipe count hosts or sites? @param {{valueKind: string}} recipe */
export const countsAddresses = ({ valueKind }) => valueKind === 'host' || valueKind === 'site';

/**
 * Returns the value as the recipe counts it, or the code that says why it is not counted.
 * @param {Counted} recipe
 * @param {any} value
 * @param {Sites} sites the list of registrable domains
 * @returns {Promise<{value?: any, code?: string}>}
 */
export async function itemOf(recipe, value, sites) {
  if (recipe.items) return recipe.items(value, (variable, each) => itemOf(variable, each, sites));
  if (recipe.isNumber) return Number.isFinite(value) ? { value } : { code: 'not-a-number' };
  if (typeof value !== 'string') {
    if (recipe.isOpen) return { code: 'text-rule' };
    // Whatever a page hands over for a list is counted. A mistake of the page (undefined, an
    // object) counts as none of the list, because silence would be a message.
    return { value: typeof value === 'number' ? value : null };
  }
  if (!countsAddresses(recipe)) return ruledItem(recipe, value);
  const name = await nameOf(recipe.valueKind, value, sites);
  return name.code ? name : ruledItem(recipe, name.value);
}

/** @param {string} kind @param {string} address @param {Sites} sites */
async function nameOf(kind, address, sites) {
  try {
    const { nameOf: name } = await chunk(import('./address.js'));
    return await name(kind, address, sites);
  } catch (error) {
    return { value: '', code: toldAs(error).code };
  }
}

/**
 * Applies the recipe's text rule.
 * @param {Counted} recipe
 * @param {string} text
 */
function ruledItem(recipe, text) {
  // Listed items are matched as the recipe writes them. Words and strings are matched after its
  // text rule.
  const isListedItem = recipe.valueKind === 'item' && recipe.values;
  const ruled = isListedItem ? text : applyTextRule(text, recipe.text);
  if (!recipe.isOpen) return { value: recipe.values && ruled };
  if (ruled === null) return { code: 'text-rule' };
  return encoder.encode(ruled).length > recipe.bytesMax ? { code: 'too-long' } : { value: ruled };
}
