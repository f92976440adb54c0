// SPDX-License-Identifier: Apache-2.0
// Sealed reports through the edge as a command under Node. The tests are those of dap_forward_suite.mjs.

import { dapForwardSuite } from './dap_forward_suite.mjs';

dapForwardSuite('node');
