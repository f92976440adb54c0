// SPDX-License-Identifier: Apache-2.0
// Questions about visitors that only the device can answer: whether it was here before, how many
// weeks ago it came first, which steps of a funnel it reached. A part of the chunk of observe.js.
//
// What is remembered of visits is the day of the first one, of the last one, and of the last one
// that each stream was told of. It is kept under consent only, by a page that has a recipe for it.
// Which steps of a funnel were reached, windows.js keeps until their window is over.
import { today } from './basics.js';
import { STEP } from './window_slots.js';

/**
 * @typedef {import('../bindings/device.js').Recipe} Recipe
 * @typedef {import('./context.js').Context} Context
 * @typedef {import('./context.js').Outcome} Outcome
 * @typedef {import('./outbox.js').Call} Call
 *
 * @typedef {object} Streams names of streams; a stream without a recipe is left out
 * @property {string} [day] is told `new` or `returning` on the first visit of a UTC day
 * @property {string} [week] is told weeks since the first visit, `0` to `11` or `12 or more`, on the
 *   first visit of a week from Monday to Sunday
 * @property {string} [month] is told `new` or `returning` on the first visit of a calendar month
 *
 * @typedef {object} Visited the row of visits in the store `events`; days since 1970
 * @property {number} first of the first visit
 * @property {number} last of the last visit
 * @property {{[kind: string]: number}} told of the last visit that the stream of a kind was told of
 */

const VISITED = '~visits'; // the key of its row in the store `events`
const AWAY_MAX = 400; // days without a visit after which a device is a new one
const WEEKS_MAX = 12; // the last entry, `12 or more`

/** The number of a day's week; weeks begin on Monday, and day 0 was a Thursday. @param {number} day */
const weekOf = (day) => Math.floor((day + 3) / 7);

/** The number of a day's calendar month, of UTC. @param {number} day */
function monthOf(day) {
  const date = new Date(86_400_000 * day);
  return 12 * date.getUTCFullYear() + date.getUTCMonth();
}

/** The number of the period that a day is in, by the kinds of streams. */
const KINDS = /** @type {{[kind: string]: (day: number) => number}} */ ({
  day: (day) => day,
  week: weekOf,
  month: monthOf,
});

const STREAMS = { day: 'visitors-day', week: 'visitors-week', month: 'visitors-month' };

/** @param {string} kind @param {number} first @param {number} day */
function valueOf(kind, first, day) {
  const period = KINDS[kind];
  const passed = period(day) - period(first);
  if (kind !== 'week') return passed === 0 ? 'new' : 'returning';
  return passed < WEEKS_MAX ? `${passed}` : `${WEEKS_MAX} or more`;
}

/**
 * Takes the visit of today into what is remembered. A clock that was set back changes nothing.
 * @param {Visited | undefined} known
 * @param {number} day
 * @returns {Visited}
 */
function visitedOn(known, day) {
  if (!known || day - known.last > AWAY_MAX) return { first: day, last: day, told: {} };
  return { ...known, last: Math.max(known.last, day) };
}

/**
 * Tells streams of a visit: once a day, a week and a month. A visit that could not be told is told by
 * the next one in the same period.
 * @param {Call} call
 * @param {Streams} [streams]
 * @returns {Promise<Outcome[]>} one for each recipe that was told; `unknown-stream` if the page has
 *   no recipe of any stream
 */
export async function arrive({ context, recipes, events }, streams = {}) {
  const names = /** @type {{[kind: string]: string}} */ ({ ...STREAMS, ...streams });
  if (Object.keys(names).some((kind) => !Object.hasOwn(KINDS, kind)))
    return [context.note('unknown-stream')];
  const ready = await recipes.ready();
  const has = (/** @type {string} */ stream) =>
    ready?.recipes.some((recipe) => recipe.stream === stream && !context.isMore(recipe));
  const kinds = Object.keys(KINDS).filter((kind) => has(names[kind]));
  if (!kinds[0])
    return events.report((recipe) => Object.values(names).includes(recipe.stream), null);
  const day = today(context.deps);
  const visited = await context.exclusive(async (tx) => {
    const row = visitedOn(await tx.get('events', VISITED), day);
    await tx.put('events', VISITED, row);
    return row;
  });
  if (!visited) return [context.noteOff()];
  const outcomes = [];
  for (const kind of kinds) {
    const period = KINDS[kind];
    if (visited.told[kind] !== undefined && period(visited.told[kind]) >= period(day)) continue;
    const stream = names[kind];
    const told = await events.report(
      (recipe) => recipe.stream === stream,
      valueOf(kind, visited.first, day),
    );
    outcomes.push(...told);
    if (told.some(({ code }) => ['queued', 'entered', 'sampled-out'].includes(code)))
      await tell(context, kind, day);
  }
  return outcomes;
}

/**
 * Remembers that a stream was told of the visit of a day.
 * @param {Context} context @param {string} kind @param {number} day
 */
async function tell(context, kind, day) {
  await context.exclusive(async (tx) => {
    const row = await tx.get('events', VISITED);
    if (row) await tx.put('events', VISITED, { ...row, told: { ...row.told, [kind]: day } });
  });
}

/**
 * Notes that a step of a funnel was reached, and reports all steps of the window so far. The window's
 * record is made anew each time, so that it answers for the last state alone.
 * @param {Call} call
 * @param {string} stream of recipes that pick uniformly; their variables are the steps, in order,
 *   each `yes` or `no`
 * @param {number} step 1 for the first
 * @returns {Promise<Outcome[]>}
 */
export async function reach({ context, recipes, events }, stream, step) {
  const ready = await recipes.ready();
  const own = ready?.recipes.find((recipe) => recipe.stream === stream);
  const variables = own?.json.variables ?? [];
  if (own && (own.send.pick !== 'uniform' || !variables[0]))
    return [context.note('not-a-funnel', own.id)];
  if (own && !(Number.isInteger(step) && step >= 1 && step <= variables.length))
    return [context.note('no-step', own.id)];
  return events.report((recipe) => recipe.stream === stream, { [STEP]: step });
}
