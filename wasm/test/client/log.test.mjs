// SPDX-License-Identifier: Apache-2.0
// The log on the device, against a log made by plain recursion: trees of all sizes, what is refused
// and by which name, what is fetched, and what storage remembers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyList, logged } from '../../client/log.js';
import { LOG_REASONS } from '../../client/log_reasons.js';
import { REASONS } from '../../client/reasons.js';
import { askedClient, phrases, signed, withQuery } from '../query_fixtures.mjs';
import {
  LOG_URL,
  OracleLog,
  device,
  filler,
  keysEntry,
  noteSigner,
  queryEntry,
  rootOf,
  sha256,
} from '../log_fixtures.mjs';

const isLong = Boolean(process.env.SHOAL_LONG);

/** A log of fillers with one key list. @param {number} size @param {number} [at] of the list @param {any} [list] */
const logOf = (size, at = size - 1, list = keysEntry()) =>
  new OracleLog(Array.from({ length: size }, (_, i) => (i === at ? list : filler(i))));

/** The code with which a call is refused. @param {Promise<unknown>} call */
const codeOf = (call) =>
  call.then(
    () => 'taken',
    (error) => error.code ?? error,
  );

/** Changes one byte of a file. @param {Map<string, Uint8Array>} files @param {string} path @param {number} [at] */
function flip(files, path, at = 5) {
  const bytes = Uint8Array.from(/** @type {Uint8Array} */ (files.get(path)));
  bytes[at] ^= 1;
  files.set(path, bytes);
}

test('the key list of a log, as a device reads it', async () => {
  const { context, state } = await device(logOf(3));
  const list = await keyList(context);
  assert.deepEqual(list, {
    serial: 1,
    from: 20_000,
    until: 20_100,
    gateway: [
      {
        id: 1,
        config: Uint8Array.from(Buffer.from(`010020${'5a'.repeat(32)}000400010001`, 'hex')),
      },
    ],
    tokens: [{ recipe: 'ab'.repeat(32), day: 20_001, key: 'cd'.repeat(32) }],
  });
  assert.deepEqual(state.requests, ['checkpoint', 'tile/0/000.p/3', 'keys']);
});

test('trees of every size: every entry is found, nothing else is, and each head follows the one before', async () => {
  const sizes = isLong
    ? [...Array.from({ length: 601 }, (_, i) => i), 65_535, 65_536, 65_537, 65_793]
    : [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 255, 256, 257, 511, 512, 513, 600];
  const log = new OracleLog(Array.from({ length: sizes.at(-1) ?? 0 }, (_, i) => filler(i)));
  const { context, state } = await device(log);
  for (const size of sizes) {
    state.files = log.files(size);
    state.requests = [];
    const isIn = await logged(context);
    for (const i of [0, 1, size >> 1, size - 2, size - 1].filter((i) => i >= 0 && i < size))
      assert.ok(await isIn('query', filler(i).hash), `${i} of ${size}`);
    assert.equal(await isIn('query', filler(size).hash), false, `after ${size}`);
    assert.equal(await isIn('recipe', filler(0).hash), false, 'the type is part of an entry');
    assert.equal(new Set(state.requests).size, state.requests.length, 'each file once');
  }
});

test('a head that takes something back, or contradicts the one before, each has its name', async () => {
  for (const [before, after] of [
    [3, 5],
    [255, 257],
    [256, 600],
    [300, 301],
  ]) {
    const log = logOf(before);
    const other = new OracleLog(
      Array.from({ length: after }, (_, i) => (i === after - 1 ? keysEntry() : filler(i + 7))),
    );
    // The same key signs both.
    const first = await device(log);
    await keyList(first.context);
    other.signer = log.signer;
    first.state.files = other.files();
    assert.equal(await codeOf(keyList(first.context, true)), 'log-fork');
    const same = new OracleLog(Array.from({ length: before }, (_, i) => filler(i + 7)));
    same.signer = log.signer;
    first.state.files = same.files();
    const error = await keyList(first.context, true).catch((e) => e);
    assert.equal(error.code, 'log-fork');
    assert.deepEqual(
      error.cause.heads,
      [log.note(), same.note()],
      'both signed heads are the evidence',
    );
    // Two signed heads are a fork, whatever the tiles are.
    first.state.files = log.files().set('checkpoint', Buffer.from(same.note()));
    assert.equal(await codeOf(keyList(first.context, true)), 'log-fork');
    first.state.files = log.files(before - 1);
    assert.equal(await codeOf(keyList(first.context, true)), 'log-rolled-back');
    first.state.files = log.files();
    assert.equal(
      await codeOf(keyList(first.context, true)),
      'taken',
      'the true log is still taken',
    );
  }
});

