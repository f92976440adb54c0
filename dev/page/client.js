// SPDX-License-Identifier: Apache-2.0
// Stands in for the client's loader in a trial: the same client, with the trial's recipes, endpoint and
// relay in place of the page's. It tells the trial page, in this browser, what was done and what left,
// and tells the simulated crowd what to do, too. The crowd is the page's side: neither edge nor
// aggregator is told.
import { start as startClient } from '/shoal/loader.js';

/**
 * @typedef {{recipe: string | null, code: string}} Outcome
 * @typedef {{recipe: string, stream: string, value: string, values: string[] | null}} About
 */

const channel = new BroadcastChannel('shoal-trial');
const config = await (await fetch('/trial/config.json')).json();

/** @param {string} what @param {object} data */
const post = (what, data) =>
  fetch(`/trial/${what}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(data),
  }).catch(() => {}); // the trial has ended

/** Tells what leaves, as it leaves. @type {typeof fetch} */
const watchedFetch = async (input, init) => {
  const response = await fetch(input, init);
  if (init?.method === 'POST') {
    const body = /** @type {any} */ (init.body);
    const bytes =
      typeof body === 'string' ? new TextEncoder().encode(body).length : body.byteLength;
    void post('left', { bytes, sealed: config.relay !== null });
  }
  return response;
};

/**
 * Says what became of an event. A value that was queued is told to the crowd; any other code, to the
 * trial page, with its reason.
 * @param {any} shoal @param {Outcome[]} outcomes @param {(about: About) => string | null} valueOf
 */
async function tell(shoal, outcomes, valueOf) {
  for (const { recipe, code } of outcomes) {
    const about = config.about.find((/** @type {About} */ each) => each.recipe === recipe);
    const value = about ? valueOf(about) : null;
    if (code !== 'queued') {
      const reasons = await shoal.explain();
      const reason = reasons.find((/** @type {any} */ each) => each.code === code);
      channel.postMessage({ what: 'not', recipe, code, text: reason?.text ?? '' });
    } else if (about && value !== null) {
      void post('done', { recipe, value });
      const reports = await shoal.reports();
      const own = reports.filter((/** @type {any} */ { report }) => report.key === recipe);
      channel.postMessage({ what: 'own', recipe, value, report: own[0]?.report });
    }
  }
  return outcomes;
}

/** @param {string} url @returns {string | null} */
function hostOf(url) {
  try {
    return new URL(/^[^\s:/@?#\\]+$/.test(url) ? `https://${url}` : url).hostname;
  } catch {
    return null;
  }
}

/** A value as results name it: an entry of a list may be recorded by its place. @param {any} about @param {any} value @returns {string | null} */
function entryOf({ values }, value) {
  if (typeof value === 'number' && values) return values[value] ?? null;
  return value === null || value === undefined ? null : String(value);
}

// A link to elsewhere is reported by the page, and not followed: the trial stays open.
document.addEventListener(
  'click',
  (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
    if (link instanceof HTMLAnchorElement && link.host !== location.host) event.preventDefault();
  },
  true,
);

/** Words of a text, as a person sees them. @param {string} text */
const wordsOf = (text) => text.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}'’-]*/gu) ?? [];

/** @param {any} options of the page; what belongs to its real recipes is left out */
export function start({ endpoint, recipes, site, keys, runs, policy, relay, log, ...rest }) {
  const { relay: through, logKey } = config;
  const shoal = startClient({
    ...rest,
    endpoint: config.endpoint,
    recipes: config.recipes,
    ...(through && {
      relay: through,
      log: { url: new URL('/log', location.href).href, key: logKey },
    }),
    fetch: watchedFetch,
  });
  const type = (/** @type {string} */ text) =>
    wordsOf(text).reduce(
      async (/** @type {Promise<Outcome[]>} */ before, word) => [
        ...(await before),
        ...(await shoal
          .type(word)
          .then((/** @type {Outcome[]} */ outcomes) => tell(shoal, outcomes, () => word))),
      ],
      Promise.resolve([]),
    );
  return {
    ...shoal,
    type,
    /** @param {string} stream @param {any} value */
    record: async (stream, value) =>
      tell(shoal, await shoal.record(stream, value), (about) => entryOf(about, value)),
    /** @param {string} url */
    visit: async (url) => {
      const host = hostOf(url);
      const { siteOf } = await import('/shoal/site.js');
      return tell(shoal, await shoal.visit(url), (about) =>
        host !== null && about.value === 'site' ? siteOf(host) : host,
      );
    },
    /** @param {Element} element @param {(word: string) => unknown} [take] */
    observe: (element, take) =>
      shoal.observe(element, take ?? ((/** @type {string} */ word) => void type(word))),
  };
}
