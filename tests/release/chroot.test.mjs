// SPDX-License-Identifier: Apache-2.0
// SHOAL_LONG, as root: the release on machines that have nothing of shoal and no compiler, each a Debian 12 of its own.
// shoal-linux-x64 on a C library alone; the Debian package with its manual pages, completions and units; Node brought by
// the npm of Debian 12; and the README's embed, from packages only, with a browser on this side.
// It installs debootstrap and patchelf here; the machines' packages stay in their folders.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  cpSync,
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
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { launchBrowser } from '../../wasm/test/fixtures.mjs';
import { freePort } from '../ports.mjs';
import { makeChroot, needPackages, whyNot } from './chroot.mjs';
import { isLong, native, packOthers, release, root, version } from './release_helpers.mjs';

const skip = !isLong
  ? 'SHOAL_LONG'
  : (whyNot() ?? (!existsSync(native) && 'make native comes first'));
if (isLong && skip) console.log(`# SKIPPED, the release is tried on no other machine: ${skip}`);

/** @type {string} */
let work;
/** @type {ReturnType<typeof makeChroot>} the second machine, which the tests after the first share */
let machine;
/** @type {import('node:child_process').ChildProcess[]} */
const started = [];

before(async () => {
  if (skip) return;
  needPackages('patchelf');
  work = mkdtempSync(join(tmpdir(), 'shoal-machines-'));
  await release(join(work, 'files'), { native });
  packOthers(join(work, 'others'));
});
after(async () => {
  for (const child of started) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
  }
  if (work) rmSync(work, { recursive: true, force: true });
});

/** Waits until a server answers. @param {string} url @param {import('node:child_process').ChildProcess} child */
async function answers(url, child) {
  let told = '';
  child.stderr?.on('data', (bytes) => (told += bytes));
  for (;;) {
    if (child.exitCode !== null) assert.fail(`it ended with ${child.exitCode}: ${told}`);
    try {
      if ((await fetch(url)).ok) return;
    } catch {
      // not yet
    }
    await sleep(100);
  }
}

/** @param {ReturnType<typeof makeChroot>} on @param {string} folder @param {number} port @param {object} [more] */
async function configureServe(on, folder, port, more = {}) {
  const path = join(on.folder, folder);
  mkdirSync(path, { recursive: true });
  const config = {
    listen: `127.0.0.1:${port}`,
    store: 'store',
    recipes: ['words.json'],
    dictionaries: { words: 'words.tsv' },
    batch_secret_file: 'batch.secret',
    fold_interval_s: 0.2,
    ...more,
  };
  writeFileSync(join(path, 'batch.secret'), `${'ab'.repeat(32)}\n`, { mode: 0o600 });
  writeFileSync(join(path, 'words.tsv'), 'herring\t20\nmackerel\t12\nsalmon\t8\n');
  writeFileSync(
    join(path, 'words.json'),
    JSON.stringify({
      ...{ recipe: 'words', analysis: 'try', stream: 'typed-words', value: 'word' },
      ...{ mechanism: 'cms', hash: 'poly1', seed: '24'.repeat(32) },
      parameters: { epsilon: 4, k: 16, m: 256 },
      send: { fresh: 'allow', delay_s: 0 },
      limit: { per_day: 100 },
      batch: { minimum: 5, max_age_s: 1 },
      cohort: { minimum: 5 },
      block: { tick_s: 1 },
      expires: '2099-01-01',
    }),
  );
  writeFileSync(join(path, 'shoal.json'), JSON.stringify(config));
}

test('shoal-linux-x64 needs a C library and nothing else, and serves', { skip }, async (t) => {
  const bare = makeChroot(join(work, 'bare'));
  cpSync(join(work, 'files', `shoal-linux-x64-${version}.tgz`), join(bare.folder, 'p.tgz'));
  await bare.run('mkdir /opt/shoal && tar -xzf /p.tgz -C /opt/shoal --strip-components=1');
  await assert.rejects(bare.run('command -v gcc || command -v cc'), 'it has no compiler');
  assert.equal(await bare.run('/opt/shoal/bin/shoal --version'), `shoal ${version}\n`);
  const loaded = await bare.run('ldd /opt/shoal/bin/shoal /opt/shoal/lib/*.so*');
  assert.doesNotMatch(loaded, /not found/);
  for (const [, path] of loaded.matchAll(/=> (\S+)/g))
    assert.match(
      path,
      /^\/opt\/shoal\/(bin\/\.\.\/)?lib\/|^\/lib\/x86_64-linux-gnu\/lib(c|m)\.so\.6$/,
    );
  const demo = await bare.run('/opt/shoal/bin/shoal demo --devices 20000');
  assert.match(demo, /^herring +\d/m);
  const port = await freePort();
  await configureServe(bare, 'run', port);
  const serve = bare.start('/opt/shoal/bin/shoal serve --config /run/shoal.json');
  started.push(serve);
  await answers(`http://127.0.0.1:${port}/healthz`, serve);
  serve.kill('SIGTERM');
  const [code] = await once(serve, 'exit');
  assert.equal(code, 0);
  t.diagnostic(`served by glibc ${(await bare.run('ldd --version | head -1')).trim()} alone`);
  rmSync(bare.folder, { recursive: true, force: true });
});