test('what was tampered with, cut off or forged is refused by its name', async () => {
  /** @param {number} size @param {(files: Map<string, Uint8Array>, log: OracleLog) => void} change */
  const code = async (size, change, more = {}) => {
    const log = logOf(size, 0);
    const { context, state } = await device(log, more);
    change(state.files, log);
    return codeOf(keyList(context));
  };
  assert.equal(await code(3, () => {}), 'taken');
  assert.equal(await code(3, (files) => flip(files, 'tile/0/000.p/3')), 'log-tampered');
  assert.equal(await code(300, (files) => flip(files, 'tile/0/000')), 'log-tampered');
  assert.equal(await code(300, (files) => flip(files, 'tile/0/000', 8000)), 'log-tampered');
  assert.equal(await code(300, (files) => flip(files, 'tile/0/001.p/44')), 'log-tampered');
  assert.equal(await code(300, (files) => flip(files, 'tile/1/000.p/1')), 'log-tampered');
  assert.equal(
    await code(300, (files) => {
      const path = 'tile/0/001.p/44';
      files.set(path, Uint8Array.of(.../** @type {Uint8Array} */ (files.get(path)), 0));
    }),
    'log-tampered',
  );
  assert.equal(await code(3, (files) => flip(files, 'keys', 60)), 'log-tampered');
  for (const path of ['tile/0/000', 'tile/0/001.p/44', 'tile/1/000.p/1'])
    assert.equal(
      await code(300, (files) =>
        files.set(path, /** @type {Uint8Array} */ (files.get(path)).subarray(0, -1)),
      ),
      'log-truncated',
      path,
    );
  for (const path of ['checkpoint', 'keys', 'tile/0/000.p/3'])
    assert.equal(await code(3, (files) => files.delete(path)), 'log-missing', path);
  for (const path of ['checkpoint', 'keys'])
    for (const text of ['', 'x', '{}', '\xff', '[1]', 'null'])
      assert.equal(
        await code(3, (files) => files.set(path, Buffer.from(text, 'latin1'))),
        'log-malformed',
        `${path} ${text}`,
      );
  // A head that another key signed, and one whose own signature does not fit.
  const other = noteSigner('log.example/shoal');
  assert.equal(
    await code(3, (files, log) =>
      files.set('checkpoint', Buffer.from(`${log.head()}\n${other.line(log.head())}`)),
    ),
    'log-signature',
  );
  assert.equal(
    await code(3, (files, log) =>
      files.set('checkpoint', Buffer.from(log.note(log.head()).replace(log.head(), log.head(2)))),
    ),
    'log-signature',
  );
  // One bad line of the log's own key refuses the whole note, also beside a good one.
  assert.equal(
    await code(3, (files, log) =>
      files.set('checkpoint', Buffer.from(log.note(log.head(), log.signer.line('another')))),
    ),
    'log-signature',
  );
  assert.equal(
    await code(3, (files, log) =>
      files.set(
        'checkpoint',
        Buffer.from(log.note(`${noteSigner('other').name}${log.head().slice(17)}`)),
      ),
    ),
    'log-malformed',
    'the origin is the name of the key',
  );
  const { verifier } = noteSigner('log.example/shoal');
  assert.equal(await code(3, () => {}, { key: verifier }), 'log-signature');
  for (const key of [
    '',
    'x',
    verifier.replace('+', '+0'),
    verifier.slice(0, -4),
    verifier.replace(/\+[0-9a-f]{8}\+/, '+00000000+'),
    `${verifier}AAAA`,
  ])
    assert.equal(await code(3, () => {}, { key }), 'log-key', key);
});

