// SPDX-License-Identifier: Apache-2.0
// Recipes of two servers through the client in Node: what leaves, who can open it, what the two shares add up to, and what happens when
// keys, servers or consent are gone. Shares are opened and added by dap_fixtures.mjs, which has nothing of the core.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { init } from '../../client/client.js';
import { DapTask } from '../../bindings/dap_core.js';
import { hpke } from '../../client/hpke.js';
import { memoryLocks, memoryStorage } from '../../client/memory_storage.js';
import { load } from '../../bindings/node.js';
import {
  HELPER,
  LEADER,
  bytes,
  coloursRecipe,
  configurationOf,
  fakeNetwork,
  fromHex,
  makeServer,
  measurementOf,
  number,
  openReport,
  readReport,
  says,
  turboshake,
} from '../dap_fixtures.mjs';
import { ENDPOINT, NOON, WASM, codes, fakeClock, settle, balances } from '../fixtures.mjs';

/** @type {WebAssembly.Module} */
let module;
before(
  async () =>
    (module = await WebAssembly.compile(await readFile(join(WASM, 'dist/shoal-dap.wasm')))),
);

const DAY_S = 86_400;
const OUTDATED = 11;
const REPLAYED = 2;

/** @param {any} [more] options */
async function makeDapClient({ network: given, advance: _, ...more } = {}) {
  const network =
    given ?? fakeNetwork({ leader: await makeServer(7), helper: await makeServer(9) });
  const clock = fakeClock();
  const storage = more.storage ?? memoryStorage();
  const client = await init({
    endpoint: ENDPOINT,
    recipes: [coloursRecipe()],
    fetch: network.fetch,
    wasm: load,
    dapWasm: async () => module,
    locks: memoryLocks(),
    gpc: () => false,
    now: clock.now,
    setTimer: clock.setTimer,
    clearTimer: clock.clearTimer,
    ...more,
    storage,
  });
  return { client, network, clock, storage };
}

/** All that storage holds. @param {any} storage */
const stored = async (storage) =>
  Object.fromEntries(
    await Promise.all(
      ['state', 'queue', 'done'].map(async (name) => [
        name,
        Object.fromEntries(await storage.transaction((/** @type {any} */ tx) => tx.entries(name))),
      ]),
    ),
  );

/** The configuration that a recipe of the fixtures has. @param {any} recipe @param {number} algorithm @param {number[]} vdaf */
const recipeConfiguration = (recipe, algorithm, vdaf) =>
  configurationOf({
    info: recipe.recipe,
    leader: LEADER,
    helper: HELPER,
    precision: recipe.aggregation.time_precision_s ?? DAY_S,
    minimum: recipe.cohort.minimum,
    duration: Math.ceil(
      (Date.parse(recipe.expires) / 1000 + DAY_S) / (recipe.aggregation.time_precision_s ?? DAY_S),
    ),
    algorithm,
    vdaf,
  });

test('TurboSHAKE128 of the fixtures is that of RFC 9861', () => {
  const hex = (/** @type {Uint8Array} */ b) => Buffer.from(b).toString('hex');
  // RFC 9861 section 5: TurboSHAKE128(M=`FF FF FF`, D=`01`, 32).
  assert.equal(
    hex(turboshake(bytes([255, 255, 255]), 32)),
    'bf323f940494e88ee1c540fe660be8a0c93f43d15ec006998462fa994eed5dab',
  );
});

test('a record of two servers leaves as two sealed shares, which add up to it', async () => {
  const { client, network, storage } = await makeDapClient();
  await client.consent.grant();
  assert.deepEqual(await client.record('choices', 'blue'), [{ recipe: 'colours', code: 'queued' }]);
  assert.deepEqual(
    network.keyRequests.sort(),
    [`${HELPER}/hpke_config`, `${LEADER}/hpke_config`],
    'one question to each',
  );
  const [[id, row]] = Object.entries((await stored(storage)).queue);
  await client.flush();
  const [{ url, init: request, body }] = network.uploads;
  const taskId = fromHex(row.report.recipe_hash);
  assert.equal(url, `${ENDPOINT}/tasks/${Buffer.from(taskId).toString('base64url')}/reports`);
  assert.deepEqual(
    request.headers,
    { 'Content-Type': 'application/ppm-dap;message=upload-req' },
    'and nothing that names the device',
  );
  assert.equal(request.credentials, 'omit');
  // A Histogram of five entries, since the answer may be none of the four; two pairs of wires make the shortest proof.
  const configuration = recipeConfiguration(coloursRecipe(), 4, [...number(5, 4), ...number(2, 4)]);
  const report = await openReport(
    body,
    [network.servers.leader, network.servers.helper],
    taskId,
    configuration,
  );
  assert.equal(Buffer.from(report.id).toString('hex'), id);
  assert.equal(report.time, Math.floor(NOON / 1000 / DAY_S), 'in days');
  assert.deepEqual([report.leader.config, report.helper.config], [7, 9]);
  const value = Number(row.report.records[0]);
  assert.deepEqual(
    measurementOf(report.plaintexts, 4, taskId, 5),
    [0, 1, 2, 3, 4].map((i) => Number(i === value)),
  );
  const [entry] = await client.reports();
  assert.equal(entry.state, 'sent');
  assert.match(
    entry.text,
    new RegExp(
      `randomized with epsilon 16, split into two sealed shares, for ${LEADER} and ${HELPER}`,
    ),
  );
  assert.deepEqual(entry.report.records, row.report.records);
  client.close();
});

