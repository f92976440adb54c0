// SPDX-License-Identifier: Apache-2.0
// A tree of elements as plain data, with two outputs: DOM nodes for the page, and markup for the
// report file. Both escape text and attributes, whatever they contain. Depends on nothing.

/**
 * @typedef {string | Node_} Child
 * @typedef {{name: string, attributes: {[name: string]: string | number}, children: Child[]}} Node_
 */

const SVG = 'http://www.w3.org/2000/svg';
const SVG_NAMES = ['svg', 'rect', 'line', 'circle', 'path', 'g'];

/**
 * @param {string} name
 * @param {{[name: string]: string | number}} [attributes]
 * @param {Child[]} children
 * @returns {Node_}
 */
export const h = (name, attributes = {}, ...children) => ({ name, attributes, children });

/** @param {Child} node @param {Document} document @returns {Node} */
export function toDom(node, document) {
  if (typeof node === 'string') return document.createTextNode(node);
  const isSvg = SVG_NAMES.includes(node.name);
  const element = isSvg
    ? document.createElementNS(SVG, node.name)
    : document.createElement(node.name);
  for (const [name, value] of Object.entries(node.attributes))
    element.setAttribute(name, String(value));
  element.append(...node.children.map((child) => toDom(child, document)));
  return element;
}

/** @param {string} text */
const escape = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

/** @param {Child} node @returns {string} */
export function toMarkup(node) {
  if (typeof node === 'string') return escape(node);
  const attributes = Object.entries(node.attributes).map(
    ([name, value]) => ` ${name}="${escape(String(value))}"`,
  );
  return `<${node.name}${attributes.join('')}>${node.children.map(toMarkup).join('')}</${node.name}>`;
}
