// SPDX-License-Identifier: Apache-2.0
// Runs over epochs on a page: what is summed, what is answered, what it costs, what is left on the device; two tabs, restarts, crashes
// and servers that lie.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from '../../bindings/node.js';
import { memoryLocks, memoryStorage } from '../../client/memory_storage.js';
import { Run } from '../../bindings/run_core.js';
import { signedBytes } from '../../bindings/signature.js';
import {
  codes,
  ENDPOINT,
  epochRecipe,
  heavyRecipe,
  makeClient,
  settle,
  wordsRecipe,
  balances,
} from '../fixtures.mjs';
import { DAY_MS, signer, stored } from '../query_fixtures.mjs';

const core = await load();

/** What the core makes of a recipe. @template T @param {any} json @param {(recipe: import('../../bindings/core.js').Recipe) => T} task @returns {T} */
function withRecipe(json, task) {
  const recipe = core.recipe(json);
  try {
    return task(recipe);
  } finally {
    core.release(recipe);
  }
}
const hashOf = (/** @type {any} */ json) => withRecipe(json, (recipe) => recipe.hash);

/** Recipes of epochs 1 to n, each after the one before. @param {number} n @param {any} [more] @param {number[]} [updates] epochs that were updates @param {typeof epochRecipe} [make] */
function chain(n, more = {}, updates = [], make = epochRecipe) {
  const list = [];
  for (let t = 1, previous; t <= n; t++) {
    const round = { ...(previous && { previous }), ...(updates.includes(t - 1) && { update: 1 }) };
    const recipe = make(t, { ...more, round });
    list.push(recipe);
    previous = hashOf(recipe);
  }
  return list;
}

/** A client under consent that takes part. @param {any} [more] options */
async function tracked(more = {}) {
  const made = await makeClient({ runs: [epochRecipe()], recipes: [], ...more });
  await made.client.consent.grant();
  assert.deepEqual(await made.client.track.optIn('settings'), [{ recipe: null, code: 'opted-in' }]);
  return {
    ...made,
    storage: /** @type {import('../../client/storage.js').Storage} */ (made.storage),
  };
}

const answered = [{ recipe: 'dark-mode', code: 'queued' }];
const runOf = async (/** @type {any} */ client) =>
  (await client.ledger()).find((/** @type {any} */ entry) => entry.run);

test('a run takes nothing before the person agreed to it, and then sums of one epoch', async () => {
  const { client, storage, clock } = await makeClient({ runs: [epochRecipe()], recipes: [] });
  assert.deepEqual(codes(await client.track.sample('views', 1)), ['no-consent']);
  await client.consent.grant();
  await clock.advance(DAY_MS);
  const before = await stored(storage);
  assert.deepEqual(codes(await client.track.sample('views', 1)), ['not-opted-in']);
  assert.deepEqual(codes(await client.track.answer([epochRecipe()])), ['not-opted-in']);
  assert.deepEqual(codes(await client.track.optIn('other')), ['unknown-analysis']);
  assert.deepEqual(await stored(storage), before);
  await client.track.optIn('settings');
  for (const value of [1, 0, 0.25, 7, -3])
    assert.deepEqual(await client.track.sample('views', value), [
      { recipe: 'dark-mode', code: 'sampled' },
    ]);
  // What lies beyond the range counts as its end: 1 + 0 + 0.25 + 1 + 0.
  assert.match((await stored(storage)).events, /"count":5,"total":"2250000"/);
  assert.deepEqual(codes(await client.track.sample('views', 'dark')), ['not-a-number']);
  assert.deepEqual(codes(await client.track.sample('views', NaN)), ['not-a-number']);
  assert.deepEqual(codes(await client.track.sample('clicks', 1)), ['unknown-stream']);
  assert.match((await stored(storage)).events, /"count":5,"total":"2250000"/);
});

