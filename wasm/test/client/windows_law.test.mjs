// SPDX-License-Identifier: Apache-2.0
// The law of what a window sends, enumerated: the real client and the real core run once for every combination of the coins that
// matter. Whatever happened in a window, and however often, r reports tell it from any other window by a factor of e^(r epsilon) at most.
//
// Randomized response over two buckets and "none", at epsilon ln 2, tells the truth in 1 of 2 cases and each of the two lies in 1 of 4.
// Four seeds of the core stand for those four cases, so that the counts of runs are the probabilities, exactly. The order of the numbers
// that events draw is enumerated too: each of the n! orders is equally likely in each slot.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from '../../bindings/node.js';
import { randomizeNone } from '../../bindings/none_record.js';
import { init } from '../../client/client.js';
import { memoryLocks, memoryStorage } from '../../client/memory_storage.js';
import { ENDPOINT, NOON } from '../fixtures.mjs';
import { DAY_MS, fakePage, listed } from '../window_fixtures.mjs';

const core = await load();
const ATOMS = 4;
const ANSWERS = 3; // of the mechanism: two buckets and none

/** @param {'visit' | 'day'} window @param {number} reports */
const recipeOf = (window, reports) =>
  core.recipe(
    listed(window, {
      value: 'number',
      mechanism: 'grr',
      parameters: { epsilon: 0.693147, size: 2, low: 0, high: 2 },
      limit: { per_day: reports },
    }),
  );

/** What happens, and what the core counts it as; a value that is no number is refused. */
const EVENTS = [0.5, 1.5, 'x'];
const NONE = 2;
/** The true answer. @param {any} recipe @param {number} answer @param {Uint8Array} seed @returns {number} */
const answered = (recipe, answer, seed) =>
  Number(answer === NONE ? randomizeNone(recipe, seed) : recipe.randomize(EVENTS[answer], seed));

/** Seeds under which the core tells the truth, the truth, the first lie and the other. */
const SEEDS = (() => {
  const recipe = recipeOf('day', 1);
  /** By the answers to the three truths. @type {{[answers: string]: Uint8Array[]}} */
  const found = { '012': [], 100: [], 221: [] };
  for (let i = 0; i < 100; i++) {
    const seed = new Uint8Array(32).fill(1);
    new DataView(seed.buffer).setUint32(0, i);
    found[[0, 1, 2].map((x) => answered(recipe, x, seed.slice())).join('')].push(seed);
  }
  core.release(recipe);
  const { '012': truths, 100: first, 221: other } = found;
  return [truths[0], truths[1], first[0], other[0]];
})();

/** Lets promises that need no timer come to rest. */
const rest = async () => {
  for (let i = 0; i < 8; i++) await new Promise((resolve) => setImmediate(resolve));
};

/**
 * One window of a real client under forced coins.
 * @param {any} recipe
 * @param {number[]} content the events, as indices of EVENTS
 * @param {number[][]} ranks for each slot the order of the events' numbers
 * @param {number[]} atoms of the seeds, in the order in which they are drawn
 * @param {(draw: number) => number} [coin] which atom a draw takes
 * @returns {Promise<{sent: string[], draws: number}>} what was sent, in the order of the slots
 */
async function runWindow(recipe, content, ranks, atoms, coin = (draw) => draw) {
  const reports = recipe.limit.perDay;
  const page = fakePage();
  let now = NOON;
  let [numbers, seeds, ids] = [0, 0, 0];
  /** @type {any[]} */
  const requests = [];
  const client = await init({
    endpoint: ENDPOINT,
    recipes: [recipe.json],
    wasm: async () =>
      /** @type {any} */ ({ ledger: core.ledger, recipe: () => recipe, release() {} }),
    storage: memoryStorage(),
    locks: memoryLocks(),
    document: page,
    gpc: () => false,
    now: () => now,
    setTimer: () => null,
    clearTimer: () => {},
    fetch: async (_, options) => (requests.push(options), new Response('', { status: 202 })),
    random: (bytes) => {
      bytes.fill(0);
      if (bytes.length === 32) bytes.set(SEEDS[atoms[coin(seeds++)] ?? 0]);
      if (bytes.length === 16) bytes[0] = ids++;
      if (bytes.length !== 8) return;
      const event = Math.floor(numbers / reports) - 1; // the opening draws first
      bytes[0] = event < 0 ? 255 : 1 + ranks[numbers % reports][event];
      numbers++;
    },
  });
  await client.consent.grant();
  await rest();
  for (const event of content) await client.record('theme', /** @type {any} */ (EVENTS[event]));
  if (recipe.send.window === 'day') {
    now += DAY_MS;
    await client.flush();
  } else page.hide();
  await rest();
  client.close();
  const sent = requests
    .map(({ headers, body }) => [headers['Idempotency-Key'], JSON.parse(body).records[0]])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return { sent: sent.map(([, record]) => record), draws: seeds };
}

/** @param {number} n @returns {number[][]} */
const permutations = (n) =>
  n === 0
    ? [[]]
    : permutations(n - 1).flatMap((p) =>
        Array.from({ length: n }, (_, i) => [...p.slice(0, i), n - 1, ...p.slice(i)]),
      );

