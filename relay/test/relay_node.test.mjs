// SPDX-License-Identifier: Apache-2.0
// The relay as a command under Node. The tests are those of relay_suite.mjs.

import { relaySuite } from './relay_suite.mjs';

relaySuite('node');
