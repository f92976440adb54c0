// SPDX-License-Identifier: Apache-2.0
// Reads the configuration file of the issuer on Node: JSON with known fields only, and paths relative
// to the file.

import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { unknownField } from 'shoal-relay/nearest';
import { readFile } from 'shoal-relay/reload';
import { isOrigin } from 'shoal-relay/settings';
import { accountOfHeader } from './account_header.js';

/**
 * @typedef {object} Config
 * @property {string} host
 * @property {number} port
 * @property {string} base  base URL, as recipes have it in send.token
 * @property {string[]} origins
 * @property {string} keys  path of the key file
 * @property {string} counts  folder
 * @property {number} accounts  the most accounts of a day
 * @property {number} connections  the most at once
 * @property {import('./handler.js').HandlerDeps['account']} account
 * @property {unknown} [accountOf]  the fields that it comes from
 * @property {number} bodyTimeoutMs
 * @property {string} [adminToken]  opens /metrics
 */

/** Every field, and whether it is required. */
export const FIELDS = {
  listen: true,
  url: true,
  origins: true,
  key_file: true,
  counts: true,
  account_header: false,
  account_module: false,
  accounts_a_day: false,
  admin_token_file: false,
  connections: false,
  body_timeout_s: false,
};

/**
 * @param {string} path
 * @returns {Promise<Config>} rejects with a sentence that names the field
 */
export async function readConfig(path) {
  const json = parse(await readFile(path, 'utf8'), path);
  exactFields(json, path);
  const at = (/** @type {string} */ name) => resolve(dirname(path), text(json[name], name));
  const [host, port] = listen(text(json.listen, 'listen'));
  return {
    host,
    port,
    base: baseUrl(text(json.url, 'url')),
    origins: origins(json.origins),
    keys: at('key_file'),
    counts: at('counts'),
    accounts: number(json.accounts_a_day ?? 1_000_000, 'accounts_a_day', 1),
    connections: number(json.connections ?? 4096, 'connections', 1),
    account: await accountOf(json, dirname(path)),
    accountOf: [json.account_header, json.account_module],
    bodyTimeoutMs: 1000 * number(json.body_timeout_s ?? 10, 'body_timeout_s', 1),
    ...(json.admin_token_file === undefined
      ? {}
      : { adminToken: await readToken(at('admin_token_file')) }),
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

/** @param {any} json @param {string} where */
function exactFields(json, where) {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new Error(`${where}: an object is needed`);
  for (const name of Object.keys(json))
    if (!Object.hasOwn(FIELDS, name))
      throw new Error(unknownField(where, name, Object.keys(FIELDS)));
  for (const [name, required] of Object.entries(FIELDS))
    if (required && !Object.hasOwn(json, name)) throw new Error(`${where}: missing field ${name}`);
}

/** The first line of a file, which must be a secret. @param {string} path */
async function readToken(path) {
  const token = (await readFile(path, 'utf8')).split('\n')[0].trim();
  if (!/^[\x21-\x7e]{16,512}$/.test(token))
    throw new Error(`${path}: a secret of 16 to 512 printable characters is needed`);
  return token;
}

/**
 * Returns what says which account asks: a module of the site's, or a header that the site's own
 * proxy sets after its login.
 * @param {any} json
 * @param {string} dir
 * @returns {Promise<Config['account']>}
 */
async function accountOf({ account_header: header, account_module: module }, dir) {
  if ((header === undefined) === (module === undefined))
    throw new Error('either account_header or account_module is needed');
  if (module !== undefined) {
    const { account } = await import(
      pathToFileURL(resolve(dir, text(module, 'account_module'))).href
    );
    if (typeof account !== 'function')
      throw new Error('account_module: a module that exports the function account is needed');
    return account;
  }
  const name = text(header, 'account_header');
  if (!/^[\w-]+$/.test(name)) throw new Error('account_header: the name of a header is needed');
  return accountOfHeader(name);
}

/** @param {string} value @returns {[string, number]} */
function listen(value) {
  const [, host, port] = /^(?:(.+):)?([0-9]{1,5})$/.exec(value) ?? [];
  if (port === undefined || Number(port) > 65_535) throw new Error('listen: "host:port" is needed');
  return [host?.replace(/^\[(.*)\]$/, '$1') ?? '127.0.0.1', Number(port)];
}

/** @param {unknown} list @returns {string[]} */
function origins(list) {
  if (!Array.isArray(list) || !list.length || !list.every(isOrigin))
    throw new Error('origins: a list like ["https://www.example.org"] is needed');
  return list;
}

/** @param {string} value */
export function baseUrl(value) {
  const url = URL.canParse(value) ? new URL(value) : null;
  const isBase = url !== null && !url.search && !url.hash && !value.endsWith('/');
  if (!isBase || !/^https?:$/.test(url.protocol))
    throw new Error('url: the base URL of send.token is needed, without / at its end');
  return value;
}

/** @param {unknown} value @param {string} name */
function text(value, name) {
  if (typeof value !== 'string' || value === '') throw new Error(`${name}: a string is needed`);
  return value;
}

/** @param {unknown} value @param {string} name @param {number} least */
function number(value, name, least) {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < least)
    throw new Error(`${name}: a number of at least ${least} is needed`);
  return value;
}
