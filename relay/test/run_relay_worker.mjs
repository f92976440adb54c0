// SPDX-License-Identifier: Apache-2.0
// Runs the bundled relay in workerd through miniflare until it is killed: run_relay_worker.mjs JSON, with {"script", "dir", "port",
// "bindings"}. Prints "ready" when it serves.

import { dirname, join } from 'node:path';
import { Miniflare } from 'miniflare';

const { script, dir, port, bindings } = JSON.parse(process.argv[2]);
const miniflare = new Miniflare({
  modulesRoot: dirname(script),
  scriptPath: script,
  modules: true,
  compatibilityDate: '2026-04-01',
  durableObjects: { SENDERS: { className: 'ShoalSender', useSQLite: true } },
  durableObjectsPersist: join(dir, 'store'),
  bindings,
  host: '127.0.0.1',
  port,
  cf: false,
});
await miniflare.ready;
process.stdout.write('ready\n');
process.once('SIGTERM', () => miniflare.dispose().then(() => process.exit(0)));