test('every mechanism of a list, a sketch or a mean makes a measurement that its servers take', async (t) => {
  const servers = [await makeServer(1), await makeServer(2)];
  const core = await load();
  const seed = 'ab'.repeat(32);
  const word = { value: 'word', hash: 'poly1', seed };
  /** @type {[any, any, number, number][]} recipe, value, VDAF, the largest weight */
  const cases = [
    [
      {
        mechanism: 'olh',
        parameters: { epsilon: 2, values: ['red', 'blue'], k: 3, g: 4 },
        hash: 'affine1',
        seed,
      },
      'blue',
      4,
      1,
    ],
    [{ mechanism: 'hadamard', parameters: { epsilon: 2, values: ['red', 'blue'] } }, 'blue', 4, 1],
    [{ mechanism: 'hcms', parameters: { epsilon: 2, k: 4, m: 8 }, ...word }, 'blue', 4, 1],
    [{ mechanism: 'cms', parameters: { epsilon: 2, k: 4, m: 16 }, ...word }, 'blue', 5, 17],
    [
      {
        mechanism: 'onehot-symmetric',
        parameters: { epsilon: 16, values: ['red', 'blue', 'green'] },
      },
      'blue',
      5,
      3,
    ],
    [
      {
        mechanism: 'onehot-asymmetric',
        parameters: { epsilon: 16, values: ['red', 'blue', 'green'] },
      },
      'blue',
      5,
      3,
    ],
    [
      {
        mechanism: 'subset',
        parameters: { epsilon: 2, values: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'blue'] },
      },
      'blue',
      5,
      4,
    ],
    [
      {
        mechanism: 'rappor',
        parameters: { bits: 16, hashes: 2, cohorts: 2, p: 0.25, q: 0.75, f: 0 },
        ...word,
      },
      'blue',
      5,
      17,
    ],
    [
      { mechanism: 'one-bit-mean', value: 'number', parameters: { epsilon: 2, low: 0, high: 10 } },
      3,
      4,
      1,
    ],
  ];
  const random = (/** @type {number} */ n) => crypto.getRandomValues(new Uint8Array(n));
  for (const [more, value, vdaf, heaviest] of cases) {
    const recipe = core.recipe(coloursRecipe({ parameters: undefined, ...more }));
    const task = await DapTask.ofRecipe(module, recipe);
    const record = recipe.randomize(value, random(32), random(32));
    const report = await task.ofRecord(record, {
      id: random(16),
      now: NOON,
      random,
      keys: /** @type {any} */ (servers),
      sealer: hpke,
    });
    const taskId = fromHex(recipe.hash);
    const { plaintexts } = await openReport(
      /** @type {Uint8Array} */ (report),
      servers,
      taskId,
      task.configuration(),
    );
    // The length is the first number of the VDAF's, before those that follow it and the interval.
    const configuration = task.configuration();
    const n = new DataView(configuration.buffer).getUint32(
      configuration.length - 22 - (vdaf === 4 ? 8 : 16),
    );
    const entries = measurementOf(plaintexts, vdaf, taskId, n);
    const weight = entries.reduce((sum, x) => sum + x);
    t.diagnostic(`${recipe.mechanism}: record ${record}, entries ${entries.join('')}`);
    assert.ok(
      entries.every((x) => x === 0 || x === 1) &&
        weight <= heaviest &&
        (vdaf === 5 || weight === 1),
      `${recipe.mechanism}: ${entries.join('')}`,
    );
    assert.equal(report?.length, task.reportLength, recipe.mechanism);
    if (/onehot/.test(recipe.mechanism)) {
      assert.deepEqual(
        entries,
        [0, 1, 2].map((i) => (parseInt(record, 16) >> i) & 1),
        `${recipe.mechanism}: ${record}`,
      );
    }
    core.release(recipe);
  }
});

test('without the keys of both servers nothing is spent, stored or sent', async () => {
  const { client, network, storage, clock } = await makeDapClient();
  network.isDown = true;
  await client.consent.grant();
  assert.deepEqual(await client.record('choices', 'blue'), [
    { recipe: 'colours', code: 'no-keys' },
  ]);
  assert.equal((await client.ledger())[0].today.count, 0);
  assert.deepEqual((await stored(storage)).queue, {});
  assert.match(
    (await client.explain()).find(({ code }) => code === 'no-keys')?.text ?? '',
    /nothing is spent or sent/,
  );
  // One that answers with what is no key of X25519, HKDF-SHA256, AES-128-GCM, or with a point that nothing can be sealed to.
  network.isDown = false;
  const { list } = network.servers.helper;
  for (const bad of [
    bytes(list).fill(0, 11),
    list.subarray(0, 20),
    bytes(list, [0]),
    bytes(list).fill(0x21, 4, 5),
    new Uint8Array(70_000),
  ]) {
    network.servers.helper = { ...network.servers.helper, list: bad };
    assert.deepEqual(codes(await client.record('choices', 'blue')), ['no-keys']);
  }
  network.servers.helper = { ...network.servers.helper, list };
  assert.deepEqual(codes(await client.record('choices', 'blue')), ['queued']);
  assert.equal((await client.ledger())[0].today.count, 1);
  await clock.advance(0);
  client.close();
});

test('a browser that cannot seal says so', async (t) => {
  const { subtle } = crypto;
  const network = fakeNetwork({ leader: await makeServer(7), helper: await makeServer(9) });
  t.mock.method(subtle, 'generateKey', () => assert.fail('unsupported'));
  const { client } = await makeDapClient({ network });
  await client.consent.grant();
  assert.deepEqual(codes(await client.record('choices', 'blue')), ['no-x25519']);
  assert.equal((await client.ledger())[0].today.count, 0);
  client.close();
});

test('keys are asked for when the page is loaded, and kept for as long as a server says', async () => {
  const { client, network, clock, storage } = await makeDapClient();
  network.cacheControl = 'public, max-age=3600';
  await client.consent.grant();
  await client.record('choices', 'blue');
  assert.equal(network.keyRequests.length, 2);
  await client.record('choices', 'red');
  client.close();
  // Another page on the same storage.
  const second = await makeDapClient({ network, storage, now: clock.now });
  await second.client.flush();
  await second.client.record('choices', 'red');
  assert.equal(network.keyRequests.length, 2);
  await clock.advance(3600_000);
  await second.client.record('choices', 'red');
  assert.equal(
    network.keyRequests.length,
    2,
    'a page that stays open asks no one when an event comes',
  );
  second.client.close();
  const third = await makeDapClient({ network, storage, now: clock.now });
  await third.client.flush();
  // What is asked for when a page is loaded holds up no event.
  const areNew = async () =>
    Object.values((await stored(storage)).state.keys).every(
      (/** @type {any} */ key) => key.until > clock.now(),
    );
  for (let i = 0; i < 500 && !(await areNew()); i++) await settle();
  await third.client.record('choices', 'red');
  assert.equal(network.keyRequests.length, 4, 'once more each');
  await clock.advance(7200_000);
  await third.client.record('choices', 'red');
  assert.equal(
    network.keyRequests.length,
    6,
    'a key that no server need take any more is not used',
  );
  third.client.close();
});