test('an epoch is one report; the whole run is paid for once, with the first', async () => {
  const { client, edge, clock, storage } = await tracked();
  const epochs = chain(3);
  await client.track.sample('views', 1);
  assert.deepEqual(await client.track.answer([epochs[0]]), answered);
  await client.flush();
  const [{ body }] = edge.requests;
  assert.deepEqual(
    { ...body, records: [] },
    {
      key: 'dark-mode',
      recipe_hash: hashOf(epochs[0]),
      parameters: withRecipe(epochs[0], (r) => r.parameters),
      records: [],
    },
  );
  assert.match(body.records[0], /^[01];[01]$/);
  assert.match(
    (await client.reports())[0].text,
    /"dark-mode", randomized within epsilon 4 for all 16 epochs/,
  );
  const spent = (await client.ledger()).find((/** @type {any} */ { total }) => total);
  await clock.advance(DAY_MS);
  for (const epoch of epochs.slice(1))
    assert.deepEqual(await client.track.answer([epoch]), answered);
  await client.flush();
  assert.equal(edge.requests.length, 3);
  assert.deepEqual(
    (await client.ledger()).find((/** @type {any} */ { total }) => total),
    spent,
    'nothing more was debited',
  );
  const run = await runOf(client);
  assert.deepEqual(
    [run.epoch, run.epochs, run.paid, run.optedIn, run.epsilon.allowed],
    [3, 16, true, true, 4],
  );
});

test('samples are of their own epoch, and go with its answer', async () => {
  const { client, storage } = await tracked();
  const epochs = chain(2);
  await client.track.sample('views', 1);
  await client.track.answer([epochs[0]]);
  assert.match((await stored(storage)).events, /"sums":null/);
  await client.track.sample('views', 0);
  assert.match((await stored(storage)).events, /"count":1,"total":"0"/);
  // The state is what the core makes of the mean 1, whatever the record's randomness.
  const kept = JSON.parse((await stored(storage)).events)[0][1];
  const wanted = withRecipe(epochs[0], (recipe) => {
    const run = new Run(recipe);
    return run.answerNumber(run.start(), 1_000_000n, new Uint8Array(32)).state;
  });
  assert.equal(kept.state, Buffer.from(wanted).toString('latin1'));
});

test('an epoch is answered once, whatever the server says of it the second time', async () => {
  const { client, edge, storage } = await tracked();
  const [first, second] = chain(2);
  assert.deepEqual(codes(await client.track.answer([first, second, second, first])), [
    'queued',
    'queued',
    'answered',
    'answered',
  ]);
  const before = await stored(storage);
  const lies = [
    [epochRecipe(2, { round: { previous: hashOf(first), update: 1 } }), 'answered'], // the same index with another update
    [epochRecipe(1), 'answered'],
    [epochRecipe(3, { round: { previous: '11'.repeat(32) } }), 'follows'],
    [epochRecipe(18, { round: { previous: '11'.repeat(32) } }), 'late'],
    [
      epochRecipe(3, { round: { previous: hashOf(second) }, parameters: { epsilon: 8 } }),
      'other-run',
    ],
    [
      epochRecipe(3, { round: { previous: hashOf(second) }, parameters: { users: 200000 } }),
      'other-run',
    ],
    [epochRecipe(3, { round: { previous: hashOf(second) }, expires: '2031-01-01' }), 'other-run'],
    [wordsRecipe({ recipe: 'dark-mode' }), 'malformed'],
    ['{', 'malformed'],
    [null, 'malformed'],
  ];
  for (const [json, code] of lies)
    assert.deepEqual(
      codes(await client.track.answer([/** @type {any} */ (json)])),
      [code],
      JSON.stringify(json),
    );
  const after = await stored(storage);
  for (const store of ['state', 'events', 'queue', 'done'])
    assert.equal(after[store], before[store], store);
  await client.flush();
  assert.equal(edge.requests.length, 2);
  const refused = (await client.log()).filter(({ outcome }) => outcome === 'refused');
  assert.deepEqual(refused.map(({ code, count }) => `${code} ${count}`).sort(), [
    'follows 1',
    'late 1',
    'malformed 3',
    'other-run 3',
  ]);
  for (const { text } of refused)
    assert.match(text, /^Refused( \(\d times, last\))? at 20.*: .*\. [A-Z].*\.$/);
});

