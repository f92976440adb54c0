// SPDX-License-Identifier: Apache-2.0
// `shoal dap-key`: two files, one of them its owner's alone, that fit each other and @hpke/core; and nothing is replaced.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { suite } from './fake_servers.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const shoal = join(process.env.SHOAL_BUILD ?? join(root, 'build/release'), 'shoal');
const skip = !existsSync(shoal) && `${shoal} is not built`;

/** @param {string[]} args */
const run = (...args) => spawnSync(shoal, ['dap-key', ...args], { encoding: 'utf8' });

/** @param {import('node:test').TestContext} t */
function makeFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-key-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test(
  'the two halves fit each other, and only the owner may read the secret one',
  { skip },
  async (t) => {
    const folder = makeFolder(t);
    const [secret, other] = [join(folder, 'secret.json'), join(folder, 'public.json')];
    const done = run('--id', '9', '-o', secret, '--public', other);
    assert.equal(done.status, 0, done.stderr);
    assert.equal(statSync(secret).mode & 0o777, 0o600);
    const key = JSON.parse(readFileSync(secret, 'utf8'));
    const { secret_key: secretKey, ...rest } = key;
    assert.deepEqual(JSON.parse(readFileSync(other, 'utf8')), rest);
    assert.deepEqual(
      { ...rest, public_key: '' },
      { id: 9, kem: 'x25519', kdf: 'hkdf-sha256', aead: 'aes-128-gcm', public_key: '' },
    );
    assert.equal(done.stdout, `id                  9\npublic key          ${key.public_key}\n`);
    assert.ok(!`${done.stdout}${done.stderr}`.includes(secretKey));

    const hex = (/** @type {string} */ text) => Uint8Array.from(Buffer.from(text, 'hex')).buffer;
    const recipientPublicKey = await suite.kem.deserializePublicKey(hex(rest.public_key));
    const recipientKey = await suite.kem.deserializePrivateKey(hex(secretKey));
    const message = new TextEncoder().encode('for the owner');
    const { enc, ct } = await suite.seal({ recipientPublicKey }, message);
    assert.deepEqual(new Uint8Array(await suite.open({ recipientKey, enc }, ct)), message);
  },
);

test('no key is replaced, and two are never the same', { skip }, (t) => {
  const folder = makeFolder(t);
  const path = (/** @type {string} */ name) => join(folder, name);
  assert.equal(run('-o', path('a'), '--public', path('b')).status, 0);
  const before = readFileSync(path('a'), 'utf8');
  for (const [secret, other] of [
    ['a', 'c'],
    ['c', 'b'],
    ['c', 'c'],
  ]) {
    const done = run('-o', path(secret), '--public', path(other));
    assert.equal(done.status, 2);
    assert.match(done.stderr, /a key is never replaced|name the same file/);
  }
  assert.equal(readFileSync(path('a'), 'utf8'), before);
  assert.deepEqual(readdirSync(folder).sort(), ['a', 'b']);
  assert.equal(run('-o', path('d'), '--public', path('e')).status, 0);
  assert.notEqual(
    JSON.parse(readFileSync(path('d'), 'utf8')).secret_key,
    JSON.parse(before).secret_key,
  );
  assert.equal(JSON.parse(before).id, 1);
});

test('wrong ids and missing files are refused', { skip }, (t) => {
  const folder = makeFolder(t);
  for (const id of ['256', '-1', '1.5', 'x'])
    assert.equal(
      run('--id', id, '-o', join(folder, 'a'), '--public', join(folder, 'b')).status,
      2,
      id,
    );
  assert.equal(run('-o', join(folder, 'a')).status, 2);
  assert.equal(run('--public', join(folder, 'a')).status, 2);
  assert.equal(run('-o', join(folder, 'none/a'), '--public', join(folder, 'b')).status, 5);
  assert.deepEqual(readdirSync(folder), []);
});
