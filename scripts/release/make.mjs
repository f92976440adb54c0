// SPDX-License-Identifier: Apache-2.0
// make release: packages, the bill of materials, checksums and their signature, from a finished build.
// The same sources and the same key give the same bytes. docs/release.md says how to release.
//   node scripts/release/make.mjs [--out DIR] [--native FILE] [--without-native] [--incomplete]
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { makeSbom, sourceDate } from '../sbom.mjs';
import { currentVersion } from '../set-version.mjs';
import { SERVICES, writeDeb } from './pack_deb.mjs';
import { missingPrograms, packNpm, packageFiles, publicPackages } from './pack_npm.mjs';
import { NAME as PLATFORM, platformFiles } from './pack_platform.mjs';
import { readKey, signSums } from './sign.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const HELP = `usage: node scripts/release/make.mjs [OPTION]...

Makes the files of a release from a finished build (make release builds first).

  --out DIR          where to; replaced. build/release-files by default
  --native FILE      the native program; build/release/shoal by default
  --without-native   only the npm packages that hold no native code
  --incomplete       leaves out packages whose programs are missing, and says so
  --help             this text

SHOAL_RELEASE_KEY names the file of the Ed25519 key that signs SHA256SUMS; without it the checksums are
in SHA256SUMS.unsigned. SOURCE_DATE_EPOCH is the time of all files; by default that of the last commit.
`;

const say = (/** @type {string} */ text) => process.stderr.write(`release: ${text}\n`);

/** The sources that the release was made from. */
function commit() {
  const git = (/** @type {string[]} */ ...args) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain') !== '';
  if (changed) say('the tree has changes that are in no commit; release.json says so');
  return `${git('rev-parse', 'HEAD')}${changed ? '+changes' : ''}`;
}

/** Packages that can be packed. @param {boolean} isIncomplete */
function completePackages(isIncomplete) {
  return publicPackages().filter((one) => {
    const missing = missingPrograms(one);
    if (!missing.length) return true;
    const what = `${one.name}: ${missing.join(', ')} is not there`;
    if (!isIncomplete) throw new Error(`${what}; --incomplete leaves the package out`);
    say(`LEFT OUT ${what}`);
    return false;
  });
}

/** A release that lacks a build would be packed without a word. */
function checkBuilds() {
  for (const file of [
    'wasm/dist/loader.js',
    'ui/dist/shoal-ui.js',
    'edge/dist/worker.js',
    'aggregator/dist/shoal.wasm',
  ])
    if (!existsSync(join(root, file))) throw new Error(`${file} is missing: run make first`);
}

/** The program of this version, or a refusal. @param {string} program @param {string} version */
function checkNative(program, version) {
  if (!existsSync(program)) throw new Error(`${program} is missing: run make first`);
  const printed = execFileSync(program, ['--version'], { encoding: 'utf8' }).trim();
  if (printed !== `shoal ${version}`)
    throw new Error(`${program} is '${printed}', and the release is ${version}: run make first`);
  if (!readFileSync(program).includes('/assets/chart-'))
    throw new Error(`${program} was built without the chart of its pages: run make first`);
}

/** Puts the sources of what is under the LGPL beside what holds it. @param {string} out */
function copySources(out) {
  const folder = join(root, 'build/deps/archives/libmicrohttpd');
  if (!existsSync(folder))
    throw new Error(
      `${folder} is missing: remove build/deps/libmicrohttpd, so that both are fetched`,
    );
  for (const name of readdirSync(folder)) copyFileSync(join(folder, name), join(out, name));
}

/** @param {string} out @param {string} version @param {number} time */
function describe(out, version, time) {
  const about = {
    version,
    commit: commit(),
    date: new Date(time * 1000).toISOString(),
    files: readdirSync(out)
      .sort()
      .map((name) => {
        const data = readFileSync(join(out, name));
        const sha256 = createHash('sha256').update(data).digest('hex');
        return { name, bytes: data.length, sha256 };
      }),
  };
  writeFileSync(join(out, 'release.json'), `${JSON.stringify(about, null, 2)}\n`);
}

/** @param {string} out */
function writeSums(out) {
  const lines = readdirSync(out)
    .sort()
    .map((name) => {
      const sum = createHash('sha256')
        .update(readFileSync(join(out, name)))
        .digest('hex');
      return `${sum}  ${name}\n`;
    });
  return lines.join('');
}

/** @typedef {{out: string, native: string | null, isIncomplete: boolean, key?: string}} Wanted */

/** @param {Wanted} wanted */
export async function makeRelease({ out, native, isIncomplete, key: keyFile }) {
  const version = currentVersion();
  const time = sourceDate();
  const key = keyFile ? readKey(keyFile) : null; // before the work
  checkBuilds();
  const packages = completePackages(isIncomplete);
  if (native) checkNative(native, version);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const npm = await packageFiles(packages);
  if (native) {
    npm.set(PLATFORM, await platformFiles(version, native));
    copySources(out);
  }
  for (const [name, files] of npm)
    writeFileSync(join(out, `${name}-${version}.tgz`), packNpm(files, time));
  if (native && SERVICES.every((name) => npm.has(name))) {
    const file = join(out, `shoal_${version}_amd64.deb`);
    const units = await writeDeb(file, { version, program: native, npm, time });
    if (!units.length) say('the Debian package has no units: there is no deploy/systemd');
  }
  const bom = makeSbom();
  writeFileSync(join(out, `shoal-${version}.sbom.json`), `${JSON.stringify(bom, null, 2)}\n`);
  describe(out, version, time);
  const fingerprint = signSums(out, writeSums(out), key);
  return { version, fingerprint };
}

/** @param {string} out @param {string | null} fingerprint */
function report(out, fingerprint) {
  for (const name of readdirSync(out).sort()) {
    const bytes = readFileSync(join(out, name)).length;
    console.log(`${String(bytes).padStart(9)}  ${name}`);
  }
  console.log(
    fingerprint
      ? `signed with the key ${fingerprint}`
      : 'UNSIGNED: SHOAL_RELEASE_KEY names no key, so nobody can tell who made these files',
  );
}

async function main() {
  const { values } = parseArgs({
    options: {
      out: { type: 'string' },
      native: { type: 'string' },
      'without-native': { type: 'boolean' },
      incomplete: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  const out = resolve(values.out ?? join(root, 'build/release-files'));
  if (existsSync(out) && readdirSync(out).length && !existsSync(join(out, 'release.json')))
    throw new Error(`${out} holds files that are no release; it is not replaced`);
  const native = values['without-native']
    ? null
    : resolve(values.native ?? join(root, 'build/release/shoal'));
  const { fingerprint } = await makeRelease({
    out,
    native,
    isIncomplete: values.incomplete === true,
    key: process.env.SHOAL_RELEASE_KEY || undefined,
  });
  report(out, fingerprint);
}

if (process.argv[1] && basename(process.argv[1]) === 'make.mjs')
  main().catch((error) => {
    say(error.message);
    process.exitCode = 1;
  });
