// SPDX-License-Identifier: Apache-2.0
// The edge's routes under random input. A report is taken if and only if a second reading of its
// bytes, written here from docs/formats.md, takes it; what reaches the store is exactly its record.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { load } from 'shoal-client/node';
import { REPORT_REFUSALS } from '../../edge/errors.js';
import { answer } from '../../edge/handler.js';
import { Tokens, tokensOf } from '../../edge/tokens.js';
import { newsRecipe } from '../../wasm/test/fixtures.mjs';
import { bytes, changedBytes, changedJson, pieces } from './inputs.mjs';

/** The edge's own helpers, which have no types. @param {string} name */
const helpers = (name) => import(new URL(`../../edge/test/${name}`, import.meta.url).href);
const { directoryFor, headerOf, keyOfToken, keysFor, newToken } =
  await helpers('token_support.mjs');
const { recipeJson } = await helpers('support.mjs');

const NOON = Date.UTC(2029, 0, 1, 12);
const SLACK = 1024;
const CODES = new Set(REPORT_REFUSALS.keys());
const ADMIN = 'a-token-of-the-operator';

/** Small recipes of several shapes of records. */
async function recipesOfTests() {
  const core = await load();
  const item = { value: 'item', hash: undefined, seed: undefined };
  const values = ['light', 'dark', 'auto'];
  return [
    recipeJson({ recipe: 'cms', parameters: { epsilon: 4, k: 16, m: 32 } }),
    recipeJson({ recipe: 'grr', mechanism: 'grr', ...item, parameters: { epsilon: 2, values } }),
    recipeJson({
      recipe: 'bits',
      mechanism: 'onehot-asymmetric',
      ...item,
      parameters: { epsilon: 2, values },
    }),
    newsRecipe({ records: undefined, expires: '2099-12-31' }),
  ].map((json) => core.recipe(JSON.parse(JSON.stringify(json))));
}

/** @param {any} recipe */
const valueOf = ({ variables }) => (variables ? { section: 'sport', age: 'old' } : 'dark');

/** @param {any[]} recipes */
function edgeOf(recipes) {
  /** @type {{hash: string, record: Uint8Array, key: string}[]} */
  const taken = [];
  const collections = new Map(
    recipes.map((recipe) => [
      recipe.hash,
      {
        recipe,
        accept: async (/** @type {Uint8Array} */ record, /** @type {string} */ key) => {
          taken.push({ hash: recipe.hash, record, key });
          return /** @type {const} */ ('accepted');
        },
        stats: async () => ({}),
        retryQuarantined: async () => 0,
      },
    ]),
  );
  const deps = { collections, recipes, origins: ['https://site.example'], now: () => NOON };
  return { deps, taken };
}

/** Reads a report as docs/formats.md writes it: the record, or null. @param {Uint8Array} body @param {any[]} recipes */
function recordOf(body, recipes) {
  const longest = Math.max(...recipes.map(({ textSize }) => textSize));
  if (body.length > longest + SLACK) return null;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
    const report = JSON.parse(text);
    const { key, recipe_hash: hash, parameters, records } = report;
    const recipe = recipes.find((each) => each.hash === hash);
    const names = Object.keys(report).sort().join();
    if (!recipe || names !== 'key,parameters,recipe_hash,records' || key !== recipe.key)
      return null;
    if (typeof parameters !== 'object' || Array.isArray(parameters)) return null;
    const given = Object.entries(parameters);
    const isSame = given.every(([name, value]) => recipe.parameters[name] === value);
    if (!isSame || given.length !== Object.keys(recipe.parameters).length) return null;
    if (!Array.isArray(records) || records.length !== 1) return null;
    const [record] = records;
    if (typeof record !== 'string' || record.length !== recipe.textSize) return null;
    return { recipe, record: recipe.recordFromText(record) };
  } catch {
    return null;
  }
}

