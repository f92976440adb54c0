// SPDX-License-Identifier: Apache-2.0
// One file for what several elements load.
export { epsilonsOf, guessOf } from '../../wasm/client/verdict.js';
export * from './base.js';
export * from './recipes.js';
export * from './record.js';
export { default as picture } from './picture.css';
