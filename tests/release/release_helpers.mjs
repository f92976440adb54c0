// SPDX-License-Identifier: Apache-2.0
// What the tests of a release share: making one, and an environment that reaches no other registry than the test's.
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeRelease } from '../../scripts/release/make.mjs';
import { missingPrograms, publicPackages } from '../../scripts/release/pack_npm.mjs';
import { makeTarball } from '../../scripts/release/tar.mjs';
import { currentVersion } from '../../scripts/set-version.mjs';

export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
export const version = currentVersion();
export const native = join(root, 'build/release/shoal');
export const isLong = process.env.SHOAL_LONG === '1';
export const execute = promisify(execFile);

/** The packages whose programs are not written yet, by name. */
export const unfinished = publicPackages()
  .filter((one) => missingPrograms(one).length > 0)
  .map(({ name }) => name);

/** @param {string} out @param {{native?: string | null, key?: string}} [wanted] */
export const release = (out, wanted = {}) =>
  makeRelease({ out, native: null, isIncomplete: unfinished.length > 0, ...wanted });

/** All files of a folder by name. @param {string} folder @returns {Map<string, Buffer>} */
export const filesOf = (folder) =>
  new Map(
    readdirSync(folder)
      .filter((name) => statSync(join(folder, name)).isFile())
      .map((name) => [name, readFileSync(join(folder, name))]),
  );

/** The files under a folder, by their path in it. @param {string} folder @returns {string[]} */
const filesUnder = (folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );

/** Packs what the packages need of others, from this tree's node_modules. @param {string} out */
export function packOthers(out) {
  mkdirSync(out, { recursive: true });
  const own = new Set(publicPackages().map(({ name }) => name));
  const wanted = publicPackages().flatMap(({ dependencies }) => Object.keys(dependencies));
  const done = new Set();
  for (let name = wanted.pop(); name; name = wanted.pop()) {
    if (own.has(name) || done.has(name)) continue;
    done.add(name);
    const folder = join(root, 'node_modules', name);
    const files = new Map(
      filesUnder(folder).map((path) => [
        `package/${path}`,
        { data: readFileSync(join(folder, path)) },
      ]),
    );
    writeFileSync(join(out, `${name.replace(/[@/]/g, '-')}.tgz`), makeTarball(files, 0));
    const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    wanted.push(...Object.keys(about.dependencies ?? {}));
  }
}

/** The environment of a newcomer: a home of their own, and one registry. @param {string} home @param {string} registry */
export function newcomer(home, registry) {
  mkdirSync(home, { recursive: true });
  writeFileSync(
    join(home, '.npmrc'),
    `registry=${registry}\nupdate-notifier=false\nfund=false\naudit=false\n`,
  );
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^npm_|^NODE_|^SHOAL_|PROXY$/i.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    npm_config_cache: join(home, 'cache'),
    npm_config_userconfig: join(home, '.npmrc'),
    npm_config_globalconfig: join(home, 'global'),
  };
}

/** Whether a program is on the path. @param {string} name */
export function hasProgram(name) {
  try {
    execFileSync('sh', ['-c', `command -v ${name}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export { existsSync };
