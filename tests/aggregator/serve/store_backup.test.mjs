// SPDX-License-Identifier: Apache-2.0
// Backups of a server's store while it runs, and what comes back from them: closed blocks and ids, and never a report that
// was in an open block, so that no two answers of the lost and the restored store differ by a few reports.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import {
  configure,
  get,
  isLong,
  listRecipe,
  makeFolder,
  post,
  program,
  resultOf,
  run,
  serve,
  simulate,
} from './serve_helpers.mjs';

const KILLS = Number(process.env.SHOAL_KILLS ?? (isLong ? 300 : 12));
const COUNTS = 'light\t700\ndark\t300\n';
/** Blocks close at daily ticks: never while a test runs. */
const SLOW = { block: { tick_s: 86_400 } };

/** @param {string} folder */
const at = (folder, name = 'store') => join(folder, name);

/** @param {string} folder @param {string} name */
const backup = (folder, name) =>
  run('store', 'backup', '--store', at(folder), '-o', at(folder, name));

/** @param {string} folder @param {string} name @param {string[]} more */
const restore = (folder, name, ...more) =>
  run('store', 'restore', '--store', at(folder, 'restored'), ...more, at(folder, name));

/** The same server with the restored store. @param {string} folder */
function configureRestored(folder) {
  const json = JSON.parse(readFileSync(at(folder, 'config.json'), 'utf8'));
  writeFileSync(at(folder, 'restored.json'), JSON.stringify({ ...json, store: 'restored' }));
  return at(folder, 'restored.json');
}

/** @param {string} url @param {Buffer[]} batches */
async function putAll(url, batches) {
  for (const batch of batches) assert.equal((await post(url, batch)).status, 201);
}

/** The blocks that the last answer was made of, from the audit log. @param {string} folder */
function blocksAnswered(folder) {
  const lines = readFileSync(join(folder, 'audit/000001.jsonl'), 'utf8').trim().split('\n');
  return lines
    .map((line) => JSON.parse(line).blocks)
    .filter(Boolean)
    .at(-1);
}

for (const aggregation of [undefined, { protocol: 'sum' }]) {
  test(`a restored store answers from closed blocks alone${aggregation ? ', of sums too' : ''}`, async (t) => {
    const folder = makeFolder(t);
    const recipe = listRecipe('theme', aggregation ? { aggregation } : {});
    const config = configure(folder, [recipe]);
    const batches = simulate(at(folder, 'recipe-0.json'), COUNTS, 1000, 100);
    const server = await serve(t, config);
    await putAll(server.url, batches.slice(0, 3));
    await resultOf(`${server.url}/v1/results/theme`, 300);
    const done = backup(folder, 'one.backup');
    assert.equal(done.status, 0, done.stderr);
    assert.match(done.stdout, /^backed up .*: 1 recipes, [1-3] closed blocks, 300 records\n$/);
    assert.equal(statSync(at(folder, 'one.backup')).mode & 0o777, 0o600);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.includes('partial')),
      [],
    );
    // The store goes on, and answers from a later block; then it is lost.
    await putAll(server.url, batches.slice(3, 5));
    const lost = await resultOf(`${server.url}/v1/results/theme`, 500);
    assert.equal(lost.n, 500);
    const lostBlocks = blocksAnswered(at(folder));
    await server.end('SIGKILL');

    const nowhere = run(
      'store',
      'restore',
      '--store',
      at(folder, 'no/such'),
      at(folder, 'one.backup'),
    );
    assert.match(nowhere.stderr, /cannot be made: make the folder above it first/);
    const back = restore(folder, 'one.backup');
    assert.equal(back.status, 0, back.stderr);
    assert.match(back.stdout, /1 recipes, [1-3] closed blocks, 300 records\nno --audit-log/);
    assert.equal(statSync(at(folder, 'restored')).mode & 0o777, 0o700);
    assert.equal(statSync(at(folder, 'restored/shoal.db')).mode & 0o777, 0o600);
    const next = await serve(t, configureRestored(folder));
    assert.equal((await resultOf(`${next.url}/v1/results/theme`, 300)).n, 300);
    // What it had is known, what came after the backup is not.
    assert.equal((await post(next.url, batches[0])).status, 200);
    await putAll(next.url, batches.slice(5, 7));
    await resultOf(`${next.url}/v1/results/theme`, 500);
    // The new block has a number that the lost store never gave.
    const [, first, last] = /theme (\d+)-(\d+)/.exec(blocksAnswered(at(folder, 'restored'))) ?? [];
    assert.equal(first, '1');
    assert.ok(Number(last) >= 2 ** 20 && Number.isSafeInteger(Number(last)), last);
    assert.ok(!String(lostBlocks).includes(String(last)));
    assert.equal(await next.end('SIGTERM'), 0);
    assert.match(
      readFileSync(at(folder, 'restored/audit/000001.jsonl'), 'utf8'),
      /"store-restore"/,
    );
  });
}

