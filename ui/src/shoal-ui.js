// SPDX-License-Identifier: Apache-2.0
// What a page embeds: defines <shoal-consent>, <shoal-panel> and <shoal-try>. Each loads its own
// module when it is on a page. Importing this where there is no page, as on a server, does nothing.
import css from './host.css';

/**
 * @typedef {import('./base.js').Host} Host
 * @typedef {import('./base.js').Part} Part
 */

/** @type {{[name: string]: () => Promise<{part: (host: any) => Promise<Part>}>}} */
const PARTS = {
  'shoal-consent': () => import('./consent.js'),
  'shoal-panel': () => import('./panel.js'),
  'shoal-try': () => import('./try.js'),
};

const Base = globalThis.HTMLElement ?? Object;
/** @type {CSSStyleSheet | undefined} */
let sheet;
/** Languages that a page added, by code. @type {{[code: string]: import('./base.js').Language}} */
const languages = {};

class ShoalElement extends Base {
  static languages = languages;
  static observedAttributes = ['lang', 'mode', 'epsilon'];
  /** @type {any} */ #client = null;
  /** @type {any} */ #options = null;
  /** @type {Promise<Part> | null} */ #part = null;

  get client() {
    return this.#client;
  }
  set client(client) {
    this.#client = client;
    this.#renew();
  }
  get options() {
    return this.#options;
  }
  set options(options) {
    this.#options = options;
    this.#renew();
  }

  connectedCallback() {
    if (!this.shadowRoot) {
      if (!sheet) (sheet = new CSSStyleSheet()).replaceSync(css);
      this.attachShadow({ mode: 'open' }).adoptedStyleSheets = [sheet];
      // What a page set before the element was defined hides the accessors of its class.
      for (const name of /** @type {const} */ (['client', 'options'])) {
        if (!Object.hasOwn(this, name)) continue;
        const value = this[name];
        delete (/** @type {any} */ (this)[name]);
        this[name] = value;
      }
    }
    this.#renew();
  }

  disconnectedCallback() {
    void this.#part?.then((part) => part.stop());
    this.#part = null;
    this.shadowRoot?.replaceChildren();
  }

  attributeChangedCallback(/** @type {string} */ _, /** @type {any} */ old) {
    // What is drawn depends on the language, so it is made anew.
    if (this.#part && old !== null) this.disconnectedCallback();
    this.#renew();
  }

  #renew() {
    if (!this.isConnected || !this.shadowRoot) return;
    if (this.localName !== 'shoal-try' && !(this.#client && this.#options)) return;
    if (this.#part) return void this.#part.then((part) => part.update());
    const made = PARTS[this.localName]().then(({ part }) => part(/** @type {any} */ (this)));
    this.#part = made;
    made.catch((error) => console.error(`${this.localName}: could not be shown`, error));
  }

  /** Shows what is asked, whatever was answered: for a link of the page. */
  async open() {
    await (await this.#part)?.open?.();
  }
}

if (globalThis.customElements)
  for (const name of Object.keys(PARTS))
    if (!customElements.get(name)) customElements.define(name, class extends ShoalElement {});

/**
 * Connects the elements of a page with its client.
 * @param {any} client what `start` or `init` of shoal-client gave
 * @param {any} options what they were given
 * @param {ParentNode} [root]
 */
export function connect(client, options, root = document) {
  for (const element of root.querySelectorAll(Object.keys(PARTS).join()))
    Object.assign(element, { client, options });
}

/**
 * Adds a language, or puts other words in the place of one.
 * @param {string} code as in the attribute lang
 * @param {{[key: string]: string}} strings
 * @param {{[code: string]: string}} [reasons] of explain()
 */
export const addLanguage = (code, strings, reasons = {}) =>
  void (languages[code.toLowerCase()] = { default: strings, reasons });

/** Tells the elements that the page changed something, so that they look at once. */
export const refresh = () => void document.dispatchEvent(new Event('shoal-change'));