test('an event asks no server again whose key came, and which waits for the other one', async () => {
  const network = fakeNetwork({ leader: await makeServer(7), helper: await makeServer(9) });
  /** @type {() => void} */
  let answer = () => {};
  const later = new Promise((resolve) => (answer = () => resolve(undefined)));
  const { fetch } = network;
  network.fetch = async (url, init) => {
    const response = await fetch(url, init);
    if (String(url).startsWith(HELPER)) await later;
    return response;
  };
  const { client } = await makeDapClient({ network });
  await client.consent.grant();
  for (let i = 0; i < 500 && network.keyRequests.length < 2; i++) await settle();
  for (let i = 0; i < 20; i++) await settle(); // the leader's key is here
  const outcome = client.record('choices', 'blue');
  for (let i = 0; i < 20; i++) await settle();
  answer();
  assert.deepEqual(codes(await outcome), ['queued']);
  assert.deepEqual(
    network.keyRequests.sort(),
    [`${HELPER}/hpke_config`, `${LEADER}/hpke_config`].sort(),
  );
  client.close();
});

test('a report is sent again as the same bytes until a leader answers', async () => {
  const { client, network, clock } = await makeDapClient();
  network.answers.push(new Error('offline'), 503, { status: 429, headers: { 'Retry-After': '7' } });
  await client.consent.grant();
  await client.record('choices', 'blue');
  await client.flush();
  for (let i = 0; i < 3; i++) await clock.advance(3_600_000);
  assert.equal(network.uploads.length, 4);
  for (const { body, url } of network.uploads) {
    assert.deepEqual(body, network.uploads[0].body);
    assert.equal(url, network.uploads[0].url);
  }
  assert.deepEqual(
    (await client.reports()).map(({ state }) => state),
    ['sent'],
  );
  client.close();
});

test('what a leader says of a report decides', async () => {
  const other = bytes(new Uint8Array(16).fill(1), [8]);
  /** @type {[any[], string][]} answers, and what becomes of the report */
  const cases = [
    [[says(REPLAYED)], 'refused'],
    [[503, says(REPLAYED)], 'sent'],
    [[says(1)], 'refused'],
    [[says(3)], 'refused'],
    [[says(7)], 'refused'],
    [[says(8)], 'refused'],
    [[says(99)], 'refused'],
    [[says(9), 503], 'queued'],
    [[says(10), 503], 'queued'],
    [[other, 503], 'queued'],
    [[bytes(other, [1]), 503], 'queued'],
    [[404], 'refused'],
    [[400], 'refused'],
  ];
  for (const [answers, state] of cases) {
    const { client, network, clock } = await makeDapClient();
    await client.consent.grant();
    network.answers.push(...answers);
    await client.record('choices', 'blue');
    await client.flush();
    if (answers.length > 1) await clock.advance(11_000); // one retry comes within 10 s, the next not before 15 s
    assert.equal((await client.reports())[0].state, state, String(answers));
    client.close();
  }
});

/** Waits until so many keys were asked for, and those of the day are kept. @param {any} network @param {any} storage @param {any} clock @param {number} n */
async function untilAsked(network, storage, clock, n) {
  const areNew = async () =>
    network.keyRequests.length >= n &&
    Object.values((await stored(storage)).state.keys).every(
      (/** @type {any} */ key) => key.until > clock.now() && key.until <= clock.now() + 86_400_000,
    );
  for (let i = 0; i < 500 && !(await areNew()); i++) await settle();
}

test('a leader that denies its key makes no device ask for keys', async () => {
  for (const code of [4, OUTDATED])
    for (const isRenewed of [false, true]) {
      const { client, network, clock, storage } = await makeDapClient();
      await client.consent.grant();
      await client.exact.optIn(ageTask, { limit: 9 });
      await client.record('choices', 'blue');
      await client.shareExactly(ageTask, 7);
      assert.equal(network.keyRequests.length, 2);
      if (isRenewed)
        network.servers = { leader: await makeServer(8), helper: await makeServer(10) };
      for (let i = 0; i < 99; i++) network.answers.push(says(code));
      // Until midnight, through retries, further events and other pages.
      await client.flush();
      for (let i = 0; i < 11; i++) await clock.advance(3_600_000);
      await client.record('choices', 'red');
      await client.flush();
      client.close();
      const next = await makeDapClient({ network, storage, now: clock.now });
      await next.client.flush();
      await settle();
      assert.ok(network.uploads.length > 5);
      assert.equal(network.keyRequests.length, 2, `error ${code}, renewed ${isRenewed}`);
      const states = (await next.client.reports()).map(({ report, state }) => [report.key, state]);
      assert.deepEqual(
        states.sort(),
        [
          ['ages', 'refused'],
          ['colours', 'queued'],
          ['colours', 'queued'],
        ],
        'what can be sealed again waits',
      );
      next.client.close();
    }
});

test('keys are renewed on the next UTC day, by the clock, however long a server lets them be kept', async () => {
  const { client, network, clock, storage } = await makeDapClient();
  network.cacheControl = 'max-age=604800';
  await client.consent.grant();
  await client.record('choices', 'blue');
  await clock.advance(12 * 3_600_000 - 1);
  assert.equal(network.keyRequests.length, 2, 'not before the day is over');
  // Of two pages that stay open one asks; the other's turn is the end of the hour. One that is closed does not ask.
  const last = (/** @type {Uint8Array} */ out) => void out.fill(255);
  const second = await makeDapClient({ network, storage, ...clock, random: last });
  const closed = await makeDapClient({ network, storage, ...clock });
  await second.client.flush();
  await closed.client.flush();
  await settle();
  closed.client.close();
  for (const n of [4, 6]) {
    await clock.advance(3_600_000);
    await untilAsked(network, storage, clock, n);
    assert.equal(network.keyRequests.length, n, 'in the first hour');
    await clock.advance(23 * 3_600_000);
    assert.equal(network.keyRequests.length, n, 'once a day');
  }
  client.close();
  second.client.close();
  await clock.advance(86_400_000);
  assert.equal(network.keyRequests.length, 6, 'nobody is there');
  const third = await makeDapClient({ network, storage, ...clock });
  await third.client.flush();
  await untilAsked(network, storage, clock, 8);
  assert.equal(network.keyRequests.length, 8, 'the first page of a day asks when it is loaded');
  await third.client.consent.withdraw();
  await clock.advance(2 * 86_400_000);
  assert.equal(network.keyRequests.length, 8);
  third.client.close();
});