/** A request as a host gives it. @param {any} given */
function incoming({ method, url, headers, body, cuts, length }) {
  const all = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  if (length !== undefined) all.set('content-length', String(length));
  return {
    method,
    url,
    headers: { get: (/** @type {string} */ name) => all.get(name) ?? null },
    body: body === null ? null : { getReader: () => pieces(body, cuts) },
    ...(body !== null && length === body.length && { arrayBuffer: async () => body }),
  };
}

const KEY = '0123456789abcdef'.repeat(2);
const REPORT = { 'Content-Type': 'application/json', 'Idempotency-Key': KEY };

/** What any answer must be. @param {{status: number, headers: any, body: any}} said @param {string} marker of the request */
function isWellFormed({ status, headers, body }, marker) {
  assert.ok(status >= 200 && status < 600);
  assert.equal(headers['X-Content-Type-Options'], 'nosniff');
  const text = body === null ? '' : Buffer.from(body).toString();
  assert.ok(!text.includes(marker), 'no part of a request is in an answer');
  assert.ok(!JSON.stringify(headers).includes(marker), 'nor in its headers');
  if (status < 400 || headers['Content-Type']?.startsWith('text/html')) return null;
  const { code, number, message } = JSON.parse(text).error;
  assert.ok(Number.isInteger(number) && message.length > 0);
  assert.notEqual(code, 'internal');
  return code;
}

/** @type {import('./run.mjs').Property} */
const reports = {
  name: 'edge reports',
  wanted: 1e7,
  async make() {
    const recipes = await recipesOfTests();
    const zeros = new Uint8Array(32);
    const whole = recipes.map((recipe) =>
      recipe.report(recipe.randomize(valueOf(recipe), zeros, zeros)),
    );
    for (const [i, report] of whole.entries()) {
      const read = recordOf(Buffer.from(JSON.stringify(report)), recipes);
      assert.equal(read?.recipe, recipes[i], 'the second reading takes whole reports');
    }
    const body = fc
      .constantFrom(...whole)
      .chain((report) =>
        fc.oneof(
          { arbitrary: fc.constant(Buffer.from(JSON.stringify(report))), weight: 1 },
          { arbitrary: changedBytes(Buffer.from(JSON.stringify(report))), weight: 4 },
          { arbitrary: changedJson(report), weight: 4 },
          { arbitrary: bytes(300), weight: 1 },
        ),
      );
    const stated = fc.constantFrom('right', 'none', 'more', 'less');
    const cuts = fc.array(fc.nat(400), { maxLength: 4 });
    return fc.asyncProperty(body, stated, cuts, async (body, stated, cuts) => {
      const { deps, taken } = edgeOf(recipes);
      const more = { right: 0, more: 7, less: -7, none: NaN }[stated];
      const length = Number.isNaN(more) ? undefined : Math.max(0, body.length + more);
      const url = 'https://edge.example/v1/reports';
      const request = { method: 'POST', url, headers: REPORT, body, cuts, length };
      const said = await answer(incoming(request), deps);
      const code = isWellFormed(said, 'zzzz');
      const wanted = recordOf(body, recipes);
      assert.equal(said.status === 202, wanted !== null, `${code}: ${body}`);
      if (wanted === null) {
        assert.ok(code !== null && CODES.has(code) && taken.length === 0, `${code}`);
      } else {
        const [{ hash, record, key }] = taken;
        assert.deepEqual([hash, key, taken.length], [wanted.recipe.hash, KEY, 1]);
        assert.deepEqual(Buffer.from(record), Buffer.from(wanted.record));
      }
      return true;
    });
  },
};

const MARKER = 'qqmarkerqq';
const PATHS = [
  '/v1/reports',
  '/v1/recipes',
  `/v1/recipes/${'a'.repeat(64)}`,
  '/v1/queries',
  '/healthz',
  '/metrics',
  '/delivery',
  '/v1/quarantine/retry',
  `/tasks/${'A'.repeat(43)}/reports`,
  '/ohttp',
  '/log/checkpoint',
  '/',
];

