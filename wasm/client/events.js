// SPDX-License-Identifier: Apache-2.0
// Handles an event step by step: consent, sampling coin, a durable debit of the ledger, randomizing
// in the core, and the queue. If a step fails, nothing is sent, and the outcome's code says which.
// A raw value is in memory while it is randomized, and nowhere else.
import { chunk, isSampled, randomBytes, today } from './basics.js';
import { itemOf } from './items.js';
import { sealingOf } from './page_recipes.js';

/**
 * @typedef {import('../bindings/device.js').Core} Core
 * @typedef {import('../bindings/device.js').Recipe} Recipe
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./context.js').Outcome} Outcome
 * @typedef {import('./outbox.js').Outbox} Outbox
 * @typedef {import('./page_recipes.js').PageRecipes} PageRecipes
 * @typedef {import('./windows.js').Windows} Windows
 */

export class Events {
  #context;
  #recipes;
  #outbox;
  /**
   * Recipes that accept nothing more until the day has passed, by hash.
   * @type {Map<string, {day: number, code: string}>}
   */
  #spent = new Map();
  #closed;
  /**
   * What recipes that pick uniformly need, from the first consent on; null on a page without one.
   * @type {Promise<Windows | null> | null}
   */
  #windows = null;

  /**
   * @param {Context} context
   * @param {PageRecipes} recipes
   * @param {Outbox} outbox
   * @param {AbortSignal} closed ends the client
   */
  constructor(context, recipes, outbox, closed) {
    this.#context = context;
    this.#recipes = recipes;
    this.#outbox = outbox;
    this.#closed = closed;
  }

  /**
   * Fetches tokens, and opens the windows of the page's recipes that pick uniformly. Called when the
   * page has consent, and never by an event.
   */
  async open() {
    const context = this.#context;
    const loading = (this.#windows ??= this.#load()); // a flush that comes meanwhile waits for it
    const spending = (await this.#recipes.ready())?.recipes.filter(
      (recipe) => recipe.json.send?.token && !context.isMore(recipe),
    );
    if (spending?.[0])
      chunk(import('./tokens.js'))
        .then(({ open }) => open(context, spending))
        .catch((error) => context.noteError(error));
    const windows = await loading;
    if (windows) await windows.open();
    else this.#windows = null; // the next opening tries again
  }

  /** @returns {Promise<Windows | null>} */
  async #load() {
    const context = this.#context;
    try {
      const ready = await this.#recipes.ready();
      if (!ready?.recipes.some(({ send }) => send.pick === 'uniform')) return null;
      const { Windows } = await chunk(import('./windows.js'));
      return new Windows(context, this.#outbox, ready, this.#closed);
    } catch (error) {
      context.noteError(error);
      return null;
    }
  }

  /** Hands the records of windows that are over to the queue. */
  async tidy() {
    await (await this.#windows)?.tidy();
  }

  /**
   * Reports a value to some of the page's recipes.
   * @param {(recipe: Recipe) => boolean} wants
   * @param {any} value
   * @returns {Promise<Outcome[]>} one for each recipe
   */
  async report(wants, value) {
    const context = this.#context;
    if (!context.isOn) return [context.noteOff()];
    const { era } = context;
    const ready = await this.#recipes.ready();
    if (!ready) return [context.noteOff(this.#recipes.failure)];
    const recipes = ready.recipes.filter(wants);
    // Where all recipes were refused, that is the reason, and it is noted already.
    if (!ready.recipes[0] && ready.refused[0])
      return [{ recipe: null, code: ready.refused[0].code }];
    if (!recipes[0]) return [context.note('unknown-stream')];
    const outcomes = [];
    for (const recipe of recipes)
      outcomes.push(await this.#reportTo(ready.core, recipe, value, era));
    return outcomes;
  }

  /** @param {Core} core @param {Recipe} recipe @param {any} value @param {number} era */
  async #reportTo(core, recipe, value, era) {
    try {
      const code = await this.#privatize(core, recipe, value, era);
      const isTaken = code === 'queued' || code === 'entered';
      return isTaken ? { recipe: recipe.id, code } : this.#context.note(code, recipe.id);
    } catch (error) {
      return this.#context.noteError(error, recipe.id);
    }
  }

  /**
   * Takes one event through all steps for one recipe. Returns a code.
   * @param {Core} core
   * @param {Recipe} recipe
   * @param {any} value
   * @param {number} era
   */
  async #privatize(core, recipe, value, era) {
    const context = this.#context;
    const { deps } = context;
    if (context.isMore(recipe)) return 'outdated';
    if (recipe.send.pick === 'uniform') {
      return (await this.#windows)?.take(recipe, value, era) ?? 'no-window';
    }
    const item = await itemOf(recipe, value, deps.sites);
    if (item.code) return item.code;
    if (!isSampled(deps, recipe.send.sample)) return 'sampled-out';
    const sealing = await sealingOf(context, recipe);
    if (sealing.code) return sealing.code;
    const paid = await this.#debit(core, recipe);
    if (paid.code) return paid.code;
    const seed = randomBytes(deps, 32);
    const report = recipe.report(recipe.randomize(item.value ?? null, seed, paid.secret));
    seed.fill(0);
    return this.#outbox.enqueue(recipe, report, era, sealing);
  }

  /**
   * Pays for one report, durably. A debit is never taken back: a page that dies before the record
   * is in the queue has spent the budget for nothing, which is the safe side.
   * @param {Core} core
   * @param {Recipe} recipe
   * @returns {Promise<{code?: string, secret?: Uint8Array}>} why it was not paid, or the secret of
   *   the device where the recipe needs one
   */
  async #debit(core, recipe) {
    const context = this.#context;
    const day = today(context.deps);
    const known = this.#spent.get(recipe.hash);
    if (known?.day === day) return known;
    const permanent = recipe.isPermanent ? await chunk(import('./permanent.js')) : null;
    const never = await permanent?.whyNotHere(context);
    await context.opening;
    if (never) return { code: never };
    const paid = await context.exclusive(async (tx) => {
      const code =
        (await context.refusal(tx, core, recipe)) ??
        (await permanent?.refusal(tx, context, { core }, recipe));
      if (code) return { code };
      const ledger = core.ledger.debit(await context.ledgerOf(tx, core), recipe, day);
      await tx.put('state', 'ledger', ledger);
      return permanent ? { secret: await permanent.secretFor(tx, context, recipe) } : {};
    });
    // The person may agree at any time, and another page may reserve for this day yet; the other
    // reasons hold all day.
    if (paid?.code && !['outdated', 'cap'].includes(paid.code))
      this.#spent.set(recipe.hash, { day, code: paid.code });
    return paid ?? { code: 'no-consent' };
  }
}
