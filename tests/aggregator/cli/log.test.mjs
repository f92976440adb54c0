// SPDX-License-Identifier: Apache-2.0
// shoal log: it reads logs that plain recursion made, extends them byte for byte as recursion would,
// names each thing that is wrong, and takes only what devices can use.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

import { keyList, logged } from '../../../wasm/client/log.js';
import {
  OracleLog,
  device,
  filler,
  keysEntry,
  noteSigner,
} from '../../../wasm/test/log_fixtures.mjs';
import { listRecipe, makeFolder, program } from '../serve/serve_helpers.mjs';

const isLong = process.env.SHOAL_LONG === '1';
const TODAY = Math.floor(Date.now() / 86_400_000);
const ORIGIN = 'log.example/shoal';

/** Runs the command in a folder. @param {string} cwd @param {string[]} args */
function shoal(cwd, ...args) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  return { status, stdout, stderr };
}

/** @param {string} cwd @param {string[]} args */
function good(cwd, ...args) {
  const done = shoal(cwd, ...args);
  assert.equal(done.status, 0, done.stderr);
  return done.stdout;
}

/** Writes a log of the oracle into FOLDER/log, and its private key beside. @param {string} folder @param {OracleLog} log @param {number} [size] */
function write(folder, log, size) {
  rmSync(join(folder, 'log'), { recursive: true, force: true });
  for (const [path, bytes] of log.files(size)) {
    mkdirSync(dirname(join(folder, 'log', path)), { recursive: true });
    writeFileSync(join(folder, 'log', path), bytes);
  }
  const pem = log.signer.privateKey.export({ type: 'pkcs8', format: 'pem' });
  writeFileSync(join(folder, 'log.pem'), pem, { mode: 0o600 });
}

/** Every file below a folder. @param {string} folder @returns {string[]} */
const filesOf = (folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();

/** A key pair in a folder, and signed recipes by it. @param {string} folder */
function signing(folder) {
  const openssl = (/** @type {string[]} */ ...args) =>
    assert.equal(spawnSync('openssl', args, { cwd: folder }).status, 0);
  openssl('genpkey', '-algorithm', 'ed25519', '-out', 'own.pem');
  openssl('pkey', '-in', 'own.pem', '-pubout', '-out', 'own.pub');
  /** @param {string} id @param {object} [changes] @returns {string} its hash */
  return (id, changes = {}) => {
    writeFileSync(join(folder, `${id}.json`), JSON.stringify(listRecipe(id, changes)));
    good(folder, 'recipe', 'sign', '--key', 'own.pem', '-o', `${id}.json`, `${id}.json`);
    return good(folder, 'recipe', 'hash', `${id}.json`).trim();
  };
}

const keysFile = (/** @type {any} */ more = {}) =>
  keysEntry({ from: TODAY, until: TODAY + 30, tokens: [], ...more });

test('a log of any size is read, and extended as plain recursion extends it', (t) => {
  const folder = makeFolder(t);
  const sign = signing(folder);
  const hashes = ['one', 'two', 'three'].map((id) => sign(id));
  const sizes = [0, 1, 2, 3, 253, 254, 255, 256, 510, 511, 512, 600];
  if (isLong) sizes.push(65_533, 65_534, 65_535, 65_536, 65_537);
  for (const size of sizes) {
    const before = Array.from({ length: size }, (_, i) => filler(i));
    const log = new OracleLog(before);
    write(folder, log);
    const json = JSON.parse(
      good(folder, 'log', 'check', '--key', log.signer.verifier, '--format', 'json', 'log'),
    );
    assert.deepEqual(
      [json.log, json.size, json.queries, json.signature, json.fault],
      [ORIGIN, size, size, 'good', null],
    );
    const all = new OracleLog([...before, ...hashes.map((hash) => ({ type: 'recipe', hash }))]);
    all.signer = log.signer;
    good(
      folder,
      'log',
      'add',
      '--log',
      'log',
      '--key',
      'log.pem',
      ...['one', 'two', 'three'].map((id) => `${id}.json`),
    );
    const want = all.files();
    // The recipes of the index carry their own last days.
    const last = Date.parse(listRecipe('one').expires) / 86_400_000;
    want.set(
      'index',
      Buffer.from(
        Buffer.from(/** @type {Uint8Array} */ (want.get('index')))
          .toString()
          .replace(/("type":"recipe"[^}]*"until":)\d+/g, `$1${last}`),
      ),
    );
    for (const [path, bytes] of want)
      assert.ok(readFileSync(join(folder, 'log', path)).equals(bytes), `${path}, ${size}`);
    const old = log.files();
    for (const path of filesOf(join(folder, 'log')))
      assert.ok(want.has(path) || old.has(path), `${path} is left over`);
    for (const [path, bytes] of old)
      if (path.startsWith('tile/'))
        assert.ok(readFileSync(join(folder, 'log', path)).equals(bytes), `${path} changed`);
  }
});

