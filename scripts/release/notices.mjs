// SPDX-License-Identifier: Apache-2.0
// THIRD-PARTY.txt of each package: whose code is inside it, under which licence, with its text. The
// lists come from what was bundled and linked: the builds' own lists, the bundler, and the files of
// the platform package.
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { installed, readLicences } from '../sbom.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const require = createRequire(import.meta.url);
const read = (/** @type {string} */ path) => readFileSync(path, 'utf8').trim();

/** @typedef {{name: string, version: string, licence: string, text: string}} Notice */

/** The licence of an npm package that is installed here. @param {string} folder @returns {Notice} */
function npmNotice(folder) {
  const { name, version, license } = JSON.parse(read(join(folder, 'package.json')));
  const file = readdirSync(folder).find((each) => /^licen[cs]e(\.(md|txt))?$/i.test(each));
  if (!file) throw new Error(`${folder} has no licence file`);
  return { name, version, licence: license, text: read(join(folder, file)) };
}

/** The folder of an npm package, from one of its files. @param {string} path */
const packageFolder = (path) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? '';

/** What the bundles of dist/ of shoal-client hold, as its build lists it. @returns {Notice[]} */
function clientBundles() {
  const list = readFileSync(join(root, 'wasm/dist/LICENSES.txt'), 'utf8');
  return list
    .slice(list.indexOf('\n'))
    .split('\n----\n')
    .map((part) => npmNotice(join(root, 'node_modules', part.trim().split('\n')[0])));
}

/** What the bundle of the edge worker holds, asked of the bundler. @returns {Promise<Notice[]>} */
async function edgeBundle() {
  const { metafile } = await build({
    absWorkingDir: join(root, 'edge'),
    entryPoints: ['worker.js'],
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    external: ['cloudflare:workers', '*.wasm', 'crypto'],
    logLevel: 'error',
  });
  const folders = Object.keys(metafile.inputs)
    .filter((path) => path.includes('node_modules/'))
    .map((path) => packageFolder(join(root, 'edge', path)));
  return [...new Set(folders)].map(npmNotice);
}

/** The C library of the page's modules, whose own licence Debian's list states. @returns {Notice[]} */
function emscripten() {
  const [found] = installed(['emscripten']);
  if (!found) throw new Error('emscripten is not installed: its licence is needed');
  const stanzas = read('/usr/share/doc/emscripten/copyright').split(/\n\n+/);
  const own = stanzas.find((stanza) => /^Files:\s+\*\n/.test(stanza));
  const text = stanzas.find((stanza) => /^License: Expat\n.*Permission is hereby/s.test(stanza));
  if (!own || !text) throw new Error("emscripten's licence is not where Debian had it");
  const musl = read('/usr/share/emscripten/system/lib/libc/musl/COPYRIGHT');
  return [
    {
      name: 'emscripten',
      version: found.version,
      licence: 'MIT',
      text: `${own}\n\n${text}\n\nIts C library:\n\n${musl}`,
    },
  ];
}

/** @param {string} name of a source in build/deps @returns {Notice} */
function sourceNotice(name) {
  const folder = join(root, 'build/deps', name);
  const [, version = ''] = /\((.*?)\)/.exec(read(join(folder, 'debian/changelog'))) ?? [];
  const { libraries, platform } = readLicences();
  const { licence } = libraries[name] ?? platform[name];
  return { name, version, licence, text: read(join(folder, 'debian/copyright')) };
}

/** @param {string} name of a Debian package @returns {Notice} */
function debianNotice(name) {
  const [found] = installed([name]);
  if (!found) throw new Error(`${name} is not installed`);
  const { licence } = readLicences().libraries[name];
  return { name, version: found.version, licence, text: read(`/usr/share/doc/${name}/copyright`) };
}

