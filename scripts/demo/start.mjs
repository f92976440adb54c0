// SPDX-License-Identifier: Apache-2.0
// Starts what the demo needs: aggregator, edge worker, relay and page, and the log between them.
import { randomBytes } from 'node:crypto';
import { startPage } from '../../web-demo/serve.mjs';
import { makeLog, startDemoRelay } from './oblivious.mjs';
import { freePort, startAggregator, startEdge } from './services.mjs';

/** @typedef {import('./collections.mjs').Collection} Collection */
/** @typedef {(close: () => any) => void} Later registers what is to be ended, last first */

/**
 * @param {object} options
 * @param {string} options.binary
 * @param {Collection[]} options.list
 * @param {string} options.folder of this run
 * @param {string} options.secret of the edge's batches
 * @param {string[]} options.links that the page offers
 * @param {(aggregator: string, id: string) => Promise<any>} options.results
 * @param {Later} options.later
 * @param {() => void} options.stopOnSignals
 */
export async function startParties({
  binary,
  list,
  folder,
  secret,
  links,
  results,
  later,
  stopOnSignals,
}) {
  const aggregator = await startAggregator({ binary, folder, secret, collections: list });
  later(() => aggregator.close());
  const port = await freePort();
  const token = randomBytes(24).toString('hex');
  const origin = `http://127.0.0.1:${port}`;
  const log = await makeLog(binary, folder);
  const edge = await startEdge({
    folder,
    aggregator: aggregator.url,
    secret,
    token,
    recipes: list,
    gateway: log.gateway,
  });
  later(() => edge.close());
  const relay = await startDemoRelay(folder, edge.url, log.gateway, origin);
  later(() => relay.close());
  stopOnSignals();
  const page = await startPage({
    port,
    endpoint: edge.url,
    relay: relay.url,
    log,
    recipes: list.filter(({ known }) => !known).map(({ json }) => json),
    links,
    crowds: list.filter(({ known }) => !known).map(({ title, id }) => ({ title, recipe: id })),
    results: (id) => results(aggregator.url, id),
  });
  later(() => page.close());
  return {
    aggregator,
    edge,
    relay,
    page,
    /** @type {import('./oblivious.mjs').Way} */
    way: {
      endpoint: edge.url,
      relay: relay.url,
      log: { url: `${page.url}log/`, key: log.key },
    },
    said: `page ${page.url}  relay ${relay.url}\n      edge ${edge.url}  aggregator ${aggregator.url}`,
  };
}
