// SPDX-License-Identifier: Apache-2.0
// `shoal-edge --check`: reads everything that a configuration names, and reports every problem, not
// only the first. It opens no port, sends nothing and writes nothing.

import { dirname, join, resolve } from 'node:path';
import { CheckReport } from 'shoal-relay/check-report';
import { readFile } from 'shoal-relay/reload';
import { FIELDS, parse, readConfig, readCredentials, readRecipes, readSecret } from './config.js';
import { checkLake } from './bucket.js';
import { Gateway } from './gateway.js';
import { pinRecipes } from './recipes.js';
import { tokensOf } from './tokens.js';

/**
 * @typedef {import('./config.js').Config} Config
 * @typedef {{createCore: () => Promise<import('shoal-client/core').Core>, loadDapModule: () =>
 *   Promise<WebAssembly.Module>}} Loaders
 */

const SECRETS = ['batch_secret_file', 'admin_token_file'];
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * @param {string} path  the configuration
 * @param {Loaders} loaders
 * @returns {Promise<CheckReport>}
 */
export async function checkEdge(path, loaders) {
  const report = new CheckReport();
  const json = await report.attempt(async () => parse(await readFile(path, 'utf8'), path));
  if (json === undefined) return report;
  report.fields(json, FIELDS, path);
  const config = report.problems.length ? undefined : await report.attempt(() => readConfig(path));
  const folder = dirname(path);
  for (const name of SECRETS)
    if (typeof json?.[name] === 'string') {
      await report.attempt(() => readSecret(resolve(folder, json[name])), name);
      await report.privateFile(resolve(folder, json[name]));
    }
  const credentials = json?.bucket?.credentials_file;
  if (typeof credentials === 'string')
    await report.attempt(() => readCredentials(resolve(folder, credentials)), 'bucket');
  const pins = config?.recipes ?? (await pinsOf(report, json, folder));
  const recipes = await checkRecipes(report, pins, config?.recipeKeys, loaders);
  if (typeof json?.spool === 'string') await report.folder(resolve(folder, json.spool), 'spool');
  if (config) await checkConfig(report, config, recipes);
  return report;
}

/** Reads the recipes one by one. @param {CheckReport} report @param {any} json @param {string} folder */
async function pinsOf(report, json, folder) {
  const pins = [];
  for (const entry of Array.isArray(json?.recipes) ? json.recipes : [])
    pins.push(...((await report.attempt(() => readRecipes([entry], folder))) ?? []));
  return pins;
}

/**
 * @param {CheckReport} report
 * @param {Config['recipes']} pins
 * @param {string[] | undefined} keys
 * @param {Loaders} loaders
 */
async function checkRecipes(report, pins, keys, { createCore, loadDapModule }) {
  const before = report.problems.length;
  /** @type {import('shoal-client/core').Recipe[]} */
  const recipes = [];
  for (const pin of pins) {
    const pinned = await report.attempt(() => pinRecipes([pin], createCore, keys, loadDapModule));
    for (const recipe of pinned?.recipes ?? []) {
      report.right.push(`recipe ${recipe.id} (${recipe.hash.slice(0, 16)}...)`);
      report.expiry(recipe.id, recipe.expiresDay);
      recipes.push(recipe);
    }
  }
  if (report.problems.length === before)
    await report.attempt(() => pinRecipes(pins, createCore, keys, loadDapModule)); // as a whole
  return recipes;
}

/**
 * @param {CheckReport} report
 * @param {Config} config
 * @param {import('shoal-client/core').Recipe[]} recipes
 */
async function checkConfig(report, config, recipes) {
  await report.attempt(() => tokensOf(config.tokenKeys, recipes, config.limits.keyGraceS));
  const { gateway, log, origins, aggregator, bucket } = config;
  if (bucket) await report.attempt(async () => checkLake(recipes), 'bucket');
  if (gateway) await report.attempt(() => Gateway.open(gateway), 'gateway');
  for (const name of log === undefined ? [] : ['checkpoint', 'keys'])
    await report.attempt(
      () => readFile(join(/** @type {string} */ (log), name), 'utf8'),
      `log ${name}`,
    );
  for (const [url, what] of [
    [aggregator, 'aggregator: the batch secret travels'],
    [bucket?.url, 'bucket: batches travel'],
  ])
    if (url !== undefined && isOpen(url))
      report.note(`${what} unencrypted`, 'give an https URL, or a network that nobody else is on');
  if (!origins.length)
    report.note(
      'origins: only pages of the same origin as the edge may report',
      'add the origin of the page, such as "https://www.example.org", to origins',
    );
  else report.right.push(`pages of ${origins.join(', ')} may report`);
}

/** @param {string} url */
function isOpen(url) {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !LOOPBACK.test(hostname);
}
