// SPDX-License-Identifier: Apache-2.0
// shoal_VERSION_amd64.deb for Debian 12: the native program over Debian's own libraries, the services
// in JavaScript, manual pages, completions and systemd units.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { createHash } from 'node:crypto';
import { bash, commandOf, fish, zsh } from './completions.mjs';
import { noticeText } from './notices.mjs';
import { stripProgram } from './pack_platform.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const UNITS = join(root, 'deploy/systemd');
/** The services in JavaScript. */
export const SERVICES = ['shoal-edge', 'shoal-relay', 'shoal-issuer'];
const SHELLS = /** @type {const} */ ([
  ['bash', 'usr/share/bash-completion/completions/', ''],
  ['zsh', 'usr/share/zsh/vendor-completions/_', ''],
  ['fish', 'usr/share/fish/vendor_completions.d/', '.fish'],
]);

/** Starts a service with a Node that is new enough. @param {string} name @param {string} program */
const wrapper = (name, program) => `#!/bin/sh
# Debian 12 has Node 18; /usr/lib/shoal/bring-node puts a newer one where this looks.
for node in "$SHOAL_NODE" /usr/lib/shoal/node/bin/node node; do
    [ -n "$node" ] || continue
    major=$("$node" -p 'process.versions.node.split(".")[0]' 2>/dev/null) || continue
    [ "$major" -ge 20 ] && exec "$node" ${program} "$@"
done
echo "${name}: Node 20 or later is needed: run /usr/lib/shoal/bring-node, or name one in SHOAL_NODE" >&2
exit 1
`;

const BRING_NODE = `#!/bin/sh
# Puts the Node that the services run on under /usr/lib/shoal/node, by npm and its registry.
set -e
if ! command -v npm >/dev/null; then
    echo "bring-node: npm is needed: apt-get install npm" >&2
    exit 1
fi
exec sh /usr/share/shoal/bring-node.sh /usr/lib/shoal/node
`;

/** @param {string} folder @param {string} path @param {string | Buffer} data @param {number} [mode] */
function put(folder, path, data, mode = 0o644) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), data);
  chmodSync(join(folder, path), mode);
}