test('the first recipe of a run that is refused costs nothing', async () => {
  const { client, storage } = await tracked();
  const before = await stored(storage);
  assert.deepEqual(codes(await client.track.answer([epochRecipe(1, { round: { update: 1 } })])), [
    'first',
  ]);
  const after = await stored(storage);
  for (const store of ['state', 'events', 'queue'])
    assert.equal(after[store], before[store], store);
  assert.equal((await runOf(client)).paid, false);
});

test('two tabs sum into one epoch, and answer it once', async () => {
  const storage = memoryStorage();
  const locks = memoryLocks();
  const one = await tracked({ storage, locks });
  const two = await tracked({ storage, locks });
  await Promise.all(
    [1, 1, 0, 1].map((value, i) => (i % 2 ? one : two).client.track.sample('views', value)),
  );
  assert.match((await stored(storage)).events, /"count":4,"total":"3000000"/);
  const [epoch] = chain(1);
  const outcomes = await Promise.all(
    [one, two, one, two].map(({ client }) => client.track.answer([epoch])),
  );
  assert.deepEqual(outcomes.map((list) => list[0].code).sort(), [
    'answered',
    'answered',
    'answered',
    'queued',
  ]);
  await one.client.flush();
  await two.client.flush();
  assert.equal(one.edge.requests.length + two.edge.requests.length, 1);
});

test('a restart goes on where the run was', async () => {
  const epochs = chain(3);
  const one = await tracked();
  await one.client.track.sample('views', 1);
  await one.client.track.answer([epochs[0]]);
  await one.client.track.sample('views', 0.5);
  one.client.close();
  const { client } = await makeClient({ runs: [epochs[2]], recipes: [], storage: one.storage });
  assert.equal(client.consent.state, 'granted');
  assert.match((await stored(one.storage)).events, /"count":1,"total":"500000"/);
  assert.deepEqual(codes(await client.track.answer(epochs)), ['answered', 'queued', 'queued']);
  assert.equal((await runOf(client)).epoch, 3);
});

/** A storage that fails where it is told to. @param {import('../../client/storage.js').Storage} storage */
function failing(storage) {
  /** @type {{puts: ((store: string, key: string) => boolean) | null, isCommitLost: boolean}} */
  const plan = { puts: null, isCommitLost: false };
  /** @type {import('../../client/storage.js').Storage} */
  const wrapped = {
    ...storage,
    transaction: (task) =>
      storage.transaction(async (tx) => {
        const result = await task({
          ...tx,
          put: async (store, key, value) => {
            if (plan.puts?.(store, key)) throw new Error('disk');
            return tx.put(store, key, value);
          },
        });
        if (plan.isCommitLost) throw new Error('power');
        return result;
      }),
  };
  return { wrapped, plan };
}

test('a page that dies between the state and the queue has lost the report; the epoch is not answered again', async () => {
  const { wrapped, plan } = failing(memoryStorage());
  const { client, edge, clock } = await tracked({ storage: wrapped });
  const epochs = chain(2);
  plan.puts = (store) => store === 'queue';
  assert.deepEqual(codes(await client.track.answer([epochs[0]])), ['storage']);
  plan.puts = null;
  client.close();
  const again = await makeClient({
    runs: [epochs[0]],
    recipes: [],
    storage: wrapped,
    now: clock.now,
  });
  assert.deepEqual(codes(await again.client.track.answer([epochs[0]])), ['answered']);
  assert.deepEqual(codes(await again.client.track.answer([epochs[1]])), ['queued']);
  await again.client.flush();
  assert.deepEqual(
    [edge.requests.length, again.edge.requests.map(({ body }) => body.recipe_hash)],
    [0, [hashOf(epochs[1])]],
  );
  assert.equal((await runOf(again.client)).paid, true);
});

