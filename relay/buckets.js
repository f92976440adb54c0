// SPDX-License-Identifier: Apache-2.0
// Token buckets by address, in memory only. An address is held as 48 bits of its HMAC under a
// random salt. Salt and buckets are thrown away together every two minutes, so a bucket cannot be
// joined with a later one, or with an address, for longer than that.
//
// A bucket is one number: the time at which it would be full again (the generic cell rate
// algorithm). A bucket that is not there is full. When there are too many, the one that was used
// least lately goes: its address may send a little more, and nobody is refused for it.

const FORGET_MS = 120_000;
const SALT_SIZE = 32;

/**
 * Bytes of memory of one bucket, at most: an entry of a Map of numbers, while the Map grows. Two
 * generations may be there until the garbage is collected.
 */
export const BUCKET_BYTES = 256;

/**
 * @typedef {object} Rate
 * @property {number} perMinute  requests that refill in a minute
 * @property {number} burst  requests at once after a silence
 *
 * @typedef {object} BucketDeps
 * @property {() => number} now  milliseconds
 * @property {(bytes: Uint8Array) => Uint8Array} getRandomValues
 * @property {(key: Uint8Array, text: string) => Uint8Array | Promise<Uint8Array>} hmac
 *   HMAC-SHA-256
 */

/** Rates of addresses. */
export class Buckets {
  #rate;
  #addresses;
  #deps;
  /** @type {Uint8Array} */ #salt = new Uint8Array(SALT_SIZE);
  /** When each bucket is full again. @type {Map<number, number>} */ #full = new Map();
  #forgetAt = 0;

  /**
   * @param {Rate} rate
   * @param {number} addresses  the most buckets at once
   * @param {BucketDeps} deps
   */
  constructor(rate, addresses, deps) {
    this.#rate = rate;
    this.#addresses = addresses;
    this.#deps = deps;
  }

  /** The number of buckets. */
  get size() {
    return this.#full.size;
  }

  /**
   * Takes a token from an address's bucket.
   * @param {string} address  as text; of IPv6 the first 64 bits count, since one sender has them all
   * @returns {Promise<number>} 0, or the seconds until there is a token
   */
  async take(address) {
    this.forget();
    const mac = await this.#deps.hmac(this.#salt, networkOf(address));
    let key = 0;
    for (let i = 0; i < 6; i++) key = key * 256 + mac[i];
    const now = this.#deps.now();
    const each = 60_000 / this.#rate.perMinute;
    const full = Math.max(now, this.#full.get(key) ?? 0);
    const wait = full - now - (this.#rate.burst - 1) * each;
    if (wait > 0) return Math.ceil(wait / 1000);
    this.#full.delete(key); // the Map is in the order of use
    this.#full.set(key, full + each);
    if (this.#full.size > this.#addresses) this.#full.delete(this.#full.keys().next().value ?? 0);
    return 0;
  }

  /** Throws away what is too old. The host calls it at times when no request comes. */
  forget() {
    const now = this.#deps.now();
    if (now < this.#forgetAt) return;
    this.#full = new Map();
    this.#salt = this.#deps.getRandomValues(new Uint8Array(SALT_SIZE));
    this.#forgetAt = now + FORGET_MS;
  }
}

/**
 * Returns an address, or for IPv6 its first 64 bits, in one spelling. IPv4 within IPv6 is IPv4.
 * Text that is no address is returned as it is, cut.
 * @param {string} address
 */
export function networkOf(address) {
  const text = address.toLowerCase().replace(/%.*$/, '');
  const v4 = /^(?:::ffff:)?(\d{1,3}(?:\.\d{1,3}){3})$/.exec(text);
  if (v4 !== null) return v4[1];
  if (!/^[0-9a-f:]+(\d{1,3}(\.\d{1,3}){3})?$/.test(text) || !text.includes(':'))
    return text.slice(0, 64);
  const [head, tail] = text.split('::');
  const words = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const last = tail === '' ? [] : tail.split(':');
    const length = last.length + (last.at(-1)?.includes('.') ? 1 : 0);
    while (words.length + length < 8) words.push('0');
    words.push(...last);
  }
  const four = Array.from({ length: 4 }, (_, i) => parseInt(words[i] ?? '0', 16) || 0);
  return `${four.map((word) => word.toString(16)).join(':')}::/64`;
}
