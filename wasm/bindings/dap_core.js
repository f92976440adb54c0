// SPDX-License-Identifier: Apache-2.0
// A task of two servers, as shoal-dap.wasm makes it: from a record or a measurement to a report of
// two shares, one for each server. It never fetches, reads no clock and draws no randomness: keys,
// times and random bytes are arguments. Depends on device.js.
import { instanceOf, takeRecipe } from './dap_length.js';
import { ARGUMENT, RANGE, ShoalError, TYPE, UNKNOWN_FIELD, encoder, toHex } from './device.js';

/**
 * @typedef {import('./device.js').Module} Module
 * @typedef {import('./device.js').Recipe} Recipe
 * @typedef {object} Sealer HPKE (RFC 9180), as the host provides it
 * @property {(publicKey: Uint8Array, info: Uint8Array, aad: Uint8Array, plaintext: Uint8Array) =>
 *   Promise<{enc: Uint8Array, ciphertext: Uint8Array}>} seal `enc` has 32 bytes, `ciphertext` 16
 *   more than the plaintext
 *
 * @typedef {{id: number, publicKey: Uint8Array}} Key of a server
 *
 * @typedef {object} ExactTask a task file, as the servers have it. Sums of it are exact: NO local
 *   randomness protects what is measured
 * @property {'dap-18'} version
 * @property {string} info a name
 * @property {string} leader base URL
 * @property {string} helper
 * @property {string} [task_id] base64url or hex; else it follows from the rest
 * @property {number} time_precision_s
 * @property {number} min_batch_size
 * @property {string} [expires] last day, YYYY-MM-DD
 * @property {{type: 'count'} | {type: 'sum', max: number} |
 *   {type: 'sum-vec', length: number, max: number, chunk?: number} |
 *   {type: 'histogram', length: number, chunk?: number} | {type: 'multihot-count-vec', length:
 *   number, max_weight: number, chunk?: number}} vdaf
 * @property {{type: 'discrete-laplace', epsilon: number} |
 *   {type: 'discrete-gaussian', variance: number, delta: string}} [noise] of both servers, which
 *   protects a sum while one of the two is honest
 * @typedef {number | boolean | number[]} Measurement 0, 1 or a boolean of a count; a number of a
 *   sum; the bucket's index of a histogram; numbers of a vector, of 0 and 1 where it is multihot
 */

const DAY_S = 86_400;
const INFO_WORDS = 9; // of the export task_info
const CONFIGURATION_MAX = 1024;
const INFO_MAX = 64;
const ID = 16;
const KEY = 33; // a config's id and a public key
const LEADER = 2; // roles
const HELPER = 3;
/**
 * What each VDAF states besides its type; the order is that of the circuits' numbers.
 * @type {[string, string[]][]}
 */
const VDAFS = [
  ['count', []],
  ['sum', ['max']],
  ['sum-vec', ['length', 'max', 'chunk']],
  ['histogram', ['length', 'chunk']],
  ['multihot-count-vec', ['length', 'max_weight', 'chunk']],
];
const FIELDS = [
  'version',
  'task_id',
  'info',
  'leader',
  'helper',
  'time_precision_s',
  'min_batch_size',
  'expires',
  'vdaf',
  'noise',
];
/**
 * What each noise states; the order is that of its numbers in an id.
 * @type {[string, string, number, number, number][]} type, field, the field's unit, and the least
 *   and the largest number of units
 */
const NOISES = [
  ['discrete-laplace', 'epsilon', 1e-6, 1000, 16e6],
  ['discrete-gaussian', 'variance', 1, 1, 2 ** 40],
];

/** @param {Uint8Array} bytes URL-safe, without padding */
const toBase64Url = (bytes) =>
  btoa(String.fromCharCode(...bytes)).replace(
    /[+/=]/g,
    (c) => /** @type {any} */ ({ '+': '-', '/': '_' })[c] ?? '',
  );

