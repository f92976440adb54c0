// SPDX-License-Identifier: Apache-2.0
// make sbom: what everything is made of, as CycloneDX JSON: the npm packages of the lock file, the
// libraries that the programs load, the sources inside the WASI build, and the tools of setup.sh,
// with their versions on this machine. The same inputs give the same bytes.
//   node scripts/sbom.mjs [FILE]   build/sbom.cdx.json by default
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (/** @type {string} */ path) => readFileSync(join(root, path), 'utf8');
/** @param {string} program @param {string[]} args */
const output = (program, ...args) =>
  execFileSync(program, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

/**
 * @typedef {{licence: string, use: string, in?: string}} Library
 * @typedef {{package: string, version: string, arch: string}} Installed
 */

/** @returns {{libraries: {[name: string]: Library}, platform: {[name: string]: Library}, packages: {[name: string]: string}}} */
export const readLicences = () => JSON.parse(read('scripts/licences.json'));

/** The Debian packages that setup.sh installs. */
export function setupPackages() {
  const list = /^packages=\(\n([\s\S]*?)^\)/m.exec(read('scripts/setup.sh'))?.[1] ?? '';
  return list.replace(/#.*$/gm, '').trim().split(/\s+/);
}

/** What dpkg says is installed. @param {string[]} names @returns {Installed[]} */
export function installed(names) {
  const format = '${db:Status-Status} ${Package} ${Version} ${Architecture}\n';
  const found = names.flatMap((name) => {
    try {
      return output('dpkg-query', '-W', '-f', format, name).trim().split('\n');
    } catch {
      return []; // a package that is not installed, or no Debian
    }
  });
  return found
    .map((line) => line.split(' '))
    .filter(([status]) => status === 'installed')
    .map(([, name, version, arch]) => ({ package: name, version, arch }));
}

/** The version of a source that fetch-sources.sh unpacked, as Debian counts. @param {string} name */
function sourceVersion(name) {
  const path = `build/deps/${name}/debian/changelog`;
  return existsSync(join(root, path)) ? /\((.*?)\)/.exec(read(path))?.[1] : undefined;
}

/** The version of a source that fetch-packages.sh unpacked. @param {string} name nanoarrow, or flatcc inside it */
function fetchedVersion(name) {
  const path = `build/deps/nanoarrow/VERSION${name === 'flatcc' ? '.flatcc' : ''}`;
  return existsSync(join(root, path)) ? read(path).trim() : undefined;
}

/** @param {string} licence an SPDX expression */
const licencesOf = (licence) =>
  / /.test(licence) ? [{ expression: licence }] : [{ license: { id: licence } }];

/** @param {Installed} from @param {string} use @param {string} [licence] */
function debianComponent({ package: name, version, arch }, use, licence) {
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${arch}&distro=debian-12`;
  return {
    'bom-ref': purl,
    type: use === 'tool' ? 'application' : 'library',
    name,
    version,
    scope: use === 'tool' ? 'excluded' : 'required',
    ...(licence ? { licenses: licencesOf(licence) } : {}),
    purl,
    properties: [{ name: 'shoal:use', value: use }],
  };
}

/** Libraries, sources and tools that no lock file lists. */
function systemComponents() {
  const { libraries, platform } = readLicences();
  const named = installed(Object.keys(libraries)).map((found) => {
    const { licence, use } = libraries[found.package];
    return debianComponent(found, use, licence);
  });
  const sources = [...Object.entries(libraries), ...Object.entries(platform)]
    .filter(([name, { in: inside }]) => inside && sourceVersion(name))
    .map(([name, { licence, use, in: inside }]) => {
      const version = String(sourceVersion(name));
      const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=source&distro=debian-12`;
      return {
        'bom-ref': purl,
        type: 'library',
        name,
        version,
        scope: 'required',
        licenses: licencesOf(licence),
        purl,
        properties: [
          { name: 'shoal:use', value: use },
          { name: 'shoal:in', value: inside },
        ],
      };
    });
  // Sources that fetch-packages.sh unpacked; flatcc comes inside nanoarrow.
  const fetched = ['nanoarrow', 'flatcc'].flatMap((name) => {
    const version = fetchedVersion(name);
    if (!version) return [];
    const { licence, use, in: inside } = libraries[name];
    const purl =
      name === 'nanoarrow' ? `pkg:pypi/nanoarrow@${version}` : `pkg:generic/flatcc@${version}`;
    const properties = [
      { name: 'shoal:use', value: use },
      { name: 'shoal:in', value: String(inside) },
    ];
    const licenses = licencesOf(licence);
    return [
      {
        'bom-ref': purl,
        type: 'library',
        name,
        version,
        scope: 'required',
        licenses,
        purl,
        properties,
      },
    ];
  });
  const tools = setupPackages().filter((name) => !(name in libraries));
  return [
    ...named,
    ...sources,
    ...fetched,
    ...installed(tools).map((found) => debianComponent(found, 'tool')),
  ];
}

/** Seconds since 1970 of the sources: SOURCE_DATE_EPOCH, or the last commit. */
export function sourceDate() {
  const given = process.env.SOURCE_DATE_EPOCH;
  return Number(given ?? output('git', 'log', '-1', '--format=%ct').trim());
}

/** npm names a workspace by its folder; the file should name the package. @param {any} bom */
function nameByPackage(bom) {
  const nameOf = (/** @type {string} */ ref) => ref.replace(/@[^@]*$/, '');
  for (const each of [bom.metadata.component, ...bom.components])
    each.name = nameOf(each['bom-ref']);
  const { packages } = readLicences();
  for (const each of bom.components) {
    const licence = packages[each['bom-ref']];
    if (licence) each.licenses = licencesOf(licence);
  }
  return bom;
}

/** Makes the document. */
export function makeSbom() {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  const bom = nameByPackage(JSON.parse(output('npm', ...args)));
  bom.components.push(...systemComponents());
  bom.components.sort((/** @type {any} */ a, /** @type {any} */ b) =>
    a['bom-ref'] < b['bom-ref'] ? -1 : 1,
  );
  bom.metadata.timestamp = new Date(sourceDate() * 1000).toISOString();
  delete bom.serialNumber;
  // A serial number that follows from the content, in the form of a UUID of version 8.
  const hash = createHash('sha256').update(JSON.stringify(bom)).digest('hex');
  const uuid = [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ];
  return { ...bom, serialNumber: `urn:uuid:${uuid.join('-')}` };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = process.argv[2] ?? join(root, 'build/sbom.cdx.json');
  mkdirSync(dirname(file), { recursive: true });
  const bom = makeSbom();
  writeFileSync(file, `${JSON.stringify(bom, null, 2)}\n`);
  console.log(`${file}: ${bom.components.length} components`);
}
