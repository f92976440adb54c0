// SPDX-License-Identifier: Apache-2.0
// Windows of recipes that pick uniformly: each report answers for one event of a window, or for none
// where there was none. This is a chunk of its own, loaded if a page has such a recipe.
//
// A window opens with the first visible page of a UTC day. Opening pays for all of its reports,
// tosses the sampling coin of each, and makes for each a record of "none": a slot. Every event draws
// a number u and makes a record for every slot, with coins of the slot's own. The slot keeps the
// record of the largest u, so each event is as likely to stay as any other, and nothing is counted.
// An event that the recipe does not count takes the same way, and is never kept.
//
// A window of a `visit` is in the memory of one page, sealed at once and sent when that page is first
// hidden. A window of a `day` is in storage, for all tabs, and sent once its day is over. What is
// refused and when anything is sent follows from dates and visibility, never from events.
import { DAY_MS, VISITS, VISITS_LIVE, chunk, today, uniform } from './basics.js';
import { itemOf } from './items.js';
import { sealingOf } from './page_recipes.js';
import { sendNow } from './send_now.js';
import { STEP, addStep, draw, slotsOf, stepsOf } from './window_slots.js';

/**
 * @typedef {import('../bindings/device.js').Core} Core
 * @typedef {import('../bindings/device.js').Recipe} Recipe
 * @typedef {import('../bindings/device.js').ReportJson} ReportJson
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./tokens.js').Sealing} Sealing
 * @typedef {import('./outbox.js').Outbox} Outbox
 * @typedef {import('./storage.js').Row} Row
 * @typedef {import('./tokens.js').Taken} Taken
 * @typedef {import('./storage.js').Transaction} Transaction
 *
 * @typedef {import('./window_slots.js').Slot} Slot
 * @typedef {object} Kept the row of a window in the store `events`
 * @property {number} expires the recipe's last day
 * @property {Slot[] | null} [slots] of a day's window: null while it is paid for but has no records
 * @property {Taken[]} [tokens] of its reports, until the slots have them
 * @property {number} [steps] of a funnel that were reached: bit i - 1 for step i
 *
 * @typedef {object} VisitSlot
 * @property {string} id
 * @property {number} u
 * @property {Row | null} row what is sent; null where a record cannot be sealed
 * @property {string} [token]
 * @property {import('./relay.js').Ahead} [ahead] its request, sealed for the page's relay
 * @typedef {object} Visit
 * @property {Recipe} recipe
 * @property {number} era of the consent that it was opened under
 * @property {NonNullable<Sealing['seal']> | undefined} seal
 * @property {VisitSlot[]} slots
 * @property {number} steps of a funnel that were reached
 */

const PREFIX = '~window/'; // keys of the store `events`: the prefix, the recipe's hash, the day
const HOUR_MS = 3_600_000;
const KEEPALIVE_MAX = 60_000; // bytes that a page may have in flight when it goes

/** @param {Recipe} recipe @param {number} day */
const keyOf = ({ hash }, day) => `${PREFIX}${hash}/${day}`;

/**
 * Loads what an event would load: a word, a funnel's step, an address. Later, a request would tell.
 * @param {Recipe[]} recipes
 * @param {Context['deps']} deps
 */
function loadAhead(recipes, { sites }) {
  const kinds = recipes.flatMap(({ json }) =>
    [json, ...(json.variables ?? [])].map(({ value }) => value),
  );
  const has = (/** @type {string} */ kind) => kinds.includes(kind);
  Promise.all([
    (has('word') || recipes.some(({ json }) => json.variables)) && import('./observe.js'),
    (has('host') || has('site')) && import('./address.js'),
    has('site') && sites(),
  ]).catch(() => {}); // the event tries again, and says so
}