test('no report exists before what it says is stored: where the state cannot be, nothing was said and nothing paid', async () => {
  const { wrapped, plan } = failing(memoryStorage());
  const { client, edge } = await tracked({ storage: wrapped });
  const before = await stored(wrapped);
  for (const part of /** @type {const} */ (['ledger', 'runs', 'events'])) {
    plan.puts = (store, key) => key === part || store === part;
    assert.deepEqual(codes(await client.track.answer([epochRecipe()])), ['storage'], part);
    plan.puts = null;
    assert.deepEqual(await stored(wrapped), before, part);
  }
  plan.isCommitLost = true;
  assert.deepEqual(codes(await client.track.answer([epochRecipe()])), ['storage']);
  plan.isCommitLost = false;
  assert.deepEqual(await stored(wrapped), before);
  /** @type {string[]} */
  const order = [];
  plan.puts = (store, key) => (order.push(store === 'state' ? key : store), false);
  assert.deepEqual(await client.track.answer([epochRecipe()]), answered);
  assert.deepEqual(order, ['ledger', 'runs', 'events', 'log', 'queue']);
  await client.flush();
  assert.equal(edge.requests.length, 1);
});

test('who leaves a run has left it: what was kept is erased, and its epsilon is never spent again', async () => {
  const epochs = chain(3);
  for (const way of /** @type {const} */ (['optOut', 'withdraw', 'erase'])) {
    const { client, edge, storage, clock } = await tracked();
    await client.track.sample('views', 1);
    await client.track.answer([epochs[0]]);
    await client.track.sample('views', 1);
    if (way === 'optOut')
      assert.deepEqual(await client.track.optIn('settings', false), [
        { recipe: null, code: 'opted-out' },
      ]);
    else await (way === 'erase' ? client.erase() : client.consent.withdraw());
    const { state, events, queue } = await stored(storage);
    assert.deepEqual([events, queue], ['[]', '[]'], way);
    assert.ok(state.includes('"runs"'), way);
    await client.flush();
    assert.equal(edge.requests.length, 0, 'what waited was not sent');
    await clock.advance(2 * DAY_MS);
    await client.consent.grant();
    assert.deepEqual(codes(await client.track.sample('views', 1)), ['not-opted-in']);
    await client.track.optIn('settings');
    assert.deepEqual(
      codes(await client.track.answer([epochs[0], epochs[1]])),
      ['run-left', 'run-left'],
      way,
    );
    const [told] = (await client.explain()).filter(
      ({ recipe, code }) => recipe === 'dark-mode' && code === 'run-left',
    );
    assert.match(told.text, /not spent again/);
    assert.match((await runOf(client)).text, /takes no part any more/);
    await client.flush();
    assert.equal(edge.requests.length, 0);
  }
});

test('who leaves between the state and the queue sends nothing more', async () => {
  const { wrapped, plan } = failing(memoryStorage());
  const { client, edge } = await tracked({ storage: wrapped });
  plan.puts = (_, key) => {
    if (key === 'runs') void client.track.optIn('settings', false); // waits for the lock, and is before the queue
    return false;
  };
  assert.deepEqual(codes(await client.track.answer([epochRecipe()])), ['no-consent']);
  await client.flush();
  assert.equal(edge.requests.length, 0);
  assert.equal((await stored(wrapped)).queue, '[]');
});

test('a damaged state answers nothing again', async () => {
  const { client, edge, storage } = await tracked();
  const epochs = chain(2);
  await client.track.answer([epochs[0]]);
  await storage.transaction(async (tx) => {
    const [[key, kept]] = await tx.entries('events');
    kept.state[40] ^= 1;
    await tx.put('events', key, kept);
  });
  assert.deepEqual(codes(await client.track.answer([epochs[1]])), ['state']);
  await client.flush();
  assert.equal(edge.requests.length, 1);
  assert.equal((await balances(client)).length, 0, 'what cannot be read is not made up');
});

