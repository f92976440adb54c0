// SPDX-License-Identifier: Apache-2.0
// make audit: asks what is known of holes in the packages of the lock file. There are three
// outcomes, with exit codes and words of their own: clean (0), findings (1), could not run (5).
// "Clean" is said only of a run that looked at packages and found nothing.
//   node scripts/audit.mjs
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {'clean' | 'findings' | 'could not run'} Outcome
 * @typedef {{outcome: Outcome, why: string}} Verdict
 * @typedef {{status: number | null, stdout: string, stderr: string, error?: Error}} Ran
 */

/** @type {{[outcome in Outcome]: number}} */
export const EXIT_CODES = { clean: 0, findings: 1, 'could not run': 5 };

/** @param {string} why @returns {Verdict} */
const failed = (why) => ({ outcome: 'could not run', why });

/** @param {Ran} ran */
function jsonOf({ stdout }) {
  try {
    return JSON.parse(stdout);
  } catch {
    return null;
  }
}

/** The last line of what a program complained of, without what moves terminals. @param {Ran} ran */
const complaint = ({ stderr, error }) =>
  (error?.message ?? stderr.trim().split('\n').at(-1) ?? '').replace(/[^\x20-\x7e]/g, '?');

/**
 * What `npm audit --json` said.
 * @param {Ran} ran @returns {Verdict}
 */
export function readNpmAudit(ran) {
  const report = jsonOf(ran);
  const known = report?.metadata?.vulnerabilities?.total;
  const looked = report?.metadata?.dependencies?.total;
  if (report?.error || report?.auditReportVersion !== 2 || !Number.isInteger(known))
    return failed(report?.message ?? report?.error?.summary ?? (complaint(ran) || 'no report'));
  if (!(looked > 0)) return failed('it looked at no package');
  if (Object.keys(report.vulnerabilities ?? {}).length > 0 || known > 0) {
    const names = Object.keys(report.vulnerabilities ?? {}).join(', ');
    return { outcome: 'findings', why: `${known} of ${looked} packages: ${names}` };
  }
  if (ran.status !== 0) return failed(`npm audit ended with ${ran.status}: ${complaint(ran)}`);
  return { outcome: 'clean', why: `nothing known of ${looked} packages` };
}

/**
 * What `osv-scanner --format json` said. It ends with 0, with 1 for findings, and with more where it
 * did not run: 127 for errors, 128 where it found nothing to look at.
 * @param {Ran} ran @returns {Verdict}
 */
export function readOsv(ran) {
  const report = jsonOf(ran);
  const results = report?.results;
  if (!Array.isArray(results) || (ran.status !== 0 && ran.status !== 1))
    return failed(complaint(ran) || `it ended with ${ran.status}`);
  const found = results
    .flatMap((/** @type {any} */ each) => each.packages ?? [])
    .filter((/** @type {any} */ each) => each.vulnerabilities?.length > 0)
    .map((/** @type {any} */ each) => each.package?.name);
  if (found.length > 0 || ran.status === 1)
    return { outcome: 'findings', why: `${found.length} packages: ${found.join(', ')}` };
  return { outcome: 'clean', why: 'nothing known' };
}

/**
 * The outcome of several tools: findings of one are findings; else one that could not run makes the
 * whole one that could not run.
 * @param {Verdict[]} verdicts @returns {Outcome}
 */
export function together(verdicts) {
  const has = (/** @type {Outcome} */ outcome) => verdicts.some((each) => each.outcome === outcome);
  if (has('findings')) return 'findings';
  return has('could not run') || verdicts.length === 0 ? 'could not run' : 'clean';
}

/** @param {string} program @param {string[]} args @returns {Ran} */
function run(program, ...args) {
  const done = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28, timeout: 300_000 });
  return { ...done, stdout: done.stdout ?? '', stderr: done.stderr ?? '' };
}

/** Runs what is there. @returns {number} the exit code */
function audit() {
  /** @type {Verdict[]} */
  const verdicts = [];
  const say = (/** @type {string} */ tool, /** @type {Verdict} */ verdict) => {
    verdicts.push(verdict);
    console.log(`${tool}: ${verdict.outcome}: ${verdict.why}`);
  };
  say('npm audit', readNpmAudit(run('npm', 'audit', '--json')));
  const isHere = run('osv-scanner', '--version').status === 0;
  const args = ['--format', 'json', '--lockfile', 'package-lock.json'];
  if (isHere) say('osv-scanner', readOsv(run('osv-scanner', ...args)));
  else console.log('osv-scanner: not installed, so not asked');
  const outcome = together(verdicts);
  console.log(`audit: ${outcome}`);
  return EXIT_CODES[outcome];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = audit();
