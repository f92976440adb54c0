// SPDX-License-Identifier: Apache-2.0
// The issuer takes new keys while it runs, as it must from time to time; a key file that is wrong changes nothing, and the
// counts of accounts go on.

import assert from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  DAY_MS,
  RECIPES,
  bundleInit,
  keyFile,
  newBundle,
  signersFor,
  startIssuerProcess,
} from './issuer_support.mjs';

async function until(condition) {
  for (const end = Date.now() + 60_000; Date.now() < end;) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`waited in vain: ${condition}`);
}

test('keys are reloaded, whole or not at all', async (t) => {
  const today = Math.floor(Date.now() / DAY_MS);
  const [first, second] = RECIPES;
  const issuer = await startIssuerProcess(t, await keyFile([first], [today]));
  const outcomes = () => issuer.said.split('\n').filter((line) => /reload/.test(line));
  const reload = async () => {
    const before = outcomes().length;
    process.kill(issuer.pid, 'SIGHUP');
    await until(() => outcomes().length > before);
    return outcomes()[before];
  };
  const health = async () => (await fetch(new URL('/healthz', issuer.url))).json();
  const signers = await signersFor([first, second], [today]);
  const ask = async (account, some) => {
    const { body } = await newBundle(some);
    const init = bundleInit(body, { 'X-Account': account });
    return (await fetch(`${issuer.url}/token-request`, init)).status;
  };
  assert.equal(await ask('ann', signers.slice(0, 1)), 200);
  assert.deepEqual(await health(), { status: 'ok' });
  assert.notEqual(await ask('ben', signers), 200, 'the second recipe has no key yet');

  const path = join(issuer.dir, 'keys.json');
  await writeFile(path, '{"keys": [');
  assert.match(await reload(), /refused, the old configuration goes on: .*keys\.json is not JSON/);
  assert.deepEqual(await health(), { status: 'ok', reload: 'refused' });
  await writeFile(path, JSON.stringify(await keyFile([first, second], [today])));
  await chmod(path, 0o644);
  assert.match(await reload(), /refused.*others may read this file of private keys/);
  assert.equal(await ask('cid', signers.slice(0, 1)), 200, 'the old keys go on');
  await chmod(path, 0o600);
  assert.match(await reload(), /^shoal-issuer: reloaded$/);
  assert.deepEqual(await health(), { status: 'ok' });
  assert.equal(await ask('ben', signers), 200);
  assert.notEqual(await ask('ann', signers.slice(0, 1)), 200, 'a second bundle of the day');
});
