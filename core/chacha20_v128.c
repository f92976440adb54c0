// SPDX-License-Identifier: Apache-2.0
// Four ChaCha20 blocks side by side, and one alone, in vectors that every machine of the build has: SSE2, NEON, WebAssembly's
// 128 bits. Where there are none, nothing. See chacha20_lanes.h.
#include "chacha20_lanes.h"

#ifdef SHOAL_CHACHA20_V128
#define LANES 4
#include "chacha20_body.h"

void shoal_chacha20_v128_row(uint8_t out[64], const uint32_t state[16])
{
    block_of_rows(out, state);
}

void shoal_chacha20_v128(uint8_t out[4 * 64], const uint32_t state[16])
{
    blocks_of_lanes(out, state);
}
#endif