test('keys that an earlier version took for fresh for a week are renewed by the next page', async () => {
  const { client, network, clock, storage } = await makeDapClient();
  await client.consent.grant();
  await client.record('choices', 'blue');
  client.close();
  const until = clock.now() + 604_800_000;
  await storage.transaction(async (/** @type {any} */ tx) => {
    const keys = await tx.get('state', 'keys');
    const longer = Object.entries(keys).map(([url, key]) => [
      url,
      { ...key, until, last: until + 604_800_000 },
    ]);
    await tx.put('state', 'keys', Object.fromEntries(longer));
  });
  await clock.advance(1000);
  const next = await makeDapClient({ network, storage, ...clock });
  network.isDown = true;
  await next.client.flush();
  await untilAsked(network, storage, clock, 4);
  assert.equal(network.keyRequests.length, 4);
  assert.deepEqual(codes(await next.client.record('choices', 'blue')), ['queued']);
  assert.equal(network.keyRequests.length, 4, 'an event takes what is still of use');
  next.client.close();
});

test('a key that the leader no longer knows: a new report of the same record, once', async () => {
  for (const [code, knowsNew, isOpen, state] of /** @type {const} */ ([
    [OUTDATED, true, true, 'sent'],
    [OUTDATED, true, false, 'sent'],
    [4, true, true, 'sent'],
    [OUTDATED, false, true, 'refused'],
  ])) {
    const made = await makeDapClient();
    const { network, clock, storage } = made;
    let { client } = made;
    await client.consent.grant();
    await client.record('choices', 'blue');
    const spent = (await client.ledger())[0].year.count;
    const old = network.servers;
    network.servers = { leader: await makeServer(8), helper: await makeServer(10) };
    for (let i = 0; i < 99; i++)
      network.answers.push((/** @type {any} */ body) =>
        knowsNew && readReport(body).leader.config === 8 ? 200 : says(code)(body),
      );
    await client.flush();
    assert.deepEqual([network.uploads.length, network.keyRequests.length], [1, 2]);
    if (!isOpen) client.close();
    // The next day, in a page that stayed open or in one that is loaded then.
    await clock.advance(13 * 3_600_000);
    if (!isOpen) {
      ({ client } = await makeDapClient({ network, storage, ...clock }));
      await client.flush();
    }
    await untilAsked(network, storage, clock, 4);
    for (let i = 0; i < 20 && Object.keys((await stored(storage)).queue).length; i++) {
      await clock.advance(3_600_000);
      await client.flush();
    }
    assert.equal(network.keyRequests.length, 4);
    const bodies = network.uploads.map((/** @type {any} */ { body }) =>
      Buffer.from(body).toString('hex'),
    );
    assert.equal(new Set(bodies).size, 2, 'sealed twice');

    const two = [network.uploads[0], network.uploads.at(-1)].map((upload) => upload?.body);
    const [first, second] = two.map((/** @type {any} */ body) => readReport(body));
    assert.notDeepEqual(first.id, second.id);
    assert.equal((await client.ledger())[0].year.count, spent, 'and nothing is debited again');
    const reports = await client.reports();
    assert.deepEqual(
      reports.map((entry) => entry.state),
      [state],
    );
    const taskId = fromHex(reports[0].report.recipe_hash);
    const configuration = recipeConfiguration(coloursRecipe(), 4, [
      ...number(5, 4),
      ...number(2, 4),
    ]);
    const [before, after] = /** @type {Uint8Array[]} */ (two);
    const { leader, helper } = network.servers;
    const opened = [
      await openReport(before, [old.leader, old.helper], taskId, configuration),
      await openReport(after, [leader, helper], taskId, configuration),
    ];
    const value = Number(reports[0].report.records[0]);
    for (const { plaintexts } of opened)
      assert.equal(measurementOf(plaintexts, 4, taskId, 5).indexOf(1), value, 'the same record');
    assert.deepEqual((await stored(storage)).queue, {});
    client.close();
  }
});

test('who calls a key outdated that the servers still have gets the same bytes again', async () => {
  const { client, network, clock } = await makeDapClient();
  await client.consent.grant();
  await client.record('choices', 'blue');
  network.answers.push(says(OUTDATED));
  await client.flush();
  assert.deepEqual(
    (await client.reports()).map(({ state }) => state),
    ['queued'],
  );
  await clock.advance(11_000);
  assert.deepEqual(
    (await client.reports()).map(({ state }) => state),
    ['sent'],
  );
  assert.equal(network.uploads.length, 2);
  assert.deepEqual(network.uploads[0].body, network.uploads[1].body);
  client.close();
});

test('no key is asked for once consent is withdrawn, and one that was under way is not kept', async () => {
  const network = fakeNetwork({ leader: await makeServer(7), helper: await makeServer(9) });
  /** @type {(value: WebAssembly.Module) => void} */
  let arrive = () => {};
  const { client, storage } = await makeDapClient({
    network,
    dapWasm: () => new Promise((resolve) => (arrive = resolve)),
  });
  await client.consent.grant();
  const outcome = client.record('choices', 'blue');
  await settle();
  await client.consent.withdraw();
  arrive(module);
  assert.deepEqual(codes(await outcome), ['no-keys']);
  assert.equal(network.keyRequests.length, 0);
  assert.equal((await stored(storage)).state.keys, undefined);
  client.close();
});

test("withdrawal erases what waits and the servers' keys, and stops the request that runs", async () => {
  const { client, network, storage } = await makeDapClient();
  await client.consent.grant();
  await client.record('choices', 'blue');
  assert.equal(Object.keys((await stored(storage)).queue).length, 1);
  assert.ok((await stored(storage)).state.keys);
  await client.consent.withdraw();
  assert.deepEqual((await stored(storage)).queue, {});
  assert.equal((await stored(storage)).state.keys, undefined);
  await client.flush();
  assert.equal(network.uploads.length, 0);
  assert.deepEqual(codes(await client.record('choices', 'blue')), ['no-consent']);
  client.close();
});

test('a record with more weight than the servers take is not sent, and not drawn again', async () => {
  // As wide a list as makes a bound below the length, and a randomizer that is made to set every bit.
  const values = Array.from({ length: 64 }, (_, i) => `v${i}`);
  const recipe = coloursRecipe({
    mechanism: 'onehot-symmetric',
    parameters: { epsilon: 6, values },
  });
  const core = await load();
  const task = await DapTask.ofRecipe(module, core.recipe(recipe));
  const random = (/** @type {number} */ n) => new Uint8Array(n).fill(3);
  const input = {
    id: random(16),
    now: NOON,
    random,
    keys: /** @type {any} */ ([await makeServer(1), await makeServer(2)]),
    sealer: hpke,
  };
  assert.equal(await task.ofRecord('f'.repeat(16), input), null);
  assert.ok(await task.ofRecord('0'.repeat(16), input));
  await assert.rejects(task.ofRecord('f'.repeat(15), input), { code: 'record' });
  await assert.rejects(task.ofRecord('g'.repeat(16), input), { code: 'record' });
  const { client, storage } = await makeDapClient({
    recipes: [recipe],
    wasm: async () =>
      Object.assign(await load(), {
        recipe: (/** @type {any} */ json) =>
          Object.assign(core.recipe(json), { randomize: () => 'f'.repeat(16) }),
        ledger: core.ledger,
      }),
  });
  await client.consent.grant();
  assert.deepEqual(codes(await client.record('choices', 'v1')), ['too-heavy']);
  assert.deepEqual((await stored(storage)).queue, {});
  assert.equal((await client.ledger())[0].today.count, 1, 'it was paid for');
  client.close();
});

