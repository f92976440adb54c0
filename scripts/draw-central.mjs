// SPDX-License-Identifier: Apache-2.0
// Draws docs/central.svg: what a count's standard error is under one central promise, against the number of reports, beside a
// trusted server's; and prints the table of docs/central.md. node scripts/draw-central.mjs; the command is $SHOAL_BIN or
// build/release/shoal. Takes a few minutes.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const program = resolve(process.env.SHOAL_BIN ?? 'build/release/shoal');
const CENTRAL = '0.1';
const DELTA = '1e-8';
const VALUES = '1000';
const MOST = '4';
const SIZES = [3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9].map((e) => Math.round(10 ** e));

/** @param {number} n @param {...string} more options */
function planOf(n, ...more) {
  const args = ['plan', '--devices', n, '--size', VALUES, '--reports', n].map(String);
  const promise = ['--central-epsilon', CENTRAL, '--delta', DELTA, '--format', 'json'];
  return JSON.parse(execFileSync(program, [...args, ...promise, ...more], { encoding: 'utf8' }));
}

/** One number of reports: the best plan, and the best in which no report costs more than MOST. @param {number} n */
export function rowOf(n) {
  const { epsilon, candidates, central } = planOf(n);
  const capped = planOf(n, '--epsilon', MOST).candidates[0].stderr;
  const [{ mechanism, stderr }] = candidates;
  const { laplace_stderr: laplace, gaussian_stderr: gaussian } = central;
  const rounded = (/** @type {number} */ x) => Number(x.toPrecision(3));
  return {
    ...{ n, mechanism, epsilon: Number(epsilon.toFixed(2)) },
    ...{ stderr: rounded(stderr), capped: rounded(capped) },
    ...{ gaussian: rounded(gaussian), laplace: rounded(laplace) },
  };
}

const [LEFT, TOP, WIDTH, HEIGHT] = [76, 70, 470, 300];
const [LOW, HIGH] = [10, 10000];
const x = (/** @type {number} */ n) => LEFT + (WIDTH * (Math.log10(n) - 3)) / 6;
const y = (/** @type {number} */ error) =>
  TOP + HEIGHT * (1 - Math.log(error / LOW) / Math.log(HIGH / LOW));
const grouped = (/** @type {number} */ n) => n.toLocaleString('en-US');

/** @param {ReturnType<typeof rowOf>[]} rows */
export function draw(rows) {
  const text = (
    /** @type {number} */ at,
    /** @type {number} */ line,
    /** @type {string} */ words,
    more = '',
  ) => `<text x="${at.toFixed(1)}" y="${line.toFixed(1)}" ${more}>${words}</text>\n`;
  const line = (
    /** @type {'stderr' | 'capped' | 'laplace' | 'gaussian'} */ key,
    /** @type {string} */ style,
  ) =>
    `<polyline fill="none" class="${style}" points="${rows.map((row) => `${x(row.n).toFixed(1)},${y(row[key]).toFixed(1)}`).join(' ')}"/>\n`;
  let out =
    `<svg xmlns="http://www.w3.org/2000/svg" width="760" height="440" viewBox="0 0 760 440" role="img" font-family="system-ui, sans-serif" font-size="12">\n` +
    `<title>What the missing trust costs</title>\n<style>\n` +
    `text{fill:#1b2733}.soft{fill:#5b6b7a}line{stroke:#d5dce3}polyline{stroke-width:2.5}\n` +
    `.ours,.capped{stroke:#0f5fa6}.capped{stroke-dasharray:2 3}.laplace{stroke:#c2410c;stroke-dasharray:2 4}.gaussian{stroke:#c2410c;stroke-dasharray:9 4}\n` +
    `.paper{fill:#fff}@media (prefers-color-scheme:dark){.paper{fill:#12181f}text{fill:#e6edf3}.soft{fill:#9aa9b8}line{stroke:#2c3742}.ours,.capped{stroke:#6db3f2}.laplace,.gaussian{stroke:#f59e6b}}\n` +
    `</style>\n<rect class="paper" width="100%" height="100%"/>\n` +
    text(24, 30, 'What the missing trust costs', 'font-size="18"') +
    text(
      24,
      50,
      `Standard error of the count of a rare value of ${grouped(Number(VALUES))}; central epsilon ${CENTRAL}, delta ${DELTA}`,
      'class="soft"',
    );
  for (let e = 1; e <= 4; e++) {
    const at = y(10 ** e);
    out += `<line x1="${LEFT}" y1="${at.toFixed(1)}" x2="${LEFT + WIDTH}" y2="${at.toFixed(1)}"/>\n`;
    out += text(LEFT - 8, at + 4, grouped(10 ** e), 'text-anchor="end"');
  }
  for (let e = 3; e <= 9; e++) {
    const at = x(10 ** e);
    out += `<line x1="${at.toFixed(1)}" y1="${TOP}" x2="${at.toFixed(1)}" y2="${TOP + HEIGHT}"/>\n`;
    out += text(
      at,
      TOP + HEIGHT + 18,
      e < 6 ? grouped(10 ** e) : `10^${e}`,
      'text-anchor="middle"',
    );
  }
  out += text(
    LEFT + WIDTH / 2,
    TOP + HEIGHT + 40,
    'honest reports',
    'text-anchor="middle" class="soft"',
  );
  out +=
    line('capped', 'capped') +
    line('stderr', 'ours') +
    line('laplace', 'laplace') +
    line('gaussian', 'gaussian');
  const last = rows[rows.length - 1];
  const edge = LEFT + WIDTH + 12;
  out += text(edge, y(last.capped) + 4, `shoal, epsilon ${MOST} of a report at most`);
  out += text(edge, y(last.stderr) - 8, 'shoal, any epsilon of a report');
  out += text(edge, y(last.gaussian) + 18, 'a trusted server, Gaussian');
  out += text(edge, y(last.laplace) + 18, 'a trusted server, Laplace');
  return `${out}</svg>\n`;
}

const HEAD =
  '| reports | mechanism | epsilon of a report | standard error | with epsilon 4 at most | trusted, Gaussian | trusted, Laplace |';

/** @param {ReturnType<typeof rowOf>[]} rows */
export const table = (rows) =>
  `${HEAD}\n${HEAD.replace(/[^|]+/g, ' --- ')}\n${rows
    .map(
      (row) =>
        `| ${[grouped(row.n), `\`${row.mechanism}\``, row.epsilon, row.stderr, grouped(row.capped), row.gaussian, row.laplace].join(' | ')} |\n`,
    )
    .join('')}`;

/** The rows of such a table in a page. @param {string} page @returns {ReturnType<typeof rowOf>[]} */
export const rowsOf = (page) =>
  [...page.matchAll(/^\| *([\d,]+) *\| *`([a-z-]+)` *\|(.*)\|$/gm)].map(
    ([, n, mechanism, rest]) => {
      const number = (/** @type {string} */ text) => Number(text.replaceAll(',', ''));
      const [epsilon, stderr, capped, gaussian, laplace] = rest.split('|').map(number);
      return { n: number(n), mechanism, epsilon, stderr, capped, gaussian, laplace };
    },
  );

if (
  process.argv[1] !== undefined &&
  import.meta.url.endsWith(process.argv[1].split('/').pop() ?? '')
) {
  const rows = SIZES.map(rowOf);
  writeFileSync('docs/central.svg', draw(rows));
  process.stdout.write(table(rows));
}
