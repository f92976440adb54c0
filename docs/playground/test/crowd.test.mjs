// SPDX-License-Identifier: Apache-2.0
// The crowds that can be drawn, and the way from a crowd to its result through the module that the
// page ships, without a page.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { run } from '../../../aggregator/js/run.js';
import { drawCrowd } from '../page/commands.js';
import {
  countsFile,
  devicesAt,
  fragmentOf,
  heldBy,
  MAX_VALUES,
  parseOwn,
  settingsOf,
} from '../page/crowd.js';

const module = await WebAssembly.compile(
  readFileSync(new URL('../../../aggregator/dist/shoal.wasm', import.meta.url)),
);
const NOW = Date.UTC(2026, 10, 24);
/** @type {import('../page/crowd.js').Settings} */
const WORDS = {
  kind: 'words',
  own: '',
  devices: 20000,
  skew: 1.1,
  epsilon: 4,
  mechanism: '',
  seed: 1,
};

/** @param {Partial<import('../page/crowd.js').Settings>} changes */
async function draw(changes) {
  const settings = { ...WORDS, ...changes };
  /** @type {string[]} */
  const steps = [];
  const drawn = await drawCrowd(
    (args, files) => run(args, { files, module }),
    settings,
    new TextEncoder().encode(countsFile(heldBy(settings))),
    { tell: (step) => void steps.push(step), now: NOW },
  );
  return { ...drawn, steps };
}

test('a list of one’s own: what is wrong is named with its line', () => {
  assert.deepEqual(parseOwn('tea\t5\n\n green tea, 3\r\n a,b 2.4'), [
    { value: 'tea', count: 5 },
    { value: 'green tea', count: 3 },
    { value: 'a,b', count: 2 },
  ]);
  for (const [text, why] of /** @type {[string, RegExp][]} */ ([
    ['tea 5\ncoffee', /^Line 2: write a value and how often it occurs$/],
    ['tea 5\n7', /^Line 2: write a value/],
    ['tea 5\n\ntea 6', /^Line 3: “tea” is there twice$/],
    ['tea 5\nx\u0007y 6', /^Line 2: the value holds a control character$/],
    [`tea 5\n${'ü'.repeat(129)} 6`, /^Line 2: the value is longer than 256 bytes$/],
    ['tea 5', /^Give at least two values\.$/],
    ['tea 0\ncoffee 0', /^Give at least one value a frequency above zero\.$/],
    ['tea 1000000000000\ncoffee 1', /^Line 2: the frequencies add up to more than 10\^12$/],
    [
      Array.from({ length: MAX_VALUES + 1 }, (_, i) => `v${i} 1`).join('\n'),
      /^Line 5001: more than 5000 values$/,
    ],
  ]))
    assert.throws(() => parseOwn(text), { message: why }, text.slice(0, 40));
});

test('words are a thousand, all unlike, the first the most frequent', () => {
  const held = heldBy(WORDS);
  assert.equal(new Set(held.map(({ value }) => value)).size, 1000);
  for (let i = 1; i < held.length; i++) assert.ok(held[i].count <= held[i - 1].count);
  assert.equal(held[0].count, 1e6);
  assert.equal(held[9].count, Math.round(1e6 * 10 ** -1.1));
});

test('two steps of the slider double the reports, from 1,000 to 510,000', () => {
  assert.equal(devicesAt(6), 1000);
  assert.equal(devicesAt(24), 510_000);
  for (let step = 6; step < 24; step++) {
    const ratio = devicesAt(step + 1) / devicesAt(step);
    assert.ok(ratio > 1.34 && ratio < 1.5, `${step}: ${ratio}`); // two digits around 1.41
  }
});

test('a link holds the settings, and never the list of one’s own', () => {
  const fragment = fragmentOf({ ...WORDS, kind: 'own', own: 'my secret 5', mechanism: 'olh' });
  assert.ok(!fragment.includes('secret'));
  assert.deepEqual(settingsOf(`#${fragment}`), {
    kind: 'own',
    devices: '20000',
    skew: '1.1',
    epsilon: '4',
    mechanism: 'olh',
    seed: '1',
  });
  assert.deepEqual(settingsOf('#kind=<b>&epsilon=4&__proto__=1'), { epsilon: '4' });
});

// With 19 intervals of 95 % that hold in 20, fewer than 980 of 1,100 have a chance below 10^-6.
test('every mechanism: intervals hold the truth', async () => {
  const { candidates, steps } = await draw({ devices: 2000 });
  assert.ok(candidates.length >= 8);
  assert.equal(steps[0], 'Planning');
  for (const { mechanism } of candidates) {
    const drawn = await draw({ devices: 2000, mechanism });
    assert.equal(drawn.n, 2000);
    assert.equal(drawn.mechanism, mechanism);
    assert.equal(drawn.rows.length, 1000);
    const held = drawn.rows.filter(({ low, high, truth }) => low <= truth && truth <= high).length;
    // sigma of 950 of 1,000 is 7, more where rows share their noise: 7 sigma
    assert.ok(held > 900, `${mechanism}: ${held} of 1,000 intervals hold the truth`);
    assert.match(drawn.commands, new RegExp(`--mechanism ${mechanism} --values values\\.txt`));
    assert.equal(drawn.commands.split('\n').length, 4);
  }
});

test('a crowd that shows nothing is drawn, and said', async () => {
  const drawn = await draw({ devices: 1000, epsilon: 0.5 });
  assert.equal(drawn.isNothing, true);
  assert.equal(drawn.rows.length, 1000);
});

test('hostile values pass through the commands', async () => {
  const own = '<img src=x onerror=alert(1)> 500\n‮drow 400\n"; rm -rf / 90';
  const drawn = await draw({ kind: 'own', own, devices: 5000 });
  assert.deepEqual(
    drawn.rows.map(({ value }) => value),
    ['<img src=x onerror=alert(1)>', '‮drow', '"; rm -rf /'],
  );
  assert.equal(
    drawn.rows.reduce((sum, { truth }) => sum + truth, 0),
    5000,
  );
});

test('what a command refuses is told in its own words', async () => {
  await assert.rejects(
    drawCrowd(
      (args, files) => run(args, { files, module }),
      WORDS,
      new TextEncoder().encode('a\tx\n'),
      { tell: () => {}, now: NOW },
    ),
    /counts\.tsv: line 1/,
  );
});
