// SPDX-License-Identifier: Apache-2.0
// Verifies the Ed25519 signature of a recipe (RFC 8032) over its canonical bytes, by WebCrypto. It
// is a chunk of its own, loaded if a page names keys. aggregator/recipe/recipe_signature.h and
// docs/formats.md define what is signed.

/** @typedef {import('./device.js').Recipe} Recipe */

const TITLE = new TextEncoder().encode('shoal recipe signature 1\n');
const CANONICAL_MAX = 4096; // bytes, as in core/recipe/recipe.h

/** The bytes that are signed. @param {Recipe} recipe */
export function signedBytes(recipe) {
  const { module, handle } = /** @type {{module: import('./device.js').Module, handle: number}} */ (
    /** @type {any} */ (recipe)
  );
  module.reserve(CANONICAL_MAX);
  const canonical = module.take(0, module.length(module.x.recipe_canonical(handle, module.base)));
  const bytes = new Uint8Array(TITLE.length + canonical.length);
  bytes.set(TITLE);
  bytes.set(canonical, TITLE.length);
  return bytes;
}

/** @param {string} hex */
const fromHex = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));

/**
 * Is the recipe signed by one of the keys?
 * @param {Recipe} recipe as the core checked it
 * @param {unknown} keys list of Ed25519 public keys, 64 lower-case hex digits each; anything else
 *   has no key in it
 * @param {SubtleCrypto} [subtle]
 * @returns {Promise<null | 'no-signature' | 'unknown-key' | 'no-ed25519' | 'bad-signature'>} null
 *   where it is
 */
export async function verifySignature(recipe, keys, subtle = globalThis.crypto?.subtle) {
  const { signature } = recipe.json; // its form is right, or the core would have refused the recipe
  if (signature === undefined) return 'no-signature';
  const { key, ed25519 } = signature;
  if (!Array.isArray(keys) || !keys.includes(key)) return 'unknown-key';
  // Without a secure context there is no WebCrypto; browsers from before 2025 do not know Ed25519.
  const publicKey = await subtle
    ?.importKey('raw', fromHex(key), 'Ed25519', false, ['verify'])
    .catch(() => undefined);
  if (!publicKey) return 'no-ed25519';
  const isGood = await subtle.verify('Ed25519', publicKey, fromHex(ed25519), signedBytes(recipe));
  return isGood ? null : 'bad-signature';
}

/**
 * Keeps only the recipes that one of the keys signed.
 * @param {{core: import('./device.js').Core, recipes: Recipe[]}} ready the others are taken out of
 *   it, and released
 * @param {unknown} keys
 * @param {(code: string, recipe: string) => void} tell hears why each other one is refused
 */
export async function keepSigned(ready, keys, tell) {
  /** @type {Recipe[]} */
  const kept = [];
  for (const recipe of ready.recipes) {
    const code = await verifySignature(recipe, keys);
    if (!code) {
      kept.push(recipe);
      continue;
    }
    tell(code, recipe.id);
    ready.core.release(recipe);
  }
  ready.recipes = kept;
}
