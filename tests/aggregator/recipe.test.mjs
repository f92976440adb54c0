// SPDX-License-Identifier: Apache-2.0
// shoal recipe sign, verify and diff from outside: exit codes, texts, what stays of a file.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, test } from 'node:test';
import { makeCli, list, sketch } from './cli_helpers.mjs';

const cli = makeCli('recipe');
const { bad, good, read, write } = cli;
after(() => cli.release());

/** Writes NAME.pem and NAME.pub. Returns the public key's hex digits. @param {string} name */
function makeKey(name) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  write(`${name}.pem`, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  write(`${name}.pub`, publicKey.export({ type: 'spki', format: 'pem' }).toString());
  cli.chmod(`${name}.pem`, 0o600);
  return publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('hex');
}

const ours = makeKey('ours');
const theirs = makeKey('theirs');
write('r.json', sketch());
const { err: said } = good('recipe', 'sign', '--key', 'ours.pem', '-o', 's.json', 'r.json');

test('what is signed is verified by its key, and by no other', () => {
  assert.equal(said, '', 'a file of mode 600 is nothing to warn of');
  write('ours.hex', `${ours}\n`);
  for (const key of [[], ['--key', ours], ['--key', 'ours.pub'], ['--key', 'ours.hex']]) {
    assert.equal(good('recipe', 'verify', ...key, 's.json').text, `s.json: signed by ${ours}\n`);
  }
  for (const key of [theirs, 'theirs.pub']) bad(3, new RegExp(`s\\.json: is signed by another key, ${ours}`), 'recipe', 'verify', '--key', key, 's.json');
  bad(3, /r\.json: is not signed/, 'recipe', 'verify', 'r.json');
  bad(2, /theirs\.pem: holds no Ed25519 public key/, 'recipe', 'verify', '--key', 'theirs.pem', 's.json');
  bad(5, /nobody: cannot open/, 'recipe', 'verify', '--key', 'nobody', 's.json');
});

test('a field that changed under its signature is told', () => {
  const json = JSON.parse(read('s.json'));
  write('bad.json', { ...json, limit: { per_day: 3 } });
  bad(3, /bad\.json: the signature is bad/, 'recipe', 'verify', 'bad.json');
  const run = cli.run('recipe', 'check', 'bad.json');
  assert.equal(run.code, 3);
  assert.match(run.text, new RegExp(`\\nsignature +bad: not signed by ${ours.slice(0, 8)}\\.\\.\\., which it names\\n$`));
  assert.match(good('recipe', 'check', 's.json').text, new RegExp(`\\nsignature +good: signed by ${ours.slice(0, 8)}\\.\\.\\.\\n$`));
  assert.doesNotMatch(good('recipe', 'check', 'r.json').text, /signature/);
  // The hash, the layout and a field at its default stay good.
  write('layout.json', JSON.stringify({ text: { min: 1 }, ...json }, null, 4));
  good('recipe', 'verify', 'layout.json');
  assert.equal(good('recipe', 'hash', 'layout.json').text, good('recipe', 'hash', 'r.json').text);
  write('form.json', { ...json, signature: { ...json.signature, key: 'F'.repeat(64) } });
  bad(2, /signature\.key must be 64/, 'recipe', 'check', 'form.json');
});

test('a signed recipe works wherever an unsigned one does', () => {
  write('c.tsv', 'cod\t10\n');
  good('simulate', '--recipe', 's.json', '--counts', 'c.tsv', '--devices', '2000', '--seed', 's', '-o', 'b');
  good('ingest', '--recipe', 'r.json', '-o', 'acc', 'b');
  assert.match(good('estimate', '--recipe', 's.json', '--dictionary', 'c.tsv', 'acc').text, /cod/);
});

