// SPDX-License-Identifier: Apache-2.0
// Joint distributions against epsilon, reports and table size (figures 3, 14 and 16 of fanti-2016), and its example of 30 categories by a bit (figure 4), as the
// tables and pictures of docs/joint-figures.md.
//
//   node tests/bench/joint_figures.mjs [--quick] [--apps] [--folder docs]        about seven minutes of one core; --apps: the example alone, seconds
//
// Figures come from shoal_joint_figures, the example from the command: $SHOAL_JOINT_FIGURES, $SHOAL_BIN or those of build/release. joint_figures.test.mjs of
// tests/aggregator asserts a short version.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const built = (/** @type {string} */ name) =>
  fileURLToPath(new URL(`../../build/release/${name}`, import.meta.url));
const bin = process.env.SHOAL_JOINT_FIGURES ?? built('shoal_joint_figures');
const shoal = process.env.SHOAL_BIN ?? built('shoal');

/** @typedef {{epsilon: number, n: number, rows: number, columns: number, runs: number, mean: number, sd: number}} Run what a setting came to */

/** @param {string} file @param {string[]} args @param {string} [input] @returns {string} */
function run(file, args, input) {
  const done = spawnSync(file, args, { input, encoding: 'utf8', maxBuffer: 1 << 26 });
  if (done.status !== 0) throw new Error(`${file}: ${done.error ?? done.stderr}`);
  return done.stdout;
}

/** Runs settings, one a line. @param {string[]} settings @returns {Run[]} */
export const study = (settings) =>
  run(bin, [], `${settings.join('\n')}\n`)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

// ---- figures 3, 16, 14 ----

const EPSILONS = [1, 2, 3, 4, 5];
const REPORTS = [1000, 3000, 10_000, 20_000, 50_000, 100_000];
const SIZES = [6, 12, 18];
const SIZE_REPORTS = [1000, 10_000, 100_000, 1_000_000];
const WIDTHS = [3, 4, 5, 6, 7, 8, 9, 10];

/** @typedef {{name: string, runs: Run[]}} Line */

/** Of all seeds one in `less`. @param {number} less @returns {Line[]} */
const figure3 = (less) =>
  EPSILONS.map((e) => ({
    name: `epsilon ${e}`,
    runs: study(REPORTS.map((n) => `distance ${e} ${n} 4 5 ${20 / less}`)),
  }));
/** @param {number} less @returns {Line[]} */
const figure16 = (less) =>
  SIZES.map((m) => ({
    name: `6 x ${m}`,
    runs: study(SIZE_REPORTS.map((n) => `distance 1.5 ${n / less} 6 ${m} ${n > 100_000 ? 3 : 10}`)),
  }));
/** @param {number} less @returns {Line[]} */
const figure14 = (less) =>
  [1000, 10_000].map((n) => ({
    name: `${n.toLocaleString('en-US')} reports`,
    runs: study(WIDTHS.map((m) => `errors 3 ${n} 6 ${m} ${500 / less}`)),
  }));

/** @param {string} corner @param {Line[]} lines @param {(run: Run) => string} head @param {(run: Run) => string} cell */
function table(corner, lines, head, cell) {
  const rows = lines.map(({ name, runs }) => `| ${name} | ${runs.map(cell).join(' | ')} |`);
  return `| ${corner} | ${lines[0].runs.map(head).join(' | ')} |\n|---|${lines[0].runs.map(() => '---|').join('')}\n${rows.join('\n')}\n`;
}

const COLOURS = ['#9fb7c9', '#6ba8d0', '#286ea8', '#0c3463', '#c2410c'];

/**
 * Lines over reports, both axes by their logarithm.
 * @param {string} title @param {string} sub @param {Line[]} lines
 */
