// SPDX-License-Identifier: Apache-2.0
// Writes the table of docs/verify.md from verify/codes.js, which shoal-verify reads too.
//   node scripts/verify-table.mjs            prints the page with its table
//   node scripts/verify-table.mjs --write    writes it
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { CODES, PARTIES } from '../verify/codes.js';

const PAGE = fileURLToPath(new URL('../docs/verify.md', import.meta.url));
const BEGIN = '<!-- Written by scripts/verify-table.mjs from verify/codes.js. -->';
const END = '<!-- The end of what is written. -->';

/** Names in braces are filled in by the program; the table shows them as a reader would. @param {string} text */
const readable = (text) =>
  text
    .replace(/: \{detail\}$/, '')
    .replace(/\{([a-z]+)\}/g, (_, name) => name.toUpperCase())
    .replaceAll('|', '\\|');

/** Codes whose row is that of another party. @returns {Map<string, string[]>} */
function parties() {
  const kinds = new Map();
  for (const code of Object.keys(CODES)) {
    const [party, ...rest] = code.split('-');
    const kind = rest.join('-');
    if (!(party in PARTIES) || !(`edge-${kind}` in CODES)) continue;
    if (
      CODES[code].what.replace(PARTIES[party], '') !==
      CODES[`edge-${kind}`].what.replace(PARTIES.edge, '')
    )
      continue;
    kinds.set(kind, [...(kinds.get(kind) ?? []), code]);
  }
  return kinds;
}

/** The table in Markdown. */
export function tableOf() {
  const shared = parties();
  const told = new Set();
  const rows = [];
  for (const [code, { what, mend }] of Object.entries(CODES)) {
    const kind = code.split('-').slice(1).join('-');
    const codes = shared.get(kind)?.includes(code) ? shared.get(kind) : [code];
    if (told.has(codes?.[0])) continue;
    told.add(codes?.[0]);
    const [party] = code.split('-');
    const isShared = (codes?.length ?? 0) > 1;
    const said = isShared ? what.replace(PARTIES[party], 'the party') : what;
    rows.push(
      `| ${codes?.map((one) => `\`${one}\``).join(' ')} | ${readable(said)} | ${readable(mend)} |`,
    );
  }
  return ['| code | what is wrong | how to mend it |', '| --- | --- | --- |', ...rows].join('\n');
}

/** The page with today's table. @param {string} page */
export async function pageOf(page) {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error('docs/verify.md has lost the marks of its table');
  const text = `${before}${BEGIN}\n\n${tableOf()}\n\n${END}${after}`;
  return format(text, {
    parser: 'markdown',
    proseWrap: 'always',
    printWidth: 100,
    singleQuote: true,
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const page = await pageOf(readFileSync(PAGE, 'utf8'));
  if (process.argv.includes('--write')) writeFileSync(PAGE, page);
  else process.stdout.write(page);
}
