// SPDX-License-Identifier: Apache-2.0
// No two source files of the core or the aggregator need each other, directly or by way of others.
// Includes cannot show that (a private header hides it), so the test asks the objects of the native
// build which symbols each defines and wants. Two kinds of arrow are left out: from a table that
// is made of mechanisms.def or compounds.def to the descriptors it lists, and from a loop's
// portable file to its variants for instruction sets, which fall back to the portable one.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { cyclesOf, root } from '../../scripts/rooms.mjs';

const build = process.env.SHOAL_BUILD ?? join(root, 'build/release');
const stems = ['core/mechanism/mechanisms.def', 'core/compound/compounds.def'].flatMap((file) =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/^SHOAL_\w+\(\d+, (\w+),/gm)].map(
    ([, stem]) => stem,
  ),
);

/** @typedef {{ file: string, defines: string[], wants: string[] }} Unit */

/** The symbols of each object of the products. @returns {Unit[]} */
function readUnits() {
  return ['core', 'aggregator'].flatMap((part) => {
    const folder = join(build, part, 'CMakeFiles');
    const objects = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.c.o'),
    );
    return objects.map((name) => {
      const symbols = execFileSync('nm', ['-P', '-g', join(folder, name)], {
        encoding: 'utf8',
      }).split('\n');
      const of = (/** @type {RegExp} */ kind) =>
        symbols
          .map((line) => line.split(' '))
          .filter(([, type]) => type && kind.test(type))
          .map(([symbol]) => symbol);
      return {
        file: `${part}/${name.replace(/^[^/]*\.dir\//, '').replace(/\.o$/, '')}`,
        defines: of(/[^UvwN]/),
        wants: of(/U/),
      };
    });
  });
}

/** @param {string} symbol @param {string} target the file that defines it */
const isDescriptor = (symbol, target) =>
  stems.some(
    (stem) =>
      new RegExp(`^(shoal|agg)_${stem}_[a-z]+$`).test(symbol) && basename(target).startsWith(stem),
  );

/** @param {string} file @param {string} target */
const isVariant = (file, target) =>
  new RegExp(`^${basename(file, '.c')}_(v128|avx2|avx512|avx512_16)\\.c$`).test(basename(target));

/** Which file needs which. @param {Unit[]} units */
function needs(units) {
  const home = new Map(
    units.flatMap(({ file, defines }) => defines.map((symbol) => [symbol, file])),
  );
  return new Map(
    units.map(({ file, wants }) => {
      const targets = wants
        .map((symbol) => ({ symbol, target: home.get(symbol) }))
        .filter(
          ({ symbol, target }) =>
            target !== undefined &&
            target !== file &&
            !isVariant(file, target) &&
            !isDescriptor(symbol, target),
        );
      return [file, new Set(targets.map(({ target }) => /** @type {string} */ (target)))];
    }),
  );
}

const units = readUnits();

test('no source files need each other', () => {
  assert.ok(
    units.length > 200,
    `${units.length} objects in ${build}: build the native preset first`,
  );
  assert.deepEqual(cyclesOf(needs(units)), []);
});

test('a planted need is seen', () => {
  const lower = units.find(({ file }) => file === 'core/base/field_text.c');
  assert.ok(lower);
  // A file that needs it, and that it is made to need: by a symbol that is no descriptor.
  const symbolOf = (/** @type {Unit} */ { file, defines }) =>
    defines.find((symbol) => !isDescriptor(symbol, file));
  const user = units.find(
    (unit) => unit.wants.some((symbol) => lower.defines.includes(symbol)) && symbolOf(unit),
  );
  assert.ok(user);
  const planted = units.map((unit) =>
    unit === lower ? { ...unit, wants: [...unit.wants, String(symbolOf(user))] } : unit,
  );
  const [cycle] = cyclesOf(needs(planted));
  assert.ok(cycle.includes(lower.file) && cycle.includes(user.file), String(cycle));
});
