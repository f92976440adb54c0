// SPDX-License-Identifier: Apache-2.0
// Computes sixteen ChaCha20 blocks side by side in vectors of 512 bits, for records that draw more
// than eight blocks. See chacha20_lanes.h.
#include "chacha20_lanes.h"
#define LANES 16
#include "chacha20_body.h"

void shoal_chacha20_avx512_16(uint8_t out[16 * 64], const uint32_t state[16])
{
    blocks_of_lanes(out, state);
}
