// SPDX-License-Identifier: Apache-2.0
// What an installation consists of: read from the page itself, from the folder that `shoal init`
// wrote, and from the command line, which wins.
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { stat } from 'node:fs/promises';
import { request } from './net.js';

/**
 * @typedef {{url: URL, hash: string}} Pin
 *
 * @typedef {object} Service  one configuration of a folder
 * @property {string} path
 * @property {any} json
 *
 * @typedef {object} Folder
 * @property {Service} [edge]
 * @property {Service} [aggregator]
 * @property {Service} [relay]
 *
 * @typedef {object} PageOptions  what the page's scripts say
 * @property {URL | null} client  folder of the client's files
 * @property {URL | null} endpoint
 * @property {URL | null} relay
 * @property {{url: URL, key: string} | null} log
 * @property {Pin | null} site
 * @property {Pin[]} recipes
 *
 * @typedef {object} Settings  of the command line
 * @property {string} [url]
 * @property {string} [config]
 * @property {string} [edge]
 * @property {string} [aggregator]
 * @property {string} [relay]
 * @property {string} [client]
 * @property {string} [edgeTokenFile]
 * @property {string} [aggregatorTokenFile]
 * @property {number} [visitors]  a day
 * @property {string} [browser]  path
 * @property {boolean} [noBrowser]
 * @property {boolean} [noClient]
 * @property {boolean} [noProbe]
 * @property {number} [patienceS]
 * @property {() => number} [now]  the device's clock, for tests
 */

const SCRIPTS_MAX = 20;

/** A wrong command line or folder. */
export class UsageError extends Error {}

/** @param {string} path @returns {Promise<Service | undefined>} */
async function service(path) {
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) return undefined;
  try {
    return { path, json: JSON.parse(text) };
  } catch {
    return { path, json: null }; // --check of the service says what is wrong
  }
}

/** @param {string} path  a folder, or one of its configurations @returns {Promise<Folder>} */
export async function readFolder(path) {
  const about = await stat(path).catch(() => null);
  if (about === null) throw new UsageError(`${path}: there is no such folder`);
  const folder = about.isDirectory() ? path : dirname(path);
  const at = (/** @type {string} */ name) => service(join(folder, name));
  const found = {
    edge: await at('edge.json'),
    aggregator: await at('aggregator.json'),
    relay: await at('relay.json'),
  };
  if (!found.edge && !found.aggregator && !found.relay)
    throw new UsageError(`${path}: there is no edge.json, aggregator.json or relay.json`);
  return found;
}

/** The first line of a file of secrets, or null. @param {string | undefined} path */
export async function secretOf(path) {
  if (path === undefined) return null;
  const text = await readFile(path, 'utf8').catch(() => null);
  return text?.split('\n')[0].trim() ?? null;
}

/** A file that a configuration names. @param {Service | undefined} one @param {string} field */
export function fileOf(one, field) {
  const name = one?.json?.[field];
  return one && typeof name === 'string' ? resolve(dirname(one.path), name) : undefined;
}

/** Where a service of a configuration listens. @param {Service | undefined} one @returns {URL | null} */
export function listenUrl(one) {
  const listen = one?.json?.listen;
  const text =
    typeof listen === 'string' ? listen.replace(/^(0\.0\.0\.0|\[::\]):/, '127.0.0.1:') : '';
  const url = `http://${/^\d+$/.test(text) ? `127.0.0.1:${text}` : text}/`;
  return text && URL.canParse(url) ? new URL(url) : null;
}

/** @param {string | undefined | null} text @param {URL} [base] @returns {URL | null} */
export function urlOf(text, base) {
  if (!text || !URL.canParse(text, base)) return null;
  const url = new URL(text, base);
  return /^https?:$/.test(url.protocol) ? url : null;
}

/** With a slash at its end. @param {URL | null} url */
export function folderUrl(url) {
  if (url === null || url.pathname.endsWith('/')) return url;
  const folder = new URL(url);
  folder.pathname += '/';
  return folder;
}

/**
 * The scripts of a page: those in it, and those of its own origin that it names.
 * @param {string} html
 * @param {URL} page
 * @returns {Promise<{text: string, base: URL}[]>}
 */
export async function scriptsOf(html, page) {
  const scripts = [];
  for (const [, attributes, text] of html.matchAll(/<script\b([^>]*)>([\s\S]*?)<\/script>/gi)) {
    if (scripts.length === SCRIPTS_MAX) break;
    const [, double, single, bare] =
      /\bsrc\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/i.exec(attributes) ?? [];
    const url = urlOf(double ?? single ?? bare, page);
    if (url === null) scripts.push({ text, base: page });
    else if (url.origin === page.origin) {
      const answer = await request(url.href);
      scripts.push({ text: answer.ok ? answer.text : '', base: url });
    }
  }
  return scripts;
}

const QUOTED = '["\'`]([^"\'`]+)["\'`]';
/** @param {string} name */
const member = (name) => new RegExp(`\\b${name}["']?\\s*:\\s*${QUOTED}`);
const PIN = new RegExp(
  `\\burl["']?\\s*:\\s*${QUOTED}\\s*,\\s*["']?hash["']?\\s*:\\s*["'\`]([0-9a-f]{64})["'\`]`,
  'g',
);

/**
 * Reads what the page gives to start() or init(), from the text of its scripts.
 * @param {{text: string, base: URL}[]} scripts
 * @param {URL} page
 * @returns {PageOptions}
 */
export function optionsOf(scripts, page) {
  const all = scripts.map(({ text }) => text).join('\n');
  const found = (/** @type {string} */ name) => urlOf(member(name).exec(all)?.[1], page);
  const logText = /\blog["']?\s*:\s*\{([^}]*)\}/.exec(all)?.[1] ?? '';
  const logUrl = urlOf(member('url').exec(logText)?.[1], page);
  const logKey = member('key').exec(logText)?.[1];
  const siteText = /\bsite["']?\s*:\s*\{([^}]*)\}/.exec(all)?.[1] ?? '';
  const pins = [...all.matchAll(PIN)].flatMap(([, text, hash]) => {
    const url = urlOf(text, page);
    return url ? [{ url, hash }] : [];
  });
  const [site = null] = [...siteText.matchAll(PIN)].flatMap(([, text, hash]) => {
    const url = urlOf(text, page);
    return url ? [{ url, hash }] : [];
  });
  return {
    client: clientOf(scripts),
    endpoint: folderUrl(found('endpoint')),
    relay: found('relay'),
    log: logUrl && logKey ? { url: logUrl, key: logKey } : null,
    site,
    recipes: pins.filter(({ hash }) => hash !== site?.hash),
  };
}

/** The folder of the client's files. @param {{text: string, base: URL}[]} scripts @returns {URL | null} */
function clientOf(scripts) {
  for (const { text, base } of scripts) {
    if (/\/loader\.js$/.test(base.pathname)) return new URL('.', base);
    const [, specifier] =
      /(?:from|import)\s*\(?\s*["'`]([^"'`]*\/(?:loader|client)\.js)["'`]/.exec(text) ?? [];
    const url = urlOf(specifier, base);
    if (url) return new URL('.', url);
  }
  return null;
}
