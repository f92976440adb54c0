// SPDX-License-Identifier: Apache-2.0
// What the tests of runs share: epochs whose votes and estimates a test chooses, as closed blocks of a store, and a server that has the
// recipe of one of them, because all have one id.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { day, good } from './dashboard_site.mjs';
import { configure, get, makeFolder, run, seal, serve } from './serve_helpers.mjs';

const TOKEN = 'token-of-alice-0123456789';
const HEADER = 72;

/** @typedef {{yes: number, ones: number}} Epoch shares of the votes that say yes and of the estimates that are a one */

/** A batch of version 1. @param {string} file of the recipe @param {Buffer[]} records @param {number} i */
export function batchOf(file, records, i) {
  const hash = good('recipe', 'hash', file).trim();
  const size = records[0].length;
  const bytes = Buffer.alloc(HEADER + records.length * size + 8);
  bytes.write('shoalbat');
  bytes.writeUInt32LE(1, 8);
  bytes.writeUInt32LE(size, 12);
  bytes.writeUInt32LE(records.length, 16);
  Buffer.from(hash, 'hex').copy(bytes, 24);
  bytes.writeUInt32LE(i + 1, 56);
  Buffer.concat(records).copy(bytes, HEADER);
  return seal(bytes);
}

/** Records of an epoch; those of strings name coordinates in turn. @param {Epoch} epoch @param {number} n @param {number} projection 0 for a number */
export const recordsOf = ({ yes, ones }, n, projection) =>
  Array.from({ length: n }, (_, i) => {
    const vote = i < yes * n ? 1 : 0;
    const one = (i * 7919) % n < ones * n ? 1 : 0;
    if (projection === 0) return Buffer.from([vote, one]);
    const record = Buffer.alloc(6);
    record[0] = vote;
    record.writeUInt32LE((i * 31) % projection, 1);
    record[5] = one;
    return record;
  });

/**
 * The epochs of a run, each with the recipe that `shoal round next` made of the last one.
 * @param {string} folder @param {any} recipe of epoch 1 @param {Epoch[]} epochs
 * @param {{skip?: number[]}} [more] epochs that are not imported into the store
 */
export function importRun(folder, recipe, epochs, { skip = [] } = {}) {
  const at = (/** @type {string} */ file) => join(folder, file);
  mkdirSync(at('run'));
  const { users, projection = 0 } = recipe.parameters;
  const pair = (/** @type {number} */ i) => {
    const name = at(`run/${String(i + 1).padStart(4, '0')}`);
    return { file: `${name}.recipe.json`, acc: `${name}.acc` };
  };
  writeFileSync(pair(0).file, JSON.stringify(recipe));
  for (const [i, epoch] of epochs.entries()) {
    const { file, acc } = pair(i);
    const named = ['--recipe', file];
    writeFileSync(at('b'), batchOf(file, recordsOf(epoch, users, projection), i));
    const man = at(`${i}.man`);
    good('manifest', 'make', ...named, '--allow-old', '-o', man, at('b'));
    good('ingest', ...named, '--manifest', man, '-o', acc, at('b'));
    const into = ['--store', at('store'), '--period', day(i - epochs.length - 1)];
    if (!skip.includes(i + 1)) good('store', 'import', ...into, ...named, acc);
    const done = run('round', 'next', ...named, '-o', pair(i + 1).file, acc);
    if (done.status !== 0) throw new Error(done.stderr);
  }
  const recipes = epochs.map((_, i) => JSON.parse(readFileSync(pair(i).file, 'utf8')));
  return { recipes, next: JSON.parse(readFileSync(pair(epochs.length).file, 'utf8')), pair };
}

/**
 * A server that has one recipe of a run.
 * @param {import('node:test').TestContext} t @param {string} folder @param {any} recipe @param {object} [changes] of the configuration
 */
export async function runSite(t, folder, recipe, changes = {}) {
  writeFileSync(join(folder, 'alice'), `${TOKEN}\n`);
  const config = configure(folder, [recipe], {
    readers: [{ name: 'alice', token_file: 'alice', collections: 'all' }],
    audit_log: 'log',
    ...changes,
  });
  const { url, end } = await serve(t, config);
  const ask = (/** @type {string} */ path) => get(url + path, { authorization: `Bearer ${TOKEN}` });
  return { url, ask, end };
}

/** The recipe of a run's first epoch. @param {string} folder @param {'thresh' | 'heavythresh'} mechanism @param {string} id */
export function firstEpoch(folder, mechanism, id) {
  const file = join(folder, 'first.json');
  const shape = ['--users', '5000', '--epochs', '12', '--samples', '20000', '--epsilon', '16'];
  const more = mechanism === 'heavythresh' ? ['--projection', '64'] : [];
  const named = ['--id', id, '--mechanism', mechanism, '--expires', '2099-12-31', '-o', file];
  good('recipe', 'new', ...named, ...shape, ...more);
  return {
    ...JSON.parse(readFileSync(file, 'utf8')),
    cohort: { minimum: 1000 },
    block: { tick_s: 1 },
  };
}

export { makeFolder };
