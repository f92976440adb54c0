// SPDX-License-Identifier: Apache-2.0
// Help: every command and every action has one, by `help NAME` and by --help; it ends with an example, and the example
// runs. A mistyped name is answered with the nearest.
//
// Each example runs in a copy of one folder that holds what examples name: recipes, counts, batches, accumulators. Those of
// upload and collect talk to two servers that run here; a day that an example names is today.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

import { colours, shoal, startPair } from '../dap/dap_helpers.mjs';
import { makeFolder, program, run, secret } from '../serve/serve_helpers.mjs';

/** The names in the list that follows a heading. @param {string} text @param {string} heading */
const namesBehind = (text, heading) =>
  [
    ...text
      .split(`\n${heading}:\n`)[1]
      .split('\n\n')[0]
      .matchAll(/^ {2}([a-z-]+) {2,}\S/gm),
  ].map((match) => match[1]);

const overview = shoal('--help').stdout;
const commands = namesBehind(overview, 'Commands');
/** Every command, and every action behind its command. */
const rows = commands.flatMap((name) => {
  const text = shoal('help', name).stdout;
  const actions = text.includes('\nActions:\n') ? namesBehind(text, 'Actions') : [];
  return [[name], ...actions.map((action) => [name, action])];
});
const isDap = commands.includes('upload');

test('help by name and by --help is the same text, and says how the command is used', () => {
  assert.equal(shoal('help').stdout, overview);
  assert.equal(shoal('-h').stdout, overview);
  assert.ok(commands.length > 10);
  assert.ok(rows.some((row) => row.join(' ') === 'recipe new'));
  for (const row of rows) {
    const text = shoal('help', ...row).stdout;
    assert.equal(shoal(...row, '--help').stdout, text, row.join(' '));
    assert.ok(text.startsWith(`Usage: shoal ${row.join(' ')} `), row.join(' '));
    for (const line of text.split('\n')) assert.ok(line.length <= 97, line);
  }
  for (const mode of ['--discover', '--distribution', '--track'])
    assert.equal(shoal('plan', mode, '--help').stdout, shoal('help', 'plan').stdout);
});

test('a mistyped command, action or option names the nearest; far from all it does not', () => {
  /** @param {RegExp} says @param {...string} args */
  const bad = (says, ...args) => {
    const done = run(...args);
    assert.match(done.stderr, says);
    assert.equal(done.status, 2);
    assert.equal(done.stdout, '');
  };
  bad(/unknown command 'estmate'; did you mean 'estimate'\?\nTry: shoal --help\n/, 'estmate');
  bad(/did you mean 'ingest'\?/, 'injest', '--recipe', 'x');
  bad(/did you mean 'compare'\?/, 'help', 'comapre');
  bad(/^shoal: unknown command 'zzzz'\nTry/, 'zzzz');
  bad(/^shoal: unknown command 'x\\x1b\[31m'\n/, 'x\x1b[31m');
  bad(/^shoal: unknown command 'a{64}'\n/, 'a'.repeat(5000));
  bad(/^shoal: unknown command ''\n/, '');
  bad(
    /recipe: unknown action 'chekc'; did you mean 'check'\?\nTry: shoal recipe --help/,
    ...['recipe', 'chekc'],
  );
  bad(/unknown action 'zzzzz'; the actions are check, hash, new,/, 'recipe', 'zzzzz');
  bad(/policy: the actions are check and hash\n/, 'policy');
  bad(/unknown action 'hsah'; did you mean 'hash'\?/, 'help', 'policy', 'hsah');
  bad(/help takes a command and, where it has any, an action/, 'help', 'demo', 'new');
  bad(/help takes a command/, 'help', 'recipe', 'new', 'x');
  bad(/unknown option --expire; did you mean --expires\?/, 'recipe', 'new', '--expire', 'x');
  bad(/^Usage: shoal COMMAND/);
});

// ---- examples ----

const policy = {
  policy: 'keyboard-2026',
  keys: ['5a'.repeat(32)],
  fresh_days: 1,
  streams: [
    {
      stream: 'typed-phrases',
      retention_days: 14,
      fields: [
        { field: 'age', type: 'number' },
        { field: 'locale', type: 'text' },
      ],
    },
  ],
  analyses: [
    {
      analysis: 'keyboard',
      stream: 'typed-phrases',
      mechanisms: ['onehot-symmetric'],
      query: { fields: 1, size: 64 },
      split_by: ['locale'],
      budget: { epsilon: 1, delta: '1e-7', reports: 3 },
      cohort: { minimum: 5000, honest: 0.9 },
      fields: [{ field: 'age', local_epsilon: 4, epsilon: 0.5, reports: 1 }],
    },
  ],
};

