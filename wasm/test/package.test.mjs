// SPDX-License-Identifier: Apache-2.0
// The package as somebody gets it: sizes, an install into an empty project, its types, a Vite build under the policy.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { Core } from '../bindings/device.js';
import { CSP } from '../client/reasons.js';
import { FIRST_EVENT_FILES, WASM, launchBrowser, serveFolders, wordsRecipe } from './fixtures.mjs';
import { makePolicy } from './query_fixtures.mjs';

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');
/** @type {string} */
let project;

before(async () => {
  project = await mkdtemp(join(tmpdir(), 'shoal-package-'));
  await writeFile(join(project, 'package.json'), '{"name":"empty","private":true,"type":"module"}');
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', project], {
    cwd: WASM,
  });
  const [{ filename }] = JSON.parse(stdout);
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(project, filename)], {
    cwd: project,
  });
});

after(() => rm(project, { recursive: true, force: true }));

/** Bytes of a file of dist after gzip. @param {string} file */
const compressed = async (file) =>
  gzipSync(await readFile(join(WASM, 'dist', file)), { level: 9 }).length;

// What a page loads until the first event of one recipe has left it. In Chromium, browser.test.mjs
// holds this list to the files that are fetched.
const FIRST_EVENT_MAX = 30_720;
/** The other modules. [file in dist, most bytes after gzip] */
const LIMITS = /** @type {const} */ ([
  ['shoal-plain.wasm', 18432],
  ['shoal-query.wasm', 19456],
  ['shoal-dap.wasm', 18432],
  ['shoal-all.wasm', 45312],
  ['relay.js', 2048],
  ['log.js', 2560],
  ['tokens.js', 2176],
]);

test('a first event with one recipe costs a page at most 30 KB', async (t) => {
  let total = 0;
  for (const file of FIRST_EVENT_FILES) {
    const size = await compressed(file);
    t.diagnostic(`${file}: ${size} bytes`);
    total += size;
  }
  t.diagnostic(`together: ${total} of ${FIRST_EVENT_MAX} bytes`);
  assert.ok(total <= FIRST_EVENT_MAX, `${total} bytes, more than ${FIRST_EVENT_MAX}`);
});

test('the other modules are within their limits', async (t) => {
  for (const [file, limit] of LIMITS) {
    const size = await compressed(file);
    t.diagnostic(`${file}: ${size} of ${limit} bytes`);
    assert.ok(size <= limit, `${file} has ${size} bytes, more than ${limit}`);
  }
  const rest = (await readdir(join(WASM, 'dist'))).filter(
    (file) => file.endsWith('.js') && !FIRST_EVENT_FILES.includes(file),
  );
  for (const file of rest)
    t.diagnostic(`${file} (loaded when it is needed): ${await compressed(file)} bytes`);
});

test("the documentation names the mechanisms that each of a page's modules carries", async () => {
  const registry = await readFile(join(WASM, '../core/mechanism/mechanisms.def'), 'utf8');
  const names = [...registry.matchAll(/^SHOAL_MECHANISM\(.*"(.+)"\)/gm)].map(([, name]) => name);
  const page = await readFile(join(WASM, '../docs/embed.md'), 'utf8');
  const text = page.replace(/\s+/g, ' '); // lines wrap anywhere
  for (const [file, pattern] of /** @type {const} */ ([
    ['shoal.wasm', /carries the mechanisms that most recipes name: ([^]*?)\./],
    ['shoal-query.wasm', /carries the mechanisms of closed lists: ([^]*?);/],
  ])) {
    const core = await Core.create(
      await WebAssembly.compile(await readFile(join(WASM, 'dist', file))),
    );
    const carried = names.filter((mechanism) => {
      try {
        core.recipe({ mechanism });
      } catch (error) {
        return /** @type {any} */ (error).code !== 'mechanism'; // the other fields are missing
      }
      return assert.fail();
    });
    const sentence = pattern.exec(text)?.[1] ?? '';
    assert.deepEqual(
      [...sentence.matchAll(/`(.+?)`/g)].map(([, name]) => name).sort(),
      carried.sort(),
      file,
    );
    assert.ok(carried.length < names.length, 'some are left to shoal-all.wasm');
  }
});

test('the package has no dependencies and carries the licences of what is inside', async () => {
  const installed = join(project, 'node_modules');
  assert.deepEqual(
    (await readdir(installed)).filter((name) => !name.startsWith('.')),
    ['shoal-client'],
  );
  const licences = await readFile(join(installed, 'shoal-client/dist/LICENSES.txt'), 'utf8');
  assert.match(
    await readFile(join(installed, 'shoal-client/dist/LICENSE'), 'utf8'),
    /Apache License/,
  );
  assert.match(licences, /^@hpke\/common$[^]*Ajitomi Daisuke[^]*^@hpke\/core$/m);
  assert.match(licences, /^idb-keyval$[^]*Jake Archibald[^]*^tldts$[^]*MIT/m);
});