test('a device and the command agree on what is in a log', async (t) => {
  const folder = makeFolder(t);
  const sign = signing(folder);
  const hash = sign('fish');
  const name = ['--log', 'log', '--key', 'log.pem'];
  const verifier = good(folder, 'log', 'init', ...name, '--name', 'example.org/log').trim();
  good(folder, 'log', 'add', ...name, 'fish.json');
  const list = keysFile({ tokens: [{ recipe: hash, day: TODAY + 1, key: 'cd'.repeat(32) }] });
  writeFileSync(join(folder, 'keys.json'), JSON.stringify(list));
  good(folder, 'log', 'keys', ...name, 'keys.json');
  const { context, day } = await device(new OracleLog([]), {
    key: verifier,
    fetch: async (/** @type {string} */ url) => {
      const path = join(folder, 'log', new URL(url).pathname.slice('/log/'.length));
      return existsSync(path)
        ? new Response(/** @type {any} */ (readFileSync(path)))
        : new Response('', { status: 404 });
    },
  });
  day.now = TODAY * 86_400_000;
  const { serial, tokens, gateway } = await keyList(context);
  assert.deepEqual([serial, tokens, gateway[0].id], [1, list.tokens, 1]);
  const isIn = await logged(context);
  assert.ok(await isIn('recipe', hash));
  assert.ok(!(await isIn('query', hash)));
});

