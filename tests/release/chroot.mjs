// SPDX-License-Identifier: Apache-2.0
// A Debian 12 of its own in a folder, without compilers, for tests that install packages. Root and debootstrap are
// needed; its base is kept in build/debootstrap. Programs in it have the network of this machine and its /proc.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { mirror } from '../../deploy/images/mirror.mjs';
import { hasProgram, root } from './release_helpers.mjs';

const BASE = join(root, 'build/debootstrap/bookworm');

/** Why there can be none; null where there can. */
export const whyNot = () =>
  process.getuid?.() !== 0
    ? 'a chroot needs root'
    : !hasProgram('apt-get')
      ? 'a chroot of Debian needs apt'
      : null;

/** Installs Debian packages that the tests need on this machine. @param {...string} names */
export function needPackages(...names) {
  const missing = names.filter((name) => !hasProgram(name));
  if (missing.length)
    execFileSync(
      'apt-get',
      [
        ...'-q -o DPkg::Lock::Timeout=600 install -y --no-install-recommends'.split(' '),
        ...missing,
      ],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
}

/** Makes a machine in a folder. @param {string} folder */
export function makeChroot(folder) {
  if (!existsSync(join(BASE, '.complete'))) {
    needPackages('debootstrap');
    rmSync(BASE, { recursive: true, force: true });
    mkdirSync(BASE, { recursive: true });
    execFileSync('debootstrap', ['--variant=minbase', 'bookworm', BASE, mirror()], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    writeFileSync(join(BASE, '.complete'), '');
  }
  execFileSync('cp', ['-a', BASE, folder]);
  // It asks whom this machine asks, trusts whom this machine trusts, and takes packages from the same registry.
  for (const path of ['etc/resolv.conf', 'etc/apt/apt.conf.d', 'usr/local/share/ca-certificates'])
    if (existsSync(`/${path}`))
      cpSync(`/${path}`, join(folder, path), { recursive: true, dereference: true });
  const settings = ['/etc/npmrc', join(process.env.HOME ?? '/root', '.npmrc')]
    .filter(existsSync)
    .map((file) => readFileSync(file, 'utf8').trim());
  writeFileSync(join(folder, 'root/.npmrc'), `${settings.join('\n')}\n`, { mode: 0o600 });
  return enterChroot(folder);
}

/** What can be done in a machine that is there. @param {string} folder */
export const enterChroot = (folder) => ({ folder, run: runner(folder), start: starter(folder) });

/** @param {string} folder @param {string} script @returns {[string, string[]]} */
const inside = (folder, script) => [
  'unshare',
  // A namespace of mounts goes away with its process, so nothing stays mounted.
  [
    '-m',
    'sh',
    '-c',
    'mount -t proc proc "$0/proc" && exec chroot "$0" sh -euc "$1"',
    folder,
    script,
  ],
];
const env = {
  PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  LANG: 'C.UTF-8',
  DEBIAN_FRONTEND: 'noninteractive',
  NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt',
};

/** @param {string} folder */
const runner = (folder) => async (/** @type {string} */ script) => {
  const [program, args] = inside(folder, script);
  const { stdout } = await promisify(execFile)(program, args, { env, maxBuffer: 1 << 26 });
  return stdout;
};

/** @param {string} folder */
const starter = (folder) => (/** @type {string} */ script) => {
  const [program, args] = inside(folder, `exec ${script}`);
  return spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
};
