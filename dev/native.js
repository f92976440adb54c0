// SPDX-License-Identifier: Apache-2.0
// The trial's aggregator with --native: `shoal serve`, as in production, in a temporary store. The
// program is that of the platform package, or the one in PATH.
import { spawn } from 'node:child_process';
import { access, constants, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';

/** @typedef {import('./folder.js').TrialRecipe} TrialRecipe */

const START_MS = 15_000;
const STOP_MS = 10_000;
const ASK_MS = 1000;
const OK = 200;

/** The name of the package that carries the server for this platform. */
export const platformPackage = () => `shoal-${process.platform}-${process.arch}`;

/** @param {string} file @returns {Promise<boolean>} */
const canRun = (file) =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );

/**
 * Finds the program `shoal`: SHOAL_BIN, the platform's package, or PATH. The commands in WebAssembly
 * have that name too, and cannot serve; they are passed over.
 * @param {{[name: string]: string | undefined}} env
 * @returns {Promise<string | null>}
 */
export async function findProgram(env = process.env) {
  if (env.SHOAL_BIN) return env.SHOAL_BIN;
  const packaged = packagedProgram();
  if (packaged !== null && (await canRun(packaged))) return packaged;
  const name = process.platform === 'win32' ? 'shoal.exe' : 'shoal';
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    const file = join(folder, name);
    if (folder !== '' && !folder.includes('node_modules') && (await canRun(file))) return file;
  }
  return null;
}

/** @returns {string | null} */
function packagedProgram() {
  try {
    const name = platformPackage();
    const about = createRequire(import.meta.url).resolve(`${name}/package.json`);
    return join(dirname(about), 'bin', 'shoal');
  } catch {
    return null;
  }
}

/**
 * Starts the server, and resolves once it listens.
 * @param {string} program @param {string} config  file
 */
async function startServe(program, config) {
  // A process group of its own, so that Ctrl-C reaches it only through close().
  const child = spawn(program, ['serve', '--config', config], {
    detached: process.platform !== 'win32',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.stderr.setEncoding('utf8').on('data', (text) => (said = (said + text).slice(-4000)));
  const url = await new Promise((resolve, reject) => {
    const fail = (/** @type {string} */ why) =>
      reject(new Error(`${program} serve ${why}${said && `:\n${said.trim()}`}`));
    const timer = setTimeout(() => fail('did not start'), START_MS);
    child.once('error', (error) => fail(`cannot run: ${error.message}`));
    void ended.then((code) => fail(`ended with ${code}`));
    child.stderr.on('data', () => {
      const found = /listening on (http:\S+?)\/?\s/.exec(`${said} `)?.[1];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    });
  });
  const close = async () => {
    child.kill();
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(timer);
  };
  return { url: String(url), close, kill: () => child.kill('SIGKILL') };
}

/**
 * @param {object} options
 * @param {TrialRecipe[]} options.recipes
 * @param {string} options.folder  temporary
 * @param {string} options.secret
 * @param {string} options.program
 * @param {(updated: import('./receiver.js').Updated) => void} options.onUpdate
 * @param {(error: Error) => void} options.onError
 * @returns {Promise<import('./receiver.js').Aggregator & {kill: () => void}>}
 */
export async function startNative({ recipes, folder, secret, program, onUpdate, onError }) {
  const isListed = (/** @type {TrialRecipe} */ { kind, words }) =>
    kind === 'strings' && words.length > 0;
  await writeFile(join(folder, 'batch.secret'), `${secret}\n`, { mode: 0o600 });
  for (const recipe of recipes) {
    await writeFile(join(folder, `${recipe.json.recipe}.json`), JSON.stringify(recipe.json));
    await writeFile(join(folder, `${recipe.json.recipe}.txt`), `${recipe.words.join('\n')}\n`);
  }
  const config = {
    listen: '127.0.0.1:0',
    store: 'store',
    recipes: recipes.map(({ json }) => `${json.recipe}.json`),
    dictionaries: Object.fromEntries(
      recipes.filter(isListed).map(({ json }) => [json.recipe, `${json.recipe}.txt`]),
    ),
    batch_secret_file: 'batch.secret',
    period: 'all',
    fold_interval_s: 0.5,
  };
  await writeFile(join(folder, 'serve.json'), JSON.stringify(config, null, 2));
  const server = await startServe(program, join(folder, 'serve.json'));
  /** Records that the last result counted, by recipe. @type {Map<string, number>} */
  const counted = new Map();

  /** @param {TrialRecipe} recipe */
  async function ask(recipe) {
    const start = Date.now();
    const response = await fetch(`${server.url}/v1/results/${recipe.json.recipe}`);
    const result = await response.json();
    const before = counted.get(recipe.hash) ?? 0;
    if (response.status !== OK || result.n === before) return;
    counted.set(recipe.hash, result.n);
    onUpdate({ recipe, result, folded: result.n - before, batches: 0, ms: Date.now() - start });
  }
  let isClosed = false;
  const askAll = () => {
    for (const recipe of recipes) ask(recipe).catch((error) => isClosed || onError(error));
  };
  const timer = setInterval(askAll, ASK_MS);
  return {
    url: server.url,
    refresh: () => {}, // the next question comes within a second, of the words that it started with
    kill: server.kill,
    async close() {
      isClosed = true;
      clearInterval(timer);
      await server.close();
    },
  };
}
