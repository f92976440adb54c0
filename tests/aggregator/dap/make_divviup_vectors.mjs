// SPDX-License-Identifier: Apache-2.0
// Records reports of @divviup/dap, the DAP-09 client that is deployed today, with all that went into them:
//
//   node tests/aggregator/dap/make_divviup_vectors.mjs > tests/core/dap09_vectors.json
//
// The file is kept; whoever makes it anew gets other random bytes, and reports of the same kinds.
import { createDivviupTask, recordReport } from './divviup.mjs';

const cases = [
  { vdaf: { type: 'count' }, measurement: true },
  { vdaf: { type: 'sum', bits: 8 }, measurement: 201 },
  { vdaf: { type: 'sumVec', length: 3, bits: 4, chunkLength: 5 }, measurement: [15, 0, 6] },
  { vdaf: { type: 'histogram', length: 10, chunkLength: 4 }, measurement: 7 },
];

const vectors = [];
for (const { vdaf, measurement } of cases) {
  const made = await createDivviupTask({ vdaf, time_precision_s: 300 });
  vectors.push({
    vdaf,
    measurement,
    ...(await recordReport(made, measurement, new Date('2026-11-21T12:34:56Z'))),
  });
}
console.log(JSON.stringify({ package: '@divviup/dap 0.9.1', vectors }, null, 2));
