// SPDX-License-Identifier: Apache-2.0
// `--check` of every service: a configuration that is right, and one with several mistakes, all of which are named with how to mend them.
// Nothing is made. And `shoal verify` finds the program of its name.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { load } from 'shoal-client/node';

const root = fileURLToPath(new URL('../..', import.meta.url));
const shoal = process.env.SHOAL_BINARY ?? join(root, 'build/release/shoal');
const NODE = process.execPath;
const SECRET = 'a-secret-that-is-long-enough';
const isCheck = new Ajv2020().compile(
  JSON.parse(readFileSync(join(root, 'docs/schema/check.schema.json'), 'utf8')),
);
const RECIPE = JSON.parse(readFileSync(join(root, 'docs/recipes/choices.json'), 'utf8'));
const hash = (await load()).recipe(RECIPE).hash;

/** The command of each service. @type {Record<string, string[]>} */
const COMMANDS = {
  'shoal serve': [shoal, 'serve'],
  'shoal-edge': [NODE, join(root, 'edge/bin/shoal-edge.js')],
  'shoal-relay': [NODE, join(root, 'relay/bin/shoal-relay.js')],
  'shoal-issuer': [NODE, join(root, 'issuer/bin/shoal-issuer.js'), 'serve'],
};

/** @param {import('node:test').TestContext} t */
function folderOf(t) {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-check-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'batch.secret'), `${SECRET}\n`, { mode: 0o600 });
  writeFileSync(join(folder, 'recipe.json'), JSON.stringify(RECIPE));
  return folder;
}

/** @param {string} program @param {string} folder @param {object} config */
function check(program, folder, config) {
  const [command, ...words] = COMMANDS[program];
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  const before = readdirSync(folder);
  const run = (/** @type {string[]} */ ...more) =>
    spawnSync(command, [...words, '--config', 'config.json', ...more], {
      cwd: folder,
      encoding: 'utf8',
    });
  const text = run('--check');
  const json = run('--check', '--format', 'json');
  assert.equal(json.status, text.status, text.stderr);
  const found = JSON.parse(json.stdout);
  assert.ok(isCheck(found), JSON.stringify(isCheck.errors));
  assert.equal(found.program, program);
  assert.equal(found.ok, text.status === 0);
  assert.ok(
    !`${text.stdout}${text.stderr}${json.stdout}`.includes(SECRET),
    'a secret is never printed',
  );
  for (const { what, mend } of found.problems)
    assert.ok(text.stderr.includes(`${what}\n  mend: ${mend}\n`), text.stderr);
  assert.match(text.stdout, found.ok ? /as it should be/ : /\d problems?/);
  assert.deepEqual(readdirSync(folder), before, 'nothing is made');
  assert.equal(run('--format', 'json').status, 2, '--format without --check');
  assert.equal(run('--check', '--format', 'xml').status, 2);
  return found;
}

const EDGE = {
  listen: '127.0.0.1:0',
  spool: 'spool',
  recipes: [{ file: 'recipe.json', hash }],
  origins: ['https://www.example.org'],
  aggregator: 'https://aggregator.example',
  batch_secret_file: 'batch.secret',
};
const SERVE = {
  listen: '127.0.0.1:0',
  store: 'store',
  recipes: ['recipe.json'],
  batch_secret_file: 'batch.secret',
};
const RELAY = {
  listen: '127.0.0.1:0',
  routes: [{ path: '/r', gateway: 'https://edge.example/ohttp', token_file: 'batch.secret' }],
};
const ISSUER = {
  listen: '127.0.0.1:0',
  url: 'https://t.example',
  origins: ['https://www.example.org'],
  key_file: 'keys',
  counts: 'counts',
  account_header: 'x-account',
};

/** What the problems say, one pattern each. @param {any} found @param {RegExp[]} patterns */
function saysAll(found, patterns) {
  const all = found.problems.map((/** @type {any} */ one) => one.what).join('\n');
  for (const pattern of patterns) assert.match(all, pattern);
  assert.equal(found.problems.length, patterns.length, all);
}

test('--check of the edge', (t) => {
  const folder = folderOf(t);
  assert.equal(check('shoal-edge', folder, EDGE).ok, true);
  const other = `${hash.slice(0, 63)}${hash[63] === '0' ? '1' : '0'}`;
  const wrong = {
    ...EDGE,
    orgins: [],
    batch_secret_file: 'none',
    recipes: [
      { file: 'recipe.json', hash: other },
      { file: 'lost.json', hash },
    ],
  };
  saysAll(check('shoal-edge', folder, wrong), [
    /unknown field "orgins"; did you mean "origins"/,
    /none: there is no such file/,
    /but [0-9a-f]{64} is pinned/,
    /lost\.json: there is no such file/,
  ]);
  saysAll(check('shoal-edge', folder, { ...EDGE, spool: '/dev/null/spool' }), [
    /spool: .* cannot be (written|made)/,
  ]);
  const gone = { ...RECIPE, expires: '2020-01-01' };
  writeFileSync(join(folder, 'recipe.json'), JSON.stringify(gone));
  saysAll(check('shoal-edge', folder, EDGE), [/but [0-9a-f]{64} is pinned/]);
});

