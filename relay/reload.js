// SPDX-License-Identifier: Apache-2.0
// Reloading the configuration of a running service on Node, for relay, edge and issuer: on SIGHUP,
// and, if asked for, when the configuration or a file that it names changes. Windows has no SIGHUP;
// there the watched files are the way.
//
// A reload reads everything anew and hands it to the service, which takes all of it or nothing.
// Where anything is wrong the configuration in force goes on, and one line in the log says what is
// wrong and where.
//
// A change counts once the files have looked alike twice, so that a file which is being written is
// left alone. Files may be replaced by renaming.

import { AsyncLocalStorage } from 'node:async_hooks';
import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { counterBy, gauge } from './exposition.js';

/** @typedef {Map<string, string>} Looks  how each file looked, by path; "" where there was none */

/** @type {AsyncLocalStorage<Looks>} */
const reading = new AsyncLocalStorage();
/** Readings under way. */
let readings = 0;
const LOOK_EVERY_MS = 500;
const FILE_MAX = 16 << 20;

/** How a file looks: it changes whenever the file is written or replaced. @param {string} path */
async function lookAt(path) {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
  } catch {
    return '';
  }
}

/** @param {string} path @param {string} why */
const refused = (path, why) => new Error(`${path} ${why}`);

/**
 * Reads a whole regular file. A pipe would hold a reload up until somebody writes into it, and a
 * device may have no end.
 * @param {string} path
 * @param {'utf8'} encoding
 */
async function readRegular(path, encoding) {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const about = await file.stat();
    if (!about.isFile()) throw refused(path, 'is a folder, a pipe or a device, and no file');
    if (about.size > FILE_MAX) throw refused(path, `has more than ${FILE_MAX} bytes`);
    return await file.readFile(encoding);
  } finally {
    await file.close();
  }
}

/**
 * Reads a file as text. Whoever reloads is told of every file that is read so.
 * @param {string} path
 * @param {'utf8'} encoding
 */
export async function readFile(path, encoding) {
  const looks = reading.getStore();
  if (looks !== undefined && !looks.has(path)) looks.set(path, await lookAt(path)); // before the bytes
  return readRegular(path, encoding);
}

/** @param {any} error @returns {string} */
const whyOf = ({ code, path, message }) =>
  code === 'ENOENT' && path !== undefined ? `${path}: there is no such file` : message;

/**
 * The reloads of one service.
 * @template Config
 */
export class Reloads {
  #name;
  #read;
  #write;
  #now;
  /** @type {(config: Config) => Promise<void>} */ #apply = async () => {};
  /** When the files were read last. @type {Looks} */ #seen = new Map();
  /** At the last look. @type {Looks} */ #last = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */ #timer;
  #running = Promise.resolve();
  #isStopped = false;
  #since = 0;
  #taken = 0;
  #refused = 0;
  #isRefused = false;

  /**
   * @param {string} name  of the command, for the log
   * @param {() => Promise<Config>} read  reads the configuration by this module's readFile
   * @param {{write?: (line: string) => void, now?: () => number}} [deps]
   */
  constructor(name, read, { write = (line) => process.stderr.write(line), now = Date.now } = {}) {
    this.#name = name;
    this.#read = read;
    this.#write = write;
    this.#now = now;
  }

  /** Reads the configuration for the start. */
  async first() {
    const config = await this.#noted();
    this.#since = this.#now();
    return config;
  }

  /** Reads the configuration, and notes how its files looked. */
  async #noted() {
    /** @type {Looks} */
    const looks = new Map();
    readings++;
    try {
      return await reading.run(looks, this.#read);
    } finally {
      // While the storage is on, Node 20 and 22 call hooks for every promise of the process, which
      // every request would pay for.
      if (--readings === 0) reading.disable();
      // After a failure the files that were not reached are watched as well.
      this.#seen = new Map([...this.#last, ...this.#seen, ...looks]);
    }
  }

