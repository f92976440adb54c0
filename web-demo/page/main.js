// SPDX-License-Identifier: Apache-2.0
// Connects the loader of the published client to what a visitor sees on the page. Before consent
// it requests only the files of this folder, the loader and the crowd's published counts. It keeps
// no typed word and no address.
import { start } from '/shoal/loader.js';
import { watchCrowd } from './crowd.js';
import { epsilonInWords, grid, readRecord, sayings } from './record_view.js';
import { h, toDom } from './tree.js';

/**
 * @typedef {import('./record_view.js').Report} Report
 * @typedef {{state: string, at: string, text: string, report: Report}} Entry
 * @typedef {{recipe: string, perDay: number, today: {count: number, epsilon: number},
 *   verdict: {window: {text: string}}}} Balance
 * @typedef {{code: string, text: string, recipe: string | null, count: number}} Reason
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

const LOOK_MS = 700;
const SHOWN = 6;

/** @param {string} id @returns {any} */
const $ = (id) => document.getElementById(id);
/** @param {Element} parent @param {import('./tree.js').Child[]} children */
const fill = (parent, children) =>
  parent.replaceChildren(...children.map((child) => toDom(child, document)));

/** @type {Config} */
const config = await (await fetch('config.json')).json();
const shoal = start({
  endpoint: config.endpoint,
  recipes: config.recipes,
  ...(config.relay &&
    config.logKey && {
      relay: config.relay,
      log: { url: new URL('log/', document.baseURI).href, key: config.logKey },
    }),
});
/** What the lists show now, so that they are drawn again only when something changed. */
let shown = '';

/**
 * Returns what one report costs, if the recipe states it. Several variables are added up.
 * @param {any} recipe
 * @returns {number}
 */
const costOf = ({ parameters, variables }) =>
  variables
    ? variables.reduce(
        (/** @type {number} */ sum, /** @type {any} */ variable) => sum + costOf(variable),
        0,
      )
    : (parameters.epsilon ?? 0);

/** The sentences that depend on the recipes, and on the way that reports go. */
function describe() {
  $('path').hidden = !config.relay;
  if (config.relay)
    $('raw-title').textContent = 'The report, exactly as it is sealed for the edge worker';
  const epsilon = Math.max(...config.recipes.map(costOf));
  const perDay = Math.max(...config.recipes.map((recipe) => recipe.limit.per_day));
  $('epsilon').textContent = epsilonInWords(epsilon);
  $('epsilon-number').textContent = String(epsilon);
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
  const parts = does.filter(Boolean).map((what) => ['each ', h('b', {}, String(what)), ' below']);
  fill(
    $('what'),
    parts.flatMap((part, i) => (i ? [i + 1 < parts.length ? ', ' : ' and ', ...part] : part)),
  );
}

/** @param {'grant' | 'decline' | 'withdraw' | 'erase'} what */
async function decide(what) {
  try {
    if (what === 'grant') await shoal.consent.grant();
    if (what === 'withdraw') await shoal.consent.withdraw();
    if (what === 'erase') await shoal.erase();
    showConsent(what);
  } catch {
    $('consent-state').textContent =
      'This browser could not store your decision. Nothing is sent while this page is open.';
  }
  $('event').textContent = '';
  await look();
}

/** @type {{[state: string]: string}} */
const STATES = {
  none: '',
  granted:
    config.choices.length || config.pairs.length
      ? 'You take part. Pick something below.'
      : 'You take part. Type, or follow a link.',
  withdrawn: 'You stopped. Nothing more is sent, and what was waiting has been deleted.',
  gpc: 'Your browser sends Global Privacy Control. That counts as no, so nothing is sent.',
  decline: 'Nothing was loaded, stored or sent. The page works without you.',
  erase:
    'Erased here: your consent, your records, this list. Today stays spent, so that erasing is no way to spend twice.',
};

/** @param {string} [what] what the visitor just did */
function showConsent(what) {
  const state = shoal.consent.state;
  const isOn = state === 'granted';
  /** @type {HTMLElement} */
  const had = $('grant').ownerDocument.activeElement;
  $('ask').hidden = isOn;
  $('grant').hidden = isOn || state === 'gpc';
  $('decline').hidden = isOn || state !== 'none' || what === 'decline';
  $('withdraw').hidden = !isOn;
  $('erase').hidden = state === 'none';
  $('consent-title').textContent = isOn ? 'You take part' : 'May this page learn from you?';
  $('consent-state').textContent =
    STATES[what === 'decline' || what === 'erase' ? what : state] ?? '';
  // If a focused button disappears, the button in its place gets the focus.
  if (what && had?.hidden) (isOn ? $('withdraw') : $('grant')).focus();
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
  await look();
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
  await look();
}

