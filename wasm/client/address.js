// SPDX-License-Identifier: Apache-2.0
// Turns an address into the host or site that a recipe counts. It is a chunk of its own, loaded by
// the first event of such a recipe. Pure functions; depends on nothing but the language.

/**
 * Returns the host of a web address or of a bare host name, or null for anything else.
 * @param {string} address
 */
function hostOf(address) {
  try {
    const url = new URL(/^[^\s:/@?#\\]+$/.test(address) ? `https://${address}` : address);
    return /^https?:$/.test(url.protocol) ? url.hostname.replace(/\.$/, '') : null;
  } catch {
    return null;
  }
}

/**
 * Returns the host or the site that an address names, or the code that says why there is none.
 * @param {string} kind `host` or `site` @param {string} address
 * @param {() => Promise<{siteOf: (host: string) => string | null}>} list of registrable domains
 * @returns {Promise<{value: string, code?: string}>}
 */
export async function nameOf(kind, address, list) {
  let value = hostOf(address);
  if (value !== null && kind === 'site') {
    const sites = await list().catch(() => null);
    if (!sites) return { value, code: 'private-list-missing' };
    value = sites.siteOf(value);
  }
  return value === null ? { value: '', code: 'not-a-site' } : { value };
}