  /**
   * Reloads from now on.
   * @param {(config: Config) => Promise<void>} apply  takes a configuration whole, or rejects
   * @param {{isWatched?: boolean, everyMs?: number}} [settings]
   * @returns {() => void} ends it
   */
  start(apply, { isWatched = false, everyMs = LOOK_EVERY_MS } = {}) {
    this.#apply = apply;
    const onSignal = () => void this.reload();
    if (process.platform !== 'win32') process.on('SIGHUP', onSignal);
    if (isWatched) this.#lookSoon(everyMs);
    return () => {
      this.#isStopped = true;
      process.off('SIGHUP', onSignal);
      clearTimeout(this.#timer);
    };
  }

  /** Reloads once, after reloads that are under way. Resolves to whether it was taken. */
  reload() {
    const done = this.#running.then(() => this.#reload());
    this.#running = done.then(() => {});
    return done;
  }

  async #reload() {
    if (this.#isStopped) return false;
    try {
      await this.#apply(await this.#noted());
      this.#since = this.#now();
      this.#taken++;
      this.#isRefused = false;
      this.#write(`${this.#name}: reloaded\n`);
      return true;
    } catch (error) {
      this.#refused++;
      this.#isRefused = true;
      this.#write(
        `${this.#name}: reload refused, the old configuration goes on: ${whyOf(error)}\n`,
      );
      return false;
    }
  }

  /** @param {number} everyMs */
  #lookSoon(everyMs) {
    this.#timer = setTimeout(async () => {
      if (await this.#isChanged()) await this.reload();
      if (!this.#isStopped) this.#lookSoon(everyMs);
    }, everyMs);
    this.#timer.unref();
  }

  /** Looks at the files. Resolves to whether they are other ones than were read, and at rest. */
  async #isChanged() {
    /** @type {Looks} */
    const looks = new Map();
    for (const path of this.#seen.keys()) looks.set(path, await lookAt(path));
    const before = this.#last;
    this.#last = looks;
    const entries = [...looks];
    return (
      entries.some(([path, look]) => look !== this.#seen.get(path)) &&
      entries.every(([path, look]) => look === before.get(path))
    );
  }

  /** What /healthz tells everybody: whether somebody should look at the log. */
  health() {
    return this.#isRefused ? { reload: 'refused' } : {};
  }

  /**
   * What /metrics says of reloads.
   * @param {string} prefix  as shoal_edge
   * @returns {import('./exposition.js').Metric[]}
   */
  metrics(prefix) {
    return [
      gauge(
        `${prefix}_configuration_time_seconds`,
        'When the configuration in force was loaded.',
        Math.floor(this.#since / 1000),
      ),
      counterBy(
        `${prefix}_reloads_total`,
        'Reloads of the configuration since the start.',
        'outcome',
        [
          ['refused', this.#refused],
          ['taken', this.#taken],
        ],
      ),
      gauge(
        `${prefix}_reload_refused`,
        'Whether the last reload was refused; the log says why.',
        Number(this.#isRefused),
      ),
    ];
  }
}

/**
 * Refuses a configuration that changes what only a restart changes.
 * @param {Record<string, [unknown, unknown]>} fields  what is in force and what is to be, by the
 *   name of the field
 */
export function checkFixed(fields) {
  for (const [name, [now, next]] of Object.entries(fields))
    if (JSON.stringify(now) !== JSON.stringify(next))
      throw new Error(`${name}: changed; only a restart changes this field`);
}

/**
 * Ends a service on SIGTERM or SIGINT. First it says for a while that it is not ready, so that a
 * proxy sends nobody there any more, and still answers.
 * @param {{drain: () => void, close: () => Promise<void>}} service
 * @param {number} drainS  seconds
 */
export function closeOnSignal(service, drainS) {
  let isEnding = false;
  const stop = async () => {
    if (isEnding) return;
    isEnding = true;
    service.drain();
    await new Promise((resolve) => setTimeout(resolve, 1000 * drainS));
    await service.close();
    process.exit(0);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

/** Reads the option --drain. @param {string | undefined} text  seconds @returns {number | null} null if it is wrong */
export function drainOf(text = '0') {
  const seconds = Number(text);
  return /^\d{1,4}$/.test(text) && seconds <= 3600 ? seconds : null;
}
