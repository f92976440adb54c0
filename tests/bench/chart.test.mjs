// SPDX-License-Identifier: Apache-2.0
// The benchmark's curves: where points lie, which numbers stand at the axes, and that names are no markup.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chart } from './chart.mjs';

/** @param {string} svg @param {RegExp} pattern */
const numbers = (svg, pattern) =>
  [...svg.matchAll(pattern)].map((match) => match.slice(1).map(Number));

test('equal ratios are equal distances, on both axes', () => {
  const svg = chart(
    [
      {
        title: 'a',
        x: 'n',
        y: 's',
        lines: [
          {
            name: 'line',
            points: [
              [10, 8],
              [100, 4],
              [1000, 2],
              [10000, 1],
            ],
          },
        ],
      },
    ],
    'note',
  );
  const at = numbers(svg, /<circle cx="([\d.]+)" cy="([\d.]+)"/g);
  assert.equal(at.length, 4);
  for (const i of [1, 2, 3]) {
    assert.ok(
      Math.abs(at[i][0] - at[i - 1][0] - (at[1][0] - at[0][0])) < 0.21,
      'to the right, in equal steps',
    );
    assert.ok(
      Math.abs(at[i][1] - at[i - 1][1] - (at[1][1] - at[0][1])) < 0.21 && at[1][1] > at[0][1],
      'downwards, in equal steps',
    );
  }
  const [[path]] = numbers(svg, /<path d="M([\d.]+) [\d.]+L/g);
  assert.equal(path, at[0][0]);
  assert.deepEqual(
    [...svg.matchAll(/text-anchor="middle">(\d[^<]*)</g)].map(([, label]) => label),
    ['10', '100', '1k', '10k'],
  );
  assert.deepEqual(
    [...svg.matchAll(/text-anchor="end">([^<]*)</g)].map(([, label]) => label),
    ['1', '2', '5'],
  );
});

test('panels lie beside and below each other, and names are text', () => {
  const panel = {
    title: '<b>&',
    x: 'x',
    y: 'y',
    lines: [
      {
        name: '"a"<',
        points: /** @type {[number, number][]} */ ([
          [1, 1],
          [2, 3],
        ]),
      },
      { name: 'b', points: /** @type {[number, number][]} */ ([[1, 2]]) },
    ],
  };
  const svg = chart([panel, panel, panel, panel], '&note');
  assert.equal([...svg.matchAll(/&lt;b&gt;&amp;/g)].length, 4);
  assert.ok(!/<b>|"a"</.test(svg) && svg.includes('&amp;note'));
  const titles = numbers(svg, /<text x="([\d.]+)" y="([\d.]+)" font-weight/g);
  assert.equal(new Set(titles.map(([x]) => x)).size, 3);
  assert.ok(titles[3][1] > titles[0][1] && titles[3][0] === titles[0][0]);
  const [width, height] = numbers(svg, /viewBox="0 0 (\d+) (\d+)"/g)[0];
  for (const [x, y] of numbers(svg, /<circle cx="([\d.]+)" cy="([\d.]+)"/g))
    assert.ok(x > 0 && x < width && y > 0 && y < height);
});
