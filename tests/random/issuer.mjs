// SPDX-License-Identifier: Apache-2.0
// The issuer under random bundles in random order: an account gets one bundle a day, its repeat the
// same answer, and never a signature of what is no message of that day's keys.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { TOKENS_MAX } from '../../issuer/token_bundle.js';
import { handle } from '../../issuer/handler.js';
import { sha256, spkiOf, toHex } from '../../issuer/signing_keys.js';
import { bytes, changedBytes } from './inputs.mjs';

const DAY = 21_550;
const NOON = DAY * 86_400_000 + 43_200_000;
const RECIPES = ['11', '22', '33'].map((digits) => digits.repeat(32));
const PER_DAY = 2;
const ORIGIN = 'https://site.example';

/** Keys whose signatures are told from others: 256 bytes of the message's first byte. */
async function signersOfTests() {
  /** @type {Uint8Array[]} */
  const signed = [];
  const signers = [];
  for (const [i, recipe] of RECIPES.entries())
    for (const day of [DAY, DAY + 1]) {
      const modulus = Buffer.alloc(256, 200 + i);
      modulus[255] = 201;
      const spki = spkiOf(modulus);
      signers.push({
        ...{ recipe, day, perDay: PER_DAY, spki, id: await sha256(spki) },
        sign: (/** @type {Uint8Array} */ message) => {
          signed.push(message);
          assert.ok(Buffer.compare(message, modulus) < 0, 'only below the modulus');
          return new Uint8Array(256).fill(message[0]);
        },
      });
    }
  return { signers, signed };
}

/** @param {any[]} signers @param {{day: number, counts: number[], first: number}} wish */
function bundleOf(signers, { day, counts, first }) {
  const parts = RECIPES.flatMap((recipe, i) => {
    const signer = signers.find((each) => each.recipe === recipe && each.day === day);
    const id = signer?.id ?? Buffer.alloc(32, 7);
    if (!counts[i]) return [];
    const message = Buffer.alloc(256, first);
    const each = Buffer.concat([Buffer.of(0, 2, id[31]), message]);
    const head = Buffer.concat([Buffer.from(recipe, 'hex'), Buffer.of(0, counts[i])]);
    return [Buffer.concat([head, ...Array(counts[i]).fill(each)])];
  });
  const head = Buffer.alloc(7);
  head[0] = 1;
  head.writeUInt32BE(day, 1);
  head.writeUInt16BE(parts.length, 5);
  return Buffer.concat([head, ...parts]);
}

/** How many tokens each account has of each day and recipe. @param {Map<string, Set<string>>} held */
function checkHeld(held) {
  for (const [name, digests] of held) assert.ok(digests.size <= 1, `two bundles for ${name}`);
}

/** @type {import('./run.mjs').Property} */
const issuer = {
  name: 'issuer',
  wanted: 1e6,
  async make() {
    const { signers, signed } = await signersOfTests();
    const wish = fc
      .record({
        day: fc.constantFrom(DAY - 1, DAY, DAY, DAY, DAY + 1, DAY + 2),
        counts: fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3)),
        first: fc.constantFrom(0, 1, 199, 200, 201, 255),
      })
      .map((wish) => bundleOf(signers, wish));
    const good = bundleOf(signers, { day: DAY, counts: [2, 2, 2], first: 1 });
    const body = fc.oneof(wish, fc.constant(good), changedBytes(good), bytes(600));
    const request = fc.record({
      body,
      account: fc.constantFrom('ann', 'ben', '', null, 7),
      isReal: fc.constantFrom(true, true, true, false, 'yes'),
      origin: fc.constantFrom(ORIGIN, ORIGIN, null, 'https://other.example'),
    });
    const requests = fc.array(request, { minLength: 1, maxLength: 8 });
    return fc.asyncProperty(requests, async (requests) => {
      /** @type {Map<string, string>} */
      const counted = new Map();
      /** @type {Map<string, Set<string>>} */
      const held = new Map();
      const count = async (
        /** @type {string} */ account,
        /** @type {number} */ day,
        /** @type {Uint8Array} */ digest,
      ) => {
        const [name, hex] = [`${account} ${day}`, toHex(digest)];
        const before = counted.get(name);
        if (before === undefined) counted.set(name, hex);
        if (before === undefined) return /** @type {const} */ ('new');
        return before === hex ? /** @type {const} */ ('known') : /** @type {const} */ ('other');
      };
      for (const { body, account, isReal, origin } of requests) {
        signed.length = 0;
        const deps = {
          base: 'https://issuer.example/tokens',
          origins: [ORIGIN],
          signers,
          account: () => /** @type {any} */ (account === null ? null : { id: account, isReal }),
          count,
          now: () => NOON,
        };
        const headers = origin === null ? new Headers() : new Headers({ Origin: origin });
        const url = 'https://issuer.example/tokens/token-request';
        const said = await handle(
          new Request(url, { method: 'POST', headers, body: new Uint8Array(body) }),
          deps,
        );
        const answer = Buffer.from(await said.arrayBuffer());
        if (said.status !== 200) {
          const { code } = JSON.parse(answer.toString()).error;
          assert.notEqual(code, 'internal');
          assert.equal(signed.length, 0, `${code}: and yet something was signed`);
          continue;
        }
        assert.ok(origin !== 'https://other.example' && isReal === true);
        assert.ok(account === 'ann' || account === 'ben');
        const day = body.readUInt32BE(1);
        assert.ok(day === DAY || day === DAY + 1);
        assert.ok(signed.length > 0 && signed.length <= Math.min(TOKENS_MAX, 3 * PER_DAY));
        const wanted = Buffer.concat(signed.map((message) => Buffer.alloc(256, message[0])));
        assert.deepEqual(answer, wanted, 'a signature for each message, in order');
        const name = `${account} ${day}`;
        held.set(name, (held.get(name) ?? new Set()).add(toHex(await sha256(body))));
      }
      checkHeld(held);
      return true;
    });
  },
};

export const issuerProperties = [issuer];
