// SPDX-License-Identifier: Apache-2.0
// What the tests of floods share: senders that hold connections and never end a request, and honest
// requests meanwhile, each on a connection of its own, with the time that each took.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { once as event } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

import { announced, peak } from './memory_helpers.mjs';

/** What the promise says: 99 of 100 honest requests take less. */
const P99_MS = 2000;
/** Peak to announced, at most: the program itself and what its libraries keep. */
const SLACK = 1.2;
const PATIENCE_MS = 10_000;

/**
 * Holds connections open until the test ends, from a thread of its own, so that it does not delay the honest requests of this one.
 * @param {import('node:test').TestContext} t @param {string} url @param {number} n
 * @param {{ start: string, drip?: string }} options what each sends at first, and every four seconds
 */
export async function flood(t, url, n, options) {
  const worker = new Worker(new URL('./flood_worker.mjs', import.meta.url), {
    workerData: { url, n, ...options },
  });
  const end = () => worker.terminate();
  t.after(end);
  const ask = async () => {
    worker.postMessage('counts');
    return /** @type {{ opened: number, ended: number }} */ ((await event(worker, 'message'))[0]);
  };
  while ((await ask()).opened < n) await sleep(20);
  return { counts: ask, end };
}

/**
 * One request on a connection of its own.
 * @param {string} url @param {{ method?: string, headers?: Record<string, string>, body?: Uint8Array }} [options]
 * @returns {Promise<{ status: number, ms: number, body: string }>} status 0: no answer
 */
export function once(url, { method = 'GET', headers = {}, body } = {}) {
  const began = performance.now();
  return new Promise((resolve) => {
    const done = (/** @type {number} */ status, text = '') =>
      resolve({ status, ms: performance.now() - began, body: text });
    const asked = request(
      url,
      { method, headers, agent: false, timeout: PATIENCE_MS },
      (response) => {
        let text = '';
        response.on('data', (bytes) => (text += bytes));
        response.on('end', () => done(response.statusCode ?? 0, text));
        response.on('error', (error) => done(0, String(error)));
      },
    );
    asked.on('timeout', () => asked.destroy(new Error('no answer')));
    asked.on('error', (error) => done(0, String(error)));
    asked.end(body);
  });
}

/**
 * Makes honest requests, some at a time, for as long as it is told, and checks that each succeeds in time.
 * @param {import('node:test').TestContext} t @param {string} what
 * @param {number} ms @param {(i: number) => ReturnType<typeof once>} ask @param {number[]} statuses of success
 */
export async function honestMeanwhile(t, what, ms, ask, statuses) {
  /** @type {number[]} */
  const took = [];
  const end = performance.now() + ms;
  let next = 0;
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      while (performance.now() < end) {
        const i = next++;
        const answer = await ask(i);
        assert.ok(
          statuses.includes(answer.status),
          `${what}: request ${i}: ${answer.status} after ${answer.ms.toFixed(0)} ms: ${answer.body}`,
        );
        took.push(answer.ms);
        await sleep(10);
      }
    }),
  );
  took.sort((a, b) => a - b);
  const p99 = took[Math.floor(took.length * 0.99)];
  t.diagnostic(
    `${what}: ${took.length} honest requests, p50 ${took[took.length >> 1].toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
  );
  assert.ok(took.length >= 20, `${what}: only ${took.length} requests in ${ms} ms`);
  assert.ok(p99 < P99_MS, `${what}: p99 is ${p99.toFixed(0)} ms`);
}

/** A server's peak is within what it announced. @param {import('node:test').TestContext} t @param {string} what @param {number} pid @param {string} log */
export function checkMemory(t, what, pid, log) {
  const [took, said] = [peak(pid), announced(log)];
  t.diagnostic(`${what}: ${took.toFixed(0)} MiB of ${said} MiB`);
  assert.ok(took <= SLACK * said, `${what} takes ${took} MiB of ${said}`);
}

/** How often a server turned strangers away, by reason. @param {string} metrics */
export const turned = (metrics) =>
  Object.fromEntries(
    [
      ...metrics.matchAll(
        /^shoal_(?:dap_)?strangers_turned_away_total\{reason="([\w-]+)"\} (\d+)$/gm,
      ),
    ].map(([, reason, n]) => [reason, Number(n)]),
  );
