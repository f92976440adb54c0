// SPDX-License-Identifier: Apache-2.0
// Moves the version, which is one for everything: the root's package.json, the packages and what they
// need of each other, the lock file, the file names in documents, and the manual pages that state it.
// CMake reads it from package.json.
//   node scripts/set-version.mjs X.Y.Z
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;
/** The version in the name of a release's file, as documents state it. */
export const FILE_VERSION =
  /\b((?:create-shoal|shoal(?:-[a-z]+)*(?:-linux-x64)?)[-_])(\d+\.\d+\.\d+)(?=\.tgz|\.sbom|_amd64\.deb|\.tar)/g;
/** The version of a manual page. */
export const MANUAL_VERSION = /^(\.Os shoal )(\d+\.\d+\.\d+)$/gm;

/** All documents that readers follow: name in the tree. @param {string} [folder] @returns {string[]} */
export function documents(folder = root) {
  const markdown = (/** @type {string} */ name) =>
    name.endsWith('.md') && name !== 'CHANGELOG.md' && name !== 'SECURITY.md';
  return [
    ...readdirSync(folder).filter(markdown),
    ...readdirSync(join(folder, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => markdown(name) || /\.[1-9]$/.test(name))
      .map((name) => `docs/${name}`),
  ].sort();
}

/** The version of the tree. @param {string} [folder] @returns {string} */
export const currentVersion = (folder = root) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;

/** The folders of the packages. @param {string} [folder] @returns {string[]} */
export const workspaces = (folder = root) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).workspaces;

const KINDS = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'];

/** @param {any} about of a package @param {string} version @param {Set<string>} own names */
function move(about, version, own) {
  about.version = version;
  for (const kind of KINDS)
    for (const name of Object.keys(about[kind] ?? {}))
      if (own.has(name)) about[kind][name] = version;
}

/** Writes the version into every place. @param {string} version @param {string} [folder] */
export function setVersion(version, folder = root) {
  if (!VERSION.test(version)) throw new Error(`${version}: a version like 1.2.3 is needed`);
  const text = (/** @type {string} */ name) => readFileSync(join(folder, name), 'utf8');
  /** @param {string} name @param {(about: any) => void} change */
  const rewrite = (name, change) => {
    const about = JSON.parse(text(name));
    change(about);
    writeFileSync(join(folder, name), `${JSON.stringify(about, null, 2)}\n`);
  };
  const rooms = workspaces(folder);
  const own = new Set(rooms.map((room) => JSON.parse(text(`${room}/package.json`)).name));
  own.add('shoal-linux-x64');
  for (const room of rooms) rewrite(`${room}/package.json`, (about) => move(about, version, own));
  rewrite('package-lock.json', (lock) => {
    lock.version = version;
    for (const room of ['', ...rooms]) move(lock.packages[room], version, own);
  });
  for (const name of documents(folder)) {
    const before = text(name);
    const after = before
      .replace(FILE_VERSION, `$1${version}`)
      .replace(MANUAL_VERSION, `$1${version}`);
    if (after !== before) writeFileSync(join(folder, name), after);
  }
  rewrite('package.json', (about) => (about.version = version)); // last: it says what is in force
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    if (process.argv.length !== 3) throw new Error('usage: node scripts/set-version.mjs X.Y.Z');
    setVersion(process.argv[2]);
    console.log(`the version is ${process.argv[2]}; CHANGELOG.md is left to you`);
  } catch (error) {
    console.error(`set-version: ${/** @type {Error} */ (error).message}`);
    process.exitCode = 2;
  }
}
