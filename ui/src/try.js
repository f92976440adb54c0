// SPDX-License-Identifier: Apache-2.0
// <shoal-try>: a sandbox in which epsilon is felt. It makes records of a word and of another, and
// lets a person guess which is which. Nothing is stored or sent; no client is needed.
import { cellOf, otherThan, recordOf } from './chance.js';
import { guessOf } from '../../wasm/client/verdict.js';
import { h } from './base.js';
import { pictureOf } from './picture.js';
import { litIn } from './record.js';

/**
 * @typedef {import('./base.js').Host} Host
 * @typedef {import('./base.js').Part} Part
 * @typedef {import('./base.js').Words} Words
 */

const REPORTS = [1, 10, 100];
const EACH = 10;
const NAMES = ['A', 'B'];

/** A number in [0, 1). */
const uniform = () => crypto.getRandomValues(new Uint32Array(1))[0] / 2 ** 32;

/** @typedef {any} State the parts of the element, and how the guessing stands */

/** @param {State} s */
function skeleton(s) {
  const { say } = s.words;
  const make = (/** @type {Event} */ event) => {
    event.preventDefault();
    makeRecords(s);
    s.question.focus();
  };
  return h(
    'section.box',
    h('h2', say('tryTitle')),
    h('p.soft', say('tryIntro')),
    h(
      'form.row',
      { submit: make },
      h('label', h('span', say('yourWord')), s.word),
      h('label', s.epsilonLabel, s.epsilon),
      h('button', say('make')),
    ),
    s.question,
    h(
      'div.row',
      ...NAMES.map((name, i) =>
        h(
          'div',
          { role: 'group', 'aria-labelledby': `group${i}` },
          h('b', { id: `group${i}` }, say('group', { name })),
          s.grids[i],
          s.buttons[i],
        ),
      ),
    ),
    s.said,
    s.score,
    h('h3', say('oddsTitle')),
    s.odds,
    h('p.soft.small', say('oddsNote')),
  );
}

/** Odds after one report and after many, by basic composition. @param {State} s */
function drawOdds(s) {
  const { words } = s;
  const epsilon = Number(s.epsilon.value);
  s.epsilonLabel.textContent = words.say('epsilonIs', { n: epsilon });
  s.odds.replaceChildren(
    ...REPORTS.map((n) => {
      const { code, right } = guessOf(Math.round(n * epsilon * 1e6));
      const text = words.say('oddsAfter', { n, right });
      return h('li', text.replace('{words}', words.say(code)));
    }),
  );
}

/** Makes the records of both words, and puts them into two groups by chance. @param {State} s */
function makeRecords(s) {
  const cell = cellOf(s.word.value);
  const epsilon = Number(s.epsilon.value);
  s.own = uniform() < 0.5 ? 0 : 1;
  s.grids.forEach((/** @type {Element} */ grids, /** @type {number} */ group) => {
    const from = group === s.own ? cell : otherThan(cell, uniform);
    const records = Array.from({ length: EACH }, () => recordOf(from, epsilon, uniform));
    grids.replaceChildren(...records.map((cells, i) => framed(s, cells, cell, group, i)));
  });
  for (const button of s.buttons) button.disabled = false;
  s.question.textContent = s.words.say('question');
  s.said.textContent = '';
}

/** @param {State} s @param {Uint8Array} cells @param {number} cell of the person's word @param {number} group @param {number} i */
function framed(s, cells, cell, group, i) {
  const { say } = s.words;
  const label = say('grid', {
    name: NAMES[group],
    n: i + 1,
    lit: litIn(cells),
    state: say(cells[cell] ? 'isLit' : 'isDark'),
  });
  return pictureOf(
    cells,
    label,
    h('path.own', { d: `M${(cell % 8) * 4} ${Math.floor(cell / 8) * 4}h3v3h-3z` }),
  );
}

/** @param {State} s @param {number} group that the person says is theirs */
function guess(s, group) {
  const { say } = s.words;
  const isRight = group === s.own;
  s.all++;
  s.right += Number(isRight);
  for (const button of s.buttons) button.disabled = true;
  s.said.textContent = say(isRight ? 'right' : 'wrong', { name: NAMES[group] });
  s.score.textContent = say('score', { right: s.right, all: s.all });
  s.host.shadowRoot.querySelector('form button').focus();
}

/** @param {Host} host @param {Words} words @returns {Promise<Part>} */
export async function part(host, words) {
  /** @type {State} `own`: the group of the person's word */
  const s = { host, words, own: 0, right: 0, all: 0 };
  const { say } = words;
  s.word = h('input', { maxlength: 64, autocomplete: 'off', value: say('firstWord') });
  const epsilon = Number(host.getAttribute('epsilon')) || 2;
  s.epsilon = h('input', {
    type: 'range',
    min: 0.5,
    max: 8,
    step: 0.5,
    value: epsilon,
    input: () => drawOdds(s),
  });
  s.epsilonLabel = h('span');
  s.said = h('p.said', { role: 'status' });
  s.score = h('p.soft.small');
  s.odds = h('ul.list');
  s.grids = NAMES.map(() => h('div.grids'));
  s.buttons = NAMES.map((name, i) =>
    h('button', { disabled: '', click: () => guess(s, i) }, say('mine', { name })),
  );
  s.question = h('p', { id: 'question', tabindex: -1 });
  host.shadowRoot.replaceChildren(skeleton(s));
  drawOdds(s);
  makeRecords(s);
  return { update() {}, stop() {} };
}