test('lines of witnesses are allowed, and kept with the head', async () => {
  const log = logOf(3);
  const { context, state, storage } = await device(log);
  const note = log.note(log.head(), noteSigner('witness.example').line('time 1\n'));
  state.files.set('checkpoint', Buffer.from(note));
  await keyList(context);
  const kept = await storage.transaction((/** @type {any} */ tx) =>
    tx.get('state', `log/${log.signer.verifier}`),
  );
  assert.equal(kept.note, note);
});

test('a key list holds on its days only, and never goes back', async () => {
  for (const [more, code] of /** @type {[any, string][]} */ ([
    [{ from: 20_010 }, 'taken'],
    [{ until: 20_010 }, 'taken'],
    [{ from: 20_011 }, 'log-no-keys'],
    [{ until: 20_009 }, 'log-no-keys'],
  ]))
    assert.equal(
      await codeOf(keyList((await device(logOf(3, 1, keysEntry(more)))).context)),
      code,
      JSON.stringify(more),
    );
  const log = new OracleLog([
    keysEntry(),
    keysEntry({ serial: 2 }),
    keysEntry({ serial: 2, until: 20_050 }),
  ]);
  const { context, state } = await device(log);
  state.files = log.files(2);
  assert.equal((await keyList(context)).serial, 2);
  // The pointer goes back to the first list, while the tree stays as it is.
  state.files.set('keys', /** @type {Uint8Array} */ (log.files(1).get('keys')));
  assert.equal(await codeOf(keyList(context, true)), 'log-serial');
  state.files = log.files(3);
  assert.equal(
    await codeOf(keyList(context, true)),
    'log-serial',
    'another list of the same serial',
  );
});

test('the list is fetched once a day, once for all who ask, and holds where the log is down', async () => {
  const log = logOf(3);
  const { context, state, day } = await device(log);
  await Promise.all([keyList(context), keyList(context), keyList(context)]);
  assert.equal(state.requests.length, 3);
  await keyList(context);
  assert.equal(state.requests.length, 3, 'not again on the same day');
  day.now += 86_400_000;
  state.files = new Map();
  assert.equal(
    (await keyList(context)).serial,
    1,
    'the list of yesterday holds until its last day',
  );
  assert.equal(state.requests.length, 4);
  day.now += 100 * 86_400_000;
  assert.equal(await codeOf(keyList(context)), 'log-no-keys');
});

test('without consent nothing is fetched', async () => {
  const { context, state } = await device(logOf(3), { consent: 'none' });
  assert.equal(await codeOf(keyList(context)), 'no-consent');
  assert.deepEqual(state.requests, []);
});

test('a browser without Ed25519 is refused by name', async (t) => {
  const { context } = await device(logOf(3));
  t.mock.method(crypto.subtle, 'importKey', async () => {
    throw new DOMException('Unrecognized name.', 'NotSupportedError');
  });
  assert.equal(await codeOf(keyList(context)), 'log-no-ed25519');
});

test('a body without end is cut, and a tile that became full is taken whole', async () => {
  const log = logOf(3);
  const { context, state } = await device(log);
  state.files.set('checkpoint', new Uint8Array(1 << 15));
  assert.equal(await codeOf(keyList(context)), 'log-missing');
  const longer = logOf(300, 0);
  const second = await device(longer);
  second.state.files = longer.files(200);
  second.state.files.set(
    'tile/0/000',
    /** @type {Uint8Array} */ (longer.files().get('tile/0/000')),
  );
  second.state.files.delete('tile/0/000.p/200');
  assert.equal(await codeOf(keyList(second.context)), 'taken');
});

