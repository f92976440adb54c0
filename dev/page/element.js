// SPDX-License-Identifier: Apache-2.0
// Makes elements. Texts are always text: values come from reports and dictionaries, and are never
// taken for markup.

const SVG = 'http://www.w3.org/2000/svg';

/**
 * @param {Element} made @param {{[name: string]: any}} attributes @param {(Element | string)[]} children
 */
function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

/** @param {string} name @param {{[name: string]: any}} [attributes] @param {(Element | string)[]} children */
export const element = (name, attributes = {}, ...children) =>
  fill(document.createElement(name), attributes, children);

/** @param {string} name @param {{[name: string]: any}} [attributes] @param {(Element | string)[]} children */
export const shape = (name, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, name), attributes, children);

// Characters that have no width, or reorder what is around them.
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** A value that is safe to show in a line. @param {string} value */
export function readable(value) {
  const points = [...value.replace(UNSAFE, '\uFFFD')];
  return points.length > 40 ? `${points.slice(0, 39).join('')}…` : points.join('');
}
