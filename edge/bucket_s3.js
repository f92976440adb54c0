// SPDX-License-Identifier: Apache-2.0
// A bucket that speaks S3's protocol, for the edge on Node. Requests are signed by aws4fetch. Nothing
// of a credential is in an error.

import { AwsClient } from 'aws4fetch';

/**
 * @typedef {object} S3Settings
 * @property {string} url  of the bucket; objects lie below it
 * @property {string} region
 * @property {{accessKeyId: string, secretAccessKey: string, sessionToken?: string}} credentials
 * @property {boolean} [gzip]
 */

const TIMEOUT_MS = 60_000;
const ANSWER_MAX = 4096;
const OF_NOTHING = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/**
 * @param {S3Settings} settings
 * @param {{fetch: typeof globalThis.fetch, timeoutMs?: number}} deps
 * @returns {import('./bucket.js').Bucket}
 */
export function createS3Bucket({ url, region, credentials }, { fetch, timeoutMs = TIMEOUT_MS }) {
  const client = new AwsClient({ ...credentials, service: 's3', region });
  const base = url.endsWith('/') ? url : `${url}/`;
  /**
   * @param {string} key @param {string} method @param {Record<string, string>} headers
   * @param {Uint8Array} [bytes]
   */
  const send = async (key, method, headers, bytes) => {
    const body = /** @type {Uint8Array<ArrayBuffer> | undefined} */ (bytes);
    const signed = await client.sign(base + key, { method, headers, body });
    return fetch(signed.url, {
      method,
      headers: signed.headers,
      body,
      redirect: 'manual', // a signature goes nowhere else
      signal: AbortSignal.timeout(timeoutMs),
    });
  };
  return {
    async put(key, bytes, sum) {
      const response = await send(
        key,
        'PUT',
        {
          'Content-Type': 'application/octet-stream',
          'If-None-Match': '*',
          'x-amz-checksum-sha256': Buffer.from(sum, 'hex').toString('base64'),
          'x-amz-content-sha256': sum,
          'x-amz-meta-sha256': sum,
          'x-amz-sdk-checksum-algorithm': 'SHA256',
        },
        bytes,
      );
      const code = codeOf(await response.text());
      // Any proxy can answer 200, but only a store names what it stored.
      if (response.status === 200 && response.headers.has('etag')) return true;
      if (response.status === 412) return false;
      throw failure(response, code);
    },
    async checksum(key) {
      const headers = { 'x-amz-checksum-mode': 'ENABLED', 'x-amz-content-sha256': OF_NOTHING };
      const response = await send(key, 'HEAD', headers);
      if (response.status === 403) return ''; // this credential may write alone
      if (response.status !== 200) throw failure(response, '');
      const sum = response.headers.get('x-amz-checksum-sha256');
      if (sum !== null) return Buffer.from(sum, 'base64').toString('hex');
      return response.headers.get('x-amz-meta-sha256') ?? ''; // a store that keeps no checksums
    },
  };
}

/**
 * Returns a listener that says why the bucket fails: once, and again when the reason changes.
 * @param {(text: string) => void} say
 */
export function failureTeller(say) {
  let said = '';
  return (/** @type {any} */ error) => {
    const text = error === undefined ? '' : `bucket: ${reasonOf(error)}; it will be tried again`;
    if (text !== '' && text !== said) say(text);
    if (text === '' && said !== '') say('bucket: it takes batches again');
    said = text;
  };
}

/** The messages of fetch may name addresses, their codes do not. @param {any} error */
function reasonOf({ name, message, cause }) {
  if (name === 'TimeoutError') return 'it does not answer in time';
  return message.startsWith('it ') ? message : `it cannot be reached (${cause?.code ?? name})`;
}

/** The code of an error, which is a word. @param {string} text */
const codeOf = (text) => /<Code>(\w{1,64})<\/Code>/.exec(text.slice(0, ANSWER_MAX))?.[1] ?? '';

/** @param {Response} response @param {string} code */
function failure({ status, headers }, code) {
  const error = new Error(`it answers ${status} ${code}`.trim());
  const seconds = Number(headers.get('retry-after'));
  return Object.assign(error, { retryAfterS: seconds > 0 ? seconds : 0 });
}
