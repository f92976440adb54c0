// SPDX-License-Identifier: Apache-2.0
// What make release writes: the same bytes twice, notices of what is inside, sums that fit, a signature that openssl
// takes and that a changed byte breaks, and packages that npm installs from a registry that has nothing else.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { noticeText } from '../../scripts/release/notices.mjs';
import { makeTarball, readTarball } from '../../scripts/release/tar.mjs';
import { startRegistry } from './registry.mjs';
import {
  execute,
  existsSync,
  filesOf,
  isLong,
  native,
  newcomer,
  packOthers,
  release,
  root,
  unfinished,
  version,
} from './release_helpers.mjs';

/** @type {string} */
let work;
/** @type {string} */
let out;
const at = (/** @type {string[]} */ ...names) => join(work, ...names);

before(async () => {
  work = mkdtempSync(join(tmpdir(), 'shoal-release-'));
  out = at('files');
  const { privateKey } = generateKeyPairSync('ed25519');
  writeFileSync(at('key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }), {
    mode: 0o600,
  });
  await release(out, { key: at('key.pem') });
});
after(() => rmSync(work, { recursive: true, force: true }));

test('an archive that is written is read again, by tar too', () => {
  const long = `${'folder/'.repeat(16)}${'name'.repeat(10)}.txt`;
  const files = new Map([
    ['package/b.sh', { data: Buffer.from('#!/bin/sh\n'), mode: 0o755 }],
    ['package/a.txt', { data: Buffer.alloc(1000, 'x') }],
    [long, { data: Buffer.alloc(512, 'y') }],
    ['package/empty', { data: Buffer.alloc(0) }],
  ]);
  const packed = makeTarball(files, 1_700_000_000);
  assert.deepEqual(packed, makeTarball(new Map([...files].reverse()), 1_700_000_000));
  assert.notDeepEqual(packed, makeTarball(files, 1_700_000_001));
  const again = readTarball(packed);
  for (const [path, { data, mode = 0o644 }] of files) {
    assert.deepEqual(again.get(path)?.data, data, path);
    assert.equal(again.get(path)?.mode, mode, path);
  }
  writeFileSync(at('a.tgz'), packed);
  const listed = execFileSync('tar', ['-tvzf', at('a.tgz')], {
    encoding: 'utf8',
    env: { TZ: 'UTC' },
  });
  assert.match(listed, /^-rwxr-xr-x 0\/0 +10 2023-11-14 22:13 package\/b\.sh$/m);
  assert.ok(listed.includes(long));
  assert.throws(() => makeTarball(new Map([['x'.repeat(101), { data: Buffer.alloc(0) }]]), 0));
});

test('every package carries its licence, its notices and its programs', async (t) => {
  const names = [...filesOf(out).keys()].filter((name) => name.endsWith('.tgz'));
  assert.ok(names.includes(`shoal-client-${version}.tgz`) && names.length >= 5, names.join(' '));
  if (unfinished.length) t.diagnostic(`NOT PACKED, their programs are missing: ${unfinished}`);
  for (const name of names) {
    const files = readTarball(readFileSync(join(out, name)));
    const text = (/** @type {string} */ path) => String(files.get(`package/${path}`)?.data);
    const about = JSON.parse(text('package.json'));
    assert.equal(about.version, version, name);
    assert.match(text('LICENSE'), /Apache License/, name);
    assert.match(text('THIRD-PARTY.txt'), /^This package holds (no )?code of others/, name);
    for (const program of Object.values(about.bin ?? {})) {
      const mode = files.get(`package/${program}`)?.mode;
      assert.equal(mode, 0o755, `${name}: ${program}`);
    }
    for (const [path, { data }] of files)
      assert.ok(!data.includes(root), `${name}: ${path} names the folder it was built in`);
  }
  const notices = String(
    readTarball(readFileSync(join(out, `shoal-client-${version}.tgz`))).get(
      'package/THIRD-PARTY.txt',
    )?.data,
  );
  for (const what of ['@hpke/core', 'idb-keyval', 'tldts', 'emscripten', 'musl', 'Ajitomi Daisuke'])
    assert.ok(notices.includes(what), what);
  // The native server holds the chart of its pages.
  assert.match(await noticeText('debian'), /^  uplot 1\.\d+\.\d+ \(MIT\)$[\s\S]*Leon Sorokin/m);
});

test('the sums fit, and openssl checks who signed them', () => {
  const files = filesOf(out);
  const sums = String(files.get('SHA256SUMS'));
  const about = JSON.parse(String(files.get('release.json')));
  for (const [name, data] of files) {
    if (/^SHA256SUMS|^shoal-release\.pem$/.test(name)) continue;
    const sum = createHash('sha256').update(data).digest('hex');
    assert.ok(sums.includes(`${sum}  ${name}\n`), name);
    if (name !== 'release.json')
      assert.ok(
        about.files.some((/** @type {any} */ file) => file.name === name && file.sha256 === sum),
      );
  }
  const openssl = () =>
    spawnSync(
      'openssl',
      [
        ...['pkeyutl', '-verify', '-pubin', '-inkey', 'shoal-release.pem', '-rawin'],
        ...['-in', 'SHA256SUMS', '-sigfile', 'SHA256SUMS.sig'],
      ],
      { cwd: out, encoding: 'utf8' },
    );
  assert.match(openssl().stdout, /Signature Verified Successfully/);
  writeFileSync(
    join(out, 'SHA256SUMS'),
    sums.replace(/^./, (c) => (c === '0' ? '1' : '0')),
  );
  assert.notEqual(openssl().status, 0);
  writeFileSync(join(out, 'SHA256SUMS'), sums);
});

