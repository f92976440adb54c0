// SPDX-License-Identifier: Apache-2.0
// The visitor's page of a trial whose folder has none: consent, and a field for each recipe.
import { start } from './client.js';
import { element } from './element.js';

const config = await (await fetch('/trial/config.json')).json();
const shoal = start({});

/** @param {string} id @returns {any} */
const $ = (id) => document.getElementById(id);

const TEXTS = /** @type {{[state: string]: string}} */ ({
  granted: 'You take part. Do something below.',
  outdated: 'The trial began anew with other terms. Say yes again to take part.',
  withdrawn: 'You do not take part. Nothing is sent.',
  gpc: 'This browser sends Global Privacy Control, which counts as no.',
  none: '',
});

/** @param {string} state */
function show(state) {
  $('state').textContent = TEXTS[state] ?? '';
  $('yes').hidden = state === 'granted' || state === 'gpc';
  $('no').textContent = state === 'granted' ? 'Stop taking part' : 'No, thanks';
  $('fields').inert = state !== 'granted';
}

/** A field and a button that records what is in it. @param {any} about @param {string} label @param {any} attributes @param {(value: string) => unknown} act */
function oneValue(about, label, attributes, act) {
  const id = `value-${about.recipe}`;
  const field = element('input', { id, autocomplete: 'off', required: '', ...attributes });
  const form = element(
    'form',
    {},
    element('label', { for: id }, label),
    element('div', { class: 'row' }, field, element('button', { type: 'submit' }, 'Send')),
  );
  form.addEventListener('submit', (/** @type {Event} */ event) => {
    event.preventDefault();
    act(/** @type {HTMLInputElement} */ (field).value);
  });
  return form;
}

/** @param {any} about of a recipe @returns {Element} */
function fieldOf(about) {
  const { stream, value, values, low, high, id, recipe } = about;
  if (value === 'word') {
    const field = element('textarea', {
      id: `words-${recipe}`,
      rows: '2',
      autocomplete: 'off',
      spellcheck: 'false',
    });
    shoal.observe(field);
    return element(
      'div',
      {},
      element(
        'label',
        { for: `words-${recipe}` },
        `${id}: write something. A word counts when you end it, with a space.`,
      ),
      field,
    );
  }
  if (value === 'number')
    return oneValue(
      about,
      `${id}: a number from ${low} to ${high}`,
      { type: 'number', step: 'any', min: low, max: high },
      (text) => shoal.record(stream, Number(text)),
    );
  if (value === 'site' || value === 'host')
    return oneValue(
      about,
      `${id}: the address of a site`,
      { type: 'text', placeholder: 'www.example.com' },
      (text) => shoal.visit(text),
    );
  if (values === null)
    return oneValue(
      about,
      `${id}: the number of an entry, from 0`,
      { type: 'number', min: 0, max: about.size - 1 },
      (text) => shoal.record(stream, Number(text)),
    );
  const buttons = values.map((/** @type {string} */ each) => {
    const button = element('button', { type: 'button' }, each);
    button.addEventListener('click', () => void shoal.record(stream, each));
    return button;
  });
  return element(
    'div',
    {},
    element('p', {}, `${id}: choose one`),
    element('div', { class: 'row' }, ...buttons),
  );
}

// Recipes of one stream of words are read from one field.
const seen = new Set();
for (const about of config.about) {
  const key = about.value === 'word' ? 'word' : `${about.stream} ${about.value}`;
  if (!seen.has(key)) $('fields').append(fieldOf(about));
  seen.add(key);
}
$('yes').addEventListener('click', async () => show(await shoal.consent.grant()));
$('no').addEventListener('click', async () => {
  const state = await shoal.consent.withdraw();
  show(state === 'none' ? 'withdrawn' : state);
});
show(shoal.consent.state === 'granted' ? await shoal.consent.grant() : shoal.consent.state);
document.documentElement.dataset.ready = '';
