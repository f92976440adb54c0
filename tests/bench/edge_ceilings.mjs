// SPDX-License-Identifier: Apache-2.0
// What the benchmarks of the edge share: reports of a CMS record of 1024 bits, and the workers that
// do less than the edge, run in workerd like it.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from '../../wasm/bindings/node.js';

const TICK_US = 10_000; // of /proc/PID/stat
export const REPORTS = 256;
export const ORIGIN = 'https://site.example';
// The edge's tests start both runtimes already; they are JavaScript without types.
export const tests = (/** @type {string} */ name) =>
  import(new URL(`../../edge/test/${name}`, import.meta.url).href);

// As an edge's run_worker.mjs wants them.
const CEILING_WORKERS = {
  answers: `export class ShoalCollection {}
    const headers = { 'Content-Type': 'application/json' };
    export default { async fetch(request) { await request.arrayBuffer(); return new Response('{"status":"accepted"}', { status: 202, headers }); } };`,
  stores: `import { DurableObject } from 'cloudflare:workers';
    export class ShoalCollection extends DurableObject {
      #waiting = [];
      #isBusy = false;
      constructor(ctx, env) {
        super(ctx, env);
        ctx.storage.sql.exec('CREATE TABLE IF NOT EXISTS reports (key TEXT PRIMARY KEY, record BLOB)');
      }
      accept(record, key) {
        return new Promise((resolve) => {
          this.#waiting.push([key, record, resolve]);
          if (!this.#isBusy) void this.#store();
        });
      }
      async #store() {
        this.#isBusy = true;
        await null;
        for (let all; (all = this.#waiting.splice(0)).length > 0; ) {
          this.ctx.storage.transactionSync(() => {
            for (const [key, record] of all) this.ctx.storage.sql.exec('INSERT OR IGNORE INTO reports VALUES (?, ?)', key, record);
          });
          await this.ctx.storage.sync();
          for (const [, , resolve] of all) resolve('accepted');
        }
        this.#isBusy = false;
      }
    }
    const headers = { 'Content-Type': 'application/json' };
    export default {
      async fetch(request, { COLLECTIONS }) {
        const record = new Uint8Array(await request.arrayBuffer()).slice(0, 132);
        await COLLECTIONS.get(COLLECTIONS.idFromName('one')).accept(record, request.headers.get('Idempotency-Key'));
        return new Response('{"status":"accepted"}', { status: 202, headers });
      },
    };`,
};

export async function makeReports() {
  const recipe = (await load()).recipe({
    recipe: 'bench',
    analysis: 'bench',
    stream: 'words',
    value: 'word',
    mechanism: 'cms',
    parameters: { epsilon: 4, k: 65536, m: 1024 },
    hash: 'poly1',
    seed: '00112233445566778899aabbccddeeff'.repeat(2),
    limit: { per_day: 1 },
    batch: { minimum: 1000, max_age_s: 3600 },
    expires: '2099-12-31',
  });
  const bodies = Array.from({ length: REPORTS }, (_, i) =>
    JSON.stringify(recipe.report(recipe.randomize(`word${i}`, randomBytes(32)))),
  );
  return { recipe, bodies };
}

/**
 * Starts a worker that does less than the edge.
 * @param {string} name  of CEILING_WORKERS
 * @param {(() => unknown)[]} ends  gets what stops it
 */
export async function startCeilingWorker(name, ends) {
  const port = await (await tests('support.mjs')).freePort();
  const dir = await mkdtemp(join(tmpdir(), 'shoal-ceiling-'));
  const script = join(dir, 'worker', 'worker.js');
  await mkdir(join(dir, 'worker'));
  await writeFile(script, CEILING_WORKERS[/** @type {keyof typeof CEILING_WORKERS} */ (name)]);
  const runner = fileURLToPath(new URL('../../edge/test/run_worker.mjs', import.meta.url));
  const config = { script, store: join(dir, 'store'), port, bindings: {} };
  const child = await started([runner, JSON.stringify(config)], port, ends);
  ends.push(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  return child;
}

/**
 * Starts a program of Node and waits until it says that it serves.
 * @param {string[]} command
 * @param {number} port  where it will serve
 * @param {(() => unknown)[]} ends  gets what stops it
 */
export async function started(command, port, ends) {
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
  ends.push(async () => {
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    await gone;
  });
  await once(child.stdout, 'data');
  return { port, pid: /** @type {number} */ (child.pid) };
}

/** Returns the CPU time of a process and its children, microseconds. @param {number} pid @returns {number} */
export function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  return (
    (Number(fields[11]) + Number(fields[12])) * TICK_US +
    children.filter(Boolean).reduce((sum, child) => sum + cpuOf(Number(child)), 0)
  );
}