test("the day's budget, fresh storage and a last day refuse a run before it costs anything", async () => {
  const wait = await tracked({ runs: [epochRecipe(1, { send: { delay_s: 0 } })] });
  const json = epochRecipe(1, { send: { delay_s: 0 } });
  assert.deepEqual(codes(await wait.client.track.answer([json])), ['fresh']);
  await wait.clock.advance(DAY_MS);
  assert.deepEqual(codes(await wait.client.track.answer([json])), ['queued']);
  // A second run of the same analysis and stream: another run, another debit, which the day does not have any more.
  const other = epochRecipe(1, { parameters: { epsilon: 3.5 } });
  const both = await tracked({ runs: [epochRecipe(), other] });
  assert.deepEqual(codes(await both.client.track.answer([epochRecipe(), other])), [
    'queued',
    'budget',
  ]);
  await both.clock.advance(DAY_MS);
  assert.deepEqual(codes(await both.client.track.answer([other])), ['queued']);
  const runs = (await both.client.ledger()).filter((entry) => entry.run);
  assert.deepEqual(
    runs.map(({ epsilon }) => epsilon?.allowed),
    [4, 3.5],
  );
  const soon = epochRecipe(1, {
    expires: new Date(both.clock.now() + 2 * DAY_MS).toISOString().slice(0, 10),
  });
  const over = await tracked({ runs: [soon], now: both.clock.now });
  await over.client.track.sample('views', 1);
  await both.clock.advance(4 * DAY_MS);
  assert.deepEqual(codes(await over.client.track.answer([soon])), ['run-over']);
  assert.deepEqual(codes(await over.client.track.sample('views', 1)), ['not-opted-in']);
  assert.equal((await stored(over.storage)).events, '[]', 'nothing is kept of a run that is over');
});

test('samples that nobody asked for are forgotten after 31 days; what the run remembers is not', async () => {
  const { client, clock, storage } = await tracked();
  const epochs = chain(2);
  await client.track.sample('views', 1);
  await client.track.answer([epochs[0]]);
  await client.track.sample('views', 1);
  await clock.advance(30 * DAY_MS);
  await client.flush();
  assert.match((await stored(storage)).events, /"count":1,"total":"1000000"/);
  await clock.advance(DAY_MS);
  await client.flush();
  assert.match((await stored(storage)).events, /"state":".+","sums":null/);
  assert.deepEqual(await client.track.answer([epochs[1]]), answered);
});

test('votes follow the data, estimates the server, and the ledger says how many of each are left', async () => {
  for (const [value, hasVoted] of /** @type {const} */ ([
    [0.5, false],
    [1, true],
  ])) {
    const { client } = await tracked();
    // Epoch 16 is one in which every threshold votes.
    for (const epoch of chain(16, {}, [3, 7])) {
      await client.track.sample('views', value);
      assert.deepEqual(await client.track.answer([epoch]), answered);
    }
    const run = await runOf(client);
    assert.equal(run.votes.used > 0, hasVoted, `${value}`);
    assert.deepEqual([run.epoch, run.estimates.used], [16, Math.min(2, run.estimates.allowed)]);
    assert.ok(
      run.votes.used <= run.votes.allowed &&
        run.epsilon.used <= run.epsilon.allowed &&
        run.epsilon.used > 0,
    );
    assert.equal(
      run.text,
      `"dark-mode": Epoch 16 of 16 is answered; ${run.votes.used} of ${run.votes.allowed} votes and ${run.estimates.used} of ${run.estimates.allowed} ` +
        `estimates are spent, epsilon ${run.epsilon.used} of 4; epsilon 4 for the whole run, paid once.`,
    );
    const [said] = (await client.explain()).filter(({ recipe }) => recipe === 'dark-mode');
    assert.equal(said.text, run.text);
    const rounds = (await client.log()).map(({ round, query, state, outcome }) => [
      round,
      query,
      state,
      outcome,
    ]);
    assert.deepEqual(
      rounds,
      Array.from({ length: 16 }, (_, i) => [16 - i, 'dark-mode', 'queued', 'accepted']),
    );
  }
});

