// SPDX-License-Identifier: Apache-2.0
// The chart over time of the server's pages. It takes the exact place of the pictures that the
// server drew, which stay below it, unseen, for the page's layout and for print; without this
// script, or if anything in here fails, they are what is seen. It moves nothing by itself.
import uPlot from 'uplot';
import library from 'uplot/dist/uPlot.min.css';
import own from './chart.css';
import { DASHES, optionsOf, windowOf } from './chart_plot.js';
import { lineOf, PARTS, readTable } from './chart_table.js';

const SVG = 'http://www.w3.org/2000/svg';
const HELP =
  'Chart over time. Left and right go through the periods, up and down through the values, plus and minus zoom, escape shows the whole.';

/**
 * Makes an element.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Record<string, string>} attributes @param {...(Node | string)} inside
 * @returns {HTMLElementTagNameMap[T]}
 */
function make(tag, attributes, ...inside) {
  const one = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) one.setAttribute(name, value);
  one.append(...inside);
  return one;
}

/** A piece of a value's line, for the legend. @param {number} value */
function swatch(value) {
  const svg = document.createElementNS(SVG, 'svg');
  const line = document.createElementNS(SVG, 'line');
  for (const [name, place] of Object.entries({ x1: '0', x2: '100%', y1: '50%', y2: '50%' }))
    line.setAttribute(name, place);
  line.setAttribute('stroke-dasharray', DASHES[value % DASHES.length].join(' '));
  svg.setAttribute('aria-hidden', 'true');
  svg.append(line);
  return svg;
}

class Chart {
  /** @type {uPlot | undefined} */
  plot;
  chosen = 0;
  /** @param {HTMLElement} box of the server's pictures @param {import('./chart_table.js').Figures} figures */
  constructor(box, figures) {
    this.figures = figures;
    this.last = figures.periods.length - 1;
    this.at = this.last;
    this.span = [0, this.last];
    this.shown = figures.names.map(() => true);
    this.when = make('p', {});
    this.whole = make('button', { type: 'button', disabled: '' }, 'Whole');
    this.figure = figures.names.map(() => make('span', {}));
    this.buttons = figures.names.map((name, value) =>
      make(
        'button',
        { type: 'button', class: `c${value}`, 'aria-pressed': 'true', title: name },
        swatch(value),
        make('bdi', {}, name),
        this.figure[value],
      ),
    );
    this.field = make('div', {
      class: 'curves-plot',
      tabindex: '0',
      role: 'application',
      'aria-label': HELP,
    });
    this.said = make('p', { class: 'unseen', 'aria-live': 'polite' });
    const names = make('ul', { class: 'curves-names', 'aria-label': 'Values' });
    names.append(...this.buttons.map((button) => make('li', {}, button)));
    const head = make('div', { class: 'curves-head' }, this.when, this.whole);
    this.root = make('div', { class: 'curves' }, head, names, this.field, this.said);
    box.append(this.root);
    this.listen();
    this.draw();
    this.tell();
    box.classList.add('drawn');
  }

