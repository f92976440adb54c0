// SPDX-License-Identifier: Apache-2.0
// The gateway in real workerd. The tests are those of gateway_suite.mjs.

import { gatewaySuite } from './gateway_suite.mjs';

gatewaySuite('workerd');
