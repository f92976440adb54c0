// SPDX-License-Identifier: Apache-2.0
// One record as what it is: some bits or numbers, most of them chance. It reads the report alone.
import { shape } from './element.js';

const DRAWN_MAX = 4096;

/** The bits of a record whose last part is hexadecimal; null for other shapes. @param {any} report */
export function bitsOf({ parameters, records: [text] }) {
  const { m, g, bits, size, f } = parameters;
  if (text.includes(';')) return null; // several answers in one record
  const width = g === undefined ? (m ?? (f === undefined ? size : (bits ?? size))) : undefined;
  const hex = text.split(',').at(-1);
  if (width === undefined || !/^[0-9a-f]+$/.test(hex) || hex.length !== 2 * Math.ceil(width / 8))
    return null;
  return Array.from(
    { length: width },
    (_, i) => (parseInt(hex.slice(2 * (i >> 3), 2 * (i >> 3) + 2), 16) >> (i & 7)) & 1,
  );
}

/** @param {number[]} bits */
export function picture(bits) {
  const shown = bits.slice(0, DRAWN_MAX);
  const side = Math.ceil(Math.sqrt(shown.length));
  const height = Math.ceil(shown.length / side);
  const path = shown
    .map((bit, i) => (bit ? `M${(i % side) * 4} ${Math.floor(i / side) * 4}h3v3h-3z` : ''))
    .join('');
  const lit = bits.reduce((sum, bit) => sum + bit, 0);
  const box = { x: -1, y: -1, width: side * 4 + 1, height: height * 4 + 1 };
  return shape(
    'svg',
    {
      class: 'picture',
      viewBox: Object.values(box).join(' '),
      role: 'img',
      'aria-label': `The ${bits.length.toLocaleString('en-US')} bits of your record; ${lit} are set`,
    },
    shape('rect', { class: 'sheet', ...box }),
    shape('path', { class: 'lit', d: path }),
  );
}

/** @param {any} report @param {number} epsilon */
export function saying(report, epsilon) {
  const bits = bitsOf(report);
  const times = Math.exp(epsilon);
  const odds =
    times < 100 ? times.toPrecision(2) : Number(times.toPrecision(2)).toLocaleString('en-US');
  const what = bits
    ? `This is one noisy record: ${bits.length.toLocaleString('en-US')} bits, each of which chance may have turned.`
    : `This is one noisy record: “${report.records[0].slice(0, 60)}”.`;
  return `${what} The same record could have come of anything else; with any other value it is at most ${odds} times less likely (epsilon ${epsilon}). Alone it says little. The chart beside shows what many such records say together.`;
}
