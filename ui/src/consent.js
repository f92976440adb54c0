// SPDX-License-Identifier: Apache-2.0
// <shoal-consent>: what is asked, why, who receives it and how private it is, in words, with two
// buttons of one size and weight. After an answer it asks again only for more.
import { adopt, changed, guessOf, h, plain, wordsOf } from './shared.js';
import own from './consent.css';
import { askedBy, decline, hasDeclined, isDeclined, wantedOf } from './terms.js';

/**
 * @typedef {import('./base.js').Host} Host
 * @typedef {import('./base.js').Part} Part
 * @typedef {import('./base.js').Words} Words
 * @typedef {import('./terms.js').Asked} Asked
 * @typedef {'ask' | 'more' | 'on' | 'off' | 'gpc' | 'unread'} View
 */

class Consent {
  /** @type {View | null} */ #view = null;
  #isOpened = false;
  /** @type {any[]} what the client asks for beyond what was agreed to */ #asks = [];
  /** What the box shows now: nothing is drawn twice, so that focus stays. */ #drawn = '';
  #stopped = new AbortController();
  #said = h('p', { class: 'hide', role: 'status' });
  #box = h('section', { class: 'box', 'aria-labelledby': 'title' });
  #turn = Promise.resolve();

  /** @param {Host} host @param {Words} words */
  constructor(host, words) {
    this.host = host;
    this.words = words;
    /** @type {any} */ this.readFrom = null;
    /** @type {Asked | null} */ this.asked = null;
    this.#box.dir = words.dir;
    this.#box.lang = words.code;
    document.addEventListener('shoal-change', () => this.update(), {
      signal: this.#stopped.signal,
    });
    host.shadowRoot.replaceChildren(this.#box, this.#said);
    this.#said.dir = words.dir;
  }

  get isBanner() {
    return this.host.getAttribute('mode') === 'banner';
  }

  stop() {
    this.#stopped.abort();
  }

  /** Looks at what was decided, one look after the other. */
  update() {
    return (this.#turn = this.#turn.then(() => this.#look()));
  }

  async open() {
    this.#isOpened = true;
    await this.update();
    this.#box.querySelector('button')?.focus();
  }

  async #look() {
    const { client, options } = this.host;
    if (!client || !options || this.#stopped.signal.aborted) return;
    let view = /** @type {View} */ (client.consent.state === 'gpc' ? 'gpc' : 'unread');
    try {
      if (view !== 'gpc') {
        if (this.readFrom !== options) this.asked = await askedBy(options);
        this.readFrom = options;
        view = await this.#decided(client, /** @type {Asked} */ (this.asked));
      }
    } catch (error) {
      console.error('shoal-consent:', error);
    }
    this.#draw(view);
  }

  /** @param {import('./base.js').Reports} client @param {Asked} asked @returns {Promise<View>} */
  async #decided(client, asked) {
    const wanted = asked.list.map((each) => each.wanted);
    const isOn = () => ['granted', 'outdated'].includes(client.consent.state);
    if (isOn()) {
      this.#asks = await client.consent.asks();
      const isMore = this.#asks.length && (this.#isOpened || !isDeclined(this.#asks.map(wantedOf)));
      if (isOn()) return isMore ? 'more' : 'on';
    }
    // Consent was withdrawn elsewhere, by a page without this element.
    if (client.consent.state === 'withdrawn' && !hasDeclined()) decline(wanted);
    return isDeclined(wanted) && !this.#isOpened ? 'off' : 'ask';
  }

  /** @param {View} view */
  #draw(view) {
    const drawn = JSON.stringify([view, this.asked, view === 'more' && this.#asks]);
    if (this.#drawn === drawn) return;
    this.#drawn = drawn;
    this.#view = view;
    this.#box.className = `box ${view}`;
    this.host.setAttribute('view', view); // for the page's style sheet
    const body = {
      ask: () => this.#question(),
      more: () => this.#more(),
      on: () => [this.#title('on'), this.#buttons(['stop', () => this.#answer('stop')])],
      off: () => [this.#title('off'), this.#buttons(['start', () => this.#answer('yes')])],
      gpc: () => [
        this.#title('gpc'),
        this.isBanner && this.#buttons(['close', () => this.#close()]),
      ],
      unread: () => [this.#title('unread')],
    }[view]();
    this.#box.replaceChildren(...body.filter(Boolean));
    const isQuiet = view === 'off' || view === 'unread' || (view === 'gpc' && isClosed());
    this.#box.hidden = this.isBanner && isQuiet;
  }

  /** A state in one line. @param {string} key */
  #title(key) {
    return h('p', { id: 'title' }, this.words.say(key));
  }

  /** Buttons that are alike, in the order of the page. @param {[string, () => unknown][]} buttons */
  #buttons(...buttons) {
    return h(
      'div',
      { class: 'buttons' },
      ...buttons.map(([key, click]) =>
        h('button', { type: 'button', id: key, click }, this.words.say(key)),
      ),
    );
  }

  /** What an epsilon promises, in words. @param {number} micro in millionths */
  #promise(micro) {
    return this.words.promise(guessOf(Math.round(micro)));
  }

  /** @param {string} key @param {import('./base.js').Child[]} children */
  #row(key, ...children) {
    return [h('dt', {}, this.words.say(key)), h('dd', {}, ...children)];
  }

  /** @param {string} name @param {string} key what is there if the page says nothing */
  #slot(name, key) {
    return h('slot', { name }, this.words.say(key));
  }

  #question() {
    const { words, asked } = this;
    if (!asked) return [];
    const kinds = [...new Set(asked.list.flatMap(({ kinds }) => kinds))];
    const perDay = asked.list.reduce((sum, each) => sum + each.perDay, 0);
    return [
      h(
        'div',
        { class: 'text' },
        h('h2', { id: 'title' }, this.#slot('title', 'title')),
        h('p', {}, words.say('intro')),
        h(
          'dl',
          {},
          ...this.#row(
            'what',
            h('slot', { name: 'what' }, ...kinds.map((kind) => h('p', {}, words.say(kind)))),
            h('p', { class: 'soft small' }, words.say('perDay', { n: perDay })),
          ),
          ...this.#row('why', this.#slot('why', 'whyText')),
          ...this.#row('who', this.#slot('who', ''), h('p', {}, this.#who())),
          ...this.#row('howPrivate', ...this.#private()),
        ),
        h('p', { class: 'soft small' }, words.say('past')),
        this.#each(),
      ),
      this.#buttons(['no', () => this.#answer('no')], ['yes', () => this.#answer('yes')]),
    ];
  }

