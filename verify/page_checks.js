// SPDX-License-Identifier: Apache-2.0
// The page: whether it is there, what its policy lets through, and whether the files of the client
// are the published ones.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { hashOf, pageFiles, readManifest } from 'shoal-client/file-hashes';
import { allows, allowsWasm, neededPolicy, policiesOf } from './csp.js';
import { isHtml, isLoopback, jsonOf, request } from './net.js';
import { optionsOf, scriptsOf } from './setup.js';

/** @typedef {import('./context.js').Context} Context */

const HOPS = 5;
const AT_ONCE = 8;
const JS = /^(text|application)\/(x-)?(java|ecma)script\b/;

/**
 * Reads the page, and what its scripts say.
 * @param {Context} context
 * @returns {Promise<{html: string, csp: string | null} | null>}
 */
export async function readPage(context) {
  const { at, report } = context;
  let url = /** @type {URL} */ (at.page);
  for (let hop = 0; hop < HOPS; hop++) {
    const answer = await context.ask('page', url);
    if (answer === null) return null;
    const location = answer.headers.get('location');
    if (answer.status < 300 || answer.status >= 400 || !location) {
      at.page = url;
      return judgePage(context, answer);
    }
    const next = new URL(location, url);
    if (next.origin !== url.origin)
      report.wrong('page', 'page-redirect', {
        detail: `${url.href} leads to another origin`,
        target: next.href,
      });
    url = next;
  }
  report.wrong('page', 'page-redirect', { detail: 'too many hops', target: url.href });
  return null;
}

/** @param {Context} context @param {import('./net.js').Answer} answer */
async function judgePage(context, answer) {
  const { at, report } = context;
  const page = /** @type {URL} */ (at.page);
  const detail = `${page.href} answers ${answer.status}`;
  if (answer.status >= 400) {
    report.wrong('page', 'page-path', { detail });
    return null;
  }
  if (!isHtml(answer)) {
    report.wrong('page', 'page-html', { detail: `${detail}, and no HTML` });
    return null;
  }
  if (page.protocol === 'http:' && !isLoopback(page))
    report.wrong('page', 'page-http', { detail: page.href });
  report.right('page', `${page.href} is there`);
  const options = optionsOf(await scriptsOf(answer.text, page), page);
  at.options = options;
  at.client ??= options.client;
  at.edge ??= options.endpoint;
  at.relay ??= options.relay;
  return { html: answer.text, csp: answer.headers.get('content-security-policy') };
}

/**
 * The policy of the page, and whether it mixes https with http.
 * @param {Context} context
 * @param {{html: string, csp: string | null}} read
 */
export function checkPolicy(context, { html, csp }) {
  const { at, report } = context;
  const page = /** @type {URL} */ (at.page);
  const { client, edge, relay, options } = at;
  const asked = [relay ?? edge, options?.log?.url ?? null, options?.site?.url ?? null];
  asked.push(...(options?.recipes.map(({ url }) => url) ?? []));
  context.policy = neededPolicy(page, asked);
  const { vars } = context;
  if (page.protocol === 'https:')
    for (const url of [client, ...asked])
      if (url?.protocol === 'http:' && !isLoopback(url))
        report.wrong('page', 'mixed-content', { detail: url.href });
  const policies = policiesOf(csp, html);
  if (!policies.length) return report.wrong('csp', 'csp-missing', vars);
  const before = report.results.length;
  if (!allowsWasm(policies)) report.wrong('csp', 'csp-wasm', vars);
  const script = client && new URL('loader.js', client);
  if (script && !allows(policies, ['script-src-elem', 'script-src', 'default-src'], script, page))
    report.wrong('csp', 'csp-script', { ...vars, detail: script.href });
  for (const url of asked)
    if (url && !allows(policies, ['connect-src', 'default-src'], url, page))
      report.wrong('csp', 'csp-connect', { ...vars, detail: url.origin });
  if (report.results.length === before)
    report.right('csp', 'the policy lets the client, WebAssembly and its requests through');
}

/** The hashes of the published files. @returns {Promise<import('shoal-client/file-hashes').Manifest>} */
export async function published() {
  const path = fileURLToPath(import.meta.resolve('shoal-client/hashes.json'));
  return readManifest(JSON.parse(await readFile(path, 'utf8')));
}

/**
 * The client's files: all there, unchanged, and of types that browsers take.
 * @param {Context} context
 */
export async function checkClient(context) {
  const { at, report } = context;
  const { client } = at;
  if (client === null) {
    const mend = 'give its folder: --client URL; --no-client where a bundler merged the files';
    return report.unknown('client', 'where the page loads the client from was not found', mend);
  }
  const manifest = await published();
  const files = pageFiles(manifest);
  /** @type {Record<string, string[]>} */
  const found = { missing: [], html: [], changed: [], js: [], wasm: [] };
  for (let i = 0; i < files.length; i += AT_ONCE)
    await Promise.all(
      files.slice(i, i + AT_ONCE).map((file) => compare(client, file, manifest.files[file], found)),
    );
  const before = report.results.length;
  const names = (/** @type {string[]} */ list) =>
    list.length > 4
      ? `${list.slice(0, 3).join(', ')} and ${list.length - 3} more`
      : list.join(', ');
  const tell = (/** @type {string} */ code, /** @type {string[]} */ list) =>
    void (list.length && report.wrong('client', code, { detail: names(list.sort()) }));
  const theirs = await request(new URL('hashes.json', client).href);
  const version = theirs.ok ? jsonOf(theirs)?.version : undefined;
  if (typeof version === 'string' && version !== manifest.version && found.changed.length)
    report.wrong('client', 'client-old', {
      detail: `${version.slice(0, 32)}, and this shoal-verify knows ${manifest.version}`,
      version: manifest.version,
    });
  else tell('client-changed', found.changed);
  tell('client-missing', found.missing);
  tell('client-html', found.html);
  tell('mime-js', found.js);
  tell('mime-wasm', found.wasm);
  if (report.results.length === before)
    report.right(
      'client',
      `${files.length} files are those of ${manifest.package} ${manifest.version}`,
    );
}

/**
 * @param {URL} client
 * @param {string} file
 * @param {string} hash
 * @param {Record<string, string[]>} found
 */
async function compare(client, file, hash, found) {
  const answer = await request(new URL(file, client).href);
  if (!answer.ok || answer.status >= 400) return void found.missing.push(file);
  const type = answer.headers.get('content-type') ?? '';
  if (isHtml(answer)) return void found.html.push(file);
  if (hashOf(answer.bytes) !== hash) found.changed.push(file);
  if (file.endsWith('.js') && !JS.test(type)) found.js.push(`${file} (${type || 'none'})`);
  if (file.endsWith('.wasm') && !/^application\/wasm\b/.test(type))
    found.wasm.push(`${file} (${type || 'none'})`);
}
