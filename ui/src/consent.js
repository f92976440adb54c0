// SPDX-License-Identifier: Apache-2.0
// <shoal-consent>: what is asked, why, who receives it and how private it is, in words, with two
// buttons of one size and weight. After an answer it asks again only for more.
import { button, changed, h, isOn, memory, plain } from './base.js';
import { askedBy, decline, hasDeclined, isDeclined, wantedOf } from './terms.js';

/**
 * @typedef {import('./base.js').Host} Host
 * @typedef {import('./base.js').Part} Part
 * @typedef {import('./base.js').Words} Words
 * @typedef {import('./terms.js').Asked} Asked
 * @typedef {'ask' | 'more' | 'on' | 'off' | 'gpc' | 'unread'} View
 */

/**
 * @typedef {object} State
 * @property {Host} host
 * @property {Words} words
 * @property {Words['say']} say
 * @property {View | null} view
 * @property {Asked | null} asked
 * @property {any} readFrom the options that `asked` was read from
 * @property {any[]} asks what the client asks for beyond what was agreed to
 * @property {boolean} isOpened does the person want to see what is asked?
 * @property {string} drawn what the box shows now: nothing is drawn twice, so that focus stays
 * @property {HTMLElement} box
 * @property {HTMLElement} said
 * @property {Promise<void>} turn
 */

const VISITS = /^visitors-(day|week|month)$/; // streams of arrive(), which remembers visits

/** @param {State} s */
const isBanner = ({ host }) => host.getAttribute('mode') === 'banner';

/** Looks at what was decided, one look after the other. @param {State} s */
function update(s) {
  return (s.turn = s.turn.then(() => look(s)));
}

/** @param {State} s */
async function open(s) {
  s.isOpened = true;
  await update(s);
  s.box.querySelector('button')?.focus();
}

/** @param {State} s */
async function look(s) {
  const { client, options } = s.host;
  if (!client || !options) return;
  let view = /** @type {View} */ (client.consent.state === 'gpc' ? 'gpc' : 'unread');
  try {
    if (view !== 'gpc') {
      if (s.readFrom !== options) s.asked = await askedBy(options);
      s.readFrom = options;
      view = await decided(s, client, /** @type {Asked} */ (s.asked));
    }
  } catch (error) {
    console.error('shoal-consent:', error);
  }
  draw(s, view);
}

/** @param {State} s @param {import('./base.js').Reports} client @param {Asked} asked @returns {Promise<View>} */
async function decided(s, client, asked) {
  const wanted = asked.list.map((each) => each.wanted);
  if (isOn(client.consent.state)) {
    s.asks = await client.consent.asks();
    const isMore = s.asks.length && (s.isOpened || !isDeclined(s.asks.map(wantedOf)));
    if (isOn(client.consent.state)) return isMore ? 'more' : 'on';
  }
  // Consent was withdrawn elsewhere, by a page without this element.
  if (client.consent.state === 'withdrawn' && !hasDeclined()) decline(wanted);
  return isDeclined(wanted) && !s.isOpened ? 'off' : 'ask';
}

/** @param {State} s @param {View} view */
function draw(s, view) {
  const drawn = JSON.stringify([view, s.asked, view === 'more' && s.asks]);
  if (s.drawn === drawn) return;
  s.drawn = drawn;
  s.view = view;
  s.box.className = `box ${view}`;
  s.host.setAttribute('view', view); // for the page's style sheet
  const draws = { ask: question, more: moreParts }[/** @type {string} */ (view)] ?? inShort;
  s.box.replaceChildren(...draws(s, view).filter(Boolean));
  const isQuiet = view === 'off' || view === 'unread' || (view === 'gpc' && memory(CLOSED));
  s.box.hidden = isBanner(s) && !!isQuiet;
}

/** A state in one line. @param {State} s @param {string} view */
function inShort(s, view) {
  const keys = { on: ['stop'], off: ['start', 'yes'], gpc: isBanner(s) && ['close'] }[view];
  return [h('p', s.say(view)), keys && buttons(s, keys)];
}

/** Buttons that are alike, in the order of the page. @param {State} s @param {string[][]} buttons of a key, and its answer if that is another */
function buttons(s, ...buttons) {
  return h(
    'div.buttons',
    ...buttons.map(([key, answer = key]) => button(s.words, key, () => answerWith(s, answer))),
  );
}

/** @param {State} s @param {string} key @param {import('./base.js').Child[]} children */
function rowOf(s, key, ...children) {
  return [h('dt', s.say(key)), h('dd', ...children)];
}

/** @param {State} s @param {string} name @param {string} key what is there if the page says nothing */
function slot(s, name, key) {
  return h('slot', { name }, s.say(key));
}

