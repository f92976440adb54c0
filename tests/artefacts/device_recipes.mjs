// SPDX-License-Identifier: Apache-2.0
// The recipes that the device of device.json answered, and its storage as JSON and back.
const seed = '00112233445566778899aabbccddeeff'.repeat(2);
export const NOON = 20800 * 86_400_000 + 43_200_000;
const common = {
  limit: { per_day: 1 },
  send: { fresh: 'allow', delay_s: 0 },
  expires: '2030-01-01',
};

/** A sketch, a list, and permanent answers, which need the device's secret. */
export const DEVICE_RECIPES = [
  {
    recipe: 'words',
    analysis: 'keyboard',
    stream: 'typed-words',
    value: 'word',
    mechanism: 'hcms',
    parameters: { epsilon: 4, k: 64, m: 64 },
    hash: 'poly1',
    seed,
    ...common,
  },
  {
    recipe: 'themes',
    analysis: 'settings',
    stream: 'theme',
    value: 'item',
    mechanism: 'onehot-asymmetric',
    parameters: { epsilon: 2, values: ['light', 'dark', 'auto'] },
    ...common,
  },
  {
    recipe: 'homes',
    analysis: 'habits',
    stream: 'home',
    value: 'item',
    mechanism: 'rappor',
    parameters: { bits: 16, hashes: 2, cohorts: 4, p: 0.25, q: 0.75, f: 0.5 },
    hash: 'poly1',
    seed,
    ...common,
    limit: { per_day: 2 },
  },
];

const STORES = ['state', 'queue', 'done'];

/** All that a storage holds; bytes become {hex}. @param {any} storage */
export async function dump(storage) {
  /** @type {Record<string, any>} */
  const rows = {};
  await storage.transaction(async (/** @type {any} */ tx) => {
    for (const store of STORES) {
      for (const [key, value] of await tx.entries(store)) rows[`${store}/${key}`] = packed(value);
    }
  });
  return rows;
}

/** Puts it all back. @param {any} storage @param {Record<string, any>} rows */
export async function restore(storage, rows) {
  await storage.transaction(async (/** @type {any} */ tx) => {
    for (const [path, value] of Object.entries(rows)) {
      const slash = path.indexOf('/');
      await tx.put(path.slice(0, slash), path.slice(slash + 1), unpacked(value));
    }
  });
}

/** @param {any} value */
const packed = (value) =>
  value instanceof Uint8Array ? { hex: Buffer.from(value).toString('hex') } : value;
/** @param {any} value */
const unpacked = (value) =>
  typeof value?.hex === 'string' ? new Uint8Array(Buffer.from(value.hex, 'hex')) : value;
