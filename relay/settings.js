// SPDX-License-Identifier: Apache-2.0
// What a relay can be told, checked: the same fields for Node's file and the worker's variables.
// Unknown fields are refused. Errors are sentences that name the field.

import { unknownField } from './nearest.js';

/**
 * @typedef {import('./handler.js').Route} Route
 * @typedef {import('./handler.js').Limits} Limits
 * @typedef {import('./buckets.js').Rate & {addresses: number}} Rate
 *
 * @typedef {object} Settings
 * @property {Map<string, Route>} routes
 * @property {Limits} limits
 * @property {Rate | null} rate
 * @property {boolean} healthz
 */

/** The fields of both hosts, none of them required but `routes`. */
export const FIELDS = [
  'routes',
  'max_bytes',
  'body_timeout_s',
  'gateway_timeout_s',
  'held_bytes',
  'rate',
  'healthz',
];

const OWN_PATHS = ['/healthz', '/metrics'];
const ROUTES_MAX = 256;

/**
 * @param {any} json  an object with some of FIELDS
 * @param {string} tokenField  the field of a route that names its token
 * @param {(name: string) => Promise<string> | string} tokenOf
 * @returns {Promise<Settings>}
 */
export async function readSettings(json, tokenField, tokenOf) {
  const healthz = json.healthz ?? true;
  if (typeof healthz !== 'boolean') throw new Error('healthz: true or false is needed');
  return {
    routes: await readRoutes(json.routes, tokenField, tokenOf),
    limits: {
      maxBytes: integer(json.max_bytes ?? 65_536, 'max_bytes', 1024, 1 << 24),
      bodyMs: 1000 * integer(json.body_timeout_s ?? 10, 'body_timeout_s', 1, 600),
      gatewayMs: 1000 * integer(json.gateway_timeout_s ?? 20, 'gateway_timeout_s', 1, 600),
      heldBytes: integer(json.held_bytes ?? 1 << 26, 'held_bytes', 1 << 20, 2 ** 40),
    },
    rate: readRate(json.rate === undefined ? {} : json.rate),
    healthz,
  };
}

/**
 * @param {unknown} list
 * @param {string} tokenField
 * @param {(name: string) => Promise<string> | string} tokenOf
 */
async function readRoutes(list, tokenField, tokenOf) {
  if (!Array.isArray(list) || list.length === 0 || list.length > ROUTES_MAX)
    throw new Error(`routes: a list of 1 to ${ROUTES_MAX} {"path", "gateway"} is needed`);
  /** @type {Map<string, Route>} */
  const routes = new Map();
  for (const entry of list) {
    onlyFields(entry, ['path', 'gateway', 'origins', tokenField], 'routes');
    const path = readPath(entry.path);
    if (routes.has(path)) throw new Error(`routes.path: ${JSON.stringify(path)} is there twice`);
    const name = entry[tokenField];
    if (name !== undefined && (typeof name !== 'string' || name === ''))
      throw new Error(`routes.${tokenField}: a string is needed`);
    routes.set(path, {
      path,
      gateway: readGateway(entry.gateway),
      origins: readOrigins(entry.origins === undefined ? ['*'] : entry.origins),
      token: name === undefined ? null : readToken(await tokenOf(name), `routes.${tokenField}`),
    });
  }
  return routes;
}

/**
 * Refuses anything but an object with some of the fields.
 * @param {any} json
 * @param {string[]} fields
 * @param {string} where
 */
export function onlyFields(json, fields, where) {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new Error(`${where}: an object is needed`);
  for (const name of Object.keys(json)) {
    if (!fields.includes(name)) throw new Error(unknownField(where, name, fields));
  }
}

/** A path is one that a URL keeps as it is, so that it can be compared. @param {unknown} path */
function readPath(path) {
  const isPath =
    typeof path === 'string' &&
    /^\/[\w.~!$&'()*+,;=:@%/-]{0,255}$/.test(path) &&
    new URL(`https://relay.example${path}`).pathname === path;
  if (!isPath) throw new Error('routes.path: a path like "/relay" is needed');
  if (OWN_PATHS.includes(path)) throw new Error(`routes.path: ${path} is the relay's own`);
  return path;
}

/** @param {unknown} gateway */
function readGateway(gateway) {
  const url = typeof gateway === 'string' && URL.canParse(gateway) ? new URL(gateway) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.hash !== '')
    throw new Error('routes.gateway: an http(s) URL is needed');
  return url.href;
}

/**
 * Is it the origin of a site, or of a browser extension? URL gives out the origins of sites only.
 * @param {unknown} value
 */
export function isOrigin(value) {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  return (
    new URL(value).origin === value || /^(chrome|moz|safari-web)-extension:\/\/[\w-]+$/.test(value)
  );
}

/** @param {unknown} list @returns {string[]} */
function readOrigins(list) {
  if (!Array.isArray(list) || !list.length || !list.every((o) => o === '*' || isOrigin(o)))
    throw new Error('routes.origins: a list like ["https://www.example.org"] is needed');
  return list;
}

/** @param {unknown} token @param {string} where @returns {string} */
export function readToken(token, where) {
  if (typeof token !== 'string' || !/^[\x21-\x7e]{16,1024}$/.test(token))
    throw new Error(`${where}: a secret of at least 16 printable characters is needed`);
  return token;
}

/** @param {any} json  null: no limit @returns {Rate | null} */
export function readRate(json) {
  if (json === null) return null;
  onlyFields(json, ['per_minute', 'burst', 'addresses'], 'rate');
  return {
    perMinute: integer(json.per_minute ?? 120, 'rate.per_minute', 1, 1e6),
    burst: integer(json.burst ?? 240, 'rate.burst', 1, 1e6),
    addresses: integer(json.addresses ?? 65_536, 'rate.addresses', 1, 1 << 22),
  };
}

/** @param {unknown} value @param {string} name @param {number} least @param {number} most */
export function integer(value, name, least, most) {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most)
    throw new Error(`${name}: a whole number from ${least} to ${most} is needed`);
  return value;
}
