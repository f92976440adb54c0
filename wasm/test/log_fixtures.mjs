// SPDX-License-Identifier: Apache-2.0
// A log as the definitions have it, for tests: the tree of RFC 6962 by plain recursion over all
// entries, tiles cut from it, heads signed by node:crypto. It shares no code with log.js nor with
// the command.
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { Context } from '../client/context.js';
import { memoryLocks, memoryStorage } from '../client/memory_storage.js';
import { ENDPOINT, fakeClock } from './fixtures.mjs';

/** @param {...Uint8Array | string} parts @returns {Buffer} */
export const sha256 = (...parts) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};
const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

/** MTH of section 2.1, over leaf hashes. @param {Uint8Array[]} leaves @returns {Uint8Array} */
export function rootOf(leaves) {
  if (leaves.length === 0) return sha256();
  if (leaves.length === 1) return leaves[0];
  let k = 1;
  while (2 * k < leaves.length) k *= 2;
  return sha256(NODE, rootOf(leaves.slice(0, k)), rootOf(leaves.slice(k)));
}

/** @param {number} index */
export const nameOf = (index) => {
  const groups = [String(index % 1000).padStart(3, '0')];
  for (let rest = Math.floor(index / 1000); rest; rest = Math.floor(rest / 1000))
    groups.unshift(`x${String(rest % 1000).padStart(3, '0')}`);
  return groups.join('/');
};

/** Someone who signs notes. @param {string} name */
export function noteSigner(name) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
  const key = Buffer.concat([Uint8Array.of(1), raw]);
  const id = sha256(`${name}\n`, key).subarray(0, 4);
  return {
    name,
    id,
    privateKey,
    verifier: `${name}+${id.toString('hex')}+${key.toString('base64')}`,
    /** @param {string} text */
    line: (text) => {
      const signature = Buffer.concat([id, sign(null, Buffer.from(text), privateKey)]);
      return `\u2014 ${name} ${signature.toString('base64')}\n`;
    },
  };
}

export const queryEntry = (/** @type {string} */ hash) => ({ type: 'query', hash });

/** @param {any} [more] */
export const keysEntry = (more = {}) => ({
  type: 'keys',
  serial: 1,
  from: 20_000,
  until: 20_100,
  gateway: [{ id: 1, config: `010020${'5a'.repeat(32)}000400010001` }],
  tokens: [{ recipe: 'ab'.repeat(32), day: 20_001, key: 'cd'.repeat(32) }],
  ...more,
});

/** A filler of a given number. @param {number} i */
export const filler = (i) => queryEntry(sha256(`entry ${i}`).toString('hex'));

/** Does the index of a long log list the entry? All do not fit: the first ones and some do. @param {number} index */
const isListed = (index) => index < 1000 || [0, 1, 61, 62, 63].includes(index % 64);

export class OracleLog {
  /** @param {any[]} entries objects, members in the log's order @param {string} [name] */
  constructor(entries, name = 'log.example/shoal') {
    this.signer = noteSigner(name);
    this.entries = entries.map((entry) => JSON.stringify(entry));
    this.leaves = this.entries.map((text) => sha256(LEAF, text));
  }

  /** @param {number} [size] */
  head(size = this.entries.length, root = rootOf(this.leaves.slice(0, size))) {
    return `${this.signer.name}\n${size}\n${Buffer.from(root).toString('base64')}\n`;
  }

  /** @param {string} [head] @param {string} [more] lines of other keys */
  note(head = this.head(), more = '') {
    return `${head}\n${this.signer.line(head)}${more}`;
  }

  /** Every file of the log at a size. @param {number} [size] @returns {Map<string, Uint8Array>} */
  files(size = this.entries.length) {
    /** @type {Map<string, Uint8Array>} */
    const files = new Map([['checkpoint', Buffer.from(this.note(this.head(size)))]]);
    /** @param {string} level @param {number} n @param {(from: number, to: number) => Buffer} cut */
    const put = (level, n, cut) => {
      for (let i = 0; 256 * i < n; i++) {
        const width = Math.min(256, n - 256 * i);
        const part = width < 256 ? `.p/${width}` : '';
        files.set(`tile/${level}/${nameOf(i)}${part}`, cut(256 * i, 256 * i + width));
      }
    };
    const bundle = (/** @type {string} */ text) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(Buffer.byteLength(text));
      return Buffer.concat([length, Buffer.from(text)]);
    };
    put('entries', size, (from, to) => Buffer.concat(this.entries.slice(from, to).map(bundle)));
    let row = this.leaves.slice(0, size);
    for (let level = 0; row.length; level++) {
      const hashes = row;
      put(String(level), hashes.length, (from, to) => Buffer.concat(hashes.slice(from, to)));
      row = Array.from({ length: Math.floor(row.length / 256) }, (_, i) =>
        Buffer.from(rootOf(hashes.slice(256 * i, 256 * i + 256))),
      );
    }
    const list = this.entries.slice(0, size).findLastIndex((text) => text.includes('"keys"'));
    if (list >= 0)
      files.set('keys', Buffer.from(`{"index":${list},"entry":${this.entries[list]}}\n`));
    const rows = this.entries
      .slice(0, size)
      .map((text, index) => ({ ...JSON.parse(text), index }))
      .filter(({ type, index }) => type === 'recipe' || (type === 'query' && isListed(index)))
      .map(({ type, hash, index }) => ({ type, hash, index, until: 30_000 }));
    files.set('index', Buffer.from(`${JSON.stringify({ entries: rows })}\n`));
    return files;
  }
}

export const LOG_URL = 'https://site.example/log';

/**
 * A device of a page with a log. `serve` changes the files; `requests` has the paths asked for.
 * @param {OracleLog} log @param {any} [more] storage and the like
 */
export async function device(log, more = {}) {
  const state = { files: log.files(), requests: /** @type {string[]} */ ([]) };
  const clock = fakeClock();
  const { key = log.signer.verifier, storage = memoryStorage(), ...rest } = more;
  const day = { now: 20_010 * 86_400_000 };
  const deps = /** @type {any} */ ({
    storage,
    locks: memoryLocks(),
    now: () => day.now,
    gpc: () => false,
    automated: () => false,
    activation: () => undefined,
    setTimer: clock.setTimer,
    clearTimer: clock.clearTimer,
    fetch: async (/** @type {string} */ url) => {
      const path = url.slice(LOG_URL.length + 1);
      state.requests.push(path);
      const bytes = state.files.get(path);
      return bytes
        ? new Response(/** @type {any} */ (bytes))
        : new Response('none', { status: 404 });
    },
    ...rest,
  });
  const options = { endpoint: ENDPOINT, log: { url: LOG_URL, key } };
  const context = new Context(options, deps, new AbortController().signal);
  if (!more.consent) await context.storeConsent();
  return { context, state, storage, day, deps };
}
