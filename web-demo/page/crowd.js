// SPDX-License-Identifier: Apache-2.0
// Shows the crowd's histograms and the heat maps of associations. The page fetches them every few
// seconds from its own server, which asks the aggregator.
import { histogram, rowsOf } from './histogram.js';
import { h, toDom } from './tree.js';

/**
 * @typedef {{title: string, recipe: string, url: string, isPicture?: boolean}} Crowd a histogram of
 *   a result, or a picture that was made of one
 */

const EVERY_MS = 3000;

/**
 * Draws every crowd into `parent` and keeps them up to date while the page is visible.
 * @param {Element} parent @param {Crowd[]} crowds
 */
export function watchCrowd(parent, crowds) {
  for (const crowd of crowds) {
    const place = toDom(
      h(
        'section',
        { class: crowd.isPicture ? 'histogram heat' : 'histogram', 'aria-label': crowd.title },
        h('h3', {}, crowd.title),
        h('p', { class: 'n' }, 'Asking the aggregator …'),
        h('div', { class: 'chart' }),
      ),
      document,
    );
    parent.append(place);
    let last = '';
    const ask = async () => {
      if (document.visibilityState !== 'hidden')
        last = await draw(/** @type {Element} */ (place), crowd, last);
      setTimeout(ask, EVERY_MS);
    };
    void ask();
  }
}

/**
 * @param {Element} place
 * @param {Crowd} crowd
 * @param {string} last what is drawn already
 * @returns {Promise<string>}
 */
async function draw(place, { title, url, isPicture }, last) {
  const n = /** @type {Element} */ (place.querySelector('.n'));
  try {
    const response = await fetch(url, { cache: 'no-store' });
    const text = await response.text();
    if (text === last) return last;
    if (isPicture && response.ok) {
      // An image runs nothing and fetches nothing, whatever values the SVG shows.
      place
        .querySelector('.chart')
        ?.replaceChildren(
          toDom(h('img', { src: `${url}?${text.length}-${Date.now()}`, alt: title }), document),
        );
      n.textContent = 'The darker a cell, the more people; each says how sure that is.';
      return text;
    }
    const result = JSON.parse(text);
    if (result.error?.code === 'cohort') {
      n.textContent =
        "Fewer reports than the recipe's minimum cohort: nothing is shown until more have come.";
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
