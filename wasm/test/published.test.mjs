// SPDX-License-Identifier: Apache-2.0
// The hashes of the published files: all are listed, a live site is compared with them, and what browsers make of them is what
// docs/embed.md says.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { hashOf, pageFiles, readManifest } from '../bin/file_hashes.js';
import { WASM, launchBrowser, wordsRecipe } from './fixtures.mjs';

const COMMAND = join(WASM, 'bin/shoal-client.js');
const manifest = readManifest(JSON.parse(readFileSync(join(WASM, 'dist/hashes.json'), 'utf8')));
/** @type {string} */
let folder;
before(async () => (folder = await mkdtemp(join(tmpdir(), 'shoal-published-'))));
after(() => rm(folder, { recursive: true, force: true }));

/** @param {string[]} args @returns {Promise<{status: number, text: string}>} */
const run = (...args) =>
  new Promise((resolve) =>
    execFile(process.execPath, [COMMAND, ...args], (error, stdout, stderr) =>
      resolve({ status: Number(error?.code ?? 0), text: stdout + stderr }),
    ),
  );

/**
 * A site that serves dist under /shoal/ but for what `changes` says of a file: other bytes, a status, or null for no answer at all.
 * @param {import('node:test').TestContext} t
 * @param {{[file: string]: Buffer | number | null}} [changes] @param {{[path: string]: string}} [pages]
 */