/** @param {State} s */
function question(s) {
  const asked = /** @type {Asked} */ (s.asked);
  const kinds = [...new Set(asked.list.flatMap(({ kinds }) => kinds))];
  const perDay = asked.list.reduce((sum, each) => sum + each.perDay, 0);
  return [
    h(
      'div.text',
      h('h2', slot(s, 'title', 'title')),
      h('p', s.say('intro')),
      h(
        'dl',
        ...rowOf(
          s,
          'what',
          h('slot', { name: 'what' }, ...kinds.map((kind) => h('p', s.say(kind)))),
          h('p.soft.small', s.say('perDay', { n: perDay })),
          asked.list.some(({ json }) => VISITS.test(json.stream)) &&
            h('p.soft.small', s.say('visits')),
        ),
        ...rowOf(s, 'why', slot(s, 'why', 'whyText')),
        ...rowOf(s, 'who', slot(s, 'who', ''), h('p', who(s, asked))),
        ...rowOf(s, 'howPrivate', ...howPrivate(s, asked)),
      ),
      h('p.soft.small', s.say('past')),
      eachAlone(s, asked),
    ),
    buttons(s, ['no'], ['yes']),
  ];
}

/** @param {State} s @param {Asked} asked */
function who(s, asked) {
  const who = [...new Set(asked.list.flatMap(({ operators }) => operators))];
  const names = who.map((origin) => plain(new URL(origin).host)).join(', ');
  const relay = asked.relay && new URL(asked.relay).host;
  return `${s.say('goesTo', { who: names })} ${relay ? s.say('relayed', { relay }) : ''}`;
}

/** @param {State} s @param {Asked} asked */
function howPrivate(s, asked) {
  const line = (/** @type {string} */ key, /** @type {number} */ micro, values = {}) =>
    h('p', h('b', `${s.say(key, values)}: `), s.words.promise(micro));
  const report = Math.max(...asked.list.map(({ epsilons }) => epsilons.report));
  return [
    line('oneReport', report),
    asked.day > report && line('oneDay', asked.day),
    asked.budget && line('someDays', asked.budget.epsilon * 1e6, { n: asked.budget.days }),
  ];
}

/** Each collection with its own promises. @param {State} s @param {Asked} asked */
function eachAlone(s, asked) {
  /** @param {string} key @param {number} micro @param {{}} [values] */
  const line = (key, micro, values) =>
    h('p.soft', `${s.say(key, values)}: ${s.words.promise(micro)}`);
  return h(
    'details.small',
    h('summary', s.say('eachAlone')),
    ...asked.list.map(({ json, epsilons }) =>
      h(
        'div',
        h('b', h('bdi', plain(json.recipe))),
        line('oneReport', epsilons.report),
        line('oneDay', epsilons.window),
        line('untilDay', epsilons.life, { day: json.expires }),
      ),
    ),
  );
}

/** What is asked beyond what was agreed to. @param {State} s */
function moreParts(s) {
  const lines = s.asks.flatMap((ask) =>
    ask.more.map((/** @type {string} */ kind) =>
      h(
        'li',
        s.say(kind, {
          name: ask.recipe,
          before: ask.before?.epsilonPerDay,
          after: ask.epsilonPerDay,
          who: ask.operators.join(', '),
        }),
        kind === 'purpose' || kind === 'epsilon'
          ? h('p.soft', s.words.promise(ask.epsilonPerDay * 1e6))
          : null,
      ),
    ),
  );
  return [
    h('div.text', h('h2', s.say('moreTitle')), h('p', s.say('moreIntro')), h('ul', ...lines)),
    buttons(s, ['moreNo', 'no'], ['moreYes', 'yes']),
  ];
}

/** @param {State} s @param {string} answer `yes`, `no`, `stop`, or `close` of a notice */
async function answerWith(s, answer) {
  if (answer === 'close') {
    memory(CLOSED, 'yes');
    s.box.hidden = true;
    return;
  }
  const { host, asked } = s;
  const consent = /** @type {import('./base.js').Reports} */ (host.client).consent;
  const wanted = asked?.list.map((each) => each.wanted) ?? [];
  const isMore = s.view === 'more';
  s.isOpened = false;
  let said = answer === 'yes' || (isMore && answer === 'no') ? 'on' : 'off';
  try {
    if (answer === 'yes') await consent.grant();
    if (answer === 'stop') await consent.withdraw();
    if (answer !== 'yes') decline(isMore ? s.asks.map(wantedOf) : wanted);
  } catch {
    said = 'unstored';
  }
  await update(s);
  changed();
  s.box.querySelector('button')?.focus(); // a hidden one takes no focus
  s.said.textContent = s.say(said);
  s.said.className = said === 'unstored' ? 'box' : 'hide';
  const detail = { state: consent.state };
  host.dispatchEvent(new CustomEvent('shoal-answer', { detail, bubbles: true, composed: true }));
}
const CLOSED = 'shoal-gpc-seen';
/** @param {Host} host @param {Words} words @returns {Promise<Part>} */
export async function part(host, words) {
  const box = h('section.box');
  const said = h('p.hide', { role: 'status' });
  /** @type {State} */
  const s = {
    ...{
      host,
      words,
      say: words.say,
      box,
      said,
      view: null,
      asked: null,
      readFrom: null,
      asks: [],
    },
    ...{ isOpened: false, drawn: '', turn: Promise.resolve() },
  };
  host.shadowRoot.replaceChildren(box, said);
  await update(s);
  return { update: () => update(s), open: () => open(s), stop() {} };
}
