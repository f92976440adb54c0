// SPDX-License-Identifier: Apache-2.0
// The crowd's histograms, fetched again every few seconds from the page's own server, which asks the aggregator.
import { histogram, rowsOf } from './histogram.js';
import { h, toDom } from './tree.js';

/** @typedef {{title: string, recipe: string, url: string}} Crowd */

const EVERY_MS = 3000;

/**
 * Draws every crowd into `parent` and keeps them up to date while the page is visible.
 * @param {Element} parent @param {Crowd[]} crowds
 */
export function watchCrowd(parent, crowds) {
  for (const crowd of crowds) {
    const place = toDom(h('section', { class: 'histogram', 'aria-label': crowd.title },
      h('h3', {}, crowd.title), h('p', { class: 'n' }, 'Asking the aggregator …'), h('div', { class: 'chart' })), document);
    parent.append(place);
    let last = '';
    const ask = async () => {
      if (document.visibilityState !== 'hidden') last = await draw(/** @type {Element} */ (place), crowd.url, last);
      setTimeout(ask, EVERY_MS);
    };
    void ask();
  }
}

/** @param {Element} place @param {string} url @param {string} last what is drawn already @returns {Promise<string>} */
async function draw(place, url, last) {
  const n = /** @type {Element} */ (place.querySelector('.n'));
  try {
    const response = await fetch(url, { cache: 'no-store' });
    const text = await response.text();
    if (text === last) return last;
    const result = JSON.parse(text);
    if (result.error?.code === 'cohort') {
      n.textContent = 'Fewer reports than the recipe\'s minimum cohort: nothing is shown until more have come.';
      return text;
    }
    const rows = rowsOf(result);
    place.querySelector('.chart')?.replaceChildren(toDom(histogram(rows), document));
    n.textContent = `${Number(result.n).toLocaleString('en-US')} private records, epsilon ${Number(result.epsilon)}`;
    return text;
  } catch {
    n.textContent = 'The aggregator does not answer at the moment.';
    return '';
  }
}
