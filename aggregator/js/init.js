// SPDX-License-Identifier: Apache-2.0
// `shoal init` under Node. WASI can set no file modes, so the command runs with a umask under which
// nobody else can read or write what it makes. Afterwards all but the secrets and the data get the
// modes that they would have had.
import { chmod, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from './command.js';

const FOLDER = 'my-shoal'; // as the command has it
const PRIVATE = ['secrets', 'data'];
const SWITCHES = ['--yes', '--ask', '--anyway', '--help', '-h'];
const OWNER_ONLY = 0o077;

/**
 * The folder that the command writes: its one word that is no option.
 * @param {string[]} args  what follows `init`
 */
export function folderOf(args) {
  for (let i = 0; i < args.length; i++) {
    if (args[i] === '--') return args[i + 1] ?? FOLDER;
    if (!args[i].startsWith('-') || args[i] === '-') return args[i];
    if (!SWITCHES.includes(args[i]) && !args[i].includes('=')) i++; // its value
  }
  return FOLDER;
}

/**
 * Gives a folder and what is in it the usual modes.
 * @param {string} folder
 * @param {number} umask
 * @param {string[]} left  names in the folder that stay as they are
 */
async function open(folder, umask, left) {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (left.includes(entry.name)) continue;
    if (entry.isDirectory()) await open(path, umask, []);
    else if (entry.isFile()) await chmod(path, 0o666 & ~umask);
  }
  await chmod(folder, 0o777 & ~umask);
}

/**
 * Runs `shoal init`.
 * @param {string[]} args  what follows `init`
 * @returns {Promise<number>} its exit code
 */
export async function runInit(args) {
  const umask = process.umask(OWNER_ONLY);
  try {
    const code = await runCommand(['init', ...args]);
    const isHelp = args.includes('--help') || args.includes('-h');
    if (code === 0 && !isHelp) await open(folderOf(args), umask, PRIVATE);
    return code;
  } finally {
    process.umask(umask);
  }
}