export class Windows {
  #context;
  #outbox;
  #core;
  /** In the order of their hashes, so that what is paid for first follows from the page alone. */
  #recipes;
  #document;
  #signal;
  /** The visits of this page, by recipe hash. @type {Map<string, Visit>} */
  #visits = new Map();
  /** Why a recipe has no window, by its hash. @type {Map<string, {day: number, code: string}>} */
  #refused = new Map();
  /** The opening that is under way. @type {Promise<void> | null} */
  #opening = null;
  /** Was the page ever put aside, so that it is a restored one from then on? */
  #isRestored = false;
  /** Does this page hold the locks of visits? */
  #isHeld = false;
  /** Releases them. @type {() => void} */
  #release = () => {};
  /** @type {any} */
  #timer;

  /**
   * @param {Context} context
   * @param {Outbox} outbox
   * @param {{core: Core, recipes: Recipe[]}} ready
   * @param {AbortSignal} signal ends listeners and timers
   */
  constructor(context, outbox, { core, recipes }, signal) {
    this.#context = context;
    this.#outbox = outbox;
    this.#core = core;
    this.#recipes = recipes
      .filter(({ send }) => send.pick === 'uniform')
      .sort((a, b) => (a.hash < b.hash ? -1 : 1));
    this.#document = context.options.document ?? globalThis.document;
    this.#signal = signal;
    loadAhead(this.#recipes, context.deps);
    this.#listen();
  }

  /** Is this a page that a person can see? A worker is none, nor is a page that is prerendered. */
  get #isVisible() {
    const shown = this.#document;
    return shown?.visibilityState === 'visible' && !(/** @type {any} */ (shown).prerendering);
  }

  #listen() {
    const signal = this.#signal;
    const shown = this.#document;
    const changed = () => (this.#isVisible ? void this.open() : this.#end());
    for (const name of ['visibilitychange', 'prerenderingchange'])
      shown?.addEventListener(name, changed, { signal });
    const hidden = (/** @type {any} */ { persisted }) => {
      this.#isRestored ||= persisted;
      this.#end();
    };
    (shown?.defaultView ?? globalThis).addEventListener?.('pagehide', hidden, { signal });
    signal.addEventListener('abort', () => {
      this.#context.deps.clearTimer(this.#timer);
      this.#drop();
    });
  }

  /**
   * Opens the windows of today that are not open yet, if the page is visible. Nothing else opens
   * one; in particular no event does, so a window tells nothing about events.
   */
  open() {
    this.#wake();
    this.#opening ??= this.#openAll().finally(() => (this.#opening = null));
    return this.#opening;
  }

  /** Opens the next day's windows when it begins, in a page that stays open. */
  #wake() {
    const { now, setTimer, clearTimer } = this.#context.deps;
    if (this.#signal.aborted) return;
    clearTimer(this.#timer);
    const left = DAY_MS - (now() % DAY_MS); // the clock may be set meanwhile, hence the hour
    this.#timer = setTimer(
      () => {
        void this.open();
        void this.#outbox.flush();
      },
      Math.min(left, HOUR_MS),
    );
  }

