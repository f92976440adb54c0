// SPDX-License-Identifier: Apache-2.0
// Finds the words of a text, and the words that a person completes in fields that the page opens
// for it. This is a chunk of its own, loaded by the first observe(), type(), arrive() or reach(). It
// keeps no text: when an event completes a word, it reads the field's own content. Depends on the DOM.
import { isWord, segments, words } from '../bindings/text.js';

/**
 * @typedef {import('./outbox.js').Call} Call
 * @typedef {import('./context.js').Outcome} Outcome
 * @typedef {import('../bindings/device.js').Recipe} Recipe
 * @typedef {{report: (wants: (recipe: Recipe) => boolean, value: any) => Promise<Outcome[]>}} Events
 *   what takes the words
 */

// One chunk with this one: a name of another would cost every page more than these cost the pages
// that load it.
export { arrive, reach } from './visitors.js';

/** Reports words to the recipes that take them. @param {Events} events @param {string[]} list */
async function report(events, list) {
  const outcomes = [];
  for (const word of list)
    outcomes.push(...(await events.report((recipe) => recipe.valueKind === 'word', word)));
  return outcomes;
}

/**
 * Reports the words of a text, in order.
 * @param {Pick<Call, 'context' | 'events'>} call
 * @param {string} text
 */
export const type = async ({ context, events }, text) =>
  Intl.Segmenter ? report(events, words(text)) : [context.note('segmenter-missing')];

const TYPED = /^insert(Text|LineBreak|Paragraph|CompositionText)$/;
const IN_WORD = /[\p{L}\p{M}\p{N}'\u2019-]$/u;

// A field that was once refused stays refused, because "show password" turns it into a text field.
/** @type {WeakSet<Element>} */
const refused = new WeakSet();

/** What sees a field change, by the document or shadow tree. @type {WeakMap<Node, MutationObserver>} */
const watches = new WeakMap();

/** Refuses fields that were of another kind before. @param {MutationRecord[]} changes */
function judge(changes) {
  for (const { target, attributeName, oldValue } of changes) {
    const old = (oldValue ?? '').trim().toLowerCase();
    if (attributeName === 'type' ? old === 'password' : !/^(|on|off)$/.test(old))
      refused.add(/** @type {Element} */ (target));
  }
}

/**
 * Remembers which fields of a document or shadow tree are, or ever become, password fields or
 * fields with an autocomplete token that forbids reading. A change from that to plain text between
 * two events would go unseen otherwise.
 * @param {Element} element of the tree
 */
function watch(element) {
  const root = element.getRootNode();
  if (watches.has(root) || !globalThis.MutationObserver) return;
  const observer = new MutationObserver(judge);
  observer.observe(root, {
    subtree: true,
    attributeFilter: ['type', 'autocomplete'],
    attributeOldValue: true,
  });
  watches.set(root, observer);
  for (const field of /** @type {ParentNode & Node} */ (root).querySelectorAll('input'))
    if (field.type === 'password') refused.add(field);
}

/** Does CSS hide what is typed, as in a password field that is none? @param {Element} field */
function isMasked(field) {
  const style = /** @type {any} */ (field.ownerDocument.defaultView?.getComputedStyle(field));
  return !/^(|none|undefined)$/.test(`${style?.webkitTextSecurity}`);
}

/**
 * Returns whether words may be read from this field. Only plain text may be read. A type other than
 * text and search forbids it, and so do autocomplete tokens other than on and off (they name
 * persons, cards, passwords, one-time codes) and input modes for numbers or addresses.
 * @param {Element} element
 */
export function isReadableField(element) {
  /** @param {string} name */
  const attribute = (name) => (element.getAttribute(name) ?? '').trim().toLowerCase();
  const tag = element.localName;
  const isField =
    tag === 'textarea' || (tag === 'input' && /^(|text|search)$/.test(attribute('type')));
  if (!isField && (tag === 'input' || !(/** @type {any} */ (element).isContentEditable)))
    return false;
  if (attribute('data-shoal') === 'off') return false;
  return (
    /^(|on|off)$/.test(attribute('autocomplete')) &&
    /^(|none|text|search)$/.test(attribute('inputmode'))
  );
}

/**
 * Returns the words that end exactly where the text ends: one word in most scripts, the whole run
 * in scripts without spaces between words.
 * @param {string} text
 */
export function lastWords(text) {
  const parts = segments(text.slice(-256));
  const start = parts.findLastIndex((part) => !part.isWordLike) + 1;
  return parts
    .slice(start)
    .filter(isWord)
    .map((part) => part.segment);
}

/** A field's text up to the caret. @param {any} field @returns {string} */
function beforeCaret(field) {
  if ('value' in field) return field.value.slice(0, field.selectionStart ?? undefined);
  const selection = field.ownerDocument.getSelection();
  return selection?.anchorNode?.nodeType === 3
    ? selection.anchorNode.data.slice(0, selection.anchorOffset)
    : '';
}

/**
 * Reads completed words while they are typed.
 * @param {Pick<Call, 'context' | 'events'>} call
 * @param {Element} element a field, or an element above fields that carry `data-shoal`
 * @param {AbortSignal} signal stops the reading
 * @param {(word: string) => unknown} [take] is given each word, in place of the recipes
 */
export function observe({ context, events }, element, signal, take) {
  /** @param {string[]} list */
  const found = (list) => {
    if (take) for (const word of list) take(word);
    else void report(events, list);
  };
  /** Fields whose last word is still being typed. @type {WeakSet<Element>} */
  const open = new WeakSet();

  /**
   * Handles an event before the input changes, so that the completed word still ends at the caret.
   * @param {Element} field
   * @param {InputEvent} event
   */
  const typed = (field, event) => {
    if (!TYPED.test(event.inputType))
      open.delete(field); // pasted, deleted or undone, so no word is being typed
    else if (IN_WORD.test(event.data ?? '')) open.add(field);
    else if (!event.isComposing && open.delete(field)) found(lastWords(beforeCaret(field)));
  };

  /** @param {Event} event */
  const listener = (event) => {
    const field = /** @type {Element} */ (event.composedPath()[0]);
    if (field !== element && !field.hasAttribute?.('data-shoal')) return;
    watch(field); // it may be of a shadow tree
    judge(watches.get(field.getRootNode())?.takeRecords() ?? []);
    if (!isReadableField(field) || isMasked(field)) refused.add(field);
    if (refused.has(field)) context.note('refused-field');
    else if (!Intl.Segmenter) context.note('segmenter-missing');
    else if (event.type === 'beforeinput') typed(field, /** @type {InputEvent} */ (event));
    else if (open.delete(field))
      found(lastWords(/** @type {any} */ (field).value ?? field.textContent ?? ''));
  };
  watch(element);
  for (const name of ['focusin', 'beforeinput', 'change', 'focusout'])
    element.addEventListener(name, listener, { signal });
}
