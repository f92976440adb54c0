// SPDX-License-Identifier: Apache-2.0
// The playground: a form, a worker that runs the commands, and what they answer as a chart. Nothing
// leaves the page; a link holds the settings, but never a person's own list.
import 'shoal-ui';
import { chart } from '../../../dev/page/chart.js';
import { element } from '../../../dev/page/element.js';
import { verdictOf } from '../../../wasm/client/verdict.js';
import { countsFile, devicesAt, fragmentOf, heldBy, settingsOf } from './crowd.js';

/** @typedef {import('./crowd.js').Settings} Settings */
/** @typedef {import('./commands.js').Drawn} Drawn */

const ROWS = 20;
const WAIT_MS = 250; // sliders move through many values on their way
const EXAMPLE = 'tea\t500\ncoffee\t400\nwater\t90\njuice\t9\n';

/** @param {string} id @returns {any} */
const part = (id) => document.getElementById(id);
/** @type {any} */
const form = part('crowd');
const fields = form.elements;
const worker = new Worker(new URL('worker.js', import.meta.url), { type: 'module' });
let seed = 1;
let asked = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** @param {number} number */
const said = (number) => number.toLocaleString('en-US');
/** @param {number} share */
const percent = (share) => `${said(Number((100 * share).toPrecision(2)))} %`;

/** @returns {Settings} */
const settings = () => ({
  kind: fields.kind.value,
  own: fields.own.value,
  devices: devicesAt(Number(fields.devices.value)),
  skew: Number(fields.skew.value),
  epsilon: Number(fields.epsilon.value),
  mechanism: fields.mechanism.value,
  seed,
});

/** Says beside each slider what it stands for. @param {Settings} now */
function tellSettings(now) {
  part('devices-said').value = said(now.devices);
  part('skew-said').value = `Zipf's exponent ${now.skew}`;
  part('epsilon-said').value = String(now.epsilon);
  const { text } = verdictOf(now.epsilon * 1e6);
  part('verdict').textContent = `One report: ${text}.`;
  const isOwn = now.kind === 'own';
  part('own-field').hidden = !isOwn;
  part('skew-field').hidden = isOwn;
  part('try').setAttribute('epsilon', String(now.epsilon));
  part('link').href = `#${fragmentOf({ ...now, devices: fields.devices.value })}`;
}

/** Asks the worker for the crowd of these settings. */
function draw() {
  const now = settings();
  tellSettings(now);
  part('own-problem').textContent = '';
  try {
    const counts = countsFile(heldBy(now));
    worker.postMessage({ id: ++asked, settings: now, counts });
  } catch (error) {
    asked++;
    part('status').textContent = '';
    part('own-problem').textContent = /** @type {Error} */ (error).message;
  }
}

/** What the chart shows, in a sentence. @param {Drawn} drawn */
function answerOf({ rows, n, mechanism, isNothing }) {
  const seen = rows.filter(({ detected }) => detected);
  const least = seen.reduce((most, { count }) => Math.min(most, count), Infinity);
  if (seen.length === 0) {
    const why = isNothing ? ' The planner says so before anybody is asked.' : '';
    return `Nothing can be told from zero in ${said(n)} reports.${why} Take more reports, or a larger epsilon.`;
  }
  return (
    `${said(seen.length)} of ${said(rows.length)} values can be told from zero, ` +
    `down to ${percent(least / n)} of the reports, with ${mechanism}.`
  );
}

/** @param {Drawn} drawn */
function othersOf({ candidates, mechanism, n }) {
  const head = ['Mechanism', 'Standard error', 'Smallest share', 'Values seen', 'Bytes'];
  return element(
    'table',
    {},
    element('caption', { class: 'quiet' }, `As planned for ${said(n)} reports`),
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        ...head.map((text, i) =>
          element('th', { scope: 'col', class: i === 0 ? '' : 'num' }, text),
        ),
      ),
    ),
    element(
      'tbody',
      {},
      ...candidates.map((each) =>
        element(
          'tr',
          { class: each.mechanism === mechanism ? 'chosen' : '' },
          element('th', { scope: 'row' }, each.mechanism),
          ...[
            said(Math.round(each.stderr)),
            each.smallest_share === null ? 'none' : percent(each.smallest_share),
            each.detectable === null ? 'none' : said(each.detectable),
            said(each.record_bytes),
          ].map((text) => element('td', { class: 'num' }, text)),
        ),
      ),
    ),
  );
}

/** Keeps the person's choice among the mechanisms that the planner compares. @param {Drawn} drawn */
function offer({ candidates }) {
  const select = fields.mechanism;
  const chosen = select.value;
  const names = candidates.map(({ mechanism }) => mechanism).sort();
  const held = [...select.options].slice(1).map((/** @type {any} */ option) => option.value);
  if (names.join() === held.join()) return;
  select.replaceChildren(select.options[0], ...names.map((name) => new Option(name, name)));
  select.value = names.includes(chosen) ? chosen : '';
}

/** @param {Drawn} drawn */
function show(drawn) {
  const { rows, n } = drawn;
  const most = rows.slice(0, ROWS).map((row) => ({ ...row, own: false }));
  const result = { recipe: 'Largest estimates', n, rows: most, hidden: rows.length - most.length };
  part('seen').replaceChildren(chart(result, { kind: '', epsilon: settings().epsilon }));
  part('answer').textContent = answerOf(drawn);
  part('others').replaceChildren(othersOf(drawn));
  part('commands').textContent = drawn.commands;
  part('status').textContent = '';
  part('problem').textContent = '';
  offer(drawn);
}

worker.addEventListener('message', ({ data: { id, step, drawn, problem } }) => {
  if (id !== asked) return;
  if (step) part('status').textContent = `${step}…`;
  if (drawn) show(drawn);
  if (problem) {
    part('status').textContent = '';
    part('problem').textContent = `This crowd could not be drawn: ${problem}`;
  }
});
worker.addEventListener('error', () => {
  part('status').textContent = '';
  part('problem').textContent =
    'The estimator did not load. Serve shoal.wasm and worker.js beside this page, by HTTP.';
});

/** Takes the settings of the page's address. */
function takeLink() {
  const given = settingsOf(location.hash);
  for (const name of ['kind', 'devices', 'skew', 'epsilon'])
    if (given[name] !== undefined) fields[name].value = given[name];
  if (fields.kind.value === '') fields.kind.value = 'words';
  const { mechanism, seed: drawn } = given;
  if (mechanism) {
    fields.mechanism.append(new Option(mechanism, mechanism));
    fields.mechanism.value = mechanism;
  }
  if (/^[0-9]{1,6}$/.test(drawn ?? '')) seed = Number(drawn);
}

form.addEventListener('input', () => {
  tellSettings(settings());
  clearTimeout(timer);
  timer = setTimeout(draw, WAIT_MS);
});
form.addEventListener('submit', (/** @type {Event} */ event) => {
  event.preventDefault();
  seed++;
  clearTimeout(timer);
  draw();
});
addEventListener('hashchange', () => {
  takeLink();
  draw();
});

fields.own.value = EXAMPLE;
takeLink();
part('main').hidden = false;
draw();