test(
  'the Debian package installs, with manual pages, completions and units',
  { skip },
  async (t) => {
    machine = makeChroot(join(work, 'debian'));
    mkdirSync(join(machine.folder, 'files'));
    for (const name of readdirSync(join(work, 'files')))
      cpSync(join(work, 'files', name), join(machine.folder, 'files', name));
    await machine.run('cd /files && sha256sum --quiet -c SHA256SUMS.unsigned');
    // The base leaves documents out of a small installation; man pages are what is looked at here.
    await machine.run('rm -f /etc/dpkg/dpkg.cfg.d/*; apt-get -qq update');
    const install = 'apt-get -qq install -y --no-install-recommends';
    await machine.run(`${install} man-db bash-completion zsh fish >/dev/null 2>&1`);
    await machine.run(`${install} /files/shoal_${version}_amd64.deb >/dev/null 2>&1`);
    assert.equal(await machine.run('dpkg --verify shoal'), '');
    assert.equal(await machine.run('shoal --version'), `shoal ${version}\n`);
    assert.match(await machine.run('shoal demo --devices 20000'), /^herring +\d/m);
    await assert.rejects(machine.run('command -v gcc || command -v cc'), 'it has no compiler');

    for (const name of readdirSync(join(root, 'docs/man')))
      assert.match(
        await machine.run(`man --path ${name.replace('.1', '')}`),
        /share\/man\/man1/,
        name,
      );
    assert.match(
      await machine.run('MANPAGER=cat man shoal-serve'),
      /take batches and give results/,
    );
    const completion = `. /usr/share/bash-completion/bash_completion; _completion_loader shoal
    COMP_WORDS=(shoal ing); COMP_CWORD=1; _shoal; echo "$COMPREPLY"
    _completion_loader shoal-edge; complete -p shoal-edge`;
    writeFileSync(join(machine.folder, 'completes'), completion);
    assert.match(await machine.run('bash /completes'), /^ingest\n.*_shoal_edge shoal-edge/);
    assert.match(await machine.run('fish -c \'complete -C "shoal recipe ch"\''), /^check\t/m);
    assert.match(
      await machine.run(
        "zsh -c 'autoload -U compinit; compinit -u; print $_comps[shoal] $_comps[shoal-relay]'",
      ),
      /^_shoal _shoal-relay/m,
    );

    const units = (await machine.run("dpkg -L shoal | grep '/systemd/system/.*service' || true"))
      .trim()
      .split('\n')
      .filter(Boolean);
    if (!units.length) t.diagnostic('SKIPPED the units: there is no deploy/systemd');
    else {
      await machine.run(`${install} systemd >/dev/null 2>&1`);
      const said = await machine.run(
        `systemd-analyze verify --man=yes ${units.join(' ')} 2>&1; echo ended with $?`,
      );
      assert.equal(said, 'ended with 0\n');
      t.diagnostic(`systemd-analyze verify: ${units.length} units`);
    }
  },
);

test('the npm of Debian 12 brings Node; the services run on it', { skip }, async (t) => {
  const told = await machine.run('shoal-edge --version 2>&1 || true');
  assert.match(told, /Node 20 or later is needed: run \/usr\/lib\/shoal\/bring-node/);
  await machine.run(
    'apt-get -qq install -y --no-install-recommends npm ca-certificates >/dev/null 2>&1',
  );
  const old = await machine.run('node --version; npm --version');
  assert.match(old, /^v18\./);
  await machine.run('/usr/lib/shoal/bring-node');
  for (const name of ['shoal-edge', 'shoal-relay', 'shoal-issuer'])
    assert.equal(await machine.run(`${name} --version`), `${name} ${version}\n`);
  // Set-up's own functions, with the path that the Makefile gives.
  mkdirSync(join(machine.folder, 'tree/scripts'), { recursive: true });
  for (const name of ['bring-node.sh', 'node.pins'])
    cpSync(join(root, 'scripts', name), join(machine.folder, 'tree/scripts', name));
  const source = readFileSync(join(root, 'scripts/setup.sh'), 'utf8');
  const functions = /(^has_node\(\)[\s\S]*?)^# npm ci/m.exec(source)?.[1] ?? '';
  writeFileSync(
    join(machine.folder, 'tree/run'),
    `set -euo pipefail; cd /tree; say() { echo "$*" >&2; }; is_debian_12() { true; }\n${functions}\nprovide_node; node --version; npm --version`,
  );
  const found = await machine.run('bash /tree/run');
  assert.match(found, /^v2\d\.\d+\.\d+\n\d+\./);
  t.diagnostic(`Debian's ${old.replace('\n', ' and npm ').trim()} brought ${found.split('\n')[0]}`);
});

