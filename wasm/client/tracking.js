// SPDX-License-Identifier: Apache-2.0
// Statistics that change: a device's part in runs over epochs. Samples of the epoch that is open are summed on the device; its recipe is
// answered once, by one report, `vote;estimate`. The way of an answer: consent and opt-in? -> an epoch of a run that the page promised? ->
// the whole run's epsilon debited, once -> the answer drawn, and what the device remembers of it stored -> queue -> as any record.
// A chunk of its own, loaded where a page has runs. What is raw (sums, and the means that a state holds) lies in the `events` store and
// nowhere else: the end of consent erases it, and retention what is old. Sources: joseph-2018; core/compound/epoch.h.
import { Run, isRun } from '../bindings/run_core.js';
import { RUN, served } from './served.js';

/**
 * @typedef {import('./client.js').View} View
 * @typedef {import('./client.js').Outcome} Outcome
 * @typedef {import('./client.js').Source} Source
 * @typedef {import('../bindings/device.js').RecipeJson} RecipeJson
 * @typedef {import('../bindings/joint_core.js').JointRecipe} JointRecipe
 * @typedef {import('./queries.js').LogRow} LogRow
 * @typedef {import('../bindings/run_core.js').Use} Use
 * @typedef {import('./storage.js').Transaction} Transaction
 *
 * @typedef {object} Track
 * @property {(analysis: string, yes?: boolean) => Promise<Outcome[]>} optIn agrees to the runs of an analysis, or ends one's part in
 *   them and erases what was kept: `opted-in` or `opted-out`, or why not
 * @property {(stream: string, value: string | number) => Promise<Outcome[]>} sample adds to the sums of a stream's runs: `sampled`,
 *   or why not, one for each run
 * @property {(recipes?: (RecipeJson | string)[]) => Promise<Outcome[]>} answer answers epochs, each at most once: by default those
 *   that the endpoint serves; one outcome for each
 *
 * @typedef {object} Sums of the epoch that is open
 * @property {number} from day of the first sample
 * @property {number} count
 * @property {string} total of numbers, in micro-units; decimal, since it may be longer than a number is exact
 * @property {[string, number][]} counts of strings, by their items
 * @typedef {{id: string, expires: number, state: Uint8Array | null, sums: Sums | null}} Kept what a device remembers of a run; its
 *   row is there while the person takes part
 * @typedef {{day: number, isOut?: boolean}} Joined that a run's epsilon was debited, or that its sample left this device out
 *
 * @typedef {{run: Run, recipe: JointRecipe}} Followed
 * @typedef {{core: any, runs: Map<string, Followed>}} Loaded by run hash
 *
 * @typedef {object} RunBalance what this person gave to a run, of what it may cost
 * @property {string} run
 * @property {string} analysis
 * @property {boolean} optedIn
 * @property {boolean} paid was the whole run's epsilon debited?
 * @property {number} epoch last answered
 * @property {number} epochs
 * @property {Use} votes
 * @property {Use} estimates
 * @property {Use} epsilon
 * @property {string} text a sentence
 */

const DAY_MS = 86_400_000;
const RETENTION_DAYS = 31; // of samples that nobody asked for
const DISTINCT_MAX = 4096; // strings of an epoch
const SAMPLES_MAX = 2 ** 31 - 1;
const EPOCHS_MAX = 64; // recipes of one call
const LOGGED_MAX = 64; // answers of one run that log() lists
const JOINED = 'runs'; // in `state`: the runs that were debited

/** Codes of this chunk; the core has its own sentences for what a state refuses. @type {{[code: string]: string}} */
export const RUN_REASONS = {
  'no-runs': 'This page follows nothing over epochs.',
  'runs-missing':
    'The recipes of the runs, or the WebAssembly module for them, could not be loaded.',
  'wasm-blocked': "The page's policy refuses WebAssembly.",
  'unknown-stream': 'No run reads this stream.',
  'unknown-analysis': 'The page has no run of this analysis.',
  'not-opted-in': 'The person has not agreed to take part in the run.',
  'epochs-missing': 'The recipes could not be fetched.',
  malformed: 'This is no epoch of a run that the core can read.',
  'other-run':
    'The recipe is of no run that the page promised: its parameters differ, and so would its cost.',
  'run-left':
    'What this device remembered of the run is gone. Its epsilon was spent, and is not spent again: the run goes on without it.',
  'run-over': "The run's last day has passed.",
  'run-full':
    'The epoch has more samples, or more different ones, than a device keeps: this one was left out.',
  'too-many': 'More than 64 recipes came at once; the others were not looked at.',
};

