// SPDX-License-Identifier: Apache-2.0
// The images of the deployment kit: built twice, bases too, and the same; what is in them; every service of the compose file started from
// its image. It takes five minutes and root, so it runs under SHOAL_LONG=1 only.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  Buildah,
  NAMES,
  makeBases,
  makeContext,
  needPrograms,
  version,
} from '../../deploy/images/build.mjs';
import { COMPOSE_FILE, readYaml } from './compose_file.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** The most that an image may weigh, in bytes. Node's program is 127 MB of it. @type {Record<string, number>} */
const SIZES = { edge: 140e6, relay: 138e6, issuer: 138e6, aggregator: 30e6, proxy: 45e6 };
const NOT_SHOWN =
  'Not shown here: docker or podman compose itself, and that its networks part the services (all share one loopback here); ' +
  'no-new-privileges, pids_limit, the logging options and restarts; certificates for names of the internet.';

/** Why this cannot run here, or null. */
function obstacle() {
  if (process.env.SHOAL_LONG !== '1') return 'without SHOAL_LONG=1';
  if (process.getuid?.() !== 0) return 'without root: debootstrap, chroot and namespaces need it';
  if (!existsSync('/usr/bin/apt-get')) return 'not on Debian';
  if (spawnSync('unshare', ['--net', '--mount', 'true']).status !== 0) return 'without namespaces';
  return null;
}

const why = obstacle();
if (why !== null) test(`SKIPPED ${why}: images and services of the kit`, { skip: true }, () => {});
else {
  needPrograms('buildah', 'debootstrap');
  needPrograms('ip', 'docker-compose');
  const storage = mkdtempSync(join(tmpdir(), 'shoal-storage-'));
  const buildah = new Buildah(storage);
  /** @type {Record<string, string>} */
  const ids = {};
  test.after(() => rmSync(storage, { recursive: true, force: true }));

  /** Builds all images. @param {import('node:test').TestContext} t @param {string} folder */
  const buildAll = (t, folder) => {
    const context = join(storage, folder);
    makeContext(context, { program: join(root, 'build/release/shoal') });
    const began = Date.now();
    const bases = makeBases(buildah, { isAnew: true });
    t.diagnostic(`bases: ${Math.round((Date.now() - began) / 1000)} s`);
    return NAMES.map((name) => {
      const start = Date.now();
      const id = buildah.build(name, context, bases);
      t.diagnostic(`shoal-${name}: ${Math.round((Date.now() - start) / 1000)} s`);
      return [name, id];
    });
  };

  test('images are built, and from bases made anew they are the same', (t) => {
    Object.assign(ids, Object.fromEntries(buildAll(t, 'one')));
    assert.deepEqual(Object.fromEntries(buildAll(t, 'another/folder')), ids);
  });

  for (const name of NAMES)
    test(`shoal-${name} holds what it needs`, (t) => {
      const container = buildah.call('from', `localhost/shoal-${name}:${version}`);
      t.after(() => buildah.call('rm', container));
      const image = buildah.call('mount', container);
      checkImage(t, name, image, inspected(container));
    });

  /** @param {string} container @returns {any} */
  const inspected = (container) =>
    JSON.parse(buildah.call('inspect', '--type', 'container', container)).OCIv1;

  test('docker-compose takes the file, and reads in it what these tests read', () => {
    const compose = ['-f', COMPOSE_FILE, '--profile', 'issuer', 'config', '-q'];
    execFileSync('docker-compose', compose, { stdio: ['ignore', 'inherit', 'inherit'] });
    const script = 'import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))';
    const read = execFileSync('python3', ['-c', script, COMPOSE_FILE], { encoding: 'utf8' });
    assert.deepEqual(readYaml(readFileSync(COMPOSE_FILE, 'utf8')), JSON.parse(read));
  });

  test('every service of the compose file starts from its image, and reports become a result', (t) => {
    const script = fileURLToPath(new URL('run_kit.mjs', import.meta.url));
    const args = ['--net', '--mount', process.execPath, script, storage];
    const done = spawnSync('unshare', args, { encoding: 'utf8' });
    assert.equal(done.status, 0, done.stdout + done.stderr);
    for (const line of [...done.stdout.trim().split('\n'), NOT_SHOWN]) t.diagnostic(line);
  });
}

/**
 * @param {import('node:test').TestContext} t
 * @param {string} name
 * @param {string} image  the image's root
 * @param {any} about
 */
function checkImage(t, name, image, { config, created, history }) {
  const files = execFileSync('find', ['.', '-printf', '%P %m %T@ %U %y\\n'], {
    cwd: image,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
  const size = Number(execFileSync('du', ['-sb', image], { encoding: 'utf8' }).split('\t')[0]);
  t.diagnostic(`${(size / 1e6).toFixed(1)} MB, ${files.length} files`);
  assert.ok(size < SIZES[name], `${size} bytes`);
  const paths = files.filter(([, , , , type]) => type !== 'd').map(([path]) => path);
  const unneeded =
    /(^|\/)(sh|bash|dash|perl|apt|apt-get|dpkg|gcc|cc|npm|npx|python3)$|^var\/(cache|log)/;
  assert.deepEqual(
    paths.filter((path) => unneeded.test(path)),
    [],
  );
  for (const [path, mode, time, owner] of files) {
    if (!path.includes('/')) continue; // the root's own folders are made as the image is mounted
    assert.equal(parseInt(mode, 8) & 0o6000, 0, `${path} runs as another`);
    assert.equal(Number(time), 0, `${path} has a time`);
    if (!/^(var\/lib\/shoal|data|config)/.test(path)) assert.equal(owner, '0', path);
  }
  // Each library's package has its notice.
  const packages = readdirSync(join(image, 'var/lib/dpkg/status.d'));
  assert.ok(packages.includes('libc6'));
  for (const each of packages)
    assert.ok(statSync(join(image, 'usr/share/doc', each, 'copyright')).size > 100, each);
  const program = { aggregator: 'shoal', proxy: 'caddy' }[name] ?? 'nodejs';
  assert.ok(existsSync(join(image, 'usr/share/doc', program, 'copyright')), program);
  if (program === 'nodejs')
    for (const each of paths.filter((path) =>
      /node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(path),
    ))
      checkLicence(join(image, each));
  assert.equal(config.User, '10001:10001');
  assert.equal(created, '1970-01-01T00:00:00Z');
  assert.equal(config.Labels['org.opencontainers.image.version'], version);
  assert.equal(config.Labels['org.opencontainers.image.licenses'], 'Apache-2.0');
  assert.ok(!JSON.stringify(history).includes(root), 'the history holds a path of this machine');
}

/** A package has a licence's text, or is this project's. @param {string} manifest */
function checkLicence(manifest) {
  const { name } = JSON.parse(readFileSync(manifest, 'utf8'));
  const folder = join(manifest, name.startsWith('shoal-') ? '../../..' : '..');
  const isThere = readdirSync(folder).some((file) => /^licen[cs]e/i.test(file));
  assert.ok(isThere, `${name} has no licence`);
}
