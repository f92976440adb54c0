// SPDX-License-Identifier: Apache-2.0
// A folder as shoal init writes one, and shoal-dev as a process.
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const command = fileURLToPath(new URL('../bin/shoal-dev.js', import.meta.url));

/** @param {any} [more] */
export const wordsRecipe = (more = {}) => ({
  recipe: 'words-1',
  analysis: 'keyboard',
  stream: 'typed-words',
  value: 'word',
  mechanism: 'cms',
  parameters: { epsilon: 4, k: 512, m: 256 },
  hash: 'poly1',
  seed: '6f30c1d2a7b94e58810c3f6d92e5ab47d01f7c6e3b284a95f7d2086cb1e94a3d',
  limit: { per_day: 1 },
  cohort: { minimum: 5000 },
  expires: '2099-12-31',
  ...more,
});

/** The page that a visitor of the folder sees; its script names the real endpoint and the real hash. */
const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8"><title>A shop</title>
<script type="module" src="shoal.js"></script>
<h1>A shop</h1>
<button id="yes">Yes, take part</button>
<textarea id="search" aria-label="Search"></textarea>
`;
const SCRIPT = `import { start } from './shoal/loader.js';
const shoal = start({
  endpoint: 'https://edge.shop.example',
  recipes: [{ url: 'recipes/words-1.json', hash: '${'ab'.repeat(32)}' }],
});
document.getElementById('yes').addEventListener('click', async () => {
  document.body.dataset.state = await shoal.consent.grant();
});
shoal.observe(document.getElementById('search'));
`;

/**
 * @param {import('node:test').TestContext} t
 * @param {{[path: string]: string | object}} [files] beside the usual ones
 */
export async function makeFolder(t, files = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'dev-folder-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const words = 'fish shoal reef tide wave sand gull crab kelp salt'.split(' ');
  const all = {
    'recipes/words-1.json': wordsRecipe(),
    'dictionaries/words-1.tsv': words.map((word, i) => `${word}\t${100 - i}\n`).join(''),
    'page/index.html': PAGE,
    'page/shoal.js': SCRIPT,
    'relay.json': {},
    ...files,
  };
  for (const [path, content] of Object.entries(all)) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(
      join(folder, path),
      typeof content === 'string' ? content : JSON.stringify(content),
    );
  }
  return folder;
}

/**
 * Starts the command, and resolves once it says where its page is.
 * @param {import('node:test').TestContext} t
 * @param {string[]} args
 * @param {{[name: string]: string}} [env]
 */
export async function startDev(t, args, env = {}) {
  const child = spawn(process.execPath, [command, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const made = { said: '', url: '', pid: Number(child.pid), stop };
  const ended = new Promise((resolve) => child.once('close', resolve));
  t.after(() => child.kill('SIGKILL'));
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (made.said += text));
  /** @param {NodeJS.Signals} [signal] */
  async function stop(signal = 'SIGINT') {
    child.kill(signal);
    return ended;
  }
  const code = await Promise.race([
    ended,
    new Promise((resolve) => {
      child.stdout.on('data', () => {
        made.url = /open +(http:\S+)/.exec(made.said)?.[1] ?? '';
        if (made.said.includes('Nothing is kept')) resolve(null);
      });
    }),
  ]);
  if (code !== null) throw new Error(`shoal-dev ended with ${code}: ${made.said}`);
  return made;
}
