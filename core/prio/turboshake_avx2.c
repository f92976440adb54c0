// SPDX-License-Identifier: Apache-2.0
// TurboSHAKE128's permutation for x86-64 with BMI; see turboshake_variant.h. The build passes the
// flags with which the compiler uses one instruction for "and not" and for a rotation into another
// register. The state is variables instead of an array, so that most of it stays in registers.
#include "turboshake_variant.h"

#define ROL(x, n) ((x) << (n) | (x) >> (64 - (n)))
#define ROW(y)                                                                                     \
    a[y] = b0 ^ (~b1 & b2);                                                                        \
    a[y + 1] = b1 ^ (~b2 & b3);                                                                    \
    a[y + 2] = b2 ^ (~b3 & b4);                                                                    \
    a[y + 3] = b3 ^ (~b4 & b0);                                                                    \
    a[y + 4] = b4 ^ (~b0 & b1)

static inline __attribute__((always_inline)) void one_round(uint64_t a[25], const uint64_t e[25],
                                                            uint64_t constant)
{
    uint64_t c0 = e[0] ^ e[5] ^ e[10] ^ e[15] ^ e[20], c1 = e[1] ^ e[6] ^ e[11] ^ e[16] ^ e[21],
             c2 = e[2] ^ e[7] ^ e[12] ^ e[17] ^ e[22], c3 = e[3] ^ e[8] ^ e[13] ^ e[18] ^ e[23],
             c4 = e[4] ^ e[9] ^ e[14] ^ e[19] ^ e[24];
    uint64_t d0 = c4 ^ ROL(c1, 1), d1 = c0 ^ ROL(c2, 1), d2 = c1 ^ ROL(c3, 1), d3 = c2 ^ ROL(c4, 1),
             d4 = c3 ^ ROL(c0, 1);
    uint64_t b0 = e[0] ^ d0, b1 = ROL(e[6] ^ d1, 44), b2 = ROL(e[12] ^ d2, 43),
             b3 = ROL(e[18] ^ d3, 21), b4 = ROL(e[24] ^ d4, 14);
    ROW(0);
    a[0] ^= constant;
    b0 = ROL(e[3] ^ d3, 28), b1 = ROL(e[9] ^ d4, 20), b2 = ROL(e[10] ^ d0, 3);
    b3 = ROL(e[16] ^ d1, 45), b4 = ROL(e[22] ^ d2, 61);
    ROW(5);
    b0 = ROL(e[1] ^ d1, 1), b1 = ROL(e[7] ^ d2, 6), b2 = ROL(e[13] ^ d3, 25);
    b3 = ROL(e[19] ^ d4, 8), b4 = ROL(e[20] ^ d0, 18);
    ROW(10);
    b0 = ROL(e[4] ^ d4, 27), b1 = ROL(e[5] ^ d0, 36), b2 = ROL(e[11] ^ d1, 10);
    b3 = ROL(e[17] ^ d2, 15), b4 = ROL(e[23] ^ d3, 56);
    ROW(15);
    b0 = ROL(e[2] ^ d2, 62), b1 = ROL(e[8] ^ d3, 55), b2 = ROL(e[14] ^ d4, 39);
    b3 = ROL(e[15] ^ d0, 41), b4 = ROL(e[21] ^ d1, 2);
    ROW(20);
}

void shoal_turboshake_permute_avx2(uint64_t lanes[25])
{
    uint64_t between[25];
    for (unsigned round = 0; round < 12; round += 2) {
        one_round(between, lanes, SHOAL_TURBOSHAKE_ROUND[round]);
        one_round(lanes, between, SHOAL_TURBOSHAKE_ROUND[round + 1]);
    }
}
