// SPDX-License-Identifier: Apache-2.0
// Token buckets by address: the rate that they allow, what they forget, and what they take of memory.

import assert from 'node:assert/strict';
import { createHmac, randomBytes, randomInt } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Buckets, networkOf } from '../buckets.js';

/** @param {{perMinute?: number, burst?: number}} [rate] */
function setUp({ perMinute = 60, burst = 5 } = {}, addresses = 1000) {
  const world = { now: 1_000_000, salts: [] };
  world.buckets = new Buckets({ perMinute, burst }, addresses, {
    now: () => world.now,
    getRandomValues: (bytes) => (
      world.salts.push(bytes),
      bytes.set(randomBytes(bytes.length)),
      bytes
    ),
    hmac: (key, text) => createHmac('sha256', key).update(text).digest(),
  });
  return world;
}

test('a burst, then the rate, and a full bucket after a silence', async () => {
  const w = setUp();
  const taken = [];
  for (let i = 0; i < 7; i++) taken.push(await w.buckets.take('192.0.2.1'));
  assert.deepEqual(taken, [0, 0, 0, 0, 0, 1, 1]);
  w.now += 1000;
  assert.deepEqual([await w.buckets.take('192.0.2.1'), await w.buckets.take('192.0.2.1')], [0, 1]);
  w.now += 60_000;
  const again = [];
  for (let i = 0; i < 6; i++) again.push(await w.buckets.take('192.0.2.1'));
  assert.deepEqual(again, [0, 0, 0, 0, 0, 1], 'no more than the burst was saved up');
});

test('in any order of senders and times no address gets more than burst and rate allow, and none that keeps to them waits', async () => {
  for (const seed of [1, randomInt(2 ** 31)]) {
    let state = seed;
    const draw = (n) => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) % n;
    const w = setUp({ perMinute: 60, burst: 4 });
    /** @type {Map<string, number[]>} */
    const admitted = new Map();
    for (let i = 0; i < 1500 && w.now < 1_000_000 + 119_000; i++) {
      w.now += draw(150);
      const address = `192.0.2.${draw(6)}`;
      const times = admitted.get(address) ?? [];
      admitted.set(address, times);
      // The tokens that a bucket of the definition holds.
      let tokens = 4;
      let at = 1_000_000;
      for (const time of times) {
        tokens = Math.min(4, tokens + (time - at) / 1000) - 1;
        at = time;
      }
      tokens = Math.min(4, tokens + (w.now - at) / 1000);
      const wait = await w.buckets.take(address);
      assert.equal(wait === 0, tokens >= 1 - 1e-9, `seed ${seed}, step ${i}: ${tokens}`);
      if (wait === 0) times.push(w.now);
      else assert.equal(wait, Math.ceil(1 - tokens - 1e-9));
    }
  }
});

test('salt and buckets are gone after two minutes, also when nobody comes', async () => {
  const w = setUp({ burst: 1 });
  await w.buckets.take('192.0.2.1');
  assert.equal(await w.buckets.take('192.0.2.1'), 1);
  assert.equal(w.buckets.size, 1);
  w.now += 119_999;
  w.buckets.forget();
  assert.equal(w.buckets.size, 1);
  w.now += 1;
  w.buckets.forget();
  assert.equal(w.buckets.size, 0);
  assert.equal(w.salts.length, 2);
  assert.notDeepEqual(w.salts[0], w.salts[1]);
});

test('there are never more buckets than announced, and one too many refuses nobody', async () => {
  const w = setUp({ burst: 1 }, 100);
  for (let i = 0; i < 5000; i++) {
    assert.equal(await w.buckets.take(`10.0.${i >> 8}.${i & 255}`), 0);
    assert.ok(w.buckets.size <= 100);
  }
  assert.equal(await w.buckets.take('10.0.19.135'), 1, 'the last ones are known');
});

test('a network in one spelling', () => {
  for (const [address, network] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:DB8:0:0:1:2:3:4', '2001:db8:0:0::/64'],
    ['2001:0db8:0000:0000::', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['1::', '1:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['1:2:3:4:5:6:192.0.2.1', '1:2:3:4::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['unknown', 'unknown'],
    ['', ''],
  ])
    assert.equal(networkOf(address), network, address);
  assert.equal(networkOf('x'.repeat(1000)).length, 64);
});

test('any text has a network, and addresses of one /64 have the same', () => {
  for (let i = 0; i < 20_000; i++) {
    const text = randomBytes(randomInt(40)).toString('latin1');
    assert.ok(networkOf(text).length <= 64);
    const noise = [...':0123456789abcdef.%'];
    const like = Array.from({ length: randomInt(30) }, () => noise[randomInt(noise.length)]);
    assert.equal(typeof networkOf(like.join('')), 'string');
    const words = Array.from({ length: 8 }, () => randomInt(65_536).toString(16));
    const other = [
      ...words.slice(0, 4),
      ...words.slice(4).map(() => randomInt(65_536).toString(16)),
    ];
    assert.equal(networkOf(words.join(':')), networkOf(other.join(':').toUpperCase()));
    const first = randomInt(4);
    other[first] = ((parseInt(other[first], 16) + 1) % 65_536).toString(16);
    assert.notEqual(networkOf(words.join(':')), networkOf(other.join(':')));
  }
});

test('a bucket takes no more memory than announced', () => {
  const script = `
    const { createHmac } = await import('node:crypto');
    const { Buckets, BUCKET_BYTES } = await import(${JSON.stringify(new URL('../buckets.js', import.meta.url).href)});
    const n = 65_536;
    const deps = { now: () => 1, getRandomValues: (b) => crypto.getRandomValues(b), hmac: (k, s) => createHmac('sha256', k).update(s).digest() };
    const buckets = new Buckets({ perMinute: 60, burst: 5 }, n, deps);
    const used = () => (gc(), gc(), process.memoryUsage().heapUsed);
    const before = used();
    for (let i = 0; i < n + 9; i++) await buckets.take('2001:db8:' + (i >> 8).toString(16) + ':' + (i & 255).toString(16) + '::1');
    console.log(JSON.stringify([buckets.size, (used() - before) / n, BUCKET_BYTES]));`;
  const args = ['--expose-gc', '--input-type=module', '--eval', script];
  const said = execFileSync(process.execPath, args, {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
  });
  const [size, each, announced] = JSON.parse(said.toString());
  assert.equal(size, 65_536);
  assert.ok(each > 16 && each <= announced, `${each} bytes each`);
});