test('a person who takes no part costs the page nothing: no module, no request', async () => {
  /** @type {string[]} */
  const asked = [];
  const wasm = async () => (asked.push('module'), load());
  const fetcher = async (/** @type {any} */ url) => (
    asked.push(String(url)),
    new Response('{"recipes":[]}')
  );
  const { client } = await makeClient({ runs: [epochRecipe()], recipes: [], fetch: fetcher });
  await client.consent.grant();
  const own = await makeClient({ runs: [epochRecipe()], recipes: [], fetch: fetcher, wasm });
  await own.client.consent.grant();
  asked.length = 0;
  for (const { track } of [client, own.client]) {
    assert.deepEqual(await track.sample('views', 1), [{ recipe: null, code: 'not-opted-in' }]);
    assert.deepEqual(await track.answer(), [{ recipe: null, code: 'not-opted-in' }]);
  }
  assert.deepEqual(asked, []);
  await own.client.track.optIn('settings');
  assert.deepEqual(await own.client.track.answer(), []);
  assert.deepEqual(asked, ['module', `${ENDPOINT}/v1/recipes`]);
});

test('the epochs are those that the endpoint serves, the earliest first; other recipes are passed over', async () => {
  const epochs = chain(3);
  /** @type {string[]} */
  const asked = [];
  /** @type {any} */
  let answer = {
    recipes: [
      epochs[2],
      { mechanism: { toString: 1 } },
      { ...epochs[0], round: 'x' },
      wordsRecipe(),
      epochRecipe(1, { recipe: 'else' }),
      epochs[0],
      epochs[1],
      null,
    ].map((recipe) => ({ hash: '', url: '', recipe })),
  };
  const fetcher = async (/** @type {any} */ url) => {
    asked.push(String(url));
    return answer === null
      ? new Response('', { status: 404 })
      : new Response(typeof answer === 'string' ? answer : JSON.stringify(answer));
  };
  const { client } = await tracked({ fetch: fetcher });
  assert.deepEqual(codes(await client.track.answer()).sort(), [
    'malformed',
    'queued',
    'queued',
    'queued',
  ]);
  assert.deepEqual(asked, [`${ENDPOINT}/v1/recipes`]);
  for (const broken of [null, '{', '[]', '{}', 'x'.repeat(1 << 21)]) {
    answer = broken;
    assert.deepEqual(
      codes(await client.track.answer()),
      ['epochs-missing'],
      String(broken).slice(0, 9),
    );
  }
});

test('with keys, an epoch that none of them signed is refused, and so is the promise of a run', async () => {
  const { key, sign } = signer();
  const signed = (/** @type {any} */ json) => ({
    ...json,
    signature: { key, ed25519: withRecipe(json, (recipe) => sign(signedBytes(recipe))) },
  });
  const bad = await makeClient({ runs: [epochRecipe()], recipes: [], keys: [key] });
  await bad.client.consent.grant();
  assert.deepEqual(codes(await bad.client.track.optIn('settings')), ['unknown-analysis']);
  assert.ok((await bad.client.explain()).some(({ code }) => code === 'recipe-refused'));
  const { client } = await tracked({ runs: [signed(epochRecipe())], keys: [key] });
  const [first, second] = chain(2);
  assert.deepEqual(codes(await client.track.answer([first, signed(first)])), [
    'no-signature',
    'queued',
  ]);
  const other = signer();
  const forged = {
    ...second,
    signature: { key, ed25519: withRecipe(second, (recipe) => other.sign(signedBytes(recipe))) },
  };
  assert.deepEqual(codes(await client.track.answer([forged, signed(second)])), [
    'bad-signature',
    'queued',
  ]);
});