const ageTask = {
  version: /** @type {const} */ ('dap-18'),
  info: 'ages',
  leader: LEADER,
  helper: HELPER,
  time_precision_s: 3600,
  min_batch_size: 100,
  vdaf: { type: /** @type {const} */ ('sum'), max: 1000 },
};

test('an exact measurement is shared by its own name only, under consent, and is not stored', async () => {
  const { client, network, storage, clock } = await makeDapClient();
  assert.deepEqual(codes(await client.shareExactly(ageTask, 777)), ['no-consent']);
  await client.consent.grant();
  assert.deepEqual(codes(await client.exact.optIn(ageTask, { limit: 9 })), ['opted-in']);
  const before = JSON.stringify(await stored(storage));
  assert.deepEqual(await client.shareExactly(ageTask, 777), [{ recipe: 'ages', code: 'queued' }]);
  const after = await stored(storage);
  assert.ok(
    !before.includes('777') &&
      !JSON.stringify({
        ...after,
        queue: Object.values(after.queue).map((row) => ({ ...row, body: [] })),
      }).includes('777'),
  );
  network.answers.push(says(OUTDATED));
  await client.flush();
  await clock.advance(0);
  assert.equal(network.uploads.length, 1);
  assert.deepEqual(
    (await client.reports()).map(({ state, text }) => [
      state,
      /an exact value for "ages", not randomized/.test(text),
    ]),
    [['refused', true]],
  );
  assert.deepEqual(
    (await balances(client)).map(({ recipe, exact, count, limit }) => [
      recipe ?? exact,
      count,
      limit,
    ]),
    [
      ['colours', undefined, undefined],
      ['ages', 1, 9],
    ],
    'no budget that would claim an epsilon',
  );
  for (const [task, value, code] of /** @type {any[]} */ ([
    [ageTask, 1001, 'not-a-measurement'],
    [ageTask, -1, 'not-a-measurement'],
    [ageTask, [1], 'not-a-measurement'],
    [ageTask, 1.5, 'not-a-measurement'],
    [{ ...ageTask, leader: 'http://leader.example' }, 1, 'task-refused'],
    [{ ...ageTask, extra: 1 }, 1, 'task-refused'],
    [{ ...ageTask, version: 'dap-09' }, 1, 'task-refused'],
    [{ ...ageTask, vdaf: { type: 'mean' } }, 1, 'task-refused'],
    [{ ...ageTask, time_precision_s: 0 }, 1, 'task-refused'],
    [{ ...ageTask, expires: 'soon' }, 1, 'task-refused'],
    [{ ...ageTask, task_id: 'x' }, 1, 'task-refused'],
    [{ ...ageTask, task_id: `${'A'.repeat(42)}B` }, 1, 'task-refused'],
    [{ ...ageTask, version: undefined }, 1, 'task-refused'],
    [{ ...ageTask, expires: '2030-02-30' }, 1, 'task-refused'],
    [{ ...ageTask, vdaf: { type: 'sum' } }, 1, 'task-refused'],
    [{ ...ageTask, vdaf: { type: 'sum', max: 9, bits: 4 } }, 1, 'task-refused'],
    [{ ...ageTask, helper: LEADER }, 1, 'task-refused'],
    [{ ...ageTask, info: 'no name' }, 1, 'task-refused'],
    [{ ...ageTask, info: 7 }, 1, 'task-refused'],
    [{ ...ageTask, min_batch_size: 0 }, 1, 'task-refused'],
    [{ ...ageTask, vdaf: { type: 'histogram', length: 5, chunk: 0 } }, 1, 'task-refused'],
    [{ ...ageTask, vdaf: { type: 'histogram', length: 5, chunk: 6 } }, 1, 'task-refused'],
    [{ ...ageTask, time_precision_s: 31_536_001 }, 1, 'task-refused'],
    [{ ...ageTask, noise: { type: 'uniform' } }, 1, 'task-refused'],
    [{ ...ageTask, noise: { type: 'discrete-laplace' } }, 1, 'task-refused'],
    [{ ...ageTask, noise: { type: 'discrete-laplace', epsilon: 17 } }, 1, 'task-refused'],
    [{ ...ageTask, noise: { type: 'discrete-laplace', epsilon: 0.0009 } }, 1, 'task-refused'],
    [
      { ...ageTask, noise: { type: 'discrete-gaussian', variance: 1.5, delta: '1e-9' } },
      1,
      'task-refused',
    ],
    [{ ...ageTask, noise: { type: 'discrete-gaussian', variance: 4 } }, 1, 'task-refused'],
  ])) {
    assert.deepEqual(
      codes(await client.shareExactly(task, value)),
      [code],
      JSON.stringify([task, value]),
    );
  }
  client.close();
});

/** @param {any} client @returns {Promise<any[]>} what ledger() says of exact sums */
const exactOf = async (client) =>
  (await client.ledger()).filter((/** @type {any} */ { task }) => task !== undefined);

