// SPDX-License-Identifier: Apache-2.0
// shoal-linux-x64: the native program with its server, its libraries beside it, and what documents it.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PLATFORM_LIBRARIES, noticeText } from './notices.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const NAME = 'shoal-linux-x64';
/** The oldest C library that the program and its libraries load with. */
export const GLIBC = '2.34';
/** @param {string} program @param {string[]} args */
const output = (program, ...args) =>
  execFileSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 26 });

/** The program without symbols; with a folder of libraries, as it lies in `bin` beside them. @param {string} from @param {string} to @param {string} [libraries] */
export function stripProgram(from, to, libraries) {
  copyFileSync(from, to);
  output('strip', '--strip-unneeded', to);
  if (libraries) output('patchelf', '--set-rpath', `$ORIGIN/${libraries}`, to);
}

/** Refuses a file that needs a newer C library than stated. @param {string} file */
function checkGlibc(file) {
  const needed = [...output('objdump', '-T', file).matchAll(/\bGLIBC_2\.(\d+)/g)];
  const newest = Math.max(...needed.map(([, minor]) => Number(minor)));
  if (newest > Number(GLIBC.split('.')[1]))
    throw new Error(`${file} needs glibc 2.${newest}; ${GLIBC} is promised`);
}

/** @param {string} version */
const description = (version) => ({
  name: NAME,
  version,
  description: 'The native shoal command with its server, for Linux on x86-64',
  license: 'Apache-2.0',
  os: ['linux'],
  cpu: ['x64'],
  libc: ['glibc'],
  bin: { shoal: 'bin/shoal' },
  files: ['bin', 'lib', 'man', 'completions', 'THIRD-PARTY.txt'],
});

const README = `# shoal-linux-x64

The native \`shoal\` command, with \`shoal serve\`, for Linux on x86-64 with glibc ${GLIBC} or later. \`bin/shoal\`
loads its libraries from \`lib/\` and needs nothing else of the system.

Beside \`shoal-aggregator\`, whose \`shoal\` is the same code as WebAssembly and has no server, this one is
taken. THIRD-PARTY.txt has the licences of the libraries, and says how to replace one.
`;

/**
 * @param {string} version
 * @param {string} program the native program
 * @returns {Promise<Map<string, import('./tar.mjs').Entry>>}
 */
export async function platformFiles(version, program) {
  output('bash', join(root, 'scripts/release/native-libraries.sh'), program);
  const work = mkdtempSync(join(tmpdir(), 'shoal-platform-'));
  /** @type {Map<string, import('./tar.mjs').Entry>} */
  const files = new Map();
  try {
    mkdirSync(join(work, 'bin'));
    stripProgram(program, join(work, 'bin/shoal'), '../lib');
    checkGlibc(join(work, 'bin/shoal'));
    files.set('bin/shoal', { data: readFileSync(join(work, 'bin/shoal')), mode: 0o755 });
    for (const name of Object.keys(PLATFORM_LIBRARIES)) {
      const file = join(work, name);
      copyFileSync(join(root, 'build/release-libraries/lib', name), file);
      output('strip', '--strip-unneeded', file);
      // The program's path of libraries is not that of its libraries.
      if (/lib(curl|ssl)\./.test(name)) output('patchelf', '--set-rpath', '$ORIGIN', file);
      checkGlibc(file);
      files.set(`lib/${name}`, { data: readFileSync(file), mode: 0o755 });
    }
    for (const shell of ['bash', 'zsh', 'fish'])
      files.set(`completions/shoal.${shell}`, {
        data: Buffer.from(output(program, 'completion', shell)),
      });
  } finally {
    rmSync(work, { recursive: true });
  }
  const pages = readdirSync(join(root, 'docs/man')).filter(
    (name) => !/^shoal-(edge|relay|issuer)\.1$/.test(name),
  );
  for (const name of pages)
    files.set(`man/${name}`, { data: readFileSync(join(root, 'docs/man', name)) });
  const about = { ...description(version), man: pages.map((name) => `man/${name}`) };
  files.set('package.json', { data: Buffer.from(`${JSON.stringify(about, null, 2)}\n`) });
  files.set('README.md', { data: Buffer.from(README) });
  files.set('LICENSE', { data: readFileSync(join(root, 'LICENSE')) });
  files.set('THIRD-PARTY.txt', { data: Buffer.from(await noticeText(NAME)) });
  return files;
}
