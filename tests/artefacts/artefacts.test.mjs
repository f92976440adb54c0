// SPDX-License-Identifier: Apache-2.0
// What earlier versions wrote means the same today: recipes hash, batches fold, accumulators answer, a store opens and a
// device goes on, byte for byte. README.md says how the files were made.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sumsOf } from '../aggregator/accumulator_sums.mjs';
import { get, program, serve } from '../aggregator/serve/serve_helpers.mjs';
import { makeClient } from '../../wasm/test/fixtures.mjs';
import { memoryStorage } from '../../wasm/client/memory_storage.js';
import { DEVICE_RECIPES, dump, restore } from './device_recipes.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const before = join(here, 'before');
const claims = join(here, 'claims');
const commands = readFileSync(join(here, 'commands.txt'), 'utf8')
  .split('\n')
  .filter((line) => line && !line.startsWith('#'))
  .map((line) => {
    const [file, args] = line.split('\t');
    return { file, args: args.split(' ') };
  });

/** @param {import('node:test').TestContext} t */
function makeFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-artefacts-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** All files below a folder. @param {string} folder @returns {string[]} */
const filesOf = (folder) =>
  readdirSync(folder, { recursive: true })
    .map(String)
    .filter((file) => statSync(join(folder, file)).isFile())
    .sort();

/** Says where bytes differ rather than printing them. @param {Buffer} now @param {Buffer} then @param {string} what */
function same(now, then, what) {
  if (now.equals(then)) return;
  let at = 0;
  while (at < now.length && now[at] === then[at]) at++;
  const around = (/** @type {Buffer} */ bytes) =>
    JSON.stringify(bytes.toString('latin1', Math.max(0, at - 40), at + 40));
  assert.fail(
    `${what}: ${now.length} bytes where ${then.length} were, the first other one at ${at}:\n` +
      `  now    ${around(now)}\n  before ${around(then)}`,
  );
}

/**
 * What a file holds but for its central guarantees, which since issue 17 are those of the smallest
 * block, and are there only where block and honest share are stated.
 * @param {Buffer} bytes of JSON @returns {any}
 */
function withoutCentral(bytes) {
  const json = JSON.parse(bytes.toString());
  const { guarantees, notes } = json;
  for (const side of [guarantees, guarantees?.a, guarantees?.b].filter(Boolean)) {
    delete side.central;
    delete side.no_central;
    delete side.claim?.kept;
  }
  delete guarantees?.both;
  delete json.assumes;
  if (notes)
    json.notes = notes.filter((/** @type {string} */ note) => !note.includes('central epsilon'));
  return json;
}

/**
 * What a result holds but for its alarms, which those of before did not have: none is raised for
 * devices that were honest.
 * @param {Buffer} bytes @param {string} what
 */
function withoutAlarms(bytes, what) {
  if (bytes[0] !== 0x7b) return bytes; // no JSON
  const text = bytes.toString('latin1');
  assert.doesNotMatch(text, /"alarms":\[\{/, `${what}: an alarm`);
  const members =
    /,"alarms":(?:"not-measured"|\[\],"alarms_passed":\[[^\]]*\],"alarms_not_measured":\[[^\]]*\])/;
  return Buffer.from(text.replace(members, ''), 'latin1');
}

/** Removes the composition by numbers, which accounts of before did not have. @param {Buffer} bytes */
const withoutNumeric = (bytes) =>
  Buffer.from(bytes.toString('latin1').replaceAll(/, "numeric": [\d.]+(?=[,}])/g, ''), 'latin1');

/**
 * Removes what results have had since picked rows got intervals of their own (docs/selection.md).
 * All else has to be what it was.
 * @param {Buffer} bytes
 */
