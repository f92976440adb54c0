// SPDX-License-Identifier: Apache-2.0
// Runs what the documentation shows. A fenced block whose info string is
//
//     sh test           is run by bash (-eu, pipefail) and must exit with 0; `sh test exit=3`, with 3
//     js test           is run by Node as a module that may import the workspaces' packages
//     text output       right after one of these, is what it must print on standard output; `...` stands for anything
//                       within a line, and alone on a line for any lines
//
// The blocks of a page run in order in one empty folder that looks like a checkout: build/release/shoal and docs/recipes are
// there, and `shoal` and `shoal-edge` are on the PATH. Ports 8471 to 8479 become ports that are free. SHOAL_DOCS_UPDATE=1 writes what was printed into the pages instead of comparing.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../ports.mjs';
import { blocks, pages, read, root } from './markdown.mjs';

/** @typedef {import('./markdown.mjs').Block} Block */

const shoal = process.env.SHOAL_BINARY ?? join(root, 'build/release/shoal');
const hasDist =
  existsSync(join(root, 'wasm/dist/client.js')) && existsSync(join(root, 'wasm/dist/shoal.wasm'));
const BLOCK_MS = 120_000; // twenty times what the longest takes: what waits for something in a loop ends, and says where
const isUpdating = process.env.SHOAL_DOCS_UPDATE === '1';

/** A folder in which a page's examples run. @returns {{folder: string, env: NodeJS.ProcessEnv}} */
function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-docs-'));
  const bin = join(folder, 'build/release');
  mkdirSync(bin, { recursive: true });
  symlinkSync(shoal, join(bin, 'shoal'));
  mkdirSync(join(folder, 'docs'));
  cpSync(join(root, 'docs/recipes'), join(folder, 'docs/recipes'), { recursive: true });
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json')); // a module is a module here too
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  symlinkSync(join(root, 'edge/bin/shoal-edge.js'), join(bin, 'shoal-edge'));
  return {
    folder,
    env: { ...process.env, PATH: `${bin}:${process.env.PATH}`, LC_ALL: 'C.UTF-8', TZ: 'UTC' },
  };
}

/** A free port for each that pages name. @returns {Promise<Map<string, string>>} */
async function freePorts() {
  const ports = new Map();
  for (let port = 8471; port <= 8479; port++) ports.set(String(port), String(await freePort()));
  return ports;
}

/**
 * @param {Block} block @param {string} folder @param {NodeJS.ProcessEnv} env
 * @param {number[]} groups process groups that were started
 * @param {Map<string, string>} ports see freePorts
 * @returns {Promise<{code: number | null, stdout: string, stderr: string}>}
 */
function run(block, folder, env, groups, ports) {
  const isShell = block.info[0] === 'sh';
  const script = join(folder, `.block-${block.line}.${isShell ? 'sh' : 'mjs'}`);
  writeFileSync(
    script,
    block.text.replace(/\b847[1-9]\b/g, (port) => ports.get(port) ?? port),
  );
  const [command, args] = isShell
    ? ['bash', ['-eu', '-o', 'pipefail', script]]
    : [process.execPath, [script]];
  const child = spawn(command, args, {
    cwd: folder,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (child.pid) groups.push(child.pid);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (data) => (stdout += data));
  child.stderr.on('data', (data) => (stderr += data));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      stderr += `\nended after ${BLOCK_MS / 1000} s\n`;
      child.kill('SIGKILL');
    }, BLOCK_MS);
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(timer);
      const done = () => resolve({ code, stdout, stderr });
      child.once('close', done);
      setTimeout(() => setImmediate(done), 300); // what was started in the background may hold the pipes open: read once more, and no longer
    });
  });
}

/** What servers that examples started have said. @param {string} folder */
const logsOf = (folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /(^|\/|\.)log$/.test(name) && !name.startsWith('node_modules'))
    .map((name) => `\n${name}:\n${readFileSync(join(folder, name), 'utf8')}`)
    .join('');

/** Does the text print as the pattern shows? @param {string} text @param {string} pattern */
function matches(text, pattern) {
  const lines = pattern
    .replace(/\n$/, '')
    .split('\n')
    .map((line) =>
      line.trim() === '...'
        ? '(?:.*\\n)*?'
        : line
            .split('...')
            .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
            .join('.*') + '\\n',
    );
  return new RegExp(`^${lines.join('')}$`).test(
    text.endsWith('\n') || text === '' ? text : text + '\n',
  );
}

/** @param {string} page @param {Block} block @param {string} printed */
function update(page, block, printed) {
  const lines = read(page).split('\n');
  const end = lines.findIndex((line, i) => i >= block.line && /^ *```$/.test(line));
  lines.splice(block.line, end - block.line, ...printed.replace(/\n$/, '').split('\n'));
  writeFileSync(join(root, page), lines.join('\n'));
}

for (const page of pages) {
  const all = blocks(read(page));
  const examples = all.filter(
    (block) => /^(sh|js)$/.test(block.info[0]) && block.info[1] === 'test',
  );
  if (!examples.length) continue;
  test(
    `the examples of ${page} run`,
    { timeout: 900_000, skip: !existsSync(shoal) && `${shoal} is not built` },
    async (t) => {
      const { folder, env } = makeFolder();
      const ports = await freePorts();
      /** @type {number[]} */
      const groups = [];
      t.after(() => {
        for (const group of groups) {
          try {
            process.kill(-group, 'SIGKILL'); // what an example left running
          } catch {
            // nothing
          }
        }
        rmSync(folder, { recursive: true, force: true });
      });
      /** @type {[Block, string][]} */
      const printed = [];
      for (const block of examples) {
        if (block.info[0] === 'js' && !hasDist) {
          t.diagnostic(`${page}:${block.line}: left out, wasm/dist is not built`);
          continue;
        }
        const { code, stdout, stderr } = await run(block, folder, env, groups, ports);
        const wanted = Number(block.info.find((word) => word.startsWith('exit='))?.slice(5) ?? 0);
        assert.equal(
          code,
          wanted,
          `${page}:${block.line} exits with ${code}\n${stdout}${stderr}${logsOf(folder)}`,
        );
        const next = all[all.indexOf(block) + 1];
        if (next?.info.join(' ') !== 'text output') continue;
        if (matches(stdout, next.text)) continue;
        if (!isUpdating)
          assert.equal(stdout, next.text, `${page}:${block.line} prints something else`);
        printed.push([next, stdout]);
      }
      for (const [block, text] of printed.reverse()) update(page, block, text); // from the end: lines move
    },
  );
}
