// SPDX-License-Identifier: Apache-2.0
// Each libFuzzer program goes on from its corpus: that of the tree, and what earlier runs found,
// which stays in build/fuzz/corpus.
import { mkdirSync, readdirSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { build, root, runProgram } from './program.mjs';

/** @typedef {import('./runner.mjs').Campaign} Campaign */

const CHEAP = 1e8;
const DEAR = 1e7;
const CHEAP_RATE = 5000; // executions a second, in the first step
const programs = 'build/fuzz/tests';

/**
 * What a fuzzer wrote. Executions are those after its corpus was read again.
 * @param {string} output
 */
export function figuresOf(output) {
  /** @param {RegExp} pattern */
  const last = (pattern) => Number([...output.matchAll(pattern)].at(-1)?.[1] ?? 0);
  const executed = last(/^stat::number_of_executed_units:\s+(\d+)/gm) || last(/^#(\d+)/gm);
  const artefact = /Test unit written to (\S+)/.exec(output)?.[1];
  const why = /^(SUMMARY: .*|.*ERROR: .*)$/m.exec(output)?.[1];
  return {
    executed: Math.max(0, executed - last(/^#(\d+)\s+INITED/gm)),
    edges: last(/\bcov: (\d+)/g),
    rate: last(/^stat::average_exec_per_sec:\s+(\d+)/gm),
    artefact,
    why,
  };
}

/** @param {string} name of the fuzzer @returns {import('./runner.mjs').Part} */
const part = (name) => ({
  name,
  wanted: CHEAP,
  unit: 'executions',
  async step({ log, seed, step, left, seconds, signal }) {
    const found = join('build/fuzz/corpus', name);
    mkdirSync(join(root, found), { recursive: true });
    const corpora = [found, join('tests/fuzz/corpus', name)];
    const { code, output } = await runProgram(log, signal, {}, join(programs, `fuzz_${name}`), [
      `-max_total_time=${seconds}`,
      `-seed=${seed}`,
      '-timeout=60',
      '-rss_limit_mb=4096',
      '-print_final_stats=1',
      `-artifact_prefix=build/fuzz/${name}-`,
      ...corpora,
    ]);
    const { executed, edges, rate, artefact, why } = figuresOf(output);
    const wanted = step === 0 ? (rate >= CHEAP_RATE ? CHEAP : DEAR) : undefined;
    return {
      done: Math.min(executed, left),
      findings:
        code === 0
          ? []
          : [`${why ?? `ended with ${code}`}: ${programs}/fuzz_${name} ${artefact ?? ''}, ${log}`],
      note: `${edges} edges, ${rate.toLocaleString('en-US')}/s`,
      wanted,
    };
  },
});

/** @type {Campaign} */
export const fuzz = {
  name: 'fuzz',
  says: `every parser and decoder in C under libFuzzer: 10^8 executions, 10^7 where ${CHEAP_RATE.toLocaleString('en-US')} a second are not reached`,
  async parts() {
    const log = join(root, 'build/campaigns/fuzz/build.log');
    await build(log, [
      ['cmake', '--preset', 'fuzz'],
      ['cmake', '--build', '--preset', 'fuzz'],
    ]);
    const folder = join(root, programs);
    const names = existsSync(folder) ? readdirSync(folder) : [];
    return names
      .filter((name) => /^fuzz_\w+$/.test(name))
      .sort()
      .map((name) => part(name.slice('fuzz_'.length)));
  },
};