test('each thing that is wrong has its name and its exit code', (t) => {
  const folder = makeFolder(t);
  const entries = Array.from({ length: 300 }, (_, i) => (i === 5 ? keysEntry() : filler(i)));
  const log = new OracleLog(entries);
  const at = (/** @type {string} */ path) => join(folder, 'log', path);
  /** @param {string} fault @param {number} status @param {() => void} change @param {string[]} [more] */
  const expect = (fault, status, change, more = ['--key', log.signer.verifier]) => {
    write(folder, log);
    change();
    const done = shoal(folder, 'log', 'check', '--format', 'json', ...more, 'log');
    assert.equal(done.status, status, `${fault}: ${done.stderr}`);
    assert.equal(JSON.parse(done.stdout).fault, fault, done.stdout);
    assert.match(done.stderr, new RegExp(`^shoal: log check: ${fault}: `));
  };
  const flip = (/** @type {string} */ path, place = 5) => {
    const bytes = readFileSync(at(path));
    bytes[place] ^= 1;
    writeFileSync(at(path), bytes);
  };
  for (const path of ['tile/0/000', 'tile/0/001.p/44', 'tile/1/000.p/1'])
    expect('log-tampered', 3, () => flip(path));
  for (const path of ['tile/0/001.p/44', 'tile/entries/000', 'tile/entries/001.p/44'])
    expect('log-tampered', 3, () => appendFileSync(at(path), 'x'));
  const zero = filler(0).hash;
  expect('log-tampered', 3, () => {
    const text = readFileSync(at('tile/entries/000'), 'latin1');
    writeFileSync(at('tile/entries/000'), text.replace(zero, filler(999).hash), 'latin1');
  });
  for (const path of ['tile/0/000', 'tile/1/000.p/1', 'tile/entries/000', 'tile/entries/001.p/44'])
    expect('log-truncated', 1, () => truncateSync(at(path), statSync(at(path)).size - 1));
  for (const path of ['checkpoint', 'tile/0/000', 'tile/entries/001.p/44', 'keys', 'index'])
    expect('log-missing', 5, () => rmSync(at(path)));
  for (const text of ['', 'x\n', log.note().slice(0, -1), log.note().replace('\u2014', '-')])
    expect('log-malformed', 1, () => writeFileSync(at('checkpoint'), text));
  expect('log-malformed', 1, () => writeFileSync(at('index'), '[]'));
  expect('log-pointer', 1, () => writeFileSync(at('keys'), '{"index":5}\n'));
  expect('log-pointer', 1, () =>
    writeFileSync(at('index'), JSON.stringify({ entries: [{ ...filler(1), index: 2, until: 1 }] })),
  );
  expect('log-signature', 3, () =>
    writeFileSync(at('checkpoint'), log.note().replace(log.head(), log.head(299))),
  );
  const forger = noteSigner(ORIGIN);
  expect('log-signature', 3, () =>
    writeFileSync(at('checkpoint'), `${log.head()}\n${forger.line(log.head())}`),
  );
  expect('log-signature', 3, () => {}, ['--key', forger.verifier]);
  expect('log-malformed', 1, () => {
    const stranger = new OracleLog(entries, 'another.example');
    const head = stranger.head();
    writeFileSync(at('checkpoint'), `${head}\n${log.signer.line(head)}`);
  });
  // Entries that are in the tree, and yet none: written otherwise, or key lists out of order.
  const withEntry = (/** @type {any} */ entry) => () => {
    const bad = new OracleLog([...entries, entry]);
    bad.signer = log.signer;
    write(folder, bad);
  };
  for (const entry of [
    { hash: zero, type: 'query' },
    { type: 'query', hash: zero.toUpperCase() },
    { type: 'query', hash: zero, more: 1 },
    { type: 'other', hash: zero },
    keysEntry({ serial: 2, from: 1.5 }),
    keysEntry({ serial: 2, until: 19_999 }),
    keysEntry({ serial: 2, gateway: [{ id: 2, config: keysEntry().gateway[0].config }] }),
    keysEntry({ serial: 2, gateway: [{ id: 1, config: '010020' }] }),
    keysEntry({ serial: 2, tokens: [...keysEntry().tokens, ...keysEntry().tokens] }),
    [],
    null,
  ])
    expect('log-entry', 1, withEntry(entry));
  for (const entry of [
    keysEntry({ serial: 1 }),
    keysEntry({ serial: 3 }),
    keysEntry({ serial: 2, from: 19_999 }),
    keysEntry({ serial: 2, tokens: [{ ...keysEntry().tokens[0], key: '00'.repeat(32) }] }),
    keysEntry({ serial: 2, gateway: [{ id: 1, config: `010020${'5b'.repeat(32)}000400010001` }] }),
    keysEntry({ serial: 2, gateway: [{ id: 2, config: `020020${'5b'.repeat(32)}000400010001` }] }),
  ])
    expect('log-serial', 1, withEntry(entry));
  // Against the head of the last look.
  const seen = ['--key', log.signer.verifier, '--state', 'seen'];
  const other = new OracleLog(Array.from({ length: 310 }, (_, i) => filler(i + 1)));
  other.signer = log.signer;
  write(folder, log);
  for (let i = 0; i < 2; i++) good(folder, 'log', 'check', ...seen, 'log');
  assert.equal(readFileSync(join(folder, 'seen'), 'utf8'), log.note());
  expect('log-rolled-back', 3, () => write(folder, log, 299), seen);
  expect('log-fork', 3, () => write(folder, other), seen);
  expect('log-fork', 3, () => write(folder, other, 300), seen);
  assert.equal(readFileSync(join(folder, 'seen'), 'utf8'), log.note(), 'a bad log is not kept');
  writeFileSync(join(folder, 'seen'), `${log.head(7)}\n${forger.line(log.head(7))}`);
  expect('log-signature', 3, () => {}, seen);
});

