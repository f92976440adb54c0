// SPDX-License-Identifier: Apache-2.0
// Alarms as an analyst sees them: copies of one record, first in every format, and the exit code that a script can ask for.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { makeCli, sketch } from './cli_helpers.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const cli = makeCli('alarms');
after(cli.release);

const estimate = ['estimate', '--recipe', 'r.json', '--dictionary', 'words.txt'];

/** Folds lines of reports. @param {string} name @param {string[]} lines */
function fold(name, lines) {
  cli.write(`${name}.ndjson`, lines.join('\n') + '\n');
  return cli.good('ingest', '--recipe', 'r.json', '-o', `${name}.acc`, `${name}.ndjson`).err;
}

test('copies of one record are named before any count, and a script can stop', () => {
  cli.write('r.json', sketch());
  cli.write('words.txt', 'hello\nworld\n');
  cli.write('counts.tsv', 'hello\t300\nworld\t700\n');
  cli.good(
    'simulate', '--recipe', 'r.json', '--counts', 'counts.tsv', '--devices', '2000', '--seed',
    '7', '--format', 'ndjson', '-o', 'honest.out',
  ); // prettier-ignore
  const honest = cli.read('honest.out').trim().split('\n');
  assert.doesNotMatch(fold('honest', honest), /alarm/);
  const warned = fold('flooded', [...honest, ...Array.from({ length: 1000 }, () => honest[0])]);
  const told = /alarm identical-records: one record came (\d+) times or more among (\d+) /.exec(
    warned,
  );
  assert.ok(told !== null && Number(told[1]) > 100 && Number(told[2]) === 3000, warned);
  assert.doesNotMatch(warned, /hello|world/);

  const clean = cli.good(...estimate, 'honest.acc').text;
  assert.doesNotMatch(clean, /^alarm /m);
  assert.match(clean, /^alarms +none; tested: .*uneven-rows/m);
  assert.equal(cli.run(...estimate, '--fail-on-alarm', 'honest.acc').code, 0);

  const table = cli.good(...estimate, 'flooded.acc').text;
  assert.match(table, /^alarm /, 'the first line');
  assert.match(
    table,
    /^alarm uneven-rows: one row has 1,[0-9]{3} of 3,000 reports; .*at most 1e-15 /m,
  );
  assert.doesNotMatch(table.split('\n\n')[0], /hello|world/, 'alarms name no value');

  const json = JSON.parse(cli.good(...estimate, '--format', 'json', 'flooded.acc').text);
  const alarm = json.alarms.find((/** @type {{code: string}} */ one) => one.code === 'uneven-rows');
  assert.ok(alarm.p <= 1e-4 && alarm.statistic > 1000 && alarm.n === 3000);
  const all = [
    ...json.alarms.map((/** @type {{code: string}} */ one) => one.code),
    ...json.alarms_passed,
    ...json.alarms_not_measured.map((/** @type {{code: string}} */ one) => one.code),
  ];
  assert.equal(new Set(all).size, 7);
  assert.equal(all.length, 7, 'every code is raised, passed or not measured');
  const schema = JSON.parse(readFileSync(join(root, 'docs/schema/result.schema.json'), 'utf8'));
  const valid = new Ajv2020({ strictRequired: false, allowUnionTypes: true }).compile(schema);
  assert.ok(valid(json), JSON.stringify(valid.errors));

  const csv = cli.good(...estimate, '--format', 'csv', 'flooded.acc');
  assert.match(csv.err, /alarm uneven-rows/);
  assert.doesNotMatch(csv.text, /alarm/);
  const failed = cli.run(...estimate, '--fail-on-alarm', 'flooded.acc');
  assert.equal(failed.code, 6);
  assert.match(failed.text, /hello/, 'the result is written all the same');
});
