// SPDX-License-Identifier: Apache-2.0
// Values that change, followed under permanent answers, by a run and by a new recipe each epoch, as the tables of docs/change-study.md.
//
//   node tests/bench/permanent_study.mjs [BASE]    simulates (some twenty minutes of one core), then writes both
//   node tests/bench/permanent_study.mjs --table   makes the tables of tests/bench/permanent_study.tsv again
//
// BASE is a text that the seeds are made of. The programs are shoal_permanent_study ($SHOAL_PERMANENT_STUDY) and shoal ($SHOAL_BIN), or those of build/release.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const path = (/** @type {string} */ name) =>
  fileURLToPath(new URL(`../../${name}`, import.meta.url));
export const program =
  process.env.SHOAL_PERMANENT_STUDY ?? path('build/release/shoal_permanent_study');
const COLLECTIONS = 200;
const DEVICES = 2000;
const RUNS = 20; // of thresh
const USERS = 100_000; // of thresh

/** @typedef {{size: number, epsilon: number, moved: number, mechanism: string, g: number, permanent: number, one: number, any: number, theory: number[], measured: number[], stated: number, covered: number}} Line */

/** @param {string} text tab-separated @returns {Line[]} */
export const readLines = (text) =>
  text
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('thresh'))
    .map((line) => {
      const cells = line.split('\t');
      const n = cells.map(Number);
      return {
        size: n[0],
        epsilon: n[1],
        moved: n[2],
        mechanism: cells[3],
        g: n[4],
        permanent: n[5],
        one: n[6],
        any: n[7],
        theory: [n[8], n[10], n[12]],
        measured: [n[9], n[11], n[13]],
        stated: n[14],
        covered: n[15],
      };
    });

/** @param {Line} line */
const nameOf = (line) => {
  if (line.mechanism === 'loloha') return `\`loloha\`, g = ${line.g}`;
  return line.mechanism === 'loloha-strict'
    ? '`loloha`, g = 2, any two'
    : `\`${line.mechanism}\`${line.mechanism === 'subset' ? ', new each epoch' : ''}`;
};

/** @param {string[]} head @param {string[][]} rows */
const markdown = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

/** What a report and all reports cost, and errors where every tenth device has a new value each epoch. @param {Line[]} lines */
export function errorTable(lines) {
  const pair = (/** @type {Line} */ line, /** @type {number} */ i) =>
    `${line.theory[i].toFixed(2)}, ${line.measured[i].toFixed(2)}`;
  const rows = lines
    .filter((line) => line.moved === 0.1 && !(line.mechanism === 'loloha' && line.g > 4))
    .map((line) => [
      `${line.size}`,
      `${line.epsilon}`,
      nameOf(line),
      line.permanent > 0 ? line.permanent.toFixed(2) : '-',
      line.one.toFixed(2),
      line.any.toFixed(1),
      ...[0, 1, 2].map((i) => pair(line, i)),
    ]);
  const head = ['list', 'epsilon', 'mechanism', 'of one value', 'of a report', 'of any two'];
  return markdown([...head, 'share', 'change to the next', 'first to last'], rows);
}

/** What shoal compare states of a change to the next epoch, over the error that is, and coverage. @param {Line[]} lines */
export function compareTable(lines) {
  const of = (/** @type {Line} */ one, /** @type {number} */ moved) =>
    /** @type {Line} */ (
      lines.find(
        (line) =>
          line.moved === moved &&
          ['size', 'epsilon', 'mechanism', 'g'].every(
            (key) => line[/** @type {'g'} */ (key)] === one[/** @type {'g'} */ (key)],
          ),
      )
    );
  const rows = lines
    .filter((line) => line.moved === 0 && !(line.mechanism === 'loloha' && line.g > 4))
    .filter((line) => line.mechanism !== 'loloha-strict')
    .map((line) => [
      `${line.size}`,
      `${line.epsilon}`,
      nameOf(line),
      ...[0, 0.1, 1].flatMap((moved) => {
        const own = of(line, moved);
        return [(own.stated / own.theory[1]).toFixed(2), (100 * own.covered).toFixed(1)];
      }),
    ]);
  const head = [
    'list',
    'epsilon',
    'mechanism',
    'none moved',
    'covered, %',
    'a tenth',
    'covered, %',
  ];
  return markdown([...head, 'all drew anew', 'covered, %'], rows);
}