test('signing again replaces the signature and nothing else; a key that others may read is warned of', () => {
  cli.chmod('theirs.pem', 0o640);
  const { err } = good('recipe', 'sign', '--key', 'theirs.pem', '-o', 's2.json', 's.json');
  assert.match(err, /theirs\.pem: others may read this key/);
  good('recipe', 'verify', '--key', theirs, 's2.json');
  const [before, after] = [read('s.json'), read('s2.json')];
  assert.equal(after.slice(0, after.indexOf('"signature"')), before.slice(0, before.indexOf('"signature"')));
  assert.equal(good('recipe', 'sign', '--key', 'ours.pem', 's2.json').text, before, 'Ed25519 has no randomness');
  good('recipe', 'sign', '--key', 'ours.pem', '-o', 's2.json', 's2.json');
  assert.equal(read('s2.json'), before);
});

test('sign refuses what is no key or no recipe, and writes nothing', () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  write('locked.pem', privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }).toString());
  bad(2, /locked\.pem: holds no Ed25519 private key in PEM without a passphrase/, 'recipe', 'sign', '--key', 'locked.pem', 'r.json');
  bad(2, /--key is needed/, 'recipe', 'sign', 'r.json');
  bad(2, /sign takes one recipe/, 'recipe', 'sign', '--key', 'ours.pem', 'r.json', 's.json');
  bad(2, /--key goes with sign and verify/, 'recipe', 'check', '--key', 'ours.pem', 'r.json');
  bad(2, /verify takes --key and files only/, 'recipe', 'verify', '-o', 'x', 'r.json');
  write('nope.json', sketch({ nope: 1 }));
  bad(2, /nope is not a field/, 'recipe', 'sign', '--key', 'ours.pem', 'nope.json');
  // A key written with an escape is the same member to a parser: two of them would be read, so that nothing is written.
  write('escape.json', read('s.json').replace('"signature"', '"\\u0073ignature"'));
  good('recipe', 'verify', 'escape.json');
  bad(2, /signature is given twice/, 'recipe', 'sign', '--key', 'ours.pem', 'escape.json');
});

/** Lines of a diff, white space as one. @param {number} code @param {string} a @param {string} b */
function diff(code, a, b) {
  const run = cli.run('recipe', 'diff', a, b);
  assert.equal(run.code, code, run.err);
  return run.text.trim().split('\n').map((line) => line.replace(/ +/g, ' '));
}

test('diff tells the members that differ, and whether the hash does', () => {
  const hash = good('recipe', 'hash', 'r.json').text.trim();
  assert.deepEqual(diff(0, 'r.json', 'r.json'), [`hash the same, ${hash}`]);
  const signed = diff(1, 'r.json', 's.json');
  assert.deepEqual([signed[0], signed[2]], [`signature.key (none) -> "${ours}"`, `hash the same, ${hash}`]);
  write('x.json', sketch({ parameters: { epsilon: 2.5, k: 256, m: 256 }, send: { delay_s: 60 }, expires: '2098-01-01' }));
  const lines = diff(1, 'r.json', 'x.json');
  assert.deepEqual(lines.slice(0, 3), ['parameters.epsilon 4 -> 2.5', 'expires "2099-12-31" -> "2098-01-01"', 'send.delay_s (none) -> 60']);
  assert.match(lines[3], new RegExp(`^hash ${hash} -> [0-9a-f]{64}$`));
  assert.equal(lines.length, 4);
  // Members in another order are the same members.
  write('turned.json', Object.fromEntries(Object.entries(sketch()).reverse()));
  assert.deepEqual(diff(0, 'r.json', 'turned.json'), [`hash the same, ${hash}`]);
  bad(2, /diff takes two recipes/, 'recipe', 'diff', 'r.json');
  bad(5, /none\.json: cannot open/, 'recipe', 'diff', 'r.json', 'none.json');
});

test('diff counts what came to a list of values and what went', () => {
  write('l1.json', list(['cod', 'pike', 'tench', 'eel'], 4));
  write('l2.json', list(['cod', 'tench', 'ide', 'roach', 'burbot'], 4));
  write('l3.json', list(['pike', 'cod', 'tench', 'eel'], 4));
  assert.equal(diff(1, 'l1.json', 'l2.json')[0], 'parameters.values 4 -> 5: 3 added, 2 removed');
  assert.equal(diff(1, 'l1.json', 'l3.json')[0], 'parameters.values 4 -> 4: 0 added, 0 removed, another order');
  assert.equal(diff(0, 'l1.json', 'l1.json').length, 1);
});