/** All lists of `length` entries. @template T @param {T[]} entries @param {number} length @returns {T[][]} */
const lists = (entries, length) =>
  length === 0
    ? [[]]
    : lists(entries, length - 1).flatMap((list) => entries.map((entry) => [...list, entry]));

/**
 * The law of a window's reports: for each answer the number of runs that give it, and their total.
 * A seed that changes nothing that is sent is not enumerated further.
 * @param {any} recipe
 * @param {number[]} content
 * @param {(draw: number) => number} [coin]
 */
async function lawOf(recipe, content, coin) {
  const reports = recipe.limit.perDay;
  /** @type {Map<string, number>} */
  const counts = new Map();
  let total = 0;
  for (const ranks of lists(permutations(content.length), reports)) {
    const { sent, draws } = await runWindow(recipe, content, ranks, [], coin);
    assert.equal(sent.length, reports, 'every report is sent');
    const kept = [];
    for (let i = 0; i < draws; i++) {
      const changed = await runWindow(recipe, content, ranks, lie(i), coin);
      if (String(changed.sent) !== String(sent)) kept.push(i);
    }
    assert.ok(kept.length <= reports, 'one coin is enough for a report');
    for (const some of lists([...SEEDS.keys()], kept.length)) {
      /** @type {number[]} */
      const atoms = [];
      kept.forEach((draw, i) => (atoms[draw] = some[i]));
      const { sent: answers } = await runWindow(recipe, content, ranks, atoms, coin);
      const weight = ATOMS ** (reports - kept.length);
      counts.set(String(answers), (counts.get(String(answers)) ?? 0) + weight);
      total += weight;
    }
  }
  return { content: content.join(''), counts, total };
}

/** The one draw that lies. @param {number} draw */
const lie = (draw) => {
  /** @type {number[]} */
  const atoms = [];
  atoms[draw] = 2;
  return atoms;
};

/**
 * The largest ratio of the probabilities of an answer in any two laws.
 * @param {Awaited<ReturnType<typeof lawOf>>[]} laws
 */
function largestRatio(laws) {
  const answers = new Set(laws.flatMap(({ counts }) => [...counts.keys()]));
  let largest = 0;
  for (const answer of answers)
    for (const a of laws)
      for (const b of laws) {
        const [high, low] = [a, b].map(({ counts, total }) => (counts.get(answer) ?? 0) / total);
        largest = Math.max(largest, high === 0 ? 0 : high / low); // denominators are powers of 2 and of 3
      }
  return largest;
}

/** What may happen in a window; with r reports there are (n!)^r orders of n events. @type {{[reports: number]: number[][]}} */
const CONTENTS = {
  1: [0, 1, 2, 3].flatMap((n) => lists([0, 1, 2], n)),
  2: [0, 1, 2].flatMap((n) => lists([0, 1, 2], n)),
  3: [[], [0], [1], [2], [0, 1], [1, 2], [1, 1]],
};

for (const window of /** @type {const} */ (['visit', 'day']))
  for (const reports of [1, 2, 3])
    test(`a ${window} of ${reports} reports tells any two contents apart by e^(${reports} epsilon) at most`, async () => {
      const recipe = recipeOf(window, reports);
      /** @type {Awaited<ReturnType<typeof lawOf>>[]} */
      const laws = [];
      for (const content of CONTENTS[reports]) laws.push(await lawOf(recipe, content));
      assert.equal(largestRatio(laws), 2 ** reports, 'the bound is reached, and not passed');
      // The empty window says "none": the truth in half of the runs.
      const [empty] = laws;
      const none = Array(reports).fill(NONE).join();
      assert.equal((empty.counts.get(none) ?? 0) / empty.total, 0.5 ** reports);
      // An event that is refused never enters: the law is that of the others alone.
      const of = (/** @type {string} */ content) => laws.find((law) => law.content === content);
      for (const [refused, same] of [
        ['2', ''],
        ['12', '1'],
      ]) {
        const [a, b] = [of(refused), of(same)];
        if (!a || !b) continue;
        for (const [answer, count] of a.counts)
          assert.equal(count / a.total, (b.counts.get(answer) ?? 0) / b.total, refused);
      }
      // Of several events each is drawn equally often: the law of two is the mean of theirs.
      const [one, other, both] = ['0', '1', '01'].map(of);
      if (reports === 1 && one && other && both)
        for (const [answer, count] of both.counts) {
          /** @type {number[]} */
          const mean = [one, other].map(({ counts, total }) => (counts.get(answer) ?? 0) / total);
          assert.equal(count / both.total, (mean[0] + mean[1]) / 2);
        }
      core.release(recipe);
    });

test('one coin for two reports, planted, passes the bound', async () => {
  const recipe = recipeOf('visit', 2);
  const laws = [];
  for (const content of [[], [0], [1], [0, 1]])
    laws.push(await lawOf(recipe, content, (draw) => Math.floor(draw / 2)));
  assert.ok(largestRatio(laws) > 4, `${largestRatio(laws)}`);
  core.release(recipe);
});
