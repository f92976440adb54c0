// SPDX-License-Identifier: Apache-2.0
// The public seed of the tests' recipes.
#ifndef TEST_SEED_H
#define TEST_SEED_H

#define TEST_SEED "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

#endif
