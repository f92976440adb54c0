// SPDX-License-Identifier: Apache-2.0
// Judges licences by the lists of licences.json.

/**
 * Whether an SPDX expression can be met by licences of a list: one side of OR, both of AND.
 * @param {string} expression @param {string[]} allowed
 * @returns {boolean}
 */
export function isAllowed(expression, allowed) {
  const words = expression.match(/[()]|[^\s()]+/g) ?? [];
  let at = 0;
  /** @returns {boolean} */
  const term = () => {
    const word = words[at++];
    if (word !== '(') return allowed.includes(word);
    const inside = either();
    if (words[at++] !== ')') throw new Error(`no licence expression: ${expression}`);
    return inside;
  };
  /** @returns {boolean} */
  const both = () => {
    let is = term();
    while (words[at] === 'AND') (at++, (is = term() && is));
    return is;
  };
  /** @returns {boolean} */
  const either = () => {
    let is = both();
    while (words[at] === 'OR') (at++, (is = both() || is));
    return is;
  };
  const is = either();
  if (at !== words.length) throw new Error(`no licence expression: ${expression}`);
  return is;
}
