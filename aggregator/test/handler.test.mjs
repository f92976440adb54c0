// SPDX-License-Identifier: Apache-2.0
// The example of a serverless function, in Node and in workerd.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { createHandler } from '../js/handler.js';
import { loadModule, run } from '../js/node.js';
import { SIMULATE, bytes, counts, dictionary, packageFolder, recipes } from './support.mjs';

const recipe = bytes(JSON.stringify(recipes.cms));
/** @type {Uint8Array} */ let accumulator;
/** @type {any} */ let expected;
/** @type {ReturnType<typeof createHandler>} */ let handler;

const authorize = (/** @type {Request} */ request) =>
  request.headers.get('authorization') === 'Bearer reader';

before(async () => {
  const files = { 'recipe.json': recipe, 'counts.tsv': bytes(counts), words: bytes(dictionary) };
  const reports = await run([...SIMULATE, '-o', 'reports'], { files });
  const folded = await run(['ingest', '--recipe', 'recipe.json', '-o', 'acc', 'reports'], {
    files: { ...files, ...reports.files },
  });
  accumulator = folded.files.acc;
  const args = [
    'estimate',
    '--format',
    'json',
    '--top',
    '5',
    '--recipe',
    'recipe.json',
    '--dictionary',
    'words',
    'acc',
  ];
  expected = JSON.parse(
    new TextDecoder().decode((await run(args, { files: { ...files, acc: accumulator } })).stdout),
  );
  handler = createHandler({ module: await loadModule(), authorize, maxBytes: 1 << 20 });
});

/** @param {{[field: string]: Uint8Array | string}} fields */
function form(fields) {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    data.append(
      name,
      typeof value === 'string' ? value : new Blob([/** @type {BlobPart} */ (value)]),
    );
  }
  return data;
}
const good = () => form({ recipe, accumulator, dictionary: bytes(dictionary), top: '5' });

/** @param {BodyInit | undefined} body @param {RequestInit} [init] */
const post = (body, init) =>
  new Request('http://localhost/', {
    method: 'POST',
    headers: { authorization: 'Bearer reader' },
    body,
    ...init,
  });

test('a form of recipe, accumulator and dictionary is answered with the estimate', async () => {
  const response = await handler(post(good()));
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'application/json');
  assert.deepEqual(await response.json(), expected);
  assert.equal(expected.rows.length, 5);
});

test('requests that are refused, each with its reason', async () => {
  const damaged = accumulator.slice();
  damaged[200] ^= 1;
  const young = bytes(JSON.stringify({ ...recipes.cms, cohort: { minimum: 1000000 } }));
  const twice = good();
  twice.append('top', '6');
  const stream = new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(65536));
    },
  });
  const cases = /** @type {[number, string, Request][]} */ ([
    [405, 'method', new Request('http://localhost/')],
    [401, 'unauthorized', post(good(), { headers: {} })],
    [415, 'content-type', post('{}')],
    [413, 'too-large', post(form({ recipe, accumulator: new Uint8Array(1 << 20) }))],
    [
      413,
      'too-large',
      post(
        stream,
        /** @type {any} */ ({
          duplex: 'half',
          headers: {
            authorization: 'Bearer reader',
            'content-type': 'multipart/form-data; boundary=x',
          },
        }),
      ),
    ],
    [
      400,
      'form',
      post('--x\r\nnonsense', {
        headers: {
          authorization: 'Bearer reader',
          'content-type': 'multipart/form-data; boundary=x',
        },
      }),
    ],
    [400, 'form', post(form({ recipe }))],
    [400, 'form', post(form({ recipe, accumulator, surprise: 'x' }))],
    [400, 'form', post(twice)],
    [400, 'usage', post(form({ recipe, accumulator, dictionary: bytes(dictionary), top: 'many' }))],
    [
      400,
      'usage',
      post(form({ recipe, accumulator, dictionary: bytes(dictionary), multiple: '--output' })),
    ],
    [400, 'input', post(form({ recipe, accumulator: damaged, dictionary: bytes(dictionary) }))],
    [400, 'usage', post(form({ recipe: bytes('{}'), accumulator, dictionary: bytes(dictionary) }))],
    [400, 'refused', post(form({ recipe: young, accumulator, dictionary: bytes(dictionary) }))],
  ]);
  for (const [status, code, request] of cases) {
    const response = await handler(request);
    const { error } = await response.json();
    assert.deepEqual([response.status, error.code], [status, code], error.message);
    assert.ok(error.message.length > 5);
  }
});

test('a crowd below the minimum is not shown', async () => {
  const files = { 'recipe.json': recipe, 'counts.tsv': bytes(counts) };
  const few = SIMULATE.map((arg) => (arg === '5000' ? '10' : arg));
  const reports = await run([...few, '-o', 'reports'], { files });
  const folded = await run(['ingest', '--recipe', 'recipe.json', '-o', 'acc', 'reports'], {
    files: { ...files, ...reports.files },
  });
  const response = await handler(
    post(form({ recipe, accumulator: folded.files.acc, dictionary: bytes(dictionary) })),
  );
  assert.equal(response.status, 403);
  const body = await response.json();
  assert.equal(body.error.code, 'cohort');
  assert.equal(body.rows, undefined);
});

test('nobody can forget who may read', async () => {
  const module = await loadModule();
  // @ts-expect-error authorize is missing
  assert.throws(() => createHandler({ module }), TypeError);
});

test('the same in workerd', async (t) => {
  const { Miniflare } = await import('miniflare');
  const read = (/** @type {string} */ name) => readFileSync(join(packageFolder, name));
  const worker = `
    import module from './shoal.wasm';
    import { createHandler } from './handler.js';
    const authorize = (request, env) => request.headers.get('authorization') === env.READER;
    export default { fetch: createHandler({ module, authorize }) };`;
  const miniflare = new Miniflare({
    compatibilityDate: '2026-04-01',
    cf: false,
    bindings: { READER: 'Bearer reader' },
    modules: [
      { type: 'ESModule', path: 'worker.js', contents: worker },
      ...['handler.js', 'run.js', 'memory_wasi.js'].map((name) => ({
        type: /** @type {const} */ ('ESModule'),
        path: name,
        contents: read(`js/${name}`).toString(),
      })),
      { type: 'CompiledWasm', path: 'shoal.wasm', contents: read('dist/shoal.wasm') },
    ],
  });
  t.after(() => miniflare.dispose());
  const request = post(good());
  const response = await miniflare.dispatchFetch('http://localhost/', {
    method: 'POST',
    headers: {
      authorization: 'Bearer reader',
      'content-type': /** @type {string} */ (request.headers.get('content-type')),
    },
    body: await request.arrayBuffer(),
  });
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), expected);
});