test('strings are counted by their items, and a report has one coordinate', async () => {
  const runs = [heavyRecipe()];
  const { client, edge, storage } = await tracked({ runs });
  const epochs = chain(2, {}, [1], heavyRecipe);
  for (const text of ['🐟', '🐟', '🐙', 'Red HERRING'])
    assert.deepEqual(codes(await client.track.sample('typed', text)), ['sampled']);
  assert.deepEqual(codes(await client.track.sample('typed', 5)), ['text-rule']);
  const { events } = await stored(storage);
  assert.match(
    events,
    /"count":4,.*"counts":\[\["[0-9a-f]{16}",2\],\["[0-9a-f]{16}",1\],\["[0-9a-f]{16}",1\]\]/,
  );
  assert.ok(!/herring/i.test(events), 'strings are kept as fingerprints');
  assert.deepEqual(codes(await client.track.answer(epochs)), ['queued', 'queued']);
  await client.flush();
  for (const { body } of edge.requests) assert.match(body.records[0], /^[01];\d{3},[01]$/);
  const kept = JSON.parse((await stored(storage)).events)[0][1];
  const wanted = withRecipe(epochs[0], (recipe) => {
    const run = new Run(recipe);
    const counts = new Map(
      [
        ['🐟', 2],
        ['🐙', 1],
        ['red herring', 1],
      ].map(([text, n]) => /** @type {[string, number]} */ ([run.item(String(text)), n])),
    );
    return run.answerCounts(run.start(), counts, new Uint8Array(32)).state;
  });
  const last = withRecipe(
    epochs[1],
    (recipe) => new Run(recipe).answerCounts(wanted, new Map(), new Uint8Array(32)).state,
  );
  assert.equal(kept.state, Buffer.from(last).toString('latin1'));
  assert.deepEqual((await runOf(client)).estimates.used, 1);
});

test('a sample leaves a device out of the whole run, and costs it nothing', async () => {
  let first = 255;
  const random = (/** @type {Uint8Array} */ bytes) =>
    void (crypto.getRandomValues(bytes), bytes.length === 6 && (bytes[5] = first));
  const json = epochRecipe(1, { send: { fresh: 'allow', delay_s: 0, sample: 0.5 } });
  const { client, edge } = await tracked({ runs: [json], random });
  assert.deepEqual(codes(await client.track.answer([json])), ['sampled-out']);
  first = 0;
  assert.deepEqual(
    codes(await client.track.answer([json])),
    ['sampled-out'],
    'the coin is tossed once',
  );
  assert.match((await runOf(client)).text, /left this device out/);
  assert.equal((await runOf(client)).paid, false);
  const lucky = await tracked({ runs: [json], random });
  assert.deepEqual(codes(await lucky.client.track.answer([json])), ['queued']);
  assert.equal(edge.requests.length, 0);
});

test('an epoch among the recipes is no recipe for events, and costs nothing there', async () => {
  const { client, edge, storage } = await makeClient({ recipes: [epochRecipe(), heavyRecipe()] });
  await client.consent.grant();
  const before = await stored(storage);
  assert.deepEqual(codes(await client.record('views', 1)), ['run']);
  assert.deepEqual(codes(await client.record('typed', 'fish')), ['run']);
  assert.deepEqual(await stored(storage), before);
  await client.flush();
  assert.equal(edge.requests.length, 0);
});

test("queries and runs leave each other's events alone", async () => {
  const { makePolicy, loadQueryCore } = await import('../query_fixtures.mjs');
  const { client, storage } = await tracked({ policy: makePolicy(), queryWasm: loadQueryCore });
  await client.track.sample('views', 1);
  await client.optIn('reading');
  await client.donate('visits', { topic: 'news' });
  await client.optIn('reading', false);
  await client.flush();
  await settle();
  const { events } = await stored(storage);
  assert.match(events, /^\[\["~run\/[0-9a-f]{64}",.*"count":1/);
  assert.ok(!events.includes('news'));
});

test('nothing raw is stored but in events, and none of it is said or sent', async () => {
  const { client, storage, edge } = await tracked({ runs: [epochRecipe(), heavyRecipe()] });
  await client.track.sample('views', 0.123457);
  await client.track.sample('typed', 'quicksilver');
  await client.track.answer([
    epochRecipe(1, { round: { update: 1 } }),
    epochRecipe(),
    heavyRecipe(),
  ]);
  await client.track.sample('typed', 'quicksilver');
  const { events, ...others } = await stored(storage);
  assert.match(events, /"count":1/);
  const said = JSON.stringify([
    others,
    edge.requests,
    await client.ledger(),
    await client.log(),
    await client.explain(),
    await client.reports(),
  ]);
  for (const raw of [
    '123457',
    'quicksilver',
    withRecipe(heavyRecipe(), (recipe) => new Run(recipe).item('quicksilver')),
  ])
    assert.ok(!said.includes(raw), raw);
});
