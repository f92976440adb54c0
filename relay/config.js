// SPDX-License-Identifier: Apache-2.0
// Reads the configuration file of the relay on Node: JSON with known fields only, and paths
// relative to the file.

import { dirname, resolve } from 'node:path';
import { CONNECTION_FIELDS, readConnections } from './connection_settings.js';
import { readFile } from './reload.js';
import { FIELDS, integer, onlyFields, readSettings, readToken } from './settings.js';

/**
 * @typedef {import('./settings.js').Settings & {
 *   host: string,
 *   port: number,
 *   adminToken: string | null,
 *   addressHeader: string | null,
 *   gatewayConnections: number,
 *   connections: import('./connections.js').ConnectionLimits,
 * }} Config
 */

const CONNECTIONS = 4096;
export const NODE_FIELDS = [
  'listen',
  'admin_token_file',
  'gateway_connections',
  ...CONNECTION_FIELDS.filter((name) => name !== 'connections_reserved'),
];

/**
 * @param {string} path
 * @returns {Promise<Config>} rejects with a sentence that names the field
 */
export async function readConfig(path) {
  const json = parse(await readFile(path, 'utf8'), path);
  onlyFields(json, [...FIELDS, ...NODE_FIELDS], path);
  const secret = (/** @type {string} */ name) => readSecret(resolve(dirname(path), name));
  const settings = await readSettings(json, 'token_file', secret);
  const [host, port] = listen(json.listen);
  const { limits: connections, addressHeader } = readConnections(json, {
    connections: CONNECTIONS,
    reserved: 0, // a relay knows no senders
    bodyMs: settings.limits.bodyMs,
  });
  const { admin_token_file: tokenFile } = json;
  if (tokenFile !== undefined && typeof tokenFile !== 'string')
    throw new Error('admin_token_file: a string is needed');
  return {
    ...settings,
    host,
    port,
    adminToken: tokenFile === undefined ? null : await secret(tokenFile),
    addressHeader,
    gatewayConnections: integer(json.gateway_connections ?? 128, 'gateway_connections', 1, 65_536),
    connections,
  };
}

/** @param {string} source @param {string} path @returns {any} */
export function parse(source, path) {
  try {
    return JSON.parse(source);
  } catch {
    throw new Error(`${path} is not JSON`);
  }
}

/** @param {unknown} value @returns {[string, number]} */
function listen(value) {
  const [, host, port] =
    /^(?:(.+):)?([0-9]{1,5})$/.exec(typeof value === 'string' ? value : '') ?? [];
  if (port === undefined || Number(port) > 65_535) throw new Error('listen: "host:port" is needed');
  return [host?.replace(/^\[(.*)\]$/, '$1') ?? '127.0.0.1', Number(port)];
}

/**
 * The first line of a file.
 * @param {string} path
 */
export async function readSecret(path) {
  return readToken((await readFile(path, 'utf8')).split('\n')[0].trim(), path);
}
