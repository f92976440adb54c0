// SPDX-License-Identifier: Apache-2.0
// What a device keeps, as the client stores it: node device.mjs WASM_FOLDER > device.json. A device answers a question of
// each kind, one report is sent and others wait. WASM_FOLDER holds the client's sources in the layout of commit 0a6c34a.
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { DEVICE_RECIPES, NOON, dump } from './device_recipes.mjs';

const folder = process.argv[2];
const at = (/** @type {string} */ file) => pathToFileURL(join(folder, file)).href;
const { init } = await import(at('client.js'));
const { memoryLocks, memoryStorage } = await import(at('memory_storage.js'));
const { load } = await import(at('node.js'));

const storage = memoryStorage();
let answers = 1; // the worker takes one report and is then out of reach
const client = await init({
  endpoint: 'https://edge.example',
  recipes: DEVICE_RECIPES,
  fetch: async () => new Response('{}', { status: answers-- > 0 ? 202 : 503 }),
  wasm: load,
  locks: memoryLocks(),
  gpc: () => false,
  now: () => NOON,
  setTimer: () => 0,
  clearTimer: () => {},
  storage,
});
await client.consent.grant();
await client.record('typed-words', 'herring');
await client.flush();
await client.record('theme', 'dark');
await client.record('home', 'example.org');
const told = { ledger: await client.ledger(), reports: await client.reports() };
process.stdout.write(`${JSON.stringify({ ...told, rows: await dump(storage) }, null, 1)}\n`);
