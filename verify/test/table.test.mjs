// SPDX-License-Identifier: Apache-2.0
// The table of docs/verify.md is what scripts/verify-table.mjs writes; the schema takes what the program prints; the manual page has the
// options of --help; and the command refuses what it does not know.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { pageOf } from '../../scripts/verify-table.mjs';
import { CODES } from '../codes.js';
import { allows, allowsWasm, policiesOf } from '../csp.js';
import { optionsOf } from '../setup.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (/** @type {string} */ path) => readFileSync(join(root, path), 'utf8');
const run = (/** @type {string[]} */ ...words) =>
  spawnSync(process.execPath, [join(root, 'verify/bin/shoal-verify.js'), ...words], {
    encoding: 'utf8',
  });

test('docs/verify.md has the table of today: node scripts/verify-table.mjs --write', async () => {
  const page = read('docs/verify.md');
  assert.equal(await pageOf(page), page);
  for (const code of Object.keys(CODES)) assert.ok(page.includes(`\`${code}\``), code);
});

test('what is printed as JSON is what the schema says', () => {
  const isResult = new Ajv2020().compile(JSON.parse(read('docs/schema/verify.schema.json')));
  const done = run('http://127.0.0.1:1/', '--no-browser', '--format', 'json');
  assert.equal(done.status, 1, done.stderr);
  const found = JSON.parse(done.stdout);
  assert.ok(isResult(found), JSON.stringify(isResult.errors));
  assert.equal(found.results[0].code, 'page-refused');
  delete found.results[0].mend;
  assert.ok(!isResult(found));
});

test('the command refuses what it does not know, with exit code 2', () => {
  for (const words of [
    [],
    ['a', 'b'],
    ['x.example'],
    ['ftp://x.example/'],
    ['--config', '/no/such'],
    ['http://127.0.0.1:1/', '--visitors', 'many'],
    ['http://127.0.0.1:1/', '--format', 'xml'],
    ['http://127.0.0.1:1/', '--vistors', '3'],
  ]) {
    const done = run(...words);
    assert.equal(done.status, 2, words.join(' '));
    assert.match(done.stderr, /^shoal-verify: .+\n$/);
  }
});

test('the manual page has the options of --help', () => {
  const { stdout, status } = run('--help');
  assert.equal(status, 0);
  const manual = read('docs/man/shoal-verify.1');
  const options = new Set([...stdout.matchAll(/--[a-z][a-z-]+/g)].map(([name]) => name));
  const told = new Set([...manual.matchAll(/Fl -([a-z][a-z-]+)/g)].map(([, name]) => `--${name}`));
  assert.deepEqual([...told].sort(), [...options].sort());
});

test('a policy is read as browsers read it', () => {
  const page = new URL('https://www.example.org/a/');
  const asks = (/** @type {string} */ policy, /** @type {string} */ url) =>
    allows(policiesOf(policy, ''), ['connect-src', 'default-src'], new URL(url), page);
  assert.ok(asks("connect-src 'self'", 'https://www.example.org/x'));
  assert.ok(!asks("connect-src 'self'", 'https://edge.example.org/'));
  assert.ok(!asks("default-src 'none'", 'https://www.example.org/'));
  assert.ok(asks("default-src 'none'; connect-src https:", 'https://edge.example.org/'));
  assert.ok(asks('connect-src edge.example.org', 'https://edge.example.org/v1'));
  assert.ok(!asks('connect-src https://edge.example.org:444', 'https://edge.example.org/'));
  assert.ok(asks('connect-src *.example.org', 'https://edge.example.org/'));
  assert.ok(!asks('connect-src *.example.org', 'https://example.org/'));
  assert.ok(asks('connect-src https://edge.example.org/a/', 'https://edge.example.org/a/b'));
  assert.ok(!asks('connect-src https://edge.example.org/a', 'https://edge.example.org/a/b'));
  assert.ok(!asks("connect-src *, connect-src 'none'", 'https://edge.example.org/')); // all of them hold
  assert.ok(allowsWasm(policiesOf("script-src 'self' 'wasm-unsafe-eval'", '')));
  assert.ok(!allowsWasm(policiesOf("script-src 'self'", '')));
  const meta = '<meta http-equiv="Content-Security-Policy" content="script-src \'self\'">';
  assert.ok(!allowsWasm(policiesOf(null, meta)));
});

test('what the page gives to start() is found in its scripts, minified or not', () => {
  const page = new URL('https://www.example.org/a/');
  const hash = 'ab'.repeat(32);
  const text = `import{start}from"/shoal/loader.js";start({endpoint:"https://edge.example.org",relay:"https://relay.example/r",log:{url:"/log",key:"k+1+x"},site:{url:"/site.json",hash:"${hash}"}})`;
  const found = optionsOf([{ text, base: page }], page);
  assert.equal(found.client?.href, 'https://www.example.org/shoal/');
  assert.equal(found.endpoint?.href, 'https://edge.example.org/');
  assert.equal(found.relay?.href, 'https://relay.example/r');
  assert.deepEqual([found.log?.url.href, found.log?.key], ['https://www.example.org/log', 'k+1+x']);
  assert.equal(found.site?.hash, hash);
  assert.equal(found.recipes.length, 0);
  const spread = `const shoal = start({\n  endpoint: '/',\n  recipes: [{ url: 'r.json', hash: '${hash}' }],\n});`;
  const other = optionsOf([{ text: spread, base: page }], page);
  assert.equal(other.endpoint?.href, 'https://www.example.org/');
  assert.deepEqual(
    other.recipes.map(({ url }) => url.href),
    ['https://www.example.org/a/r.json'],
  );
  assert.equal(other.client, null);
});