test('an open block and waiting batches are in no backup, and in no restored block', async (t) => {
  const folder = makeFolder(t);
  const config = configure(folder, [listRecipe('theme', SLOW)]);
  const batches = simulate(at(folder, 'recipe-0.json'), COUNTS, 1000, 100);
  const server = await serve(t, config);
  await putAll(server.url, batches.slice(0, 4)); // they wait, and are folded into the open block
  const done = backup(folder, 'one.backup');
  assert.match(done.stdout, /1 recipes, 0 closed blocks, 0 records/);
  const bytes = readFileSync(at(folder, 'one.backup'));
  for (const batch of batches.slice(0, 4))
    assert.ok(!bytes.includes(batch.subarray(72, 72 + 64)), 'a record is in the backup');
  await server.end('SIGTERM');

  assert.equal(restore(folder, 'one.backup').status, 0);
  // From now on blocks close at once: what was in the open block must not come back with them.
  const recipe = JSON.parse(readFileSync(at(folder, 'recipe-0.json'), 'utf8'));
  assert.equal(recipe.block.tick_s, 86_400);
  const next = await serve(t, configureRestored(folder));
  for (const batch of batches.slice(0, 4)) assert.equal((await post(next.url, batch)).status, 200);
  assert.equal((await get(`${next.url}/v1/results/theme`)).status, 403);
  const metrics = (await get(`${next.url}/metrics`)).text;
  assert.match(metrics, /^shoal_store_records\{recipe="theme"\} 0$/m);
  assert.match(metrics, /^shoal_store_batches\{recipe="theme"\} 4$/m);
  assert.equal(await next.end('SIGTERM'), 0);
});

test('what was forgotten after the backup is forgotten again, as the audit log says', async (t) => {
  const folder = makeFolder(t);
  const config = configure(folder, [listRecipe('theme'), listRecipe('other')]);
  const [theme] = simulate(at(folder, 'recipe-0.json'), COUNTS, 300, 300);
  const [other] = simulate(at(folder, 'recipe-1.json'), COUNTS, 300, 300);
  const server = await serve(t, config);
  await putAll(server.url, [theme, other]);
  for (const id of ['theme', 'other']) await resultOf(`${server.url}/v1/results/${id}`, 300);
  assert.equal(backup(folder, 'one.backup').status, 0);
  await server.end('SIGTERM');
  assert.equal(run('store', 'forget', '--store', at(folder), 'theme').status, 0);

  const back = restore(folder, 'one.backup', '--audit-log', at(folder, 'store/audit'));
  assert.equal(back.status, 0, back.stderr);
  assert.match(
    back.stdout,
    /^forgot theme again: 300 records\nrestored .*1 closed blocks, 300 records\n$/,
  );
  const log = readFileSync(at(folder, 'store/audit/000001.jsonl'), 'utf8');
  assert.match(log.trim().split('\n').at(-1) ?? '', /"what":"store-restore"/);
  const next = await serve(t, configureRestored(folder));
  assert.equal((await get(`${next.url}/v1/results/theme`)).status, 403);
  assert.equal(JSON.parse((await get(`${next.url}/v1/results/other`)).text).n, 300);
  assert.equal((await post(next.url, theme)).status, 200, 'its ids stay');
  assert.equal(await next.end('SIGTERM'), 0);

  rmSync(at(folder, 'restored'), { recursive: true });
  writeFileSync(at(folder, 'store/audit/000001.jsonl'), log.replace('"theme"', '"thema"'));
  const broken = restore(folder, 'one.backup', '--audit-log', at(folder, 'store/audit'));
  assert.notEqual(broken.status, 0);
  assert.match(broken.stderr, /its hash does not fit/);
  assert.ok(!existsSync(at(folder, 'restored')) && !existsSync(at(folder, 'restored.restoring')));
});

