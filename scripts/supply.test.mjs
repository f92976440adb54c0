// SPDX-License-Identifier: Apache-2.0
// What comes from others: pinned, with its hash, under a licence of the list, and in the bill of materials.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isAllowed } from './licences.mjs';
import { installed, makeSbom, readLicences, setupPackages } from './sbom.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const json = (/** @type {string} */ path) => JSON.parse(readFileSync(join(root, path), 'utf8'));
const lock = json('package-lock.json');
const lists = json('scripts/licences.json');
/** Packages of others: [path, entry]. @type {[string, any][]} */
const packages = Object.entries(lock.packages).filter(
  ([path, { link }]) => /(^|\/)node_modules\//.test(path) && !link,
);
const nameOf = (/** @type {string} */ path) =>
  path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
const isDebian = existsSync('/var/lib/dpkg/status');

/** The Debian packages of the libraries that a program names. @param {string} program */
function linkedPackages(program) {
  const dynamic = execFileSync('readelf', ['-d', program], { encoding: 'utf8' });
  const needed = [...dynamic.matchAll(/\(NEEDED\).*\[(.*)\]/g)].map(([, name]) => name);
  const found = execFileSync('ldd', [program], { encoding: 'utf8' });
  return needed.map((name) => {
    const escaped = name.replace(/[.+]/g, '\\$&');
    // The loader stands there by its path alone.
    const line = new RegExp(`^\\s*(?:${escaped} => (\\S+)|(\\S+/${escaped}) )`, 'm').exec(found);
    const path = line?.[1] ?? line?.[2] ?? assert.fail(`${name} is not found`);
    for (const each of [path, `/usr${path}`, path.replace(/^\/usr/, '')]) {
      try {
        return execFileSync('dpkg', ['-S', each], {
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
        }).split(':')[0];
      } catch {
        // known by its other path
      }
    }
    throw new Error(`${name} belongs to no package`);
  });
}