/** An error that says no more than its code. */
class Refusal extends Error {
  /** @param {string} code @param {string} [text] */
  constructor(code, text = RUN_REASONS[code]) {
    super(text);
    this.code = code;
  }
}

/** @param {View} view */
const today = ({ deps }) => Math.floor(deps.now() / DAY_MS);

/** Secret random bytes. @param {View} view @param {number} n */
function random({ deps }, n) {
  const bytes = new Uint8Array(n);
  deps.random(bytes);
  return bytes;
}

/** What a call gives back; what went wrong is an outcome. @param {View} view @param {() => Promise<Outcome[]>} task */
async function told(view, task) {
  try {
    return await task();
  } catch (error) {
    const { code, message } = /** @type {any} */ (error);
    return [error instanceof Refusal ? view.note(code, null, message) : view.note('storage')];
  }
}

/** @param {View} view @param {string} id @param {string} code @param {string} [text] @returns {Outcome} */
const noted = (view, id, code, text = RUN_REASONS[code]) => view.note(code, id, text);

// ---- the runs of a page ----

/** The core and the runs of each client. @type {WeakMap<object, Promise<Loaded>>} */
const loading = new WeakMap();

/** Once for each client; what failed is tried again. @param {View} view @returns {Promise<Loaded>} */
function load(view) {
  const known = loading.get(view.deps);
  if (known) return known;
  const made = open(view);
  loading.set(view.deps, made);
  made.catch(() => loading.delete(view.deps));
  return made;
}

/** @param {View} view @returns {Promise<Loaded>} */
async function open({ deps, options: { runs: list, wasm, keys }, source, note }) {
  if (!list?.length) throw new Refusal('no-runs');
  /** @type {[any, Source[]]} */
  const [core, sources] = await Promise.all([
    typeof wasm === 'function'
      ? wasm()
      : import('../bindings/whole.js').then(({ wholeCore }) => wholeCore(deps.fetch, wasm)),
    Promise.all(list.map((each) => source(each))),
  ]).catch((error) => {
    throw new Refusal(
      /CSP|unsafe-eval|content security/i.test(String(error)) ? 'wasm-blocked' : 'runs-missing',
    );
  });
  /** @type {Loaded} */
  const loaded = { core, runs: new Map() };
  for (const { name, json, hash } of sources) {
    const followed = await promised(core, json, keys, hash);
    if (followed) loaded.runs.set(followed.run.hash, followed);
    else note('recipe-refused', name);
  }
  return loaded;
}

/** A run that the page may promise, or null. @param {any} core @param {any} json @param {string[] | undefined} keys @param {string} [hash] @returns {Promise<Followed | null>} */
async function promised(core, json, keys, hash) {
  try {
    /** @type {JointRecipe} */
    const recipe = core.recipe(json);
    if (
      isRun(recipe.json) &&
      (hash ?? recipe.hash) === recipe.hash &&
      !(await forged(recipe, keys))
    )
      return { run: new Run(recipe), recipe };
    core.release(recipe);
  } catch {
    // as one of another kind
  }
  return null;
}

/** Null, or why the signature is not one that counts. @param {JointRecipe} recipe @param {string[] | undefined} keys */
const forged = async (recipe, keys) =>
  keys ? (await import('../bindings/signature.js')).verifySignature(recipe, keys) : null;

/** @param {Followed} followed */
const keyOf = ({ run }) => RUN + run.hash;

/** What is kept of a run; undefined where the person takes no part. @param {Transaction} tx @param {Followed} followed @returns {Promise<Kept | undefined>} */
const keptOf = (tx, followed) => tx.get('events', keyOf(followed));

