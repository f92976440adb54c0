// SPDX-License-Identifier: Apache-2.0
// What `--check` of a service found: what is right, what deserves a look, and every problem with how
// to mend it. Lines, or JSON (docs/schema/check.schema.json).

import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { unknownField } from './nearest.js';

/**
 * @typedef {{what: string, mend: string}} Finding
 * @typedef {{schema: 1, program: string, file: string, ok: boolean, right: string[], notes:
 *   Finding[], problems: Finding[], left_out: number}} CheckJson
 */

/** How to mend what an error says; the first row that fits. @type {[RegExp, string][]} */
const MENDS = [
  [/there is no such file|ENOENT/, 'make the file, or correct its path in the configuration'],
  [/EACCES|EPERM|permission denied/, 'give the file to the user that runs the service (chown)'],
  [/did you mean/, 'correct the name of the field'],
  [/unknown field/, 'remove the field; docs/operate.md lists all of them'],
  [/missing field|is needed/, 'add what is needed; docs/operate.md lists all fields'],
  [/is not JSON/, 'correct the JSON: a comma, a quotation mark or a brace is wrong'],
  [/secret of at least/, 'make one: head -c 24 /dev/urandom | base64 > FILE && chmod 600 FILE'],
  [/chmod 600|mode 600/, 'chmod 600 the file'],
  [/but [0-9a-f]{64} is pinned/, 'if the change was meant, pin the new hash here and on the page'],
  [/recipe /, 'shoal recipe check FILE says more'],
];

/** @param {unknown} error */
export function sentenceOf(error) {
  const { code, path, message } = /** @type {any} */ (error);
  return code === 'ENOENT' && path ? `${path}: there is no such file` : String(message);
}

/** @param {string} what */
const mendOf = (what) =>
  MENDS.find(([pattern]) => pattern.test(what))?.[1] ??
  'correct the configuration; docs/operate.md describes it';

export class CheckReport {
  /** @type {string[]} */ right = [];
  /** @type {Finding[]} */ notes = [];
  /** @type {Finding[]} */ problems = [];

  /** @param {string} what @param {string} mend */
  note(what, mend) {
    this.notes.push({ what, mend });
  }

  /** Adds a problem, once. @param {string} what @param {string} [mend] */
  problem(what, mend = mendOf(what)) {
    if (this.problems.every((known) => known.what !== what)) this.problems.push({ what, mend });
  }

  /**
   * Runs a part of the check. An error of it is a problem.
   * @template T
   * @param {() => T | Promise<T>} part
   * @param {string} [right]  what is right where there is no error
   * @returns {Promise<T | undefined>}
   */
  async attempt(part, right) {
    try {
      const result = await part();
      if (right !== undefined) this.right.push(right);
      return result;
    } catch (error) {
      this.problem(sentenceOf(error));
      return undefined;
    }
  }

  /**
   * Reports every unknown and every missing field.
   * @param {any} json
   * @param {Record<string, boolean>} fields  and whether each is required
   * @param {string} where
   */
  fields(json, fields, where) {
    if (typeof json !== 'object' || json === null || Array.isArray(json))
      return this.problem(`${where}: an object is needed`);
    const known = Object.keys(fields);
    for (const name of Object.keys(json))
      if (!known.includes(name)) this.problem(unknownField(where, name, known));
    for (const name of known)
      if (fields[name] && !Object.hasOwn(json, name))
        this.problem(`${where}: missing field ${name}`);
  }

  /** Notes a file of secrets that others than its owner may read. @param {string} path */
  async privateFile(path) {
    const about = await stat(path).catch(() => null); // reading it reports that it is missing
    if (about && about.mode & 0o077)
      this.note(`${path}: others than its owner may read it`, 'chmod 600 the file');
  }

  /**
   * Checks a folder that the service writes: it is there and can be written, or can be made.
   * @param {string} path
   * @param {string} name  of the field
   */
  async folder(path, name) {
    const about = await stat(path).catch(() => null);
    if (about && !about.isDirectory())
      return this.problem(`${name}: ${path} is not a folder`, 'name a folder');
    const { R_OK, W_OK, X_OK } = constants;
    const wanted = about ? path : await existing(dirname(path));
    const isOpen = await access(wanted, R_OK | W_OK | X_OK).then(
      () => true,
      () => false,
    );
    if (!isOpen)
      return this.problem(
        `${name}: ${about ? path : `${path} cannot be made: ${wanted}`} cannot be written`,
        'give the folder to the user that runs the service (chown), with mode 700',
      );
    this.right.push(about ? `${name} can be written` : `${name} can be made`);
  }

  /**
   * Notes a recipe's end when it is near.
   * @param {string} id
   * @param {number} expiresDay  UTC days since 1970
   */
  expiry(id, expiresDay) {
    const days = expiresDay - Math.floor(Date.now() / 86_400_000);
    const mend = 'draw up its successor: shoal recipe new, then pin its hash';
    if (days < 0) this.problem(`recipe ${id} has expired, so no report of it is taken`, mend);
    else if (days < 14) this.note(`recipe ${id} expires in ${days} days`, mend);
  }

  /** @param {string} program @param {string} file @returns {CheckJson} */
  toJson(program, file) {
    const { right, notes, problems } = this;
    const ok = problems.length === 0;
    return { schema: 1, program, file, ok, right, notes, problems, left_out: 0 };
  }

  /**
   * Prints the report. Returns the exit code.
   * @param {string} program
   * @param {string} file
   * @param {string | undefined} format
   */
  print(program, file, format) {
    const { right, notes, problems } = this;
    if (format === 'json') {
      process.stdout.write(`${JSON.stringify(this.toJson(program, file))}\n`);
    } else {
      for (const { what, mend } of notes)
        process.stderr.write(`${program}: note: ${what}\n  mend: ${mend}\n`);
      for (const { what, mend } of problems)
        process.stderr.write(`${program}: ${what}\n  mend: ${mend}\n`);
      const n = problems.length;
      const verdict = n ? `${n} problem${n === 1 ? '' : 's'}` : 'as it should be';
      const rest = right.length ? `${n ? '; right' : ''}: ${right.join(', ')}` : '';
      process.stdout.write(`${program}: ${file}: ${verdict}${rest}\n`);
    }
    return problems.length ? 1 : 0;
  }
}

/** The nearest folder above that is there. @param {string} path @returns {Promise<string>} */
async function existing(path) {
  const parent = dirname(path);
  if (parent === path) return path;
  return stat(path).then(
    () => path,
    () => existing(parent),
  );
}

/**
 * Reads the options of --check.
 * @param {{check?: boolean, format?: string}} values
 * @returns {string | null} what is wrong with them
 */
export function wrongFormat({ check, format }) {
  if (format === undefined) return null;
  if (!check) return '--format belongs to --check; see --help';
  return ['text', 'json'].includes(format) ? null : '--format: text or json is needed; see --help';
}
