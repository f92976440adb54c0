// SPDX-License-Identifier: Apache-2.0
// <shoal-panel>: what left this device, what waits, what it cost, why something was not sent, what
// was asked; and stop, erase, export. It shows what the client says and keeps nothing.
import {
  adopt,
  changed,
  fitsOf,
  guessOf,
  h,
  litIn,
  pathsOf,
  picture,
  plain,
  readRecord,
  recipesOf,
  wordsOf,
} from './shared.js';
import own from './panel.css';

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

class Panel {
  #stopped = new AbortController();
  /** @type {{[section: string]: string}} what each section shows now */ #shown = {};
  /** @type {Seen | null} */ #seen = null;
  /** @type {any[]} */ #recipes = [];
  /** @type {any} */ #readFrom = null;
  #turn = Promise.resolve();
  /** @type {any} */ #timer = 0;

  /** @param {Host} host @param {Words} words */
  constructor(host, words) {
    this.host = host;
    this.words = words;
    /** The parts that change. @type {{[id: string]: HTMLElement}} */
    this.at = {};
    host.shadowRoot.replaceChildren(this.#skeleton());
    const { signal } = this.#stopped;
    document.addEventListener('shoal-change', () => this.update(), { signal });
    document.addEventListener('visibilitychange', () => this.update(), { signal });
  }

  stop() {
    this.#stopped.abort();
    clearTimeout(this.#timer);
  }

  /** A part that changes. @param {string} id @param {string} tag @param {{}} [attributes] */
  #part(id, tag, attributes) {
    return (this.at[id] = h(tag, { id, ...attributes }));
  }

  /** @param {string} key @param {() => unknown} click */
  #button(key, click) {
    return (this.at[key] = h('button', { type: 'button', id: key, click }, this.words.say(key)));
  }

