// SPDX-License-Identifier: Apache-2.0
// The relay as a command under Deno and Bun: the tests that Node and workerd pass, and that slow connections end. Both runtimes are heavy
// and come from npm, so this runs under SHOAL_LONG=1 only.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { installed } from '../../tests/other_runtimes.mjs';
import { startRelay } from './relay_runtimes.mjs';
import { relaySuite } from './relay_suite.mjs';

if (process.env.SHOAL_LONG !== '1')
  test('SKIPPED without SHOAL_LONG=1: the relay under Deno and Bun', { skip: true }, () => {});
else
  for (const runtime of /** @type {const} */ (['deno', 'bun'])) {
    installed(runtime);
    describe(`the relay under ${runtime}`, () => relaySuite(runtime));
    test(`under ${runtime} a connection that sends nothing, or half its headers, is closed`, async (t) => {
      const gateway = 'http://127.0.0.1:9/ohttp';
      const relay = await startRelay(t, runtime, { gateway, more: { headers_timeout_s: 1 } });
      for (const said of ['', 'POST /r HTTP/1.1\r\nHost: relay\r\nX-Half: ']) {
        const began = Date.now();
        const socket = connect(relay.port, '127.0.0.1');
        await once(socket, 'connect');
        if (said !== '') socket.write(said);
        socket.resume();
        await once(socket, 'close');
        const what = said === '' ? 'no headers' : 'half the headers';
        t.diagnostic(`${what}: closed after ${Date.now() - began} ms`);
      }
      assert.equal((await fetch(`${relay.url}/healthz`)).status, 200);
    });
  }