test('any change of any file is refused or changes nothing (random trees)', async () => {
  let seed = Number(process.env.SHOAL_SEED ?? 1);
  const draw = (/** @type {number} */ n) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % n;
  };
  for (const s of [seed, 1 + (Date.now() % 2_147_483_646)]) {
    seed = s;
    for (let i = 0; i < (isLong ? 100 : 20); i++) {
      const size = 1 + draw(600);
      const log = logOf(size, draw(size));
      const { context, state } = await device(log);
      const want = await keyList(context);
      const paths = [...state.files.keys()].filter((path) => !/entries|index/.test(path));
      const path = paths[draw(paths.length)];
      const bytes = /** @type {Uint8Array} */ (state.files.get(path));
      if (draw(4) === 0) state.files.set(path, bytes.subarray(0, draw(bytes.length)));
      else flip(state.files, path, draw(bytes.length));
      const fresh = await device(log);
      fresh.state.files = state.files;
      const got = await keyList(fresh.context).catch((error) => error);
      if (got instanceof Error)
        assert.ok(LOG_REASONS[/** @type {any} */ (got).code], `${got} (seed ${s}, ${path})`);
      else assert.deepEqual(got, want, `seed ${s}, ${path}`);
    }
  }
});

test('queries of a page with a log: what is in it is answered, and nothing where it is not believed', async () => {
  const fakes = { edge: /** @type {any} */ (null) };
  const [known, unknown, later] = ['ngrams', 'secret', 'later'].map((recipe) =>
    signed(phrases({ recipe })),
  );
  const hashOf = (/** @type {any} */ json) => withQuery(json, (query) => query.queryHash);
  const log = new OracleLog([filler(0), queryEntry(hashOf(known)), queryEntry(hashOf(later))]);
  let files = log.files(2);
  const made = await askedClient({
    log: { url: LOG_URL, key: log.signer.verifier },
    fetch: async (/** @type {string} */ url, /** @type {any} */ init) => {
      if (!url.startsWith(LOG_URL)) return fakes.edge.fetch(url, init);
      assert.equal(init.credentials, 'omit');
      const bytes = files.get(url.slice(LOG_URL.length + 1));
      return new Response(/** @type {any} */ (bytes ?? ''), { status: bytes ? 200 : 404 });
    },
  });
  fakes.edge = made.edge;
  const { client, storage } = made;
  await client.donate('typed-phrases', { phrase: 'hello world', age: 33, locale: 'de' });
  const ask = async (/** @type {any[]} */ ...list) =>
    (await client.ask(list)).map(({ code }) => code);
  files = new Map();
  assert.deepEqual(await ask(known), ['log-missing']);
  files = log.files(2);
  assert.deepEqual(await ask(unknown, known, later), ['not-logged', 'queued', 'not-logged']);
  const used = (await client.ledger()).find((/** @type {any} */ { reports }) => reports);
  assert.equal(/** @type {any} */ (used).reports.used, 1, 'what is refused costs nothing');
  files = log.files(3);
  assert.deepEqual(await ask(later), ['queued'], 'the head is fetched anew');
  const kept = () => storage.transaction((tx) => tx.get('state', `log/${log.signer.verifier}`));
  assert.equal((await kept()).size, 3);
  await client.consent.withdraw();
  assert.equal((await kept()).size, 3, 'a withdrawal leaves what makes a rollback noticed');
  await client.erase();
  assert.equal(await kept(), undefined, 'a head of its own would name the device');
});

test('every code has its sentence', () => {
  for (const code of Object.keys(LOG_REASONS)) assert.ok(REASONS[code].endsWith('.'), code);
});

test('the oracle makes the roots of RFC 6962: those of certificate-transparency', () => {
  const leaves = [
    '',
    '00',
    '10',
    '2021',
    '3031',
    '40414243',
    '5051525354555657',
    '606162636465666768696a6b6c6d6e6f',
  ];
  const roots = [
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
    '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
    'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
    '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  ];
  const hashes = leaves.map((hex) => sha256(Uint8Array.of(0), Buffer.from(hex, 'hex')));
  for (const [n, root] of roots.entries())
    assert.equal(Buffer.from(rootOf(hashes.slice(0, n))).toString('hex'), root);
});

test('an index of another form has its name', async () => {
  for (const text of [
    'null',
    '{}',
    '5',
    '{"entries":null}',
    '{"entries":5}',
    '{"entries":[null]}',
  ]) {
    const { context, state } = await device(logOf(3));
    state.files.set('index', Buffer.from(text));
    assert.equal(await codeOf(logged(context)), 'log-malformed', text);
  }
});