/** The libraries of the platform package: file in lib/, and where its licence lies. */
export const PLATFORM_LIBRARIES = {
  'libcjson.so.1': { package: 'libcjson1' },
  'libcrypto.so.3': { package: 'libssl3' },
  'libcurl.so.4': { source: 'curl' },
  'libmicrohttpd.so.12': { source: 'libmicrohttpd' },
  'libsqlite3.so.0': { package: 'libsqlite3-0' },
  'libssl.so.3': { package: 'libssl3' },
  'libutf8proc.so.2': { package: 'libutf8proc2' },
  'libz.so.1': { package: 'zlib1g' },
  'libzstd.so.1': { package: 'libzstd1' },
};

/** The chart that the native server holds (aggregator/chart/). */
const chart = () => npmNotice(join(root, 'node_modules/uplot'));

/** @returns {Notice[]} */
function platform() {
  const named = Object.values(PLATFORM_LIBRARIES).map((from) =>
    'source' in from ? sourceNotice(from.source) : debianNotice(from.package),
  );
  return [...new Map(named.map((each) => [each.name, each])).values()];
}

/** The packages that a package needs, which are not of this tree. @param {string} room @returns {Notice[]} */
function needed(room) {
  const { dependencies = {} } = JSON.parse(read(join(root, room, 'package.json')));
  return Object.keys(dependencies)
    .filter((name) => !/^(create-)?shoal(-|$)/.test(name))
    .flatMap((name) => {
      const folder = packageFolder(require.resolve(name, { paths: [join(root, room)] }));
      const inner = JSON.parse(read(join(folder, 'package.json'))).dependencies ?? {};
      return [
        npmNotice(folder),
        ...Object.keys(inner).map((each) => npmNotice(join(root, 'node_modules', each))),
      ];
    });
}

/** Notices of code inside a package, by its name. @param {string} name @returns {Promise<Notice[]>} */
export async function noticesOf(name) {
  if (name === 'shoal-client') return [...clientBundles(), ...emscripten()];
  if (name === 'shoal-edge') return [...(await edgeBundle()), ...emscripten()];
  if (name === 'shoal-aggregator')
    return [...['cjson', 'utf8proc'].map(sourceNotice), debianNotice('wasi-libc')];
  if (name === 'shoal-linux-x64') return [...platform(), chart()];
  if (name === 'debian')
    return [
      ...clientBundles(),
      ...(await edgeBundle()),
      ...needed('edge'),
      ...emscripten(),
      chart(),
    ];
  return [];
}

const LGPL = `
libmicrohttpd is under the GNU Lesser General Public License. It is a shared library that the program
loads from lib/ beside it: put another build of libmicrohttpd.so.12 there, and the program uses that.
The sources that it was built from lie beside this package in the release, as do the options of
configure (scripts/release/native-libraries.sh in the sources of shoal). The licence:

`;

/**
 * The text of THIRD-PARTY.txt.
 * @param {string} name of the package
 * @param {string} [room] its folder, whose needs are named
 */
export async function noticeText(name, room) {
  const notices = [...new Map((await noticesOf(name)).map((each) => [each.name, each])).values()];
  notices.sort((a, b) => (a.name < b.name ? -1 : 1));
  const outside = room ? needed(room) : [];
  const head = notices.length
    ? `This package holds code of others:\n\n${notices
        .map(({ name: each, version, licence }) => `  ${each} ${version} (${licence})`)
        .join('\n')}\n`
    : 'This package holds no code of others.\n';
  const needs = outside.length
    ? `\nIt needs these packages, which bring their own licences:\n\n${outside
        .map(({ name: each, version, licence }) => `  ${each} ${version} (${licence})`)
        .join('\n')}\n`
    : '';
  const texts = notices.map(
    ({ name: each, version, text }) => `\n----\n\n${each} ${version}\n\n${text}\n`,
  );
  if (notices.some(({ licence }) => licence.startsWith('LGPL')))
    texts.push(`\n----\n${LGPL}${read('/usr/share/common-licenses/LGPL-2.1')}\n`);
  if (notices.some(({ licence }) => licence === 'Apache-2.0'))
    texts.push('\n----\n\nThe text of the Apache License 2.0 is in LICENSE.\n');
  return head + needs + texts.join('');
}
