// SPDX-License-Identifier: Apache-2.0
// What a page embeds: defines <shoal-consent>, <shoal-panel> and <shoal-try>. What they
// are made of is loaded when the first of them is on a page. Importing this where there is no page, as on a server, does nothing.

/**
 * @typedef {import('./base.js').Host} Host
 * @typedef {import('./base.js').Part} Part
 */

const NAMES = ['shoal-consent', 'shoal-panel', 'shoal-try'];
const Base = globalThis.HTMLElement ?? Object;
/** Languages that a page added, by code. @type {{[code: string]: import('./base.js').Language}} */
const languages = Object.create(null);

class ShoalElement extends Base {
  static languages = languages;
  static observedAttributes = ['lang', 'mode', 'epsilon'];
  /** @type {any} */ client;
  /** @type {any} */ options;
  /** @type {Promise<Part> | null} */ #part = null;
  /** Of the part before, which may still load its language. @type {Promise<void> | undefined} */ #end;

  connectedCallback() {
    document.addEventListener('shoal-change', this);
    if (!this.shadowRoot) this.attachShadow({ mode: 'open' });
    this.handleEvent();
  }

  disconnectedCallback() {
    document.removeEventListener('shoal-change', this);
    this.#end = this.#part?.then((part) => part.stop());
    this.#part = null;
    this.shadowRoot?.replaceChildren();
  }

  attributeChangedCallback() {
    // What is drawn depends on the language, so it is made anew.
    if (!this.#part) return;
    this.disconnectedCallback();
    this.connectedCallback();
  }

  /** Something changed, or an element came to the page. */
  handleEvent() {
    const isReady = (this.client && this.options) || this.localName === NAMES[2];
    if (this.#part) void this.#part.then((part) => part.update());
    else if (isReady)
      this.#part = Promise.allSettled([this.#end])
        .then(() => import('./elements.js'))
        .then(({ show }) => show(/** @type {any} */ (this)));
  }

  /** Shows what is asked, whatever was answered: for a link of the page. */
  async open() {
    await (await this.#part)?.open?.();
  }
}

if (globalThis.customElements)
  for (const name of NAMES)
    if (!customElements.get(name)) customElements.define(name, class extends ShoalElement {});

/** Tells the elements that the page changed something, so that they look at once. */
export const refresh = () => void document.dispatchEvent(new Event('shoal-change'));

/**
 * Connects the elements of a page with its client.
 * @param {any} client what `start` or `init` of shoal-client gave
 * @param {any} options what they were given
 * @param {ParentNode} [root]
 */
export function connect(client, options, root = document) {
  for (const element of root.querySelectorAll(NAMES.join()))
    Object.assign(element, { client, options });
  refresh();
}

/**
 * Adds a language, or puts other words in the place of one.
 * @param {string} code as in the attribute lang
 * @param {{[key: string]: string}} strings
 * @param {{[code: string]: string}} [reasons] of explain()
 */
export const addLanguage = (code, strings, reasons = {}) =>
  void (languages[code.toLowerCase()] = { default: strings, reasons });
