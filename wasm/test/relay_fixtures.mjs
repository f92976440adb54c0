// SPDX-License-Identifier: Apache-2.0
// A relay, the gateway of the edge worker behind it, and a log of its keys, as one fetch(). The gateway is the real one over the real handler;
// collections and leader are told what to answer, and the relay keeps what it saw.
import { load } from '../bindings/node.js';
import { DAY, makeClient } from './fixtures.mjs';
import { OracleLog, keysEntry } from './log_fixtures.mjs';
import '../client/relay.js'; // loaded before a page imports it, so that no test waits for the disk

// The edge is JavaScript with paths of its own, which this package's types do not follow.
const edge = (/** @type {string} */ name) =>
  import(new URL(`../../edge/${name}`, import.meta.url).href);
const [{ Gateway }, { handle }, { hexOf, keysOf }] = await Promise.all(
  ['gateway.js', 'handler.js', 'ohttp.js'].map(edge),
);

export const RELAY = 'https://relay.example/shoal';
export const LOG_URL = 'https://site.example/log';
const TOKEN = 'a-token-of-the-relay';

export const secretKey = (id = 1, byte = '11') => ({ id, secret: byte.repeat(32) });

/** A key list of the log. @param {any[]} keys @param {any} [more] */
export async function listOf(keys, more = {}) {
  const gateway = (await keysOf(keys)).map((/** @type {any} */ { id, configuration }) => ({
    id,
    config: hexOf(configuration),
  }));
  return keysEntry({ from: DAY - 5, until: DAY + 5, gateway, tokens: [], ...more });
}

/** @param {any} [more] */
export async function relayed(
  { recipes = [], tasks = [], keys = [secretKey()], now = () => 0 } = /** @type {any} */ ({}),
) {
  const core = await load();
  const made = recipes.map((/** @type {any} */ json) => core.recipe(json));
  const world = {
    /** The keys of reports that were stored, in order. @type {string[]} */ taken: [],
    /** @type {Uint8Array[]} */ uploads: [],
    /** The next answers of collections, before they accept. @type {any[]} */ answers: [],
    /** @type {any[]} */ uploadAnswers: [],
    /** What the relay answers by itself. @type {(Response | Error)[]} */ refusals: [],
    /** @type {{length: number, headers: any, init: any}[]} */ requests: [],
    /** Bytes of the answers. @type {number[]} */ lengths: [],
    /** Requests that the relay did not see. @type {string[]} */ direct: [],
    /** @type {string[]} */ logged: [],
    gateway: null,
    log: new OracleLog([await listOf(keys)]),
    isLogDown: false,
    now,
    /** @param {any[]} list */
    async open(list) {
      const relays = [{ name: 'relay', token: TOKEN, perMinute: 1e6 }];
      world.gateway = await Gateway.open({ keys: list, relays });
    },
    /** Adds a key list to the log. @param {any[]} list @param {any} [more] */
    async list(list, more) {
      const entries = world.log.entries.map((entry) => JSON.parse(entry));
      const { signer } = world.log;
      world.log = new OracleLog([
        ...entries,
        await listOf(list, { serial: 1 + entries.length, ...more }),
      ]);
      world.log.signer = signer;
    },
    fetch,
  };
  await world.open(keys);
  const collections = new Map(
    made.map((/** @type {any} */ recipe) => [
      recipe.hash,
      {
        recipe,
        accept: async (/** @type {any} */ _, /** @type {string} */ key) => {
          const outcome = world.answers.shift() ?? 'accepted';
          if (outcome === 'accepted') world.taken.push(key);
          return outcome;
        },
      },
    ]),
  );
  const hosts = tasks.map((/** @type {any} */ { recipe, id, length }) => [
    id,
    {
      recipe,
      length,
      forward: async (/** @type {Uint8Array} */ body) => {
        world.uploads.push(body);
        return (
          world.uploadAnswers.shift() ?? {
            status: 200,
            type: null,
            retryAfter: null,
            body: new Uint8Array(0),
          }
        );
      },
    },
  ]);

  /** @param {any} url @param {any} init */
  async function fetch(url, init) {
    const text = String(url);
    if (text.startsWith(`${LOG_URL}/`)) {
      world.logged.push(text.slice(LOG_URL.length + 1));
      if (world.isLogDown) throw new TypeError('offline');
      const file = world.log.files().get(text.slice(LOG_URL.length + 1));
      return new Response(/** @type {any} */ (file ?? null), { status: file ? 200 : 404 });
    }
    if (text !== RELAY) {
      world.direct.push(text);
      throw new TypeError(`${text} is not there`);
    }
    const seen = { length: init.body.length, headers: init.headers, init: { ...init, type: '' } };
    world.requests.push(seen);
    ({ type: seen.init.type } = await new Request(url, { method: 'POST', body: init.body }).blob());
    if (init.signal?.aborted) throw new TypeError('aborted');
    const refusal = world.refusals.shift();
    if (refusal instanceof Error) throw refusal;
    if (refusal) return refusal;
    const request = new Request('https://gateway.example/ohttp', {
      method: 'POST',
      headers: { 'Content-Type': 'message/ohttp-req', Authorization: `Bearer ${TOKEN}` },
      body: init.body,
    });
    const response = await handle(request, {
      collections,
      tasks: new Map(hosts),
      recipes: made,
      origins: [],
      now: world.now,
      gateway: world.gateway,
    });
    const bytes = await response.arrayBuffer();
    world.lengths.push(bytes.byteLength);
    return new Response(bytes, response);
  }
  return world;
}

/** A client whose page names the relay. @param {any} world @param {any} [more] */
export async function relayedClient(world, { recipes, ...more } = /** @type {any} */ ({})) {
  const made = await makeClient({
    recipes,
    fetch: world.fetch,
    relay: RELAY,
    log: { url: LOG_URL, key: world.log.signer.verifier },
    ...more,
  });
  world.now = made.clock.now;
  return made;
}