test('--check of shoal serve', { skip: !existsSync(shoal) && 'shoal is not built' }, (t) => {
  const folder = folderOf(t);
  assert.equal(check('shoal serve', folder, SERVE).ok, true);
  saysAll(check('shoal serve', folder, { ...SERVE, dictionarys: {} }), [
    /dictionarys: unknown field; did you mean dictionaries\?/,
  ]);
  saysAll(check('shoal serve', folder, { ...SERVE, retention: { day: 3 } }), [
    /retention\.day: unknown field; did you mean days\?/,
  ]);
  saysAll(check('shoal serve', folder, { ...SERVE, limits: { request_per_s: 3 } }), [
    /did you mean requests_per_s\?/,
  ]);
  const wrong = {
    ...SERVE,
    batch_secret_file: 'none',
    recipes: ['recipe.json', 'lost.json'],
    store: '/dev/null/store',
  };
  saysAll(check('shoal serve', folder, wrong), [
    /none: cannot open/,
    /lost\.json: cannot open/,
    /store: /,
  ]);
  saysAll(check('shoal serve', folder, { ...SERVE, dictionaries: { thme: 'x.tsv' } }), [
    /no recipe is called thme/,
  ]);
  writeFileSync(join(folder, 'open.secret'), `${SECRET}\n`, { mode: 0o644 });
  const open = check('shoal serve', folder, { ...SERVE, batch_secret_file: 'open.secret' });
  assert.match(open.notes[0].what, /others than its owner may read it/);
});

test('--check of the relay and of the issuer', (t) => {
  const folder = folderOf(t);
  assert.equal(check('shoal-relay', folder, RELAY).ok, true);
  saysAll(
    check('shoal-relay', folder, {
      ...RELAY,
      routes: [{ ...RELAY.routes[0], token_file: 'none' }],
      rates: {},
    }),
    [/unknown field "rates"; did you mean "rate"/, /none: there is no such file/],
  );
  saysAll(check('shoal-issuer', folder, { ...ISSUER, connection: 3 }), [
    /unknown field "connection"; did you mean "connections"/,
    /keys: there is no such file/,
  ]);
});

test(
  'shoal verify runs shoal-verify, of a folder above or of PATH, or says how to get it',
  { skip: !existsSync(shoal) && 'shoal is not built' },
  (t) => {
    const folder = folderOf(t);
    const bin = join(folder, 'node_modules/.bin');
    const inner = join(folder, 'a/b');
    mkdirSync(bin, { recursive: true });
    mkdirSync(inner, { recursive: true });
    const commands = [[shoal], [NODE, join(root, 'aggregator/js/shoal.js')]];
    const run = (/** @type {string[]} */ [command, ...before], /** @type {string[]} */ ...words) =>
      spawnSync(command, [...before, ...words], {
        cwd: inner,
        encoding: 'utf8',
        env: { PATH: '/usr/bin:/bin' },
      });
    for (const command of commands) {
      const { status, stderr } = run(command, 'verify', 'https://x.example');
      assert.equal(status, 1);
      assert.match(
        stderr,
        /shoal-verify is not installed\nInstall it from the files of a release: npm install \.\/shoal-verify-/,
      );
    }
    writeFileSync(join(bin, 'shoal-verify'), '#!/bin/sh\necho "ran $*"\nexit 3\n', { mode: 0o755 });
    for (const command of commands) {
      const { status, stdout } = run(command, 'verify', 'https://x.example', '--format', 'json');
      assert.equal(stdout, 'ran https://x.example --format json\n');
      assert.equal(status, 3);
      assert.equal(run(command, 'help', 'verify').stdout, 'ran --help\n');
    }
    if (process.getuid?.() !== 0) return t.diagnostic('not root: no file of another user');
    chownSync(join(bin, 'shoal-verify'), 12345, 12345); // as /tmp/node_modules above /tmp/x
    for (const command of commands) {
      const { status, stdout } = run(command, 'verify', 'https://x.example');
      assert.equal(status, 1, 'a program that somebody else put there is not run');
      assert.equal(stdout, '');
    }
  },
);
