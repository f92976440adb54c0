// SPDX-License-Identifier: Apache-2.0
// `shoal-relay --check`: reads everything that a configuration names, and reports every problem, not
// only the first. It opens no port and sends nothing.

import { dirname, resolve } from 'node:path';
import { CheckReport } from './check_report.js';
import { NODE_FIELDS, parse, readConfig, readSecret } from './config.js';
import { readFile } from './reload.js';
import { FIELDS } from './settings.js';

const ALL = Object.fromEntries(
  [...FIELDS, ...NODE_FIELDS].map((name) => [name, ['routes', 'listen'].includes(name)]),
);

/** @param {string} path @returns {Promise<CheckReport>} */
export async function checkRelay(path) {
  const report = new CheckReport();
  const json = await report.attempt(async () => parse(await readFile(path, 'utf8'), path));
  if (json === undefined) return report;
  report.fields(json, ALL, path);
  const config = report.problems.length ? undefined : await report.attempt(() => readConfig(path));
  const routes = Array.isArray(json?.routes) ? json.routes : [];
  for (const file of [
    json?.admin_token_file,
    ...routes.map((/** @type {any} */ one) => one?.token_file),
  ])
    if (typeof file === 'string') {
      await report.attempt(() => readSecret(resolve(dirname(path), file)), `token ${file}`);
      await report.privateFile(resolve(dirname(path), file));
    }
  for (const { path: route, gateway, token } of config?.routes.values() ?? []) {
    report.right.push(`${route} leads to ${gateway}`);
    if (!gateway.endsWith('/ohttp'))
      report.note(`${route}: the path of ${gateway} is not /ohttp`, 'an edge takes them at /ohttp');
    if (token === null)
      report.note(
        `${route}: no token, so the gateway counts this relay among the unknown ones`,
        'add token_file, and the same token to gateway.relays of the edge',
      );
  }
  return report;
}