test('a log is checked over HTTP, and a server without one is told', async (t) => {
  const folder = makeFolder(t);
  const log = new OracleLog(Array.from({ length: 260 }, (_, i) => filler(i)));
  write(folder, log);
  const server = createServer((request, response) => {
    const path = join(folder, 'log', String(request.url).replace('/some/where/', ''));
    if (!existsSync(path)) response.writeHead(404).end();
    else response.end(readFileSync(path));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  /** @param {string} place */
  const check = async (place) => {
    const child = spawn(program, [
      'log',
      'check',
      '--key',
      log.signer.verifier,
      `http://127.0.0.1:${port}/${place}`,
    ]);
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (each) => (said += each));
    const [status] = await once(child, 'close');
    return { status, said };
  };
  for (const place of ['some/where', 'some/where/']) {
    const { status, said } = await check(place);
    assert.equal(status, 0, said);
    assert.match(said, /^entries {5}260: 0 recipes, 260 queries/m);
  }
  const { status, said } = await check('nothing');
  assert.equal(status, 5, said);
  assert.match(said, /log-missing: checkpoint: status 404/);
});

test('only signed recipes in force are added, and each once', (t) => {
  const folder = makeFolder(t);
  const sign = signing(folder);
  const name = ['--log', 'log', '--key', 'log.pem'];
  good(folder, 'log', 'init', ...name, '--name', ORIGIN);
  const hash = sign('fish');
  sign('old', { expires: '2020-01-31' });
  writeFileSync(join(folder, 'plain.json'), JSON.stringify(listRecipe('plain')));
  /** @param {number} status @param {RegExp} says @param {string[]} args */
  const bad = (status, says, ...args) => {
    const before = filesOf(join(folder, 'log'));
    const done = shoal(folder, 'log', ...args);
    assert.equal(done.status, status, done.stderr);
    assert.match(done.stderr, says);
    assert.deepEqual(filesOf(join(folder, 'log')), before, 'nothing changed');
  };
  bad(3, /plain\.json: is not signed/, 'add', ...name, 'plain.json');
  bad(3, /plain\.json: is not signed/, 'add', ...name, 'fish.json', 'plain.json');
  bad(2, /old\.json: has expired/, 'add', ...name, 'old.json');
  bad(3, /signed by another key/, 'add', ...name, '--signer', '5a'.repeat(32), 'fish.json');
  bad(
    3,
    /not signed by the log's key|is not the log's key/,
    'add',
    '--log',
    'log',
    '--key',
    'own.pem',
    'fish.json',
  );
  bad(2, /private key/, 'add', '--log', 'log', '--key', 'fish.json', 'fish.json');
  bad(
    2,
    /log has a log|never begun anew/,
    'init',
    '--log',
    'log',
    '--name',
    'x',
    '--key',
    'new.pem',
  );
  assert.ok(!existsSync(join(folder, 'new.pem')));
  bad(2, /never replaced/, 'init', '--log', 'log3', '--name', 'x', '--key', 'own.pem');
  bad(2, /no space/, 'init', '--log', 'log3', '--name', 'a b', '--key', 'new.pem');
  bad(
    5,
    /log add: nothing: holds no log/,
    'add',
    '--log',
    'nothing',
    '--key',
    'log.pem',
    'fish.json',
  );
  assert.equal(statSync(join(folder, 'log.pem')).mode & 0o777, 0o600);
  const first = good(
    folder,
    'log',
    'add',
    ...name,
    '--signer',
    'own.pub',
    '--format',
    'json',
    'fish.json',
    'fish.json',
  );
  assert.deepEqual(JSON.parse(first), {
    entries: [
      { entry: `recipe ${hash}`, index: 0, new: true },
      { entry: `recipe ${hash}`, index: 0, new: false },
    ],
    size: 1,
  });
  const head = readFileSync(join(folder, 'log/checkpoint'), 'utf8');
  good(folder, 'log', 'add', ...name, 'fish.json');
  assert.equal(readFileSync(join(folder, 'log/checkpoint'), 'utf8'), head);
  // A lost or damaged index is made again from the files.
  for (const text of [null, '{', '{}']) {
    if (text === null) rmSync(join(folder, 'log/index'));
    else writeFileSync(join(folder, 'log/index'), text);
    good(folder, 'log', 'add', ...name, 'fish.json');
    assert.equal(JSON.parse(readFileSync(join(folder, 'log/index'), 'utf8')).entries[0].hash, hash);
  }
});

test('a key list must be one that devices can take after the one before', (t) => {
  const folder = makeFolder(t);
  const name = ['--log', 'log', '--key', 'log.pem'];
  good(folder, 'log', 'init', ...name, '--name', ORIGIN);
  /** @param {any} list */
  const keys = (list) => {
    writeFileSync(join(folder, 'keys.json'), JSON.stringify(list));
    return shoal(folder, 'log', 'keys', ...name, 'keys.json');
  };
  const config = (/** @type {string} */ id, byte = '5a') => ({
    id: Number(id),
    config: `${id}0020${byte.repeat(32)}000400010001`,
  });
  const token = (/** @type {number} */ day, key = 'cd') => ({
    recipe: 'ab'.repeat(32),
    day,
    key: key.repeat(32),
  });
  const base = {
    from: TODAY - 1,
    until: TODAY + 5,
    gateway: [config('01')],
    tokens: [token(TODAY - 2), token(TODAY)],
  };
  const steps = /** @type {[any, RegExp | null][]} */ ([
    [{ ...base, from: TODAY + 1 }, /not in force today/],
    [{ ...base, from: TODAY - 3, until: TODAY - 1 }, /not in force today/],
    [{ ...base, serial: 2 }, /serial of this list must be 1/],
    [base, null],
    [base, null], // once more: nothing is added
    [{ ...base, serial: 1, until: TODAY + 6 }, /serial of this list must be 2/],
    [{ ...base, until: TODAY + 9, gateway: [config('02')] }, /no key of the gateway/],
    [{ ...base, until: TODAY + 9, gateway: [config('01', '5b')] }, /names another key/],
    [
      { ...base, until: TODAY + 9, tokens: [token(TODAY - 2)] },
      /token key of today or later is missing/,
    ],
    [{ ...base, until: TODAY + 9, tokens: [token(TODAY, 'ce')] }, /another token key/],
    [{ ...base, from: TODAY - 2, until: TODAY + 9 }, /begins before/],
    [
      { ...base, until: TODAY + 9, gateway: [config('02'), config('01')], tokens: [token(TODAY)] },
      null,
    ],
    [
      {
        ...base,
        until: TODAY + 9,
        gateway: [config('02')],
        tokens: [token(TODAY), token(TODAY + 1)],
      },
      null,
    ],
    [{ ...base, more: 1 }, /an object of type, serial/],
    [[], /an object of type, serial|type must be/],
  ]);
  let size = 0;
  let last = '';
  for (const [list, refused] of steps) {
    const done = keys(list);
    assert.equal(done.status, refused ? 1 : 0, done.stderr + JSON.stringify(list));
    if (refused) assert.match(done.stderr, refused);
    else if (JSON.stringify(list) !== last) {
      size++;
      last = JSON.stringify(list);
    }
    if (size > 0) {
      const seen = JSON.parse(good(folder, 'log', 'check', '--format', 'json', 'log'));
      assert.deepEqual([seen.size, seen.keys.serial], [size, size]);
    }
  }
  assert.equal(size, 3);
});

test('writers wait for each other, and nothing of any is lost', async (t) => {
  const folder = makeFolder(t);
  const sign = signing(folder);
  const name = ['--log', 'log', '--key', 'log.pem'];
  good(folder, 'log', 'init', ...name, '--name', ORIGIN);
  const ids = Array.from({ length: 8 }, (_, i) => `r${i}`);
  for (const id of ids) sign(id);
  const codes = await Promise.all(
    ids.map(async (id) => {
      const child = spawn(program, ['log', 'add', ...name, `${id}.json`], {
        cwd: folder,
        stdio: 'ignore',
      });
      return (await once(child, 'close'))[0];
    }),
  );
  assert.deepEqual(
    codes,
    ids.map(() => 0),
  );
  const seen = JSON.parse(good(folder, 'log', 'check', '--format', 'json', 'log'));
  assert.equal(seen.recipes, ids.length);
  assert.equal(JSON.parse(readFileSync(join(folder, 'log/index'), 'utf8')).entries.length, 8);
  assert.ok(!existsSync(join(folder, 'log/pending')));
});

test('what is proved is the published form, and leads to the root', (t) => {
  const folder = makeFolder(t);
  const log = new OracleLog(Array.from({ length: 300 }, (_, i) => filler(i)));
  write(folder, log);
  const [head, note] = good(folder, 'log', 'prove', 'log', '299').split('\n\n');
  assert.match(head, /^c2sp\.org\/tlog-proof@v1\nindex 299\n([A-Za-z0-9+/]{43}=\n?)+$/);
  assert.equal(`${note}\n\n${log.note().split('\n\n')[1]}`, log.note());
  const beyond = shoal(folder, 'log', 'prove', 'log', '300');
  assert.equal(beyond.status, 2);
  assert.match(beyond.stderr, /log prove: INDEX must be a whole number from 0 to 299/);
  cpSync(join(folder, 'log'), join(folder, 'copy'), { recursive: true });
  assert.equal(good(folder, 'log', 'prove', 'copy', '0').split('\n')[1], 'index 0');
});
