// SPDX-License-Identifier: Apache-2.0
// Connects the loader of the published client to what a visitor sees on the page. Before consent
// it requests only the files of this folder, the loader and the crowd's published counts. It keeps
// no typed word and no address.
import { start } from '/shoal/loader.js';
import { connect, refresh } from '/ui/shoal-ui.js';
import { watchCrowd } from './crowd.js';
import { h, toDom } from './tree.js';

/**
 * @typedef {{title: string, stream: string, values: string[]}} Choice buttons, each of which
 *   records its value
 * @typedef {{title: string, stream: string, events: {label: string, values:
 *   {[variable: string]: string}}[]}} Pair buttons, each of which records a value of each variable
 * @typedef {object} Config
 * @property {string} endpoint
 * @property {string} [relay]
 * @property {string} [logKey]
 * @property {any[]} recipes
 * @property {string[]} links
 * @property {Choice[]} choices
 * @property {Pair[]} pairs
 * @property {import('./crowd.js').Crowd[]} crowds
 */

/** @param {string} id @returns {any} */
const $ = (id) => document.getElementById(id);
/** @param {Element} parent @param {import('./tree.js').Child[]} children */
const fill = (parent, children) =>
  parent.replaceChildren(...children.map((child) => toDom(child, document)));

/** @type {Config} */
const config = await (await fetch('config.json')).json();
const options = {
  endpoint: config.endpoint,
  recipes: config.recipes,
  ...(config.relay &&
    config.logKey && {
      relay: config.relay,
      log: { url: new URL('log/', document.baseURI).href, key: config.logKey },
    }),
};
const shoal = start(options);

/** The sentences that depend on the recipes, and on the way that reports go. */
function describe() {
  $('path').hidden = !config.relay;
  const perDay = Math.max(...config.recipes.map((recipe) => recipe.limit.per_day));
  $('demo-note').textContent =
    `This is a demo's recipe: up to ${perDay.toLocaleString('en-US')} reports a day and no delay, so that you see ` +
    'something happen. A real one would take one or two a day and send them hours later, at a random moment.';
  fill(
    $('links'),
    config.links.map((host) =>
      h('li', {}, h('a', { href: `https://${host}/`, rel: 'noreferrer nofollow' }, host)),
    ),
  );
  fill(
    $('choices'),
    config.choices.flatMap(({ title, stream, values }) => [
      h('p', { class: 'label' }, title),
      h(
        'ul',
        { class: 'picks', 'aria-label': title },
        ...values.map((value) =>
          h('li', {}, h('button', { type: 'button', 'data-stream': stream, value }, value)),
        ),
      ),
    ]),
  );
  fill(
    $('pairs'),
    config.pairs.flatMap(({ title, events }, i) => [
      h('p', { class: 'label' }, title),
      h(
        'ul',
        { class: 'picks names', 'aria-label': title },
        ...events.map(({ label }, j) =>
          h('li', {}, h('button', { type: 'button', 'data-pair': `${i}/${j}` }, label)),
        ),
      ),
    ]),
  );
  const hasWords = config.recipes.some((recipe) => recipe.value === 'word');
  for (const id of ['words', 'words-label']) $(id).hidden = !hasWords;
  $('links-label').hidden = !config.links.length;
  $('bars').hidden = config.crowds.every(({ isPicture }) => isPicture);
  const hasChoices = config.choices.length || config.pairs.length;
  const does = [
    hasWords && 'word you finish typing',
    config.links.length && 'link you follow',
    hasChoices && 'choice you make',
  ];
  const parts = does
    .filter(Boolean)
    .map((what, i) => [i ? 'each ' : 'Each ', h('b', {}, String(what)), ' below']);
  fill(
    $('what'),
    parts.flatMap((part, i) => (i ? [i + 1 < parts.length ? ', ' : ' and ', ...part] : part)),
  );
}

/** A link is recorded, never navigated to. @param {MouseEvent} event */
async function follow(event) {
  const link = /** @type {Element} */ (event.target).closest('a');
  if (!link) return;
  event.preventDefault();
  const outcomes = await shoal.visit(link.href);
  const isQueued = outcomes.some(
    (/** @type {{code: string}} */ outcome) => outcome.code === 'queued',
  );
  $('event').textContent = isQueued
    ? 'The visit became a private record. You are still here.'
    : 'Nothing was recorded. The list below says why.';
  refresh();
}

/** Records what a button stands for. @param {MouseEvent} event */
async function choose(event) {
  const button = /** @type {HTMLButtonElement | null} */ (
    /** @type {Element} */ (event.target).closest('button')
  );
  if (!button) return;
  const { stream, pair } = button.dataset;
  const [i, j] = (pair ?? '').split('/').map(Number);
  const outcomes = pair
    ? await shoal.record(config.pairs[i].stream, config.pairs[i].events[j].values)
    : await shoal.record(String(stream), button.value);
  const isQueued = outcomes.some(
    (/** @type {{code: string}} */ outcome) => outcome.code === 'queued',
  );
  $('event').textContent = isQueued
    ? 'Your choice became a private record.'
    : 'Nothing was recorded. The list below says why.';
  refresh();
}

describe();
connect(shoal, options);
shoal.observe($('words'));
$('words').addEventListener('input', () => setTimeout(refresh, 60));
document.addEventListener('shoal-answer', () => ($('event').textContent = ''));
$('links').addEventListener('click', follow);
$('links').addEventListener('auxclick', follow);
for (const id of /** @type {const} */ (['choices', 'pairs']))
  $(id).addEventListener('click', choose);
watchCrowd($('crowds'), config.crowds);
document.documentElement.dataset.ready = 'yes';
