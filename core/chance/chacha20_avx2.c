// SPDX-License-Identifier: Apache-2.0
// Computes eight ChaCha20 blocks side by side with AVX2; see chacha20_lanes.h.
#include "chacha20_lanes.h"
#define LANES 8
#include "chacha20_body.h"

void shoal_chacha20_avx2(uint8_t out[8 * 64], const uint32_t state[16])
{
    blocks_of_lanes(out, state);
}
