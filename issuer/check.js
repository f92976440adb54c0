// SPDX-License-Identifier: Apache-2.0
// `shoal-issuer serve --check`: reads everything that a configuration names, and reports every
// problem, not only the first. It opens no port and counts nothing.

import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CheckReport } from 'shoal-relay/check-report';
import { FIELDS, parse, readConfig } from './config.js';
import { readSigners } from './node.js';
import { DAY_MS } from './signing_keys.js';

const SOON_DAYS = 3;

/** @param {string} path @returns {Promise<CheckReport>} */
export async function checkIssuer(path) {
  const report = new CheckReport();
  const json = await report.attempt(async () => parse(await readFile(path, 'utf8'), path));
  if (json === undefined) return report;
  report.fields(json, FIELDS, path);
  if (!report.problems.length) await report.attempt(() => readConfig(path), 'configuration');
  const at = (/** @type {string} */ name) => resolve(dirname(path), json[name]);
  if (typeof json?.key_file === 'string') {
    const signers = await report.attempt(() => readSigners(at('key_file')));
    if (signers) checkDays(report, signers);
  }
  if (typeof json?.counts === 'string') await report.folder(at('counts'), 'counts');
  return report;
}

/**
 * Each recipe needs a key for today, and for the days that come.
 * @param {CheckReport} report
 * @param {import('./signing_keys.js').Signer[]} signers
 */
function checkDays(report, signers) {
  const today = Math.floor(Date.now() / DAY_MS);
  const mend = 'shoal-issuer keys --keys FILE --recipe HASH:PER_DAY --days 30, then log the list';
  for (const recipe of new Set(signers.map((one) => one.recipe))) {
    const days = signers.filter((one) => one.recipe === recipe).map(({ day }) => day);
    const name = `recipe ${recipe.slice(0, 16)}...`;
    const last = Math.max(...days);
    if (!days.includes(today)) report.problem(`${name} has no key of today`, mend);
    else if (last < today + SOON_DAYS)
      report.note(`${name} has keys for ${last - today} days after today`, mend);
    else report.right.push(`keys of ${name} for ${last - today + 1} days`);
  }
}
