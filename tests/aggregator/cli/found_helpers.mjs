// SPDX-License-Identifier: Apache-2.0
// What the tests of found words in pages share: recipes, and how a page's tables are read.

/** A recipe of short strings in small sketches, without any doubt about what is frequent. @param {object} [more] */
export const typed = (more) => ({
  recipe: 'words',
  analysis: 'keyboard',
  stream: 'typed-words',
  value: 'word',
  mechanism: 'sfp',
  parameters: {
    ...{ epsilon: 6, epsilon_fragment: 6, k: 1024, m: 256, k_fragment: 1024, m_fragment: 256 },
    ...{ length: 4, oracle: 'olh' },
  },
  hash: 'poly1',
  seed: '0123456789abcdef'.repeat(4),
  limit: { per_day: 2 },
  expires: '2099-12-31',
  ...more,
});

/** The first round of a trie over three letters, asked of half of the devices. @param {object} [more] */
export const trieRound = (more) => ({
  recipe: 'words-1',
  analysis: 'keyboard',
  stream: 'typed-words',
  value: 'fields',
  encoding: [{ field: 'word', starts: [''], characters: 'abc', step: 1 }],
  mechanism: 'trie',
  parameters: { epsilon: 6, contributions: 1, depth: 6, max_prefixes: 100 },
  round: { index: 1 },
  send: { sample: 0.3 },
  limit: { per_day: 1 },
  expires: '2099-12-31',
  ...more,
});

/** What shoal discover prints as JSON. @param {(...args: string[]) => {text: string}} good @param {string[]} args */
export const discovered = (good, args) =>
  JSON.parse(good('discover', ...args, '--format', 'json').text);

/** @param {string} html */
export const plain = (html) =>
  html
    .replace(/<style>.*?<\/style>/gs, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&')
    .replace(/ +/g, ' ');

/** Cells of the rows of a page's first table. @param {string} html */
export const cellsOf = (html) =>
  [...(/<tbody>(.*?)<\/tbody>/s.exec(html)?.[1] ?? '').matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(
    (row) =>
      [...row[1].matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map((cell) => plain(cell[1]).trim()),
  );

/** A value as pages show it. @param {string} value */
export const shown = (value) => value.replace(/[\u202a-\u202e]/g, '\ufffd');

/** @param {string} text such as −1,234.5 */
export const number = (text) => Number(text.replace('\u2212', '-').replaceAll(',', ''));
