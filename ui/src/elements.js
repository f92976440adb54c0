// SPDX-License-Identifier: Apache-2.0
// The three elements, in one file: they share most of what they are made of.
import { wordsOf } from './base.js';
import { part as consent } from './consent.js';
import consentCss from './consent.css';
import look from './look.css';
import { part as panel } from './panel.js';
import panelCss from './panel.css';
import { part as sandbox } from './try.js';
import sandboxCss from './try.css';

/** Each element with the string that names it. @type {{[name: string]: [string, (host: any, words: import('./base.js').Words) => Promise<import('./base.js').Part>]}} */
const PARTS = {
  'shoal-consent': ['title', consent],
  'shoal-panel': ['panelTitle', panel],
  'shoal-try': ['tryTitle', sandbox],
};

const sheet = new CSSStyleSheet();
sheet.replaceSync(look + consentCss + panelCss + sandboxCss);

/** Shows an element in its language. @param {import('./base.js').Host} host */
export async function show(host) {
  const words = await wordsOf(host);
  host.shadowRoot.adoptedStyleSheets = [sheet];
  const [title, part] = PARTS[host.localName];
  const made = await part(host, words);
  const { children } = host.shadowRoot;
  for (const child of children) Object.assign(child, { dir: words.say('dir'), lang: words.tag });
  children[0].setAttribute('aria-label', words.say(title));
  return made;
}