/** @param {string} text @returns {Uint8Array} */
function idOf(text) {
  const hex = /^[0-9a-f]{64}$/.test(text) ? text.match(/../g) : null;
  if (hex) return Uint8Array.from(hex, (byte) => parseInt(byte, 16));
  const bytes = /^[\w-]{43}$/.test(text)
    ? Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0))
    : null;
  if (!bytes || toBase64Url(bytes) !== text)
    throw wrong('task_id', 'base64url of 32 bytes, or 64 hex digits');
  return bytes;
}

/** @param {string} field @param {string} text */
const wrong = (field, text) => new ShoalError('type', TYPE, `${field}: ${text}`, field);

/**
 * Refuses a task file with a member that it cannot have, or without one that it needs, and names
 * the member.
 * @param {any} object
 * @param {string[]} known
 * @param {string} [optional]
 */
function checkFields(object, known, optional = '') {
  if (Object(object) !== object) throw wrong('vdaf', 'an object');
  for (const name of Object.keys(object)) {
    if (!known.includes(name))
      throw new ShoalError(
        'unknown-field',
        UNKNOWN_FIELD,
        `${name} is not a field of a task`,
        name,
      );
  }
  for (const name of known)
    if (object[name] === undefined && !optional.includes(name)) throw wrong(name, 'is missing');
}

/** The numbers of a task, as the module takes them. @param {ExactTask} json */
function numbersOf(json) {
  checkFields(json, FIELDS, 'task_id expires noise');
  if (json.version !== 'dap-18') throw wrong('version', 'dap-18 is spoken here');
  const circuit = VDAFS.findIndex(([name]) => name === json.vdaf?.type);
  if (circuit < 0) throw wrong('type', 'no such VDAF');
  checkFields(json.vdaf, ['type', ...VDAFS[circuit][1]], 'chunk');
  const { length = 1, max, max_weight: weight = 0, chunk } = /** @type {any} */ (json.vdaf);
  const numbers = [
    json.time_precision_s,
    json.min_batch_size,
    duration(json),
    circuit + 1,
    length,
    max ?? weight,
    chunk ?? 0,
  ];
  if (chunk === 0 || !numbers.every((n) => Number.isSafeInteger(n) && n >= 0))
    throw new ShoalError('range', RANGE, 'a number of the task is out of its range');
  return numbers;
}

/**
 * What the id of a task hashes for its noise: its kind and its number. It is not part of the
 * draft's configuration. @param {any} noise of a task file
 */
function noiseBytes(noise) {
  if (noise === undefined) return new Uint8Array();
  const kind = NOISES.findIndex(([type]) => type === noise?.type);
  if (kind < 0) throw wrong('type', 'no such noise');
  const [type, field, unit, least, most] = NOISES[kind];
  checkFields(noise, ['type', field, ...(type === 'discrete-gaussian' ? ['delta'] : [])]);
  const number = Math.round(noise[field] / unit);
  if (!(number >= least && number <= most) || Math.abs(noise[field] / unit - number) > 1e-3)
    throw new ShoalError('range', RANGE, `${field} of the noise is out of its range`, field);
  const bytes = new Uint8Array(9);
  bytes[0] = kind + 1;
  new DataView(bytes.buffer).setBigUint64(1, BigInt(number));
  return bytes;
}

/** @param {number} n */
const aligned = (n) => (n + 15) & -16;

/** One task, in an instance of its own. */
export class DapTask {
  #module;
  /** @type {number[]} */ #lengths = [];
  /** @type {ExactTask['vdaf'] | null} */ #vdaf = null;
  /** 32 bytes, hex. */ id = '';
  /** Where reports go, below an endpoint. */ path = '';
  /** Seconds in the unit of a report's time. */ precisionS = 0;

  /** Bytes of an upload of one report. */ reportLength = 0;

  /** @param {Module} module a fresh instance; use ofRecipe or exact */
  constructor(module) {
    this.#module = module;
  }

