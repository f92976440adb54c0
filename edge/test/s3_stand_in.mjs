// SPDX-License-Identifier: Apache-2.0
// A bucket on loopback that behaves as badly as it is told. It checks signatures and checksums by itself, from S3's
// documentation, so that a wrong request is refused as a real bucket would.

import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { freePort } from '../../tests/ports.mjs';

export const CREDENTIALS = {
  accessKeyId: 'AKIDTEST',
  secretAccessKey: 'a-secret-key-of-the-tests',
};
export const REGION = 'eu-test-1';

const sha = (data) => createHash('sha256').update(data).digest('hex');
const hmac = (key, text) => createHmac('sha256', key).update(text).digest();

/** Signature version 4 of a request, hex. */
function signatureOf({ method, url, headers }, secret) {
  const { pathname, searchParams } = new URL(url, 'http://x');
  const [, scope, signed] = /Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+),/.exec(
    headers.authorization ?? '',
  );
  const names = signed.split(';');
  const canonical = [
    method,
    pathname,
    [...searchParams].map(([k, v]) => `${k}=${v}`).join('&'),
    ...names.map((name) => `${name}:${headers[name].trim().replace(/\s+/g, ' ')}`),
    '',
    signed,
    headers['x-amz-content-sha256'],
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha(canonical)].join('\n');
  const key = scope.split('/').reduce((before, part) => hmac(before, part), `AWS4${secret}`);
  return hmac(key, text).toString('hex');
}

export class S3StandIn {
  /** Name to bytes. @type {Map<string, Buffer>} */ objects = new Map();
  /** What came: "PUT name" or "HEAD name". @type {string[]} */ requests = [];
  /**
   * What to do with the next requests, first come first served: a status; 'lost': do it and break the connection;
   * 'proxy': answer 200 and do nothing; 'slow': never answer.
   * @type {(number | string)[]}
   */
  script = [];
  /** HEAD is answered 403. */ isWriteOnly = false;
  /** It keeps no checksums, only what clients say of an object. */ isSimple = false;
  port = 0;
  #server;

  get url() {
    return `http://127.0.0.1:${this.port}/lake`;
  }

  async start() {
    if (this.port === 0) this.port = await freePort();
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  async stop() {
    if (!this.#server.listening) return;
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request, response) {
    const chunks = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return;
    }
    const body = Buffer.concat(chunks);
    const name = request.url.slice('/lake/'.length);
    this.requests.push(`${request.method} ${name}`);
    const told = this.script.shift();
    if (told === 'slow') return;
    if (told === 'proxy') return response.end('all is well');
    if (typeof told === 'number') return this.#refuse(request, response, told, 'Scripted');
    const [status, code, headers] = this.#judge(request, name, body);
    if (told === 'lost') return request.socket.destroy();
    if (status !== 200) return this.#refuse(request, response, status, code);
    response.writeHead(200, headers).end();
  }

  #refuse(request, response, status, code) {
    const retry = status === 503 ? { 'Retry-After': '7' } : {};
    response.writeHead(status, retry);
    response.end(
      request.method === 'HEAD'
        ? undefined
        : `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${'x'.repeat(9000)}</Message></Error>`,
    );
  }

  /** @returns {[number, string, Record<string, string>]} */
  #judge(request, name, body) {
    const { headers, method } = request;
    const given = /Signature=([0-9a-f]{64})$/.exec(headers.authorization ?? '')?.[1];
    if (given !== signatureOf(request, CREDENTIALS.secretAccessKey))
      return [403, 'SignatureDoesNotMatch', {}];
    if (headers['x-amz-content-sha256'] !== sha(body))
      return [400, 'XAmzContentSHA256Mismatch', {}];
    const known = this.objects.get(name);
    if (method === 'HEAD') {
      if (this.isWriteOnly) return [403, '', {}];
      if (!known) return [404, '', {}];
      const sum = sha(known);
      const own = { 'x-amz-checksum-sha256': Buffer.from(sum, 'hex').toString('base64') };
      return [200, '', this.isSimple ? { 'x-amz-meta-sha256': sum } : own];
    }
    const sum = Buffer.from(headers['x-amz-checksum-sha256'] ?? '', 'base64').toString('hex');
    if (sum !== sha(body)) return [400, 'BadDigest', {}];
    if (headers['if-none-match'] !== '*') return [501, 'NotImplemented', {}];
    if (known) return [412, 'PreconditionFailed', {}];
    this.objects.set(name, body);
    return [200, '', { ETag: '"1"' }];
  }
}
