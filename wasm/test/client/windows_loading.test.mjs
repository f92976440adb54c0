// SPDX-License-Identifier: Apache-2.0
// Modules are requests, too: what an event of a window needs is loaded when its page opens the
// window, so that nobody on the network sees the moment of the first event.
import assert from 'node:assert/strict';
import { register } from 'node:module';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';

/** Modules that were asked for since the test's hook was set. @type {Set<string>} */
const asked = new Set();
const { port1, port2 } = new MessageChannel();
port1.on('message', (/** @type {string} */ url) => asked.add(url)).unref();
const hook = `
  let port;
  export const initialize = (given) => void (port = given);
  export async function resolve(name, context, next) {
    const found = await next(name, context);
    port.postMessage(found.url);
    return found;
  }`;
register(`data:text/javascript,${encodeURIComponent(hook)}`, {
  data: port2,
  transferList: [port2],
});
const { codes, itemsRecipe, settle } = await import('../fixtures.mjs');
const { browserOf } = await import('../window_fixtures.mjs');

const send = { fresh: 'allow', delay_s: 0, pick: 'uniform', window: 'visit' };
const { value: _, mechanism: __, parameters: ___, ...around } = itemsRecipe({ send });
const steps = ['seen', 'cart', 'paid'].map((name) => ({
  name,
  value: 'item',
  mechanism: 'grr',
  parameters: { epsilon: 1, values: ['yes', 'no'] },
}));

/** Lets modules come, and the hook's thread tell of them. */
const rest = async () => {
  for (let i = 0; i < 20; i++) {
    await settle();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

test('a step of a funnel loads no module', async () => {
  const recipe = { ...around, recipe: 'checkout-1', stream: 'checkout', variables: steps };
  const { tab } = browserOf({ recipes: [JSON.parse(JSON.stringify(recipe))] });
  const { client, grant } = await tab();
  await grant();
  await rest();
  const before = new Set(asked);
  assert.deepEqual(codes(await client.reach('checkout', 1)), ['entered']);
  await rest();
  assert.ok([...before].some((url) => url.endsWith('/client/observe.js')));
  assert.deepEqual(
    [...asked].filter((url) => !before.has(url)),
    [],
  );
});
