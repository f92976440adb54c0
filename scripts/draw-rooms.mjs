// SPDX-License-Identifier: Apache-2.0
// Draws the rooms of the tree and their includes as SVG: the core at the bottom, the aggregator and
// the JavaScript above it. A room is above every room that it includes. An arrow that points
// upwards would be a mistake of the code, and is drawn red. Dark arrows are includes that no path
// through other rooms implies; all others are light.

const BOX = { width: 118, height: 30, gapX: 58, gapY: 42 };
const PART_GAP = 48;
const MARGIN = 24;
const TITLE = 26;

/** @typedef {{ name: string, x: number, y: number }} Box */

/** `aggregator/base/` is drawn in the part `aggregator` as "base". @param {string} name */
const partOf = (name) =>
  name.startsWith('core/')
    ? 'core'
    : name.startsWith('aggregator/') && name !== 'aggregator/js/'
      ? 'aggregator'
      : 'javascript';
const labelOf = (/** @type {string} */ name) =>
  partOf(name) === 'javascript' ? name.replace(/\/$/, '') : name.split('/')[1];

/**
 * Returns the length of the longest path down from each room, within its part.
 * @param {string[]} names
 * @param {Map<string, Set<string>>} graph
 */
function levelsOf(names, graph) {
  /** @type {Map<string, number>} */
  const levels = new Map();
  // The table lists rooms from the lowest up, so every room that this one includes has its level
  // already. An include of a room above it has none, and is ignored.
  for (const name of names) {
    const below = [...(graph.get(name) ?? [])].map((other) => levels.get(other) ?? -1);
    levels.set(name, 1 + Math.max(-1, ...below));
  }
  return levels;
}

/**
 * Returns whether a path of at least two includes leads from one room to another.
 * @param {Map<string, Set<string>>} graph
 * @param {string} from
 * @param {string} to
 */
function hasDetour(graph, from, to) {
  const seen = new Set();
  const open = [...(graph.get(from) ?? [])].filter((next) => next !== to);
  while (open.length > 0) {
    const next = /** @type {string} */ (open.pop());
    if (next === to) return true;
    if (!seen.has(next)) open.push(...(graph.get(next) ?? []));
    seen.add(next);
  }
  return false;
}

/** Places the rooms of one part in rows, the lowest at the bottom. */
function layOut(/** @type {string[]} */ names, /** @type {Map<string, number>} */ levels) {
  const rows = Math.max(...levels.values()) + 1;
  const widest = Math.max(
    ...Array.from({ length: rows }, (_, row) => names.filter((n) => levels.get(n) === row).length),
  );
  const width = widest * (BOX.width + BOX.gapX) - BOX.gapX;
  const height = rows * (BOX.height + BOX.gapY) - BOX.gapY;
  const boxes = names.map((name) => {
    const row = names.filter((other) => levels.get(other) === levels.get(name));
    const step = width / row.length;
    // Rows are shifted a little against one another, so that long arrows pass beside boxes.
    const shift = row.length < widest ? (((levels.get(name) ?? 0) % 3) - 1) * (BOX.width / 3) : 0;
    return {
      name,
      x: step * (row.indexOf(name) + 0.5) - BOX.width / 2 + shift,
      y: height - BOX.height - (levels.get(name) ?? 0) * (BOX.height + BOX.gapY),
    };
  });
  return { boxes, width: width + BOX.width, height };
}

/** @param {Box} from @param {Box} to @param {string} kind */
function arrow(from, to, kind) {
  const [x1, y1] = [from.x + BOX.width / 2, from.y + BOX.height];
  const [x2, y2] = [to.x + BOX.width / 2, to.y - 3];
  const bend = Math.max(14, (y2 - y1) / 2.5);
  const way = `M${x1.toFixed(0)} ${y1.toFixed(0)}C${x1.toFixed(0)} ${(y1 + bend).toFixed(0)} ${x2.toFixed(0)} ${(y2 - bend).toFixed(0)} ${x2.toFixed(0)} ${y2.toFixed(0)}`;
  return `<path class="${kind}" d="${way}" marker-end="url(#${kind})"/>`;
}

const STYLE = `
svg { background: #fff; font: 13px system-ui, sans-serif }
text { text-anchor: middle; fill: #1d2733 }
.part { font-weight: 600; text-anchor: start }
rect { fill: #eef3f8; stroke: #52708f }
path { fill: none }
.main { stroke: #52708f; stroke-width: 1.4 }
.rest { stroke: #b9c6d3; stroke-width: 0.8 }
.up { stroke: #c62828; stroke-width: 2 }
.parts { stroke: #1d2733; stroke-width: 2.5 }
@media (prefers-color-scheme: dark) {
  svg { background: #14181d }
  text { fill: #e3e9ef }
  rect { fill: #22303e; stroke: #86a5c4 }
  .main { stroke: #86a5c4 }
  .rest { stroke: #405264 }
  .up { stroke: #ff6b6b }
  .parts { stroke: #e3e9ef }
}`;