/** A split query under the policy. @param {string} hash of the policy */
const phrases = (hash) => ({
  recipe: 'phrases',
  analysis: 'keyboard',
  stream: 'typed-phrases',
  value: 'fields',
  encoding: [{ field: 'age', boundaries: [20, 30, 40] }],
  split_by: [{ field: 'locale', values: ['de', 'en'] }],
  mechanism: 'onehot-symmetric',
  parameters: { epsilon: 4 },
  limit: { per_day: 1 },
  cohort: { minimum: 200000, epsilon: 0.5, delta: '1e-9' },
  policy: hash,
  version: 1,
  expires: '2099-12-31',
});

const serve = {
  listen: '127.0.0.1:0',
  store: 'store',
  recipes: ['fish.json'],
  batch_secret_file: 'secret',
};

const devices = {
  fish: '5000',
  words: '20000',
  pairs: '5000',
  'trie-1': '20000',
  visits: '5000',
  steps: '5000',
};

/** Fills a folder with the files that examples name. @param {string} folder */
function prepare(folder) {
  const at = (/** @type {string} */ name) => join(folder, name);
  const write = (/** @type {string} */ name, /** @type {string | object} */ content) =>
    writeFileSync(at(name), typeof content === 'string' ? content : JSON.stringify(content));
  const create = (/** @type {string} */ name, /** @type {string[]} */ ...more) => {
    const rest = ['--expires', '2099-12-31', '-o', at(`${name}.json`)];
    shoal('recipe', 'new', '--id', name, ...more, ...rest);
  };
  const discover = (/** @type {string} */ name, /** @type {string} */ method) => {
    const wish = ['--devices', devices.words, '--epsilon', '8', '--method', method, '--id', name];
    shoal('plan', '--discover', ...wish, '--recipe-out', at(`${name}.json`));
  };
  /** Simulates the devices of NAME.json and NAME.tsv. @param {keyof devices} name @param {string} [acc] */
  const collect = (name, acc = name) => {
    const recipe = ['--recipe', at(`${name}.json`)];
    const counts = ['--counts', at(`${name}.tsv`), '--devices', devices[name], '--seed', acc];
    shoal('simulate', ...recipe, ...counts, '-o', at(`${name}.batches`));
    shoal('ingest', ...recipe, '-o', at(`${acc}.acc`), at(`${name}.batches`));
  };

  write('fish.tsv', 'herring\t50\ncod\t30\ntuna\t20\n');
  write('fish.txt', 'herring\ncod\ntuna\nbass\n');
  create('fish', '--value', 'item', '--k', '256', '--m', '256');
  for (const day of ['monday', 'tuesday', 'wednesday', 'fish']) collect('fish', day);

  write('words.tsv', 'hello\t6\nthanks\t4\n');
  discover('words', 'sfp');
  collect('words');
  write('trie-1.tsv', 'ab\t6\ncd\t4\n');
  discover('trie-1', 'trie');
  collect('trie-1');

  write('pairs.tsv', 'news\tyoung\t6\nnews\told\t2\nsport\told\t4\n');
  write('sections.txt', 'news\nsport\n');
  write('ages.txt', 'young\nold\n');
  const section = `section=grr:3:${at('sections.txt')}`;
  create('pairs', '--variable', section, '--variable', `age=grr:3:${at('ages.txt')}`);
  collect('pairs');

  write('visits.tsv', '0\t60\n1\t30\n2\t20\n');
  create('visits', '--value', 'item', '--size', '3', '--mechanism', 'grr', '--epsilon', '2');
  for (const week of ['week1', 'week2', 'week3']) collect('visits', week);

  write('steps.tsv', 'no\tno\t6\nyes\tno\t3\nyes\tyes\t2\n');
  write('yesno.txt', 'yes\nno\n');
  const list = `=grr:3:${at('yesno.txt')}`;
  create('steps', '--variable', `step1${list}`, '--variable', `step2${list}`);
  collect('steps');

  write('share.tsv', '1\t0\t1\n1\t1\t1\n3\t1\t1\n');
  const shape = ['--users', '5000', '--epochs', '12', '--samples', '20000', '--epsilon', '16'];
  create('run', '--mechanism', 'thresh', ...shape);
  const counts = ['--counts', at('share.tsv'), '--seed', '1'];
  shoal('simulate', '--recipe', at('run.json'), ...counts, '-o', at('run'));

  write('policy.json', policy);
  write('phrases.json', phrases(shoal('policy', 'hash', at('policy.json')).stdout.trim()));
  write('serve.json', serve);
  write('secret', `${secret}\n`);
  chmodSync(at('secret'), 0o600);
  startOnce(folder); // makes the store and its audit log
  openssl('genpkey', '-algorithm', 'ed25519', '-out', at('own.pem'));
  openssl('pkey', '-in', at('own.pem'), '-pubout', '-out', at('recipes.pub'));
  chmodSync(at('own.pem'), 0o600);
  shoal('recipe', 'sign', '--key', at('own.pem'), '-o', at('signed.json'), at('fish.json'));
  const today = Math.floor(Date.now() / 86_400_000);
  write('keys.json', { from: today, until: today + 30, gateway: [], tokens: [] });
}

