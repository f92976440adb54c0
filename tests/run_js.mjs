// SPDX-License-Identifier: Apache-2.0
// Runs files of JavaScript tests, the slowest first, so that a run does not end with one long file
// alone. Those that hold a time against the clock come last, each by itself. `node --test` takes
// files by name.
//
// Usage: node tests/run_js.mjs FILE...
import { existsSync } from 'node:fs';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

// Most files wait for servers, browsers and clocks: four at a time keep two cores at work.
const CONCURRENCY = 4;

/** The files that take longest, by what they cost a processor and by how long they wait. */
const SLOWEST = [
  'edge/test/chaos.test.mjs',
  'tests/model/models.test.mjs',
  'wasm/test/client/browser.test.mjs',
  'tests/browsers/page_side.test.mjs',
  'tests/browsers/page_ways.test.mjs',
  'edge/test/workerd.test.mjs',
  'tests/docs/examples.test.mjs',
  'edge/test/emoji.test.mjs',
  'edge/test/node.test.mjs',
  'scripts/reproducible.test.mjs',
  'tests/aggregator/cli/account.test.mjs',
  'ui/test/elements.test.mjs',
  'wasm/test/package.test.mjs',
  'edge/test/collector.test.mjs',
  'tests/aggregator/cli/guarantee.test.mjs',
  'edge/test/queries.test.mjs',
  'tests/aggregator/cli/audit.test.mjs',
  'web-demo/test/page.test.mjs',
  'tests/aggregator/cli/discover.test.mjs',
  'tests/aggregator/dap/dap_memory.test.mjs',
  'edge/test/pairs.test.mjs',
  'aggregator/test/pack.test.mjs',
];

/** Files that hold a time against the clock under SHOAL_LONG. */
const ALONE = process.env.SHOAL_LONG
  ? [
      'edge/test/edge_attack.test.mjs',
      'relay/test/relay_attack.test.mjs',
      'tests/aggregator/dap/dap_floods.test.mjs',
      'tests/release/newcomer.test.mjs',
    ]
  : [];

const files = process.argv.slice(2);
const gone = [...SLOWEST, ...ALONE].filter((file) => !existsSync(file));
if (files.length === 0 || gone.length > 0) {
  process.stderr.write(
    gone.length > 0
      ? `run_js.mjs lists files that are not there: ${gone.join(' ')}\n`
      : 'usage: run_js.mjs FILE...\n',
  );
  process.exit(2);
}

/** Runs files, and resolves when all have ended. @param {string[]} files @param {number} concurrency */
async function runAll(files, concurrency) {
  const said = run({ files, concurrency })
    .on('test:fail', (/** @type {{todo?: string | boolean}} */ failed) => {
      if (failed.todo === undefined) process.exitCode = 1;
    })
    .compose(new spec());
  for await (const text of said) process.stdout.write(text);
}

const first = SLOWEST.filter((file) => files.includes(file));
const last = ALONE.filter((file) => files.includes(file));
const rest = files.filter((file) => !first.includes(file) && !last.includes(file));
if (first.length + rest.length > 0) await runAll([...first, ...rest], CONCURRENCY);
for (const file of last) await runAll([file], 1);