function withoutSelection(bytes) {
  const number = '(?:null|-?[\\d.e+-]+)';
  const members = new RegExp(
    `"selection":\\{[^}]*\\},|"adjusting":"\\w+",|,"fcr_low":${number},"fcr_high":${number}(?:,"rank_low":\\d+,"rank_high":\\d+)?(?:,"adjusted":${number},"adjusted_low":${number},"adjusted_high":${number})?(?=\\})`,
    'g',
  );
  if (bytes[0] === 0x7b)
    return Buffer.from(bytes.toString('latin1').replace(members, ''), 'latin1');
  const lines = bytes.toString('latin1').split('\n');
  const added =
    /,fcr_low,fcr_high(,rank_low,rank_high)?(,adjusted,adjusted_low,adjusted_high)?$/.exec(
      lines[0],
    );
  if (added === null) return bytes;
  const more = (added[0].match(/,/g) ?? []).length;
  const kept = lines.map((line) => (line === '' ? '' : line.split(',').slice(0, -more).join(',')));
  return Buffer.from(kept.join('\n'), 'latin1');
}

/**
 * Removes what discovery and its plan have said of lengths since they plan for them (docs/trie.md).
 * @param {Buffer} bytes
 */
function withoutReach(bytes) {
  const members =
    /"reach":\d+,(?:"reach_unit":"\w+",)?(?:"wanted":\d+,)?(?:"open":[\d.e+-]+,)?(?:"open_starts":\[[^\]]*\],)?(?:"left_out":\{[^}]*\},)?/;
  const ngrams = /"rappor_ngram":\{[^}]*\},/;
  return Buffer.from(bytes.toString('latin1').replace(members, '').replace(ngrams, ''), 'latin1');
}

const INTERVAL =
  /(?<="stderr":([\d.e+-]+),)"low":(-?[\d.e+-]+),"high":(-?[\d.e+-]+)(?=,"detected")/g;

/**
 * Puts in the normal intervals of before where there are exact ones of small counts now
 * (docs/selection.md). Their ends may not be farther away than a standard error, or than the
 * next whole number.
 * @param {Buffer} now @param {Buffer} then @param {string} what
 */
function withIntervalsOf(now, then, what) {
  const [text, old] = [now, then].map((bytes) => bytes.toString('latin1'));
  const ends = [...old.matchAll(INTERVAL)];
  if (ends.length !== [...text.matchAll(INTERVAL)].length) return now;
  let i = 0;
  return Buffer.from(
    text.replace(INTERVAL, (all, stderr, low, high) => {
      const [before, , ...old] = ends[i++];
      const far = [low, high].map((end, side) => Math.abs(Number(end) - Number(old[side])));
      assert.ok(
        Math.max(...far) <= Math.max(Number(stderr), 1),
        `${what}: ${all} where ${before} was`,
      );
      return before;
    }),
    'latin1',
  );
}

/**
 * Compares CSV, whose numbers have had the digits that mean something since issue 20, and all digits
 * of a double before: each is that of before, rounded.
 * @param {Buffer} now @param {Buffer} then @param {string} what
 */
function sameRounded(now, then, what) {
  const [rows, old] = [now, then].map((bytes) => bytes.toString().split('\n'));
  assert.equal(rows.length, old.length, what);
  const cells = (/** @type {string} */ row) => row.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/);
  const head = cells(rows[0]);
  const error = head.indexOf('stderr');
  for (const [i, row] of rows.entries()) {
    const before = cells(old[i]);
    assert.equal(cells(row).length, before.length, `${what}: ${row}`);
    for (const [j, cell] of cells(row).entries()) {
      if (cell === before[j]) continue;
      assert.match(cell, /^-?\d+(\.\d+)?$/, `${what}: ${row}`);
      const unit = 10 ** -(cell.split('.')[1] ?? '').length;
      const off = Math.abs(Number(cell) - Number(before[j]));
      // The end of an exact interval now, of a normal one before.
      const isEnd = ['low', 'high'].includes(head[j]) && head.includes('detected');
      if (isEnd && off <= Math.max(Number(cells(row)[error]), 1)) continue;
      assert.ok(off <= 0.5 * unit * (1 + 1e-6), `${what}: ${cell} where ${before[j]} was`);
    }
  }
}