  async #openAll() {
    const context = this.#context;
    await context.open();
    for (const recipe of this.#recipes) {
      if (!context.isOn || !this.#isVisible) break;
      try {
        const isVisit = recipe.send.window === 'visit';
        // What asks for more than the person agreed to pays for nothing.
        const code = context.isMore(recipe)
          ? 'outdated'
          : await (isVisit ? this.#openVisit(recipe) : this.#openDay(recipe));
        if (code) this.#refused.set(recipe.hash, { day: today(context.deps), code });
        else this.#refused.delete(recipe.hash);
      } catch (error) {
        context.noteError(error, recipe.id);
      }
    }
    if (!this.#visits.size) this.#release();
  }

  /**
   * Pays for a window, durably, and marks it as opened, unless it is open already. All of its
   * reports are paid for or none, with budget and with tokens. Returns the row, or the code that says
   * why there is none.
   * @param {Recipe} recipe
   * @param {number} era
   * @param {Sealing['take']} take
   * @returns {Promise<{code?: string, day?: number, row?: Kept, tokens?: Taken[], isNew?: boolean}>}
   */
  async #pay(recipe, era, take) {
    const context = this.#context;
    const paid = await context.exclusive(async (tx) => {
      if (era !== context.era) return undefined;
      const day = today(context.deps);
      const key = keyOf(recipe, day);
      /** @type {Kept | undefined} */
      const known = await tx.get('events', key);
      if (known) return { day, row: known };
      const { code, tokens } = await this.#debit(tx, recipe, day, take);
      if (code) return { code };
      /** @type {Kept} */
      const row = { expires: recipe.expiresDay, slots: null };
      // A visit is in memory only, and so are its tokens.
      if (tokens && recipe.send.window === 'day') row.tokens = tokens;
      await tx.put('events', key, row);
      return { day, row, tokens, isNew: true };
    });
    return paid ?? { code: 'no-consent' };
  }

  /**
   * Debits all reports of a window and takes their tokens, or does neither. Returns why not.
   * @param {Transaction} tx
   * @param {Recipe} recipe
   * @param {number} day
   * @param {Sealing['take']} take
   * @returns {Promise<{code?: string, tokens?: Taken[]}>}
   */
  async #debit(tx, recipe, day, take) {
    const context = this.#context;
    const code = await context.refusal(tx, this.#core, recipe);
    if (code) return { code };
    let bytes = await context.ledgerOf(tx, this.#core);
    try {
      bytes = this.#core.ledger.debit(bytes, recipe, day, recipe.limit.perDay);
    } catch (thrown) {
      const error = /** @type {any} */ (thrown); // of another chunk, so it has another class
      if (error.name !== 'ShoalError') throw error;
      return { code: error.code };
    }
    const tokens = await take?.(tx, recipe.limit.perDay);
    if (tokens === null) return { code: 'no-token' };
    await tx.put('state', 'ledger', bytes);
    return { tokens };
  }

  /**
   * Takes an event. Returns `entered`, or the code that says why it does not count.
   * @param {Recipe} recipe
   * @param {any} value or a step of a funnel
   * @param {number} era of the consent under which the event came
   * @param {number} [order] of an event that says all of its window, in place of the number drawn:
   *   the last one in this order stays
   * @returns {Promise<string>}
   */
  async take(recipe, value, era, order) {
    await this.#opening;
    const step = order === undefined && value?.[STEP];
    if (step) return this.#reach(recipe, step, era);
    const { code, ...item } = await itemOf(recipe, value, this.#context.deps.sites);
    const isVisit = recipe.send.window === 'visit';
    // An event that is not counted brings "none", and is written like any other.
    const brought = code === undefined ? { value: null, ...item } : {};
    const isTaken = await (isVisit
      ? this.#takeInVisit(recipe, brought, era, order)
      : this.#takeInDay(recipe, brought, era, order));
    return isTaken ? (code ?? 'entered') : this.#whyNot(recipe);
  }

  /**
   * Adds a step to those that the window reached, and takes all of them as its one event.
   * @param {Recipe} recipe of variables, each `yes` or `no`
   * @param {number} step 1 for the first variable
   * @param {number} era
   * @returns {Promise<string>}
   */
  async #reach(recipe, step, era) {
    const context = this.#context;
    const visit = this.#visits.get(recipe.hash);
    const bit = 1 << (step - 1);
    const isVisit = recipe.send.window === 'visit';
    const key = keyOf(recipe, today(context.deps));
    const steps = isVisit ? visit && (visit.steps |= bit) : await addStep(context, key, bit, era);
    if (!steps) return this.#whyNot(recipe);
    // Steps are only added, so the number of their bits grows, and a late record of fewer stays out.
    return this.take(recipe, stepsOf(recipe, steps), era, steps);
  }

  /** @param {Recipe} recipe */
  #whyNot({ hash }) {
    const known = this.#refused.get(hash);
    if (!this.#context.isOn) return 'no-consent';
    return known?.day === today(this.#context.deps) ? known.code : 'no-window';
  }

  // ---- the window of a day ----

  /** @param {Recipe} recipe @returns {Promise<string | undefined>} why it is not open */
  async #openDay(recipe) {
    const context = this.#context;
    const never = await context.unsendable();
    if (never) return never;
    const { era } = context;
    const { take, code: none } = recipe.json.send.token ? await sealingOf(context, recipe) : {};
    // Without tokens no window opens, but one that is open has its own.
    const { code, day = 0, row } = await this.#pay(recipe, era, none ? async () => null : take);
    // A page that died between payment and records has made none, so this one makes them.
    if (code || row?.slots) return code;
    const slots = slotsOf(context.deps, recipe, row?.tokens);
    await context.exclusive(async (tx) => {
      const key = keyOf(recipe, day);
      /** @type {Kept | undefined} */
      const now = await tx.get('events', key);
      if (era !== context.era || !now || now.slots) return;
      const { tokens: _, ...rest } = now;
      await tx.put('events', key, { ...rest, slots });
    });
    return undefined;
  }

  /** @param {Recipe} recipe @param {{value?: any}} item @param {number} era @param {number} [order] */
  async #takeInDay(recipe, item, era, order) {
    const context = this.#context;
    return context.exclusive(async (tx) => {
      const key = keyOf(recipe, today(context.deps));
      /** @type {Kept | undefined} */
      const row = await tx.get('events', key);
      if (era !== context.era || !row?.slots) return false;
      for (const slot of row.slots) {
        const drawn = draw(context.deps, recipe, item, order);
        if ('value' in item && drawn.u > slot.u) Object.assign(slot, drawn);
      }
      await tx.put('events', key, row);
      return true;
    });
  }

  /**
   * Moves the records of days that are over into the queue, and erases those of recipes that have
   * expired. Each is sealed now, under the keys that the servers have now.
   */
  async tidy() {
    const context = this.#context;
    const day = today(context.deps);
    /** @type {[string, Kept][]} */
    const rows = await context.transaction(async (tx) =>
      (await tx.entries('events')).filter(([key]) => key.startsWith(PREFIX)),
    );
    for (const [key, row] of rows) {
      const [, hash, opened] = key.split('/');
      const recipe = this.#recipes.find((each) => each.hash === hash);
      if (day > row.expires || (Number(opened) < day && !row.slots))
        await context.locked((tx) => tx.delete('events', key));
      else if (Number(opened) < day && recipe && !context.isMore(recipe))
        await this.#close(key, recipe, row.slots ?? []);
    }
  }

  /** @param {string} key @param {Recipe} recipe @param {Slot[]} slots */
  async #close(key, recipe, slots) {
    const context = this.#context;
    const { deps } = context;
    // The slots have their tokens already.
    const { code, seal } = recipe.json.send.token ? {} : await sealingOf(context, recipe);
    if (code) return void context.note(code, recipe.id);
    /** @type {[string, Row][]} */
    const rows = [];
    for (const slot of slots) {
      const row = await this.#sealed(recipe, slot, seal);
      const due = deps.now() + Math.floor(uniform(deps) * recipe.send.delayS * 1000);
      if (row) rows.push([slot.id, { ...row, due }]);
    }
    await context.exclusive(async (tx) => {
      if (!(await tx.get('events', key))) return; // moved or erased meanwhile
      await tx.delete('events', key);
      for (const [id, row] of rows) await tx.put('queue', id, row);
    });
  }

  /**
   * Makes the row of the queue for a record; null where it cannot be sealed.
   * @param {Recipe} recipe
   * @param {Omit<Slot, 'u'>} slot
   * @param {Sealing['seal']} seal
   * @returns {Promise<Row | null>}
   */
  async #sealed(recipe, { id, record, token }, seal) {
    const { url, deps } = this.#context;
    const report = recipe.report(record);
    /** @type {any} */
    const sealed = token ? { token } : await seal?.(report, id);
    if (!sealed?.code) return { report, endpoint: url, due: deps.now(), tries: 0, ...sealed };
    this.#context.note(sealed.code, recipe.id);
    return null;
  }

