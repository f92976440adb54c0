// SPDX-License-Identifier: Apache-2.0
// What a Content-Security-Policy lets a page do, as far as the client needs it.

/** @typedef {Map<string, string[]>} Policy  directives by name */

/**
 * Reads the policies of a page: its headers and its meta elements. All of them hold at once.
 * @param {string | null} header
 * @param {string} html
 * @returns {Policy[]}
 */
export function policiesOf(header, html) {
  const metas = [
    ...html.matchAll(/<meta\s[^>]*http-equiv=["']?content-security-policy["']?[^>]*>/gi),
  ]
    .map(([tag]) => /content=(?:"([^"]*)"|'([^']*)')/i.exec(tag))
    .map((match) => match?.[1] ?? match?.[2] ?? '');
  return [...(header ?? '').split(','), ...metas].filter((text) => text.trim() !== '').map(parse);
}

/** @param {string} text @returns {Policy} */
function parse(text) {
  /** @type {Policy} */
  const policy = new Map();
  for (const part of text.split(';')) {
    const [name, ...sources] = part.trim().split(/\s+/);
    if (name && !policy.has(name.toLowerCase())) policy.set(name.toLowerCase(), sources);
  }
  return policy;
}

/** @param {Policy} policy @param {string[]} names  the most special first */
const sourcesOf = (policy, names) =>
  names.map((name) => policy.get(name)).find((sources) => sources !== undefined);

/** @param {string} source @param {URL} url @param {URL} page */
function matches(source, url, page) {
  if (source === "'self'") return url.origin === page.origin;
  if (source === '*') return /^https?:$/.test(url.protocol);
  if (/^[a-z][a-z0-9+.-]*:$/i.test(source)) return url.protocol === source.toLowerCase();
  const [, scheme, host, port, path] =
    /^(?:([a-z][a-z0-9+.-]*):\/\/)?(\[[0-9a-f:]+\]|[^/:]+)(?::(\d+|\*))?(\/.*)?$/i.exec(source) ??
    [];
  if (host === undefined) return false;
  const wanted = `${scheme ?? page.protocol.slice(0, -1)}:`.toLowerCase();
  const isScheme = url.protocol === wanted || (wanted === 'http:' && url.protocol === 'https:');
  const isHost = host.startsWith('*.')
    ? url.hostname.endsWith(host.slice(1).toLowerCase())
    : url.hostname === host.toLowerCase();
  const usual = url.protocol === 'https:' ? '443' : '80';
  const isPort = port === '*' || (url.port || usual) === (port ?? usual);
  const isPath =
    !path || (path.endsWith('/') ? url.pathname.startsWith(path) : url.pathname === path);
  return isScheme && isHost && isPort && isPath;
}

/**
 * @param {Policy[]} policies
 * @param {string[]} names  directives, the most special first
 * @param {URL} url
 * @param {URL} page
 */
export const allows = (policies, names, url, page) =>
  policies.every((policy) => {
    const sources = sourcesOf(policy, names);
    return sources === undefined || sources.some((source) => matches(source, url, page));
  });

/** @param {Policy[]} policies */
export const allowsWasm = (policies) =>
  policies.every((policy) => {
    const sources = sourcesOf(policy, ['script-src', 'default-src']);
    return (
      sources === undefined ||
      sources.some((source) => /^'(wasm-)?unsafe-eval'$/.test(source.toLowerCase()))
    );
  });

/** The policy that a page needs. @param {URL} page @param {(URL | null)[]} others  that it asks */
export function neededPolicy(page, others) {
  const origins = others.flatMap((url) => (url && url.origin !== page.origin ? [url.origin] : []));
  const connect = ["'self'", ...new Set(origins)].join(' ');
  return `script-src 'self' 'wasm-unsafe-eval'; connect-src ${connect}`;
}
