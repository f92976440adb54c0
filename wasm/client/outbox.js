// SPDX-License-Identifier: Apache-2.0
// Sends records. Each waits in the queue until it is due, and is posted then. One tab posts at a
// time. Every request starts under the lock that withdrawal takes, after the stored consent was
// read.
import { toHex } from '../bindings/device.js';
import { DAY_MS, chunk, randomBytes, today, uniform } from './basics.js';

/**
 * @typedef {import('../bindings/device.js').Recipe} Recipe
 * @typedef {import('../bindings/device.js').ReportJson} ReportJson
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./page_recipes.js').PageRecipes} PageRecipes
 * @typedef {import('./storage.js').Row} Row
 * @typedef {import('./storage.js').Transaction} Transaction
 *
 * @typedef {{status: number, retryAfter: string | null}} Answer
 *
 * @typedef {object} Extras
 * @property {(tx: Transaction, id: string) => Promise<any>} [more] makes further members
 *   of the row, in its transaction; null keeps the record out of the queue
 * @property {(report: ReportJson, id: string) => Promise<any>} [seal] makes what is sent in place
 *   of the report
 *
 * @typedef {object} Call what one call of the page works with
 * @property {Context} context
 * @property {Outbox} outbox
 * @property {PageRecipes} recipes
 * @property {{report: (wants: (recipe: Recipe) => boolean, value: any) =>
 *   Promise<import('./context.js').Outcome[]>}} events what takes events
 * @property {number} era of the consent under which the call began
 */

const HOUR_MS = 3_600_000;
export const FIRST_RETRY_MS = 5000;
const TIMEOUT_MS = 30_000;
const KEEPALIVE_MAX = 60_000; // browsers refuse more than 64 KiB in flight
const SEALED = { 'Content-Type': 'application/ppm-dap;message=upload-req' };
const DONE_MAX = 200; // finished reports that are kept for the person to see
export const ACCEPTED = 202;
const UNAVAILABLE = 503;
const PERMANENT = [400, 409, 410, 413, 415, 422];

/**
 * Returns why an answer of this status refuses a report for good, as a code; undefined if it does
 * not.
 * @param {number} [status]
 */
export const refusalOf = (status) =>
  status === 404
    ? 'edge-missing'
    : PERMANENT.includes(/** @type {any} */ (status))
      ? 'edge-refused'
      : undefined;

export class Outbox {
  #context;
  #recipes;
  #tidy;
  /** What stops the requests that are under way. @type {Set<AbortController>} */
  #posting = new Set();
  /** The flush that is under way. @type {Promise<void> | null} */
  #flushing = null;
  /** The flush after it. @type {Promise<void> | null} */
  #next = null;
  /** @type {any} */
  #timer;
  #wakeAt = Infinity;

  /**
   * @param {Context} context
   * @param {PageRecipes} recipes
   * @param {() => Promise<void>} tidy erases what is too old, before each flush
   */
  constructor(context, recipes, tidy) {
    this.#context = context;
    this.#recipes = recipes;
    this.#tidy = tidy;
  }

  /**
   * Puts a private record into the queue, if the consent that it was made under still stands.
   * @param {{send: {delayS: number}}} recipe
   * @param {ReportJson} report
   * @param {number} era of the consent that the record was made under
   * @param {Extras} [extras]
   * @returns {Promise<string>} `queued`, or the code that says why not
   */
  async enqueue(recipe, report, era, { more, seal } = {}) {
    const context = this.#context;
    const { deps } = context;
    const id = toHex(randomBytes(deps, 16));
    const sealed = await seal?.(report, id);
    if (sealed?.code) return sealed.code;
    const due = deps.now() + Math.floor(uniform(deps) * recipe.send.delayS * 1000);
    const isQueued = await context.exclusive(async (tx) => {
      if (era !== context.era) return false;
      const extra = more ? await more(tx, id) : {};
      if (!extra) return false;
      const row = { report, endpoint: context.url, due, tries: 0, ...sealed, ...extra };
      await tx.put('queue', row.id ?? id, row);
      return true;
    });
    if (!isQueued) return 'no-consent';
    this.wake(due);
    return 'queued';
  }

