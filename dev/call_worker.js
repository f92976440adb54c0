// SPDX-License-Identifier: Apache-2.0
// A worker thread as a function: each message has an id, and its answer has the same. A message with
// `progress` comes before the answer.
import { Worker } from 'node:worker_threads';

/**
 * @template Answer
 * @typedef {{ask: (question: object, onProgress?: (progress: any) => void) =>
 *   Promise<Answer>, close: () => Promise<unknown>}} Caller
 */

/**
 * @param {URL} file
 * @param {any} [workerData]
 * @returns {Caller<any>}
 */
export function callWorker(file, workerData) {
  const worker = new Worker(file, { workerData });
  /** @type {Map<number, {resolve: (answer: any) => void, reject: (error: Error) => void,
   *   onProgress?: (progress: any) => void}>} */
  const waiting = new Map();
  let next = 0;
  /** @param {Error} error */
  const fail = (error) => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  worker.on('message', (/** @type {{id: number, progress?: any}} */ answer) => {
    if (answer.progress !== undefined) {
      waiting.get(answer.id)?.onProgress?.(answer.progress);
      return;
    }
    waiting.get(answer.id)?.resolve(answer);
    waiting.delete(answer.id);
  });
  worker.on('error', fail);
  worker.on('exit', () => fail(new Error('the thread has ended')));
  worker.unref();
  return {
    ask: (question, onProgress) =>
      new Promise((resolve, reject) => {
        const id = next++;
        waiting.set(id, { resolve, reject, onProgress });
        worker.postMessage({ ...question, id });
      }),
    close: () => worker.terminate(),
  };
}
