// SPDX-License-Identifier: Apache-2.0
// What the tests of the documentation read out of Markdown: fenced blocks, tables, links, anchors. Only the Markdown that
// README.md and docs/ use. Depends on nothing but Node.
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** The pages of the root and every page below docs/, relative to the root. */
export const pages = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'],
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `docs/${name}`),
];

/** @param {string} path relative to the root */
export const read = (path) => readFileSync(join(root, path), 'utf8');

/** @typedef {{line: number, info: string[], text: string}} Block line is that of the opening fence */

/** The fenced blocks of a page, in order. @param {string} markdown @returns {Block[]} */
export function blocks(markdown) {
  const found = [];
  /** @type {Block | null} */
  let open = null;
  let indent = '';
  for (const [i, line] of markdown.split('\n').entries()) {
    const fence = /^( *)```(.*)$/.exec(line);
    if (fence && !open) {
      indent = fence[1];
      open = { line: i + 1, info: fence[2].trim().split(/\s+/), text: '' };
    } else if (fence && open) {
      found.push(open);
      open = null;
    } else if (open) {
      open.text += (line.startsWith(indent) ? line.slice(indent.length) : line) + '\n';
    }
  }
  if (open) throw new Error(`the fence of line ${open.line} is not closed`);
  return found;
}

/** A page without its code blocks, fenced or indented. @param {string} markdown */
export const prose = (markdown) =>
  markdown.replace(/^( *)```[^]*?^ *```$/gm, '').replace(/^ {4,}\S.*$/gm, '');

/**
 * The first table below a heading, as rows of cells; code marks stay.
 * @param {string} markdown @param {string} heading its text
 * @returns {string[][]}
 */
export function tableBelow(markdown, heading) {
  const lines = markdown.split('\n');
  const start = lines.findIndex(
    (line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading,
  );
  if (start < 0) throw new Error(`no heading "${heading}"`);
  const rows = [];
  for (const line of lines.slice(start + 1)) {
    if (line.startsWith('|'))
      rows.push(
        line
          .replace(/\\\|/g, '\0')
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.replaceAll('\0', '|').trim()),
      );
    else if (rows.length || /^#+ /.test(line)) break;
  }
  if (rows.length < 3) throw new Error(`no table below "${heading}"`);
  return rows.slice(2);
}

/** What stands between back-quotes. @param {string} text */
export const codes = (text) => [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1]);

/** Targets of the links of a page. @param {string} markdown */
export const links = (markdown) =>
  [...prose(markdown).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]);

/** The anchors of a page's headings, as GitHub makes them. @param {string} markdown */
export function anchors(markdown) {
  /** @type {Map<string, number>} */
  const seen = new Map();
  return [...prose(markdown).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => {
    const plain = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
      .replaceAll(' ', '-');
    const before = seen.get(plain) ?? 0;
    seen.set(plain, before + 1);
    return before ? `${plain}-${before}` : plain;
  });
}