  /**
   * Makes the task of a recipe whose aggregation is dap.
   * @param {WebAssembly.Module} compiled shoal-dap.wasm
   * @param {Recipe} recipe checked by a module of the same version
   */
  static async ofRecipe(compiled, recipe) {
    const module = await instanceOf(compiled);
    const task = new DapTask(module);
    takeRecipe(module, recipe);
    task.#begin();
    return task;
  }

  /**
   * Makes a task without local noise.
   * @param {WebAssembly.Module} compiled @param {ExactTask} json
   */
  static async exact(compiled, json) {
    const module = await instanceOf(compiled);
    const task = new DapTask(module);
    const numbers = numbersOf(json);
    module.reserve(8 * numbers.length);
    numbers.forEach((n, i) => module.view().setBigUint64(8 * i, BigInt(n), true));
    const texts = [json.info, json.leader, json.helper];
    if (!texts.every((text) => typeof text === 'string'))
      throw wrong('info', 'a string, as leader and helper');
    const lens = texts.map((text) => encoder.encode(text).length);
    const [at] = module.place(texts.join(''), 64);
    const err = module.x.task_exact(module.base, at, ...lens);
    if (err) throw module.error(err, undefined, module.text(module.x.task_error()));
    task.#begin();
    task.#vdaf = json.vdaf;
    const noise = noiseBytes(json.noise);
    module.put(json.task_id === undefined ? await task.#derivedId(noise) : idOf(json.task_id));
    module.check(module.x.task_set_id(module.base));
    task.#named();
    return task;
  }

  /**
   * SHA-256 of the configuration, so that all parties who wrote the same have the same id.
   * @param {Uint8Array} noise
   */
  async #derivedId(noise) {
    const head = encoder.encode('shoal dap task\n');
    const bytes = Uint8Array.of(...head, ...this.configuration(), ...noise);
    return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  }

