// SPDX-License-Identifier: Apache-2.0
// <shoal-try>: a sandbox in which epsilon is felt. It makes records of a word and of another, and
// lets a person guess which is which. Nothing is stored or sent; no client is needed.
import { cellOf, otherThan, recordOf } from './chance.js';
import { adopt, guessOf, h, litIn, pathsOf, picture, wordsOf } from './shared.js';
import own from './try.css';

/**
 * @typedef {import('./base.js').Host} Host
 * @typedef {import('./base.js').Part} Part
 * @typedef {import('./base.js').Words} Words
 */

const REPORTS = [1, 10, 100];
const EACH = [1, 10];
const NAMES = ['A', 'B'];

/** A number in [0, 1). */
const uniform = () => crypto.getRandomValues(new Uint32Array(1))[0] / 2 ** 32;

class Try {
  #own = 0; // the group of the person's word
  #isOpen = false; // may be guessed
  #right = 0;
  #all = 0;

  /** @param {Host} host @param {Words} words */
  constructor(host, words) {
    this.host = host;
    this.words = words;
    const { say } = words;
    this.word = h('input', { maxlength: 64, autocomplete: 'off', value: say('firstWord') });
    const epsilon = Number(host.getAttribute('epsilon')) || 2;
    this.epsilon = h('input', {
      type: 'range',
      min: 0.5,
      max: 8,
      step: 0.5,
      value: epsilon,
      input: () => this.#drawOdds(),
    });
    this.epsilonLabel = h('span');
    this.each = h(
      'select',
      {},
      ...EACH.map((n) => h('option', { value: n, selected: n === 10 && '' }, words.number(n))),
    );
    this.said = h('p', { class: 'said', role: 'status' });
    this.score = h('p', { class: 'soft small' });
    this.odds = h('tbody');
    this.grids = NAMES.map(() => h('div', { class: 'grids' }));
    this.buttons = NAMES.map((name, i) =>
      h(
        'button',
        { type: 'button', disabled: '', click: () => this.#guess(i) },
        say('mine', { name }),
      ),
    );
    this.question = h('p', { id: 'question', tabindex: -1 });
    host.shadowRoot.replaceChildren(this.#skeleton());
    this.#drawOdds();
    this.#make();
  }

  #skeleton() {
    const { say, dir, code } = this.words;
    const make = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.#make();
      this.question.focus();
    };
    return h(
      'section',
      { class: 'box', 'aria-labelledby': 'title', dir, lang: code },
      h('h2', { id: 'title' }, say('tryTitle')),
      h('p', { class: 'soft' }, say('tryIntro')),
      h(
        'form',
        { class: 'row', submit: make },
        h('label', {}, h('span', {}, say('yourWord')), this.word),
        h('label', {}, this.epsilonLabel, this.epsilon),
        h('label', {}, h('span', {}, say('eachHas')), this.each),
        h('button', {}, say('make')),
      ),
      this.question,
      h(
        'div',
        { class: 'row' },
        ...NAMES.map((name, i) =>
          h(
            'div',
            { role: 'group', 'aria-labelledby': `group${i}` },
            h('b', { id: `group${i}` }, say('group', { name })),
            this.grids[i],
            this.buttons[i],
          ),
        ),
      ),
      this.said,
      this.score,
      h('h3', {}, say('oddsTitle')),
      h(
        'table',
        {},
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            ...['reports', 'rightAtMost', 'verdict'].map((key) =>
              h('th', { scope: 'col' }, say(key)),
            ),
          ),
        ),
        this.odds,
      ),
      h('p', { class: 'soft small' }, say('oddsNote')),
    );
  }

  /** Odds after one report and after many, by basic composition. */
  #drawOdds() {
    const { words } = this;
    const epsilon = Number(this.epsilon.value);
    this.epsilonLabel.textContent = words.say('epsilonIs', { n: epsilon });
    this.odds.replaceChildren(
      ...REPORTS.map((n) => {
        const { code, right } = guessOf(Math.round(n * epsilon * 1e6));
        return h(
          'tr',
          {},
          h('th', { scope: 'row' }, words.number(n)),
          h('td', {}, words.number(right)),
          h('td', {}, words.strings[code]),
        );
      }),
    );
  }

  /** Makes the records of both words, and puts them into two groups by chance. */
  #make() {
    const cell = cellOf(this.word.value);
    const epsilon = Number(this.epsilon.value);
    const n = Number(this.each.value);
    this.#own = uniform() < 0.5 ? 0 : 1;
    this.grids.forEach((grids, group) => {
      const from = group === this.#own ? cell : otherThan(cell, uniform);
      const records = Array.from({ length: n }, () => recordOf(from, epsilon, uniform));
      grids.replaceChildren(...records.map((cells, i) => this.#picture(cells, cell, group, i)));
    });
    for (const button of this.buttons) button.disabled = false;
    this.question.textContent = this.words.say('question');
    this.said.textContent = '';
    this.#isOpen = true;
  }

  /** @param {Uint8Array} cells @param {number} cell of the person's word @param {number} group @param {number} i */
  #picture(cells, cell, group, i) {
    const { box, dark, lit } = pathsOf(cells);
    const { say, strings } = this.words;
    const label = say('grid', {
      name: NAMES[group],
      n: i + 1,
      lit: litIn(cells),
      state: strings[cells[cell] ? 'isLit' : 'isDark'],
    });
    return h(
      'svg:svg',
      { viewBox: box.join(' '), role: 'img', 'aria-label': label },
      h('svg:path', { class: 'dark', d: dark }),
      h('svg:path', { class: 'lit', d: lit }),
      h('svg:rect', {
        class: 'own',
        x: (cell % 8) * 4 - 0.4,
        y: Math.floor(cell / 8) * 4 - 0.4,
        width: 3.8,
        height: 3.8,
      }),
    );
  }

  /** @param {number} group that the person says is theirs */
  #guess(group) {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const { say } = this.words;
    const isRight = group === this.#own;
    this.#all++;
    this.#right += Number(isRight);
    for (const button of this.buttons) button.disabled = true;
    this.said.textContent = say(isRight ? 'right' : 'wrong', { name: NAMES[group] });
    this.score.textContent = say('score', { right: this.#right, all: this.#all });
    this.host.shadowRoot.querySelector('form')?.querySelector('button')?.focus();
  }

  update() {}
  stop() {}
}

/** @param {Host} host @returns {Promise<Part>} */
export async function part(host) {
  const words = await wordsOf(host);
  adopt(host, picture, own);
  return new Try(host, words);
}
