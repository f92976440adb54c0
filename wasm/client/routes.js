// SPDX-License-Identifier: Apache-2.0
// Tells a page of its views: the first one, and one for each change of route in a single-page app.
// It is an entry of its own, which neither loader nor client imports: only a page that wants it
// pays for it. It hands over the names of listed routes and never an address, so that no number or
// word of an address reaches a recipe by accident. Keeps the path of the last view in memory, and
// touches no global until observeRoutes(). Depends on nothing but the platform.

/**
 * @typedef {object} RouteOptions
 * @property {boolean} [hash] is the route the part of the address after `#`, as `#/help`?
 */

/**
 * Calls a function for every page view with the route that it shows, or null where no listed route
 * matches. A view is a page that is loaded, or restored from the back/forward cache, or another
 * path in the same document. A change of the query or the fragment alone is none, and routes that
 * follow each other in one task count once, as the last of them.
 * @param {string[]} routes patterns of paths, the first match wins. `:name` stands for one part of
 *   a path, and `*` at the end for any rest
 * @param {(route: string | null) => unknown} take is given the pattern as it is listed
 * @param {RouteOptions} [options]
 * @returns {() => void} stops it
 */
export function observeRoutes(routes, take, { hash = false } = {}) {
  const routeOf = matcher(routes);
  if (typeof take !== 'function') throw new TypeError('observeRoutes: take must be a function');
  const stop = new AbortController();
  const { signal } = stop;
  const page = /** @type {any} */ (globalThis.document);
  /** @type {string | null} */
  let last = null;
  /** @type {any} */
  let timer;

  const look = () => {
    timer = undefined;
    const path = pathOf(globalThis.location, hash);
    if (signal.aborted || path === last) return;
    last = path;
    take(routeOf(path));
  };
  // A router that redirects changes the address twice in one task: the person sees the last one.
  const changed = () => void (timer ??= setTimeout(look));

  watchHistory(changed, signal);
  // A page that comes back from the cache is seen anew.
  globalThis.addEventListener(
    'pageshow',
    ({ persisted }) => {
      if (persisted) last = null;
      changed();
    },
    { signal },
  );
  // Nobody sees a page that is loaded ahead, until it is shown.
  if (page.prerendering)
    page.addEventListener('prerenderingchange', changed, { once: true, signal });
  else changed();
  return () => stop.abort();
}

/** @param {Location} location @param {boolean} hash */
function pathOf(location, hash) {
  if (!hash) return location.pathname;
  return pathnameOf(location.hash.slice(1).replace(/^\/*/, '/'));
}

/** The path as a browser writes it: without query, non-ASCII percent-encoded. @param {string} text */
const pathnameOf = (text) => new URL(text, 'https://path.invalid').pathname;

/**
 * Calls a function after the address may have changed in the same document.
 * @param {() => void} changed
 * @param {AbortSignal} signal ends it
 */
function watchHistory(changed, signal) {
  const { navigation, history } = /** @type {any} */ (globalThis);
  if (navigation) {
    navigation.addEventListener('currententrychange', changed, { signal });
    return;
  }
  for (const name of ['popstate', 'hashchange'])
    globalThis.addEventListener(name, changed, { signal });
  // Older browsers tell nobody of these two calls.
  for (const name of ['pushState', 'replaceState']) {
    const known = history[name];
    const told = (/** @type {any[]} */ ...args) => {
      const result = known.apply(history, args);
      if (!signal.aborted) changed();
      return result;
    };
    history[name] = told;
    signal.addEventListener('abort', () => {
      // Whoever wrapped the call after this keeps their wrapper.
      if (history[name] === told) history[name] = known;
    });
  }
}

/**
 * Returns the function that finds the listed route of a path, or null.
 * @param {string[]} routes
 * @returns {(path: string) => string | null}
 */
function matcher(routes) {
  if (!Array.isArray(routes))
    throw new TypeError('observeRoutes: routes must be a list of patterns such as "/help/:topic"');
  const tests = routes.map((route) => ({ route, parts: partsOfPattern(route) }));
  return (path) => {
    const parts = partsOf(path);
    return tests.find((each) => matches(each.parts, parts))?.route ?? null;
  };
}

/** The parts of a path; a slash at its end means nothing. @param {string} path */
const partsOf = (path) => path.replace(/\/+$/, '').split('/').slice(1);

/** @param {unknown} route @returns {string[]} */
function partsOfPattern(route) {
  const isPath = typeof route === 'string' && /^\/[^?#]*$/.test(route);
  const parts = isPath ? partsOf(pathnameOf(route)) : [];
  const fixed = parts.at(-1) === '*' ? parts.slice(0, -1) : parts;
  if (!isPath || fixed.some((part) => part.includes('*')))
    throw new TypeError(
      `observeRoutes: ${JSON.stringify(route)} is no route: it must begin with "/", have no query, and "*" only as its last part`,
    );
  return parts;
}

/** @param {string[]} pattern @param {string[]} parts */
function matches(pattern, parts) {
  const isOpen = pattern.at(-1) === '*';
  const fixed = isOpen ? pattern.slice(0, -1) : pattern;
  if (isOpen ? parts.length < fixed.length : parts.length !== fixed.length) return false;
  return fixed.every((part, i) => (part.startsWith(':') ? parts[i] !== '' : part === parts[i]));
}
