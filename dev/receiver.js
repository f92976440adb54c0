// SPDX-License-Identifier: Apache-2.0
// The trial's aggregator without `shoal serve`: takes the edge's batches under their secret, keeps them
// as files, and has the aggregator's commands fold them at ticks. As there, a block closes when it has
// the minimum of reports, and results are of closed blocks alone.
import { timingSafeEqual } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { callWorker } from './call_worker.js';

/**
 * @typedef {import('./folder.js').TrialRecipe} TrialRecipe
 *
 * @typedef {object} Updated  a chart's new content
 * @property {TrialRecipe} recipe
 * @property {any} result  as `shoal estimate --format json` prints it; null: too few reports
 * @property {number} folded  records of the block that was closed; 0: only asked anew
 * @property {number} batches
 * @property {number} ms
 *
 * @typedef {object} Aggregator
 * @property {string} url  that takes batches
 * @property {(recipe: TrialRecipe) => void} refresh  asks for the result again
 * @property {() => Promise<void>} close
 */

const MAGIC = 'shoalbat';
const HEADER = 72; // bytes of a batch before its records, of version 1, which has fewer
const COUNT_AT = 16;
const HASH_AT = 24;
const ID_AT = 56;
const BODY_MAX = 64 << 20;
const TICK_MS = 1000;
const MANY = 5000;
const QUIET = 3;

/** @param {import('node:http').IncomingMessage} incoming @returns {Promise<Buffer | null>} null: too large */
async function bodyOf(incoming) {
  const pieces = [];
  let size = 0;
  for await (const piece of incoming) {
    size += piece.length;
    if (size > BODY_MAX) return null;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** @param {string | undefined} given @param {string} secret */
function isSecret(given, secret) {
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(`Bearer ${secret}`)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/**
 * @param {object} options
 * @param {TrialRecipe[]} options.recipes
 * @param {string} options.folder  temporary
 * @param {string} options.secret
 * @param {(updated: Updated) => void} options.onUpdate
 * @param {(error: Error) => void} options.onError
 * @returns {Promise<Aggregator>}
 */
export async function startReceiver({ recipes, folder, secret, onUpdate, onError }) {
  /** @type {import('./call_worker.js').Caller<import('./aggregator_worker.js').Answer>} */
  const worker = callWorker(new URL('./aggregator_worker.js', import.meta.url));
  const collections = new Map(
    recipes.map((recipe) => [
      recipe.hash,
      {
        recipe,
        known: new Set(),
        /** Batches of the open block. @type {{file: string, count: number}[]} */ open: [],
        before: 0, // reports of the open block at the last tick
        quiet: 0, // ticks since then
        isBusy: false,
        isAsked: false,
        hasSums: false,
      },
    ]),
  );

  /** Keeps a batch. @param {Buffer} batch @returns {Promise<[number, object]>} status and answer */
  async function take(batch) {
    const collection =
      batch.length >= HEADER && batch.toString('latin1', 0, 8) === MAGIC
        ? collections.get(batch.toString('hex', HASH_AT, HASH_AT + 32))
        : undefined;
    if (collection === undefined) return [404, { error: { code: 'recipe-hash' } }];
    const id = batch.toString('hex', ID_AT, ID_AT + 16);
    if (collection.known.has(id)) return [200, { status: 'known' }];
    const file = join(folder, `${id}.batch`);
    await writeFile(file, batch, { mode: 0o600 });
    collection.known.add(id);
    collection.open.push({ file, count: batch.readUInt32LE(COUNT_AT) });
    return [201, { status: 'stored' }];
  }

  const server = createServer(async (incoming, outgoing) => {
    const answer = (/** @type {number} */ status, /** @type {object} */ body) =>
      outgoing.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    try {
      if (incoming.method !== 'POST' || incoming.url !== '/v1/batches')
        return answer(404, { error: { code: 'route' } });
      if (!isSecret(incoming.headers.authorization, secret))
        return answer(401, { error: { code: 'unauthorized' } });
      const body = await bodyOf(incoming);
      if (body === null) return answer(413, { error: { code: 'body-size' } });
      return answer(...(await take(body)));
    } catch {
      return answer(500, { error: { code: 'internal' } });
    }
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(undefined));
  });

  /** Closes the open block if it holds the minimum, and asks for the result. @param {string} hash */
  async function tick(hash) {
    const held = collections.get(hash);
    if (held === undefined || held.isBusy) return;
    const { recipe, open } = held;
    const count = open.reduce((sum, each) => sum + each.count, 0);
    // A discovery takes seconds, so it waits until no more reports come, or many are there.
    held.quiet = count === held.before ? held.quiet + 1 : 0;
    held.before = count;
    const isGrowing = recipe.kind === 'discovery' && held.quiet < QUIET && count < MANY;
    const closes = count > 0 && count >= recipe.json.cohort.minimum && !isGrowing;
    if (!closes && !(held.isAsked && held.hasSums)) return;
    held.isBusy = true;
    held.isAsked = false;
    if (closes) held.open = [];
    try {
      const { result, error, foldMs, estimateMs } = await worker.ask({
        recipe: recipe.json,
        batches: closes ? open.map(({ file }) => file) : [],
        accumulator: join(folder, `${hash}.acc`),
        words: recipe.kind === 'strings' ? recipe.words : null,
        discovers: recipe.kind === 'discovery',
      });
      if (error !== undefined) throw new Error(error);
      held.hasSums = true;
      onUpdate({
        recipe,
        result,
        folded: closes ? count : 0,
        batches: closes ? open.length : 0,
        ms: foldMs + estimateMs,
      });
    } catch (error) {
      if (!isClosed) onError(/** @type {Error} */ (error));
    } finally {
      held.isBusy = false;
    }
  }

  let isClosed = false;
  const timer = setInterval(() => {
    for (const hash of collections.keys()) void tick(hash);
  }, TICK_MS);
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    refresh({ hash }) {
      const held = collections.get(hash);
      if (held) held.isAsked = true;
      void tick(hash);
    },
    async close() {
      isClosed = true;
      clearInterval(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(() => resolve(undefined)));
      await worker.close();
    },
  };
}
