// SPDX-License-Identifier: Apache-2.0
// The edge as a command under Deno and Bun: the tests that Node and workerd pass. Both runtimes are heavy and come from npm, so this runs
// under SHOAL_LONG=1 only.

import { describe, test } from 'node:test';
import { installed } from '../../tests/other_runtimes.mjs';
import { gatewaySuite } from './gateway_suite.mjs';
import { edgeSuite } from './suite.mjs';

if (process.env.SHOAL_LONG !== '1')
  test('SKIPPED without SHOAL_LONG=1: the edge under Deno and Bun', { skip: true }, () => {});
else
  for (const runtime of /** @type {const} */ (['deno', 'bun'])) {
    installed(runtime);
    describe(`the edge under ${runtime}`, () => edgeSuite(runtime));
    describe(`the gateway under ${runtime}`, () => gatewaySuite(runtime));
  }