const marker = (/** @type {string} */ kind) =>
  `<marker id="${kind}" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="${kind}" d="M1 1L6 4L1 7"/></marker>`;

/** The arrows inside one part, those that other rooms imply first, so that the others lie on top. */
function arrowsOf(
  /** @type {Map<string, Box>} */ boxes,
  /** @type {Map<string, Set<string>>} */ graph,
  /** @type {string[]} */ order,
) {
  /** @type {{ kind: string, path: string }[]} */
  const arrows = [];
  for (const [from, targets] of graph) {
    for (const to of targets) {
      if (partOf(from) !== partOf(to)) continue;
      const isUp = order.indexOf(to) > order.indexOf(from);
      const kind = isUp ? 'up' : hasDetour(graph, from, to) ? 'rest' : 'main';
      arrows.push({
        kind,
        path: arrow(/** @type {Box} */ (boxes.get(from)), /** @type {Box} */ (boxes.get(to)), kind),
      });
    }
  }
  const rank = ['rest', 'main', 'up'];
  return arrows.sort((a, b) => rank.indexOf(a.kind) - rank.indexOf(b.kind)).map(({ path }) => path);
}

/** @typedef {{ boxes: Box[], width: number, height: number, x: number, y: number, title: string }} Place */

/**
 * Lays out the rooms of one part. Includes of other parts are ignored.
 * @param {string} part
 * @param {string[]} order
 * @param {Map<string, Set<string>>} graph
 */
function layOutPart(part, order, graph) {
  const names = order.filter((name) => partOf(name) === part);
  const inside = new Map(
    names.map((name) => [
      name,
      new Set([...(graph.get(name) ?? [])].filter((to) => partOf(to) === part)),
    ]),
  );
  return layOut(names, levelsOf(names, inside));
}

/** Places the parts: the core below the middle of the other two. @returns {Place[]} */
function placeParts(/** @type {string[]} */ order, /** @type {Map<string, Set<string>>} */ graph) {
  const [core, aggregator, javascript] = ['core', 'aggregator', 'javascript'].map((part) =>
    layOutPart(part, order, graph),
  );
  const floor = MARGIN + TITLE + Math.max(aggregator.height, javascript.height);
  const right = MARGIN + aggregator.width + PART_GAP;
  const middle = (MARGIN + right + javascript.width) / 2;
  return [
    { ...core, x: middle - core.width / 2, y: floor + PART_GAP + TITLE, title: 'core/' },
    { ...aggregator, x: MARGIN, y: floor - aggregator.height, title: 'aggregator/' },
    {
      ...javascript,
      x: right,
      y: floor - javascript.height,
      title: 'JavaScript and its WebAssembly',
    },
  ];
}

/** The arrow from a part to the core. @param {Place} core @param {Place} part */
function partArrow(core, { x, y, width, height }) {
  const at = x + width / 2;
  const to = Math.min(core.x + core.width - BOX.width, Math.max(core.x + BOX.width, at));
  const way = `M${at.toFixed(0)} ${y + height + 8}L${to.toFixed(0)} ${core.y - 10}`;
  return `<path class="parts" d="${way}" marker-end="url(#parts)"/>`;
}

/** @param {Box} box */
const boxShape = ({ name, x, y }) =>
  `<rect x="${x.toFixed(0)}" y="${y.toFixed(0)}" width="${BOX.width}" height="${BOX.height}" rx="5"/>` +
  `<text x="${(x + BOX.width / 2).toFixed(0)}" y="${(y + 20).toFixed(0)}">${labelOf(name)}</text>`;

/**
 * @param {{ name: string }[]} rooms from the lowest up
 * @param {Map<string, Set<string>>} graph which room includes which
 * @returns {string} SVG
 */
export function drawRooms(rooms, graph) {
  const order = rooms.map(({ name }) => name);
  const places = placeParts(order, graph);
  const boxes = places.flatMap(({ boxes: own, x, y }) =>
    own.map((box) => ({ name: box.name, x: box.x + x + BOX.width / 2, y: box.y + y })),
  );
  const byName = new Map(boxes.map((box) => [box.name, box]));
  const width = Math.round(Math.max(...places.map((place) => place.x + place.width)) + MARGIN);
  const height = Math.round(places[0].y + places[0].height + MARGIN);
  const titles = places.map(
    ({ title, x, y }) => `<text class="part" x="${x.toFixed(0)}" y="${y - 12}">${title}</text>`,
  );
  const label = 'Rooms of the tree and their includes; every arrow points down';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">
<style>${STYLE}
</style>
<defs>${['main', 'rest', 'up', 'parts'].map(marker).join('')}</defs>
${titles.join('\n')}
${arrowsOf(byName, graph, order).join('\n')}
${places
  .slice(1)
  .map((part) => partArrow(places[0], part))
  .join('\n')}
${boxes.map(boxShape).join('\n')}
</svg>
`;
}
