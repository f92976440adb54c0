// SPDX-License-Identifier: Apache-2.0
// What the elements share: making nodes, strings of a language, numbers, and text that a page or a
// server wrote. Touches no global before an element is connected.

import look from './look.css';

/**
 * @typedef {{[key: string]: string}} Strings a language: `dir`, and a template for each key
 * @typedef {Node | string | null | undefined | false} Child
 * @typedef {object} Reports the calls of a client that the elements make: `start` and `init` give them
 * @property {{readonly state: string, grant: () => Promise<string>, withdraw: () => Promise<string>,
 *   asks: () => Promise<any[]>}} consent
 * @property {() => Promise<any[]>} reports
 * @property {() => Promise<any[]>} ledger
 * @property {() => Promise<any[]>} log
 * @property {() => Promise<any[]>} explain
 * @property {() => Promise<void>} erase
 * @typedef {object} Part what an element's own module gives it
 * @property {() => unknown} update draws again what has changed
 * @property {() => void} stop the element left the page
 * @property {() => unknown} [open] shows what is asked, whatever was answered
 * @typedef {HTMLElement & {shadowRoot: ShadowRoot, client: Reports | null, options: any}} Host
 */

const SVG = 'http://www.w3.org/2000/svg';
// Controls, and marks that turn the direction of text round. A hostile name must not reorder a page.
const UNSAFE =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;
const SHOWN = 120;

/**
 * Makes an element. Attributes that are false, null or undefined are left out; functions listen.
 * @param {string} name an SVG element where it begins with `svg:`
 * @param {{[name: string]: any}} [attributes]
 * @param {Child[]} children
 * @returns {any}
 */
export function h(name, attributes = {}, ...children) {
  const element = name.startsWith('svg:')
    ? document.createElementNS(SVG, name.slice(4))
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(key, value);
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

/** Tells all elements of the page that one of them changed something. */
export const changed = () => void document.dispatchEvent(new Event('shoal-change'));

/** Text that others wrote, without what could disturb a page. @param {unknown} text */
export function plain(text, most = SHOWN) {
  const points = [...String(text).replace(UNSAFE, '\uFFFD')];
  return points.length > most ? `${points.slice(0, most - 1).join('')}…` : points.join('');
}

/** @typedef {{default: Strings, reasons: Strings}} Language strings, and reasons of explain() by code */
/** @param {string} code @returns {Promise<Language>} */
const load = (code) => import(`./lang/${code}.js`); // the build lists the files

/** The words of a language. */
export class Words {
  /** @param {string} code @param {Language} language */
  constructor(code, { default: strings, reasons }) {
    this.code = code;
    this.strings = strings;
    this.reasons = reasons;
    this.dir = strings.dir;
  }

  /** A number as the language writes it. @param {number} number @param {Intl.NumberFormatOptions} [options] */
  number = (number, options) =>
    number.toLocaleString(this.code, { maximumFractionDigits: 2, ...options });

  /**
   * Fills in a template. A text keeps to itself, whatever its direction is.
   * @param {string} key @param {{[name: string]: unknown}} [values]
   */
  say = (key, values = {}) =>
    this.strings[key]?.replace(/\{(\w+)\}/g, (all, name) => {
      const value = values[name];
      return value === undefined
        ? all
        : typeof value === 'number'
          ? this.number(value)
          : `\u2068${plain(value)}\u2069`;
    }) ?? '';

  /** What an epsilon promises. @param {import('../../wasm/client/verdict.js').Guess} guess */
  promise = ({ code, right, isAll }) => {
    const words = this.strings[code];
    const text = this.say(isAll ? 'guessAll' : 'guess', { right }).replace('{words}', words);
    return text[0].toLocaleUpperCase(this.code) + text.slice(1);
  };
}

/**
 * Loads the words of an element's language: of its own attribute `lang`, or of the page.
 * @param {Element} host
 * @returns {Promise<Words>}
 */
export async function wordsOf(host) {
  const page = host.closest('[lang]') ?? host.ownerDocument.documentElement;
  /** @type {{[code: string]: Language}} */
  const added = /** @type {any} */ (host.constructor).languages;
  const tag = (page.getAttribute('lang') || 'en').toLowerCase();
  for (const code of [tag, tag.split('-')[0]]) {
    try {
      const own = Object.hasOwn(added, code) && added[code];
      // A language that a page added may lack a string of a later version.
      const strings = own && { ...(await load('en')).default, ...own.default };
      return new Words(tag, strings ? { ...own, default: strings } : await load(code));
    } catch {} // no such language
  }
  return new Words('en', await load('en'));
}

/** @param {string} css */
function sheetOf(css) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  return sheet;
}

/** @type {{[name: string]: CSSStyleSheet[]}} */
const sheets = {};

/**
 * Makes an element's styles its own, once for all elements of its kind.
 * @param {Host} host @param {string[]} css
 */
export function adopt(host, ...css) {
  const { shadowRoot: root } = host;
  sheets[host.localName] ??= [root.adoptedStyleSheets[0], ...[look, ...css].map(sheetOf)];
  root.adoptedStyleSheets = sheets[host.localName];
}
