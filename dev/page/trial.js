// SPDX-License-Identifier: Apache-2.0
// The trial page: charts that follow the aggregator, the person's own record, and what each part of the
// way tells. What the person did comes from the visitor's page, in this browser.
import { chart } from './chart.js';
import { element, readable } from './element.js';
import { bitsOf, picture, saying } from './record.js';

const TOLD_MAX = 80;

/** @param {string} id @returns {any} */
const $ = (id) => document.getElementById(id);

/** @param {string} what @param {object} data */
const post = (what, data) =>
  fetch(`/trial/${what}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(data),
  }).catch(() => {});

const config = await (await fetch('/trial/config.json')).json();
/** @param {string} id @returns {any} */
const aboutOf = (id) => config.about.find((/** @type {any} */ about) => about.id === id);

// ---- what does not change ----

$('folder').textContent =
  `${config.folder}: ${config.relay ? 'page, relay, edge, aggregator' : 'page, edge, aggregator'}${config.isNative ? ' (shoal serve)' : ''}, all on loopback. Reports are sent at once and in small batches here; a real recipe waits and hides in more.`;
$('simulated').hidden = $('crowd-card').hidden = !config.hasCrowd;
$('visitor').src = config.visitor;
$('visitor').addEventListener('load', () => {
  const { body } = $('visitor').contentDocument;
  const fit = () => {
    $('visitor').style.height = `${Math.min(640, Math.max(200, body.scrollHeight + 26))}px`;
  };
  new ResizeObserver(fit).observe(body);
});
for (const { id } of config.about) {
  const waits = config.hasCrowd
    ? 'The crowd is on its way.'
    : `Nothing is shown below ${config.cohort} reports.`;
  $('charts').append(
    element(
      'div',
      { id: `chart-${id}` },
      element('h3', {}, id),
      element('p', { class: 'quiet' }, waits),
    ),
  );
}
for (const { file, why } of config.left)
  $('charts').append(element('p', { class: 'quiet' }, `${file} is not tried: ${why}.`));

// ---- the share ----

/** @param {number} share */
function showShare(share) {
  const percent = Math.round(100 * share);
  $('share').value = String(percent);
  $('share-text').textContent = `${percent} %`;
}
showShare(config.share);
$('share').addEventListener('input', () => {
  showShare(Number($('share').value) / 100);
});
$('share').addEventListener('change', () =>
  post('share', { share: Number($('share').value) / 100 }),
);
$('more').addEventListener('click', () => post('more', {}));

// ---- the person's own record ----

const channel = new BroadcastChannel('shoal-trial');
channel.addEventListener('message', ({ data }) => {
  $('own-not').textContent = data.what === 'not' ? `Not sent (${data.code}): ${data.text}` : '';
  if (data.what !== 'own' || !data.report) return;
  const about = config.about.find((/** @type {any} */ { recipe }) => recipe === data.recipe);
  const bits = bitsOf(data.report);
  $('own-none').hidden = true;
  $('own').hidden = false;
  $('own-value').replaceChildren(
    'You did “',
    element('b', { dir: 'auto' }, readable(data.value)),
    '”. This page knows it, because it runs in your browser. All that left is this:',
  );
  $('own-picture').replaceChildren(...(bits ? [picture(bits)] : []));
  $('own-says').textContent = saying(data.report, about.epsilon);
  $('own-json').textContent = JSON.stringify(data.report, null, 2);
});

// ---- what the server tells ----

const events = new EventSource('/trial/events');
/** @param {string} name @param {(data: any) => void} act */
const on = (name, act) =>
  events.addEventListener(name, (event) =>
    act(JSON.parse(/** @type {MessageEvent} */ (event).data)),
  );

on('result', (result) => {
  const about = aboutOf(result.recipe);
  if (about) $(`chart-${result.recipe}`).replaceChildren(chart(result, about));
});
on('told', ({ who, text }) => {
  $('told').prepend(
    element('li', {}, element('span', { class: 'who' }, who), element('span', {}, text)),
  );
  while ($('told').children.length > TOLD_MAX) $('told').lastElementChild.remove();
});
on('share', ({ share }) => showShare(share));
on('reload', () => location.reload());
on('reload-page', () => $('visitor').contentWindow.location.reload());
events.addEventListener('error', () => {
  $('lost').textContent = 'shoal-dev does not answer. Start it again, and this page goes on.';
});
events.addEventListener('open', () => {
  // What was told before is told again, in its order.
  $('told').replaceChildren();
  if ($('lost').textContent !== '') location.reload();
});
document.documentElement.dataset.ready = '';
