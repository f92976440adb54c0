// SPDX-License-Identifier: Apache-2.0
// What the tests of servers' memory share: what one says that it takes, the kernel's peak of it, and devices that take all the room there is.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

export const MIB = 1 << 20;
/** Peak to announced, at most. */
export const SLACK = 1.2;
/** A request whose headers take nearly all that a connection may have, and do not end. */
export const LONG_HEADERS = `GET / HTTP/1.1\r\n${Array.from({ length: 60 }, (_, i) => `X-${i}: ${'x'.repeat(1000)}\r\n`).join('')}`;

/** The kernel's peak of a process, in MiB. @param {number} pid */
export const peak = (pid) =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** The MiB of the last announcement. @param {string} log */
export const announced = (log) => Number([...log.matchAll(/takes up to (\d+) MiB/g)].at(-1)?.[1]);

/** Writes the start of a request, and hardly goes on. @param {import('node:test').TestContext} t @param {string} url @param {(string | Buffer)[]} start */
export function begin(t, url, ...start) {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  const drip = setInterval(() => socket.write('x'), 2000); // idle connections are ended
  t.after(() => {
    clearInterval(drip);
    socket.destroy();
  });
  return new Promise((resolve) => {
    socket.on('error', resolve);
    for (const piece of start.slice(0, -1)) socket.write(piece);
    socket.write(start.at(-1) ?? '', resolve);
  });
}