  #who() {
    const { words, asked } = this;
    if (!asked) return '';
    const who = [...new Set(asked.list.flatMap(({ operators }) => operators))];
    const names = who.map((origin) => plain(new URL(origin).host)).join(', ');
    const relay = asked.relay && new URL(asked.relay).host;
    return `${words.say('goesTo', { who: names })} ${relay ? words.say('relayed', { relay }) : ''}`;
  }

  #private() {
    const { words, asked } = this;
    if (!asked) return [];
    const line = (/** @type {string} */ key, /** @type {number} */ micro, values = {}) =>
      h('p', {}, h('b', {}, `${words.say(key, values)}: `), this.#promise(micro));
    const report = Math.max(...asked.list.map(({ epsilons }) => epsilons.report));
    return [
      line('oneReport', report),
      asked.day > report && line('oneDay', asked.day),
      asked.budget && line('someDays', asked.budget.epsilon * 1e6, { n: asked.budget.days }),
    ];
  }

  /** Each collection with its own promises. */
  #each() {
    const { words, asked } = this;
    /** @param {string} key @param {number} micro @param {{}} [values] */
    const line = (key, micro, values) =>
      h('p', { class: 'soft' }, `${words.say(key, values)}: ${this.#promise(micro)}`);
    return h(
      'details',
      { class: 'small' },
      h('summary', {}, words.say('eachAlone')),
      ...(asked?.list ?? []).map(({ name, json, epsilons }) =>
        h(
          'div',
          {},
          h('b', {}, h('bdi', {}, plain(name))),
          line('oneReport', epsilons.report),
          line('oneDay', epsilons.window),
          line('untilDay', epsilons.life, { day: json.expires }),
        ),
      ),
    );
  }

  /** What is asked beyond what was agreed to. */
  #more() {
    const { words } = this;
    const kinds = /** @type {const} */ ({
      purpose: 'morePurpose',
      epsilon: 'moreEpsilon',
      operators: 'moreOperators',
      protocol: 'moreProtocol',
    });
    const lines = this.#asks.flatMap((ask) =>
      ask.more.map((/** @type {keyof typeof kinds} */ kind) =>
        h(
          'li',
          {},
          words.say(kinds[kind], {
            name: ask.recipe,
            before: ask.before?.epsilonPerDay,
            after: ask.epsilonPerDay,
            who: ask.operators.join(', '),
          }),
          kind === 'purpose' || kind === 'epsilon'
            ? h('p', { class: 'soft' }, this.#promise(ask.epsilonPerDay * 1e6))
            : null,
        ),
      ),
    );
    return [
      h(
        'div',
        { class: 'text' },
        h('h2', { id: 'title' }, words.say('moreTitle')),
        h('p', {}, words.say('moreIntro')),
        h('ul', {}, ...lines),
      ),
      this.#buttons(['moreNo', () => this.#answer('no')], ['moreYes', () => this.#answer('yes')]),
    ];
  }

  #close() {
    try {
      localStorage.setItem(CLOSED, 'yes');
    } catch {} // it is shown again on the next page
    this.#box.hidden = true;
  }

  /** @param {'yes' | 'no' | 'stop'} answer */
  async #answer(answer) {
    const { host, words, asked } = this;
    const consent = /** @type {import('./base.js').Reports} */ (host.client).consent;
    const wanted = asked?.list.map((each) => each.wanted) ?? [];
    const isMore = this.#view === 'more';
    this.#isOpened = false;
    let said = answer === 'yes' || (isMore && answer === 'no') ? 'on' : 'off';
    try {
      if (answer === 'yes') await consent.grant();
      if (answer === 'stop') await consent.withdraw();
      if (answer !== 'yes') decline(isMore ? this.#asks.map(wantedOf) : wanted);
    } catch {
      said = 'unstored';
    }
    await this.update();
    changed();
    const next = this.#box.hidden ? null : this.#box.querySelector('button');
    if (next) next.focus();
    this.#said.textContent = words.say(said);
    this.#said.className = said === 'unstored' ? 'box' : 'hide';
    const detail = { state: consent.state };
    host.dispatchEvent(new CustomEvent('shoal-answer', { detail, bubbles: true, composed: true }));
  }
}

const CLOSED = 'shoal-gpc-seen';
/** Was the notice of Global Privacy Control closed before? */
function isClosed() {
  try {
    return localStorage.getItem(CLOSED) !== null;
  } catch {
    return false;
  }
}

/** @param {Host} host @returns {Promise<Part>} */
export async function part(host) {
  const words = await wordsOf(host);
  adopt(host, own);
  const made = new Consent(host, words);
  await made.update();
  return made;
}
