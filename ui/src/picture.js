// SPDX-License-Identifier: Apache-2.0
// Draws the cells of a record.
import { h } from './base.js';
import { pathsOf } from './record.js';

/**
 * @param {Uint8Array} cells
 * @param {string} label what a screen reader says
 * @param {Element} [more] drawn on top
 */
export function pictureOf(cells, label, more) {
  const { box, dark, lit } = pathsOf(cells);
  return h(
    'svg',
    { viewBox: box, role: 'img', 'aria-label': label },
    // If there are few cells, the dark ones are drawn too, so that they can be counted.
    cells.length <= 512 && h('path.dark', { d: dark }),
    h('path.lit', { d: lit }),
    more,
  );
}
