// SPDX-License-Identifier: Apache-2.0
// Missing shards of a manifest: every command that turns an accumulator into an answer refuses, by the same sentence. Where
// --incomplete allows an answer, each of its formats says how many are missing.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { makeCli, sketch } from './cli_helpers.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const cli = makeCli('incomplete');
const { bad, good, write } = cli;
after(cli.release);

const REFUSED = /half\.acc: incomplete: of the 2 shards of manifest [0-9a-f]{64}, 1 is missing/;
const SAID = /incomplete: 1 of 2 shards are missing/;
const schemas = new Ajv2020({ strictTypes: false });
for (const name of ['result', 'discovery', 'joint']) {
  const text = readFileSync(join(root, `docs/schema/${name}.schema.json`), 'utf8');
  schemas.addSchema(JSON.parse(text), `${name}.schema.json`);
}
const ABOUT = { shards: 2, missing: 1 };

/**
 * Folds the one batch of a recipe as one of two shards; twice, as half.acc and as other-half.acc of other reports.
 * @param {object} recipe @param {string} events
 */
function fold(recipe, events) {
  write('r.json', recipe);
  write('events.tsv', events);
  for (const name of ['half', 'other-half']) {
    for (const file of [`${name}.acc`, `${name}.man`]) cli.remove(file);
    const of = ['--counts', 'events.tsv', '--devices', '3000', '--seed', name];
    good('simulate', '--recipe', 'r.json', ...of, '-o', `${name}.batch`);
    good('manifest', 'make', '--recipe', 'r.json', '-o', `${name}.man`, `${name}.batch`);
    const shard = (cli.bytes(`${name}.batch`)[56] >> 7) + 1;
    const own = ['--manifest', `${name}.man`, '--shard', `${shard}/2`];
    good('ingest', '--recipe', 'r.json', ...own, '-o', `${name}.acc`, `${name}.batch`);
  }
}

/**
 * Runs a command without and with --incomplete, in each of its formats.
 * @param {string[]} words @param {string | null} schema of its JSON @param {string[]} [formats]
 */
function check(words, schema, formats = ['table', 'json', 'ndjson', 'csv']) {
  for (const format of formats) {
    const run = [...words, '--format', format];
    bad(1, REFUSED, ...run);
    const { text, err } = good(...run, '--incomplete');
    const says = format === 'table' || format === 'svg' ? text : err;
    if (format !== 'json') assert.match(says, SAID, `${words[0]} --format ${format}`);
    if (format !== 'json') continue;
    const result = JSON.parse(text);
    if (schema === null)
      assert.deepEqual([result.a.incomplete, result.b.incomplete], [ABOUT, ABOUT]);
    if (schema === null) continue;
    assert.deepEqual(result.incomplete, ABOUT);
    const isValid = schemas.getSchema(`${schema}.schema.json`) ?? assert.fail(schema);
    assert.ok(isValid(result), JSON.stringify(isValid.errors));
  }
}

test('counts of known values, and what changed', () => {
  fold(sketch({ parameters: { epsilon: 4, k: 16, m: 64 } }), 'cod\t70\nplaice\t30\n');
  write('d.txt', 'cod\nplaice\n');
  const own = ['--recipe', 'r.json', '--dictionary', 'd.txt'];
  check(['estimate', ...own, 'half.acc'], 'result');
  check(['compare', ...own, 'half.acc', 'other-half.acc'], null);
});

test('strings that nobody listed', () => {
  const parameters = {
    ...{ epsilon: 6, epsilon_fragment: 6, k: 64, m: 64, k_fragment: 64, m_fragment: 64 },
    ...{ length: 4, oracle: 'olh' },
  };
  const words = { mechanism: 'sfp', value: 'word', parameters, cohort: { minimum: 1000 } };
  fold(sketch(words), 'cats\t2\ndog\t1\n');
  check(['discover', '--recipe', 'r.json', 'half.acc'], 'discovery');
});

test('variables together', () => {
  const grr = (/** @type {string} */ name, /** @type {string[]} */ values) => ({
    ...{ name, value: 'item', mechanism: 'grr' },
    parameters: { epsilon: 2, values },
  });
  fold(
    {
      ...{ recipe: 'pairs', analysis: 'pairs', stream: 'seen' },
      variables: [grr('age', ['young', 'old']), grr('read', ['sport', 'news'])],
      ...{ limit: { per_day: 1 }, expires: '2099-12-31' },
    },
    'sport\tyoung\t3\nnews\told\t2\n'.replace(/(\w+)\t(\w+)/g, '$2\t$1'),
  );
  check(['joint', '--recipe', 'r.json', 'half.acc'], 'joint', [
    ...['table', 'json', 'ndjson', 'csv', 'svg'],
  ]);
  bad(2, /--done takes/, 'joint', '--recipe', 'r.json', '--done', '--incomplete', 'half.acc');
  bad(1, REFUSED, 'joint', '--recipe', 'r.json', '--done', 'half.acc');
});

test('the next question is never made of half an answer', () => {
  const query = {
    ...{ recipe: 'words-1', analysis: 'keyboard', stream: 'typed', value: 'fields' },
    encoding: [{ field: 'phrase', prefixes: [''], tokens: ['go', 'home'] }],
    ...{ mechanism: 'subset', parameters: { epsilon: 4 }, limit: { per_day: 1 }, version: 3 },
    cohort: { minimum: 1000, epsilon: 0.5, delta: '1e-9' },
    ...{ policy: 'ab'.repeat(32), round: { index: 1 }, expires: '2099-01-31' },
  };
  fold(query, '{"phrase":"go home"}\t4\n{"phrase":"home"}\t1\n');
  const next = ['round', 'next', '--recipe', 'r.json', 'half.acc', '-o', 'next.json'];
  bad(1, REFUSED, ...next);
  bad(2, /unknown option --incomplete/, ...next, '--incomplete');
  assert.equal(cli.has('next.json'), false);
});

// What reads an accumulator and shows no result of it, each for its reason.
const OTHERS = [
  'aggregator/cli/cmd_store.c', // the import checks it
  'aggregator/ingest/ingest_files.c', // adds to it
  'aggregator/lib/library_accumulator.c', // shoal_agg_estimate_new checks it
  'aggregator/sketch/merge_files.c',
  'aggregator/sketch/merge_rows.c',
  'aggregator/store/store_files.c', // files of blocks list no shards
  'aggregator/store/store_sum.c',
];

test('no other place reads an accumulator whose result is shown', () => {
  const found = readdirSync(join(root, 'aggregator'), { recursive: true })
    .map((name) => `aggregator/${name}`)
    .filter((name) => name.endsWith('.c') && !/sketch\/accumulator\w*\.c$/.test(name))
    .filter((name) =>
      /\bagg_accumulator_(load|read)(_rows)?\(/.test(readFileSync(join(root, name), 'utf8')),
    );
  assert.deepEqual(found.sort(), OTHERS);
});
