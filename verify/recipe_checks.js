// SPDX-License-Identifier: Apache-2.0
// Recipes: what the page pins, and whether the edge worker and the aggregator have the same.
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { Core } from 'shoal-client/core';
import { load, loadModule } from 'shoal-client/node';
import { jsonOf, request } from './net.js';

/**
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('shoal-client/core').Recipe} Recipe
 * @typedef {Map<string, {id: string, hash: string, json: any}>} Listed  by hash
 */

export const PROBE = 'shoal-probe';
const SOON_DAYS = 14;
export const DAY_MS = 86_400_000;

/** @type {Promise<WebAssembly.Module> | undefined} */
let compiled;

/** @param {any} json @returns {Promise<Recipe | null>} */
export async function recipeOf(json) {
  compiled ??= loadModule();
  try {
    return (await Core.create(await compiled)).recipe(json); // one core each: it holds 64 at most
  } catch {
    return null;
  }
}

/** What a service lists at /v1/recipes. @param {import('./net.js').Answer} answer @returns {Listed | null} */
export function listedIn(answer) {
  const list = answer.status === 200 ? jsonOf(answer)?.recipes : undefined;
  if (!Array.isArray(list)) return null;
  return new Map(
    list.map(({ hash, recipe }) => [
      String(hash),
      { id: String(recipe?.recipe), hash: String(hash), json: recipe },
    ]),
  );
}

/** @param {Context} context @param {string} id @param {number} expiresDay */
function judgeEnd({ report }, id, expiresDay) {
  const days = expiresDay - Math.floor(Date.now() / DAY_MS);
  if (days < 0) report.wrong('recipes', 'recipe-expired', { detail: `${id}, ${-days} days ago` });
  else if (days < SOON_DAYS)
    report.wrong('recipes', 'recipe-expires', { detail: `${id}, in ${days} days` });
}

/**
 * Reads the recipes that the page pins.
 * @param {Context} context
 * @returns {Promise<Recipe[]>}
 */
export async function pageRecipes(context) {
  const { at, report, vars } = context;
  const recipes = [];
  for (const { url, hash } of at.options?.recipes ?? []) {
    const answer = await request(url.href);
    if (!answer.ok || answer.status >= 400) {
      const why = answer.ok ? `answers ${answer.status}` : answer.why;
      report.wrong('recipes', 'recipe-missing', { ...vars, detail: `${url.href} ${why}` });
      continue;
    }
    const recipe = await recipeOf(jsonOf(answer));
    if (recipe === null) report.wrong('recipes', 'recipe-invalid', { detail: url.href });
    else if (recipe.hash !== hash)
      report.wrong('recipes', 'recipe-hash-page', {
        detail: `${recipe.id} is ${recipe.hash}, pinned is ${hash}`,
      });
    else {
      judgeEnd(context, recipe.id, recipe.expiresDay);
      recipes.push(recipe);
    }
  }
  return [...recipes, ...(await setRecipes(context))];
}

/** Reads the recipes of the set that the page pins. @param {Context} context @returns {Promise<Recipe[]>} */
async function setRecipes({ at, report }) {
  const site = at.options?.site;
  if (!site) return [];
  const answer = await request(site.url.href);
  const json = answer.ok && answer.status === 200 ? jsonOf(answer) : undefined;
  const detail = `${site.url.href}${answer.ok ? ` answers ${answer.status}` : ` ${answer.why}`}`;
  if (!Array.isArray(json?.recipes)) {
    report.wrong('recipes', 'set-refused', { detail });
    return [];
  }
  if (!(await isPinnedSet(json, site.hash))) {
    report.wrong('recipes', 'set-refused', {
      detail: `${site.url.href} has not the hash ${site.hash}`,
    });
    return [];
  }
  const recipes = await Promise.all(json.recipes.map(recipeOf));
  return recipes.filter((recipe) => recipe !== null);
}

/**
 * Asks the client itself whether it would take the set: it explains why not.
 * @param {any} json
 * @param {string} hash
 */
async function isPinnedSet(json, hash) {
  if (!/^[0-9a-f]{64}$/.test(hash)) return false; // init() throws for what is no hash
  const { init } = await import('shoal-client');
  const client = await init({
    endpoint: 'https://localhost/',
    site: { url: 'https://localhost/set', hash },
    fetch: async () => new Response(JSON.stringify(json)),
    wasm: load,
    gpc: () => false,
    automated: () => false,
  });
  await client.consent.grant();
  const reasons = await client.explain();
  await client.close();
  return reasons.every(({ code }) => !/^set-/.test(code));
}