test('every package of the lock file is pinned and has its hash', () => {
  assert.ok(packages.length > 100);
  for (const [path, { version, integrity, resolved }] of packages) {
    assert.match(version, /^\d+\.\d+\.\d+/, path);
    assert.match(String(integrity), /^sha512-[\w+/]{86}==$/, `${path}: no hash`);
    if (resolved) assert.match(resolved, /^https:\/\/registry\.npmjs\.org\//, path);
  }
  for (const file of [
    'package.json',
    ...lock.packages[''].workspaces.map((/** @type {string} */ room) => `${room}/package.json`),
  ]) {
    const {
      dependencies = {},
      devDependencies = {},
      peerDependencies = {},
      optionalDependencies = {},
    } = json(file);
    for (const [name, version] of Object.entries({
      ...dependencies,
      ...devDependencies,
      ...peerDependencies,
      ...optionalDependencies,
    }))
      assert.match(String(version), /^\d+\.\d+\.\d+$/, `${file}: ${name} is not pinned`);
  }
  // A workflow of others would be code of theirs, too.
  if (existsSync(join(root, '.github/workflows')))
    for (const file of readdirSync(join(root, '.github/workflows')))
      for (const [, used] of readFileSync(join(root, '.github/workflows', file), 'utf8').matchAll(
        /uses:\s*(\S+)/g,
      ))
        assert.match(used, /@[0-9a-f]{40}$|^\.\//, `${file}: ${used}`);
});

test('licence expressions', () => {
  const allowed = ['MIT', 'ISC'];
  /** @type {[string, boolean][]} */
  const cases = [
    ['MIT', true],
    ['GPL-2.0-only', false],
    ['(MIT OR GPL-2.0-only)', true],
    ['MIT AND GPL-2.0-only', false],
    ['GPL-2.0-only OR (ISC AND MIT)', true],
    ['MIT AND (GPL-2.0-only OR GPL-3.0-only)', false],
    ['GPL-2.0-only OR MIT AND ISC', true],
  ];
  for (const [expression, expected] of cases)
    assert.equal(isAllowed(expression, allowed), expected, expression);
  for (const wrong of ['', 'MIT ISC', '(MIT', 'MIT)', 'SEE LICENSE IN LICENSE.md'])
    assert.throws(() => assert.ok(isAllowed(wrong, allowed)), wrong);
});

test('every licence is of the list for its use', (t) => {
  for (const [path, { license, version }] of packages) {
    const licence = license ?? lists.packages[`${nameOf(path)}@${version}`];
    assert.ok(licence && isAllowed(licence, lists.tools), `${path}: ${licence}`);
  }
  // Code of others inside what is published, as the builds list it.
  const notices = readFileSync(join(root, 'wasm/dist/LICENSES.txt'), 'utf8');
  const inside = notices
    .slice(notices.indexOf('\n'))
    .split('\n----\n')
    .map((part) => part.trim().split('\n')[0]);
  assert.deepEqual(inside.sort(), [
    '@hpke/common',
    '@hpke/core',
    'idb-keyval',
    'tldts',
    'tldts-core',
  ]);
  // uplot is inside the native server (aggregator/chart/).
  for (const name of [...inside, 'uplot']) {
    const { license } = lock.packages[`node_modules/${name}`];
    assert.ok(isAllowed(license, lists.shipped), `${name}: ${license}`);
  }
  const { libraries, platform } = readLicences();
  for (const [name, { licence, use }] of [
    ...Object.entries(libraries),
    ...Object.entries(platform),
  ])
    assert.ok(
      ['shipped', 'linked'].includes(use) && isAllowed(licence, lists[use]),
      `${name}: ${licence}`,
    );
  const program = join(root, 'build/release/shoal');
  if (!isDebian || !existsSync(program))
    return t.diagnostic('the libraries of the program are those of another system');
  for (const name of linkedPackages(program))
    assert.equal(lists.libraries[name]?.use, 'linked', `${name} has no licence in the list`);
});

// ---- the bill of materials ----

const HASHES = { 'SHA-1': 40, 'SHA-256': 64, 'SHA-384': 96, 'SHA-512': 128 };
const TYPES = [
  'application',
  'framework',
  'library',
  'container',
  'platform',
  'operating-system',
  'device',
  'device-driver',
  'firmware',
  'file',
  'machine-learning-model',
  'data',
];

/** What CycloneDX 1.5 requires of a document, https://cyclonedx.org/docs/1.5/json/. @param {any} bom */
function validate(bom) {
  assert.equal(bom.bomFormat, 'CycloneDX');
  assert.equal(bom.specVersion, '1.5');
  assert.match(bom.serialNumber, /^urn:uuid:[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/);
  assert.ok(Number.isInteger(bom.version) && bom.version >= 1);
  assert.equal(new Date(bom.metadata.timestamp).toISOString(), bom.metadata.timestamp);
  const refs = new Set();
  for (const each of [bom.metadata.component, ...bom.components]) {
    const what = JSON.stringify(each).slice(0, 200);
    assert.ok(TYPES.includes(each.type), what);
    assert.ok(typeof each.name === 'string' && each.name.length > 0, what);
    assert.ok(!refs.has(each['bom-ref']), `twice: ${what}`);
    refs.add(each['bom-ref']);
    assert.match(each.purl, /^pkg:(npm|deb|pypi|generic)\/[^\s]+@[^\s]+$/, what);
    if (each.scope) assert.ok(['required', 'optional', 'excluded'].includes(each.scope), what);
    for (const { alg, content } of each.hashes ?? [])
      assert.match(
        content,
        new RegExp(`^[0-9a-f]{${HASHES[/** @type {'SHA-1'} */ (alg)]}}$`),
        what,
      );
    const licences = each.licenses ?? [];
    assert.ok(
      !licences.some((/** @type {any} */ l) => 'expression' in l) || licences.length === 1,
      what,
    );
    for (const l of licences)
      assert.ok(
        'expression' in l
          ? typeof l.expression === 'string'
          : Boolean(l.license.id) !== Boolean(l.license.name),
        what,
      );
    for (const { name, value } of each.properties ?? [])
      assert.ok(typeof name === 'string' && typeof value === 'string', what);
  }
  for (const { ref, dependsOn = [] } of bom.dependencies)
    for (const each of [ref, ...dependsOn])
      assert.ok(refs.has(each), `${each} depends and is no component`);
}

test('the bill of materials is valid, whole, and the same twice', () => {
  const bom = makeSbom();
  validate(bom);
  assert.deepEqual(makeSbom(), bom);
  for (const wrong of [
    { ...bom, specVersion: '9' },
    { ...bom, components: [...bom.components, bom.components[0]] },
    { ...bom, serialNumber: 'x' },
  ])
    assert.throws(() => validate(wrong));
  const byRef = new Map(bom.components.map((/** @type {any} */ each) => [each['bom-ref'], each]));
  for (const [path, { version, integrity }] of packages) {
    const each = byRef.get(`${nameOf(path)}@${version}`);
    assert.ok(each, `${path} is missing`);
    assert.equal(each.name, nameOf(path));
    assert.equal(
      each.hashes[0].content,
      Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex'),
      path,
    );
  }
  assert.equal(bom.metadata.component.name, lock.name);
  if (!isDebian) return;
  const names = setupPackages();
  assert.ok(
    names.includes('gcc') && names.includes('libsqlite3-dev') && names.length > 20,
    names.join(' '),
  );
  const program = join(root, 'build/release/shoal');
  const linked = existsSync(program) ? linkedPackages(program) : [];
  for (const { package: name, version } of installed([...names, ...linked])) {
    const each = bom.components.find(
      (/** @type {any} */ c) => c.name === name && c.purl.startsWith('pkg:deb/'),
    );
    assert.equal(each?.version, version, name);
  }
  for (const name of linked)
    assert.ok(
      byRef.size &&
        bom.components.some((/** @type {any} */ c) => c.name === name && c.scope === 'required'),
      name,
    );
});
