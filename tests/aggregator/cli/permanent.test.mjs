// SPDX-License-Identifier: Apache-2.0
// Permanent answers in commands that look at several periods: compare says that devices repeat them, changes and runs are refused with what to do instead. The law of the differences is
// tests/aggregator/estimate/test_compare_permanent.c's.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { makeCli } from './cli_helpers.mjs';

const { bad, good, release, write } = makeCli('permanent');
after(release);

const SEED = '0123456789abcdef'.repeat(4);

/** @param {string} file @param {string} mechanism @param {object} parameters @param {string} [seed] */
const recipe = (file, mechanism, parameters, seed = SEED) =>
  write(file, {
    ...{ recipe: 'theme', analysis: 'a', stream: 's', value: 'item', mechanism, parameters },
    ...(mechanism === 'grr' ? {} : { seed }),
    ...{ limit: { per_day: 1 }, expires: '2099-01-01', cohort: { minimum: 100 } },
  });

/** @param {string} file of the recipe @param {string} name */
function collect(file, name) {
  good(
    ...['simulate', '--recipe', file, '--counts', 'counts.tsv', '--devices', '3000'],
    ...['--seed', name, '-o', `${name}.batch`],
  );
  good('ingest', '--recipe', file, '-o', `${name}.acc`, `${name}.batch`);
}

before(() => {
  write('counts.tsv', '0\t50\n1\t30\n2\t20\n');
  const own = { epsilon: 1, epsilon_permanent: 2, g: 2, size: 3 };
  recipe('loloha.json', 'loloha', own);
  recipe('other-seed.json', 'loloha', own, 'fedcba9876543210'.repeat(4));
  recipe('other-noise.json', 'loloha', { ...own, epsilon_permanent: 2.5 });
  recipe('other-fresh.json', 'loloha', { ...own, epsilon: 2 });
  recipe('rappor.json', 'rappor', { p: 0.25, q: 0.75, f: 0.5, size: 3 });
  recipe('grr.json', 'grr', { epsilon: 1, size: 3 });
  for (const name of ['loloha', 'rappor', 'grr'])
    for (const day of ['mon', 'tue']) collect(`${name}.json`, `${name}-${day}`);
  for (const name of ['other-seed', 'other-noise', 'other-fresh']) collect(`${name}.json`, name);
});

/** @param {string} a @param {string} b @param {...string} more */
const compare = (a, b, ...more) =>
  good('compare', '--recipe', `${a}.json`, ...more, `${a}-mon.acc`, `${b}.acc`).text;

test('compare says that devices repeat permanent answers, and only where they do', () => {
  const says = /devices repeat permanent answers: of those that report on both sides/;
  for (const name of ['loloha', 'rappor']) {
    assert.match(compare(name, `${name}-tue`), says);
    const json = JSON.parse(compare(name, `${name}-tue`, '--format', 'json'));
    assert.equal(json.repeated_answers, true);
  }
  assert.doesNotMatch(compare('grr', 'grr-tue'), says);
  assert.ok(!('repeated_answers' in JSON.parse(compare('grr', 'grr-tue', '--format', 'json'))));
  for (const other of ['other-seed', 'other-noise'])
    assert.doesNotMatch(compare('loloha', other, '--recipe-b', `${other}.json`), says);
  // fresh coins are no part of a permanent answer
  assert.match(compare('loloha', 'other-fresh', '--recipe-b', 'other-fresh.json'), says);
});

test('three rows and devices that may have moved: errors are as large as at worst', () => {
  /** @param {string} other */
  const error = (other) =>
    JSON.parse(
      compare('loloha', other, '--recipe-b', `${other}.json`, '--format', 'json'),
    ).rows.map((/** @type {{stderr: number}} */ row) => row.stderr);
  recipe('loloha-tue.json', 'loloha', { epsilon: 1, epsilon_permanent: 2, g: 2, size: 3 });
  const [repeated, apart] = [error('loloha-tue'), error('other-seed')];
  // epsilon_permanent 2 with three rows adds 0.23 reports squared a device to the 8.9 of both sides: a factor of 1.013
  const ratio = Math.min(...repeated) / Math.min(...apart);
  assert.ok(ratio > 1.005 && ratio < 1.03, `${ratio}`);
});

test('changes refuses permanent answers, and says what does', () => {
  for (const name of ['loloha', 'rappor'])
    bad(
      2,
      /repeat the noise of a permanent answer in every period.*by shoal compare/s,
      ...['changes', '--recipe', `${name}.json`, `${name}-mon.acc`, `${name}-tue.acc`],
    );
});
