// SPDX-License-Identifier: Apache-2.0
// Ports for servers that tests start as processes of their own, kill, and start again at the same address. A port that was merely free a
// moment ago may be another's when the server binds it: test files run side by side, and the kernel gives out such ports anew. So these lie
// outside the range that the kernel gives out, and a test process marks each as its own for as long as it lives: by a listener on another
// address of this machine, which two processes cannot both have.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const MARK = '127.0.0.2';
const HOST = '127.0.0.1'; // where the servers listen

/** Where the kernel begins to give out ports of its own. */
function kernelsFirst() {
  try {
    return Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s/)[0]);
  } catch {
    return 32768;
  }
}

/** The ports to choose from: 12,000 below the kernel's, but none that browsers refuse, which end with 10080. */
function candidates() {
  const end = kernelsFirst();
  const [from, to] = end > 12000 ? [Math.max(11000, end - 12000), end] : [20000, 32000];
  return Array.from({ length: to - from }, (_, i) => from + i);
}

/** @param {number} port @param {string} host @returns {Promise<import('node:net').Server | null>} null where somebody else listens */
async function listen(port, host) {
  const server = createServer();
  try {
    await once(server.listen(port, host), 'listening');
    return server;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EADDRINUSE') return null;
    throw error;
  }
}

const all = candidates();
let next = (process.pid * 16) % all.length; // processes of one time begin at different places

/** A port of 127.0.0.1 that nobody has, and no test of another process gets while this one lives. @returns {Promise<number>} */
export async function freePort() {
  for (let tries = 0; tries < all.length; tries++) {
    const port = all[next++ % all.length];
    const mark = await listen(port, MARK);
    if (mark === null) continue;
    mark.unref();
    const probe = await listen(port, HOST);
    if (probe !== null) {
      probe.close();
      await once(probe, 'close');
      return port;
    }
    mark.close();
  }
  throw new Error('no port is free');
}