  #skeleton() {
    const { words } = this;
    /** @param {string} key @param {import('./base.js').Child[]} children */
    const section = (key, ...children) =>
      (this.at[`${key}Section`] = h('div', {}, h('h3', {}, words.say(key)), ...children));
    /** @param {string} key @param {HTMLElement} inner */
    const folded = (key, inner) =>
      (this.at[`${key}Fold`] = h('details', {}, h('summary', {}, words.say(key)), inner));
    return h(
      'section',
      { class: 'box', 'aria-labelledby': 'title', dir: words.dir, lang: words.code },
      h('h2', { id: 'title' }, words.say('panelTitle')),
      this.#part('state', 'p', { class: 'soft', role: 'status' }),
      h(
        'div',
        { class: 'row' },
        this.#button('stop', () => this.#stop()),
        this.#button('erase', () => this.#ask(true)),
        this.#button('save', () => this.#save()),
      ),
      (this.at.sure = h(
        'div',
        { class: 'row', hidden: '' },
        h('p', {}, words.say('eraseSure')),
        this.#button('eraseNo', () => this.#ask(false)),
        this.#button('eraseYes', () => this.#erase()),
      )),
      section(
        'left',
        this.#part('record', 'div', { class: 'row record' }),
        this.#part('counts', 'p', { role: 'status' }),
        folded('newestReports', this.#part('sent', 'ul', { class: 'list' })),
        folded(
          'raw',
          this.#part('json', 'pre', {
            tabindex: 0,
            role: 'region',
            'aria-label': words.say('raw'),
          }),
        ),
      ),
      section(
        'budget',
        this.#part('bar', 'div', {
          class: 'bar',
          role: 'meter',
          'aria-label': words.say('budget'),
        }),
        this.#part('spent', 'p'),
        this.#part('ever', 'p', { class: 'soft small' }),
        folded('perCollection', this.#part('each', 'ul', { class: 'list' })),
      ),
      section('questions', this.#part('asked', 'ul', { class: 'list' })),
      section('runs', this.#part('followed', 'ul', { class: 'list' })),
      section('notSent', this.#part('reasons', 'ul', { class: 'list' })),
    );
  }

  /** Looks at the client now, one look after the other, and each second while the page is seen. */
  update() {
    return (this.#turn = this.#turn.then(async () => {
      clearTimeout(this.#timer);
      if (this.#stopped.signal.aborted) return;
      try {
        await this.#look();
      } catch (error) {
        console.error('shoal-panel:', error);
        this.at.state.textContent = this.words.say('unseen');
      }
      if (!document.hidden) this.#timer = setTimeout(() => this.update(), LOOK_MS);
    }));
  }

  async #look() {
    const { client, options } = this.host;
    if (!client) return;
    if (this.#readFrom !== options) {
      // A recipe that cannot be read leaves its records without a picture, and nothing else.
      this.#recipes = await recipesOf(options).then(
        ({ recipes }) => recipes,
        () => [],
      );
      this.#readFrom = options;
    }
    const [reports, ledger, log, explain] = await Promise.all([
      client.reports(),
      client.ledger(),
      client.log(),
      client.explain(),
    ]);
    const state = client.consent.state;
    this.#seen = { state, reports, ledger, log, explain };
    this.#draw(this.#seen);
  }

  /** Draws a section if what it shows changed. @param {string} name @param {unknown} data @param {() => void} draw */
  #changed(name, data, draw) {
    const text = JSON.stringify(data);
    if (this.#shown[name] === text) return;
    this.#shown[name] = text;
    draw();
  }

  /** @param {Seen} seen */
  #draw({ state, reports, ledger, log, explain }) {
    const { at, words } = this;
    const isOn = state === 'granted' || state === 'outdated';
    this.#changed('state', state, () => {
      at.state.textContent = words.say(isOn ? 'on' : state === 'gpc' ? 'gpc' : 'off');
      at.stop.hidden = !isOn;
      this.host.setAttribute('view', isOn ? 'on' : 'off'); // for the page's style sheet
    });
    this.#changed('reports', reports, () => this.#drawReports(reports));
    this.#changed('ledger', ledger, () => this.#drawLedger(ledger));
    this.#changed('log', log, () =>
      this.#list(
        'asked',
        'questions',
        log.slice(0, LINES).map((entry) => this.#question(entry)),
      ),
    );
    this.#changed('explain', explain, () => {
      const lines = explain.slice(0, LINES).map((reason) => this.#reason(reason));
      this.#list('reasons', '', lines.length ? lines : [h('li', {}, words.say('allSent'))]);
    });
  }

  /** @param {string} id @param {string} section that is hidden if the list is empty @param {Node[]} lines */
  #list(id, section, lines) {
    this.at[id].replaceChildren(...lines);
    if (section) this.at[`${section}Section`].hidden = !lines.length;
  }

  /** @param {any[]} reports */
  #drawReports(reports) {
    const { at, words } = this;
    const [newest] = reports;
    const of = (/** @type {string} */ state) =>
      reports.filter((each) => each.state === state).length;
    at.record.replaceChildren(
      ...(newest
        ? this.#record(newest.report)
        : [h('div'), h('p', { class: 'soft said' }, words.say('nothing'))]),
    );
    at.counts.textContent = words.say('counts', {
      sent: of('sent'),
      queued: of('queued'),
      refused: of('refused'),
    });
    at.newestReportsFold.hidden = at.rawFold.hidden = !newest;
    at.json.textContent = newest ? plainJson(newest.report) : '';
    this.#list(
      'sent',
      '',
      reports
        .slice(0, SHOWN)
        .map(({ state, at: time, report }) =>
          h(
            'li',
            {},
            this.#pill(state),
            h('bdi', {}, plain(report.key)),
            h('time', { class: 'soft', datetime: time }, this.#time(time)),
          ),
        ),
    );
  }

  /** @param {string} state */
  #pill(state) {
    return h('span', { class: `pill ${state}` }, this.words.say(state));
  }

  /** @param {string} time ISO 8601 */
  #time(time) {
    const options = /** @type {const} */ ({ dateStyle: 'medium', timeStyle: 'short' });
    return new Date(time).toLocaleString(this.words.code, options);
  }

  /** The picture of a record, and what it says. @param {any} report */
  #record(report) {
    const { words, host } = this;
    const recipe = this.#recipes.find((each) => each.recipe === report.key);
    const view = readRecord(report, recipe);
    const views = view.parts ?? [{ view, report, recipe }];
    const all = Number(host.getAttribute('words')) || DICTIONARY;
    const { epsilon = 0, epsilon_fragment: fragment = 0 } = report.parameters;
    const said = views.flatMap(({ view, report, recipe }) => {
      const fits = fitsOf(view, report, all);
      const noun = `${recipe?.value}s`;
      const nouns = words.strings[noun] ?? words.say('values');
      return fits
        ? [words.say('fits', { ...fits, fit: rounded(fits.fit) }).replace('{nouns}', nouns)]
        : [];
    });
    if (epsilon) said.push(words.say('less', { times: rounded(Math.exp(epsilon + fragment)) }));
    return [
      h('div', {}, ...views.map(({ view }) => view.cells && this.#picture(view.cells, view.form))),
      h(
        'div',
        { class: 'said' },
        ...[words.say('newest'), ...said].map((text) => h('p', {}, text)),
      ),
    ];
  }

  /** @param {Uint8Array} cells @param {string} form */
  #picture(cells, form) {
    const { box, dark, lit } = pathsOf(cells);
    const label = this.words.say('picture', { n: cells.length, lit: litIn(cells) });
    return h(
      'svg:svg',
      { class: form, viewBox: box.join(' '), role: 'img', 'aria-label': label },
      // If there are few cells, the dark ones are drawn too, so that they can be counted.
      cells.length <= 256 && h('svg:path', { class: 'dark', d: dark }),
      h('svg:path', { class: 'lit', d: lit }),
    );
  }

  /** One bar over all collections: of the site's budget, or of today. @param {any[]} ledger */
  #drawLedger(ledger) {
    const { at, words } = this;
    const balances = ledger.filter((entry) => entry.recipe !== undefined);
    const total = ledger.find((entry) => entry.total);
    const [cap] = total?.caps ?? [];
    const parts = cap ? [cap.reserved] : balances.map(({ today }) => today.epsilon);
    const all = cap?.epsilon ?? sum(balances.map(({ verdict }) => verdict.window.epsilon));
    const used = sum(parts);
    const left = Math.max(0, sum([all, -used]));
    let x = 0;
    const rects = parts.map((/** @type {number} */ part) => {
      const width = all ? Math.min(100 - x, (100 * part) / all) : 0;
      const rect = h('svg:rect', { x: `${x}%`, y: 0, width: `${width}%`, height: '100%' });
      x += width;
      return rect;
    });
    at.bar.replaceChildren(
      h('svg:svg', { class: 'bar', height: '100%', 'aria-hidden': 'true' }, ...rects),
    );
    for (const [name, value] of Object.entries({ now: used, min: 0, max: Math.max(all, used) }))
      at.bar.setAttribute(`aria-value${name}`, String(value));
    at.spent.textContent = words.say(cap ? 'budgetCap' : 'budgetToday', {
      days: cap?.days,
      used,
      all,
      left,
    });
    at.bar.setAttribute('aria-valuetext', at.spent.textContent);
    at.ever.textContent = total
      ? words.say('ever', { n: total.total.epsilon, count: total.total.count })
      : '';
    at.budgetSection.hidden = !balances.length && !cap;
    this.#list(
      'each',
      '',
      balances.map((balance) => this.#balance(balance)),
    );
    at.perCollectionFold.hidden = !balances.length;
    this.#list(
      'followed',
      'runs',
      ledger.flatMap((entry) => this.#other(entry)),
    );
  }

  /** @param {any} balance of a recipe */
  #balance({ recipe: name, today, verdict }) {
    const { words } = this;
    const { epsilon } = verdict.window;
    return h(
      'li',
      {},
      h('span', {}, words.say('usedOf', { name, used: today.epsilon, all: epsilon })),
      h('span', { class: 'soft' }, words.promise(guessOf(Math.round(epsilon * 1e6)))),
    );
  }

  /** A run, an analysis or a task of exact sums. @param {any} entry */
  #other({
    run,
    analysis,
    field,
    optedIn,
    epsilon,
    userEpsilon,
    epoch,
    epochs,
    exact,
    task,
    count,
    limit,
  }) {
    const { words } = this;
    const line = (/** @type {string} */ key, /** @type {{}} */ values) => [
      h('li', {}, words.say(key, values)),
    ];
    if (run)
      return line('runOf', { name: run, epoch, epochs, used: epsilon.used, all: epsilon.allowed });
    if (task) return line('exact', { name: exact ?? task.slice(0, 12), used: count, all: limit });
    if (analysis && field === null && optedIn)
      return line('usedOf', { name: analysis, used: userEpsilon.used, all: userEpsilon.allowed });
    return [];
  }

  /** @param {any} entry of log() */
  #question({ query, outcome, code, text, field, count, asked, analysis }) {
    const { words } = this;
    const isAnswered = outcome === 'accepted';
    const fields = asked?.fields?.map((/** @type {any} */ each) => each.field).join(', ');
    const what = asked
      ? words.say('asksFor', { query, fields, epsilon: asked.personEpsilon ?? asked.localEpsilon })
      : plain(query ?? analysis ?? '');
    return h(
      'li',
      {},
      this.#pill(isAnswered ? 'answered' : 'refused'),
      h('span', {}, what),
      !isAnswered && this.#told(code, text),
      !isAnswered && field && h('bdi', {}, plain(field)),
      count > 1 && h('span', { class: 'soft' }, words.say('often', { n: count })),
    );
  }

  /** A reason in the page's language, or in the client's. @param {string} code @param {string} text */
  #told(code, text) {
    const { reasons } = this.words;
    return Object.hasOwn(reasons, code)
      ? h('span', {}, reasons[code])
      : h('span', { lang: 'en', dir: 'ltr' }, plain(text, 600));
  }

  /** @param {any} reason of explain() */
  #reason({ code, text, recipe, count }) {
    return h(
      'li',
      {},
      this.#told(code, text),
      recipe && h('bdi', { class: 'soft' }, plain(recipe)),
      count > 1 && h('span', { class: 'soft' }, this.words.say('often', { n: count })),
    );
  }

  // ---- what a person does ----

  async #stop() {
    try {
      await this.host.client?.consent.withdraw();
    } catch {
      this.at.counts.textContent = this.words.say('unstored');
    }
    this.at.erase.focus();
    changed();
  }

  /** Asks whether to erase, or takes that back. @param {boolean} isAsked */
  #ask(isAsked) {
    this.at.sure.hidden = !isAsked;
    this.at.erase.hidden = isAsked;
    (isAsked ? this.at.eraseNo : this.at.erase).focus();
  }

  async #erase() {
    try {
      await this.host.client?.erase();
      this.#ask(false);
      changed();
      await this.#turn;
      this.at.counts.textContent = this.words.say('erased');
    } catch {
      this.at.counts.textContent = this.words.say('unstored');
    }
  }

  /** Hands over what is shown, as the client gave it. */
  #save() {
    const text = JSON.stringify(this.#seen ?? {}, null, 2);
    const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
    h('a', { href: url, download: 'shoal.json' }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  }
}

/** JSON in which nothing turns the direction of text round. @param {unknown} data */
const plainJson = (data) =>
  JSON.stringify(data, null, 2).replace(
    /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Without the rounding errors of millionths. @param {number[]} numbers */
const sum = (numbers) => Math.round(numbers.reduce((all, each) => all + each, 0) * 1e6) / 1e6;

/** Two digits that matter. @param {number} number */
const rounded = (number) => (number < 1 ? 1 : Number(number.toPrecision(2)));

/** @param {Host} host @returns {Promise<Part>} */
export async function part(host) {
  const words = await wordsOf(host);
  adopt(host, picture, own);
  const made = new Panel(host, words);
  await made.update();
  return made;
}