/** Rows of JSON, NDJSON or CSV by their value. @param {Buffer} bytes @param {string} file @returns {Map<string, Record<string, any>>} */
function rowsOf(bytes, file) {
  const lines = bytes.toString().trim().split('\n');
  const rows = file.endsWith('.csv')
    ? lines.slice(1).map((line) => {
        const cells = line.split(',');
        return Object.fromEntries(
          lines[0].split(',').map((name, i) => [name, JSON.parse(cells[i] || 'null')]),
        );
      })
    : file.endsWith('.ndjson')
      ? lines.map((line) => JSON.parse(line))
      : JSON.parse(bytes.toString()).rows;
  return new Map(rows.map((/** @type {any} */ row) => [row.value, row]));
}

/**
 * Compares with the file of today's own folder, and with that of before: since collisions that two
 * sides share are accounted for, errors of differences are smaller, and nothing else is.
 * @param {Buffer} now @param {Buffer} then @param {string} file @param {string} what
 */
function sameButErrors(now, then, file, what) {
  same(now, readFileSync(join(here, 'collisions', file)), what);
  const [rows, old] = [rowsOf(now, file), rowsOf(then, file)];
  assert.deepEqual([...rows.keys()].sort(), [...old.keys()].sort(), what);
  for (const [value, row] of rows) {
    const before = /** @type {Record<string, any>} */ (old.get(value));
    for (const name of ['a', 'b', 'difference'])
      assert.ok(
        Math.abs(row[name] - before[name]) < 1e-3 * before.stderr + 5e-5,
        `${what}: ${name}`,
      );
    assert.equal(row.detected, before.detected, what);
    assert.ok(row.stderr < before.stderr && row.stderr > before.stderr / 2, what);
  }
}

/**
 * Compares with the file of before, or with that of its own folder where a figure had to change.
 * @param {Buffer} made @param {string} file @param {string} what
 */
function sameAsFile(made, file, what) {
  const then = readFileSync(join(before, file));
  if (existsSync(join(here, 'collisions', file))) return sameButErrors(made, then, file, what);
  const now = withIntervalsOf(
    withoutReach(withoutSelection(withoutAlarms(withoutNumeric(made), what))),
    then,
    what,
  );
  const changed = join(here, 'blocks', file);
  if (file.endsWith('.csv')) return sameRounded(now, then, what);
  if (!existsSync(changed)) return same(now, then, what);
  same(now, readFileSync(changed), what);
  assert.deepEqual(withoutCentral(now), withoutCentral(then), `${what}: more than the guarantees`);
}