  listen() {
    this.whole.addEventListener('click', () => {
      this.zoom(0, this.last);
      this.field.focus(); // the button goes
    });
    this.buttons.forEach((button, value) =>
      button.addEventListener('click', () => this.toggle(value)),
    );
    this.field.addEventListener('keydown', (event) => this.press(event));
    for (const type of /** @type {const} */ (['pointerdown', 'pointermove']))
      this.field.addEventListener(type, (event) => this.touch(event));
    new ResizeObserver(() => this.plot?.setSize(this.room())).observe(this.field);
    for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)'])
      matchMedia(query).addEventListener('change', () => this.draw());
  }

  room() {
    const { clientWidth: width, clientHeight: height } = this.field;
    return { width, height };
  }

  /** Draws anew, in the colours that the page has now. */
  draw() {
    const style = getComputedStyle(this.field);
    const paint = {
      lines: this.buttons.map(
        (button) => getComputedStyle(/** @type {Element} */ (button.firstElementChild)).color,
      ),
      text: style.color,
      grid: style.borderTopColor,
      size: Number.parseFloat(style.fontSize),
    };
    this.plot?.destroy();
    this.plot = new uPlot(
      optionsOf(
        {
          figures: this.figures,
          paint,
          shown: this.shown,
          chosen: () => this.chosen,
          points: (period) => this.tell(period),
          zooms: (first, last) => this.zoom(Math.round(first), Math.round(last)),
        },
        this.room(),
      ),
      /** @type {uPlot.AlignedData} */ (this.figures.columns),
      this.field,
    );
    this.plot.over.addEventListener('dblclick', () => this.zoom(0, this.last));
    this.zoom(this.span[0], this.span[1]);
  }

  /** Shows some periods, two at least. @param {number} first @param {number} last */
  zoom(first, last) {
    if (last - first < 1) return;
    this.span = [Math.max(0, first), Math.min(this.last, last)];
    this.whole.disabled = last - first >= this.last;
    const range = windowOf(this.span[0], this.span[1]);
    this.plot?.batch(() => this.plot?.setScale('x', range)); // at once
  }

  /** Writes the figures of a period. @param {number} [period] */
  tell(period = this.at) {
    this.at = period;
    const { name, reports, cells } = this.figures.periods[period];
    this.when.replaceChildren(make('b', {}, name), ` \u00b7 ${reports} reports`);
    this.figure.forEach((one, value) => (one.textContent = cells[value]));
    this.buttons.forEach((one, value) => one.classList.toggle('chosen', value === this.chosen));
  }

  /** Puts the cursor at a period, in view, and says its figures. @param {number} period */
  go(period) {
    const at = Math.min(this.last, Math.max(0, period));
    const [first, last] = this.span;
    const by = Math.min(0, at - first) || Math.max(0, at - last);
    this.zoom(first + by, last + by);
    const value = this.chosen;
    const y = this.figures.columns[lineOf(value)][at] ?? 0;
    this.plot?.setCursor({
      left: this.plot.valToPos(at, 'x'),
      top: this.plot.valToPos(y, 'y'),
    });
    this.tell(at);
    const { name, cells } = this.figures.periods[at];
    const figure = this.shown[value]
      ? [make('bdi', {}, this.figures.names[value]), ` ${cells[value]}`]
      : ['no value is shown'];
    this.said.replaceChildren(`${name}: `, ...figure);
  }

  /** @param {number} value */
  toggle(value) {
    const isShown = (this.shown[value] = !this.shown[value]);
    this.buttons[value].setAttribute('aria-pressed', `${isShown}`);
    if (isShown) this.chosen = value;
    else if (this.chosen === value) this.choose(1);
    for (let part = 0; part < PARTS; part++)
      this.plot?.setSeries(lineOf(value) + part, { show: isShown });
    this.tell();
  }

  /** Chooses the next value that is shown. @param {1 | -1} step */
  choose(step) {
    const n = this.shown.length;
    for (let i = 1; i < n; i++) {
      const value = (this.chosen + n + step * i) % n;
      if (this.shown[value]) return void (this.chosen = value);
    }
  }

  /** @param {number} factor of the span of periods, around the cursor */
  scale(factor) {
    const [first, last] = this.span;
    const wide = Math.min(this.last, Math.max(1, Math.round((last - first) * factor)));
    const from = Math.min(Math.max(0, Math.round(this.at - wide / 2)), this.last - wide);
    this.zoom(from, from + wide);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const { at } = this;
    /** What each key does, and the period that it leads to. @type {Record<string, () => number | void>} */
    const keys = {
      ArrowLeft: () => at - 1,
      ArrowRight: () => at + 1,
      Home: () => 0,
      End: () => this.last,
      ArrowUp: () => this.choose(-1),
      ArrowDown: () => this.choose(1),
      '+': () => this.scale(0.5),
      '-': () => this.scale(2),
      Escape: () => this.zoom(0, this.last),
    };
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    this.go(keys[event.key]() ?? at);
  }

  /** A finger moves the cursor; one that goes up or down scrolls the page. @param {PointerEvent} event */
  touch({ pointerType, clientX, clientY }) {
    if (pointerType === 'mouse' || !this.plot) return;
    const { left, top } = this.plot.over.getBoundingClientRect();
    this.plot.setCursor({ left: clientX - left, top: clientY - top });
  }
}

for (const box of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('.trends'))) {
  const table = box.parentElement?.querySelector('table[data-unit]');
  if (!(table instanceof HTMLTableElement)) continue;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(library + own);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  new Chart(box, readTable(table));
}
