// SPDX-License-Identifier: Apache-2.0
// Runs the bundled worker in workerd through miniflare until it is killed: run_worker.mjs JSON, with
// {"script", "store", "port", "bindings"}. Prints "ready" when it serves. Its parent kills it and workerd, its child.

import { dirname } from 'node:path';
import { Miniflare } from 'miniflare';

const { script, store, port, bindings } = JSON.parse(process.argv[2]);
const miniflare = new Miniflare({
  modulesRoot: dirname(script),
  scriptPath: script,
  modules: true,
  modulesRules: [
    { type: 'ESModule', include: ['**/*.js'] },
    { type: 'CompiledWasm', include: ['**/*.wasm'] },
  ],
  compatibilityDate: '2026-04-01',
  durableObjects: { COLLECTIONS: { className: 'ShoalCollection', useSQLite: true } },
  durableObjectsPersist: store,
  bindings,
  host: '127.0.0.1',
  port,
  cf: false,
});
await miniflare.ready;
process.stdout.write('ready\n');
process.once('SIGTERM', () => miniflare.dispose().then(() => process.exit(0)));
