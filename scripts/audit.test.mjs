// SPDX-License-Identifier: Apache-2.0
// An audit is clean, has findings, or could not run, and nothing but a run that looked and found nothing is called clean.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readNpmAudit, readOsv, together } from './audit.mjs';

const counts = (/** @type {number} */ total) => ({
  info: 0,
  low: 0,
  moderate: 0,
  high: total,
  critical: 0,
  total,
});
/** A report of npm 7 and later. @param {number} total @param {object} [more] */
const report = (total, more = {}) =>
  JSON.stringify({
    auditReportVersion: 2,
    vulnerabilities: total
      ? { leaky: { name: 'leaky', severity: 'high', via: [], range: '*' } }
      : {},
    metadata: { vulnerabilities: counts(total), dependencies: { prod: 1, dev: 200, total: 200 } },
    ...more,
  });
// What npm 11 prints where the registry has no such service, and where there is no network.
const REFUSED = JSON.stringify({
  message: '405 Method Not Allowed - POST https://r.example/',
  method: 'POST',
});
const OFFLINE = JSON.stringify({ error: { code: 'ENOTFOUND', summary: 'request failed' } });

/** @type {[string, string, number, string][]} name, what npm printed, its status, outcome */
const CASES = [
  ['nothing known', report(0), 0, 'clean'],
  ['one hole', report(1), 1, 'findings'],
  ['a hole below the level that npm fails at', report(1), 0, 'findings'],
  ['a registry without the service', REFUSED, 1, 'could not run'],
  ['the same, with 0', REFUSED, 0, 'could not run'],
  ['no network', OFFLINE, 1, 'could not run'],
  ['no network, with 0', OFFLINE, 0, 'could not run'],
  ['a report with an error in it', report(0, { error: { summary: 'x' } }), 0, 'could not run'],
  [
    'nothing looked at',
    report(0, { metadata: { vulnerabilities: counts(0), dependencies: { total: 0 } } }),
    0,
    'could not run',
  ],
  [
    'no count of packages',
    report(0, { metadata: { vulnerabilities: counts(0) } }),
    0,
    'could not run',
  ],
  ['another report', report(0, { auditReportVersion: 9 }), 0, 'could not run'],
  ['found nothing, and failed', report(0), 7, 'could not run'],
  ['an empty object', '{}', 0, 'could not run'],
  ['no JSON', 'found 0 vulnerabilities', 0, 'could not run'],
  ['nothing', '', 0, 'could not run'],
];

test('each way in which npm audit ends has its outcome', () => {
  for (const [name, stdout, status, outcome] of CASES)
    assert.equal(readNpmAudit({ status, stdout, stderr: '' }).outcome, outcome, name);
  assert.equal(
    readNpmAudit({ status: null, stdout: '', stderr: '', error: new Error('spawn npm ENOENT') })
      .outcome,
    'could not run',
  );
});

test('each way in which osv-scanner ends has its outcome', () => {
  const hole = {
    results: [{ packages: [{ package: { name: 'leaky' }, vulnerabilities: [{ id: 'x' }] }] }],
  };
  /** @type {[any, number | null, string][]} */
  const cases = [
    [{ results: [] }, 0, 'clean'],
    [hole, 1, 'findings'],
    [hole, 0, 'findings'],
    [{ results: [] }, 127, 'could not run'],
    [{ results: [] }, 128, 'could not run'],
    [{}, 0, 'could not run'],
    [null, null, 'could not run'],
  ];
  for (const [stdout, status, outcome] of cases)
    assert.equal(readOsv({ status, stdout: JSON.stringify(stdout), stderr: '' }).outcome, outcome);
});

test('several tools are clean together only if each is', () => {
  const of = (/** @type {import('./audit.mjs').Outcome[]} */ ...list) =>
    together(list.map((outcome) => ({ outcome, why: '' })));
  assert.equal(of('clean', 'clean'), 'clean');
  assert.equal(of('clean', 'could not run'), 'could not run');
  assert.equal(of('could not run', 'findings'), 'findings');
  assert.equal(of(), 'could not run');
});

test('the command says the outcome, and has an exit code for each', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-audit-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  /** @type {[string, number, number, string][]} */
  const cases = [
    [report(0), 0, 0, 'audit: clean'],
    [report(1), 1, 1, 'audit: findings'],
    [REFUSED, 1, 5, 'audit: could not run'],
  ];
  for (const [text, status, expected, word] of cases) {
    writeFileSync(join(folder, 'said.json'), text);
    writeFileSync(join(folder, 'npm'), `#!/bin/sh\ncat '${folder}/said.json'\nexit ${status}\n`, {
      mode: 0o755,
    });
    writeFileSync(join(folder, 'osv-scanner'), '#!/bin/sh\nexit 127\n', { mode: 0o755 });
    const done = spawnSync(
      process.execPath,
      [fileURLToPath(new URL('audit.mjs', import.meta.url))],
      {
        encoding: 'utf8',
        env: { ...process.env, PATH: `${folder}:${process.env.PATH}` },
      },
    );
    assert.equal(done.status, expected, done.stdout + done.stderr);
    assert.ok(done.stdout.trimEnd().endsWith(word), done.stdout);
    assert.equal(/\bclean\b/.test(done.stdout), expected === 0, done.stdout);
  }
});
