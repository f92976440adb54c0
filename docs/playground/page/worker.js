// SPDX-License-Identifier: Apache-2.0
// Runs the commands in a worker, so that the page stays quick while a crowd is drawn. A message is
// {settings, counts, id}; answers have the same id and hold `step`, `drawn` or `problem`.
import { run } from '../../../aggregator/js/run.js';
import { drawCrowd } from './commands.js';

const module = WebAssembly.compileStreaming(fetch(new URL('shoal.wasm', self.location.href)));
module.catch(() => {}); // each message tells it

self.addEventListener('message', async ({ data: { settings, counts, id } }) => {
  const answer = (/** @type {object} */ part) => self.postMessage({ id, ...part });
  try {
    const compiled = await module;
    const drawn = await drawCrowd(
      (args, files) => run(args, { files, module: compiled }),
      settings,
      new TextEncoder().encode(counts),
      { tell: (step) => answer({ step }), now: Date.now() },
    );
    answer({ drawn });
  } catch (error) {
    answer({ problem: error instanceof Error ? error.message : String(error) });
  }
});
