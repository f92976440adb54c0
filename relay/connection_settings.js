// SPDX-License-Identifier: Apache-2.0
// The settings of connections under Node: the same fields for the relay and the edge.

import { PRIVATE_NETWORKS, networks } from './connections.js';
import { integer } from './settings.js';

/** Fields that readConnections reads; none is required. */
export const CONNECTION_FIELDS = [
  'address_header',
  'proxies',
  'connections',
  'connections_per_address',
  'connections_reserved',
  'headers_timeout_s',
  'idle_timeout_s',
];

const MOST = 1 << 20;

/**
 * @param {any} json  an object with some of the fields
 * @param {{connections: number, reserved: number, bodyMs: number}} defaults  bodyMs: time limit for
 *   a body, which has a field of its own
 * @returns {{limits: import('./connections.js').ConnectionLimits, addressHeader: string | null}}
 */
export function readConnections(json, { connections, reserved, bodyMs }) {
  const seconds = (/** @type {string} */ name, /** @type {number} */ usual) =>
    1000 * integer(json[name] ?? usual, name, 1, 600);
  const number = (/** @type {string} */ name, /** @type {number} */ usual) =>
    integer(json[name] ?? usual, name, name === 'connections_reserved' ? 0 : 1, MOST);
  return {
    limits: {
      connections: number('connections', connections),
      perAddress: number('connections_per_address', 256),
      reserved: number('connections_reserved', reserved),
      headersMs: seconds('headers_timeout_s', 10),
      bodyMs,
      idleMs: seconds('idle_timeout_s', 5),
      proxies: readProxies(json.proxies ?? PRIVATE_NETWORKS),
    },
    addressHeader: readHeader(json.address_header),
  };
}

/** @param {unknown} value @returns {string | null} */
function readHeader(value) {
  if (value === undefined) return null;
  if (typeof value !== 'string' || !/^[a-z][a-z0-9-]{0,63}$/.test(value))
    throw new Error('address_header: the name of a header in lower case is needed');
  return value;
}

/** @param {unknown} list @returns {string[]} */
function readProxies(list) {
  if (!Array.isArray(list) || !list.every((one) => typeof one === 'string'))
    throw new Error('proxies: a list like ["10.0.0.0/8"] is needed');
  try {
    networks(list);
  } catch (error) {
    throw new Error(`proxies: ${/** @type {Error} */ (error).message}`);
  }
  return list;
}