/** Keys of what is kept of all runs. @param {Transaction} tx */
const rowsOf = async (tx) => (await tx.keys('events')).filter((key) => key.startsWith(RUN));

/** Throws where the person takes part in no run: then nothing needs to be loaded, and nothing fetched. @param {View} view */
async function needPart(view) {
  const hasPart = await view.exclusive(async (tx) => (await rowsOf(tx)).length > 0);
  if (!hasPart) throw new Refusal(hasPart === undefined ? 'no-consent' : 'not-opted-in');
}

/** @param {Transaction} tx @returns {Promise<{[hash: string]: Joined}>} */
const joinedOf = async (tx) => (await tx.get('state', JOINED)) ?? {};

/**
 * Erases the rows of runs whose last day has passed, and samples that are too old; also of runs that the page has no longer. A clock set
 * back leaves the age of samples unknown, and they go.
 * @param {Transaction} tx @param {number} day
 */
async function sweep(tx, day) {
  for (const key of await rowsOf(tx)) {
    /** @type {Kept} */
    const kept = await tx.get('events', key);
    const age = kept.sums ? day - kept.sums.from : 0;
    if (day > kept.expires) await tx.delete('events', key);
    else if (age < 0 || age >= RETENTION_DAYS) await tx.put('events', key, { ...kept, sums: null });
  }
}

/** @param {View} view */
export const tidy = (view) =>
  told(view, async () => {
    await view.exclusive((tx) => sweep(tx, today(view)));
    return [];
  });

/** @type {(view: View, ...args: Parameters<Track['optIn']>) => Promise<Outcome[]>} */
export const optIn = (view, analysis, yes = true) =>
  told(view, async () => {
    const { runs } = await load(view);
    const own = [...runs.values()].filter(({ recipe }) => recipe.json.analysis === analysis);
    if (!own.length) throw new Refusal('unknown-analysis');
    const isDone = await view.exclusive(async (tx) => {
      for (const followed of own) {
        if (!yes) await leave(tx, followed);
        else if (!(await keptOf(tx, followed))) {
          const { id, expiresDay: expires } = followed.recipe;
          await tx.put(
            'events',
            keyOf(followed),
            /** @type {Kept} */ ({ id, expires, state: null, sums: null }),
          );
        }
      }
      return true;
    });
    return [
      isDone ? { recipe: null, code: yes ? 'opted-in' : 'opted-out' } : view.note('no-consent'),
    ];
  });

/** Ends a person's part in a run: what was kept of it goes, and what waits to be sent. @param {Transaction} tx @param {Followed} followed */
async function leave(tx, followed) {
  await tx.delete('events', keyOf(followed));
  for (const [key, row] of await tx.entries('queue'))
    if (row.run === followed.run.hash) await tx.delete('queue', key);
}

// ---- samples ----

/** @type {(view: View, ...args: Parameters<Track['sample']>) => Promise<Outcome[]>} */
export const sample = (view, stream, value) =>
  told(view, async () => {
    await needPart(view);
    const { runs } = await load(view);
    const own = [...runs.values()].filter(({ recipe }) => recipe.stream === stream);
    if (!own.length) throw new Refusal('unknown-stream');
    const outcomes = [];
    for (const followed of own) outcomes.push(await add(view, followed, value));
    return outcomes;
  });

/** @param {View} view @param {Followed} followed @param {string | number} value @returns {Promise<Outcome>} */
async function add(view, followed, value) {
  const { recipe, run } = followed;
  const { valueKind, text, isNumber } = recipe;
  const item = await view.item(
    { valueKind, text, isNumber, isOpen: true, values: null, bytesMax: recipe.bytesMax },
    value,
  );
  if (item.code) return noted(view, recipe.id, item.code, undefined);
  const day = today(view);
  const code = await view.exclusive(async (tx) => {
    await sweep(tx, day);
    const kept = await keptOf(tx, followed);
    if (!kept) return day > recipe.expiresDay ? 'run-over' : 'not-opted-in';
    const sums = kept.sums ?? { from: day, count: 0, total: '0', counts: [] };
    const grown = isNumber
      ? withNumber(sums, recipe.json.parameters, item.value)
      : withItem(sums, run.item(item.value));
    if (!grown) return 'run-full';
    await tx.put('events', keyOf(followed), { ...kept, sums: grown });
    return 'sampled';
  });
  return code === 'sampled'
    ? { recipe: recipe.id, code }
    : noted(view, recipe.id, code ?? 'no-consent');
}

