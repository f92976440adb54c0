// SPDX-License-Identifier: Apache-2.0
// The page's module for browsers without vectors: the client asks for it there, it needs none, and it makes the same bytes.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Core } from '../../bindings/device.js';
import { fakeEdge, makeClient } from '../fixtures.mjs';
import { expectedRecords, makeRecords, readVectors } from '../vectors.mjs';

const PLAIN = fileURLToPath(new URL('../../dist/shoal-plain.wasm', import.meta.url));
const FULL = fileURLToPath(new URL('../../dist/shoal.wasm', import.meta.url));

/** @param {string} file */
const compile = async (file) => WebAssembly.compile(await readFile(file));

test('it carries what shoal.wasm does, and makes the same bytes', async () => {
  const [plain, full] = [await compile(PLAIN), await compile(FULL)];
  assert.deepEqual(WebAssembly.Module.exports(plain), WebAssembly.Module.exports(full));
  const core = await Core.create(plain);
  const vectors = (await readVectors()).filter(({ recipe }) =>
    /^(cms|hcms|grr|hadamard|olh|onehot-.*|one-bit-mean)$/.test(recipe.mechanism),
  );
  assert.ok(vectors.length >= 20);
  assert.deepEqual(makeRecords(core, vectors), expectedRecords(vectors));
});

// V8 has no vectors on a processor without SSSE3, or where it is told so.
test('it runs where there are no vectors, and there only', { skip: process.arch !== 'x64' }, () => {
  const lines = [PLAIN, FULL].map(
    (file) => `WebAssembly.validate(require('fs').readFileSync(${JSON.stringify(file)}))`,
  );
  const told = execFileSync(
    process.execPath,
    ['--no-enable-ssse3', '-p', `JSON.stringify([${lines}])`],
    { encoding: 'utf8' },
  );
  assert.deepEqual(JSON.parse(told), [true, false]);
});

/** The modules that a client asks for. @param {boolean} hasVectors what the browser says of a function that returns a v128 */
const asked = async (hasVectors) => {
  /** @type {string[]} */
  const files = [];
  const edge = fakeEdge();
  const { validate } = WebAssembly;
  WebAssembly.validate = (bytes) => (
    assert.ok(validate(bytes), 'a module where there are vectors'),
    hasVectors
  );
  try {
    const { client } = await makeClient({
      wasm: undefined,
      fetch: async (/** @type {any} */ url, /** @type {any} */ request) => {
        if (!/\.wasm$/.test(String(url))) return edge.fetch(url, request);
        files.push(String(url).split('/').at(-1) ?? '');
        return new Response(await readFile(hasVectors ? FULL : PLAIN));
      },
    });
    await client.consent.grant();
    assert.deepEqual(
      (await client.record('typed-words', 'hello')).map(({ code }) => code),
      ['queued'],
    );
    client.close();
  } finally {
    WebAssembly.validate = validate;
  }
  return files;
};

test('the client asks for the one that its browser can run', async () => {
  assert.deepEqual(await asked(true), ['shoal.wasm']);
  assert.deepEqual(await asked(false), ['shoal-plain.wasm']);
});