/** All files under a folder, without its name. @param {string} folder @returns {string[]} */
const filesUnder = (folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();

/** The package that an npm package is installed from, and what it needs. @param {string} folder @param {Set<string>} names */
function copyOutside(folder, names) {
  for (const name of names) {
    const from = join(root, 'node_modules', name);
    const { dependencies = {} } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'));
    cpSync(from, join(folder, 'usr/share/shoal/node_modules', name), { recursive: true });
    copyOutside(folder, new Set(Object.keys(dependencies).filter((each) => !names.has(each))));
  }
}

/**
 * The services with all that they import.
 * @param {string} folder @param {Map<string, Map<string, import('./tar.mjs').Entry>>} npm
 */
function putServices(folder, npm) {
  const outside = new Set();
  for (const name of [...SERVICES, 'shoal-client']) {
    const files = npm.get(name);
    if (!files) throw new Error(`${name} is missing`);
    for (const [path, { data, mode }] of files)
      if (path !== 'THIRD-PARTY.txt' && path !== 'LICENSE')
        put(folder, `usr/share/shoal/node_modules/${name}/${path}`, data, mode);
    const about = JSON.parse(String(files.get('package.json')?.data));
    for (const each of Object.keys(about.dependencies ?? {}))
      if (!/^shoal-/.test(each)) outside.add(each);
    if (name === 'shoal-client') continue;
    const program = about.bin[name];
    put(
      folder,
      `usr/bin/${name}`,
      wrapper(name, `/usr/share/shoal/node_modules/${name}/${program}`),
      0o755,
    );
  }
  copyOutside(folder, outside);
  put(folder, 'usr/lib/shoal/bring-node', BRING_NODE, 0o755);
  for (const [file, mode] of /** @type {const} */ ([
    ['bring-node.sh', 0o755],
    ['node.pins', 0o644],
  ]))
    put(folder, `usr/share/shoal/${file}`, readFileSync(join(root, 'scripts', file)), mode);
}

/** Who answers for the package; whoever publishes it says so. */
const maintainer = () => process.env.SHOAL_RELEASE_MAINTAINER || 'shoal <nobody@example.org>';

/** @param {string} folder @param {string} program @param {string} version @param {number} time */
async function putDocuments(folder, program, version, time) {
  for (const name of readdirSync(join(root, 'docs/man')))
    put(
      folder,
      `usr/share/man/man1/${name}.gz`,
      gzipSync(readFileSync(join(root, 'docs/man', name)), { level: 9 }),
    );
  for (const [shell, path, suffix] of SHELLS) {
    const own = execFileSync(program, ['completion', shell], { encoding: 'utf8' });
    put(folder, `${path}shoal${suffix}`, own);
    for (const name of SERVICES) {
      const command = commandOf(name, join(root, name.replace('shoal-', ''), `bin/${name}.js`));
      put(folder, `${path}${name}${suffix}`, { bash, zsh, fish }[shell](command));
    }
  }
  const copyright = [
    'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/',
    'Upstream-Name: shoal',
    '',
    'Files: *',
    `Copyright: ${new Date(time * 1000).getUTCFullYear()} the authors of shoal`,
    'License: Apache-2.0',
    ' On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.',
    ' Code of others in this package, and its licences: THIRD-PARTY.txt beside this file.',
    '',
  ];
  put(folder, 'usr/share/doc/shoal/copyright', copyright.join('\n'));
  put(folder, 'usr/share/doc/shoal/THIRD-PARTY.txt', await noticeText('debian'));
  const date = new Date(time * 1000).toUTCString().replace('GMT', '+0000');
  const entry = `shoal (${version}) bookworm; urgency=medium\n\n  * CHANGELOG.md.gz says what changed.\n\n -- ${maintainer()}  ${date}\n`;
  put(folder, 'usr/share/doc/shoal/changelog.gz', gzipSync(entry, { level: 9 }));
  const changes = gzipSync(readFileSync(join(root, 'CHANGELOG.md')), { level: 9 });
  put(folder, 'usr/share/doc/shoal/CHANGELOG.md.gz', changes);
}

/** The units, where the tree has some. @param {string} folder @returns {string[]} their names */
function putUnits(folder) {
  if (!existsSync(UNITS)) return [];
  const places = new Map([
    ['.service', 'lib/systemd/system'],
    ['.socket', 'lib/systemd/system'],
    ['.timer', 'lib/systemd/system'],
    ['.target', 'lib/systemd/system'],
    ['.sysusers', 'usr/lib/sysusers.d'],
    ['.tmpfiles', 'usr/lib/tmpfiles.d'],
  ]);
  const units = [];
  for (const name of readdirSync(UNITS).sort()) {
    const kind = /\.[a-z]+$/.exec(name)?.[0] ?? '';
    const place = places.get(kind);
    if (!place) continue;
    const target = /^\.(sysusers|tmpfiles)$/.test(kind) ? name.replace(kind, '.conf') : name;
    put(folder, `${place}/${target}`, readFileSync(join(UNITS, name)));
    if (place.endsWith('system')) units.push(name);
  }
  const samples = join(UNITS, 'etc');
  for (const name of existsSync(samples) ? readdirSync(samples) : [])
    put(folder, `usr/share/doc/shoal/examples/${name}`, readFileSync(join(samples, name)));
  return units;
}

/** What the program needs of Debian. @param {string} folder */
function dependencies(folder) {
  const work = join(folder, '..', 'shlibs');
  mkdirSync(join(work, 'debian'), { recursive: true });
  writeFileSync(
    join(work, 'debian/control'),
    'Source: shoal\n\nPackage: shoal\nArchitecture: any\n',
  );
  const found = execFileSync('dpkg-shlibdeps', ['-O', `-e${join(folder, 'usr/bin/shoal')}`], {
    cwd: work,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return found.replace(/^shlibs:Depends=/, '').trim();
}

// The units need no user of their own. Nothing is enabled or started: configurations come first.
const POSTINST = `#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload || true; fi
`;

/** @param {string} folder @param {string} version */
function putControl(folder, version) {
  const size = filesUnder(folder).reduce(
    (sum, name) => sum + Math.ceil(statSync(join(folder, name)).size / 1024),
    0,
  );
  const control = {
    Package: 'shoal',
    Version: version,
    Architecture: 'amd64',
    Maintainer: maintainer(),
    'Installed-Size': String(size),
    Depends: dependencies(folder),
    Recommends: 'ca-certificates',
    Suggests: 'nodejs (>= 20), npm',
    Section: 'web',
    Priority: 'optional',
    Description: [
      'counts of what a crowd does, from private reports',
      " The aggregator and its server (shoal serve), the analyst's commands, and the",
      ' services shoal-edge, shoal-relay and shoal-issuer, which need Node 20 or later.',
      ' Devices randomize what they report; shoal answers with counts and error bars.',
    ].join('\n'),
  };
  const lines = Object.entries(control).map(([name, value]) => `${name}: ${value}\n`);
  const sums = filesUnder(folder).map((name) => {
    const md5 = createHash('md5')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
    return `${md5}  ${name}\n`;
  });
  put(folder, 'DEBIAN/control', lines.join(''));
  put(folder, 'DEBIAN/md5sums', sums.join(''));
  put(folder, 'DEBIAN/postinst', POSTINST, 0o755);
}

/**
 * Writes the package.
 * @param {string} file
 * @param {{version: string, program: string, npm: Map<string, Map<string, import('./tar.mjs').Entry>>, time: number}} from
 * @returns {Promise<string[]>} the systemd units inside
 */
export async function writeDeb(file, { version, program, npm, time }) {
  const work = mkdtempSync(join(tmpdir(), 'shoal-deb-'));
  const folder = join(work, 'shoal');
  try {
    mkdirSync(join(folder, 'usr/bin'), { recursive: true });
    stripProgram(program, join(folder, 'usr/bin/shoal'));
    putServices(folder, npm);
    await putDocuments(folder, program, version, time);
    const units = putUnits(folder);
    mkdirSync(join(folder, 'etc/shoal/secrets'), { recursive: true });
    putControl(folder, version);
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (statSync(join(folder, name)).isDirectory()) chmodSync(join(folder, name), 0o755);
      utimesSync(join(folder, name), time, time);
    }
    chmodSync(folder, 0o755);
    chmodSync(join(folder, 'etc/shoal/secrets'), 0o700);
    utimesSync(folder, time, time);
    execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', '--build', folder, file], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, SOURCE_DATE_EPOCH: String(time) },
    });
    return units;
  } finally {
    rmSync(work, { recursive: true });
  }
}