test('an exact sum has an opt-in of its own, with a limit that is counted before a report exists', async () => {
  const { client, network, storage } = await makeDapClient();
  assert.deepEqual(codes(await client.exact.optIn(ageTask, { limit: 2 })), ['no-consent']);
  await client.consent.grant();
  for (const limit of [0, -1, 1.5, NaN, '2', undefined])
    assert.throws(() => client.exact.optIn(ageTask, /** @type {any} */ ({ limit })), {
      code: 'argument',
      field: 'limit',
    });
  while (network.keyRequests.length < 2) await settle(); // the recipe's own keys are fetched when the page is loaded
  const asked = network.keyRequests.length;
  assert.deepEqual(await client.shareExactly(ageTask, 7), [
    { recipe: 'ages', code: 'not-opted-in' },
  ]);
  assert.equal(
    network.keyRequests.length,
    asked,
    'nothing is fetched for a task without an opt-in',
  );
  assert.deepEqual(await exactOf(client), []);
  assert.deepEqual(
    codes(await client.exact.optIn(/** @type {any} */ ({ ...ageTask, info: 7 }), { limit: 2 })),
    ['task-refused'],
  );

  assert.deepEqual(await client.exact.optIn(ageTask, { limit: 2 }), [
    { recipe: 'ages', code: 'opted-in' },
  ]);
  const [told] = await exactOf(client);
  const { task, text, ...rest } = told;
  assert.match(task, /^[0-9a-f]{64}$/);
  assert.match(text, /^"ages": 0 of 2 exact values were shared, without noise/);
  assert.deepEqual(rest, {
    exact: 'ages',
    optedIn: true,
    count: 0,
    limit: 2,
    operators: [LEADER, HELPER],
  });
  const other = { ...ageTask, vdaf: { ...ageTask.vdaf, max: 2000 } };
  assert.deepEqual(codes(await client.shareExactly(other, 7)), ['not-opted-in'], 'another task');
  // What is in storage when the report is sealed: the count must be there, the report not yet.
  let seen = /** @type {any} */ (null);
  const sealing = {
    ...hpke,
    seal: async (/** @type {any[]} */ ...args) => {
      seen = await stored(storage);
      return /** @type {any} */ (hpke).seal(...args);
    },
  };
  const second = await makeDapClient({ storage, network, hpke: async () => sealing });
  for (const page of [client, second.client]) await page.flush(); // each flushes once as it begins, which would send what is queued here
  assert.deepEqual(codes(await second.client.shareExactly(ageTask, 7)), ['queued']);
  assert.deepEqual([seen.state.exact, Object.keys(seen.queue).length], [{ [task]: 1 }, 0]);
  second.client.close();
  assert.deepEqual(codes(await client.shareExactly(ageTask, 8)), ['queued']);
  assert.deepEqual(codes(await client.shareExactly(ageTask, 9)), ['exact-spent']);
  const why = (await client.explain()).find(({ code }) => code === 'exact-spent');
  assert.match(String(why?.text), /as the person agreed to/);
  assert.equal((await exactOf(client))[0].count, 2);
  assert.equal(Object.keys((await stored(storage)).queue).length, 2);
  assert.deepEqual(codes(await client.exact.optOut(ageTask)), ['opted-out']);
  assert.deepEqual((await stored(storage)).queue, {}, 'what waited is erased');
  assert.deepEqual(codes(await client.shareExactly(ageTask, 9)), ['not-opted-in']);
  client.close();
});

test('withdrawing and erasing end an exact opt-in and refill no limit', async () => {
  const { client, storage } = await makeDapClient();
  for (const end of [() => client.consent.withdraw(), () => client.erase()]) {
    await client.consent.grant();
    assert.deepEqual(codes(await client.shareExactly(ageTask, 1)), ['not-opted-in']);
    await client.exact.optIn(ageTask, { limit: 1 });
    const before = (await exactOf(client))[0].count;
    assert.deepEqual(codes(await client.shareExactly(ageTask, 1)), [
      before ? 'exact-spent' : 'queued',
    ]);
    await end();
    assert.equal((await stored(storage)).state.exactIn, undefined);
  }
  await client.consent.grant();
  const [left] = await exactOf(client);
  assert.deepEqual([left.exact, left.optedIn, left.count, left.operators], [null, false, 1, []]);
  await client.exact.optIn(ageTask, { limit: 1 });
  assert.deepEqual(codes(await client.shareExactly(ageTask, 1)), ['exact-spent']);
  client.close();
});

test('an opt-in holds for the task that was agreed to, also where the file states its id', async () => {
  const { client } = await makeDapClient();
  await client.consent.grant();
  const named = { ...ageTask, task_id: 'ab'.repeat(32) };
  await client.exact.optIn(named, { limit: 9 });
  assert.deepEqual(codes(await client.shareExactly(named, 1)), ['queued']);
  for (const more of [
    { min_batch_size: 2 },
    { helper: 'https://other.example/dap' },
    { info: 'b' },
  ])
    assert.deepEqual(codes(await client.shareExactly({ ...named, ...more }, 1)), ['not-opted-in']);
  client.close();
});

test('exact tasks: the id follows from the configuration, and shares add up for each VDAF', async () => {
  const servers = [await makeServer(1), await makeServer(2)];
  const random = (/** @type {number} */ n) => crypto.getRandomValues(new Uint8Array(n));
  const input = () => ({
    id: random(16),
    now: NOON,
    random,
    keys: /** @type {any} */ (servers),
    sealer: hpke,
  });
  const base = {
    version: /** @type {const} */ ('dap-18'),
    info: 'x',
    leader: LEADER,
    helper: HELPER,
    time_precision_s: 3600,
    min_batch_size: 100,
    expires: '2030-01-01',
  };
  const histogram = await DapTask.exact(module, {
    ...base,
    vdaf: { type: 'histogram', length: 6, chunk: 2 },
  });
  const configuration = configurationOf({
    info: 'x',
    leader: LEADER,
    helper: HELPER,
    precision: 3600,
    minimum: 100,
    duration: Date.parse('2030-01-02') / 1000 / 3600,
    algorithm: 4,
    vdaf: [...number(6, 4), ...number(2, 4)],
  });
  assert.deepEqual(histogram.configuration(), configuration);
  const digest = new Uint8Array(
    await crypto.subtle.digest('SHA-256', bytes('shoal dap task\n', configuration)),
  );
  assert.equal(histogram.id, Buffer.from(digest).toString('hex'));
  const read = await openReport(
    await histogram.ofMeasurement(4, input()),
    servers,
    digest,
    configuration,
  );
  assert.deepEqual(measurementOf(read.plaintexts, 4, digest, 6), [0, 0, 0, 0, 1, 0]);
  assert.equal(read.time, Math.floor(NOON / 3_600_000));
  // Noise of the servers is part of a derived id, as docs/formats.md says.
  for (const [noise, end] of /** @type {const} */ ([
    [{ type: 'discrete-laplace', epsilon: 0.5 }, [...number(1, 1), ...number(500_000, 8)]],
    [
      { type: 'discrete-gaussian', variance: 400, delta: '1e-9' },
      [...number(2, 1), ...number(400, 8)],
    ],
  ])) {
    const noisy = await DapTask.exact(module, {
      ...base,
      vdaf: { type: 'histogram', length: 6, chunk: 2 },
      noise,
    });
    const named = await crypto.subtle.digest(
      'SHA-256',
      bytes('shoal dap task\n', configuration, Uint8Array.from(end)),
    );
    assert.equal(noisy.id, Buffer.from(named).toString('hex'));
  }
  const id = random(32);
  for (const written of [Buffer.from(id).toString('hex'), Buffer.from(id).toString('base64url')]) {
    const task = await DapTask.exact(module, {
      ...base,
      task_id: written,
      vdaf: { type: 'multihot-count-vec', length: 5, max_weight: 2, chunk: 2 },
    });
    assert.equal(task.id, Buffer.from(id).toString('hex'));
    const vector = await openReport(
      await task.ofMeasurement([1, 0, 0, 1, 0], input()),
      servers,
      id,
      task.configuration(),
    );
    assert.deepEqual(measurementOf(vector.plaintexts, 5, id, 5), [1, 0, 0, 1, 0]);
    for (const bad of [[1, 1, 1, 0, 0], [2, 0, 0, 0, 0], [1, 0, 0, 1], 3])
      await assert.rejects(task.ofMeasurement(bad, input()));
  }
  // Where a file states no chunk length it is that of the shortest proof.
  const short = await DapTask.exact(module, { ...base, vdaf: { type: 'histogram', length: 10 } });
  const lengths = await Promise.all(
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(
      async (chunk) =>
        (await DapTask.exact(module, { ...base, vdaf: { type: 'histogram', length: 10, chunk } }))
          .reportLength,
    ),
  );
  assert.equal(short.reportLength, Math.min(...lengths));
  const counted = await DapTask.exact(module, { ...base, vdaf: { type: 'count' } });
  assert.equal((await counted.ofMeasurement(true, input())).length, counted.reportLength);
  const summed = await DapTask.exact(module, {
    ...base,
    vdaf: { type: 'sum-vec', length: 3, max: 15, chunk: 3 },
  });
  assert.equal((await summed.ofMeasurement([15, 0, 7], input())).length, summed.reportLength);
  await assert.rejects(summed.ofMeasurement([16, 0, 7], input()), { code: 'range' });
});

