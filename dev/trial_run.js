// SPDX-License-Identifier: Apache-2.0
// A trial from start to end: the folder, the services, the page, the simulated crowd, and what is told
// of them. A change of a recipe starts the services anew; a change of the page reloads it.
import { watch } from 'node:fs';
import { join } from 'node:path';
import { load } from 'shoal-client/node';
import { callWorker } from './call_worker.js';
import { copying, habitsOf, isInBucket, startingDevices, tsvOf, waveOf } from './crowd.js';
import { FolderError, readFolder } from './folder.js';
import { counted } from './hops.js';
import { startPageServer } from './page_server.js';
import { isFree, startServices } from './services.js';
import { makeTemporary } from './temporary.js';

/**
 * @typedef {import('./folder.js').TrialRecipe} TrialRecipe
 * @typedef {import('./hops.js').Say} Say
 * @typedef {{who: string, text: string}} Told
 * @typedef {{truth: [value: string, n: number][], devices: number, accepted: number}} Wave  visitors who
 *   come together
 */

const PORT = 8480;
const TOLD_MAX = 80;
const ROWS = 12;
const VALUE_MAX = 200; // characters of what a person did
const GATHER_MS = 300; // of a person's words, and of changes of files
const HOPS = ['page', 'relay', 'edge', 'aggregator', 'chart'];

/** What a recipe's crowd and person really did, and what they are about to do. */
class Ground {
  /** @param {TrialRecipe} recipe */
  constructor(recipe) {
    this.recipe = recipe;
    this.habits = habitsOf(recipe);
    /** What the visitors of each wave do. @type {Wave[]} */ this.waves = [];
    /** What the person did, as the recipe's text rule has it. @type {Set<string>} */
    this.own = new Set();
    /** What the next wave copies. @type {Set<string>} */ this.next = new Set();
    this.stderr = 0;
    this.isComing = false;
    /** @type {any} */ this.shown = null;
  }

  /** Counts what a person did. @param {string} value */
  did(value) {
    this.own.add(value);
    this.waves.push({ truth: [[value, 1]], devices: 1, accepted: 1 });
  }

  /**
   * What was really done, value by value: of each wave as much as has reached the edge.
   * @returns {[value: string, n: number][]}
   */
  get truth() {
    return this.waves.flatMap(({ truth, devices, accepted }) =>
      truth.map(
        ([value, n]) => /** @type {[string, number]} */ ([value, (n * accepted) / devices]),
      ),
    );
  }

  /**
   * What was really done of a row of a result, in proportion to the reports that the result counts.
   * @param {string} label @param {number} n  reports
   */
  truthOf(label, n) {
    const { kind } = this.recipe;
    const all = this.truth;
    const sum = Math.max(
      1,
      all.reduce((whole, [, each]) => whole + each, 0),
    );
    if (kind === 'mean')
      return all.reduce((whole, [value, each]) => whole + Number(value) * each, 0) / sum;
    const isOf = (/** @type {string} */ value) =>
      kind === 'buckets' ? isInBucket(label, Number(value)) : value === label;
    return (n / sum) * all.reduce((whole, [value, each]) => whole + (isOf(value) ? each : 0), 0);
  }

  /** A result as the page shows it: the largest rows, and the person's. @param {any} result */
  show(result) {
    const rows = result.rows.map((/** @type {any} */ row) => ({
      value: row.value,
      count: row.count ?? row.mean,
      low: row.low,
      high: row.high,
      detected: row.detected ?? true,
      truth: this.truthOf(row.value, result.n),
      own: this.own.has(row.value),
    }));
    const isOrdered = ['mean', 'buckets'].includes(this.recipe.kind);
    if (isOrdered)
      rows.sort(
        (/** @type {any} */ a, /** @type {any} */ b) =>
          parseFloat(a.value.slice(1)) - parseFloat(b.value.slice(1)),
      );
    const shown = isOrdered
      ? rows
      : rows.filter((/** @type {any} */ row, /** @type {number} */ i) => i < ROWS || row.own);
    this.stderr = Math.max(0, ...result.rows.map((/** @type {any} */ row) => row.stderr));
    this.shown = {
      recipe: this.recipe.id,
      n: result.n,
      rows: shown,
      hidden: rows.length - shown.length,
    };
    return this.shown;
  }
}

/** A value as the recipe's text rule has it. @param {TrialRecipe} recipe @param {string} value */
function ruled({ json }, value) {
  if (json.value === 'item' || json.value === 'number') return value;
  const formed = json.text?.form === 'none' ? value : value.normalize('NFC');
  return json.text?.case === 'keep' ? formed : formed.toLowerCase();
}

/**
 * Starts a trial.
 * @param {import('./options.js').Options & {program: string | null}} options
 * @param {(told: Told) => void} print
 */