  /** Sends the records that are due. @returns {Promise<void>} */
  async flush() {
    if (!this.#context.isOn) return;
    // The flush that is under way may have read the queue already, so one more follows it for all
    // callers that come meanwhile.
    if (this.#flushing) {
      this.#next ??= this.#flushing.then(() => {
        this.#next = null;
        return this.flush();
      });
      return this.#next;
    }
    this.#flushing = this.#flushUnderLock();
    await this.#flushing;
  }

  /** Stops the timer and the requests that are under way. */
  abort() {
    this.#sleep();
    for (const stop of this.#posting) stop.abort();
  }

  async #flushUnderLock() {
    const context = this.#context;
    try {
      await context.underLock('shoal-flush', { ifAvailable: true }, async (lock) => {
        if (lock) await this.#flushAll();
        else this.wake(context.deps.now() + FIRST_RETRY_MS);
      });
    } catch (error) {
      context.noteError(error);
    } finally {
      this.#flushing = null;
    }
  }

  async #flushAll() {
    const context = this.#context;
    await this.#tidy();
    const ready = await this.#recipes.ready();
    if (!ready) return;
    const { era } = context;
    this.#sleep();
    // Keys are random, so their order says nothing about the order of events.
    for (const [key] of await this.#queue()) {
      if (era !== context.era) return;
      await this.#send(key, ready.recipes);
    }
    // A record whose recipe this page does not have waits for a page that has it.
    const rest = (await this.#queue()).filter(([, row]) => lastDayOf(row, ready.recipes) != null);
    if (rest.length && context.isOn) this.wake(Math.min(...rest.map(([, row]) => row.due)));
  }

  /** The records for this endpoint. @returns {Promise<[string, Row][]>} */
  async #queue() {
    const rows = await this.#context.transaction((tx) => tx.entries('queue'));
    return rows.filter(([, row]) => row.endpoint === this.#context.url);
  }

  // ---- one record ----

  /**
   * Sends one record of the queue if it is due. Once a withdrawal has resolved, no tab starts
   * another request.
   * @param {string} key
   * @param {Recipe[]} recipes
   */
  async #send(key, recipes) {
    const started = await this.#context.underLock('shoal', {}, () => this.#start(key, recipes));
    if (!started) return;
    const { row } = started;
    const answer = await started.answer;
    if (answer === 'expired') await this.#finish(key, row, 'refused', 'expired');
    else if (answer?.status === ACCEPTED) await this.#finish(key, row, 'sent');
    else {
      const code = refusalOf(answer?.status);
      await (code ? this.#finish(key, row, 'refused', code) : this.#keep(key, row, answer));
    }
  }

  /**
   * Starts the request for a record without waiting for its answer. Returns null if nothing is to
   * be sent now.
   * @param {string} key
   * @param {Recipe[]} recipes
   * @returns {Promise<{row: Row, answer: Promise<Answer | null> | 'expired'} | null>}
   */
  async #start(key, recipes) {
    const context = this.#context;
    /** @type {Row | undefined} */
    const row = await context.transaction(async (tx) =>
      (await context.stands(tx)) ? tx.get('queue', key) : undefined,
    );
    if (!row || !context.isOn || row.due > context.deps.now()) return null;
    const lastDay = lastDayOf(row, recipes);
    if (lastDay === undefined) return null;
    const isExpired = today(context.deps) > lastDay;
    return { row, answer: isExpired ? 'expired' : this.post(key, row, recipes) };
  }

  /**
   * @param {string} key
   * @param {Row} row
   * @param {Recipe[] | null} recipes null at a first try out of the queue
   * @param {(signal: AbortSignal) => Promise<Response>} [send] by default fetch() of the request
   * @returns {Promise<Answer | null>} null where nothing answered
   */
  async post(key, row, recipes, send) {
    const { deps } = this.#context;
    const stop = new AbortController();
    this.#posting.add(stop);
    const timer = deps.setTimer(() => stop.abort(), TIMEOUT_MS);
    try {
      const { url, init } = this.requestOf(key, row);
      const { signal } = stop;
      const response = await (send?.(signal) ?? deps.fetch(url, { ...init, signal }));
      // The body is read to its end, so that the connection can be used again.
      const body = await response.arrayBuffer().catch(() => null);
      // An edge worker answers with its status. A leader answers with a body, which is empty if it
      // accepted the report.
      const isLeaders = row.path && response.ok;
      const status = isLeaders ? await this.#judged(key, row, body, recipes) : response.status;
      return { status, retryAfter: response.headers.get('Retry-After') };
    } catch {
      return null; // there is no network, or the request was stopped
    } finally {
      this.#posting.delete(stop);
      deps.clearTimer(timer);
    }
  }

  /** Where a record is sent, and as what. @param {string} key @param {Row} row */
  requestOf(key, { path, report, token, ...row }) {
    const { url } = this.#context;
    const body = /** @type {any} */ (row.body ?? JSON.stringify(report));
    /** @type {RequestInit} */
    const init = {
      method: 'POST',
      headers: path
        ? SEALED
        : {
            'Content-Type': 'application/json',
            'Idempotency-Key': key,
            ...(token && { Authorization: `PrivateToken token="${token}"` }),
          },
      body,
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      cache: 'no-store',
      redirect: 'error',
      keepalive: body.length <= KEEPALIVE_MAX,
    };
    return { url: path ? new URL(`../${path}`, url).href : url, init };
  }

  /**
   * Translates a leader's answer into the HTTP status that means the same.
   * @param {string} key
   * @param {Row} row
   * @param {ArrayBuffer | null} body null where it broke off
   * @param {Recipe[] | null} recipes null leaves all complaints to the next try
   */
  async #judged(key, row, body, recipes) {
    if (body?.byteLength === 0) return ACCEPTED;
    if (!recipes) return UNAVAILABLE;
    try {
      const dap = await chunk(import('./dap.js'));
      return await dap.judged(this.#context, key, row, body, recipes);
    } catch (error) {
      this.#context.noteError(error, row.report.key);
      return UNAVAILABLE;
    }
  }

  /**
   * Moves a record from the queue to the list of finished reports.
   * @param {string} key
   * @param {Row} row
   * @param {'sent' | 'refused'} state
   * @param {string} [code] why it was refused
   */
  async #finish(key, row, state, code) {
    const context = this.#context;
    for (const old of ['offline', 'edge-busy']) context.notes.delete(`${old} ${row.report.key}`);
    if (code) context.note(code, row.report.key);
    await context.locked(async (tx) => {
      // If the row is gone, it was erased meanwhile, and nothing about it is stored again.
      if (!(await tx.get('queue', key))) return;
      await tx.delete('queue', key);
      await this.list(tx, key, { report: row.report, state, at: context.deps.now(), code });
    });
  }

  /**
   * Adds a record to the list of finished reports, which keeps the last ones.
   * @param {Transaction} tx
   * @param {string} key
   * @param {{report: ReportJson, state: string, at: number, code?: string}} finished
   */
  async list(tx, key, finished) {
    await tx.put('done', key, finished);
    const done = (await tx.entries('done')).sort(([, a], [, b]) => b.at - a.at);
    for (const [old] of done.slice(DONE_MAX)) await tx.delete('done', old);
  }

  /**
   * Keeps a record for another try.
   * @param {string} key
   * @param {Row} row
   * @param {Answer | null} answer
   */
  async #keep(key, row, answer) {
    const context = this.#context;
    const { deps } = context;
    if (!context.isOn) return;
    context.note(answer ? 'edge-busy' : 'offline', row.report.key);
    const backoff = Math.min(FIRST_RETRY_MS * 2 ** row.tries, HOUR_MS);
    const asked = Math.min(retryAfterMs(answer?.retryAfter, deps.now()), DAY_MS);
    // Jitter spreads the devices that failed together.
    const due = deps.now() + Math.floor(Math.max(backoff, asked) * (1 + uniform(deps)));
    await context.locked(async (tx) => {
      if (await tx.get('queue', key))
        await tx.put('queue', key, { ...row, due, tries: row.tries + 1 });
    });
  }

  // ---- the timer ----

  /**
   * Flushes when a record is due, unless an earlier flush is set already.
   * @param {number} due
   */
  wake(due) {
    if (due >= this.#wakeAt) return;
    const { deps } = this.#context;
    this.#sleep();
    this.#wakeAt = due;
    const wait = Math.min(Math.max(due - deps.now(), 0), HOUR_MS);
    this.#timer = deps.setTimer(() => {
      this.#wakeAt = Infinity;
      void this.flush();
    }, wait);
  }

  #sleep() {
    this.#context.deps.clearTimer(this.#timer);
    this.#wakeAt = Infinity;
  }
}

/**
 * Returns how long a Retry-After header asks to wait, in milliseconds.
 * @param {any} header seconds, or a date; anything else asks for nothing
 * @param {number} now
 */
const retryAfterMs = (header, now) =>
  Math.max(0, /^\d+$/.test(header) ? header * 1000 : Date.parse(header) - now || 0);

/**
 * Returns the last day on which a record may be sent; undefined if this page does not know.
 * @param {Row} row
 * @param {Recipe[]} recipes
 */
const lastDayOf = (row, recipes) =>
  row.expires ?? recipes.find(({ hash }) => hash === row.report.recipe_hash)?.expiresDay;
