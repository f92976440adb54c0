// SPDX-License-Identifier: Apache-2.0
// Tells what edge and relay do, by watching their requests from outside: how many came, how many bytes
// they had, what was answered. Neither is asked for more, and no body is read but the head of a batch,
// so this can tell no value. Requests of one moment are told together.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/**
 * @typedef {(who: 'page' | 'relay' | 'edge' | 'aggregator' | 'chart' | 'crowd' | 'trial', text: string)
 *   => void} Say
 */

const FINISHED = 'http.server.response.finish';
const GATHER_MS = 1000;
const COUNT_AT = 16; // of a batch: how many records it holds
const HEADER = 72; // bytes of a batch before its records, of version 1, which has fewer

/** @param {number} n @param {string} one @param {string} [many] */
export const counted = (n, one, many = `${one}s`) =>
  `${n.toLocaleString('en-US')} ${n === 1 ? one : many}`;

/**
 * @param {Say} say
 * @param {number} minimum  reports of the smallest batch
 */
export function watchHops(say, minimum) {
  const ports = { edge: 0, relay: 0 };
  const seen = { accepted: 0, sealed: 0, refused: 0, relayed: 0, relayBytes: 0 };
  let waiting = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  function tell() {
    timer = undefined;
    if (seen.relayed > 0) {
      const [it, them] = seen.relayed === 1 ? ['it', 'it'] : ['any of them', 'them'];
      say(
        'relay',
        `saw an address and ${counted(seen.relayed, 'sealed request')} of ${seen.relayBytes.toLocaleString('en-US')} bytes, could not open ${it}, and passed ${them} on without the address`,
      );
    }
    const kept = seen.accepted + seen.sealed;
    if (kept > 0)
      say(
        'edge',
        `kept ${counted(kept, 'more report')}${seen.sealed > 0 ? ` (${seen.sealed.toLocaleString('en-US')} by way of the relay)` : ''}, and no address, time or order; ${waiting.toLocaleString('en-US')} ${waiting === 1 ? 'waits' : 'wait'} for a batch of at least ${minimum}`,
      );
    if (seen.refused > 0) say('edge', `refused ${counted(seen.refused, 'request')}`);
    Object.assign(seen, { accepted: 0, sealed: 0, refused: 0, relayed: 0 });
  }
  const soon = () => (timer ??= setTimeout(tell, GATHER_MS));

  /** @param {any} message */
  function finished({ request, response, server }) {
    const port = server.address()?.port;
    if (port !== ports.edge || request.method !== 'POST') return;
    if (response.statusCode === 202) seen.accepted++;
    else if (response.statusCode === 200 && request.url === '/ohttp') seen.sealed++;
    else seen.refused++;
    if (response.statusCode < 300) waiting++;
    soon();
  }
  subscribe(FINISHED, finished);

  return {
    ports,
    /** What the edge forwards with. @type {typeof fetch} */
    edgeFetch: async (input, init) => {
      const response = await fetch(input, init);
      const batch = /** @type {any} */ (init?.body);
      if (response.ok && batch?.length >= HEADER) {
        const count = new DataView(batch.buffer, batch.byteOffset).getUint32(COUNT_AT, true);
        waiting = Math.max(0, waiting - count);
        clearTimeout(timer);
        tell();
        say('edge', `sent a batch of ${counted(count, 'shuffled record')} to the aggregator`);
      }
      return response;
    },
    /** What the relay passes on with. @type {typeof fetch} */
    relayFetch: (input, init) => {
      seen.relayed++;
      seen.relayBytes = /** @type {any} */ (init?.body)?.length ?? 0;
      soon();
      return fetch(input, init);
    },
    close() {
      clearTimeout(timer);
      unsubscribe(FINISHED, finished);
    },
  };
}
