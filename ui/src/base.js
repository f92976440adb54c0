// SPDX-License-Identifier: Apache-2.0
// What the elements share: making nodes, strings of a language, numbers, and text that a page or a
// server wrote. Touches no global before an element is connected.

import languages from '#languages';
import { guessOf } from '../../wasm/client/verdict.js';

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
const SVG_NAMES = /^(svg|path)$/;
const HTML = 'http://www.w3.org/1999/xhtml';
// Controls, and marks that turn the direction of text round. A hostile name must not reorder a page.
const UNSAFE = /[^\P{C}\n]|[\u2028\u2029]/gu;
const SHOWN = 120;

/**
 * Makes an element. Attributes that are false, null or undefined are left out; functions listen.
 * @param {string} kind a name with classes, as `p.soft`; `svg` and `path` are of SVG
 * @param {any} [attributes] or the first child
 * @param {Child[]} children
 * @returns {any}
 */
export function h(kind, attributes, ...children) {
  const [name, ...classes] = kind.split('.');
  const element = document.createElementNS(SVG_NAMES.test(name) ? SVG : HTML, name);
  element.classList.add(...classes);
  if (attributes?.constructor !== Object) children.unshift(attributes);
  else
    for (const [key, value] of Object.entries(attributes))
      if (typeof value === 'function') element.addEventListener(key, value);
      else if (value !== false && value != null) element.setAttribute(key, value);
  for (const child of children) if (child) element.append(child);
  return element;
}

/** A button. @param {Words} words @param {string} key of its string, and its id @param {() => unknown} click */
export const button = (words, key, click) => h('button', { id: key, click }, words.say(key));

/**
 * What an element remembers on this device; nothing where the browser refuses that.
 * @param {string} key @param {string} [value] to write
 */
export function memory(key, value) {
  try {
    if (value) localStorage[key] = value;
    return localStorage[key] ?? '';
  } catch {
    return '';
  }
}

/** Does a state of consent let what was agreed to go on? @param {string} state */
export const isOn = (state) => state === 'granted' || state === 'outdated';

/** Tells all elements of the page that one of them changed something. */
export const changed = () => void document.dispatchEvent(new Event('shoal-change'));

/** Text that others wrote, without what could disturb a page. @param {unknown} text */
export function plain(text, most = SHOWN) {
  const points = [...String(text).replace(UNSAFE, '\uFFFD')];
  return points.length > most ? `${points.slice(0, most - 1).join('')}…` : points.join('');
}

/** @typedef {{default: Strings, reasons: Strings}} Language strings, and reasons of explain() by code */
/** @param {string} code @returns {Promise<Language>} */
const load = (code) => languages[code]();

/** @typedef {ReturnType<typeof wordsIn>} Words the words of a language */
/** @param {string} tag @param {Language} language */
function wordsIn(tag, { default: strings, reasons }) {
  /**
   * Fills in a template. A text keeps to itself, whatever its direction is.
   * @param {string} key @param {{[name: string]: unknown}} [values]
   */
  const say = (key, values = {}) =>
    strings[key]?.replace(/\{(\w+)\}/g, (all, name) => {
      const value = values[name];
      return value === undefined
        ? all
        : typeof value === 'number'
          ? value.toLocaleString(tag, { maximumFractionDigits: 2 })
          : `\u2068${plain(value)}\u2069`;
    }) ?? '';
  /** What an epsilon promises. @param {number} micro in millionths */
  const promise = (micro) => {
    const { code, right, isAll } = guessOf(Math.round(micro));
    const text = say(isAll ? 'guessAll' : 'guess', { right }).replace('{words}', strings[code]);
    return text[0].toLocaleUpperCase(tag) + text.slice(1);
  };
  return { tag, reasons, say, promise };
}

/**
 * Loads the words of an element's language: of its own attribute `lang`, or of the page.
 * @param {Element} host
 * @returns {Promise<Words>}
 */
export async function wordsOf(host) {
  const page = host.closest('[lang]') ?? document.documentElement;
  /** @type {{[code: string]: Language}} */
  const added = /** @type {any} */ (host.constructor).languages;
  const tag = (page.getAttribute('lang') || 'en').toLowerCase();
  for (const code of [tag, tag.split('-')[0]]) {
    try {
      const own = added[code];
      // A language that a page added may lack a string of a later version.
      const all = own && { ...own, default: { ...(await load('en')).default, ...own.default } };
      return wordsIn(tag, all ?? (await load(code)));
    } catch {} // no such language
  }
  return wordsIn('en', await load('en'));
}