/** Each number counts as no more than the end of the range that it lies beyond. @param {Sums} sums @param {{low: number, high: number}} range @param {number} value @returns {Sums | null} */
function withNumber(sums, { low, high }, value) {
  if (sums.count === SAMPLES_MAX) return null;
  const micro = BigInt(Math.round(Math.max(low, Math.min(value, high)) * 1e6));
  return { ...sums, count: sums.count + 1, total: String(BigInt(sums.total) + micro) };
}

/** @param {Sums} sums @param {string} item @returns {Sums | null} */
function withItem(sums, item) {
  const counts = new Map(sums.counts);
  if (sums.count === SAMPLES_MAX || (counts.size === DISTINCT_MAX && !counts.has(item)))
    return null;
  counts.set(item, (counts.get(item) ?? 0) + 1);
  return { ...sums, count: sums.count + 1, counts: [...counts] };
}

/** The mean of the numbers, rounded down to a micro-unit; null where there is none. @param {Sums | null} sums */
function meanOf(sums) {
  if (!sums) return null;
  const total = BigInt(sums.total);
  const count = BigInt(sums.count);
  const cut = total / count;
  return total < 0n && cut * count !== total ? cut - 1n : cut;
}

// ---- epochs ----

/** The last answer of each client: they go one after another. @type {WeakMap<object, Promise<unknown>>} */
const answering = new WeakMap();

/** @type {(view: View, ...args: Parameters<Track['answer']>) => Promise<Outcome[]>} */
export function answer(view, recipes) {
  const before = answering.get(view.deps) ?? Promise.resolve();
  const run = before.then(() => told(view, () => answerAll(view, recipes)));
  answering.set(view.deps, run);
  return run;
}

/** @param {View} view @param {(RecipeJson | string)[]} [recipes] */
async function answerAll(view, recipes) {
  await needPart(view);
  const loaded = await load(view);
  const list = recipes ?? (await fetched(view, loaded));
  if (!Array.isArray(list)) throw new Refusal('epochs-missing');
  const outcomes = [];
  for (const json of list.slice(0, EPOCHS_MAX)) outcomes.push(await answerOne(view, loaded, json));
  if (list.length > EPOCHS_MAX) outcomes.push(noted(view, /** @type {any} */ (null), 'too-many'));
  return outcomes;
}

/** The epochs of the page's runs that the endpoint serves, the earliest first. @param {View} view @param {Loaded} loaded */
async function fetched(view, { runs }) {
  const { recipes } = await served(view, 'recipes').catch(() => {
    throw new Refusal('epochs-missing');
  });
  if (!Array.isArray(recipes)) return null;
  const names = new Set([...runs.values()].map(({ recipe }) => recipe.id));
  return recipes
    .map((entry) => entry?.recipe)
    .filter((json) => json && isRun(json) && names.has(json.recipe))
    .sort((a, b) => (a.round?.index ?? 0) - (b.round?.index ?? 0));
}

/** The whole way of one epoch. @param {View} view @param {Loaded} loaded @param {RecipeJson | string} json @returns {Promise<Outcome>} */
async function answerOne(view, loaded, json) {
  /** @type {JointRecipe | undefined} */
  let recipe;
  try {
    recipe = /** @type {JointRecipe} */ (loaded.core.recipe(json));
    if (!isRun(recipe.json)) throw new RangeError();
  } catch {
    if (recipe) loaded.core.release(recipe);
    return refuse(view, null, 'malformed');
  }
  try {
    const run = new Run(recipe);
    if (!loaded.runs.has(run.hash)) return await refuse(view, recipe, 'other-run');
    const code = await forged(recipe, view.options.keys);
    if (code) return await refuse(view, recipe, code, '');
    return await report(view, loaded.core, { run, recipe });
  } catch {
    return noted(view, recipe.id, 'storage', undefined);
  } finally {
    loaded.core.release(recipe);
  }
}