export async function startTrial(options, print) {
  let folder = await readFolder(options.folder, load);
  const temporary = await makeTemporary();
  /** @type {Told[]} */
  const told = [];
  let share = options.share;
  let isClosed = false;
  /** @type {Map<string, Ground>} */
  let grounds = new Map();
  /** @type {import('./services.js').Services | null} */
  let services = null;
  /** @type {import('./call_worker.js').Caller<import('./crowd_worker.js').Done> | null} */
  let crowd = null;
  /** @type {(() => void)[]} */
  const watchers = [];

  /** @type {Say} */
  const say = (who, text) => {
    if (isClosed) return;
    told.push({ who, text });
    told.splice(0, told.length - TOLD_MAX);
    print({ who, text });
    server.send('told', { who, text });
  };
  const problem = (/** @type {Error} */ error) =>
    say('trial', `something failed: ${error.message}`);

  function pageState() {
    const { edge = '', relay = null, log = null } = services ?? {};
    const about = folder.recipes.map(({ id, file, json, kind, epsilon, changes }) => ({
      id,
      file: file.replace(/^.*[\\/]|\.json$/g, ''),
      recipe: json.recipe,
      stream: json.stream,
      value: json.value,
      mechanism: json.mechanism,
      values: json.parameters.values ?? null,
      size: json.parameters.size,
      low: json.parameters.low,
      high: json.parameters.high,
      kind,
      epsilon,
      changes,
      isOpen: kind === 'strings' || kind === 'discovery',
    }));
    return {
      folder: folder.path,
      hasPage: folder.hasPage,
      sendsTo: [edge, relay]
        .filter((url) => url !== null && url !== '')
        .map((url) => new URL(String(url)).origin),
      log: log?.files ?? null,
      recipes: folder.recipes.map(({ json }) => json),
      config: {
        endpoint: edge,
        relay,
        logKey: log?.key ?? null,
        recipes: folder.recipes.map(({ json }) => json),
        about,
        visitor: folder.hasPage ? '/page/index.html' : '/trial/visitor.html',
        folder: folder.path,
        share,
        hasCrowd: options.hasCrowd,
        isNative: options.program !== null,
        left: folder.left,
        cohort: folder.recipes[0].json.cohort.minimum,
      },
    };
  }

  /** @param {import('./receiver.js').Updated} updated */
  function onUpdate({ recipe, result, folded, batches, ms }) {
    const ground = grounds.get(recipe.hash);
    if (ground === undefined) return;
    if (folded > 0)
      say(
        'aggregator',
        `closed a block of ${counted(folded, 'record')}${batches > 0 ? ` from ${counted(batches, 'batch', 'batches')}` : ''} and estimated ${recipe.id} anew, in ${ms} ms`,
      );
    if (result === null) return;
    server.send('result', ground.show(result));
    say(
      'chart',
      `${recipe.id}: ${counted(result.n, 'report')}, ${counted(ground.shown.rows.length, 'row')}`,
    );
  }

  /**
   * Lets visitors come, each with a report of its own.
   * @param {Ground} ground @param {import('./crowd.js').Counts} counts @param {number} devices @param {string} why
   */
  async function come(ground, counts, devices, why) {
    const { recipe } = ground;
    const edge = services?.edge;
    if (crowd === null || edge === undefined) return;
    say('crowd', `${counted(devices, 'simulated visitor')} of ${recipe.id} ${why}`);
    const wave = { recipe: recipe.json, counts: tsvOf(counts), devices, edge };
    /** @type {Wave} */
    const coming = { truth: [], devices, accepted: 0 };
    ground.waves.push(coming);
    const done = await crowd.ask(wave, (progress) => Object.assign(coming, progress));
    if (isClosed || grounds.get(recipe.hash) !== ground) return;
    if (done.error !== undefined) throw new Error(done.error);
    Object.assign(coming, { truth: done.truth, accepted: done.accepted });
    const lost = done.failed > 0 ? `; ${done.failed.toLocaleString('en-US')} were not taken` : '';
    say(
      'crowd',
      `${counted(done.accepted, 'report')} of ${done.bytes} bytes each reached the edge over HTTP${lost}`,
    );
    services?.aggregator.refresh(recipe);
  }

  /** A wave that copies what the person did. @param {Ground} ground */
  async function follow(ground) {
    if (ground.isComing || ground.next.size === 0) return;
    ground.isComing = true;
    await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
    const values = [...ground.next];
    ground.next.clear();
    try {
      const each = share / values.length;
      let counts = ground.habits;
      values.forEach((value, i) => {
        counts = copying(counts, value, each / (1 - each * (values.length - 1 - i)));
      });
      const { kind } = ground.recipe;
      // A mean says nothing of one value, and a discovery finds only what stands out.
      const noise = ground.stderr * (kind === 'mean' ? 0 : kind === 'discovery' ? 2 : 1);
      const percent = Number((100 * share).toPrecision(3));
      if (share > 0)
        await come(
          ground,
          counts,
          waveOf(noise, each, ground.shown?.n ?? 0),
          `come, and ${percent} % of them do what you did`,
        );
    } catch (error) {
      problem(/** @type {Error} */ (error));
    } finally {
      ground.isComing = false;
    }
    void follow(ground);
  }

  /** The page tells what a person did. @param {any} data */
  function takeDone({ recipe, value }) {
    const ground = [...grounds.values()].find((each) => each.recipe.json.recipe === recipe);
    if (
      ground === undefined ||
      typeof value !== 'string' ||
      value === '' ||
      value.length > VALUE_MAX ||
      /[\t\n\r\0]/.test(value)
    )
      return false;
    const kept = ruled(ground.recipe, value);
    ground.did(kept);
    const { words, kind } = ground.recipe;
    if (kind === 'strings' && !words.includes(kept)) words.unshift(kept);
    if (options.hasCrowd) {
      ground.next.add(kept);
      void follow(ground);
    }
    return true;
  }

  /** @param {string} what @param {any} data */
  function take(what, data) {
    if (data === null || typeof data !== 'object') return false;
    if (what === 'done') return takeDone(data);
    if (
      what === 'left' &&
      Number.isSafeInteger(data.bytes) &&
      [true, false].includes(data.sealed)
    ) {
      const what = data.sealed ? 'sealed for the edge, to the relay' : 'to the edge';
      say('page', `one report of ${counted(data.bytes, 'byte')} left your page, ${what}`);
      return true;
    }
    if (what === 'share' && typeof data.share === 'number' && data.share >= 0 && data.share <= 1) {
      share = data.share;
      server.send('share', { share });
      return true;
    }
    if (what === 'more') {
      for (const ground of grounds.values())
        come(ground, ground.habits, startingDevices(ground.recipe, options.devices), 'come').catch(
          problem,
        );
      return true;
    }
    return false;
  }

  const port = options.port ?? ((await isFree(PORT)) ? PORT : 0);
  const server = await startPageServer({
    port,
    state: pageState,
    take,
    greeting: () => [
      ...told.map((each) => /** @type {[string, any]} */ (['told', each])),
      ...[...grounds.values()].flatMap(({ shown }) =>
        shown === null ? [] : [/** @type {[string, any]} */ (['result', shown])],
      ),
    ],
  }).catch(async (error) => {
    await temporary.remove();
    throw error;
  });

  /** Starts the services of the folder as it is. */
  async function begin() {
    for (const recipe of folder.recipes)
      if (recipe.kind === 'strings')
        recipe.words = [...new Set([...habitsOf(recipe).map(([value]) => value), ...recipe.words])];
    grounds = new Map(folder.recipes.map((recipe) => [recipe.hash, new Ground(recipe)]));
    services = await startServices({
      folder,
      temporary: temporary.path,
      origin: server.origin,
      firstPort: server.port + 1,
      hasRelay: options.relay ?? folder.hasRelay,
      program: options.program,
      say,
      onUpdate,
      onError: problem,
    });
    if (!options.hasCrowd) return;
    crowd ??= callWorker(new URL('./crowd_worker.js', import.meta.url), { origin: server.origin });
    for (const ground of grounds.values())
      come(ground, ground.habits, startingDevices(ground.recipe, options.devices), 'come').catch(
        problem,
      );
  }

  /** A recipe or a list changed. */
  async function again() {
    try {
      const next = await readFolder(options.folder, load);
      await services?.close();
      folder = next;
      say('trial', 'a recipe changed: edge and aggregator begin anew, with nothing');
      await begin();
      server.send('reload', {});
    } catch (error) {
      if (!(error instanceof FolderError)) throw error;
      say('trial', `not taken over: ${error.message}`);
    }
  }

  /** Calls a task once for changes of one moment, one at a time. @param {string} name @param {() => unknown} task */
  function onChange(name, task) {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    let running = Promise.resolve();
    try {
      const watcher = watch(join(folder.path, name), { recursive: true }, () => {
        clearTimeout(timer);
        timer = setTimeout(() => {
          running = running.then(async () => void (isClosed || (await task()))).catch(problem);
        }, GATHER_MS);
      });
      watcher.on('error', () => watcher.close());
      watchers.push(() => (clearTimeout(timer), watcher.close()));
    } catch {
      // there is no such folder
    }
  }

  const close = async () => {
    isClosed = true;
    for (const stop of watchers) stop();
    await server.close();
    await crowd?.close();
    await services?.close();
    await temporary.remove();
  };
  try {
    await begin();
  } catch (error) {
    await close();
    throw error;
  }
  onChange('page', () => {
    say('trial', 'the page changed, and is loaded again');
    server.send('reload-page', {});
  });
  onChange('recipes', again);
  onChange('dictionaries', again);
  return {
    url: `${server.origin}/`,
    port: server.port,
    folder,
    hops: HOPS,
    way: pageState().config,
    close,
    temporary: temporary.path,
  };
}
