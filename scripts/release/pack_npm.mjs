// SPDX-License-Identifier: Apache-2.0
// The npm packages of a release: what `npm pack` would take from each workspace, with the licence and
// the notices, in archives of our own bytes.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { workspaces } from '../set-version.mjs';
import { noticeText } from './notices.mjs';
import { makeTarball } from './tar.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** @typedef {{name: string, version: string, room: string, bin: {[name: string]: string}, dependencies: {[name: string]: string}}} Package */

/** The packages that are published. @returns {Package[]} */
export function publicPackages() {
  return workspaces().flatMap((room) => {
    const about = JSON.parse(readFileSync(join(root, room, 'package.json'), 'utf8'));
    const { name, version, bin = {}, dependencies = {} } = about;
    return about.private ? [] : [{ name, version, room, bin, dependencies }];
  });
}

/** The programs that a package names and that are not there. @param {Package} one */
export const missingPrograms = ({ room, bin }) =>
  Object.values(bin).filter((file) => !existsSync(join(root, room, file)));

/** The files that npm would pack, by package. @param {Package[]} packages @returns {Map<string, string[]>} */
function filesOf(packages) {
  const names = packages.flatMap(({ name }) => ['-w', name]);
  const listed = execFileSync(
    'npm',
    ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error', ...names],
    { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 },
  );
  return new Map(
    JSON.parse(listed).map((/** @type {{name: string, files: {path: string}[]}} */ each) => [
      each.name,
      each.files.map(({ path }) => path),
    ]),
  );
}

/** @typedef {import('./tar.mjs').Entry} Entry */

/** The files of each package with its notices. @param {Package[]} packages @returns {Promise<Map<string, Map<string, Entry>>>} */
export async function packageFiles(packages) {
  const listed = filesOf(packages);
  /** @type {Map<string, Map<string, Entry>>} */
  const all = new Map();
  for (const { name, room, bin } of packages) {
    const programs = Object.values(bin);
    /** @type {Map<string, Entry>} */
    const files = new Map();
    for (const path of listed.get(name) ?? [])
      files.set(path, {
        data: readFileSync(join(root, room, path)),
        mode: programs.includes(path) ? 0o755 : 0o644,
      });
    files.set('LICENSE', { data: readFileSync(join(root, 'LICENSE')) });
    files.set('THIRD-PARTY.txt', { data: Buffer.from(await noticeText(name, room)) });
    all.set(name, files);
  }
  return all;
}

/** A package as npm installs it. @param {Map<string, Entry>} files @param {number} time */
export const packNpm = (files, time) =>
  makeTarball(new Map([...files].map(([path, entry]) => [`package/${path}`, entry])), time);