/**
 * Debits, draws and remembers in one transaction, and only then puts the report into the queue: a page that dies between the two has
 * lost the report, and answers the epoch no second time.
 * @param {View} view @param {any} core @param {Followed} followed @returns {Promise<Outcome>}
 */
async function report(view, core, followed) {
  const { recipe, run } = followed;
  const made = await view.exclusive((tx) => drawn(tx, view, core, followed));
  if (!made) return noted(view, recipe.id, 'no-consent', undefined);
  if (made.code) return refuse(view, recipe, made.code, made.text);
  const code = await view.enqueue(
    recipe,
    recipe.report(/** @type {string} */ (made.record)),
    view.era,
    async (tx, id) => {
      if (!(await keptOf(tx, followed))) return null; // left meanwhile
      await write(tx, view, {
        ...rowOf(recipe),
        outcome: 'accepted',
        code: 'accepted',
        report: id,
      });
      return { run: run.hash, expires: recipe.expiresDay };
    },
  );
  return code === 'queued' ? { recipe: recipe.id, code } : noted(view, recipe.id, code, undefined);
}

/**
 * The record of an epoch, all that follows from it being stored when the transaction is; or why there is none, nothing being stored.
 * @param {Transaction} tx @param {View} view @param {any} core @param {Followed} followed
 * @returns {Promise<{record?: string, code?: string, text?: string}>}
 */
async function drawn(tx, view, core, followed) {
  const { recipe, run } = followed;
  const day = today(view);
  await sweep(tx, day);
  if (day > recipe.expiresDay) return { code: 'run-over' };
  const kept = await keptOf(tx, followed);
  if (!kept) return { code: 'not-opted-in' };
  const isFirst = kept.state === null;
  const code = isFirst ? await whyNotJoin(tx, view, core, followed) : null;
  if (code) return { code };
  const seed = random(view, 32);
  const { refusal, text, state, record } = run.isNumber
    ? run.answerNumber(kept.state ?? run.start(), meanOf(kept.sums), seed)
    : run.answerCounts(kept.state ?? run.start(), new Map(kept.sums?.counts), seed);
  seed.fill(0);
  if (record === null) return { code: refusal ?? '', text };
  if (isFirst) {
    await tx.put('state', 'ledger', core.ledger.debit(await view.ledgerOf(tx, core), recipe, day));
    await tx.put('state', JOINED, { ...(await joinedOf(tx)), [run.hash]: { day } });
  }
  await tx.put('events', keyOf(followed), { ...kept, state, sums: null });
  return { record };
}

/**
 * Why the device may not begin a run; null where it may. The run's coin is tossed once.
 * @param {Transaction} tx @param {View} view @param {any} core @param {Followed} followed
 */
async function whyNotJoin(tx, view, core, { recipe, run }) {
  const joined = await joinedOf(tx);
  if (joined[run.hash]) return joined[run.hash].isOut ? 'sampled-out' : 'run-left';
  const code = await view.refusal(tx, core, recipe);
  if (code) return code;
  // 48 bits, as client.js tosses it for an event.
  if (random(view, 6).reduce((sum, byte) => (sum + byte) / 256, 0) < recipe.send.sample)
    return null;
  await tx.put('state', JOINED, { ...joined, [run.hash]: { day: today(view), isOut: true } });
  return 'sampled-out';
}

// ---- the log ----

/** @param {JointRecipe | null} recipe null where it could not be read @returns {LogRow} */
const rowOf = (recipe) => ({
  at: 0,
  query: recipe && recipe.id,
  hash: recipe && recipe.hash,
  analysis: recipe && recipe.json.analysis,
  round: recipe?.json.round?.index ?? 0,
  outcome: 'refused',
  code: '',
  text: '',
  field: null,
  count: 1,
  asked: null,
  report: null,
});