/** Runs the script. */
const make = (/** @type {Record<string, string>} */ env, /** @type {string[]} */ ...args) =>
  spawnSync(
    process.execPath,
    [join(root, 'scripts/release/make.mjs'), '--without-native', '--incomplete', ...args],
    { encoding: 'utf8', env: { ...process.env, SHOAL_RELEASE_KEY: '', ...env } },
  );

test('the same sources give the same bytes; without a key, the name of the sums says so', () => {
  const plain = make({}, '--out', at('plain'));
  assert.equal(plain.status, 0, plain.stderr);
  assert.match(plain.stdout, /^UNSIGNED: /m);
  const names = [...filesOf(at('plain')).keys()];
  assert.ok(
    names.includes('SHA256SUMS.unsigned') && !names.includes('SHA256SUMS'),
    names.join(' '),
  );

  writeFileSync(at('open.pem'), readFileSync(at('key.pem')), { mode: 0o644 });
  const open = make({ SHOAL_RELEASE_KEY: at('open.pem') }, '--out', at('open'));
  assert.equal(open.status, 1);
  assert.match(open.stderr, /open\.pem: others can read the key/);
  const { privateKey } = generateKeyPairSync('x25519');
  writeFileSync(at('other.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }), {
    mode: 0o600,
  });
  assert.match(
    make({ SHOAL_RELEASE_KEY: at('other.pem') }, '--out', at('open')).stderr,
    /an Ed25519 key is needed, and this is x25519/,
  );
  assert.ok(!existsSync(at('open')), 'refused before anything is written');
  mkdirSync(at('mine'));
  writeFileSync(at('mine/thesis.txt'), 'mine');
  assert.match(make({}, '--out', at('mine')).stderr, /holds files that are no release/);
  assert.equal(readFileSync(at('mine/thesis.txt'), 'utf8'), 'mine');
});

test('npm installs them from a registry that has nothing else, and they run', async () => {
  packOthers(at('others'));
  const registry = await startRegistry([out, at('others')]);
  const env = newcomer(at('home'), registry.url);
  mkdirSync(at('project'));
  writeFileSync(at('project/package.json'), '{"private":true,"type":"module"}');
  const cwd = at('project');
  try {
    const names = ['shoal-aggregator', 'shoal-edge', 'shoal-relay', 'shoal-issuer'];
    await execute('npm', ['install', '--ignore-scripts', ...names], { cwd, env });
    for (const [name, program] of [
      ['shoal-edge', 'shoal-edge'],
      ['shoal-relay', 'shoal-relay'],
      ['shoal-issuer', 'shoal-issuer'],
      ['shoal-client', 'shoal-client'],
      ['shoal-aggregator', 'shoal'],
    ]) {
      const { stdout } = await execute(join(cwd, 'node_modules/.bin', program), ['--version'], {
        cwd,
        env,
      });
      assert.equal(stdout, `${program} ${version}\n`, name);
    }
    const shoal = join(cwd, 'node_modules/.bin/shoal');
    const args = [
      'recipe',
      'new',
      '--id',
      'words',
      '--k',
      '64',
      '--expires',
      '2099-01-01',
      '-o',
      'r.json',
    ];
    await execute(shoal, args, { cwd, env });
    const { stdout } = await execute(shoal, ['recipe', 'check', 'r.json'], { cwd, env });
    assert.match(stdout, /epsilon/);
    assert.deepEqual(registry.asked, [], 'nothing that the registry lacks was asked for');
    await assert.rejects(
      execute('npm', ['install', 'shoal-client@9.9.9'], { cwd, env }),
      /No matching version|notarget/i,
    );
  } finally {
    await registry.close();
  }
});

test(
  'the native packages are the same bytes twice',
  { skip: !isLong && 'SHOAL_LONG' },
  async (t) => {
    assert.ok(existsSync(native), 'make native comes first');
    await release(at('native'), { native });
    await release(at('native-again'), { native });
    const [first, second] = [filesOf(at('native')), filesOf(at('native-again'))];
    assert.ok(
      first.has(`shoal_${version}_amd64.deb`) && first.has(`shoal-linux-x64-${version}.tgz`),
    );
    for (const [name, data] of first) {
      assert.ok(data.equals(/** @type {Buffer} */ (second.get(name))), name);
      t.diagnostic(`${name}: ${data.length} bytes`);
    }
    const platform = readTarball(
      /** @type {Buffer} */ (first.get(`shoal-linux-x64-${version}.tgz`)),
    );
    assert.match(String(platform.get('package/THIRD-PARTY.txt')?.data), /^  uplot .*\(MIT\)$/m);
    assert.ok(platform.get('package/bin/shoal')?.data.includes('/assets/chart-'));
  },
);