/** Starts the server of serve.json, and ends it once it listens. @param {string} folder */
function startOnce(folder) {
  const lines = [
    '"$0" serve --config serve.json 2>serve.log & server=$!',
    'until grep -q listening serve.log; do kill -0 $server; sleep 0.02; done',
    'kill $server; wait $server',
  ];
  const options = /** @type {const} */ ({ cwd: folder, encoding: 'utf8', timeout: 60_000 });
  const done = spawnSync('bash', ['-euc', lines.join('\n'), program], options);
  assert.equal(done.status, 0, done.stderr);
}

/** @param {string[]} args */
function openssl(...args) {
  const done = spawnSync('openssl', args, { encoding: 'utf8' });
  assert.equal(done.status, 0, done.stderr);
}

/** Runs an example while the servers of this process go on. @param {string} folder @param {string} text */
async function runExample(folder, text) {
  const child = spawn('bash', ['-eu', '-o', 'pipefail', '-c', text], {
    cwd: folder,
    env: { ...process.env, PATH: `${dirname(program)}:${process.env.PATH}` },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (each) => (errors += each));
  const [status] = await once(child, 'close');
  assert.equal(status, 0, `${text}\n${errors}`);
}

/** The example of a help text, which is its end. @param {string[]} row */
function exampleOf(row) {
  const found = /\n\nExample:\n((?: {2}.*\n)+)$/.exec(shoal('help', ...row).stdout);
  assert.ok(found, `the help of ${row.join(' ')} ends with an example`);
  assert.ok(found[1].includes(`  shoal ${row.join(' ')} `), `${row.join(' ')}: ${found[1]}`);
  return found[1];
}

test('the help of serve has every field of its file', () => {
  const source = readFileSync(
    new URL('../../../aggregator/serve/serve_config.c', import.meta.url),
    'utf8',
  );
  const fields = [...source.matchAll(/^    \{"(\w+)", \w+, [01]\},$/gm)].map(([, name]) => name);
  assert.ok(fields.length >= 22, 'the table of fields is found');
  const { stdout } = shoal('help', 'serve');
  for (const name of fields) assert.match(stdout, new RegExp(`^  ${name}[* ,]`, 'm'));
});

test('the example at the end of every help text runs', { timeout: 600_000 }, async (t) => {
  const prepared = makeFolder(t);
  prepare(prepared);
  for (const row of rows.filter(([name]) => !['upload', 'collect'].includes(name))) {
    const folder = makeFolder(t);
    cpSync(prepared, folder, { recursive: true });
    await runExample(folder, exampleOf(row));
  }
});

test(
  'the examples of upload and collect run against two servers',
  { skip: !isDap && 'built without the two servers', timeout: 600_000 },
  async (t) => {
    const folder = makeFolder(t);
    const pair = await startPair(t, folder, (urls) => ({ 'shares.json': colours(urls) }));
    const counts = ['--counts', pair.at('shares.tsv'), '--devices', '1200', '--seed', '1'];
    writeFileSync(pair.at('shares.tsv'), 'red\t2\norange\t1\n');
    const batches = pair.at('shares.batches');
    shoal('simulate', '--recipe', pair.at('shares.json'), ...counts, '-o', batches);
    const rename = { 'collector.key': 'collector/key.json', token: 'collector.token' };
    for (const [name, file] of Object.entries(rename)) symlinkSync(file, pair.at(name));
    const day = () => new Date().toISOString().slice(0, 10);
    const days = [day()];
    await runExample(folder, exampleOf(['upload']));
    days.push(day()); // another one where it is midnight
    const date = /\b20\d\d-\d\d-\d\d\b/g;
    await runExample(
      folder,
      exampleOf(['collect']).replace(date, () => String(days.shift())),
    );
    assert.ok(statSync(pair.at('shares.acc')).size > 0);
  },
);