/** Runs of thresh: a fifth of the users hold the value, and from epoch 7 on half of them do. @param {string} base @param {number} users @param {number} runs @returns {string} lines of the .tsv */
export function followRuns(base, users, runs) {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-permanent-'));
  const bin = process.env.SHOAL_BIN ?? path('build/release/shoal');
  const shoal = (/** @type {string[]} */ ...args) =>
    execFileSync(bin, args, {
      encoding: 'utf8',
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 1e8,
    });
  const groups = ['1\t1\t20\thold', '1\t0\t30\tcome', '1\t0\t50\tnever', '7\t1\t30\tcome'];
  writeFileSync(join(folder, 'groups.tsv'), `${groups.join('\n')}\n`);
  const lines = [4, 8].map((epsilon) => {
    shoal(
      ...['recipe', 'new', '--id', 'share', '--mechanism', 'thresh', '--users', `${users}`],
      ...['--epochs', '12', '--samples', '100000', '--epsilon', `${epsilon}`, '--groups', '3'],
      ...['--smallest-group', `${0.3 * users}`, '--expires', '2099-12-31', '-o', `${epsilon}.json`],
    );
    const sums = { share: 0, change: 0, spent: 0 };
    for (let run = 0; run < runs; run++) {
      const out = `${epsilon}-${run}`;
      shoal(
        ...['simulate', '--recipe', `${epsilon}.json`, '--counts', 'groups.tsv'],
        ...['--seed', `${base} ${epsilon} ${run}`, '-o', out],
      );
      const result = JSON.parse(shoal('track', out, '--truth', 'groups.tsv', '--format', 'json'));
      const [first, last] = [result.rows[0], result.rows[11]];
      sums.share += result.rms_error ** 2 / runs;
      sums.change += (last.value - first.value - 0.3) ** 2 / runs;
      sums.spent = Math.max(sums.spent, result.simulation.privacy_max);
    }
    const percent = (/** @type {number} */ square) => (100 * Math.sqrt(square)).toFixed(4);
    return ['thresh', epsilon, users, runs, percent(sums.share), percent(sums.change), sums.spent];
  });
  rmSync(folder, { recursive: true });
  return lines.map((line) => `${line.join('\t')}\n`).join('');
}

/** Thresh beside the others' errors for as many devices. @param {string} text the .tsv */
export function runTable(text) {
  const others = readLines(text).filter((line) => line.size === 12 && line.moved === 0.1);
  const rows = text
    .trim()
    .split('\n')
    .filter((line) => line.startsWith('thresh'))
    .flatMap((line) => {
      const [, epsilon, users, , share, change, spent] = line.split('\t').map(Number);
      const scale = Math.sqrt(DEVICES / users);
      const beside = others
        .filter((own) => own.epsilon === epsilon)
        .filter((own) => own.g === 2 || own.mechanism === 'subset')
        .map((own) => [
          `${epsilon}`,
          nameOf(own),
          (own.theory[0] * scale).toFixed(2),
          (own.theory[2] * scale).toFixed(2),
          own.any.toFixed(1),
        ]);
      return [
        [`${epsilon}`, '`thresh`', share.toFixed(2), change.toFixed(2), spent.toFixed(1)],
        ...beside,
      ];
    });
  return markdown(['epsilon', 'mechanism', 'share', 'change', 'epsilon of any two'], rows);
}

/** Writes a table between its two marks. @param {string} page @param {string} name @param {string} table */
const put = (page, name, table) => {
  const [begin, end] = [
    `<!-- ${name}: tests/bench/permanent_study.mjs -->`,
    `<!-- end of ${name} -->`,
  ];
  const [before, rest] = page.split(begin);
  return `${before}${begin}\n\n${table}\n\n${end}${rest.split(end)[1]}`;
};

function main() {
  const data = path('tests/bench/permanent_study.tsv');
  if (!process.argv.includes('--table')) {
    const base = process.argv[2] ?? 'permanent';
    const lines = execFileSync(program, [`${COLLECTIONS}`, base, `${DEVICES}`], {
      encoding: 'utf8',
    });
    writeFileSync(data, lines + followRuns(base, USERS, RUNS));
  }
  const text = readFileSync(data, 'utf8');
  const lines = readLines(text);
  const page = path('docs/change-study.md');
  let out = readFileSync(page, 'utf8');
  out = put(out, 'errors', errorTable(lines));
  out = put(out, 'compared', compareTable(lines));
  out = put(out, 'runs', runTable(text));
  writeFileSync(page, out);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