test('it replaces nothing, and refuses what is damaged, cut off or newer', async (t) => {
  const folder = makeFolder(t);
  const config = configure(folder, [listRecipe('theme')]);
  const [batch] = simulate(at(folder, 'recipe-0.json'), COUNTS, 500, 500);
  const server = await serve(t, config);
  await putAll(server.url, [batch]);
  await resultOf(`${server.url}/v1/results/theme`, 500);
  await server.end('SIGTERM');
  assert.equal(backup(folder, 'one.backup').status, 0, 'a store without its server');

  /** @param {{status: number | null, stderr: string}} done @param {RegExp} why */
  const refused = (done, why) => {
    assert.ok(done.status !== 0 && done.status !== null, done.stderr);
    assert.match(done.stderr, why);
  };
  refused(backup(folder, 'one.backup'), /one\.backup: exists; a backup replaces nothing/);
  refused(backup(folder, 'no/where.backup'), /No such file/);
  refused(
    run('store', 'backup', '--store', at(folder, 'nothing'), '-o', at(folder, 'b')),
    /nothing\/shoal\.db/,
  );
  assert.ok(!existsSync(at(folder, 'nothing')), 'a backup makes no store');
  symlinkSync(at(folder, 'secret'), at(folder, 'link'));
  refused(backup(folder, 'link'), /exists/);

  mkdirSync(at(folder, 'restored'));
  writeFileSync(at(folder, 'restored/keep'), 'x');
  refused(restore(folder, 'one.backup'), /is not empty; a restore replaces nothing/);
  assert.equal(readFileSync(at(folder, 'restored/keep'), 'utf8'), 'x');
  rmSync(at(folder, 'restored'), { recursive: true });
  symlinkSync(at(folder), at(folder, 'restored'));
  refused(restore(folder, 'one.backup'), /is not empty|a folder that does not exist/);
  rmSync(at(folder, 'restored'));
  refused(restore(folder, 'config.json'), /this is no backup of a store/);
  refused(restore(folder, 'none'), /none: No such file/);

  const whole = readFileSync(at(folder, 'one.backup'));
  for (let i = 0; i < 60; i++) {
    const bytes = Buffer.from(whole);
    const place = (i * 7919 + 16) % bytes.length;
    if (i % 2 === 0) bytes[place] ^= 1 << (i % 8);
    writeFileSync(at(folder, 'bad'), i % 2 === 0 ? bytes : bytes.subarray(0, place));
    refused(restore(folder, 'bad'), /checksum is wrong|cut off|no backup of a store/);
    assert.ok(!existsSync(at(folder, 'restored')));
  }
  const newer = Buffer.from(whole);
  newer[7] += 1;
  writeFileSync(at(folder, 'newer'), newer);
  refused(restore(folder, 'newer'), /a newer shoal wrote this backup/);

  // A store of a newer release: its version is in the header of the database, at byte 60.
  cpSync(at(folder), at(folder, 'future'), { recursive: true });
  const database = readFileSync(at(folder, 'future/shoal.db'));
  database.writeUInt32BE(99, 60);
  writeFileSync(at(folder, 'future/shoal.db'), database);
  refused(
    run('store', 'backup', '--store', at(folder, 'future'), '-o', at(folder, 'f')),
    /newer shoal/,
  );
  assert.deepEqual(readFileSync(at(folder, 'future/shoal.db')), database);

  // A damaged accumulator is named, and nothing is backed up.
  const [file] = readdirSync(at(folder, 'store/accumulators'));
  const bytes = readFileSync(at(folder, `store/accumulators/${file}`));
  bytes[bytes.length - 20] ^= 1;
  writeFileSync(at(folder, `store/accumulators/${file}`), bytes);
  refused(backup(folder, 'two.backup'), new RegExp(`accumulators/${file} is damaged`));
  assert.ok(!existsSync(at(folder, 'two.backup')));
  if (process.getuid?.() !== 0) {
    chmodSync(at(folder, 'store/shoal.db'), 0);
    refused(backup(folder, 'two.backup'), /Permission denied/);
  }
});

/** Starts the program and kills it after a while. @param {number} ms @param {string[]} args */
async function killed(ms, ...args) {
  const child = spawn(program, args, { stdio: 'ignore' });
  const exit = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), ms);
  const [code] = await exit;
  clearTimeout(timer);
  return code === 0;
}

test(`killed ${KILLS} times, a backup or a restore is there whole or not at all`, async (t) => {
  const folder = makeFolder(t);
  const config = configure(folder, [listRecipe('theme')]);
  const batches = simulate(at(folder, 'recipe-0.json'), COUNTS, 4000, 100);
  const server = await serve(t, config);
  let sent = 0;
  let whole = 0;
  for (let i = 0; i < KILLS; i++) {
    if (sent < batches.length) await putAll(server.url, [batches[sent++]]);
    const path = at(folder, `${i}.backup`);
    const ended = await killed(i % 12, 'store', 'backup', '--store', at(folder), '-o', path);
    assert.ok(!ended || existsSync(path));
    if (!existsSync(path)) {
      const again = run('store', 'backup', '--store', at(folder), '-o', path);
      assert.equal(again.status, 0, again.stderr); // what the kill left is no hindrance
    } else whole++;
    const to = at(folder, 'restored');
    await killed((i * 5) % 17, 'store', 'restore', '--store', to, path);
    if (!existsSync(to)) assert.equal(run('store', 'restore', '--store', to, path).status, 0);
    else whole++;
    const checked = run('serve', '--config', configureRestored(folder), '--check');
    assert.equal(checked.status, 0, checked.stderr);
    rmSync(to, { recursive: true });
  }
  await putAll(server.url, batches.slice(sent));
  assert.equal(
    (await resultOf(`${server.url}/v1/results/theme`, 4000)).n,
    4000,
    'and the server goes on',
  );
  assert.equal(await server.end('SIGTERM'), 0);
  t.diagnostic(`${whole} of ${2 * KILLS} were done before the kill`);
});
