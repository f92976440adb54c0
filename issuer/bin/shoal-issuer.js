#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// The command `shoal-issuer`: makes keys, prints their public parts, and serves.

import { readFileSync } from 'node:fs';
import { open, readFile, rename } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { wrongFormat } from 'shoal-relay/check-report';
import { checkIssuer } from '../check.js';
import { Reloads } from 'shoal-relay/reload';
import { baseUrl, parse, readConfig } from '../config.js';
import { readSigners, startIssuer } from '../node.js';
import { makeKey } from '../rsa_node.js';
import { DAY_MS, checkBundles, directoryOf, listOf } from '../signing_keys.js';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

const HELP = `usage: shoal-issuer serve --config FILE [--watch]
       shoal-issuer serve --config FILE --check [--format json]
       shoal-issuer keys --keys FILE --recipe HASH:PER_DAY ... [--from DATE] --days N
       shoal-issuer list --keys FILE
       shoal-issuer directory --keys FILE --url URL

Issues Privacy Pass tokens to the accounts of a site: a report that spends one shows that somebody
real sent it, and nobody learns who.

  serve       answers devices until SIGTERM or SIGINT; a kill loses no count. SIGHUP reloads keys
              and origins; if anything is wrong, the old ones stay in force
  keys        makes the keys that FILE lacks, for each recipe and day, and drops those of days that
              are over; prints the part "tokens" of the log's key list
  list        prints that part again
  directory   prints the public keys, which the edge reads from its token_keys

  -c, --config FILE             configuration, JSON
      --check                   with serve: reads everything that the configuration names, says
                                every problem and how to mend it, and ends; opens no port
      --format FORMAT           text (default) or json, of --check
      --watch                   with serve: reload when the configuration or the keys change
  -k, --keys FILE               file of private keys, mode 600
  -r, --recipe HASH:PER_DAY     a recipe, and its limit.per_day
      --from DATE               first day, UTC, as 2026-11-23; today by default
      --days N                  number of days, 1 to 366
  -u, --url URL                 base URL of the issuer, as recipes have it in send.token
      --version                 the version
  -h, --help                    this text

example:
  shoal-issuer keys --keys keys.json --recipe ${'0123456789abcdef'.repeat(4)}:2 --days 7
`;

/** A command line that cannot be followed. */
class UsageError extends Error {}

const today = () => Math.floor(Date.now() / DAY_MS);

/** @typedef {ReturnType<typeof readArguments>['values']} Values */

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        config: { type: 'string', short: 'c' },
        check: { type: 'boolean' },
        format: { type: 'string' },
        watch: { type: 'boolean' },
        keys: { type: 'string', short: 'k' },
        recipe: { type: 'string', short: 'r', multiple: true },
        from: { type: 'string' },
        days: { type: 'string' },
        url: { type: 'string', short: 'u' },
        version: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    const [what] = /** @type {Error} */ (error).message.split('. '); // advice on '--' follows
    throw new UsageError(`${what}; see --help`);
  }
}

/** @param {Values} values @param {'config' | 'keys' | 'days' | 'url'} name @returns {string} */
function needed(values, name) {
  const value = values[name];
  if (value === undefined) throw new UsageError(`--${name} is needed; see --help`);
  return value;
}

/** @param {string} text @returns {{recipe: string, per_day: number}} */
function readRecipe(text) {
  const [, recipe, perDay] = /^([0-9a-f]{64}):([1-9][0-9]{0,2})$/.exec(text) ?? [];
  if (recipe === undefined)
    throw new UsageError('--recipe: 64 hex digits, a colon and the tokens of a day are needed');
  return { recipe, per_day: Number(perDay) };
}

/** @param {Values} values */
function readDays(values) {
  const days = Number(needed(values, 'days'));
  if (!Number.isInteger(days) || days < 1 || days > 366)
    throw new UsageError('--days: a number from 1 to 366 is needed');
  if (values.from === undefined) return { from: today(), days };
  const from = Date.parse(`${values.from}T00:00:00Z`) / DAY_MS;
  if (!/^\d{4}-\d\d-\d\d$/.test(values.from) || !Number.isInteger(from))
    throw new UsageError('--from: a day like 2026-11-23 is needed');
  return { from, days };
}

