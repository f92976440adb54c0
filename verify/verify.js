// SPDX-License-Identifier: Apache-2.0
// Checks an installation from its page to its aggregator, in the order of a report's way. It writes
// nothing, and sends two empty requests that are refused, and the probe.
import { dirname, resolve } from 'node:path';
import { checkAggregator, checkDictionaries, checkSecretFiles } from './aggregator_checks.js';
import { checkInBrowser, openPage, sendInPage } from './browser.js';
import { checkConfigs } from './config_checks.js';
import { Context as Checking } from './context.js';
import { checkCounts, checkEdge, checkMinimumsSeen, metricsOf } from './edge_checks.js';
import { checkClient, checkPolicy, readPage } from './page_checks.js';
import { probe, sendHere } from './probe.js';
import { checkAtAggregator, checkAtEdge, checkMinimums, pageRecipes } from './recipe_checks.js';
import { checkIssuers, checkLog, checkRelay } from './relay_checks.js';
import { Report } from './report.js';
import { UsageError, fileOf, folderUrl, listenUrl, readFolder, secretOf, urlOf } from './setup.js';

/**
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./setup.js').Settings} Settings
 */

/**
 * @param {Settings} settings
 * @returns {Promise<{report: Report, target: string, how: 'browser' | 'http'}>}
 */
export async function verify(settings) {
  const report = new Report();
  const context = new Checking(report, await installationOf(settings), settings);
  const { at } = context;
  const target = at.page?.href ?? settings.config ?? '';
  await checkConfigs(context);
  await checkSecretFiles(context);
  const opened = await checkPage(context);
  try {
    await checkServices(context, opened);
  } finally {
    await opened?.close();
  }
  context.clocks();
  return { report, target, how: opened ? 'browser' : 'http' };
}

/** @param {string | undefined} text @param {string} option */
function given(text, option) {
  if (text === undefined) return null;
  const url = urlOf(text);
  if (url === null) throw new UsageError(`${option}: an http or https URL is needed`);
  return url;
}

/** @param {Settings} settings @returns {Promise<import('./context.js').Installation>} */
async function installationOf(settings) {
  const folder = settings.config === undefined ? {} : await readFolder(settings.config);
  const { edge, aggregator } = folder;
  const origin = edge?.json?.origins?.find?.((/** @type {unknown} */ one) => one !== '*');
  const [reader] = Array.isArray(aggregator?.json?.readers) ? aggregator.json.readers : [];
  const readerFile = reader?.token_file ?? aggregator?.json?.read_token_file;
  return {
    page: given(settings.url, 'URL') ?? urlOf(origin),
    options: null,
    client: folderUrl(given(settings.client, '--client')),
    edge: folderUrl(given(settings.edge, '--edge')),
    relay: given(settings.relay, '--relay'),
    aggregator: folderUrl(
      given(settings.aggregator, '--aggregator') ??
        urlOf(edge?.json?.aggregator) ??
        listenUrl(aggregator),
    ),
    folder,
    secrets: {
      batch: await secretOf(fileOf(edge, 'batch_secret_file')),
      edge: await token(settings.edgeTokenFile, fileOf(edge, 'admin_token_file')),
      aggregator: await token(settings.aggregatorTokenFile, fileOf(aggregator, 'admin_token_file')),
      reader:
        aggregator && typeof readerFile === 'string'
          ? await secretOf(resolve(dirname(aggregator.path), readerFile))
          : null,
    },
  };
}

/** @param {string | undefined} named @param {string | undefined} configured */
async function token(named, configured) {
  if (named === undefined) return secretOf(configured);
  const secret = await secretOf(named);
  if (secret === null) throw new UsageError(`${named}: the file of the token cannot be read`);
  return secret;
}

/** The page, by HTTP and in a browser. @param {Context} context */
async function checkPage(context) {
  const { at, report, settings } = context;
  if (at.page === null) {
    report.unknown('page', 'no page was named', 'shoal verify https://www.example.org/');
    at.edge ??= listenUrl(at.folder.edge);
    return null;
  }
  const read = await readPage(context);
  at.edge ??= listenUrl(at.folder.edge);
  if (read === null) return null;
  checkPolicy(context, read);
  if (!settings.noClient) await checkClient(context);
  if (settings.noBrowser) return null;
  const opened = await openPage(context);
  if (typeof opened === 'string') {
    report.unknown(
      'browser',
      opened,
      'install Chromium and playwright-core, name a browser that opens the page (--browser PATH), or go without (--no-browser)',
    );
    return null;
  }
  await checkInBrowser(context, opened);
  return opened;
}

/** @param {Context} context @param {import('./browser.js').Opened | null} opened */
async function checkServices(context, opened) {
  const { at, report, settings } = context;
  const recipes = await pageRecipes(context);
  const listed = at.edge ? await checkEdge(context) : null;
  if (!at.edge)
    report.unknown('edge', 'the page does not say where its edge worker is', 'give it: --edge URL');
  if (listed) await checkAtEdge(context, recipes, listed);
  const all = listed
    ? [...listed.values()]
    : recipes.map(({ id, hash, json }) => ({ id, hash, json }));
  const edgeCounts = await metricsOf(context, 'edge');
  if (edgeCounts) checkCounts(context, edgeCounts);
  if (at.relay) await checkRelay(context);
  await checkLog(context);
  await checkIssuers(context, all);
  await checkFolding(context, listed);
  checkDictionaries(context, all);
  if (settings.visitors !== undefined)
    checkMinimums(
      context,
      all.map(({ json }) => json),
      settings.visitors,
    );
  else if (edgeCounts)
    checkMinimumsSeen(
      context,
      all.map(({ json }) => json),
      edgeCounts,
    );
  if (settings.noProbe || !listed || !at.edge) return;
  const inPage =
    opened && at.client && !report.has('client-failed') ? sendInPage(context, opened) : sendHere;
  await probe(context, listed, inPage);
}

/** @param {Context} context @param {import('./recipe_checks.js').Listed | null} listed */
async function checkFolding(context, listed) {
  const { at, report } = context;
  if (at.aggregator === null)
    return report.unknown(
      'aggregator',
      'the page does not know its aggregator',
      'give it: --aggregator URL, or --config FOLDER',
    );
  const folded = await checkAggregator(context);
  if (listed && folded) checkAtAggregator(context, listed, folded);
  else if (listed && !context.lost.has('aggregator'))
    report.unknown(
      'recipes',
      'the aggregator shows its recipes to readers only',
      'give --config FOLDER with their token',
    );
}
