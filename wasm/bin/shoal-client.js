#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// The command shoal-client: compares a live site with the published files, and prints the integrity
// attributes of a page.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { MANIFEST, pageFiles, readManifest } from './file_hashes.js';
import { compareSite, exitCodeOf } from './site_check.js';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

const HELP = `Usage: shoal-client verify [--manifest FILE] URL
       shoal-client integrity [--manifest FILE] PATH
       shoal-client --version

verify      fetches each file of this version that a page loads from URL, the folder in which the
            site serves them, and compares it with the published hash. Ends with 0 where all are as
            published, 1 where one differs or is missing, 5 where one could not be fetched. It does
            not judge the page itself, its other scripts, or what the site sends to other visitors.
integrity   prints the import map and the script element that make browsers refuse other modules,
            for a site that serves the files under PATH, and the policy that admits them

  --manifest FILE   the hashes of another version: its dist/${MANIFEST}

Example:
  npx --no-install shoal-client verify https://www.example.org/shoal/
`;

/** @param {string} message @returns {never} */
function refuse(message) {
  console.error(`shoal-client: ${message}; see shoal-client --help`);
  process.exit(2);
}

/** @param {string | undefined} file */
function manifestFrom(file) {
  const path = file ?? fileURLToPath(new URL(`../dist/${MANIFEST}`, import.meta.url));
  try {
    return readManifest(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    return refuse(`${path}: ${/** @type {Error} */ (error).message}`);
  }
}

/** @param {string} text */
function folderUrl(text) {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    refuse(`${text}: an http or https URL is needed`);
  const url = new URL(text);
  url.search = url.hash = '';
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}

/** @param {import('./file_hashes.js').Manifest} manifest @param {string} text */
async function verify(manifest, text) {
  const base = folderUrl(text);
  const results = await compareSite(manifest, base, fetch);
  for (const { file, state, why } of results)
    console.log(`${state.padEnd(11)} ${file}${why ? ` (${why})` : ''}`);
  const same = results.filter(({ state }) => state === 'same').length;
  const what = `${manifest.package} ${manifest.version}`;
  console.log(`${base.href}: ${same} of ${results.length} files are those of ${what}`);
  process.exitCode = exitCodeOf(results);
}

/** @param {import('./file_hashes.js').Manifest} manifest @param {string} path */
function printIntegrity(manifest, path) {
  if (!/^[\w.:/-]+$/.test(path))
    refuse(`${path}: a path or URL without special characters is needed`);
  const folder = path.endsWith('/') ? path : `${path}/`;
  const modules = pageFiles(manifest).filter((file) => file.endsWith('.js'));
  const integrity = Object.fromEntries(
    modules.map((file) => [folder + file, manifest.files[file]]),
  );
  const map = `\n${JSON.stringify({ integrity }, null, 2)}\n`;
  const allowed = createHash('sha256').update(map).digest('base64'); // of an inline script
  console.log(`<!-- script-src 'self' 'wasm-unsafe-eval' 'sha256-${allowed}' -->`);
  console.log(`<script type="importmap">${map}</script>`);
  console.log(
    `<script type="module" src="${folder}loader.js" integrity="${manifest.files['loader.js']}"></script>`,
  );
}

const words = process.argv.slice(2);
const at = words.indexOf('--manifest');
const file = at < 0 ? undefined : (words.splice(at, 2)[1] ?? refuse('--manifest needs a file'));
const [command, target, ...rest] = words;
if (command === '--help' || command === 'help') process.stdout.write(HELP);
else if (command === '--version') console.log(`shoal-client ${version}`);
else if (command !== 'verify' && command !== 'integrity') refuse('verify or integrity is needed');
else if (!target || rest.length > 0) refuse(`${command} needs one address`);
else if (command === 'verify') await verify(manifestFrom(file), target);
else printIntegrity(manifestFrom(file), target);
