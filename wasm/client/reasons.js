// SPDX-License-Identifier: Apache-2.0
// The sentence of each code of explain(). No sentence holds a value.

import { LOG_REASONS } from './log_reasons.js';

/** The header that a page needs, as the documentation prints it. */
export const CSP = "script-src 'self' 'wasm-unsafe-eval'";

/** @type {{[code: string]: string}} */
export const REASONS = {
  'no-consent': 'Consent has not been given.',
  gpc: 'The browser sends Global Privacy Control, which counts as no.',
  automated:
    'The browser is driven by a program (navigator.webdriver), so nothing is spent or sent.',
  prerendered: 'The page was loaded ahead and is not shown yet, so nothing is spent or sent.',
  'third-party-frame':
    'The page is a frame in a page of another origin. Where that is another site, browsers keep its storage apart for each site that embeds it: consent, budget and ledger are of this site alone.',
  outdated: 'The page asks for more than the person agreed to.',
  storage: 'Storage on this device failed, so no budget can be kept.',
  failed: 'The client itself failed, which is a defect; the entry carries the error as its cause.',
  'wasm-blocked': `The page's policy refuses WebAssembly. Add the header Content-Security-Policy: ${CSP}`,
  'wasm-missing': 'The WebAssembly module is not where it should be: the server has no such file.',
  'wasm-type': 'What the server sent in place of the WebAssembly module is no WebAssembly.',
  'core-missing': 'The client or its WebAssembly module could not be loaded.',
  'csp-blocked': "The page's policy refuses a request to this address; add it to connect-src.",
  'recipe-missing': 'The recipe could not be fetched.',
  'recipe-hash': 'The recipe was fetched, but its hash is not the one that the page pins.',
  'recipe-refused': 'The recipe is not one that this client can use.',
  trial:
    'The recipe is one of trials: it is used only where the page, the endpoint and the relay are all on this machine (localhost, 127.0.0.0/8 or [::1]).',
  'no-signature': 'The recipe is not signed, and this page takes signed ones only.',
  'unknown-key': 'The recipe is signed by a key that this page does not know.',
  'bad-signature': "The recipe's signature is bad: its key did not sign this recipe.",
  'no-ed25519': "This browser cannot check the recipe's signature (Ed25519), so it is not used.",
  'unknown-stream': 'No recipe reads this stream.',
  budget: "The day's reports are spent.",
  fresh: 'Storage is fresh; reports begin on the next UTC day.',
  erased: 'Everything was erased today; reports begin on the next UTC day.',
  tombstone:
    'The recipe gave its one permanent answer before consent ended, and gives no other until it expires.',
  'not-persisted':
    'This browser may delete what is stored here after days without a visit, so the recipe gives no permanent answer.',
  cap: "The site's budget leaves nothing for this now: it was not reserved for today, or other days of its window used it.",
  'set-missing': "The site's recipe set could not be fetched.",
  'set-hash': "The site's recipe set was fetched, but its hash is not the one that the page pins.",
  'set-refused': "The site's recipe set, or a recipe in it, is not one that this client can use.",
  expired: "The recipe's last day has passed.",
  ledger: 'The budget ledger cannot be read, so nothing may be spent.',
  'sampled-out': "The recipe's random sample left this event out.",
  'no-window':
    'No window of the day is open for the recipe: one opens with a page that is visible, when it is loaded or when the day begins.',
  'window-open': 'Reports wait for the end of the day that they answer for.',
  'window-over':
    "The day's visit is over: it is the first visible page of the day, until that is first hidden.",
  'not-a-number': 'The value is not a finite number.',
  'text-rule': "The text is not one that the recipe's rule counts.",
  'too-long': 'The text has more bytes than the recipe takes.',
  'no-variables': 'The recipe takes its variables by name, in one object.',
  'unknown-variable': 'The event names a variable that the recipe does not have.',
  'not-a-funnel':
    'The recipe of this stream is no funnel: it needs variables, and send.pick "uniform".',
  'no-step': 'The number of the step is not one of the variables of the recipe, 1 for the first.',
  run: 'The recipe is an epoch of a run, which is answered from its samples: it belongs to the option runs.',
  'not-a-site': 'This is not the address of a public web site.',
  'refused-field': 'Words are not read from this kind of field.',
  'private-list-missing': 'The list of registrable domains could not be loaded.',
  'segmenter-missing': 'This browser cannot split text into words.',
  'not-yet-due': 'Records wait for their random delay.',
  'no-keys':
    'A key of the two servers that add up, or of the gateway behind the relay, could not be fetched, so nothing is spent or sent.',
  'no-x25519':
    'This browser cannot seal to the keys of the two servers, or to that of a gateway (X25519), so nothing is spent or sent.',
  'no-log':
    "The recipe's tokens need the option log, whose key list has the issuer's keys; the page has none.",
  'no-token':
    'No token of today is left for the recipe, so nothing is spent or sent: its issuer gave none to this account yet, or they are spent.',
  'too-heavy':
    'The record has more bits set than the two servers take, as about one in a million has; it is not sent.',
  'task-refused': 'The task of the two servers is not one that can be shared to.',
  'not-opted-in': 'The person has not opted in to this.',
  'exact-spent': 'As many exact values were shared to the task as the person agreed to.',
  'not-a-measurement': 'The value is not one that the task measures.',
  ...LOG_REASONS,
  offline: 'The edge worker could not be reached; the records are kept.',
  'cors-refused':
    "The edge worker answers, but does not let this page's origin read it; the records are kept.",
  'edge-busy': 'The edge worker asked to wait; the records are kept.',
  'edge-missing':
    'The endpoint has no such address, or does not collect this recipe (HTTP 404); a report was dropped.',
  'edge-refused':
    'The edge worker, or the server behind it, refused a report for good; it was dropped.',
};
