// SPDX-License-Identifier: Apache-2.0
// The text rule in C and in JavaScript gives the same bytes: for every character of Unicode that C knows, alone and in the
// contexts that change its case, and for random strings of the characters that have rules. Applying it twice changes nothing.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { applyTextRule } from '../../../wasm/bindings/text.js';
import { sketch } from '../cli/cli_helpers.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
const pipe = process.env.SHOAL_TEXT_RULE_PIPE ?? join(root, 'build/release/tests/text_rule_pipe');
const skip = !existsSync(pipe) && `${pipe} is not built`;

const folder = mkdtempSync(join(tmpdir(), 'shoal-text-rule-'));
after(() => rmSync(folder, { recursive: true }));

/** Writes a recipe with that rule. @param {object} rule @returns {string} its path */
function recipeOf(rule) {
  const path = join(folder, 'recipe.json');
  writeFileSync(path, JSON.stringify(sketch({ text: { ...rule, max: 64 } })));
  return path;
}

/** @param {string[]} args @param {string} [input] */
function answers(args, input = '') {
  const { stdout, status } = spawnSync(pipe, args, { input, maxBuffer: 1 << 30 });
  assert.equal(status, 0);
  return stdout.toString().trim().split('\n');
}

/** @param {{form: string, case: string, locale?: string}} rule @param {string[]} texts */
function inC(rule, texts) {
  const hex = texts.map((text) => Buffer.from(text).toString('hex')).join('\n') + '\n';
  return answers([recipeOf(rule)], hex).map((line) =>
    line === '-' ? null : line === 'not kept' ? line : Buffer.from(line, 'hex').toString(),
  );
}

/** @param {string | null} text */
const points = (text) =>
  text === null ? 'refused' : [...text].map((c) => c.codePointAt(0)?.toString(16)).join(' ');

/** @param {{form: string, case: string, locale?: string}} rule @param {string[]} texts */
function same(rule, texts) {
  const whole = { ...rule, min: 1, max: 64 };
  const c = inC(rule, texts);
  assert.equal(c.length, texts.length);
  const wrong = texts.flatMap((text, i) => {
    const js = applyTextRule(text, whole);
    if (js !== c[i]) return [`${points(text)}: JavaScript ${points(js)}, C ${points(c[i])}`];
    if (!rule.locale && rule.case === 'lower') return []; // the result is not normalized again
    return js === null || applyTextRule(js, whole) === js ? [] : [`${points(text)}: not stable`];
  });
  assert.deepEqual(wrong.slice(0, 20), [], `${wrong.length} under ${JSON.stringify(rule)}`);
}

/** @type {{form: string, case: string, locale?: string}[]} */
const RULES = [
  { form: 'NFC', case: 'keep' },
  { form: 'NFC', case: 'lower' },
  { form: 'none', case: 'lower' },
  ...['de', 'el', 'tr', 'tur', 'az', 'aze', 'lt', 'lit'].map((locale) => ({
    form: 'NFC',
    case: 'lower',
    locale,
  })),
  ...['de', 'tr', 'lt'].map((locale) => ({ form: 'none', case: 'lower', locale })),
  { form: 'NFC', case: 'fold' },
  { form: 'none', case: 'fold' },
];

/** The characters that C knows. */
function assigned() {
  return answers(['assigned']).flatMap((line) => {
    const [first, last] = line.split(' ').map((digits) => parseInt(digits, 16));
    return Array.from({ length: last - first + 1 }, (_, i) => String.fromCodePoint(first + i));
  });
}

// Characters whose general category changed after Unicode 15, which utf8proc 2.8 has. Both only matter beside a capital sigma.
const CHANGED = ['\u0295', '\u{1171e}'];

