// SPDX-License-Identifier: Apache-2.0
// An example of the aggregator as a serverless function: a `fetch` handler that answers a POST of a
// form (recipe, accumulator, dictionary) with the JSON of `shoal estimate`. It keeps nothing
// between requests.
//
//   import module from 'shoal-aggregator/shoal.wasm';
//   import { createHandler } from 'shoal-aggregator/handler';
//   export default { fetch: createHandler({ module, authorize: (request, env) => isReader(request, env.READ_TOKEN) }) };
import { run } from './run.js';

/**
 * @typedef {{ module: WebAssembly.Module, authorize: (request: Request, env?: any) => boolean |
 *   Promise<boolean>, maxBytes?: number, }} HandlerOptions `authorize` decides who may read results
 *   and has no default; `maxBytes` is the limit of a request, default 32 MiB
 */

const FILES = ['recipe', 'accumulator', 'dictionary'];
const SETTINGS = ['top', 'confidence', 'multiple'];

// Exit codes that mean the sender's input was wrong. All others (the command did not start, out of
// memory) are a 500.
/** @type {{[code: number]: [number, string]}} */
const REFUSALS = { 1: [400, 'refused'], 2: [400, 'usage'], 3: [403, 'cohort'], 5: [400, 'input'] };

/**
 * @param {number} status
 * @param {string} code
 * @param {string} message
 * @param {{[name: string]: string}} [headers]
 */
const refuse = (status, code, message, headers = {}) =>
  Response.json(
    { error: { code, message } },
    { status, headers: { 'cache-control': 'no-store', ...headers } },
  );

/**
 * Reads the body, or returns null if it is over the limit. Bytes are counted while they stream,
 * whatever length the request claims.
 * @param {Request} request
 * @param {number} max
 */
async function readCapped(request, max) {
  /** @type {Uint8Array<ArrayBuffer>[]} */
  const chunks = [];
  let size = 0;
  const reader = request.body?.getReader();
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    size += next.value.length;
    if (size > max) {
      await reader?.cancel();
      return null;
    }
    chunks.push(next.value);
  }
  return new Blob(chunks);
}

/** @param {FormDataEntryValue} value */
const toBytes = async (value) =>
  typeof value === 'string'
    ? new TextEncoder().encode(value)
    : new Uint8Array(await value.arrayBuffer());

/**
 * Turns the form into the command's files and arguments, or a sentence that says what is wrong with
 * it.
 * @param {FormData} form
 * @returns {Promise<{args: string[], files: {[name: string]: Uint8Array}} | string>}
 */
async function toCommand(form) {
  const args = ['estimate', '--format', 'json'];
  /** @type {{[name: string]: Uint8Array}} */
  const files = {};
  for (const name of new Set(form.keys())) {
    const values = form.getAll(name);
    if (values.length > 1) return `${name} is given twice`;
    if (FILES.includes(name)) files[name] = await toBytes(values[0]);
    else if (!SETTINGS.includes(name)) return 'the form has an unknown field';
    else if (typeof values[0] !== 'string') return `${name} must be text`;
    else args.push(`--${name}`, values[0]);
  }
  if (!files.recipe || !files.accumulator) return 'the form needs recipe and accumulator';
  args.push(
    '--recipe',
    'recipe',
    ...(files.dictionary ? ['--dictionary', 'dictionary'] : []),
    'accumulator',
  );
  return { args, files };
}

/**
 * @param {HandlerOptions} options
 * @returns {(request: Request, env?: any) => Promise<Response>}
 */
export function createHandler({ module, authorize, maxBytes = 32 << 20 }) {
  if (typeof authorize !== 'function') throw new TypeError('createHandler needs authorize');
  return async (request, env) => {
    if (request.method !== 'POST') return refuse(405, 'method', 'POST a form', { allow: 'POST' });
    if (!(await authorize(request, env)))
      return refuse(401, 'unauthorized', 'not allowed to read results');
    const type = request.headers.get('content-type') ?? '';
    if (!/^multipart\/form-data *;/i.test(type))
      return refuse(415, 'content-type', 'POST multipart/form-data');
    const body = await readCapped(request, maxBytes);
    if (!body) return refuse(413, 'too-large', `a request has at most ${maxBytes} bytes`);
    const form = await new Response(body, { headers: { 'content-type': type } })
      .formData()
      .catch(() => null);
    if (!form) return refuse(400, 'form', 'the form cannot be read');
    const command = await toCommand(form);
    if (typeof command === 'string') return refuse(400, 'form', command);
    const { code, stdout, stderr } = await run(command.args, { files: command.files, module });
    const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
    if (code === 0) return new Response(/** @type {BodyInit} */ (stdout), { headers });
    const [status, name] = REFUSALS[code] ?? [500, 'failed'];
    return refuse(status, name, new TextDecoder().decode(stderr).trim());
  };
}
