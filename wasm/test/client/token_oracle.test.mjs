// SPDX-License-Identifier: Apache-2.0
// Blind signatures against RFC 9578's vectors, and against another implementation in every role: client, issuer, verifier.
import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { TOKEN_TYPES, Token, TokenChallenge, publicVerif } from '@cloudflare/privacypass-ts';
import { importKey, isSigned } from '../../../edge/tokens.js';
import { openKeyInNode } from '../../../issuer/rsa_node.js';
import { blinded, unblinded } from '../../client/blind_rsa.js';
import {
  SPKI_SIZE,
  challengeDigest,
  digest,
  fromHex,
  modulusOf,
  toHex,
} from '../../bindings/token_format.js';
import { DAY } from '../fixtures.mjs';
import { ISSUER, hashOf, signersFor, tokenNetwork, tokenRecipe } from '../token_fixtures.mjs';
import { browserOf } from '../window_fixtures.mjs';

const { vectors } = JSON.parse(
  readFileSync(new URL('../token_vectors.json', import.meta.url), 'utf8'),
);

test("RFC 9578's vectors: request, issuance, token and redemption, byte for byte", async () => {
  assert.equal(vectors.length, 5);
  for (const v of vectors) {
    const spki = fromHex(v.pkS);
    assert.equal(spki.length, SPKI_SIZE);
    const modulus = modulusOf(spki);
    const [token, salt, blind] = [v.token, v.salt, v.blind].map(fromHex);
    const input = token.subarray(0, 98);
    assert.equal(toHex(input.subarray(34, 66)), toHex(await digest(fromHex(v.token_challenge))));
    assert.equal(toHex(input.subarray(66)), toHex(await digest(spki)));
    const message = await blinded(modulus, input, salt, blind);
    assert.equal(
      `0002${toHex(input.subarray(97))}${toHex(message ?? new Uint8Array(0))}`,
      v.token_request,
    );
    const pem = Buffer.from(v.skS, 'hex').toString();
    const sign = await openKeyInNode(
      createPrivateKey(pem).export({ format: 'der', type: 'pkcs8' }),
    );
    assert.equal(toHex(await sign(fromHex(v.token_request.slice(6)))), v.token_response);
    const signature = fromHex(v.token_response);
    const signed = await unblinded(modulus, input, salt, blind, signature);
    assert.equal(toHex(signed ?? new Uint8Array(0)), v.token.slice(196));
    const key = await importKey(modulus);
    assert.ok(await isSigned(key, token));
    for (const bad of [0, 97, 98, 353]) {
      const other = token.slice();
      other[bad] ^= 1;
      assert.ok(!(await isSigned(key, other)), `byte ${bad}`);
    }
    signature[255] ^= 1;
    assert.equal(await unblinded(modulus, input, salt, blind, signature), null);
    assert.equal(
      await blinded(modulus, input, salt, new Uint8Array(256).fill(255)),
      null,
      'a blind above the modulus is drawn anew',
    );
  }
});

/** The challenge as the other implementation has it. @param {string} hash */
async function theirChallenge(hash) {
  const text = new TextEncoder().encode(`shoal token 1\n${hash}\n${DAY}`);
  return new TokenChallenge(TOKEN_TYPES.BLIND_RSA.value, 'issuer.example', await digest(text), []);
}

test('another implementation as client and verifier, with our issuer and edge', async () => {
  const json = tokenRecipe();
  const [signer] = await signersFor([json], [DAY]);
  const hash = await hashOf(json);
  const challenge = await theirChallenge(hash);
  assert.equal(
    toHex(await digest(challenge.serialize())),
    toHex(await challengeDigest(ISSUER, hash, DAY)),
  );
  const client = new publicVerif.Client(publicVerif.BlindRSAMode.PSS);
  const request = await client.createTokenRequest(challenge, signer.spki);
  assert.equal(request.truncatedTokenKeyId, signer.id[31]);
  const answer = new publicVerif.TokenResponse(await signer.sign(request.blindedMsg));
  const token = (await client.finalize(answer)).serialize();
  assert.ok(await isSigned(await importKey(modulusOf(signer.spki)), token));
});

test('our client, with another implementation as issuer and verifier', async () => {
  const json = tokenRecipe();
  const keys = await publicVerif.Issuer.generateKey(publicVerif.BlindRSAMode.PSS, {
    modulusLength: 2048,
    publicExponent: Uint8Array.of(1, 0, 1),
  });
  const issuer = new publicVerif.Issuer(
    publicVerif.BlindRSAMode.PSS,
    'issuer.example',
    keys.privateKey,
    keys.publicKey,
  );
  const spki = await publicVerif.getPublicKeyBytes(keys.publicKey);
  assert.equal(spki.length, SPKI_SIZE);
  const hash = await hashOf(json);
  const id = await digest(spki);
  const theirs = {
    recipe: hash,
    day: DAY,
    perDay: 1,
    spki,
    id,
    sign: async (/** @type {Uint8Array} */ message) =>
      (await issuer.issue(new publicVerif.TokenRequest(id[31], message, TOKEN_TYPES.BLIND_RSA)))
        .blindSig,
  };
  const { fetch, keyList, issuer: site, edge } = await tokenNetwork([json], () => DAY * 86_400_000);
  site.signers = [theirs];
  const { tab } = browserOf({ recipes: [json], fetch, keyList });
  const { client, grant } = await tab({ fetch });
  await grant();
  for (let i = 0; i < 200 && edge.requests.length === 0; i++) {
    await client.record('typed-words', 'cod');
    await client.flush();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const [, text] = /token="(.*)"/.exec(edge.requests[0].init.headers.Authorization) ?? [];
  const token = Token.deserialize(
    TOKEN_TYPES.BLIND_RSA,
    Uint8Array.from(Buffer.from(text ?? '', 'base64url')),
  );
  assert.ok(await issuer.verify(token));
  assert.equal(
    toHex(token.authInput.challengeDigest),
    toHex(await digest((await theirChallenge(hash)).serialize())),
  );
});
