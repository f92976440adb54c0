// SPDX-License-Identifier: Apache-2.0
// Reads the configuration file of the edge on Node: JSON with known fields only, and paths relative
// to the file.

import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { unknownField } from 'shoal-relay/nearest';
import { readFile } from 'shoal-relay/reload';
import { isOrigin } from 'shoal-relay/settings';
import { checkedGateway } from './gateway.js';
import { readLimits } from './node_limits.js';

/**
 * @typedef {object} Config
 * @property {string} host
 * @property {number} port
 * @property {string} spool  folder
 * @property {{recipe: any, hash: string}[]} recipes  pinned
 * @property {string[]} [recipeKeys]  one of which must have signed each recipe
 * @property {string[]} origins
 * @property {any} [tokenKeys]  directories of the issuers of tokens
 * @property {string} [aggregator]  base URL; here or in a bucket batches end
 * @property {string} [secret]  of the aggregator
 * @property {import('./bucket_s3.js').S3Settings} [bucket]
 * @property {string} [adminToken]
 * @property {string} [log]  folder of a log
 * @property {number} bodyTimeoutMs
 * @property {import('./gateway.js').GatewaySettings} [gateway]
 * @property {import('./collector.js').Limits} limits
 * @property {import('./node_limits.js').NodeLimits} [nodeLimits]
 */

/** Every field, and whether it is required. */
export const FIELDS = {
  listen: true,
  spool: true,
  recipes: true,
  recipe_keys: false,
  origins: false,
  token_keys: false,
  aggregator: false,
  batch_secret_file: false,
  bucket: false,
  admin_token_file: false,
  log: false,
  body_timeout_s: false,
  batch_version: false,
  batch_bytes: false,
  store_bytes: false,
  key_grace_s: false,
  gateway: false,
  address_header: false,
  proxies: false,
  connections: false,
  connections_per_address: false,
  connections_reserved: false,
  headers_timeout_s: false,
  idle_timeout_s: false,
  rate: false,
};

const BUCKET_FIELDS = { url: true, region: true, credentials_file: false, gzip: false };

const CREDENTIALS = { access_key_id: true, secret_access_key: true, session_token: false };

const GATEWAY_FIELDS = {
  keys_file: true,
  relays: false,
  unknown_per_minute: false,
  date_window_s: false,
};

/**
 * @param {string} path
 * @returns {Promise<Config>} rejects with a sentence that names the field
 */
export async function readConfig(path) {
  const json = parse(await readFile(path, 'utf8'), path);
  exactFields(json, FIELDS, path);
  const at = (/** @type {string} */ name) => resolve(dirname(path), text(json[name], name));
  const [host, port] = listen(text(json.listen, 'listen'));
  const bodyTimeoutMs = 1000 * number(json.body_timeout_s ?? 10, 'body_timeout_s', 1);
  return {
    host,
    port,
    spool: at('spool'),
    recipes: await readRecipes(json.recipes, dirname(path)),
    ...(json.recipe_keys === undefined ? {} : { recipeKeys: json.recipe_keys }),
    origins: origins(json.origins ?? []),
    ...(json.token_keys === undefined
      ? {}
      : { tokenKeys: await readTokenKeys(json.token_keys, dirname(path)) }),
    ...(await readTargets(json, dirname(path))),
    ...(json.admin_token_file === undefined
      ? {}
      : { adminToken: await readSecret(at('admin_token_file')) }),
    ...(json.gateway === undefined
      ? {}
      : { gateway: await readGateway(json.gateway, dirname(path), json.key_grace_s) }),
    ...(json.log === undefined ? {} : { log: at('log') }),
    bodyTimeoutMs,
    nodeLimits: readLimits(json, bodyTimeoutMs),
    limits: {
      ...batchVersion(json),
      ...(json.batch_bytes === undefined
        ? {}
        : { batchBytes: number(json.batch_bytes, 'batch_bytes', 1024) }),
      ...(json.store_bytes === undefined
        ? {}
        : { storeBytes: number(json.store_bytes, 'store_bytes', 1024) }),
      ...(json.key_grace_s === undefined
        ? {}
        : { keyGraceS: number(json.key_grace_s, 'key_grace_s', 0) }),
    },
  };
}

/**
 * Reads what a backup needs: a lost gateway's keys may be what it brings back.
 * @param {string} path
 * @returns {Promise<{spool: string, keysFile?: string, limits: import('./collector.js').Limits}>}
 */
