// SPDX-License-Identifier: Apache-2.0
// The header or the command that mends what a page's developer can mend, by the code of explain().
// Printed by the option `debug`. A test holds its headers and commands to those of docs/embed.md.
// ENDPOINT, ORIGIN and ADDRESS stand for those of the page.
import { CSP } from './reasons.js';

/** @type {{[code: string]: string}} */
export const MENDS = {
  offline:
    'curl -i ENDPOINT/healthz: is the edge worker running, and is this its address? If curl gets an answer, the origin is missing in its "origins"',
  'csp-blocked': "Content-Security-Policy: connect-src 'self' ADDRESS",
  'cors-refused': '"origins": ["ORIGIN"] in the configuration of the edge worker',
  'edge-missing':
    'shoal recipe hash RECIPE: the edge worker must list this recipe; and ENDPOINT must be its root, without /v1/reports',
  'edge-refused': 'shoal recipe check RECIPE: page and edge worker must have the same file',
  'recipe-missing': 'curl -i ADDRESS: does your site serve the recipe there?',
  'recipe-hash': 'shoal recipe hash RECIPE, and put what it prints into the page',
  'recipe-refused': 'shoal recipe check RECIPE',
  'set-missing': 'curl -i ADDRESS: does your site serve the recipe set there?',
  'set-hash': 'shoal recipe hash SET, and put what it prints into the page',
  'set-refused': 'shoal recipe check SET',
  'wasm-blocked': `Content-Security-Policy: ${CSP}`,
  'wasm-missing':
    'copy all files of dist/ together, shoal.wasm beside client.js; or name it with the option wasm',
  'wasm-type':
    'the server answers for a missing file with a page: copy shoal.wasm beside client.js. (The header Content-Type of the module does not matter)',
  'core-missing': 'copy all files of dist/ together, and allow them in script-src and connect-src',
  expired: 'shoal recipe new: a recipe with a later last day',
  'unknown-stream': 'record(stream) must name the "stream" of a recipe',
};