/** @type {import('./run.mjs').Property} */
const requests = {
  name: 'edge requests',
  wanted: 1e7,
  async make() {
    const recipes = await recipesOfTests();
    const text = fc.oneof(
      fc.string({ unit: 'binary-ascii', maxLength: 40 }),
      fc.constantFrom(MARKER, `Bearer ${MARKER}`, 'application/json', KEY, '*', 'null', ''),
    );
    const headers = fc.dictionary(
      fc.constantFrom('content-type', 'idempotency-key', 'authorization', 'origin', 'cookie'),
      text,
    );
    const path = fc.oneof(
      fc.constantFrom(...PATHS),
      fc.tuple(fc.constantFrom(...PATHS), fc.webQueryParameters()).map(([p, q]) => `${p}?${q}`),
      fc.webPath().map((p) => `/${MARKER}${p}`),
    );
    const method = fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'OPTIONS', 'DELETE', MARKER);
    const body = fc.option(bytes(200));
    return fc.asyncProperty(method, path, headers, body, async (method, path, headers, body) => {
      const { deps, taken } = edgeOf(recipes);
      const url = `https://edge.example${path}`;
      const request = incoming({ method, url, headers, body, cuts: [] });
      const open = { ...deps, adminToken: ADMIN };
      const said = await answer(request, open);
      isWellFormed(
        { ...said, headers: { ...said.headers, 'Access-Control-Allow-Origin': '' } },
        MARKER,
      );
      assert.equal(taken.length, 0);
      assert.ok(!String(said.body).includes(ADMIN));
      const asked = new URL(url).pathname;
      const isGuarded = ['/metrics', '/v1/quarantine/retry'].includes(asked);
      if (isGuarded && method !== 'OPTIONS') assert.ok([401, 405].includes(said.status));
      const origin = said.headers['Access-Control-Allow-Origin'];
      if (origin !== undefined && origin !== '*')
        assert.ok(['https://site.example', 'https://edge.example'].includes(origin), origin);
      return true;
    });
  },
};

/** @type {import('./run.mjs').Property} */
const tokens = {
  name: 'edge tokens',
  wanted: 1e6,
  async make() {
    const core = await load();
    const json = recipeJson({ send: { token: 'https://issuer.example', delay_s: 0 } });
    const recipe = core.recipe(json);
    const day = Math.floor(NOON / 86_400_000);
    const keys = await keysFor(recipe, [day - 9, day, day + 9]);
    const checker = /** @type {Tokens} */ (await tokensOf(directoryFor(keys), [recipe]));
    const good = await newToken(keys[1]);
    const others = [await newToken(keys[0]), await newToken(keys[2])];
    const header = fc.oneof(
      fc.constant(good),
      fc.constantFrom(...others),
      changedBytes(good),
      bytes(354, 354),
    );
    const written = fc.constantFrom('as it is', 'padded', 'upper', 'quoteless', 'doubled');
    const ownKey = fc.boolean();
    return fc.asyncProperty(header, written, ownKey, async (token, written, isOwn) => {
      const text = headerOf(Buffer.from(token));
      const header = {
        'as it is': text,
        padded: `${text} `,
        upper: text.toUpperCase(),
        quoteless: text.replaceAll('"', ''),
        doubled: `${text}, ${text}`,
      }[written];
      const key = isOwn ? keyOfToken(Buffer.from(token)) : KEY;
      const isGood = Buffer.compare(Buffer.from(token), good) === 0;
      const isWanted = isGood && isOwn && written === 'as it is';
      /** @type {any} */
      const refusal = await checker.check(recipe, header, key, NOON).catch((error) => error);
      if (isWanted) assert.equal(refusal, undefined);
      else assert.match(refusal?.code ?? 'taken', /^token(-\w+)?$/);
      return true;
    });
  },
};

export const edgeProperties = [reports, requests, tokens];