function svgLines(title, sub, lines) {
  const [left, top, width, height] = [72, 84, 520, 300];
  const all = lines.flatMap(({ runs }) => runs);
  const [from, to] = [Math.min(...all.map(({ n }) => n)), Math.max(...all.map(({ n }) => n))].map(
    Math.log10,
  );
  const [low, high] = [
    Math.floor(2 * Math.log10(Math.min(...all.map(({ mean }) => mean)))) / 2,
    Math.log10(1),
  ];
  const px = (/** @type {number} */ n) => left + (width * (Math.log10(n) - from)) / (to - from);
  const py = (/** @type {number} */ y) => top + (height * (high - Math.log10(y))) / (high - low);
  const ticks = [1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005]
    .filter((y) => Math.log10(y) >= low - 1e-9)
    .map(
      (
        y,
      ) => `<line x1="${left}" x2="${left + width}" y1="${py(y).toFixed(1)}" y2="${py(y).toFixed(1)}" stroke="#d5dce3"/>
<text x="${left - 10}" y="${(py(y) + 4).toFixed(1)}" font-size="12" text-anchor="end" fill="#5b6b7a">${y}</text>`,
    );
  const labels = [...new Set(all.map(({ n }) => n))].map(
    (n) =>
      `<text x="${px(n).toFixed(1)}" y="${top + height + 20}" font-size="12" text-anchor="middle" fill="#5b6b7a">${n.toLocaleString('en-US')}</text>`,
  );
  /** Names of lines that end near each other stand one below the other. @type {number[]} */
  const names = [];
  for (const { i, y } of lines
    .map(({ runs }, i) => ({ i, y: py(runs[runs.length - 1].mean) + 4 }))
    .sort((a, b) => a.y - b.y)) {
    names[i] = Math.max(
      y,
      ...names
        .filter((other) => other !== undefined)
        .map((other) => other + 14)
        .filter((least) => least > y && least < y + 28),
    );
  }
  const drawn = lines.map(({ name, runs }, i) => {
    const points = runs.map(({ n, mean }) => `${px(n).toFixed(1)},${py(mean).toFixed(1)}`);
    return `<polyline fill="none" stroke="${COLOURS[i]}" stroke-width="2" points="${points.join(' ')}"/>
${points.map((p) => `<circle cx="${p.split(',')[0]}" cy="${p.split(',')[1]}" r="3" fill="${COLOURS[i]}"/>`).join('\n')}
<text x="${left + width + 10}" y="${names[i].toFixed(1)}" font-size="13" fill="${COLOURS[i]}">${name}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="720" height="446" viewBox="0 0 720 446" font-family="system-ui, sans-serif" role="img">
<title>${title}</title>
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="24" y="36" font-size="18" fill="#1b2733">${title}</text>
<text x="24" y="58" font-size="13" fill="#5b6b7a">${sub}</text>
${ticks.join('\n')}
${labels.join('\n')}
<text x="${left + width / 2}" y="${top + height + 44}" font-size="13" text-anchor="middle" fill="#1b2733">reports</text>
${drawn.join('\n')}
</svg>
`;
}

// ---- figure 4: 30 categories by free or paid ----

const CATEGORIES = 30;
export const FREE = 'free';

/** The paper's shape without its data: categories by a mild power law, paid rates from 30 % down to 4 %. @returns {{category: string, share: number, paid: number}[]} */
export function apps() {
  const weights = Array.from({ length: CATEGORIES }, (_, i) => 1 / (4 + ((7 * i) % CATEGORIES)));
  const total = weights.reduce((sum, w) => sum + w, 0);
  return weights.map((w, i) => ({
    category: `category-${String(i + 1).padStart(2, '0')}`,
    share: w / total,
    paid: 0.3 * (0.04 / 0.3) ** (i / (CATEGORIES - 1)),
  }));
}

/** Largest q of six decimals whose cost 2 ln(q/(1-q)) is at most epsilon. @param {number} epsilon */
const chance = (epsilon) => (Math.floor(1e6 / (1 + Math.exp(-epsilon / 2))) - 1) / 1e6;

/**
 * Devices of one app each: 30-bit Basic RAPPOR, and one bit, which subset selection of one of two is.
 * @param {number} devices @param {number} epsilon of each variable @param {string} seed
 * @returns {{result: any, truth: Map<string, number>}} of shoal joint, and the share of each pair that was drawn
 */
export function study30x2(devices, epsilon, seed) {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-joint-'));
  const at = (/** @type {string} */ name) => join(folder, name);
  const q = chance(epsilon);
  try {
    writeFileSync(
      at('r.json'),
      JSON.stringify({
        recipe: 'apps',
        analysis: 'apps',
        stream: 'apps',
        variables: [
          {
            name: 'category',
            value: 'item',
            mechanism: 'rappor',
            parameters: {
              values: apps().map(({ category }) => category),
              p: Math.round(1e6 * (1 - q)) / 1e6,
              q,
              f: 0,
            },
            seed: 'a9'.repeat(32),
          },
          {
            name: 'price',
            value: 'item',
            mechanism: 'subset',
            parameters: { epsilon, values: [FREE, 'paid'] },
          },
        ],
        limit: { per_day: 1 },
        expires: '2099-12-31',
      }),
    );
    writeFileSync(
      at('r.tsv'),
      apps()
        .flatMap(({ category, share, paid }) => [
          `${category}\t${FREE}\t${Math.round(1e9 * share * (1 - paid))}\n`,
          `${category}\tpaid\t${Math.round(1e9 * share * paid)}\n`,
        ])
        .join(''),
    );
    run(shoal, [
      'simulate',
      '--recipe',
      at('r.json'),
      '--counts',
      at('r.tsv'),
      '--devices',
      String(devices),
      '--seed',
      seed,
      '-o',
      at('r.batch'),
      '--truth',
      at('truth.tsv'),
    ]);
    run(shoal, ['ingest', '--recipe', at('r.json'), '-o', at('r.acc'), at('r.batch')]);
    const result = JSON.parse(
      run(shoal, ['joint', '--recipe', at('r.json'), '--format', 'json', at('r.acc')]),
    );
    const lines = readFileSync(at('truth.tsv'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'));
    return {
      result,
      truth: new Map(lines.map(([x, y, count]) => [`${x} ${y}`, Number(count) / devices])),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Truth and estimate with its bar, a row a category: the paid rate, and both shares. @param {{result: any, truth: Map<string, number>}} study */
function svgApps({ result, truth }) {
  const names = apps().map(({ category }) => category);
  const [top, row, width] = [104, 18, 300];
  const [left, right] = [120, 120 + width + 70];
  const mostRate = 0.6,
    mostShare = Math.max(...result.cells.map((/** @type {any} */ { high }) => high));
  const find = (/** @type {any[]} */ rows, /** @type {string} */ x, /** @type {string} */ y) =>
    rows.find((each) => each.x === x && each.y === y);
  const share = (/** @type {string} */ x, /** @type {string} */ y) => truth.get(`${x} ${y}`) ?? 0;
  const bar = (
    /** @type {number} */ x0,
    /** @type {number} */ y,
    /** @type {any} */ cell,
    /** @type {number} */ real,
    /** @type {number} */ most,
    /** @type {string} */ colour,
  ) => {
    const x = (/** @type {number} */ p) =>
      (x0 + (width * Math.min(Math.max(p, 0), most)) / most).toFixed(1);
    return `<line x1="${x(cell.low)}" x2="${x(cell.high)}" y1="${y}" y2="${y}" stroke="${colour}" stroke-width="1.5"/><circle cx="${x(cell.p)}" cy="${y}" r="2.6" fill="${colour}"/><path d="M${x(real)} ${y - 5}v10" stroke="#1b2733" stroke-width="1.5"/>`;
  };
  const rows = names.map((name, i) => {
    const y = top + row * i;
    const rate = share(name, 'paid') / (share(name, 'paid') + share(name, FREE));
    return `<text x="${left - 12}" y="${y + 4}" font-size="11" text-anchor="end" fill="#1b2733">${name}</text>
${bar(left, y, find(result.rates, name, 'paid'), rate, mostRate, '#286ea8')}
${bar(right, y - 3, find(result.cells, name, FREE), share(name, FREE), mostShare, '#2e7d5b')}
${bar(right, y + 4, find(result.cells, name, 'paid'), share(name, 'paid'), mostShare, '#9a5b13')}`;
  });
  const bottom = top + row * names.length;
  const ticks = (
    /** @type {number} */ x0,
    /** @type {number} */ most,
    /** @type {number} */ step,
  ) =>
    Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => {
      const x = x0 + (width * i * step) / most;
      return `<line x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${top - 10}" y2="${bottom - 6}" stroke="#d5dce3"/><text x="${x.toFixed(1)}" y="${bottom + 12}" font-size="11" text-anchor="middle" fill="#5b6b7a">${Math.round(100 * i * step)} %</text>`;
    }).join('\n');
  const title = 'Paid rates and joint frequencies of 30 categories';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${right + width + 40}" height="${bottom + 40}" viewBox="0 0 ${right + width + 40} ${bottom + 40}" font-family="system-ui, sans-serif" role="img">
<title>${title}</title>
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="24" y="36" font-size="18" fill="#1b2733">${title}</text>
<text x="24" y="58" font-size="13" fill="#5b6b7a">${result.n.toLocaleString('en-US')} reports, epsilon ${(result.epsilon / 2).toFixed(1)} a variable; dots are estimates with 95 % bars, strokes what was drawn</text>
<text x="${left}" y="${top - 18}" font-size="13" fill="#286ea8">paid rate of the category</text>
<text x="${right}" y="${top - 18}" font-size="13" fill="#2e7d5b">share of all: free<tspan fill="#9a5b13">, paid</tspan></text>
${ticks(left, mostRate, 0.1)}
${ticks(right, mostShare, 0.02)}
${rows.join('\n')}
</svg>
`;
}

/** How many intervals hold what was drawn. @param {{result: any, truth: Map<string, number>}} study @returns {{cells: number, rates: number}} */
export function coverage({ result, truth }) {
  const share = (/** @type {string} */ x, /** @type {string} */ y) => truth.get(`${x} ${y}`) ?? 0;
  const held = (/** @type {any} */ { low, high }, /** @type {number} */ real) =>
    low <= real && real <= high;
  return {
    cells: result.cells.filter((/** @type {any} */ cell) => held(cell, share(cell.x, cell.y)))
      .length,
    rates: result.rates.filter((/** @type {any} */ cell) =>
      held(cell, share(cell.x, cell.y) / (share(cell.x, FREE) + share(cell.x, 'paid'))),
    ).length,
  };
}

/** @param {string} folder @param {number} less */
function drawApps(folder, less) {
  const example = study30x2(100_000 / less, 2, 'apps');
  writeFileSync(join(folder, 'joint-apps.svg'), svgApps(example));
  const { cells, rates } = coverage(example);
  console.log(
    `${cells} of 60 cells and ${rates} of 60 rates covered; Wald ${example.result.wald.statistic.toFixed(1)} on ${example.result.wald.df}, p = ${example.result.wald.p_value}; ${example.result.iterations} iterations`,
  );
}

/** @param {string} folder @param {number} less */
function drawFigures(folder, less) {
  const head = ({ n = 0 }) => n.toLocaleString('en-US');
  const cell = (/** @type {Run} */ { mean, sd }) => `${mean.toFixed(3)} (${sd.toFixed(3)})`;
  const three = figure3(less);
  console.log(table('reports', three, head, cell));
  writeFileSync(
    join(folder, 'joint-epsilon.svg'),
    svgLines(
      'Hellinger distance of a joint estimate from the truth',
      'tables of 4 x 5, epsilon of each variable; means of 20 random tables',
      three,
    ),
  );
  const sixteen = figure16(less);
  console.log(table('reports', sixteen, head, cell));
  writeFileSync(
    join(folder, 'joint-size.svg'),
    svgLines(
      'Hellinger distance by the size of the table',
      'epsilon 1.5 of each variable; means of 10 random tables, 3 at a million reports',
      sixteen,
    ),
  );
  console.log(
    table(
      'columns of 6 x m',
      figure14(less),
      ({ columns }) => String(columns),
      ({ mean }) => mean.toFixed(3),
    ),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      folder: { type: 'string', default: 'docs' },
      quick: { type: 'boolean' },
      apps: { type: 'boolean' },
    },
  });
  const [folder, less] = [values.folder ?? 'docs', values.quick ? 5 : 1];
  if (!values.apps) drawFigures(folder, less);
  drawApps(folder, less);
}
