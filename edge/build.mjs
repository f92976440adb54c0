// SPDX-License-Identifier: Apache-2.0
// npm run build: dist/worker.js, dist/shoal.wasm and dist/shoal-dap.wasm, ready for workerd.

import { fileURLToPath } from 'node:url';
import { bundleWorker } from './bundle.js';

await bundleWorker(fileURLToPath(new URL('dist', import.meta.url)));
