// SPDX-License-Identifier: Apache-2.0
// Reports of every mechanism at the edge: those of tests/core/vectors/ pass, damaged ones do not, and the aggregator reads
// the same reports. What holds is the same for each mechanism, so that a new one is covered by its vectors.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { load } from 'shoal-client/node';
import { readVectors } from '../../wasm/test/vectors.mjs';
import { handle } from '../handler.js';
import { program } from './real_aggregator.mjs';
import { reportInit } from './support.mjs';

const vectors = await readVectors();
// Records of a run are made of what a device remembers of it, so that they have vectors of their own.
const steps = JSON.parse(
  await readFile(new URL('../../tests/core/run_vectors.json', import.meta.url), 'utf8'),
);
vectors.push(
  ...steps
    .filter(({ record }) => record !== '')
    .map((step, i) => ({ ...step, name: `run_vectors.json ${i}` })),
);
for (const vector of vectors) vector.made = (await load()).recipe(vector.recipe);

/** A handler of one collection, and what it took. */
function edgeOf(recipe) {
  const taken = [];
  const accept = async (record) => (taken.push(record), 'accepted');
  const collections = new Map([[recipe.hash, { recipe, accept }]]);
  const deps = { collections, origins: [], now: () => Date.UTC(2029, 0, 1), bodyTimeoutMs: 60_000 };
  const post = async (report) => {
    const response = await handle(
      new Request('https://edge.example/v1/reports', reportInit(report)),
      deps,
    );
    return { status: response.status, code: (await response.json()).error?.code };
  };
  return { taken, post };
}

/** Places of a text worth a look: all of a short one, both ends of a long one. @param {string} text */
const places = (text) => [...text].map((_, i) => i).filter((i) => i < 40 || i >= text.length - 8);

test('a record of every mechanism is accepted, and its bytes are kept', async () => {
  const mechanisms = new Set();
  for (const { name, made: recipe, record } of vectors) {
    const { taken, post } = edgeOf(recipe);
    assert.deepEqual(await post(recipe.report(record)), { status: 202, code: undefined }, name);
    assert.deepEqual(
      taken.map((bytes) => recipe.recordToText(bytes)),
      [record],
      name,
    );
    mechanisms.add(recipe.mechanism);
  }
  assert.ok(mechanisms.size >= 3);
});

test('a damaged record of any mechanism is refused, or is another whole record', async () => {
  for (const { name, made: recipe, record } of vectors) {
    const { taken, post } = edgeOf(recipe);
    const never = [
      record.slice(1),
      record.slice(0, -1),
      `${record}0`,
      ` ${record.slice(1)}`,
      `${record},0`,
      `-${record.slice(1)}`,
    ];
    for (const i of places(record)) {
      for (const wrong of ['x', 'A', ' ', '.', '\u0660'])
        never.push(record.slice(0, i) + wrong + record.slice(i + 1));
    }
    for (const text of never)
      assert.deepEqual(
        await post(recipe.report(text)),
        { status: 400, code: 'record' },
        `${name}: ${text}`,
      );
    assert.deepEqual(taken, []);
    for (const i of places(record)) {
      for (const digit of ['0', '1', '7', '9', 'f', ',', ';']) {
        const text = record.slice(0, i) + digit + record.slice(i + 1);
        const before = taken.length;
        const { status, code } = await post(recipe.report(text));
        assert.ok(status === 202 || code === 'record', `${name}: ${text}: ${status} ${code}`);
        assert.deepEqual(
          taken.slice(before).map((bytes) => recipe.recordToText(bytes)),
          status === 202 ? [text] : [],
          name,
        );
      }
    }
  }
});

test('a report states every number of its recipe, and no other', async () => {
  for (const { name, made: recipe, record } of vectors) {
    const { post } = edgeOf(recipe);
    const { parameters } = recipe;
    assert.ok(
      Object.values(parameters).every((value) => typeof value === 'number'),
      name,
    );
    for (const [key, value] of Object.entries(parameters)) {
      const { [key]: _, ...less } = parameters;
      assert.equal(
        (await post({ ...recipe.report(record), parameters: less })).code,
        'missing-field',
        `${name}: ${key}`,
      );
      assert.equal(
        (await post({ ...recipe.report(record), parameters: { ...parameters, [key]: value + 1 } }))
          .code,
        'parameters',
      );
      assert.equal(
        (await post({ ...recipe.report(record), parameters: { ...parameters, [key]: `${value}` } }))
          .code,
        'parameters',
      );
    }
    assert.equal(
      (await post({ ...recipe.report(record), parameters: { ...parameters, x: 1 } })).code,
      'unknown-field',
    );
  }
});

test('the aggregator reads the same reports', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'shoal-records-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const at = (name) => join(dir, name);
  const ingest = async (report) => {
    await writeFile(at('reports.ndjson'), `${JSON.stringify(report)}\n`);
    await rm(at('acc'), { force: true });
    return spawnSync(
      program,
      ['ingest', '--recipe', at('recipe.json'), '-o', at('acc'), at('reports.ndjson')],
      { encoding: 'utf8' },
    );
  };
  // One of each mechanism: one of each set of fields, since a process is dear.
  const one = new Map(
    vectors.map((vector) => [
      `${vector.recipe.mechanism} ${Object.keys(vector.made.parameters)}`,
      vector,
    ]),
  );
  for (const { name, made: recipe, record } of one.values()) {
    await writeFile(at('recipe.json'), JSON.stringify(recipe.json));
    const { status, stderr } = await ingest(recipe.report(record));
    assert.equal(status, 0, `${name}: ${stderr}`);
    assert.equal(
      (await ingest({ ...recipe.report(record), parameters: { ...recipe.parameters, x: 1 } }))
        .status,
      4,
      name,
    );
  }
});
