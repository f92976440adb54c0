// SPDX-License-Identifier: Apache-2.0
// Checks the options of a page before anything else happens, so that a misspelt one is told under
// its own name. The loader carries this code; init() without the loader imports it as a chunk. It is
// kept small, because it is loaded before consent. Pure functions; depends on nothing.

/**
 * The names of the options, by what each must be. The last are for tests and unusual places, and what
 * they are is left to whoever sets them.
 * @type {{[kind: string]: string}}
 */
const KINDS = {
  string: 'endpoint relay',
  list: 'recipes runs keys',
  object: 'site policy log',
  boolean: 'debug',
  '': 'wasm queryWasm dapWasm storage locks document fetch now random hpke keyList sites gpc automated activation persist deletesStorage setTimer clearTimer',
};

/** An address that reports may be sent to: encrypted, or of this machine. */
const SAFE = /^http(s:|:\/\/(localhost|127(\.\d+){3}|\[::1])[:/])/;

/** An absolute address; none for what is no address. @param {string} given */
function addressOf(given) {
  try {
    return new URL(given, globalThis.location?.href).href;
  } catch {
    return '';
  }
}

/**
 * Throws the error of a wrong option. It is a ShoalError by name and members; the class itself would
 * make the loader larger.
 * @param {string} field @param {string} text @returns {never}
 */
function refuse(field, text) {
  throw Object.assign(Error(`option ${field} ${text}`), {
    name: 'ShoalError',
    code: 'argument',
    number: 1,
    field,
  });
}

/**
 * Throws an error that names the first wrong option, and says what was expected. What is inside a
 * recipe is left to the core, whose errors name the field.
 * @param {any} options of start or init
 */
export function checkOptions(options) {
  for (const [name, given] of Object.entries(options)) {
    const kind = Object.keys(KINDS).find((each) => KINDS[each].split(' ').includes(name));
    if (kind === undefined) refuse(name, `is none of ${Object.values(KINDS).join(' ')}`);
    if (given == null) continue;
    if (kind && kind !== (Array.isArray(given) ? 'list' : typeof given))
      refuse(name, `must be ${kind}`);
    if (kind === 'string' && !SAFE.test(addressOf(given))) refuse(name, 'must be https');
    // What is fetched is pinned.
    if (name !== 'log')
      for (const each of [given].flat())
        if (each?.url && !/^[0-9a-f]{64}$/.test(each.hash))
          refuse(name, `needs the hash of ${each.url}`);
  }
  const { endpoint, recipes, site, relay, log } = options;
  const field = !endpoint
    ? 'endpoint'
    : !recipes === !site
      ? 'recipes or site'
      : relay && !log && 'log';
  if (field) refuse(field, 'is needed');
}
