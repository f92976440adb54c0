// SPDX-License-Identifier: Apache-2.0
// What uPlot is told to draw: a line with its band for each value, the intervals of the chosen one
// as whiskers, periods below and shares at the left. Colours come from the page's style, so that
// they follow a dark scheme and forced colours; dashes tell the lines apart without colour.
import uPlot from 'uplot';
import { lineOf, PARTS } from './chart_table.js';

/** Dashes of the lines, in CSS pixels. */
export const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3], [4, 2], [12, 4]];
const dash = (/** @type {number} */ value) => DASHES[value % DASHES.length];

/**
 * @typedef {object} Paint colours as CSS says them, and the text's size
 * @property {string[]} lines
 * @property {string} text
 * @property {string} grid
 * @property {number} size CSS pixels
 *
 * @typedef {object} Wishes what the drawing asks and tells
 * @property {import('./chart_table.js').Figures} figures
 * @property {Paint} paint
 * @property {boolean[]} shown by value
 * @property {() => number} chosen the value whose intervals are drawn
 * @property {(period: number) => void} points the cursor is at a period
 * @property {(first: number, last: number) => void} zooms
 */

/** The same colour, let through. @param {string} colour `rgb(r, g, b)` @param {number} alpha */
export const faint = (colour, alpha) =>
  colour.replace(/^rgba?\(([^,]+,[^,]+,[^,)]+).*$/, `rgba($1, ${alpha})`);

/** The x scale that has these periods, with some room at its sides. @param {number} first @param {number} last */
export function windowOf(first, last) {
  const room = 0.03 * (last - first);
  return { min: first - room, max: last + room };
}

/** Series and bands of all values. @param {Wishes} w */
function seriesOf({ figures, paint, shown }) {
  const width = 2;
  /** @type {uPlot.Series[]} */
  const series = [{}];
  /** @type {uPlot.Band[]} */
  const bands = [];
  figures.names.forEach((_, value) => {
    const stroke = paint.lines[value];
    const points = { size: 6, fill: stroke, stroke };
    series.push({ stroke, width, dash: dash(value), points, show: shown[value] });
    for (let part = 1; part < PARTS; part++)
      series.push({ points: { show: false }, show: shown[value] });
    const line = lineOf(value);
    bands.push({ series: [line + 1, line + 2], fill: faint(stroke, 0.13) });
  });
  return { series, bands };
}

/** Draws the intervals of the chosen value. @param {uPlot} u @param {Wishes} w */
function drawWhiskers(u, { chosen, paint, shown }) {
  const line = lineOf(chosen());
  if (!shown[chosen()]) return;
  const { ctx } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
  ctx.clip();
  ctx.beginPath();
  u.data[line + 1].forEach((high, i) => {
    const low = u.data[line + 2][i];
    if (high == null || low == null) return;
    const x = u.valToPos(i, 'x', true);
    ctx.moveTo(x, u.valToPos(high, 'y', true));
    ctx.lineTo(x, u.valToPos(low, 'y', true));
  });
  ctx.strokeStyle = paint.lines[chosen()];
  ctx.lineWidth = 1.5 * uPlot.pxRatio;
  ctx.stroke();
  ctx.restore();
}

/** A name of a period that is short enough for an axis: its first day. @param {string | undefined} name */
const short = (name) => name?.split(' ')[0] ?? '';

/** @param {Wishes} w @returns {uPlot.Axis[]} */
function axesOf({ figures, paint }) {
  const font = `${paint.size}px system-ui, sans-serif`;
  const look = { stroke: paint.text, font, ticks: { show: false } };
  const label = (/** @type {number} */ x) =>
    `${x.toLocaleString('en', { maximumFractionDigits: 6 }).replace('-', '\u2212')}${figures.unit && `\u202f${figures.unit}`}`;
  return [
    {
      ...look,
      size: 1.9 * paint.size,
      space: 8 * paint.size,
      grid: { show: false },
      incrs: [1, 2, 5, 10, 20, 50, 100, 200],
      values: (_u, splits) => splits.map((x) => short(figures.periods[x]?.name)),
    },
    {
      ...look,
      size: (_u, labels) =>
        10 + 0.62 * paint.size * Math.max(3, ...(labels ?? []).map((each) => `${each}`.length)),
      space: 3 * paint.size,
      grid: { stroke: paint.grid, width: 1 },
      values: (_u, splits) => splits.map(label),
    },
  ];
}

/**
 * The values' scale: as the pictures of the page without scripts, it has zero and all that is shown.
 * @param {uPlot} _u @param {number | null} low @param {number | null} high @returns {uPlot.Range.MinMax}
 */
function holdZero(_u, low, high) {
  const bottom = Math.min(0, low ?? 0);
  const top = Math.max(0, high ?? 0);
  return top > bottom ? [bottom, top + 0.05 * (top - bottom)] : [bottom, bottom + 1];
}

/** @param {Wishes} w @param {{width: number, height: number}} size @returns {uPlot.Options} */
export function optionsOf(w, size) {
  const last = w.figures.periods.length - 1;
  const whole = windowOf(0, last);
  const select = (/** @type {uPlot} */ u) => {
    const { left, width } = u.select;
    if (width === 0) return;
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    w.zooms(u.posToVal(left, 'x'), u.posToVal(left + width, 'x'));
  };
  return {
    ...size,
    ...seriesOf(w),
    axes: axesOf(w),
    padding: [w.paint.size / 2, 3.2 * w.paint.size, 0, 0],
    legend: { show: false },
    scales: {
      // A double click asks for all data, without the room at the sides.
      x: {
        time: false,
        range: (_u, a, b) => (a === 0 && b === last ? [whole.min, whole.max] : [a, b]),
      },
      y: { range: holdZero },
    },
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false, dist: 6 },
      points: { size: (_u, i) => (i % PARTS === 1 ? 10 : 0) },
    },
    hooks: {
      setCursor: [(u) => u.cursor.idx != null && w.points(u.cursor.idx)],
      setSelect: [select],
      draw: [(u) => drawWhiskers(u, w)],
    },
  };
}