/** @param {string[]} args @param {string} [cwd] */
const shoal = (args, cwd = before) =>
  execFileSync(program, args, {
    cwd,
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** @type {Map<string, {file: string, args: string[]}[]>} */
const groups = new Map();
for (const command of commands) {
  const group = dirname(command.file).split('/')[0];
  groups.set(group, [...(groups.get(group) ?? []), command]);
}
for (const [group, lines] of groups) {
  test(`${group}: ${lines.length} outputs are what they were`, (t) => {
    for (const { file, args } of lines) {
      if (args[0] === 'ingest') {
        // Accumulators of before had no claims; their sums are what they were.
        const now = shoal(args);
        same(sumsOf(now), sumsOf(readFileSync(join(before, file))), `sums of ${args.join(' ')}`);
        same(now, readFileSync(join(claims, file)), `shoal ${args.join(' ')}`);
        continue;
      }
      // Batches of before are of version 1.
      if (file.endsWith('.batch')) args.push('--format', 'batch-1');
      if (!file.endsWith('/')) {
        sameAsFile(shoal(args), file, `shoal ${args.join(' ')}`);
        continue;
      }
      const folder = join(makeFolder(t), 'out');
      shoal(args.map((word) => (word === '@' ? folder : word)));
      assert.deepEqual(filesOf(folder), filesOf(join(before, file)), file);
      for (const name of filesOf(folder))
        same(readFileSync(join(folder, name)), readFileSync(join(before, file, name)), file + name);
    }
  });
}

test('accumulators with claims merge to the same bytes, and give the figures of those without', () => {
  const made = filesOf(claims);
  const isClaimed = (/** @type {string} */ word) => made.includes(word);
  for (const { file, args } of commands) {
    if (args[0] === 'ingest' || file.endsWith('/')) continue;
    if (args[0] === 'merge') {
      const now = shoal(args, claims);
      same(sumsOf(now), sumsOf(readFileSync(join(before, file))), `sums of ${args.join(' ')}`);
      same(now, readFileSync(join(claims, file)), `shoal ${args.join(' ')} of claims/`);
    } else if (args.some(isClaimed) && !args.includes('--done')) {
      const words = args.map((word) => (isClaimed(word) ? join('../claims', word) : word));
      sameAsFile(shoal(words), file, `shoal ${words.join(' ')}`);
    }
  }
  assert.deepEqual(
    made,
    commands
      .filter(({ args }) => ['ingest', 'merge'].includes(args[0]))
      .map(({ file }) => file)
      .sort(),
  );
});

test('every mechanism has artefacts, and no file is forgotten', () => {
  const root = join(here, '../..');
  const names = ['mechanism/mechanisms.def', 'compound/compounds.def'].flatMap((file) =>
    [...readFileSync(join(root, 'core', file), 'utf8').matchAll(/^SHOAL_\w+\(.*"(.*)"\)$/gm)].map(
      ([, name]) => name,
    ),
  );
  assert.ok(names.length >= 16);
  const recipes = filesOf(before).filter((file) => file.endsWith('recipe.json'));
  const used = new Set(
    recipes.flatMap((file) => {
      const recipe = JSON.parse(readFileSync(join(before, file), 'utf8'));
      return recipe.variables ? ['joint'] : [recipe.mechanism];
    }),
  );
  assert.deepEqual([...used].sort(), [...names].sort());

  const made = new Set(commands.map(({ file }) => file));
  const isInput = (/** @type {string} */ file) =>
    !file.includes('/') ||
    /^store\/|recipe\.json$|^policy\/policy\.json$|\/(events|counts)\.tsv$/.test(file);
  const isMade = (/** @type {string} */ file) =>
    made.has(file) || [...made].some((folder) => folder.endsWith('/') && file.startsWith(folder));
  assert.deepEqual(
    filesOf(before).filter((file) => !isInput(file) && !isMade(file)),
    [],
    'files that no test reads',
  );
});

test('files in blocks/ replace files of before', () => {
  const files = filesOf(join(here, 'blocks'));
  assert.ok(files.length >= 20);
  for (const file of files) {
    const [now, then] = [join(here, 'blocks'), before].map((at) => readFileSync(join(at, file)));
    assert.ok(!now.equals(then), `${file} did not change`);
  }
});

test('a store of before opens and answers the same', async (t) => {
  const folder = makeFolder(t);
  for (const part of ['store', 'cms', 'query', 'asked.txt'])
    cpSync(join(before, part), join(folder, part), { recursive: true });
  const server = await serve(t, join(folder, 'store/config.json'));
  for (const [path, file] of [
    ['/v1/results/cms', 'cms.json'],
    ['/v1/results/query', 'query.json'],
    ['/v1/sums/query', 'query.acc'],
  ]) {
    const response = await fetch(server.url + path);
    assert.equal(response.status, 200, path);
    const now = Buffer.from(await response.arrayBuffer());
    if (!file.endsWith('.json')) {
      same(sumsOf(now), sumsOf(readFileSync(join(before, 'store', file))), `sums of ${path}`);
      assert.equal(now.readUInt32LE(8), 3, 'it claims its blocks');
      continue;
    }
    // The store's one period is one block now, which closed today.
    const { blocks } = JSON.parse(now.toString());
    assert.deepEqual({ n: blocks.n, first: blocks.first }, { n: 1, first: '1970-01-01' });
    const rest = now.toString().replace(/"blocks":\{[^}]*\},/, '');
    sameAsFile(Buffer.from(rest), join('store', file), path);
  }
  const secret = readFileSync(join(folder, 'store/secret'), 'utf8').trim();
  const again = await fetch(`${server.url}/v1/batches`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/octet-stream' },
    body: readFileSync(join(before, 'cms/reports.batch')),
  });
  assert.equal((await again.json()).status, 'known', 'a batch of before is not counted twice');
  assert.match((await get(`${server.url}/recipes/cms`)).text, /herring/);
  await server.end('SIGTERM');
});

