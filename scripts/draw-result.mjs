// SPDX-License-Identifier: Apache-2.0
// Draws the picture of README.md: what 200,000 simulated devices typed, as the commands estimate
// it, beside what they really typed. Seeds are fixed, so the picture is the same each time.
//     node scripts/draw-result.mjs > docs/result.svg
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const program = process.env.SHOAL_BIN ?? join(root, 'build/release/shoal');
const recipe = join(root, 'docs/recipes/words.json');
const DEVICES = 200_000;

// The words by rank, then a tail of rare ones. Nobody types the last word that is asked about.
const WORDS = [
  'hello',
  'thanks',
  'home',
  'tomorrow',
  'coffee',
  'sorry',
  'train',
  'rain',
  'birthday',
  'garden',
];
const NOBODY = 'xylophone';
const TAIL = 2000;

/** @typedef {{value: string, count: number, low: number, high: number, detected: boolean}} Row */

/** What the commands say. @returns {{rows: Row[], truth: Map<string, number>}} */
function collect() {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-draw-'));
  const file = (/** @type {string} */ name) => join(folder, name);
  const shoal = (/** @type {string[]} */ ...args) =>
    execFileSync(program, args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 1 << 26,
    });
  const counts = [
    ...WORDS.map((word, i) => `${word}\t${Math.round(100_000 / (i + 1))}`),
    ...Array.from({ length: TAIL }, (_, i) => `rare-${i}\t${Math.round(100_000 / (i + 40))}`),
  ];
  try {
    writeFileSync(file('counts.tsv'), `${counts.join('\n')}\n`);
    writeFileSync(file('asked.txt'), `${[...WORDS, NOBODY].join('\n')}\n`);
    const crowd = [
      '--counts',
      file('counts.tsv'),
      '--devices',
      String(DEVICES),
      '--seed',
      'picture',
    ];
    shoal(
      'simulate',
      '--recipe',
      recipe,
      ...crowd,
      '--truth',
      file('truth.tsv'),
      '-o',
      file('batch'),
    );
    shoal('ingest', '--recipe', recipe, '-o', file('acc'), file('batch'));
    const ask = ['--dictionary', file('asked.txt'), '--format', 'json', file('acc')];
    const { rows } = JSON.parse(shoal('estimate', '--recipe', recipe, ...ask));
    const truth = readFileSync(file('truth.tsv'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => /** @type {[string, string]} */ (line.split('\t')));
    return { rows, truth: new Map(truth.map(([word, n]) => [word, Number(n)])) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const WIDTH = 720;
const BAR = '#8db4dc';
const [LEFT, RIGHT, TOP, STEP] = [110, 150, 64, 26];
const whole = (/** @type {number} */ n) => Math.round(n).toLocaleString('en-US');

/** @param {Row[]} rows @param {Map<string, number>} truth */
function drawn(rows, truth) {
  const most = Math.max(...rows.map(({ high }) => high));
  const at = (/** @type {number} */ count) =>
    (LEFT + (Math.max(0, count) / most) * (WIDTH - LEFT - RIGHT)).toFixed(1);
  const height = TOP + rows.length * STEP + 44;
  const bars = rows.map(({ value, count, low, high, detected }, i) => {
    const y = TOP + i * STEP;
    const colour = detected ? BAR : '#c8ced5';
    const said = detected
      ? `${whole(count)} ± ${whole((high - low) / 2)}`
      : 'cannot tell from zero';
    return [
      `<text x="${LEFT - 10}" y="${y + 14}" text-anchor="end">${value}</text>`,
      `<rect x="${LEFT}" y="${y + 3}" width="${(Number(at(count)) - LEFT).toFixed(1)}" height="14" fill="${colour}"/>`,
      `<path d="M${at(low)} ${y + 10}H${at(high)}M${at(low)} ${y + 6}v8M${at(high)} ${y + 6}v8" stroke="#16202a" fill="none"/>`,
      `<circle cx="${at(truth.get(value) ?? 0)}" cy="${y + 10}" r="3.5" fill="#fff" stroke="#c2571a" stroke-width="2"/>`,
      `<text x="${Number(at(high)) + 10}" y="${y + 14}" fill="#52606d">${said}</text>`,
    ].join('\n');
  });
  const key = height - 16;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="13" fill="#16202a">
<rect width="100%" height="100%" fill="#fff"/>
<text x="20" y="26" font-size="16" font-weight="600">What ${whole(DEVICES)} devices typed</text>
<text x="20" y="46" fill="#52606d">Each sent one record, randomized on the device at epsilon 4. The bars are the sums of these records.</text>
${bars.join('\n')}
<rect x="20" y="${key - 10}" width="18" height="10" fill="${BAR}"/><text x="46" y="${key}">estimate with its 95 % interval</text>
<circle cx="282" cy="${key - 5}" r="3.5" fill="#fff" stroke="#c2571a" stroke-width="2"/><text x="294" y="${key}">the truth, which only a simulation knows</text>
</svg>
`;
}

const { rows, truth } = collect();
process.stdout.write(drawn(rows, truth));
