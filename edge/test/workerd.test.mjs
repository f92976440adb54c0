// SPDX-License-Identifier: Apache-2.0
// The edge in real workerd. The tests are those of suite.mjs.

import { edgeSuite } from './suite.mjs';

edgeSuite('workerd');
