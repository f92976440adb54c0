// SPDX-License-Identifier: Apache-2.0
// What the edge's tests share: recipes, reports, a fake aggregator. The aggregator keeps what it took over restarts of
// its server, as a durable one does, and can take a batch and break the connection before it answers.

import assert from 'node:assert/strict';
import { randomBytes, webcrypto } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { load } from 'shoal-client/node';
import { freePort } from '../../tests/ports.mjs';

export { freePort };

export const SECRET = 'a-secret-of-the-tests';
export const TOKEN = 'a-token-of-the-tests';
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** A small CMS recipe with wide records, so that two records of a test are never equal. A field changed to undefined is left out. */
export function recipeJson(change = {}) {
  const json = {
    recipe: 'edge-test',
    analysis: 'tests',
    stream: 'typed-words',
    value: 'word',
    mechanism: 'cms',
    parameters: { epsilon: 1, k: 1024, m: 256 },
    hash: 'poly1',
    seed: '5a'.repeat(32),
    limit: { per_day: 1 },
    batch: { minimum: 5, max_age_s: 1 },
    expires: '2099-12-31',
    ...change,
  };
  return JSON.parse(JSON.stringify(json));
}

export async function makeRecipe(change) {
  return (await load()).recipe(recipeJson(change));
}

export const newKey = () => randomBytes(16).toString('hex');
export const newRecord = (recipe, value = 'fish') => recipe.randomize(value, randomBytes(32));
export const newReport = (recipe) => recipe.report(newRecord(recipe));

/** A POST of a report, as a client sends it. */
export function reportInit(report, key = newKey(), headers = {}) {
  return {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key, ...headers },
    body:
      typeof report === 'string' || report instanceof Uint8Array ? report : JSON.stringify(report),
  };
}

/** Randomness from a counter: the same on every run, different at every draw. */
export function fixedCrypto(seed = 1) {
  let state = BigInt(seed);
  const mask = (1n << 64n) - 1n;
  return {
    subtle: webcrypto.subtle,
    getRandomValues(bytes) {
      for (let i = 0; i < bytes.length; i++) {
        state = (state * 6364136223846793005n + 1442695040888963407n) & mask;
        bytes[i] = Number((state >> 33n) & 255n);
      }
      return bytes;
    },
  };
}

/** How often each thing is there. */
export function multiset(things) {
  const counts = new Map();
  for (const thing of things) counts.set(thing, (counts.get(thing) ?? 0) + 1);
  return counts;
}

/** Waits until check() no longer throws; rethrows its last error. */
export async function eventually(check, timeoutMs = 60_000) {
  const end = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

export class FakeAggregator {
  /** Batch id to its recipe and record texts. */ batches = new Map();
  /** Every request as it came: method, url, headers, body. */ requests = [];
  /** Answers to give instead, first come first served: a status, or 'hang-up' after storing. */ script =
    [];
  port = 0;
  #recipes;
  #server;

  /** @param {any} recipes  what it collects: one, or a list */
  constructor(recipes) {
    this.#recipes = [recipes].flat();
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  get records() {
    return [...this.batches.values()].flatMap(({ texts }) => texts);
  }

  recordsOf(recipe) {
    return [...this.batches.values()].flatMap((batch) =>
      batch.recipe === recipe ? batch.texts : [],
    );
  }

  async start() {
    if (this.port === 0) this.port = await freePort(); // its own over restarts
    this.#server = createServer((request, response) => this.#serve(request, response));
    this.#server.listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  async stop() {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async remove() {
    if (this.#server.listening) await this.stop();
  }

  /** How many reports it has counted. */
  async count() {
    return this.records.length;
  }

  /** @param {string[]} texts */
  async expectExactly(texts) {
    assert.deepEqual(multiset(this.records), multiset(texts));
  }

  async #serve(request, response) {
    const chunks = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return; // we were stopped meanwhile
    }
    const body = new Uint8Array(Buffer.concat(chunks));
    this.requests.push({
      method: request.method,
      url: request.url,
      headers: request.rawHeaders,
      body,
    });
    const scripted = this.script.shift();
    if (typeof scripted === 'number')
      return this.#answer(response, scripted, {
        error: { code: 'scripted', number: 1, message: '' },
      });
    assert.equal(request.url, '/v1/batches');
    if (request.headers.authorization !== `Bearer ${SECRET}`)
      return this.#answer(response, 401, {});
    const recipe = this.#recipes.find(
      ({ hash }) => hash === Buffer.from(body.subarray(24, 56)).toString('hex'),
    );
    const { id, records } = recipe.openBatch(body); // throws on any damage
    const name = Buffer.from(id).toString('hex');
    const known = this.batches.has(name);
    const size = recipe.recordSize;
    const texts = Array.from({ length: records.length / size }, (_, i) =>
      recipe.recordToText(records.subarray(i * size, (i + 1) * size)),
    );
    if (known)
      assert.deepEqual(
        this.batches.get(name).texts,
        texts,
        'a repeated id has the same records in the same order',
      );
    this.batches.set(name, { recipe, texts });
    if (scripted === 'hang-up') return request.socket.destroy();
    this.#answer(response, known ? 200 : 201, { status: known ? 'known' : 'stored' });
  }

  #answer(response, status, body) {
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(body));
  }
}
