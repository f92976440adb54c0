// SPDX-License-Identifier: Apache-2.0
// <shoal-panel>: what left this device, what waits, what it cost, why something was not sent, what
// was asked; and stop, erase, export. It shows what the client says and keeps nothing.
import { button, changed, h, isOn, plain } from './base.js';
import { pictureOf } from './picture.js';
import { recipesOf } from './recipes.js';
import { fitsOf, litIn, readRecord } from './record.js';

/**
 * @typedef {import('./base.js').Host} Host
 * @typedef {import('./base.js').Part} Part
 * @typedef {import('./base.js').Words} Words
 * @typedef {import('./record.js').View} View
 * @typedef {{state: string, reports: any[], ledger: any[], log: any[], explain: any[]}} Seen
 */

const LOOK_MS = 1000;
const SHOWN = 8;
const LINES = 50;
const DICTIONARY = 75_000; // words of a large dictionary; the attribute `words` states another number

/**
 * @typedef {object} State
 * @property {Host} host
 * @property {Words} words
 * @property {Words['say']} say
 * @property {{[id: string]: HTMLElement}} at the parts that change
 * @property {{[name: string]: string}} shown what is drawn now
 * @property {Seen | null} seen
 * @property {any[]} recipes
 * @property {any} readFrom the options that the recipes were read from
 * @property {Promise<void>} turn
 * @property {any} timer
 * @property {boolean} isStopped
 */

/** A part that changes. @param {State} s @param {string} id @param {string} tag @param {{}} [attributes] */
function piece(s, id, tag, attributes) {
  return (s.at[id] = h(tag, { id, ...attributes }));
}

/** @param {State} s @param {string} key @param {() => unknown} click */
function buttonOf(s, key, click) {
  return (s.at[key] = button(s.words, key, click));
}

/** @param {State} s */
function skeleton(s) {
  /** @param {string} key @param {import('./base.js').Child[]} children */
  const section = (key, ...children) =>
    (s.at[`${key}Section`] = h('div', h('h3', s.say(key)), ...children));
  /** @param {string} key @param {HTMLElement} inner */
  const folded = (key, inner) =>
    (s.at[`${key}Fold`] = h('details', h('summary', s.say(key)), inner));
  return h(
    'section.box',
    h('h2', s.say('panelTitle')),
    piece(s, 'state', 'p.soft', { role: 'status' }),
    h(
      'div.row',
      buttonOf(s, 'stop', () => stop(s)),
      buttonOf(s, 'erase', () => ask(s, true)),
      buttonOf(s, 'save', () => save(s)),
    ),
    (s.at.sure = h(
      'div.row',
      { hidden: '' },
      h('p', s.say('eraseSure')),
      buttonOf(s, 'eraseNo', () => ask(s, false)),
      buttonOf(s, 'eraseYes', () => erase(s)),
    )),
    section(
      'left',
      piece(s, 'record', 'div.row.record'),
      piece(s, 'counts', 'p', { role: 'status' }),
      folded('newestReports', piece(s, 'sent', 'ul.list')),
      folded(
        'raw',
        piece(s, 'json', 'pre', {
          tabindex: 0,
          role: 'region',
          'aria-label': s.say('raw'),
        }),
      ),
    ),
    section(
      'budget',
      piece(s, 'bar', 'div.bar', {
        role: 'meter',
        'aria-label': s.say('budget'),
      }),
      piece(s, 'spent', 'p'),
      piece(s, 'ever', 'p.soft.small'),
      folded('perCollection', piece(s, 'each', 'ul.list')),
    ),
    section('questions', piece(s, 'asked', 'ul.list')),
    section('runs', piece(s, 'followed', 'ul.list')),
    section('notSent', piece(s, 'reasons', 'ul.list')),
  );
}

/** Looks at the client now, one look after the other, and each second while the page is seen. @param {State} s */
function update(s) {
  return (s.turn = s.turn.then(async () => {
    clearTimeout(s.timer);
    if (s.isStopped) return;
    try {
      await look(s);
    } catch (error) {
      console.error('shoal-panel:', error);
      s.at.state.textContent = s.say('unseen');
    }
    if (!document.hidden) s.timer = setTimeout(() => update(s), LOOK_MS);
  }));
}

/** @param {State} s */
async function look(s) {
  const { client, options } = s.host;
  if (!client) return;
  if (s.readFrom !== options) {
    // A recipe that cannot be read leaves its records without a picture, and nothing else.
    s.recipes = await recipesOf(options).then(
      ({ recipes }) => recipes,
      () => [],
    );
    s.readFrom = options;
  }
  const [reports, ledger, log, explain] = await Promise.all([
    client.reports(),
    client.ledger(),
    client.log(),
    client.explain(),
  ]);
  s.seen = { state: client.consent.state, reports, ledger, log, explain };
  for (const [name, data] of Object.entries(s.seen)) {
    const text = JSON.stringify(data);
    if (s.shown[name] === text) continue;
    s.shown[name] = text;
    DRAW[name](s, data);
  }
}