export async function readBackupConfig(path) {
  const json = parse(await readFile(path, 'utf8'), path);
  exactFields(json, FIELDS, path);
  const at = (/** @type {unknown} */ value, /** @type {string} */ name) =>
    resolve(dirname(path), text(value, name));
  return {
    spool: at(json.spool, 'spool'),
    ...(json.gateway === undefined
      ? {}
      : { keysFile: at(json.gateway.keys_file, 'gateway.keys_file') }),
    limits: {
      ...batchVersion(json),
      ...(json.batch_bytes === undefined ? {} : { batchBytes: json.batch_bytes }),
    },
  };
}

/**
 * Reads where batches go: to an aggregator, into a bucket, or to both.
 * @param {any} json
 * @param {string} dir
 */
async function readTargets(json, dir) {
  const { aggregator, batch_secret_file: file, bucket } = json;
  if (aggregator === undefined && bucket === undefined)
    throw new Error('aggregator, or bucket, is needed');
  if ((aggregator === undefined) !== (file === undefined))
    throw new Error('aggregator and batch_secret_file belong together');
  return {
    ...(aggregator === undefined
      ? {}
      : {
          aggregator: httpUrl(aggregator, 'aggregator'),
          secret: await readSecret(resolve(dir, text(file, 'batch_secret_file'))),
        }),
    ...(bucket === undefined ? {} : { bucket: await readBucket(bucket, dir) }),
  };
}

/**
 * Reads the member `bucket`.
 * @param {any} json
 * @param {string} dir
 * @returns {Promise<import('./bucket_s3.js').S3Settings>}
 */
async function readBucket(json, dir) {
  exactFields(json, BUCKET_FIELDS, 'bucket');
  const { region, credentials_file: file, gzip = false } = json;
  if (typeof gzip !== 'boolean') throw new Error('bucket.gzip: true or false is needed');
  const url = httpUrl(json.url, 'bucket.url');
  if (/[?#]|\/\/[^/]*@/.test(url))
    throw new Error('bucket.url: a URL without query, fragment and user is needed');
  return {
    url,
    region: text(region, 'bucket.region'),
    credentials:
      file === undefined
        ? credentialsOf(process.env)
        : await readCredentials(resolve(dir, text(file, 'bucket.credentials_file'))),
    gzip,
  };
}

/** @param {string} path @returns {Promise<import('./bucket_s3.js').S3Settings['credentials']>} */
export async function readCredentials(path) {
  await checkPrivate(path, "the bucket's credentials");
  const json = parse(await readFile(path, 'utf8'), path);
  exactFields(json, CREDENTIALS, path);
  const { session_token: token } = json;
  return {
    accessKeyId: text(json.access_key_id, `${path}: access_key_id`),
    secretAccessKey: text(json.secret_access_key, `${path}: secret_access_key`),
    ...(token === undefined ? {} : { sessionToken: text(token, `${path}: session_token`) }),
  };
}

/** @param {NodeJS.ProcessEnv} env */
function credentialsOf({ AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN }) {
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY)
    throw new Error(
      'bucket.credentials_file, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, is needed',
    );
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN ? { sessionToken: AWS_SESSION_TOKEN } : {}),
  };
}

/** A bucket takes version 2 alone. @param {{batch_version?: unknown, bucket?: unknown}} json */
function batchVersion({ batch_version: version, bucket }) {
  if (version !== undefined && version !== 1 && version !== 2)
    throw new Error('batch_version: 1 or 2 is needed');
  if (bucket !== undefined && version === 1)
    throw new Error('batch_version: a bucket takes version 2 alone');
  if (bucket !== undefined) return { batchVersion: 2 };
  return version === undefined ? {} : { batchVersion: version };
}

/** @param {string} source @param {string} path @returns {any} */
export function parse(source, path) {
  try {
    return JSON.parse(source);
  } catch {
    throw new Error(`${path} is not JSON`);
  }
}

/** @param {any} json @param {Record<string, boolean>} fields @param {string} where */
function exactFields(json, fields, where) {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new Error(`${where}: an object is needed`);
  for (const name of Object.keys(json)) {
    if (!Object.hasOwn(fields, name))
      throw new Error(unknownField(where, name, Object.keys(fields)));
  }
  for (const [name, required] of Object.entries(fields)) {
    if (required && !Object.hasOwn(json, name)) throw new Error(`${where}: missing field ${name}`);
  }
}

