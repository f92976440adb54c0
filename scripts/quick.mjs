// SPDX-License-Identifier: Apache-2.0
// `make quick` checks your changes in under a minute. It checks the format of the changed files,
// builds the native programs, and runs the tests of the rooms that changed, the fuzz corpora and
// the artefacts of earlier versions.
//
// Usage: node scripts/quick.mjs [BASE]. Files that differ from BASE count as changed. The default
// is HEAD, or the merge base with `main` if the work tree is clean.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatOf, isNative, testsOf } from './quick_tests.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
const started = Date.now();
const seconds = (/** @type {number} */ from) => ((Date.now() - from) / 1000).toFixed(0);

/** The lines of a program's output. @param {string} program @param {...string} args */
const lines = (program, ...args) =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    .split('\n')
    .filter(Boolean);

/** Runs a program to its end, and prints what it wrote if it fails. @param {string} what @param {string} program @param {string[]} args */
async function run(what, program, args) {
  const from = Date.now();
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  }
  const code = await new Promise((resolve, reject) =>
    child.on('error', reject).on('close', resolve),
  );
  if (code !== 0) {
    process.stderr.write(`${output}\nquick: ${what} failed: ${program} ${args.join(' ')}\n`);
    process.exit(1);
  }
  process.stdout.write(`${seconds(from).padStart(4)} s  ${what}\n`);
  return output;
}

function changedSince(/** @type {string | undefined} */ asked) {
  const untracked = lines('git', 'ls-files', '--others', '--exclude-standard');
  const since = (/** @type {string} */ base) => [
    ...lines('git', 'diff', '--name-only', '--diff-filter=d', base),
    ...untracked,
  ];
  if (asked) return since(asked);
  const changed = since('HEAD');
  if (changed.length > 0) return changed;
  try {
    return since(lines('git', 'merge-base', 'HEAD', 'main')[0]);
  } catch {
    return since('HEAD~1'); // no branch `main` here
  }
}

const changed = changedSince(process.argv[2]);
if (changed.length === 0) {
  process.stdout.write('quick: nothing has changed\n');
  process.exit(0);
}
process.stdout.write(`quick: ${changed.length} changed files\n`);

const { clang, prettier } = formatOf(changed);
if (clang.length > 0) await run('format, C', 'clang-format-14', ['--dry-run', '-Werror', ...clang]);
if (prettier.length > 0) {
  const options = ['prettier', '--check', '--log-level', 'warn'];
  await run('format, JavaScript and Markdown', 'npx', [...options, ...prettier]);
}

// The types and the build do not depend on each other, so they run at the same time.
const types = async () => {
  const scripts = changed.filter((file) => /\.(js|mjs|d\.ts)$|tsconfig|package\.json$/.test(file));
  if (scripts.length === 0) return; // C has none
  const packages = new Set(
    scripts.map((file) => file.split('/')[0]).filter((name) => existsSync(`${name}/tsconfig.json`)),
  );
  await run('types of the scripts and tests', 'npm', ['run', 'check']);
  for (const name of packages) await run(`types of ${name}`, 'npm', ['run', 'check', '-w', name]);
};
const build = async () => {
  if (!existsSync('build/release/build.ninja') || changed.some((file) => /CMake/.test(file)))
    await run('configure', 'cmake', ['--preset', 'release']);
  await run('build', 'cmake', ['--build', '--preset', 'release']);
};
await Promise.all([types(), build()]);

const names = lines('ctest', '--preset', 'release', '-N')
  .map((line) => /^ *Test +#\d+: (\S+)$/.exec(line)?.[1])
  .filter((name) => name !== undefined);
/** Files of a folder, or none. @param {string} folder */
const filesOf = (folder) =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(folder, entry.name))
    : [];
const { ctest, node } = testsOf(changed, names, filesOf);
if (ctest.length > 0) {
  const regex = `^(${ctest.map((name) => name.replaceAll('.', '\\.')).join('|')})$`;
  // Slow tests that a change of one room seldom affects are left to make test.
  await run(`${ctest.length} native tests`, 'ctest', [
    '--preset',
    'release',
    '-LE',
    'slow',
    '-R',
    regex,
  ]);
}
if (node.length > 0)
  await run(`${node.length} files of JavaScript tests`, process.execPath, ['--test', ...node]);
const missing =
  isNative(changed) || ctest.length + node.length > 0 ? '' : '; no test belongs to these files';
process.stdout.write(`== quick: green in ${seconds(started)} s${missing}\n`);