  // ---- the window of a visit ----

  /** @param {Recipe} recipe @returns {Promise<string | undefined>} why it is not open */
  async #openVisit(recipe) {
    const context = this.#context;
    const { era } = context;
    // A visit that is under way goes on over midnight, and belongs to the day of its opening.
    const open = this.#visits.get(recipe.hash);
    if (open?.era === era) {
      // What was sealed for a relay says the hour, and a gateway refuses old ones.
      for (const slot of open.slots) slot.ahead = await this.#ahead(slot.id, slot.row);
      return undefined;
    }
    if (this.#isRestored) return 'window-over';
    const { code, seal, take } = await sealingOf(context, recipe);
    if (code) return code;
    await this.#hold();
    const { code: refused, tokens, isNew } = await this.#pay(recipe, era, take);
    if (refused || !isNew) return refused ?? 'window-over';
    /** @type {VisitSlot[]} */
    const slots = [];
    for (const slot of slotsOf(context.deps, recipe, tokens)) {
      const { id, token } = slot;
      const row = await this.#sealed(recipe, slot, seal);
      slots.push({ id, token, u: -1, row, ahead: await this.#ahead(id, row) });
    }
    if (era !== context.era || !this.#isHeld) return 'no-consent'; // it was withdrawn meanwhile
    this.#visits.set(recipe.hash, { recipe, era, seal, slots, steps: 0 });
    if (!this.#isVisible) this.#end(); // it was hidden meanwhile
    return undefined;
  }

  /**
   * Holds the locks that say that this page has records in memory. Who ends consent steals the one,
   * so that this page drops them, and waits for the other, which is released after that.
   */
  async #hold() {
    const { locks } = this.#context.deps;
    if (this.#isHeld) return;
    this.#isHeld = true;
    const held = new Promise((resolve) => {
      this.#release = () => {
        this.#isHeld = false;
        resolve(undefined);
      };
    });
    for (const name of [VISITS_LIVE, VISITS])
      await new Promise((taken, failed) => {
        locks
          .request(name, { mode: 'shared' }, () => (taken(undefined), held))
          .catch((error) => (failed(error), this.#drop()));
      });
  }

  /** Forgets the records of this page's visits. */
  #drop() {
    this.#visits.clear();
    this.#release();
  }

  /**
   * Seals a request for the page's relay, since a page that goes has no time for it.
   * @param {string} id @param {Row | null} row
   */
  async #ahead(id, row) {
    if (!row || !this.#context.options.relay) return undefined;
    const { url, init } = this.#outbox.requestOf(id, row);
    return (await chunk(import('./relay.js'))).ahead(this.#context, url, init);
  }

  /** @param {Recipe} recipe @param {{value?: any}} item @param {number} era @param {number} [order] */
  async #takeInVisit(recipe, item, era, order) {
    const visit = this.#visits.get(recipe.hash);
    if (!visit || visit.era !== era) return false;
    const drawn = visit.slots.map(() => draw(this.#context.deps, recipe, item, order));
    const rows = await Promise.all(
      visit.slots.map(({ id, token }, i) =>
        this.#sealed(recipe, { id, token, record: drawn[i].record }, visit.seal),
      ),
    );
    const aheads = await Promise.all(visit.slots.map(({ id }, i) => this.#ahead(id, rows[i])));
    if (this.#visits.get(recipe.hash) !== visit) return false; // it ended meanwhile
    visit.slots.forEach((slot, i) => {
      if ('value' in item && drawn[i].u > slot.u)
        Object.assign(slot, { u: drawn[i].u, row: rows[i], ahead: aheads[i] });
    });
    return true;
  }

  /**
   * Ends the visits of this page and sends their records, at once: the page may not live to see
   * another task.
   */
  #end() {
    const context = this.#context;
    let room = KEEPALIVE_MAX;
    for (const { recipe, era, slots } of this.#visits.values()) {
      this.#refused.set(recipe.hash, { day: today(context.deps), code: 'window-over' });
      if (!context.isOn || era !== context.era || today(context.deps) > recipe.expiresDay) continue;
      for (const { id, row, ahead } of slots) {
        if (!row) continue;
        room -= (ahead ?? row).body?.length ?? JSON.stringify(row.report).length;
        void sendNow(context, this.#outbox, id, row, era, room >= 0, ahead?.send);
      }
    }
    this.#visits.clear();
    if (!this.#opening) this.#release();
  }
}