/** @param {unknown} list @param {string} dir */
export async function readRecipes(list, dir) {
  if (!Array.isArray(list) || list.length === 0)
    throw new Error('recipes: a list of {"file", "hash"} is needed');
  const recipes = [];
  for (const entry of list) {
    exactFields(entry, { file: true, hash: true }, 'recipes');
    const file = resolve(dir, text(entry.file, 'recipes.file'));
    recipes.push({
      recipe: parse(await readFile(file, 'utf8'), file),
      hash: text(entry.hash, 'recipes.hash'),
    });
  }
  return recipes;
}

/**
 * Reads the member `gateway`.
 * @param {any} json
 * @param {string} dir
 * @param {unknown} graceS  key_grace_s
 * @returns {Promise<import('./gateway.js').GatewaySettings>}
 */
async function readGateway(json, dir, graceS) {
  exactFields(json, GATEWAY_FIELDS, 'gateway');
  const { relays = [], unknown_per_minute: unknown } = json;
  if (!Array.isArray(relays) || (relays.length === 0 && unknown === undefined))
    throw new Error('gateway: relays, or unknown_per_minute, is needed');
  const known = [];
  for (const relay of relays) {
    exactFields(relay, { name: true, token_file: true, per_minute: true }, 'gateway.relays');
    known.push({
      name: text(relay.name, 'gateway.relays.name'),
      token: await readSecret(resolve(dir, text(relay.token_file, 'gateway.relays.token_file'))),
      perMinute: number(relay.per_minute, 'gateway.relays.per_minute', 1),
    });
  }
  return checkedGateway(
    {
      keys: await readKeys(resolve(dir, text(json.keys_file, 'gateway.keys_file'))),
      relays: known,
      ...(unknown === undefined
        ? {}
        : { unknownPerMinute: number(unknown, 'gateway.unknown_per_minute', 1) }),
      ...(json.date_window_s === undefined
        ? {}
        : { dateWindowS: number(json.date_window_s, 'gateway.date_window_s', 3600) }),
    },
    graceS === undefined ? undefined : number(graceS, 'key_grace_s', 0),
  );
}

/**
 * Whether systemd hands the file over (LoadCredential). Such a file is for the service alone, but may show a mode of 0440: its access list
 * stands where the group's rights are.
 * @param {string} path
 */
const isCredential = (path) =>
  process.env.CREDENTIALS_DIRECTORY !== undefined &&
  resolve(dirname(path)) === resolve(process.env.CREDENTIALS_DIRECTORY);

/**
 * Refuses a file that others can read; on Windows a file's mode does not say.
 * @param {string} path
 * @param {string} what
 */
async function checkPrivate(path, what) {
  const others = isCredential(path) ? 0o007 : 0o077;
  if (process.platform !== 'win32' && (await stat(path)).mode & others)
    throw new Error(`${path}: only its owner may read and write ${what} (chmod 600)`);
}

/**
 * Reads the gateway's private keys.
 * @param {string} path
 * @returns {Promise<any[]>}
 */
export async function readKeys(path) {
  await checkPrivate(path, "the gateway's keys");
  const json = parse(await readFile(path, 'utf8'), path);
  exactFields(json, { keys: true }, path);
  return json.keys;
}

/**
 * Reads the directories of the issuers: a file, or a list of files.
 * @param {unknown} files
 * @param {string} dir
 */
async function readTokenKeys(files, dir) {
  const paths = [files].flat().map((file) => resolve(dir, text(file, 'token_keys')));
  return Promise.all(paths.map(async (path) => parse(await readFile(path, 'utf8'), path)));
}

/** @param {string} value @returns {[string, number]} */
function listen(value) {
  const [, host, port] = /^(?:(.+):)?([0-9]{1,5})$/.exec(value) ?? [];
  if (port === undefined || Number(port) > 65_535) throw new Error('listen: "host:port" is needed');
  return [host?.replace(/^\[(.*)\]$/, '$1') ?? '127.0.0.1', Number(port)];
}

/** @param {unknown} list @returns {string[]} */
function origins(list) {
  if (!Array.isArray(list) || !list.every((o) => o === '*' || isOrigin(o)))
    throw new Error('origins: a list like ["https://www.example.org"] is needed');
  return list;
}

/** @param {unknown} value @param {string} name */
function httpUrl(value, name) {
  const url = text(value, name);
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
    throw new Error(`${name}: an http(s) URL is needed`);
  return url;
}

/**
 * The first line; a second one is the older secret during a rotation, which only the aggregator
 * accepts.
 * @param {string} path
 */
export async function readSecret(path) {
  const secret = (await readFile(path, 'utf8')).split('\n')[0].trim();
  if (!/^[\x21-\x7e]{16,}$/.test(secret))
    throw new Error(`${path}: a secret of at least 16 printable characters is needed`);
  return secret;
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