/** Replaces a file by another that only its owner can read. @param {string} path @param {string} text */
async function writePrivate(path, text) {
  const file = await open(`${path}.tmp`, 'w', 0o600);
  await file.writeFile(text);
  await file.sync();
  await file.close();
  await rename(`${path}.tmp`, path);
}

/**
 * The keys of a file, which are read as the server reads them first; none where there is no file.
 * @param {string} path
 * @returns {Promise<import('../signing_keys.js').StoredKey[]>}
 */
async function storedKeys(path) {
  try {
    await readSigners(path);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') throw error;
    return [];
  }
  return parse(await readFile(path, 'utf8'), path).keys;
}

/** @param {Values} values */
async function makeKeys(values) {
  const path = needed(values, 'keys');
  const recipes = (values.recipe ?? []).map(readRecipe);
  if (!recipes.length) throw new UsageError('--recipe is needed; see --help');
  if (new Set(recipes.map(({ recipe }) => recipe)).size < recipes.length)
    throw new UsageError('--recipe: a recipe is named twice');
  const { from, days } = readDays(values);
  const keys = (await storedKeys(path)).filter(({ day }) => day >= today() - 1);
  for (const { recipe, per_day: perDay } of keys)
    if (recipes.some((one) => one.recipe === recipe && one.per_day !== perDay))
      throw new Error(`${path} has keys of ${recipe} with ${perDay} tokens a day`);
  const wanted = recipes
    .flatMap((one) => Array.from({ length: days }, (_, i) => ({ ...one, day: from + i })))
    .filter(({ recipe, day }) => !keys.some((key) => key.recipe === recipe && key.day === day));
  checkBundles([...keys, ...wanted].map(({ day, per_day: perDay }) => ({ day, perDay })));
  await Promise.all(
    Array.from({ length: availableParallelism() }, async () => {
      for (let next = wanted.pop(); next; next = wanted.pop()) keys.push(await makeKey(next));
    }),
  );
  keys.sort((a, b) => a.day - b.day || (a.recipe < b.recipe ? -1 : 1));
  await writePrivate(path, `${JSON.stringify({ keys }, null, 1)}\n`);
  await printList(values);
}

/** @param {Values} values */
async function printList(values) {
  const signers = await readSigners(needed(values, 'keys'));
  process.stdout.write(`${JSON.stringify(listOf(signers, today()))}\n`);
}

/** @param {Values} values */
async function printDirectory(values) {
  const signers = await readSigners(needed(values, 'keys'));
  const base = baseUrl(needed(values, 'url'));
  const keys = directoryOf(signers, `${base}/token-request`, today() - 1);
  process.stdout.write(`${JSON.stringify(keys)}\n`);
}

/** @param {Values} values */
async function serve(values) {
  const path = needed(values, 'config');
  if (values.check) {
    const report = await checkIssuer(path);
    process.exitCode = report.print('shoal-issuer', path, values.format);
    return;
  }
  const reloads = new Reloads('shoal-issuer', async () => {
    const config = await readConfig(path);
    await readSigners(config.keys);
    return config;
  });
  const config = await reloads.first();
  const issuer = await startIssuer(config, { health: () => reloads.health() });
  reloads.start(issuer.reload, { isWatched: values.watch });
  const stop = () => issuer.close().then(() => process.exit(0));
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  process.stderr.write(`shoal-issuer: listening on ${config.host}:${issuer.port}\n`);
}

/** @type {Record<string, (values: Values) => Promise<void>>} */
const COMMANDS = { serve, keys: makeKeys, list: printList, directory: printDirectory };

async function main() {
  const { values, positionals } = readArguments();
  if (values.help) return void process.stdout.write(HELP);
  if (values.version) return void process.stdout.write(`shoal-issuer ${version}\n`);
  const [name, ...rest] = positionals;
  if (!Object.hasOwn(COMMANDS, name ?? '') || rest.length)
    throw new UsageError('serve, keys, list or directory is needed; see --help');
  const wrong = wrongFormat(values);
  if (wrong) throw new UsageError(wrong);
  if (values.check && name !== 'serve')
    throw new UsageError('--check belongs to serve; see --help');
  if (values.watch && name !== 'serve')
    throw new UsageError('--watch belongs to serve; see --help');
  return COMMANDS[name](values);
}

main().catch((error) => {
  const what = error.code === 'ENOENT' ? `${error.path}: there is no such file` : error.message;
  process.stderr.write(`shoal-issuer: ${what}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
});
