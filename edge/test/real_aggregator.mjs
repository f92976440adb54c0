// SPDX-License-Identifier: Apache-2.0
// `shoal serve` as the aggregator of a test, killed and restarted on one port. Needs the native build (SHOAL_BIN names
// the program; build/release/shoal otherwise).

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SECRET, eventually, freePort } from './support.mjs';

export const program =
  process.env.SHOAL_BIN ?? fileURLToPath(new URL('../../build/release/shoal', import.meta.url));

const DICTIONARY = 'fish\nshoal\nnobody\n';

export class RealAggregator {
  #dir;
  #recipe;
  #child;

  constructor(recipe) {
    this.#recipe = recipe;
  }

  async start() {
    if (this.#dir === undefined) await this.#prepare();
    const child = spawn(program, ['serve', '--config', join(this.#dir, 'serve.json')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.on('data', (text) => (said += text));
    this.#child = child;
    await eventually(async () => {
      assert.ok(child.exitCode === null, `shoal serve ended with ${child.exitCode}: ${said}`);
      await fetch(`${this.url}/healthz`);
    });
    return this;
  }

  async #prepare() {
    this.#dir = await mkdtemp(join(tmpdir(), 'shoal-edge-serve-'));
    const port = await freePort();
    this.url = `http://127.0.0.1:${port}`;
    await writeFile(join(this.#dir, 'recipe.json'), JSON.stringify(this.#recipe.json));
    await writeFile(join(this.#dir, 'words'), DICTIONARY);
    await writeFile(join(this.#dir, 'secret'), `${SECRET}\n`);
    const config = {
      listen: `127.0.0.1:${port}`,
      store: 'store',
      recipes: ['recipe.json'],
      dictionaries: { [this.#recipe.id]: 'words' },
      batch_secret_file: 'secret',
      period: 'all',
      fold_interval_s: 0.05,
    };
    await writeFile(join(this.#dir, 'serve.json'), JSON.stringify(config));
  }

  /** kill -9. */
  async stop() {
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await gone;
  }

  async remove() {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.stop();
    await rm(this.#dir, { recursive: true });
  }

  /** How many reports it has counted. */
  async count() {
    const { n } = await this.#result();
    return n ?? 0;
  }

  async #result() {
    return (await fetch(`${this.url}/v1/results/${this.#recipe.id}?top=3`)).json();
  }

  /** Its numbers are those of exactly these records, folded by the command. @param {string[]} texts */
  async expectExactly(texts) {
    const at = (name) => join(this.#dir, name);
    await writeFile(
      at('reports.ndjson'),
      texts.map((text) => `${JSON.stringify(this.#recipe.report(text))}\n`).join(''),
    );
    run('ingest', '--recipe', at('recipe.json'), '-o', at('acc'), at('reports.ndjson'));
    const expected = JSON.parse(
      run(
        'estimate',
        '--recipe',
        at('recipe.json'),
        '--dictionary',
        at('words'),
        '--format',
        'json',
        at('acc'),
      ),
    );
    const { n, rows } = await this.#result();
    assert.equal(n, texts.length);
    assert.deepEqual(rows, expected.rows);
  }
}

function run(...args) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout;
}
