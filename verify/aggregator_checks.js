// SPDX-License-Identifier: Apache-2.0
// The aggregator: that it is there and well, has the same secret as the edge worker, and the same
// recipes.
import { readFile } from 'node:fs/promises';
import { isHealth, metricsOf } from './edge_checks.js';
import { jsonOf } from './net.js';
import { PROBE, listedIn } from './recipe_checks.js';
import { fileOf, secretOf } from './setup.js';

/** @typedef {import('./context.js').Context} Context */

const SECRET = /^[\x21-\x7e]{16,}$/;

/**
 * @param {Context} context
 * @returns {Promise<import('./recipe_checks.js').Listed | null>}  its recipes
 */
export async function checkAggregator(context) {
  const { at, report } = context;
  const base = /** @type {URL} */ (at.aggregator);
  const health = await context.reach('aggregator', new URL('healthz', base), isHealth);
  if (health === null) return null;
  const { status } = jsonOf(health);
  if (status === 'damaged') report.wrong('aggregator', 'aggregator-damaged');
  else if (status === 'fold-failing') report.wrong('aggregator', 'aggregator-fold-failing');
  else report.right('aggregator', `${base.href} answers`);
  if (at.secrets.batch !== null && !report.has('secret-unreadable'))
    await checkSecret(context, base, at.secrets.batch);
  const token = at.secrets.reader ?? at.secrets.aggregator;
  const headers = token === null ? undefined : { Authorization: `Bearer ${token}` };
  const answer = await context.ask('aggregator', new URL('v1/recipes', base), { headers });
  if (at.secrets.aggregator !== null) await metricsOf(context, 'aggregator'); // it judges the token
  const listed = answer && listedIn(answer);
  return listed?.size ? listed : null;
}

/**
 * Sends an empty batch with the secret. The aggregator looks at the secret first, and refuses the
 * batch as cut off, so nothing is stored.
 * @param {Context} context
 * @param {URL} base
 * @param {string} secret
 */
async function checkSecret(context, base, secret) {
  const { report } = context;
  const answer = await context.ask('aggregator', new URL('v1/batches', base), {
    method: 'POST',
    headers: { 'Content-Type': 'application/octet-stream', Authorization: `Bearer ${secret}` },
    body: '',
  });
  if (answer === null) return;
  if (answer.status === 401)
    report.wrong('secret', 'secret-differs', {
      detail: "the aggregator refuses the edge worker's",
    });
  else if (answer.status === 400)
    report.right('secret', "the aggregator takes the edge worker's secret");
  else if (answer.status === 503)
    report.wrong('aggregator', 'aggregator-store', { detail: 'it answers 503 to batches' });
  else report.unknown('secret', `the aggregator answers ${answer.status} to an empty batch`);
}

/**
 * Compares the two files of a folder. Neither is ever printed.
 * @param {Context} context
 */
export async function checkSecretFiles({ at, report }) {
  const { edge, aggregator } = at.folder;
  const files = [fileOf(edge, 'batch_secret_file'), fileOf(aggregator, 'batch_secret_file')];
  for (const file of new Set(files)) {
    if (file === undefined) continue;
    const secret = await secretOf(file);
    if (secret === null || !SECRET.test(secret)) {
      const why = secret === null ? 'cannot be read' : 'has fewer than 16 printable characters';
      return report.wrong('secret', 'secret-unreadable', { detail: `${file} ${why}` });
    }
  }
  if (files.includes(undefined) || files[0] === files[1]) return;
  const sent = await secretOf(files[0]);
  const taken = (await readFile(/** @type {string} */ (files[1]), 'utf8')).split(/\r?\n/);
  if (!taken.includes(String(sent)))
    report.wrong('secret', 'secret-differs', {
      detail: `${files[0]} is none of those in ${files[1]}`,
    });
}

/**
 * Recipes of open domains show results for a dictionary's values only.
 * @param {Context} context
 * @param {Iterable<{id: string, json: any}>} recipes
 */
export function checkDictionaries({ at, report }, recipes) {
  const { aggregator } = at.folder;
  if (!aggregator?.json) return;
  for (const { id, json } of recipes) {
    const { values, size, low } = json?.parameters ?? {};
    const isOpen = values === undefined && size === undefined && low === undefined;
    const isFound =
      /sfp|trie|ngram/.test(json?.mechanism ?? '') || json?.variables || json?.encoding;
    if (id === PROBE || !isOpen || isFound || aggregator.json.dictionaries?.[id]) continue;
    report.wrong('recipes', 'dictionary-missing', { detail: id, recipe: id });
  }
}