test('every character alone, decomposed, and where its case depends on others', { skip }, () => {
  const known = assigned();
  assert.ok(known.length > 280_000, 'all of Unicode 15');
  // Ideographs, syllables and private characters have no case and are no marks: one in sixteen of
  // them, unless there is time.
  const isCaseless = /[\p{Script=Han}\p{Script=Hangul}\p{Co}]/u;
  const all = known.filter((c, i) => process.env.SHOAL_LONG || i % 16 === 0 || !isCaseless.test(c));
  const decomposed = all.map((c) => c.normalize('NFD')).filter((c, i) => c !== all[i]);
  const some = all.filter((c) => !isCaseless.test(c));
  const beside = some.filter((c) => !CHANGED.includes(c));
  for (const rule of RULES.filter(({ locale = 'de' }) => /^(de|tr|lt)$/.test(locale))) {
    same(rule, [...all, ...decomposed]);
    if (rule.form === 'none' || rule.case !== 'lower') continue;
    // A final sigma behind a letter and this character, and before it.
    same(rule, [...beside.map((c) => `Α${c}Σ`), ...beside.map((c) => `ΑΣ${c}Α`)]);
    // Whether the character parts an I from its dot, and whether it follows the dot.
    same(rule, [...some.map((c) => `I${c}\u0307`), ...some.map((c) => `i\u0307${c}`)]);
  }
});

test('random strings of the characters that have rules', { skip }, () => {
  let state = 1;
  const random = (/** @type {number} */ n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const special = [
    ...'IıİiJjĮįÌÍĨìíĩΣσςΑαΆẞßſŉǰΐΰﬀﬁﬃᾳᾼῼKÅΩµ.\u0027:·\u2019',
    ...'\u0300\u0301\u0303\u0307\u0308\u0323\u0327\u0328\u0345\u00ad\u200d\u0342',
    ...'AẠỆệÀéÉ한\u1100\u1161\u11a8क\u093cक़Ꮳꭳᏸ\u{10400}\u{10428}ʰªⅣⓐ\u{1f130} 1',
  ];
  const texts = Array.from({ length: 20_000 }, () =>
    Array.from({ length: 1 + random(10) }, () => special[random(special.length)]).join(''),
  );
  for (const rule of RULES) same(rule, texts);
});

test('lists as typed become what people of the language write', { skip }, () => {
  const cases = [
    ['tr', 'İYİ IŞIK ISPANAK İğne I\u0307yi', 'iyi ışık ıspanak iğne iyi'],
    ['az', 'İSTİ QIZIL', 'isti qızıl'],
    ['de', 'STRASSE Straße STRAẞE İyi', 'strasse straße straße iyi'],
    ['el', 'ΟΔΟΣ ΣΟΦΟΣ ΆΝΘΡΩΠΟΣ', 'οδος σοφος άνθρωπος'],
    ['vi', 'TIẾNG Việt', 'tiếng việt'],
    ['hi', 'हिन्दी क\u093cलम', 'हिन्दी क\u093cलम'],
    ['lt', 'ĮĖJIMAS Ì İ', 'įėjimas i\u0307\u0300 i'],
  ];
  for (const [locale, typed, written] of cases) {
    const rule = { form: 'NFC', case: 'lower', locale };
    for (const form of ['NFC', 'NFD'])
      assert.deepEqual(inC(rule, [typed.normalize(form)]), [written], locale);
    same(rule, [typed, typed.normalize('NFD')]);
  }
  /** @type {{form: string, case: string, locale?: string}} */
  const fold = { form: 'NFC', case: 'fold' };
  assert.deepEqual(inC(fold, ['Straße STRASSE', 'ΟΔΟΣ οδος', 'ﬃ', 'ı']), [
    'strasse strasse',
    'οδοσ οδοσ',
    'ffi',
    'ı',
  ]);
});

test('what is no text, or too short or too long, is refused by both', { skip }, () => {
  for (const rule of RULES) {
    assert.deepEqual(inC(rule, ['a'.repeat(64), 'a'.repeat(65), 'é'.repeat(64)]), [
      'a'.repeat(64),
      null,
      'é'.repeat(64),
    ]);
    assert.deepEqual(answers([recipeOf(rule)], 'ff\nc3\neda080\n\n'), ['-', '-', '-', '-']);
  }
  const rule = { form: 'NFC', case: 'lower', locale: 'de', min: 1, max: 64 };
  for (const text of ['\ud800', 'a\udc00', '', 'a'.repeat(65)])
    assert.equal(applyTextRule(text, rule), null);
});
