// SPDX-License-Identifier: Apache-2.0
// The newcomer: an empty folder, a registry that has the release's packages and what they need of others, and the
// quickstart's own lines: npm init shoal, npm install, npm run dev, a browser. No step by hand, nothing of the checkout.
// The time to the first chart is printed, and held below a minute under SHOAL_LONG, where run_js.mjs lets nothing else run.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { startRegistry } from './registry.mjs';
import { execute, isLong, newcomer, packOthers, release, unfinished } from './release_helpers.mjs';

const NEEDED = ['create-shoal', 'shoal-dev', 'shoal-verify'];
const missing = NEEDED.filter((name) => unfinished.includes(name));
const skip = missing.length > 0 && `${missing.join(', ')}: the programs are not written yet`;
const MINUTE = 60_000;
const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
  // The client sends nothing from a browser that says that a program drives it.
  '--disable-blink-features=AutomationControlled',
];
if (skip) console.log(`# SKIPPED the newcomer: ${skip}`);

/** @type {string} */
let work;
/** @type {Awaited<ReturnType<typeof startRegistry>>} */
let registry;
before(async () => {
  if (skip) return;
  work = mkdtempSync(join(tmpdir(), 'shoal-newcomer-'));
  await release(join(work, 'files'));
  packOthers(join(work, 'others'));
  registry = await startRegistry([join(work, 'files'), join(work, 'others')]);
});
after(async () => {
  if (skip) return;
  await registry.close();
  rmSync(work, { recursive: true, force: true });
});

/** Ends a process and all that it started. @param {import('node:child_process').ChildProcess} child */
async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  process.kill(-Number(child.pid), 'SIGINT'); // Ctrl-C reaches the whole group
  await once(child, 'close');
}

/** What a process prints, until a pattern is in it. @param {import('node:child_process').ChildProcess} child @param {RegExp} pattern @returns {Promise<RegExpExecArray>} */
function prints(child, pattern) {
  return new Promise((resolve, reject) => {
    let told = '';
    const see = (/** @type {Buffer} */ bytes) => {
      told += bytes;
      const found = pattern.exec(told);
      if (found) resolve(found);
    };
    child.stdout?.on('data', see);
    child.stderr?.on('data', see);
    child.on('exit', (code) => reject(new Error(`it ended with ${code}: ${told}`)));
  });
}

test('from an empty folder to a first chart, by packages alone', { skip }, async (t) => {
  const empty = join(work, 'empty');
  mkdirSync(empty);
  const env = { ...newcomer(join(work, 'home'), registry.url), BROWSER: 'none' };
  const began = Date.now();
  const answers = ['--what', 'words', '--visitors', '20000', '--strict', 'medium'];
  answers.push('--packages', 'registry');
  await execute('npm', ['init', '--yes', 'shoal', 'my-site', '--', ...answers], {
    cwd: empty,
    env,
  });
  const cwd = join(empty, 'my-site');
  assert.ok(readdirSync(cwd).includes('package.json'), readdirSync(cwd).join(' '));
  const asked = Date.now();
  await execute('npm', ['install'], { cwd, env });
  const installed = Date.now();
  const dev = spawn('npm', ['run', 'dev'], {
    ...{ cwd, env, detached: true },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => end(dev));
  const [, url] = await prints(dev, /^ +open +(http:\/\/\S+)/m);
  const browser = await chromium.launch({
    executablePath: process.env.SHOAL_CHROMIUM ?? '/usr/bin/chromium',
    args: FLAGS,
  });
  t.after(() => browser.close());
  const page = await browser.newPage();
  page.setDefaultTimeout(2 * MINUTE);
  /** @type {string[]} */
  const problems = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  await page.goto(url);
  await page.locator('tbody tr[data-value]').first().waitFor();
  const seconds = (Date.now() - began) / 1000;
  assert.deepEqual(problems, []);
  // The platform's package and a driver of browsers are optional, and the registry has neither.
  const optional = ['shoal-linux-x64', 'playwright-core'];
  const others = registry.asked.filter((name) => !optional.includes(name));
  assert.deepEqual(others, [], 'nothing else was needed');
  t.diagnostic(
    `a first chart after ${seconds.toFixed(1)} s: init ${((asked - began) / 1000).toFixed(1)}, install ${((installed - asked) / 1000).toFixed(1)}`,
  );
  if (isLong) assert.ok(seconds < 60, `${seconds} s`);

  // What init wrote passes its own check, too, with the programs that were installed.
  const about = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8'));
  assert.ok(about.scripts.check, 'npm run check');
  await execute(join(cwd, 'node_modules/.bin/shoal-edge'), ['--config', 'edge.json', '--check'], {
    cwd,
    env,
  });
});