/** Shows what the client tells about itself. */
async function look() {
  /** @type {[Entry[], Balance[], Reason[]]} */
  const [entries, balances, reasons] = await Promise.all([
    shoal.reports(),
    shoal.ledger(),
    shoal.explain(),
  ]);
  const now = JSON.stringify([shoal.consent.state, entries.length, entries[0], balances, reasons]);
  if (now === shown) return;
  shown = now;
  showRecord(entries[0]);
  showSent(entries);
  showBudget(balances.filter(({ recipe }) => recipe));
  showReasons(reasons);
}

/** @param {Entry | undefined} entry */
function showRecord(entry) {
  for (const id of ['record', 'raw']) $(id).hidden = !entry;
  $('record-none').hidden = !!entry;
  if (!entry) return;
  const recipe = config.recipes.find(({ recipe: id }) => id === entry.report.key);
  const view = readRecord(entry.report, recipe);
  const { sees, little } = sayings(view, entry.report, recipe);
  fill($('grid'), [grid(view)]);
  $('sees').textContent = sees;
  $('little').textContent = little;
  $('json').textContent = JSON.stringify(entry.report, null, 2);
}

/** @param {Entry[]} entries */
function showSent(entries) {
  const sent = entries.filter((entry) => entry.state === 'sent').length;
  const waiting = entries.filter((entry) => entry.state === 'queued').length;
  $('sent-count').textContent = entries.length
    ? `${sent.toLocaleString('en-US')}${sent >= 200 ? ' or more' : ''} sent, ${waiting} waiting. The newest:`
    : 'No report so far.';
  fill(
    $('sent'),
    entries
      .slice(0, SHOWN)
      .map(({ state, report }) =>
        h(
          'li',
          { class: state },
          h('span', { class: 'pill' }, state),
          h('span', { class: 'key' }, report.key),
          h(
            'code',
            {},
            report.records[0].length > 26
              ? `${report.records[0].slice(0, 25)}…`
              : report.records[0],
          ),
        ),
      ),
  );
}

/** @param {Balance[]} balances */
function showBudget(balances) {
  $('adds-up').hidden = !balances.length;
  fill(
    $('budget'),
    balances.map(({ recipe, perDay, today, verdict }) =>
      h(
        'li',
        {},
        h('span', { class: 'key' }, recipe),
        h(
          'span',
          {},
          `${today.count.toLocaleString('en-US')} of ${perDay.toLocaleString('en-US')} reports today, epsilon ${today.epsilon.toLocaleString('en-US')} spent`,
        ),
        h('progress', {
          max: perDay,
          value: today.count,
          'aria-label': `Budget of ${recipe} spent today`,
        }),
        h('span', { class: 'verdict' }, `What a day of it promises: ${verdict.window.text}.`),
      ),
    ),
  );
}

/** @param {Reason[]} reasons */
function showReasons(reasons) {
  const rows = reasons.map(({ code, text, recipe, count }) =>
    h(
      'li',
      {},
      h('code', {}, code),
      ` ${text}`,
      ...(recipe || count
        ? [
            h(
              'span',
              { class: 'quiet' },
              ` ${[recipe, count > 1 ? `${count} times` : ''].filter(Boolean).join(', ')}`,
            ),
          ]
        : []),
    ),
  );
  fill(
    $('reasons'),
    rows.length
      ? rows
      : [h('li', { class: 'quiet' }, 'Everything that you did was recorded and sent.')],
  );
}

describe();
showConsent();
shoal.observe($('words'));
for (const id of /** @type {const} */ (['grant', 'decline', 'withdraw', 'erase']))
  $(id).addEventListener('click', () => decide(id));
$('words').addEventListener('input', () => setTimeout(look, 60));
$('links').addEventListener('click', follow);
$('links').addEventListener('auxclick', follow);
for (const id of /** @type {const} */ (['choices', 'pairs']))
  $(id).addEventListener('click', choose);
watchCrowd($('crowds'), config.crowds);
setInterval(look, LOOK_MS);
await look();
document.documentElement.dataset.ready = 'yes';