async function site(t, changes = {}, pages = {}) {
  const types = { js: 'text/javascript', wasm: 'application/wasm' };
  const server = createServer((request, response) => {
    const path = new URL(String(request.url), 'http://x').pathname;
    if (path in pages)
      return void response.writeHead(200, { 'content-type': 'text/html' }).end(pages[path]);
    const file = path.replace('/shoal/', '');
    const change = changes[file];
    if (change === null) return void response.destroy();
    if (typeof change === 'number') return void response.writeHead(change).end();
    if (!(file in manifest.files)) return void response.writeHead(404).end();
    const type = types[/** @type {'js'} */ (file.split('.').at(-1))] ?? 'text/plain';
    response
      .writeHead(200, { 'content-type': type })
      .end(change ?? readFileSync(join(WASM, 'dist', file)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => (server.closeAllConnections(), server.close()));
  return `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`;
}

test('every file of dist that is published is listed with its hash', async () => {
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json'], { cwd: WASM, encoding: 'utf8' }),
  );
  const published = packed.files
    .map((/** @type {{path: string}} */ { path }) => path)
    .filter((/** @type {string} */ path) => path.startsWith('dist/') && path !== 'dist/hashes.json')
    .map((/** @type {string} */ path) => path.slice('dist/'.length));
  assert.deepEqual(Object.keys(manifest.files).sort(), published.sort());
  assert.ok(
    packed.files.some((/** @type {{path: string}} */ { path }) => path === 'dist/hashes.json'),
  );
  for (const [file, hash] of Object.entries(manifest.files))
    assert.equal(hashOf(readFileSync(join(WASM, 'dist', file))), hash, file);
  for (const name of ['loader.js', 'client.js', 'shoal.wasm'])
    assert.ok(pageFiles(manifest).includes(name), name);
});

test('a site is compared file by file; each outcome has its exit code', async (t) => {
  const good = await run('verify', `${await site(t)}/shoal`);
  assert.equal(good.status, 0, good.text);
  const all = pageFiles(manifest).length;
  assert.match(
    good.text,
    new RegExp(`: ${all} of ${all} files are those of shoal-client 0\\.1\\.0`),
  );

  const loader = readFileSync(join(WASM, 'dist/loader.js'));
  const changed = await run(
    'verify',
    `${await site(t, { 'loader.js': Buffer.concat([loader, Buffer.from(' ')]) })}/shoal/`,
  );
  assert.equal(changed.status, 1);
  assert.match(changed.text, /^differs {5}loader\.js \(sha384-/m);
  const gone = await run('verify', `${await site(t, { 'shoal.wasm': 404 })}/shoal/`);
  assert.equal(gone.status, 1);
  assert.match(gone.text, /^missing {5}shoal\.wasm$/m);
  // Nothing is known of what was not fetched, and nobody says that it is as published.
  for (const change of [503, 403, null]) {
    const away = await run('verify', `${await site(t, { 'client.js': change })}/shoal/`);
    assert.equal(away.status, 5, away.text);
    assert.match(away.text, /^unreachable client\.js \(/m);
    assert.match(away.text, new RegExp(`: ${all - 1} of ${all} files`));
  }
  const both = await run(
    'verify',
    `${await site(t, { 'client.js': 503, 'loader.js': 404 })}/shoal/`,
  );
  assert.equal(both.status, 1);
  const elsewhere = await run('verify', await site(t)); // nothing lies in the root
  assert.equal(elsewhere.status, 1);
  const huge = await run(
    'verify',
    `${await site(t, { 'loader.js': Buffer.alloc((16 << 20) + 1) })}/shoal/`,
  );
  assert.equal(huge.status, 1);
  assert.match(huge.text, /loader\.js \(more than/);
  assert.equal((await run('verify', 'http://127.0.0.1:9/')).status, 5);
});

test('wrong words and wrong manifests are refused', async () => {
  const file = join(folder, 'hashes.json');
  for (const args of [
    [],
    ['verify'],
    ['verify', 'ftp://x/'],
    ['verify', 'a', 'b'],
    ['check', 'http://x/'],
    ['verify', '--manifest'],
  ])
    assert.equal((await run(...args)).status, 2, args.join(' '));
  const { files } = manifest;
  for (const wrong of [
    {},
    { ...manifest, schema: 2 },
    { ...manifest, files: {} },
    { ...manifest, files: { '../x.js': files['loader.js'] } },
    { ...manifest, files: { 'x.js': 'sha384-short' } },
    { ...manifest, files: { 'x.js?': files['loader.js'] } },
  ]) {
    writeFileSync(file, JSON.stringify(wrong));
    assert.equal(
      (await run('verify', '--manifest', file, 'http://127.0.0.1:9/')).status,
      2,
      JSON.stringify(wrong).slice(0, 80),
    );
  }
  writeFileSync(file, '{');
  assert.equal((await run('verify', '--manifest', file, 'http://127.0.0.1:9/')).status, 2);
  assert.equal((await run('--help')).status, 0);
});

test('what Chromium refuses with the snippet, and what it does not', async (t) => {
  const snippet = (await run('integrity', '/shoal/')).text;
  const [, csp] = /** @type {RegExpExecArray} */ (/<!-- (.*) -->/.exec(snippet));
  const browser = await launchBrowser();
  t.after(() => browser.close());
  /**
   * Whether a report of a page was queued, or what failed.
   * @param {{[file: string]: Buffer}} changes @param {string} head
   * @param {string} [integrity] of shoal-all.wasm, which the page fetches itself then
   * @returns {Promise<string>}
   */
  const outcome = async (changes, head, integrity) => {
    const html = `<!doctype html><meta http-equiv="Content-Security-Policy" content="${csp.replaceAll('"', '')}">${head}`;
    const origin = await site(t, changes, { '/': html });
    const page = await browser.newPage();
    await page.goto(origin);
    const code = await page.evaluate(
      async ([recipe, hash]) => {
        const elements = [...document.querySelectorAll('script[src]')];
        const url = '/shoal/loader.js';
        if (elements.length === 0) return 'no script';
        try {
          const { start } = await import(url);
          const web = '/shoal/web.js';
          const own = async () =>
            (await import(web)).load(
              '/shoal/shoal-all.wasm',
              (/** @type {any} */ at, /** @type {any} */ init) =>
                fetch(at, { ...init, integrity: hash }),
            );
          const shoal = start({
            ...(hash ? { wasm: own } : {}),
            endpoint: location.origin,
            recipes: [/** @type {any} */ (recipe)],
          });
          await shoal.consent.grant();
          const [{ code: said }] = await shoal.record('typed-words', 'word');
          return said;
        } catch (error) {
          return String(/** @type {Error} */ (error).name);
        }
      },
      /** @type {[any, string | undefined]} */ ([
        wordsRecipe({ send: { fresh: 'allow', delay_s: 3600 } }),
        integrity,
      ]),
    );
    await page.close();
    return code;
  };
  const changed = (/** @type {string} */ file) =>
    Buffer.concat([readFileSync(join(WASM, 'dist', file)), Buffer.from('\n/* changed */')]);
  const script = /<script type="module".*/.exec(snippet)?.[0] ?? '';
  assert.equal(await outcome({}, snippet), 'queued');
  assert.equal(await outcome({ 'loader.js': changed('loader.js') }, snippet), 'TypeError');
  // The import map covers what modules import, also dynamically; the attribute of the script alone does not.
  assert.notEqual(await outcome({ 'client.js': changed('client.js') }, snippet), 'queued');
  assert.equal(await outcome({ 'client.js': changed('client.js') }, script), 'queued');
  // WebAssembly is fetched, not imported: neither covers it. A custom section changes bytes and nothing else.
  const section = Buffer.from([0, 2, 1, 0x78]);
  const wasm = (/** @type {string} */ file) =>
    Buffer.concat([readFileSync(join(WASM, 'dist', file)), section]);
  assert.equal(await outcome({ 'shoal.wasm': wasm('shoal.wasm') }, snippet), 'queued');
  // A page that fetches it by its hash.
  const hash = manifest.files['shoal-all.wasm'];
  assert.equal(await outcome({}, snippet, hash), 'queued');
  assert.equal(
    await outcome({ 'shoal-all.wasm': wasm('shoal-all.wasm') }, snippet, hash),
    'core-missing',
  );
});
