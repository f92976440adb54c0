// SPDX-License-Identifier: Apache-2.0
// A sender that holds many connections and ends no request, as a thread (flood_helpers.mjs). A connection that the server ends is
// opened again a second later.
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

const AGAIN_MS = 1000;
const DRIP_MS = 4000;
const PARTS = 40; // in which the connections drip, one after the other

const { port, hostname } = new URL(workerData.url);
/** @type {Set<import('node:net').Socket>} */
const open = new Set();
const counts = { opened: 0, ended: 0 };

function one() {
  const socket = connect(Number(port), hostname);
  socket.on('connect', () => {
    counts.opened++;
    open.add(socket);
    socket.write(workerData.start);
  });
  socket.on('error', () => {});
  socket.resume();
  socket.on('close', () => {
    counts.ended++;
    open.delete(socket);
    setTimeout(one, AGAIN_MS);
  });
}

for (let i = 0; i < workerData.n; i++) setTimeout(one, i / 4); // 4,000 a second
let turn = 0;
if (workerData.drip)
  setInterval(() => {
    let i = turn++;
    for (const socket of open) if (i++ % PARTS === 0) socket.write(workerData.drip);
  }, DRIP_MS / PARTS);
parentPort?.on('message', () => parentPort?.postMessage(counts));