/**
 * Says and writes down that a recipe is not answered. That one was answered before is no news: it is served for as long as its epoch lasts.
 * @param {View} view @param {JointRecipe | null} recipe @param {string} code @param {string} [text]
 */
async function refuse(view, recipe, code, text) {
  const id = recipe && recipe.id;
  if (code === 'answered') return { recipe: id, code };
  const sentence =
    text ||
    RUN_REASONS[code] ||
    (await import('./reasons.js').then(
      ({ REASONS }) => REASONS[code],
      () => undefined,
    ));
  await view.exclusive((tx) => write(tx, view, { ...rowOf(recipe), code, text: sentence ?? '' }));
  return view.note(code, id, sentence);
}

/**
 * Writes a row: of answers one for each of a run's last epochs, of refusals one for each run and reason, counted. How the device voted is in none.
 * @param {Transaction} tx @param {View} view @param {LogRow} row
 */
async function write(tx, view, row) {
  const isAnswer = row.outcome === 'accepted';
  const of = `run ${row.outcome} ${isAnswer || row.code !== 'other-run' ? row.query : ''} `;
  const key = of + (isAnswer ? String(row.round).padStart(6, '0') : row.code);
  const count = isAnswer ? 1 : ((await tx.get('log', key))?.count ?? 0) + 1;
  await tx.put('log', key, { ...row, at: view.deps.now(), count });
  if (!isAnswer) return;
  const own = (await tx.entries('log'))
    .filter(([each]) => each.startsWith(of))
    .sort(([, a], [, b]) => b.at - a.at || b.round - a.round);
  for (const [old] of own.slice(LOGGED_MAX)) await tx.delete('log', old);
}

// ---- for the person ----

/** @param {Use} use */
const spelled = ({ used, allowed }) => `${used} of ${allowed}`;

/** What each run of the page has spent on this device. @param {View} view @returns {Promise<RunBalance[]>} */
export async function balances(view) {
  const { runs } = await load(view);
  const list = await view.exclusive(async (tx) => {
    const joined = await joinedOf(tx);
    const all = [];
    for (const followed of runs.values())
      all.push(balance(followed, await keptOf(tx, followed), joined[followed.run.hash]));
    return all;
  });
  return list ?? [];
}

/** @param {Followed} followed @param {Kept | undefined} kept @param {Joined | undefined} joined @returns {RunBalance} */
function balance({ recipe, run }, kept, joined) {
  const spent = run.spent(kept?.state ?? run.start());
  const isPaid = joined !== undefined && !joined.isOut;
  const { epoch, epochs, votes, estimates, epsilon } = spent;
  const cost = `epsilon ${epsilon.allowed} for the whole run${isPaid ? ', paid once' : ''}`;
  const said = `${spelled(votes)} votes and ${spelled(estimates)} estimates are spent, epsilon ${spelled(epsilon)}`;
  const texts = {
    out: `The run's random sample left this device out: it answers no epoch.`,
    none: `Nothing was answered yet; it will cost ${cost}.`,
    left: `This device takes no part any more, and nothing is left of what it said; ${cost}.`,
    on: `Epoch ${epoch} of ${epochs} is answered; ${said}; ${cost}.`,
  };
  const text = texts[joined?.isOut ? 'out' : kept?.state ? 'on' : isPaid ? 'left' : 'none'];
  return {
    run: recipe.id,
    analysis: recipe.json.analysis,
    optedIn: kept !== undefined,
    paid: isPaid,
    ...spent,
    text: `"${recipe.id}": ${text}`,
  };
}

/**
 * How each run of the page stands, as explain() says it.
 * @param {View} view @param {(code: string, recipe: string, count: number, text: string) => void} add
 */
export async function explain(view, add) {
  for (const { run, optedIn, paid, votes, estimates, epoch, text } of await balances(view)) {
    const isSpent = votes.used === votes.allowed || estimates.used === estimates.allowed;
    const code = !optedIn
      ? 'not-opted-in'
      : paid && epoch === 0
        ? 'run-left'
        : isSpent
          ? 'run-spent'
          : 'run-on';
    add(code, run, 0, optedIn && code !== 'run-left' ? text : RUN_REASONS[code]);
  }
}
