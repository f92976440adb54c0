// SPDX-License-Identifier: Apache-2.0
// Long checks, each by name: `make campaign NAME=fuzz`. Without a name they are listed with their
// last results. docs/campaigns.md says what each does and keeps the results.
//
// Usage: node scripts/campaign.mjs [NAME [--minutes M] [--seed N] [--only PART] [--fresh]]
// Ends with 0: nothing was found; 1: something was; 2: wrong use; 5: it could not run.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { crash } from './campaigns/crash.mjs';
import { floods } from './campaigns/floods.mjs';
import { fuzz } from './campaigns/fuzz.mjs';
import { models } from './campaigns/models.mjs';
import { root } from './campaigns/program.mjs';
import { random } from './campaigns/random.mjs';
import { readRows } from './campaigns/rows.mjs';
import { BadUse, runCampaign, stateOf } from './campaigns/runner.mjs';
import { statistics } from './campaigns/statistics.mjs';

const campaigns = [fuzz, random, crash, statistics, floods, models];
const PAGE = 'docs/campaigns.md';
const CODE = ['core', 'aggregator', 'edge', 'relay', 'issuer', 'wasm', 'tests', 'cmake'];

/** @param {...string} args */
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();

/** @type {import('./campaigns/runner.mjs').Place} */
const place = {
  builds: join(root, 'build/campaigns'),
  page: join(root, PAGE),
  // A plus says that the code had changes which no commit has.
  commit: () =>
    git('rev-parse', '--short=8', 'HEAD') +
    (git('status', '--porcelain', '--', ...CODE) === '' ? '' : '+'),
  date: () => new Date().toISOString().slice(0, 10),
  say: (text) => process.stdout.write(text),
};

function list() {
  const rows = readRows(place.page);
  for (const { name, says } of campaigns) {
    const own = rows.filter(({ campaign }) => campaign === name);
    const findings = own.reduce((sum, row) => sum + Number(row.findings), 0);
    const whole = own.filter(({ done, wanted }) => done === wanted).length;
    const last = own.at(-1);
    process.stdout.write(
      `${name.padEnd(12)}${says}\n${' '.repeat(12)}` +
        (last
          ? `${last.date}, ${last.commit}: ${whole} of ${own.length} parts whole, ${findings} findings`
          : 'never run') +
        (stateOf(place, name) ? '; make campaign goes on with it' : '') +
        '\n',
    );
  }
  process.stdout.write(
    `\nmake campaign NAME=... [MINUTES=30] [SEED=2] [ONLY=part] [FRESH=1]; ${PAGE} has the results\n`,
  );
}

/** @param {string | undefined} text @param {string} option @param {number} least */
function numberOf(text, option, least) {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text === '' || !(number >= least && number <= 1e6))
    throw new BadUse(`--${option} takes a number from ${least} to 1,000,000, not "${text}"`);
  return number;
}

/** @param {string[]} args */
function optionsOf(args) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        minutes: { type: 'string' },
        seed: { type: 'string' },
        only: { type: 'string' },
        fresh: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new BadUse(/** @type {Error} */ (error).message);
  }
}

/** @param {string[]} args */
async function main(args) {
  const { values, positionals } = optionsOf(args);
  if (positionals.length === 0) return list();
  const campaign = campaigns.find(({ name }) => name === positionals[0]);
  if (positionals.length > 1 || !campaign)
    throw new BadUse(
      `no campaign "${positionals.join(' ')}"; there are ${campaigns.map(({ name }) => name).join(', ')}`,
    );
  const seed = numberOf(values.seed, 'seed', 1);
  if (seed !== undefined && !Number.isInteger(seed))
    throw new BadUse(`--seed takes a whole number, not "${values.seed}"`);
  const stop = new AbortController();
  for (const name of /** @type {const} */ (['SIGINT', 'SIGTERM']))
    process.once(name, () => stop.abort());
  const { nFindings, isWhole } = await runCampaign(place, campaign, {
    seed,
    minutes: numberOf(values.minutes, 'minutes', 0.05),
    isFresh: values.fresh,
    only: values.only,
    signal: stop.signal,
  });
  process.stdout.write(
    `${campaign.name}: ${isWhole ? 'whole' : 'not whole yet, the same command goes on'}; ` +
      `${nFindings} findings; ${PAGE} has the result\n`,
  );
  process.exitCode = nFindings > 0 ? 1 : 0;
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`campaign: ${/** @type {Error} */ (error).message}\n`);
  process.exitCode = error instanceof BadUse ? 2 : 5;
}