  #begin() {
    const module = this.#module;
    module.reserve(4 * INFO_WORDS);
    module.check(module.x.task_info(module.base));
    this.#lengths = module.words(INFO_WORDS);
    this.precisionS = this.#lengths[7];
    this.reportLength = module.length(module.x.report_length());
    this.#named();
  }

  #named() {
    const module = this.#module;
    module.reserve(32);
    module.check(module.x.task_id(module.base));
    const id = module.take(0, 32);
    this.id = toHex(id);
    this.path = `tasks/${toBase64Url(id)}/reports`;
  }

  /** The encoded task configuration, which enters every ciphertext. @returns {Uint8Array} */
  configuration() {
    const module = this.#module;
    module.reserve(CONFIGURATION_MAX);
    return module.take(0, module.length(module.x.task_configuration(module.base)));
  }

  /**
   * Makes a report of one record.
   * @param {string} record its text
   * @param {ReportInput} input
   * @returns {Promise<Uint8Array | null>} null for a record with more weight than the servers take,
   *   once in a million at most
   */
  async ofRecord(record, input) {
    const module = this.#module;
    const [measurement] = this.#lengths;
    return this.#report(input, () => {
      const [text, len] = module.place(record, aligned(measurement));
      const err = module.x.measure_record(module.base, text, len);
      if (err === RANGE) return false;
      module.check(err);
      return true;
    });
  }

  /**
   * A report of an exact measurement. @param {Measurement} value @param {ReportInput} input
   * @returns {Promise<Uint8Array>}
   */
  async ofMeasurement(value, input) {
    const module = this.#module;
    const [measurement] = this.#lengths;
    const numbers = Array.isArray(value) ? value : [Number(value)];
    const isVector = /vec$/.test(this.#vdaf?.type ?? '');
    if (!this.#vdaf || Array.isArray(value) !== isVector || 8 * numbers.length !== measurement)
      throw module.error(ARGUMENT);
    if (!numbers.every((n) => Number.isSafeInteger(n) && n >= 0)) throw module.error(RANGE);
    const report = await this.#report(input, () => {
      module.reserve(measurement);
      numbers.forEach((n, i) => module.view().setBigUint64(8 * i, BigInt(n), true));
      return true;
    });
    return /** @type {Uint8Array} */ (report);
  }

  /**
   * @typedef {object} ReportInput
   * @property {Uint8Array} id of the report: 16 random bytes
   * @property {number} now milliseconds since 1970
   * @property {(n: number) => Uint8Array} random n secret random bytes
   * @property {[Key, Key]} keys the leader's and the helper's
   * @property {Sealer} sealer
   *
   * @param {ReportInput} input
   * @param {() => boolean} fill writes the measurement at the base; false: there is none
   */
  async #report({ id, now, random, keys, sealer }, fill) {
    const module = this.#module;
    const time = BigInt(Math.floor(now / 1000 / this.precisionS));
    const split = this.#shard(id, time, random, fill);
    if (!split) return null;
    const { publicShare, aad, shares } = split;
    let sealed;
    try {
      sealed = await Promise.all(
        shares.map((share, i) =>
          sealer.seal(keys[i].publicKey, this.#shareInfo(LEADER + i), aad, share),
        ),
      );
    } finally {
      for (const share of shares) share.fill(0);
    }
    // The memory holds the id, the public share and the sealed shares, and then the report.
    let at = ID;
    module.reserve(ID + 2 * this.reportLength); // the parts are shorter than the report
    module.put(id);
    /** @param {Uint8Array} bytes */
    const append = (bytes) => (module.put(bytes, at), (at += bytes.length));
    append(publicShare);
    sealed.forEach(({ enc, ciphertext }, i) => {
      append(Uint8Array.of(keys[i].id));
      append(enc);
      append(ciphertext);
    });
    const { base } = module;
    const room = this.reportLength;
    return module.take(at, module.length(module.x.report(base + at, room, base, time, base + ID)));
  }

  /**
   * Does everything in one synchronous step, so that no other call finds secrets in the module.
   * @param {Uint8Array} id
   * @param {bigint} time
   * @param {(n: number) => Uint8Array} random
   * @param {() => boolean} fill
   */
  #shard(id, time, random, fill) {
    const module = this.#module;
    const [, randLen, publicLen, leaderLen, helperLen, aadLen, workLen] = this.#lengths;
    const rand = aligned(workLen);
    const at = rand + aligned(randLen);
    const out = at + ID;
    const end = out + publicLen + aadLen + leaderLen + helperLen;
    module.reserve(end);
    try {
      if (!fill()) return null;
      const coins = random(randLen);
      module.put(coins, rand);
      coins.fill(0);
      module.put(id, at);
      const { base } = module;
      module.check(module.x.shard(base + out, base, base + at, time, base + rand));
      const aad = out + publicLen;
      const leader = aad + aadLen;
      return {
        publicShare: module.take(out, publicLen),
        aad: module.take(aad, aadLen),
        shares: [module.take(leader, leaderLen), module.take(leader + leaderLen, helperLen)],
      };
    } finally {
      module.reserve(0).fill(0, module.base, module.base + end);
    }
  }

  /** @param {number} role of the server */
  #shareInfo(role) {
    const module = this.#module;
    module.reserve(INFO_MAX);
    return module.take(0, module.length(module.x.share_info(module.base, role)));
  }

  /**
   * Returns the key in a server's list that shares are sealed to. Throws if there is none.
   * @param {Uint8Array} list
   * @returns {Key}
   */
  key(list) {
    const module = this.#module;
    module.put(list, aligned(KEY));
    module.check(module.x.read_keys(module.base, module.base + aligned(KEY), list.length));
    const [id, ...publicKey] = module.take(0, KEY);
    return { id, publicKey: Uint8Array.from(publicKey) };
  }
}

/** Units from 1970 to behind the last day; 0 where there is none. @param {ExactTask} json */
function duration({ expires, time_precision_s: precision }) {
  if (expires === undefined) return 0;
  const start = Date.parse(`${expires}T00:00:00Z`);
  if (!start || new Date(start).toISOString().slice(0, 10) !== expires)
    throw wrong('expires', 'a day, YYYY-MM-DD');
  return Math.ceil((start / 1000 + DAY_S) / precision);
}
