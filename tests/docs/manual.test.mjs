// SPDX-License-Identifier: Apache-2.0
// The manual pages say what the commands say: every command of `shoal --help` has a page and every page a command; every
// option of a command's --help is in its page and the reverse. And they render without a warning.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { read, root } from './markdown.mjs';

const shoal = process.env.SHOAL_BINARY ?? join(root, 'build/release/shoal');
const skip = !existsSync(shoal) && `${shoal} is not built`;
const manuals = readdirSync(join(root, 'docs/man'))
  .filter((name) => name.endsWith('.1'))
  .sort();

/** Options that every command takes and that shoal.1 alone tells of. */
const COMMON = ['--help', '-h', '--version'];

/** @param {string[]} args */
const help = (...args) => execFileSync(shoal, args, { encoding: 'utf8' });

/** Names of the list that follows a heading. @param {string} text of a --help @param {string} [heading] */
const commandsOf = (text, heading = 'Commands') =>
  [
    ...(text.split(`\n${heading}:\n`)[1] ?? '')
      .split('\n\n')[0]
      .matchAll(/^ {2}([a-z][a-z-]*) {2,}\S/gm),
  ].map((match) => match[1]);

/** Help of a command and, behind it, of its actions. @param {string} command */
function helpOf(command) {
  const own = help(command, '--help');
  return [own, ...commandsOf(own, 'Actions').map((action) => help('help', command, action))].join(
    '\n',
  );
}

/** @param {Iterable<string>} names */
const sorted = (names) => [...new Set(names)].filter((name) => !COMMON.includes(name)).sort();

/** @param {string} text of a --help */
const optionsOfHelp = (text) =>
  sorted(
    [...text.matchAll(/(?<![\w-])(--[a-z][a-z-]*|-[a-z])(?![\w-])/g)].map((match) => match[1]),
  );

/** @param {string} name of a manual page */
function optionsOfManual(name) {
  const macros = read(`docs/man/${name}`)
    .split('\n')
    .filter((line) => line.startsWith('.') && !line.startsWith('.\\"'));
  return sorted(
    macros.flatMap((line) =>
      [...line.matchAll(/\bFl (-?[a-z][a-z-]*)/g)].map((match) => `-${match[1]}`),
    ),
  );
}

test('every command has a manual page, and every page a command', { skip }, () => {
  const commands = commandsOf(help('--help'));
  assert.ok(commands.length > 4, 'the help lists commands');
  assert.deepEqual(
    manuals,
    [
      'shoal.1',
      'shoal-dev.1',
      'shoal-edge.1',
      'shoal-relay.1',
      'shoal-issuer.1',
      'shoal-verify.1',
      ...commands.map((name) => `shoal-${name}.1`),
    ].sort(),
  );
  const listed = [...read('docs/man/shoal.1').matchAll(/^\.It Cm ([a-z][a-z-]*)$/gm)].map(
    (match) => match[1],
  );
  assert.deepEqual(listed.sort(), commands.sort(), 'shoal.1 lists the commands');
});

test('manual pages and --help list the same options', { skip }, () => {
  for (const command of commandsOf(help('--help'))) {
    assert.deepEqual(
      optionsOfManual(`shoal-${command}.1`),
      optionsOfHelp(helpOf(command)),
      command,
    );
  }
  assert.deepEqual(
    optionsOfManual('shoal.1').filter((name) => name !== '--top'),
    optionsOfHelp(help('--help')),
  );
  const edge = spawnSync(process.execPath, [join(root, 'edge/bin/shoal-edge.js'), '--help'], {
    encoding: 'utf8',
  });
  if (edge.status === 0)
    assert.deepEqual(optionsOfManual('shoal-edge.1'), optionsOfHelp(edge.stdout), 'shoal-edge');
  const relay = spawnSync(process.execPath, [join(root, 'relay/bin/shoal-relay.js'), '--help'], {
    encoding: 'utf8',
  });
  assert.equal(relay.status, 0);
  assert.deepEqual(optionsOfManual('shoal-relay.1'), optionsOfHelp(relay.stdout), 'shoal-relay');
  const dev = spawnSync(process.execPath, [join(root, 'dev/bin/shoal-dev.js'), '--help'], {
    encoding: 'utf8',
  });
  assert.equal(dev.status, 0);
  assert.deepEqual(optionsOfManual('shoal-dev.1'), optionsOfHelp(dev.stdout), 'shoal-dev');
});

test('manual pages name themselves and render without a warning', () => {
  const hasGroff = spawnSync('groff', ['--version']).status === 0;
  const hasMandoc = spawnSync('mandoc', ['/dev/null']).error === undefined;
  for (const name of manuals) {
    const title = name.replace(/\.1$/, '');
    const source = read(`docs/man/${name}`);
    assert.match(source, new RegExp(`^\\.Dt ${title.toUpperCase()} 1$`, 'm'), name);
    assert.match(source, new RegExp(`^\\.Nm ${title}$\\n\\.Nd `, 'm'), name);
    for (const section of ['NAME', 'SYNOPSIS', 'DESCRIPTION', 'EXIT STATUS', 'SEE ALSO'])
      assert.ok(source.includes(`.Sh ${section}\n`), `${name}: ${section}`);
    for (const [, other] of source.matchAll(/^\.Xr (\S+) 1/gm))
      assert.ok(manuals.includes(`${other}.1`), `${name}: ${other}`);
    const path = join(root, 'docs/man', name);
    const runs = [
      hasGroff && spawnSync('groff', ['-ww', '-mdoc', '-Tutf8', '-z', path], { encoding: 'utf8' }),
      hasMandoc && spawnSync('mandoc', ['-T', 'lint', '-W', 'warning', path], { encoding: 'utf8' }),
    ];
    for (const run of runs) if (run) assert.equal(run.stdout + run.stderr, '', name);
  }
});