test("no secret stays in the module's memory", async (t) => {
  /** @type {WebAssembly.Instance[]} */
  const made = [];
  const { instantiate } = WebAssembly;
  t.mock.method(
    WebAssembly,
    'instantiate',
    async (/** @type {any} */ compiled, /** @type {any} */ imports) => {
      const instance = /** @type {any} */ (await instantiate(compiled, imports));
      made.push(instance);
      return instance;
    },
  );
  const task = await DapTask.ofRecipe(module, (await load()).recipe(coloursRecipe()));
  const instance = /** @type {any} */ (made.at(-1));
  /** @type {Uint8Array[]} */
  const secrets = [];
  const random = (/** @type {number} */ n) => {
    const coins = crypto.getRandomValues(new Uint8Array(n));
    for (let at = 0; at + 32 <= n; at += 32) secrets.push(coins.slice(at, at + 32));
    return coins;
  };
  /** @type {Uint8Array[]} */
  const handed = [];
  const sealer = {
    seal: async (
      /** @type {any} */ _key,
      /** @type {any} */ _info,
      /** @type {any} */ _aad,
      /** @type {Uint8Array} */ plaintext,
    ) => {
      secrets.push(plaintext.slice(6, 38), plaintext.slice(-32));
      handed.push(plaintext);
      return { enc: new Uint8Array(32), ciphertext: new Uint8Array(plaintext.length + 16) };
    },
  };
  await task.ofRecord('3', {
    id: new Uint8Array(16),
    now: NOON,
    random,
    keys: /** @type {any} */ ([await makeServer(1), await makeServer(2)]),
    sealer,
  });
  const memory = Buffer.from(instance.exports.memory.buffer);
  assert.equal(secrets.length, 8);
  for (const secret of secrets) assert.equal(memory.indexOf(secret), -1);
  for (const plaintext of handed)
    assert.ok(
      plaintext.every((byte) => byte === 0),
      'nor in what was handed to be sealed',
    );
});

test('a module that finds another hash in the recipe than its own module is refused', async () => {
  const recipe = (await load()).recipe(coloursRecipe());
  await DapTask.ofRecipe(module, recipe);
  Object.defineProperty(recipe, 'hash', { value: '00'.repeat(32) });
  await assert.rejects(DapTask.ofRecipe(module, recipe), /another version/);
});

test('the module imports nothing, and refuses the recipe of another build', async () => {
  assert.deepEqual(WebAssembly.Module.imports(module), []);
  const { exports } = await WebAssembly.instantiate(module, {});
  const x = /** @type {any} */ (exports);
  const base = (x.heap_base() + 15) & -16;
  const { recipe_size: size } = /** @type {any} */ (
    await WebAssembly.instantiate(
      await WebAssembly.compile(await readFile(join(WASM, 'dist/shoal.wasm'))),
      {},
    )
  ).exports;
  const all = /** @type {any} */ (
    await WebAssembly.instantiate(
      await WebAssembly.compile(await readFile(join(WASM, 'dist/shoal-all.wasm'))),
      {},
    )
  ).exports;
  assert.equal(size(), all.recipe_size());
  x.memory.grow(4);
  for (const len of [0, size() - 8, size() + 8]) assert.equal(x.task_of_recipe(base, len), 1);
  assert.equal(x.task_of_recipe(base + 4, size()), 1);
  assert.equal(x.task_of_recipe(0, size()), 1);
  assert.equal(x.task_info(base), 1, 'no task yet');
  assert.equal(x.shard(base, base, base, 0n, base), 1);
  // One in which nothing is set: no two servers.
  new Uint8Array(x.memory.buffer).fill(0, base, base + size());
  assert.equal(x.task_of_recipe(base, size()), 1);
});