test('a store by period becomes blocks and loses nothing, also after a kill', async (t) => {
  const folder = makeFolder(t);
  cpSync(join(here, 'periods'), folder, { recursive: true });
  const file = (/** @type {string} */ name) => readFileSync(join(folder, name));
  const server = await serve(t, join(folder, 'config.json'));
  const metric = async (/** @type {string} */ name) =>
    Number(
      new RegExp(`^shoal_store_${name} (\\d+)$`, 'm').exec(
        (await get(`${server.url}/metrics`)).text,
      )?.[1],
    );
  // The day was over: it is a block, and says what it held. What waited is in the open block.
  const { status, text } = await get(`${server.url}/v1/results/reports`);
  assert.equal(status, 200, text);
  const day = { n: 1, first: '2026-11-20', last: '2026-11-20' };
  assert.deepEqual([JSON.parse(text).n, JSON.parse(text).blocks], [400, day]);
  const ofDay = await get(`${server.url}/v1/results/reports?period=2026-11-20`);
  assert.equal(JSON.parse(ofDay.text).n, 400);
  for (const end = Date.now() + 60_000; Date.now() < end;)
    if ((await metric('waiting_batches\\{recipe="reports"\\}')) === 0) break;
  assert.equal(await metric('records\\{recipe="reports"\\}'), 800);
  // No sum was released, so all of it is in the open block.
  assert.equal((await get(`${server.url}/v1/results/sums`)).status, 403);
  assert.equal(await metric('records\\{recipe="sums"\\}'), 800);
  for (const name of ['reports-first', 'reports-second', 'sums-first', 'sums-second']) {
    const again = await fetch(`${server.url}/v1/batches`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${file('secret').toString().trim()}`,
        'content-type': 'application/octet-stream',
      },
      body: file(`${name}.batch`),
    });
    assert.equal((await again.json()).status, 'known', name);
  }
  await server.end('SIGTERM');
});

test('a device of before goes on: its budget, its records and its secret', async () => {
  const device = JSON.parse(readFileSync(join(before, 'device.json'), 'utf8'));
  const storage = memoryStorage();
  await restore(storage, device.rows);
  // A second before the records are due, so that the client does not send them as it starts.
  const due = Date.parse(device.reports[0].at);
  let time = due - 1000;
  const { client, edge } = await makeClient({
    storage,
    recipes: DEVICE_RECIPES,
    now: () => time,
  });
  assert.equal(client.consent.state, 'granted');
  const balances = (await client.ledger()).filter(
    (each) => !('account' in each || 'total' in each),
  );
  assert.deepEqual(
    balances.map(({ verdict: _, ...rest }) => rest),
    device.ledger,
  );
  const told = (/** @type {any[]} */ reports) => reports.map(({ text: _, ...rest }) => rest);
  assert.deepEqual(told(await client.reports()), told(device.reports));

  // What was paid for stays paid.
  const refused = await client.record('typed-words', 'cod');
  assert.deepEqual(refused, [{ recipe: 'words', code: 'budget' }]);
  // What waits is sent as it was written, under its own key.
  time = due;
  await client.flush();
  const waiting = Object.entries(device.rows).filter(([path]) => path.startsWith('queue/'));
  assert.equal(waiting.length, 2);
  assert.deepEqual(
    edge.requests
      .map(({ init, body }) => [`queue/${init.headers['Idempotency-Key']}`, body])
      .sort(),
    waiting.map(([path, { report }]) => [path, report]).sort(),
  );
  // Permanent answers keep their secret.
  const [home] = await client.record('home', 'example.org');
  assert.equal(home.code, 'queued');
  assert.deepEqual((await dump(storage))['state/secret'], device.rows['state/secret']);
  client.close();
});
