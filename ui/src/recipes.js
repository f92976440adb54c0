// SPDX-License-Identifier: Apache-2.0
// The recipes of a page, read from the options of its client without loading the client.

const FILE_MAX = 1 << 20;

/**
 * Reads a file that the page pins. Only files of the page's own origin are asked for: whoever else
 * serves one would learn that somebody is about to be asked.
 * @param {string} url
 */
async function fetched(url) {
  const from = new URL(url, document.baseURI);
  if (from.origin !== location.origin)
    throw new Error(`${from} is of another origin: give it inline`);
  const response = await fetch(from, { credentials: 'omit', referrerPolicy: 'no-referrer' });
  const text = await response.text();
  if (!response.ok || text.length > FILE_MAX) throw new Error(`${from}: ${response.status}`);
  return JSON.parse(text);
}

/**
 * Reads the recipes, and the budget of a site's set. Rejects if one cannot be read.
 * @param {any} options of start()
 * @returns {Promise<{recipes: any[], budget: {epsilon: number, days: number} | null}>}
 */
export async function recipesOf({ recipes, site }) {
  const set = site ? (site.recipes ? site : await fetched(site.url)) : { recipes };
  const read = (/** @type {any} */ each) => (each.recipe ? each : fetched(each.url));
  return { recipes: await Promise.all(set.recipes.map(read)), budget: set.budget ?? null };
}
