// SPDX-License-Identifier: Apache-2.0
// What the client tells a person: sentences for the machine codes of explain() and for reports. No sentence holds a
// value. A chunk of its own, loaded when somebody asks.

/** The header that a page needs, as the documentation prints it. */
export const CSP = "script-src 'self' 'wasm-unsafe-eval'";

/** @type {{[code: string]: string}} */
export const REASONS = {
  'no-consent': 'Consent has not been given.',
  gpc: 'The browser sends Global Privacy Control, which counts as no.',
  storage: 'Storage on this device failed, so no budget can be kept.',
  'wasm-blocked': `The page's policy refuses WebAssembly. Add the header Content-Security-Policy: ${CSP}`,
  'core-missing': 'The WebAssembly module could not be loaded.',
  'recipe-refused': 'The recipe could not be loaded, or is not the one that was pinned.',
  'unknown-stream': 'No recipe reads this stream.',
  budget: "The day's reports are spent.",
  fresh: 'Storage is fresh; reports begin on the next UTC day.',
  erased: 'Everything was erased today; reports begin on the next UTC day.',
  expired: "The recipe's last day has passed.",
  ledger: 'The budget ledger cannot be read, so nothing may be spent.',
  'sampled-out': "The recipe's random sample left this event out.",
  'text-rule': "The text is not one that the recipe's rule counts.",
  'not-a-site': 'This is not the address of a public web site.',
  'refused-field': 'Words are not read from this kind of field.',
  'private-list-missing': 'The list of registrable domains could not be loaded.',
  'segmenter-missing': 'This browser cannot split text into words.',
  'not-yet-due': 'Records wait for their random delay.',
  offline: 'The edge worker could not be reached; the records are kept.',
  'edge-busy': 'The edge worker asked to wait; the records are kept.',
  'edge-refused': 'The edge worker refused a report for good; it was dropped.',
};

/** @param {import('./client.js').Note} note @returns {import('./client.js').Reason} */
export const explained = (note) => ({ ...note, text: REASONS[note.code] });

/**
 * @param {{state: string, at: number, report: import('./device.js').ReportJson, code?: string}} row
 * @returns {import('./client.js').Entry}
 */
export function entry({ state, at, report, code }) {
  const time = new Date(at).toISOString();
  const what = `a record of "${report.key}", randomized with epsilon ${report.parameters.epsilon}`;
  /** @type {{[state: string]: string}} */
  const texts = {
    queued: `Waits until ${time}: ${what}.`,
    sent: `Sent at ${time}: ${what}.`,
    refused: `Not accepted at ${time}: ${what}. ${REASONS[code ?? ''] ?? ''}`,
  };
  return { state: /** @type {any} */ (state), at: time, text: texts[state], report };
}
