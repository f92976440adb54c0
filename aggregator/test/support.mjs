// SPDX-License-Identifier: Apache-2.0
// What the package's tests share: recipes, counts, and the two `shoal` commands, native and WASI.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const path = (/** @type {string} */ relative) => fileURLToPath(new URL(relative, import.meta.url));

export const packageFolder = path('..');
export const native = [process.env.SHOAL_NATIVE ?? path('../../build/release/shoal')];
export const wasi = [process.execPath, path('../js/shoal.js')];
for (const [file, how] of [
  [native[0], 'make native'],
  [path('../dist/shoal.wasm'), 'npm run build -w aggregator'],
]) {
  if (!existsSync(file)) throw new Error(`${file} is missing: ${how}`);
}

/** @param {import('node:test').TestContext} t */
export function temporaryFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-aggregator-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/**
 * Runs a command to its end.
 * @param {string[]} command @param {string[]} args @param {{cwd?: string, input?: Uint8Array, shell?: boolean}} [options]
 */
export function call(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command[0], [...command.slice(1), ...args], {
    maxBuffer: 1 << 28,
    ...options,
  });
  if (error) throw error;
  return { code: status, stdout: /** @type {Buffer} */ (stdout), stderr: stderr.toString() };
}

/** The same; anything but exit code 0 is an error. @type {typeof call} */
export function succeed(command, args, options) {
  const result = call(command, args, options);
  if (result.code !== 0)
    throw new Error(`${args.join(' ')}: exit ${result.code}: ${result.stderr}`);
  return result;
}

const VALUES = Array.from({ length: 40 }, (_, i) => `wört-${i}`);

const common = {
  analysis: 'test',
  stream: 's',
  value: 'word',
  limit: { per_day: 1 },
  expires: '2099-12-31',
};
const seed = '0123456789abcdef'.repeat(4);

/** A recipe of each mechanism. @type {{[mechanism: string]: {[field: string]: any}}} */
export const recipes = {
  cms: {
    recipe: 't-cms',
    ...common,
    mechanism: 'cms',
    parameters: { epsilon: 4, k: 64, m: 256 },
    hash: 'poly1',
    seed,
  },
  hcms: {
    recipe: 't-hcms',
    ...common,
    mechanism: 'hcms',
    parameters: { epsilon: 2.5, k: 32, m: 512 },
    hash: 'poly1',
    seed,
  },
  'onehot-asymmetric': {
    recipe: 't-list',
    ...common,
    value: 'item',
    mechanism: 'onehot-asymmetric',
    parameters: { epsilon: 3, values: VALUES },
  },
};

export const counts = VALUES.map((value, i) => `${value}\t${Math.round(10000 / (i + 1))}\n`).join(
  '',
);
export const dictionary = VALUES.map((value) => `${value}\n`).join('');

/** Writes recipe.json, counts.tsv and words.txt into a folder. @param {string} folder @param {string} mechanism */
export function writeInputs(folder, mechanism) {
  writeFileSync(join(folder, 'recipe.json'), JSON.stringify(recipes[mechanism]));
  writeFileSync(join(folder, 'counts.tsv'), counts);
  writeFileSync(join(folder, 'words.txt'), dictionary);
}

export const SIMULATE = [
  'simulate',
  '--recipe',
  'recipe.json',
  '--counts',
  'counts.tsv',
  '--devices',
  '5000',
  '--seed',
  'a',
];

/** Bytes of text. @param {string} text */
export const bytes = (text) => new TextEncoder().encode(text);
/** @param {Uint8Array} data */
export const text = (data) => new TextDecoder().decode(data);
