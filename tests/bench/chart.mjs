// SPDX-License-Identifier: Apache-2.0
// Curves on logarithmic axes as one SVG picture: panels in a row of three, each with its lines, points and a legend. Plain SVG 1.1,
// no script, no font of its own.

/**
 * @typedef {{name: string, points: [number, number][]}} Line
 * @typedef {{title: string, x: string, y: string, lines: Line[]}} Panel
 */

const WIDTH = 320;
const NOTE_CHARACTER = 6; // of its width, about
const HEIGHT = 240;
const [LEFT, RIGHT, TOP, BOTTOM] = [56, 12, 30, 40];
const COLOURS = ['#1f5fa8', '#c2571a', '#2f7d4f', '#7a4a9e'];

const MARKUP = /** @type {Record<string, string>} */ ({
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
});
/** @param {string} text */
const escape = (text) => text.replace(/[&<>"]/g, (c) => MARKUP[c]);

/** 1500 as 1.5k. @param {number} x */
const short = (x) => {
  for (const [unit, name] of /** @type {[number, string][]} */ ([
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ])) {
    if (x >= unit) return `${Number((x / unit).toPrecision(3))}${name}`;
  }
  return String(Number(x.toPrecision(2)));
};

/** From values to pixels, and where to write numbers: 1, 2 and 5 times powers of ten, or powers alone; more where there is little between. @param {number[]} values @param {number} from @param {number} to */
function axis(values, from, to) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const [a, b] = [Math.log(low / 1.1), Math.log(high * 1.1)];
  const steps =
    high / low > 300 ? [1] : high / low > 3 ? [1, 2, 5] : [1, 1.2, 1.5, 1.8, 2, 3, 5, 7];
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)) - 1; power <= Math.log10(high) + 1; power++) {
    for (const step of steps) {
      const at = step * 10 ** power;
      if (Math.log(at) >= a && Math.log(at) <= b) ticks.push(at);
    }
  }
  return {
    at: (/** @type {number} */ x) => from + ((Math.log(x) - a) / (b - a)) * (to - from),
    ticks,
  };
}

/** @param {number} n */
const px = (n) => n.toFixed(1);

/** @param {Panel} panel @param {number} left @param {number} top */
function drawn({ title, x, y, lines }, left, top) {
  const points = lines.flatMap((line) => line.points);
  const [x0, x1, y0, y1] = [left + LEFT, left + WIDTH - RIGHT, top + HEIGHT - BOTTOM, top + TOP];
  const across = axis(
    points.map(([at]) => at),
    x0,
    x1,
  );
  const up = axis(
    points.map(([, value]) => value),
    y0,
    y1,
  );
  const out = [
    `<text x="${px(x0)}" y="${px(top + 16)}" font-weight="bold">${escape(title)}</text>`,
  ];
  for (const tick of across.ticks) {
    const at = px(across.at(tick));
    out.push(
      `<path d="M${at} ${y0}V${y1}" stroke="#ddd"/><text x="${at}" y="${px(y0 + 14)}" text-anchor="middle">${short(tick)}</text>`,
    );
  }
  for (const tick of up.ticks) {
    const at = up.at(tick);
    out.push(
      `<path d="M${x0} ${px(at)}H${x1}" stroke="#ddd"/><text x="${px(x0 - 4)}" y="${px(at + 4)}" text-anchor="end">${short(tick)}</text>`,
    );
  }
  out.push(`<path d="M${x0} ${y1}V${y0}H${x1}" fill="none" stroke="#333"/>`);
  out.push(
    `<text x="${px((x0 + x1) / 2)}" y="${px(y0 + 30)}" text-anchor="middle">${escape(x)}</text>`,
  );
  out.push(
    `<text transform="translate(${px(left + 12)} ${px((y0 + y1) / 2)}) rotate(-90)" text-anchor="middle">${escape(y)}</text>`,
  );
  lines.forEach((line, i) => {
    const colour = COLOURS[i % COLOURS.length];
    const path = line.points.map(([at, value]) => `${px(across.at(at))} ${px(up.at(value))}`);
    out.push(`<path d="M${path.join('L')}" fill="none" stroke="${colour}" stroke-width="1.5"/>`);
    for (const point of path)
      out.push(
        `<circle cx="${point.split(' ')[0]}" cy="${point.split(' ')[1]}" r="2.5" fill="${colour}"/>`,
      );
    out.push(
      `<text x="${px(x0 + 6)}" y="${px(y1 + 12 + 13 * i)}" fill="${colour}">${escape(line.name)}</text>`,
    );
  });
  return out.join('\n');
}

/** Lines of at most so many characters, cut between words. @param {string} text @param {number} most */
function folded(text, most) {
  /** @type {string[]} */
  const lines = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < most)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** @param {Panel[]} panels @param {string} note below all @returns {string} */
export function chart(panels, note) {
  const columns = Math.min(3, panels.length);
  const lines = folded(note, (columns * WIDTH) / NOTE_CHARACTER);
  const panelsEnd = Math.ceil(panels.length / columns) * HEIGHT;
  const [width, height] = [columns * WIDTH, panelsEnd + 6 + 14 * lines.length];
  const body = panels.map((panel, i) =>
    drawn(panel, (i % columns) * WIDTH, Math.floor(i / columns) * HEIGHT),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">
<rect width="${width}" height="${height}" fill="#fff"/>
${body.join('\n')}
${lines.map((line, i) => `<text x="8" y="${panelsEnd + 14 * (i + 1)}" fill="#555">${escape(line)}</text>`).join('\n')}
</svg>
`;
}