/** Draws what changed of what a client says. @type {{[name: string]: (s: State, data: any) => void}} */
const DRAW = {
  state(s, state) {
    const view = isOn(state) ? 'on' : 'off';
    s.at.state.textContent = s.say(state === 'gpc' ? state : view);
    s.at.stop.hidden = view === 'off';
    s.host.setAttribute('view', view); // for the page's style sheet
  },
  reports: drawReports,
  ledger: drawLedger,
  log: (s, log) =>
    fillList(
      s,
      'asked',
      'questions',
      log.slice(0, LINES).map((/** @type {any} */ entry) => questionLine(s, entry)),
    ),
  explain(s, explain) {
    const lines = explain.slice(0, LINES).map((/** @type {any} */ each) => reasonLine(s, each));
    fillList(s, 'reasons', '', lines.length ? lines : [h('li', s.say('allSent'))]);
  },
};

/** @param {State} s @param {string} id @param {string} section that is hidden if the list is empty @param {Node[]} lines */
function fillList(s, id, section, lines) {
  s.at[id].replaceChildren(...lines);
  if (section) s.at[`${section}Section`].hidden = !lines.length;
}

/** @param {State} s @param {any[]} reports */
function drawReports(s, reports) {
  const { at } = s;
  const [newest] = reports;
  const of = (/** @type {string} */ state) => reports.filter((each) => each.state === state).length;
  at.record.replaceChildren(
    ...(newest ? recordParts(s, newest.report) : [h('div'), h('p.soft.said', s.say('nothing'))]),
  );
  at.counts.textContent = s.say('counts', {
    sent: of('sent'),
    queued: of('queued'),
    refused: of('refused'),
  });
  at.newestReportsFold.hidden = at.rawFold.hidden = !newest;
  at.json.textContent = newest ? plain(JSON.stringify(newest.report, null, 2), 1e6) : '';
  fillList(
    s,
    'sent',
    '',
    reports
      .slice(0, SHOWN)
      .map(({ state, at: time, report }) =>
        h(
          'li',
          pill(s, state),
          h('bdi', plain(report.key)),
          h('time.soft', { datetime: time }, timeText(s, time)),
        ),
      ),
  );
}

/** @param {State} s @param {string} state */
function pill(s, state) {
  return h(`span.pill.${state}`, s.say(state));
}

/** @param {State} s @param {string} time ISO 8601 */
function timeText(s, time) {
  const options = /** @type {const} */ ({ dateStyle: 'medium', timeStyle: 'short' });
  return new Date(time).toLocaleString(s.words.tag, options);
}

/** The picture of a record, and what it says. @param {State} s @param {any} report */
function recordParts(s, report) {
  const recipe = s.recipes.find((each) => each.recipe === report.key);
  const view = readRecord(report, recipe);
  const views = view.parts ?? [{ view, report, recipe }];
  const all = Number(s.host.getAttribute('words')) || DICTIONARY;
  const { epsilon = 0, epsilon_fragment: fragment = 0 } = report.parameters;
  const said = views.flatMap(({ view, report, recipe }) => {
    const fits = fitsOf(view, report, all);
    const nouns = s.say(`${recipe?.value}s`) || s.say('values');
    return fits
      ? [s.say('fits', { ...fits, fit: rounded(fits.fit) }).replace('{nouns}', nouns)]
      : [];
  });
  if (epsilon) said.push(s.say('less', { times: rounded(Math.exp(epsilon + fragment)) }));
  return [
    h('div', ...views.map(({ view }) => view.cells && pictured(s, view.cells))),
    h('div.said', ...[s.say('newest'), ...said].map((text) => h('p', text))),
  ];
}

/** @param {State} s @param {Uint8Array} cells */
const pictured = (s, cells) =>
  pictureOf(cells, s.say('picture', { n: cells.length, lit: litIn(cells) }));

/** One bar over all collections: of the site's budget, or of today. @param {State} s @param {any[]} ledger */
function drawLedger(s, ledger) {
  const { at } = s;
  const balances = ledger.filter((entry) => entry.recipe !== undefined);
  const total = ledger.find((entry) => entry.total);
  const [cap] = total?.caps ?? [];
  const parts = cap ? [cap.reserved] : balances.map(({ today }) => today.epsilon);
  const all = cap?.epsilon ?? sum(balances.map(({ verdict }) => verdict.window.epsilon));
  const used = sum(parts);
  const left = Math.max(0, sum([all, -used]));
  at.bar.replaceChildren(
    ...parts.map((/** @type {number} */ part) => {
      const segment = h('i');
      segment.style.flexBasis = `${(100 * part) / (all || 1)}%`;
      return segment;
    }),
  );
  for (const [name, value] of Object.entries({ now: used, min: 0, max: Math.max(all, used) }))
    at.bar.setAttribute(`aria-value${name}`, String(value));
  at.spent.textContent = s.say(cap ? 'budgetCap' : 'budgetToday', {
    days: cap?.days,
    used,
    all,
    left,
  });
  at.bar.setAttribute('aria-valuetext', at.spent.textContent);
  at.ever.textContent = total
    ? s.say('ever', { n: total.total.epsilon, count: total.total.count })
    : '';
  at.budgetSection.hidden = !balances.length && !cap;
  fillList(
    s,
    'each',
    '',
    balances.map((balance) => balanceLine(s, balance)),
  );
  at.perCollectionFold.hidden = !balances.length;
  fillList(
    s,
    'followed',
    'runs',
    ledger.flatMap((entry) => otherLines(s, entry)),
  );
}

