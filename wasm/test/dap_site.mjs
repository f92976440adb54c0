// SPDX-License-Identifier: Apache-2.0
// A site whose recipes two servers add up, for tests in browsers: the page's own server with the
// built files, an edge worker that keeps what it is sent, and the two servers with their keys.
import { createServer } from 'node:http';
import { join } from 'node:path';
import { CSP } from '../client/reasons.js';
import {
  coloursRecipe,
  configurationOf,
  fromHex,
  makeServer,
  measurementOf,
  number,
  openReport,
} from './dap_fixtures.mjs';
import { WASM, serveFolders } from './fixtures.mjs';

/** @typedef {{url: string, requests: {method?: string, url?: string, headers: any, body: Buffer}[], close: () => Promise<unknown>}} Party */

export const DAY_S = 86_400;

/** A server that keeps what it is asked. @param {() => Uint8Array | null} list its keys; null where it has none @returns {Promise<Party>} */
async function party(list) {
  /** @type {Party['requests']} */
  const requests = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    requests.push({
      method: request.method,
      url: request.url,
      headers: request.headers,
      body: Buffer.concat(chunks),
    });
    const cors = {
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Headers': 'Content-Type',
      'Cache-Control': 'max-age=3600',
    };
    response.writeHead(request.method === 'OPTIONS' ? 204 : 200, cors);
    response.end(request.method === 'GET' ? (list() ?? '') : '');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () => (server.closeAllConnections(), new Promise((resolve) => server.close(resolve))),
  };
}

/** Starts everything. `servers` holds the keys of leader and helper, which a test may exchange. */
export async function startDapSite() {
  const servers = [await makeServer(3), await makeServer(4)];
  const [edge, leader, helper] = await Promise.all([
    party(() => null),
    party(() => servers[0].list),
    party(() => servers[1].list),
  ]);
  const csp = `default-src 'none'; ${CSP}; connect-src 'self' ${edge.url} ${leader.url} ${helper.url}`;
  const site = await serveFolders({
    folders: [join(WASM, 'dist')],
    csp,
    pages: { '/': '<!doctype html><title>t</title>' },
  });
  const at = { leader: `${leader.url}/dap`, helper: `${helper.url}/dap` };
  /**
   * Opens the uploads at the edge as both servers would. Returns the sum of what they measured.
   * @param {string} recipeHash of a recipe without more, as a report says it
   * @returns {Promise<{uploads: Party['requests'], times: number[], sum: number[]}>}
   */
  async function addUp(recipeHash) {
    const taskId = fromHex(recipeHash);
    const configuration = configurationOf({
      info: 'colours',
      ...at,
      precision: DAY_S,
      minimum: 50,
      duration: Date.parse('2030-01-02') / 1000 / DAY_S,
      algorithm: 4,
      vdaf: [...number(5, 4), ...number(2, 4)],
    });
    const uploads = edge.requests.filter(({ method }) => method === 'POST');
    const sum = [0, 0, 0, 0, 0];
    const times = [];
    for (const { body } of uploads) {
      const { plaintexts, time } = await openReport(body, servers, taskId, configuration);
      measurementOf(plaintexts, 4, taskId, 5).forEach((x, i) => (sum[i] += x));
      times.push(time);
    }
    return { uploads, times, sum };
  }
  return {
    ...{ servers, site, edge, leader, helper, at, addUp },
    recipe: (more = {}) => coloursRecipe({ aggregation: { protocol: 'dap', ...at }, ...more }),
    close: () => Promise.all([site, edge, leader, helper].map((each) => each.close())),
  };
}