test("the exports refuse every pointer that is not JavaScript's own, and wipe what they were given", async () => {
  const x = /** @type {any} */ ((await WebAssembly.instantiate(module, {})).exports);
  const core = await load();
  const recipe = core.recipe(coloursRecipe());
  const from = /** @type {any} */ (recipe).module;
  const size = x.heap_base() % 16 ? 16 - (x.heap_base() % 16) : 0;
  const base = x.heap_base() + size;
  x.memory.grow(8);
  const end = x.memory.buffer.byteLength;
  const bytesAt = () => new Uint8Array(x.memory.buffer);
  const bad = [0, 1024, x.heap_base() - 8, end - 8, end, -8, -16];
  const len = from.x.recipe_size();
  for (const at of bad) assert.equal(x.task_of_recipe(at, len), 1);
  for (const at of bad) assert.equal(x.task_exact(at, base, 4, 4, 4), 1);
  for (const at of bad) assert.equal(x.task_exact(base, at, 4, 4, 4), 1);
  assert.equal(x.task_exact(base, base, 65, 4, 4), 1);
  assert.equal(x.task_exact(base, base, 4, 201, 4), 1);
  const at = from.x.recipe_at(recipe.handle);
  bytesAt().set(from.reserve(0).slice(at, at + len), base);
  assert.equal(x.task_of_recipe(base, len), 0);
  assert.equal(x.task_of_recipe(base, len), 1, 'one task an instance');
  assert.equal(x.task_set_id(base), 1, 'a recipe has its id');
  const work = base;
  const rest = base + 65_536;
  for (const pointer of bad) {
    assert.equal(x.task_id(pointer), 1);
    assert.equal(x.task_info(pointer), 1);
    assert.equal(x.task_configuration(pointer), -1);
    assert.equal(x.share_info(pointer, 2), -1);
    assert.equal(x.read_keys(pointer, base, 43), 1);
    assert.equal(x.read_keys(base, pointer, 43), 1);
    if (pointer !== end - 8) assert.equal(x.measure_record(pointer, rest, 1), 1); // a histogram's measurement has 8 bytes
    assert.equal(x.measure_record(work, pointer, 100), 1);
    assert.equal(x.shard(pointer, work, rest, 1n, rest + 64), 1);
    assert.equal(x.shard(rest + 4096, pointer, rest, 1n, rest + 64), 1);
    assert.equal(x.shard(rest + 4096, work, pointer, 1n, rest + 64), 1);
    assert.equal(x.shard(rest + 4096, work, rest, 1n, pointer), 1);
    assert.equal(x.report(pointer, 2000, rest, 1n, base), -1);
    assert.equal(x.report(base, 2000, pointer, 1n, base), -1);
    assert.equal(x.report(base, 2000, rest, 1n, pointer), -1);
  }
  assert.equal(
    x.shard(rest + 4096, work + 4, rest, 1n, rest + 64),
    1,
    'a measurement at no multiple of 8',
  );
  assert.equal(x.shard(rest + 4096, work, rest, -1n, rest + 64), 1, 'a time before 1970');
  assert.equal(x.report(base, 10, rest, 1n, rest + 64), -14, 'no room');
  assert.equal(x.task_info(base), 0);
  const [measurement, rand, , , , , workLength] = new Uint32Array(
    x.memory.buffer.slice(base, base + 36),
  );
  // A measurement that the task does not take: refused, and everything wiped all the same.
  bytesAt().fill(0xff, work, work + measurement);
  bytesAt().fill(0xaa, rest + 64, rest + 64 + rand);
  assert.equal(x.shard(rest + 4096, work, rest, 1n, rest + 64), 2);
  assert.ok(
    bytesAt()
      .subarray(work, work + workLength)
      .every((byte) => byte === 0),
  );
  assert.ok(
    bytesAt()
      .subarray(rest + 64, rest + 64 + rand)
      .every((byte) => byte === 0),
  );
  bytesAt().fill(0, work, work + measurement);
  bytesAt().fill(0xaa, rest + 64, rest + 64 + rand);
  assert.equal(x.shard(rest + 4096, work, rest, 1n, rest + 64), 0);
  assert.ok(
    bytesAt()
      .subarray(work, work + workLength)
      .every((byte) => byte === 0),
  );
  assert.ok(
    bytesAt()
      .subarray(rest + 64, rest + 64 + rand)
      .every((byte) => byte === 0),
  );
});

test('from fixed randomness the module makes the bytes of the other builds', async () => {
  // The digests of tests/core/wire/test_dap_shares.c.
  /** @type {[any, any, string][]} */
  const samples = [
    [{ type: 'count' }, true, '46f04d11d4da45648db686d081d829303a05117ad1b8878257cfb66451390e99'],
    [
      { type: 'sum', max: 1000 },
      1,
      'ca0eaaf69d8b91aa12d81026337b70060c76c68b876b9d67efb4dbfa75043178',
    ],
    [
      { type: 'sum-vec', length: 9, max: 100, chunk: 7 },
      [1, 0, 0, 0, 1, 0, 0, 0, 1],
      '8afc63f430d12c5e1173599a38495427139fe11a05fab1d501f75b95c03de5ab',
    ],
    [
      { type: 'histogram', length: 33, chunk: 5 },
      1,
      'c1966941255bbdb8750aa839b65e5131c6478504a1ac800bde7d9f6c8cdcc248',
    ],
    [
      { type: 'multihot-count-vec', length: 20, max_weight: 6, chunk: 4 },
      Array.from({ length: 20 }, (_, i) => Number(i % 4 === 0)),
      '285df4c7e6f59b2563efa8f1ac1f18cc99c6a0da4bcbb0e6b52785f8934a6d8c',
    ],
  ];
  const hex = (/** @type {Uint8Array} */ b) => Buffer.from(b).toString('hex');
  const taskId = hex(Uint8Array.from({ length: 32 }, (_, i) => i));
  const key = { id: 0, publicKey: new Uint8Array(32) };
  for (const [vdaf, value, digest] of samples) {
    const task = await DapTask.exact(module, {
      version: 'dap-18',
      task_id: taskId,
      info: 'shares',
      leader: LEADER,
      helper: HELPER,
      time_precision_s: 3600,
      min_batch_size: 100,
      vdaf,
    });
    /** @type {Uint8Array[]} */
    const seen = [];
    const sealer = {
      seal: async (
        /** @type {any} */ _key,
        /** @type {any} */ _info,
        /** @type {Uint8Array} */ aad,
        /** @type {Uint8Array} */ plaintext,
      ) => {
        if (!seen.length) seen.push(bytes(aad));
        seen.push(bytes(plaintext));
        return { enc: new Uint8Array(32), ciphertext: new Uint8Array(plaintext.length + 16) };
      },
    };
    const random = (/** @type {number} */ n) => Uint8Array.from({ length: n }, (_, i) => 7 * i + 1);
    const report = await task.ofMeasurement(value, {
      id: Uint8Array.from({ length: 16 }, (_, i) => 64 + i),
      now: 500_000 * 3_600_000,
      random,
      keys: [key, key],
      sealer,
    });
    const made = await crypto.subtle.digest(
      'SHA-256',
      bytes(readReport(report).publicShare, ...seen),
    );
    assert.equal(hex(new Uint8Array(made)), digest, vdaf.type);
  }
});