/** @param {State} s @param {any} balance of a recipe */
function balanceLine(s, { recipe: name, today, verdict }) {
  const { words } = s;
  const { epsilon } = verdict.window;
  return h(
    'li',
    h('span', s.say('usedOf', { name, used: today.epsilon, all: epsilon })),
    h('span.soft', words.promise(epsilon * 1e6)),
  );
}

/** A run, an analysis or a task of exact sums. @param {State} s @param {any} entry */
function otherLines(
  s,
  { run, analysis, field, optedIn, epsilon, userEpsilon, epoch, epochs, exact, task, count, limit },
) {
  const line = (/** @type {string} */ key, /** @type {{}} */ values) => [
    h('li', s.say(key, values)),
  ];
  if (run)
    return line('runOf', { name: run, epoch, epochs, used: epsilon.used, all: epsilon.allowed });
  if (task) return line('exact', { name: exact ?? task.slice(0, 12), used: count, all: limit });
  if (analysis && field === null && optedIn)
    return line('usedOf', { name: analysis, used: userEpsilon.used, all: userEpsilon.allowed });
  return [];
}

/** @param {State} s @param {any} entry of log() */
function questionLine(s, { query, outcome, code, text, field, count, asked, analysis }) {
  const isAnswered = outcome === 'accepted';
  const fields = asked?.fields?.map((/** @type {any} */ each) => each.field).join(', ');
  const what = asked
    ? s.say('asksFor', { query, fields, epsilon: asked.personEpsilon ?? asked.localEpsilon })
    : plain(query ?? analysis ?? '');
  return h(
    'li',
    pill(s, isAnswered ? 'answered' : 'refused'),
    h('span', what),
    !isAnswered && told(s, code, text),
    !isAnswered && field && h('bdi', plain(field)),
    count > 1 && h('span.soft', s.say('often', { n: count })),
  );
}

/** A reason in the page's language, or in the client's. @param {State} s @param {string} code @param {string} text */
function told(s, code, text) {
  const { reasons } = s.words;
  return Object.hasOwn(reasons, code)
    ? h('span', reasons[code])
    : h('span', { lang: 'en', dir: 'ltr' }, plain(text, 600));
}

/** @param {State} s @param {any} reason of explain() */
function reasonLine(s, { code, text, recipe, count }) {
  return h(
    'li',
    told(s, code, text),
    recipe && h('bdi.soft', plain(recipe)),
    count > 1 && h('span.soft', s.say('often', { n: count })),
  );
}

// ---- what a person does ----

/** @param {State} s */
async function stop(s) {
  try {
    await s.host.client?.consent.withdraw();
  } catch {
    s.at.counts.textContent = s.say('unstored');
  }
  s.at.erase.focus();
  changed();
}

/** Asks whether to erase, or takes that back. @param {State} s @param {boolean} isAsked */
function ask(s, isAsked) {
  s.at.sure.hidden = !isAsked;
  s.at.erase.hidden = isAsked;
  (isAsked ? s.at.eraseNo : s.at.erase).focus();
}

/** @param {State} s */
async function erase(s) {
  try {
    await s.host.client?.erase();
    ask(s, false);
    changed();
    await update(s);
    s.at.counts.textContent = s.say('erased');
  } catch {
    s.at.counts.textContent = s.say('unstored');
  }
}

/** Hands over what is shown, as the client gave it. @param {State} s */
function save(s) {
  const text = JSON.stringify(s.seen ?? {}, null, 2);
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  h('a', { href: url, download: 'shoal.json' }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
/** Without the rounding errors of millionths. @param {number[]} numbers */
const sum = (numbers) => Math.round(numbers.reduce((all, each) => all + each, 0) * 1e6) / 1e6;

/** Two digits that matter. @param {number} number */
const rounded = (number) => (number < 1 ? 1 : Number(number.toPrecision(2)));

/** @param {Host} host @param {Words} words @returns {Promise<Part>} */
export async function part(host, words) {
  /** @type {State} */
  const s = {
    ...{ host, words, say: words.say, at: {}, shown: {}, seen: null, recipes: [], readFrom: null },
    ...{ turn: Promise.resolve(), timer: 0, isStopped: false },
  };
  host.shadowRoot.replaceChildren(skeleton(s));
  await update(s);
  return {
    update: () => update(s),
    stop() {
      s.isStopped = true;
      clearTimeout(s.timer);
    },
  };
}
