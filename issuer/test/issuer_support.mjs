// SPDX-License-Identifier: Apache-2.0
// What the issuer's tests share: keys, requests with blinded messages, and an issuer as a process of its own.

import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../tests/ports.mjs';
import { blinded, unblinded } from '../../wasm/client/blind_rsa.js';
import { makeKey, openKeyInNode } from '../rsa_node.js';
import { openKeys } from '../signing_keys.js';

export const ORIGIN = 'https://site.example';
export const DAY_MS = 86_400_000;
export const RECIPES = ['11', '22', '33'].map((digits) => digits.repeat(32));

const made = [];

/** The key file of recipes and days; keys are made once. */
export async function keyFile(recipes, days, perDay = 2) {
  const keys = [];
  for (const recipe of recipes)
    for (const day of days) {
      const i = keys.length;
      made[i] ??= await makeKey({ recipe, per_day: perDay, day });
      keys.push({ ...made[i], recipe, per_day: perDay, day });
    }
  return { keys };
}

export const signersFor = async (...args) => openKeys(await keyFile(...args), openKeyInNode);

/** A request for tokens of signers, and what unblinds the answer. */
export async function newBundle(signers, { day = signers[0].day, count } = {}) {
  const asked = [];
  const parts = [Buffer.of(1), number(day, 4), number(signers.length, 2)];
  for (const { recipe, spki, id, perDay } of signers) {
    const n = count ?? perDay;
    parts.push(Buffer.from(recipe, 'hex'), number(n, 2));
    for (let i = 0; i < n; i++) {
      const modulus = spki.slice(-261, -5);
      const input = Buffer.concat([Buffer.of(0, 2), randomBytes(64), id]);
      const [salt, blind] = [randomBytes(48), randomBytes(256)];
      blind[0] = 1; // below every modulus
      asked.push([modulus, input, salt, blind]);
      parts.push(Buffer.of(0, 2, id[31]), await blinded(modulus, input, salt, blind));
    }
  }
  const body = Buffer.concat(parts);
  /** How many tokens an answer has. */
  const open = async (answer) => {
    const signed = await Promise.all(
      asked.map((one, i) => unblinded(...one, answer.subarray(i * 256, (i + 1) * 256))),
    );
    return signed.filter(Boolean).length;
  };
  return { body, open, size: asked.length };
}

export function number(value, size) {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntBE(value, 0, size);
  return bytes;
}

export const bundleInit = (body, headers = {}) => ({
  method: 'POST',
  headers: { Origin: ORIGIN, ...headers },
  body,
});

export const sha = (bytes) => createHash('sha256').update(bytes).digest();

/** An issuer's process, with its folder. `changes`: of its configuration */
export async function startIssuerProcess(t, keys, changes = {}) {
  const dir = await mkdtemp(join(tmpdir(), 'shoal-issuer-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/tokens`;
  await writeFile(join(dir, 'keys.json'), JSON.stringify(keys), { mode: 0o600 });
  await writeFile(
    join(dir, 'issuer.json'),
    JSON.stringify({
      listen: `127.0.0.1:${port}`,
      url,
      origins: [ORIGIN],
      key_file: 'keys.json',
      counts: 'counts',
      account_header: 'X-Account',
      ...changes,
    }),
  );
  const command = fileURLToPath(new URL('../bin/shoal-issuer.js', import.meta.url));
  let child = null;
  const issuer = {
    dir,
    url,
    said: '',
    get pid() {
      return child.pid;
    },
    async start() {
      child = spawn(process.execPath, [command, 'serve', '--config', join(dir, 'issuer.json')]);
      const heard = new Promise((resolve, reject) => {
        child.stderr.on('data', (data) => {
          issuer.said += data;
          if (/listening/.test(issuer.said)) resolve();
        });
        child.once('exit', (code) => reject(new Error(`ended with ${code}: ${issuer.said}`)));
      });
      child.stdout.on('data', (data) => (issuer.said += data));
      await heard;
    },
    async stop(signal = 'SIGKILL') {
      if (child === null) return;
      const gone = once(child, 'exit');
      child.kill(signal);
      child = null;
      issuer.said = '';
      await gone;
    },
    ask: (body, account) =>
      fetch(`${url}/token-request`, {
        ...bundleInit(body, account === undefined ? {} : { 'X-Account': account }),
        signal: AbortSignal.timeout(20_000),
      }),
  };
  t.after(async () => {
    await issuer.stop();
    await rm(dir, { recursive: true, force: true });
  });
  await issuer.start();
  return issuer;
}
