// SPDX-License-Identifier: Apache-2.0
// Properties of the JavaScript parts under random input, by fast-check: what a device, a relay, an
// edge and an issuer do with any bytes, headers, options and orders of calls. `make test` gives each
// a second or two; the campaign `random` gives each a million runs.
//
// Usage: node tests/random/run.mjs                      lists the properties
//        node tests/random/run.mjs NAME SEED SECONDS    runs one; prints "RUNS runs"
// Ends with 0: it held; 1: it did not, and the shrunk counterexample is printed; 2: wrong use.
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { clientProperties } from './client.mjs';
import { edgeProperties } from './edge.mjs';
import { gatewayProperties } from './gateway.mjs';
import { issuerProperties } from './issuer.mjs';
import { recipeProperties } from './recipe.mjs';
import { relayProperties } from './relay.mjs';

/**
 * @typedef {object} Property
 * @property {string} name
 * @property {number} wanted runs of a whole campaign
 * @property {() => Promise<fc.IRawProperty<any, boolean>>} make
 */

/** @type {Property[]} */
export const properties = [
  ...edgeProperties,
  ...gatewayProperties,
  ...relayProperties,
  ...issuerProperties,
  ...clientProperties,
  ...recipeProperties,
];

/**
 * Runs a property for some time.
 * @param {Property} property @param {number} seed @param {number} seconds
 * @returns {Promise<{runs: number, failure: string | null}>} failure: what was wrong, with the
 *   shrunk input and the seed
 */
export async function check({ make }, seed, seconds) {
  const details = await fc.check(await make(), {
    seed,
    numRuns: 1e9,
    interruptAfterTimeLimit: seconds * 1000,
    markInterruptAsFailure: false,
  });
  const runs = details.numRuns;
  if (!details.failed) return { runs, failure: null };
  const { stack = '' } = /** @type {Error} */ (details.errorInstance ?? {});
  return { runs, failure: `${fc.defaultReportMessage(details)}\n${stack}` };
}

/** @param {string[]} args */
async function main([name, seed, seconds]) {
  if (name === undefined) {
    for (const each of properties) console.log(each.name);
    return 0;
  }
  const property = properties.find((each) => each.name === name);
  if (!property || !(Number(seconds) > 0) || !Number.isInteger(Number(seed))) {
    console.error('usage: run.mjs NAME SEED SECONDS; without a name, the names are listed');
    return 2;
  }
  const { runs, failure } = await check(property, Number(seed), Number(seconds));
  console.log(`${runs} runs`);
  if (failure !== null) console.log(failure);
  return failure === null ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = await main(process.argv.slice(2));