test("the README's embed, from packages only", { skip }, async (t) => {
  const [servePort, edgePort, pagePort] = [await freePort(), await freePort(), await freePort()];
  const page = `http://127.0.0.1:${pagePort}`;
  await configureServe(machine, 'embed', servePort);
  const hash = (await machine.run('shoal recipe hash /embed/words.json')).slice(0, 64);
  const at = join(machine.folder, 'embed');
  writeFileSync(
    join(at, 'edge.json'),
    JSON.stringify({
      ...{ listen: `127.0.0.1:${edgePort}`, spool: 'spool', batch_secret_file: 'batch.secret' },
      recipes: [{ file: 'words.json', hash }],
      origins: [page],
      aggregator: `http://127.0.0.1:${servePort}/`,
    }),
  );
  // The client's files, out of its package, and a page of one module.
  const site = join(work, 'site');
  mkdirSync(site);
  cpSync(join(at, 'words.json'), join(site, 'words.json'));
  await machine.run(
    `mkdir /embed/client && tar -xzf /files/shoal-client-${version}.tgz -C /embed/client --strip-components=1`,
  );
  cpSync(join(at, 'client/dist'), join(site, 'shoal'), { recursive: true });
  writeFileSync(
    join(site, 'page.js'),
    `import { start } from '/shoal/loader.js';
     const shoal = start({ endpoint: 'http://127.0.0.1:${edgePort}/', recipes: [{ url: '/words.json', hash: '${hash}' }] });
     document.querySelector('#yes').onclick = () => shoal.consent.grant();
     shoal.observe(document.querySelector('textarea'));
     globalThis.shoal = shoal;`,
  );
  writeFileSync(
    join(site, 'index.html'),
    '<!doctype html><html lang="en"><title>Embed</title><link rel="icon" href="data:,"><button id="yes">Yes</button><textarea></textarea><script type="module" src="/page.js"></script></html>',
  );
  cpSync(site, join(at, 'site'), { recursive: true });
  writeFileSync(
    join(at, 'site.mjs'),
    `import { createServer } from 'node:http'; import { readFile } from 'node:fs/promises'; import { extname } from 'node:path';
     const types = { '.js': 'text/javascript', '.wasm': 'application/wasm', '.html': 'text/html', '.json': 'application/json' };
     createServer(async (q, a) => { const path = q.url === '/' ? '/index.html' : q.url;
       try { const data = await readFile('/embed/site' + path); a.setHeader('Content-Type', types[extname(path)] ?? 'text/plain');
         a.setHeader('Content-Security-Policy', "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; img-src data:; connect-src 'self' http://127.0.0.1:${edgePort}");
         a.end(data); } catch { a.writeHead(404).end(); } }).listen(${pagePort}, '127.0.0.1');`,
  );
  const serve = machine.start('shoal serve --config /embed/shoal.json');
  const edge = machine.start('shoal-edge --config /embed/edge.json');
  const web = machine.start('/usr/lib/shoal/node/bin/node /embed/site.mjs');
  started.push(serve, edge, web);
  let told = '';
  for (const child of [serve, edge]) child.stderr?.on('data', (bytes) => (told += bytes));
  await answers(`http://127.0.0.1:${servePort}/healthz`, serve);
  await answers(`http://127.0.0.1:${edgePort}/healthz`, edge);
  await answers(page, web);

  const browser = await launchBrowser();
  try {
    const tab = await browser.newPage();
    /** @type {string[]} */
    const errors = [];
    tab.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await tab.goto(page);
    await tab.click('#yes');
    const words = 'herring mackerel salmon '.repeat(8);
    await tab.type('textarea', words);
    await tab.waitForFunction(async () => {
      const { shoal } = /** @type {any} */ (globalThis);
      await shoal.flush();
      const reports = await shoal.reports();
      return reports.filter((/** @type {any} */ each) => each.state === 'sent').length >= 10;
    });
    assert.deepEqual(errors, []);
  } finally {
    await browser.close();
  }
  const end = Date.now() + 120_000;
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${servePort}/v1/results/words`);
    if (response.ok) {
      const result = await response.json();
      assert.ok(result.rows.some((/** @type {any} */ row) => row.value === 'herring'));
      t.diagnostic(`a result of ${result.n} reports of a browser, by packages alone`);
      break;
    }
    assert.ok(Date.now() < end, `no result: ${response.status} ${await response.text()}\n${told}`);
    await sleep(200);
  }
});
