// SPDX-License-Identifier: Apache-2.0
// Sealed reports through the edge in real workerd. The tests are those of dap_forward_suite.mjs.

import { dapForwardSuite } from './dap_forward_suite.mjs';

dapForwardSuite('workerd');