test('it runs in Node from an empty project', async () => {
  await writeFile(
    join(project, 'use.mjs'),
    `
    import { init } from 'shoal-client';
    import { load } from 'shoal-client/node';
    const posts = [];
    const client = await init({ endpoint: 'https://edge.example', recipes: [${JSON.stringify(wordsRecipe())}], wasm: load,
      fetch: async (url, request) => (posts.push(JSON.parse(request.body)), new Response('{}', { status: 202 })) });
    await client.consent.grant();
    await client.type('hello world');
    await client.flush();
    console.log(JSON.stringify([posts.length, posts[0].key, (await client.explain()).length]));
    client.close();`,
  );
  const { stdout } = await run(process.execPath, ['use.mjs'], { cwd: project });
  assert.equal(stdout.trim(), '[2,"words",0]');
});

test('its types pass tsc, and wrong use does not', async () => {
  const good = `
    import { init, ShoalError, type Ask, type Charge, type Client, type ExactBalance, type ExactTask, type LogEntry, type Reason, type RunBalance } from 'shoal-client';
    import { QueryCore } from 'shoal-client/query';
    import { start } from 'shoal-client/loader';
    import { observeRoutes } from 'shoal-client/routes';
    import { Core, type Recipe } from 'shoal-client/core';
    import { load } from 'shoal-client/web';
    export async function use(): Promise<string> {
      const client: Client = await init({ endpoint: 'https://e.example', recipes: [{ url: 'r.json', hash: '00' }, { recipe: 'x' }] });
      const state: 'none' | 'granted' | 'outdated' | 'withdrawn' | 'gpc' = client.consent.state;
      const asks: Ask[] = [...(await client.consent.asks())];
      const anew: string = asks.map(({ recipe, more, before }) => recipe + more[0] + before?.epsilon).join();
      const outcomes: { recipe: string | null; code: string }[] = await client.record('s', null);
      const reasons: Reason[] = await client.explain();
      const stop: () => void = client.observe(document.body);
      stop();
      const routesEnd: () => void = observeRoutes(['/'], (route: string | null) => client.record('views', route), { hash: true });
      routesEnd();
      const shoal = start({ endpoint: 'https://e.example', recipes: [] });
      await shoal.consent.grant();
      const asking = start({ endpoint: 'https://e.example', recipes: [], policy: { url: 'p.json', hash: '00' }, queryWasm: '/q.wasm' });
      const kept: { code: string }[] = [...(await asking.optIn('a')), ...(await asking.donate('s', { phrase: 'x', age: 1 })), ...(await asking.ask())];
      const log: LogEntry[] = await asking.log();
      const pairs: { code: string }[] = await asking.record('visits', { section: 'sport', age: 41, place: null });
      const runs = start({ endpoint: 'https://e.example', recipes: [], runs: [{ url: 'r.json', hash: '00' }] });
      const followed = [...(await runs.track.optIn('settings')), ...(await runs.track.sample('views', 1)), ...(await runs.track.answer()), ...pairs];
      const [run]: RunBalance[] = (await client.ledger()).filter((entry): entry is typeof entry & RunBalance => entry.run !== undefined);
      const spent: string = followed[0].code + run.text + run.votes.used;
      const task: ExactTask = { version: 'dap-18', info: 'ages', leader: 'https://l.example', helper: 'https://h.example', time_precision_s: 3600,
        min_batch_size: 100, vdaf: { type: 'sum-vec', length: 2, max: 15 } };
      const joined = [...(await asking.exact.optIn(task, { limit: 5 })), ...(await client.exact.optOut(task))];
      const [shared]: ExactBalance[] = (await client.ledger()).filter((entry): entry is typeof entry & ExactBalance => entry.task !== undefined);
      const exact = await asking.shareExactly(task, [1, 15]);
      const sealed: string | undefined = joined[0].code + shared.limit + exact[0].code + (await client.reports())[0].report.servers?.helper;
      const charges = (await client.ledger()).filter((entry): entry is typeof entry & Charge => entry.analysis !== undefined);
      const end: () => void = asking.observe(document.body, (word: string) => asking.donate('s', { word }));
      end();
      const parts: string[] = log[0].reports.map(({ state, report }) => state + report.key + log[0].asked?.personEpsilon);
      const told: string = sealed + spent + parts.join() + kept.length + log[0].text + log[0].asked?.minimum + charges[0].userEpsilon.used + QueryCore.name;
      const sent: string[] = (await shoal.reports()).map((entry) => entry.report.records[0]);
      const core: Core = await load();
      const recipe: Recipe = core.recipe({});
      const bytes: Uint8Array = recipe.sealBatch(recipe.recordFromText(recipe.randomize('x', new Uint8Array(32))), new Uint8Array(16));
      return [told, anew, state, outcomes[0].code, reasons[0].text, sent[0], bytes.length, (await client.ledger())[0].today.epsilon].join() + ShoalError.name;
    }`;
  const bad = `
    import { init } from 'shoal-client';
    import { observeRoutes } from 'shoal-client/routes';
    export const a = init({ recipes: [] });
    export const b = init({ endpoint: 1, recipes: [] });
    export const d = async () => (await init({ endpoint: '', recipes: [] })).donate('s', 'x');
    export const e = async () => (await init({ endpoint: '', recipes: [] })).observe(document.body, (word: number) => word);
    export const f = async () => (await init({ endpoint: '', recipes: [] })).record('s', { a: [1] });
    export const g = async () => (await init({ endpoint: '', recipes: [] })).shareExactly({ info: 'x' }, 1);
    export const h = observeRoutes('/', () => null);
    export const c = async () => (await init({ endpoint: '', recipes: [] })).record(1, 'x');`;
  await writeFile(join(project, 'good.ts'), good);
  await writeFile(join(project, 'bad.ts'), bad);
  for (const resolution of [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ]) {
    const options = [
      '--strict',
      '--noEmit',
      '--target',
      'es2022',
      '--lib',
      'es2022,dom',
      '--module',
      resolution[0],
      '--moduleResolution',
      resolution[1],
    ];
    // One run reads the declarations once: everything that it finds must be in bad.ts.
    const found = await run(process.execPath, [tsc, ...options, 'good.ts', 'bad.ts'], {
      cwd: project,
    }).then(
      () => '',
      (error) => error.stdout,
    );
    const errors = found.match(/^\S.*: error TS/gm) ?? [];
    assert.equal(errors.length, 8, found);
    for (const error of errors) assert.match(error, /^bad\.ts\(\d+/, found);
  }
});

test('a Vite build of it works under the policy, from a folder below the root', async () => {
  await mkdir(join(project, 'src'), { recursive: true });
  await writeFile(
    join(project, 'index.html'),
    '<!doctype html><title>t</title><script type="module" src="/src/main.js"></script>',
  );
  await writeFile(
    join(project, 'src/main.js'),
    `
    import { start } from 'shoal-client/loader';
    window.make = (endpoint, recipes, policy) => (window.shoal = start({ endpoint, recipes, policy }));`,
  );
  const { build } = await import('vite');
  await build({ root: project, base: './', logLevel: 'error', configFile: false });
  const edge = await serveFolders({ folders: [] });
  const pages = { '/app/': await readFile(join(project, 'dist/index.html'), 'utf8') };
  // The build lies under /app/, and nothing of it may assume the root.
  await run('mv', [join(project, 'dist'), join(project, 'app')]);
  const site = await serveFolders({
    folders: [project],
    csp: `default-src 'none'; ${CSP}; connect-src 'self' ${edge.origin}`,
    pages,
  });
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    /** @type {string[]} */
    const complaints = [];
    page.on(
      'console',
      (message) =>
        void (
          message.type() === 'error' &&
          !/favicon/.test(message.location().url) &&
          complaints.push(message.text())
        ),
    );
    page.on('pageerror', (error) => void complaints.push(String(error)));
    await page.goto(`${site.origin}/app/`);
    const loadedBefore = site.requests.length;
    const recipe = wordsRecipe({ recipe: 'sites', stream: 'visits', value: 'site' });
    const outcome = await page.evaluate(async ([endpoint, json, policy]) => {
      const shoal = /** @type {any} */ (globalThis).make(endpoint, [json], policy);
      await shoal.record('visits', 'https://example.org');
      await shoal.consent.grant();
      const outcomes = await shoal.visit('https://www.example.org/a');
      await shoal.flush();
      const kept = [
        ...(await shoal.optIn('keyboard')),
        ...(await shoal.donate('typed-phrases', { age: 33 })),
      ];
      return {
        outcomes,
        kept,
        reasons: await shoal.explain(),
        reports: (await shoal.reports()).length,
      };
    }, /** @type {const} */ ([edge.origin, recipe, makePolicy()]));
    const kept = [
      { recipe: null, code: 'opted-in' },
      { recipe: null, code: 'stored' },
    ];
    assert.deepEqual(outcome, {
      outcomes: [{ recipe: 'sites', code: 'queued' }],
      kept,
      reasons: [],
      reports: 1,
    });
    assert.deepEqual(complaints, []);
    assert.equal(edge.reports().length, 1);
    const chunks = site.requests.slice(loadedBefore).map(({ url }) => url);
    assert.ok(
      chunks.some((url) => /shoal-.*\.wasm$/.test(url)) && chunks.some((url) => /site-/.test(url)),
      chunks.join(),
    );
    assert.ok(
      !site.requests.slice(0, loadedBefore).some(({ url }) => /client|wasm|site-/.test(url)),
      'nothing before consent',
    );
  } finally {
    await browser.close();
    await site.close();
    await edge.close();
  }
});