/**
 * Compares the recipes with those of the edge worker.
 * @param {Context} context
 * @param {Recipe[]} recipes
 * @param {Listed} listed
 */
export async function checkAtEdge(context, recipes, listed) {
  const { report } = context;
  const ids = [...listed.values()];
  const before = report.results.length;
  for (const { id, hash } of recipes) {
    if (listed.has(hash)) continue;
    const other = ids.find((one) => one.id === id);
    if (other)
      report.wrong('recipes', 'recipe-hash-edge', {
        detail: `${id} is ${other.hash} there, ${hash} on the page`,
        hash,
      });
    else report.wrong('recipes', 'recipe-not-at-edge', { detail: `${id}, ${hash}`, hash });
  }
  for (const { json } of ids) {
    const recipe = await recipeOf(json);
    if (recipe) judgeEnd(context, recipe.id, recipe.expiresDay);
  }
  await pinnedButGone(context, listed);
  if (recipes.length && report.results.length === before)
    report.right(
      'recipes',
      `page and edge worker have the same: ${recipes.map(({ id }) => id).join(', ')}`,
    );
}

/** An edge lists no recipe that has expired: its configuration tells which. @param {Context} context @param {Listed} listed */
async function pinnedButGone(context, listed) {
  const { edge } = context.at.folder;
  for (const entry of Array.isArray(edge?.json?.recipes) ? edge.json.recipes : []) {
    if (!edge || typeof entry?.file !== 'string' || listed.has(entry.hash)) continue;
    const text = await readFile(resolve(dirname(edge.path), entry.file), 'utf8').catch(() => '');
    const recipe = await recipeOf(jsonOf(/** @type {any} */ ({ text })));
    if (recipe) judgeEnd(context, recipe.id, recipe.expiresDay);
  }
}

/**
 * Compares the edge worker's recipes with those of the aggregator.
 * @param {Context} context
 * @param {Listed} atEdge
 * @param {Listed} atAggregator
 */
export function checkAtAggregator({ report }, atEdge, atAggregator) {
  const before = report.results.length;
  for (const { id, hash, json } of atEdge.values()) {
    if (atAggregator.has(hash) || json?.aggregation?.protocol === 'dap' || json?.split_by) continue;
    const other = [...atAggregator.values()].find((one) => one.id === id);
    if (other)
      report.wrong('recipes', 'recipe-hash-aggregator', {
        detail: `${id} is ${other.hash} there, ${hash} at the edge`,
      });
    else report.wrong('recipes', 'recipe-not-at-aggregator', { detail: `${id}, ${hash}` });
  }
  if (report.results.length === before)
    report.right('recipes', 'edge worker and aggregator have the same');
}

/**
 * Whether the minimums are reached with so many visitors a day.
 * @param {Context} context
 * @param {any[]} recipes  JSON
 * @param {number} visitors
 */
export function checkMinimums({ report }, recipes, visitors) {
  const before = report.results.length;
  const today = Math.floor(Date.now() / DAY_MS);
  for (const json of recipes) {
    if (json.recipe === PROBE) continue;
    const perDay = visitors * (json.limit?.per_day ?? 1) * (json.send?.sample ?? 1);
    const left = Math.floor(Date.parse(`${json.expires}T00:00:00Z`) / DAY_MS) - today + 1;
    const { batch, cohort } = minimumsOf(json);
    const told = (/** @type {number} */ n) =>
      `${json.recipe} needs ${n}, and ${Math.floor(perDay * left)} reports at most come in the ${left} days until it ends`;
    if (perDay * left < batch) report.wrong('minimums', 'minimum-batch', { detail: told(batch) });
    else if (perDay * left < cohort)
      report.wrong('minimums', 'minimum-cohort', { detail: told(cohort) });
  }
  if (report.results.length === before)
    report.right('minimums', `${visitors} visitors a day reach the minimums of every recipe`);
}

/** With the defaults of docs/formats.md. @param {any} json */
export const minimumsOf = (json) => ({
  batch: json.batch?.minimum ?? 500,
  cohort: json.cohort?.minimum ?? 1000,
});
