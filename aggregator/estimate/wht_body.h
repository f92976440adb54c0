// SPDX-License-Identifier: Apache-2.0
// Walsh-Hadamard butterflies for one width of numbers. wht_variant.h includes this file once a
// width, with NUMBER, an unsigned type, and NAMED(name), which gives a function the width's name.
//
// Numbers are unsigned so that sums wrap: a forged file must not cause undefined behaviour. One
// pass does three levels of butterflies, which takes a third of the loads and stores. Pointers are
// `restrict`; without it the compiler has too many pairs to check for overlap and does not
// vectorize.

// Does the butterflies of distances 1, 2 and 4.
//   n: a multiple of 8
static void NAMED(butterflies_within_eight)(NUMBER *x, size_t n)
{
    for (size_t i = 0; i < n; i += 8) {
        NUMBER *p = x + i;
        NUMBER a0 = p[0] + p[1], a1 = p[0] - p[1], a2 = p[2] + p[3], a3 = p[2] - p[3];
        NUMBER a4 = p[4] + p[5], a5 = p[4] - p[5], a6 = p[6] + p[7], a7 = p[6] - p[7];
        NUMBER b0 = a0 + a2, b1 = a1 + a3, b2 = a0 - a2, b3 = a1 - a3;
        NUMBER b4 = a4 + a6, b5 = a5 + a7, b6 = a4 - a6, b7 = a5 - a7;
        p[0] = b0 + b4, p[1] = b1 + b5, p[2] = b2 + b6, p[3] = b3 + b7;
        p[4] = b0 - b4, p[5] = b1 - b5, p[6] = b2 - b6, p[7] = b3 - b7;
    }
}

static void NAMED(butterflies_of_two)(NUMBER *restrict p0, NUMBER *restrict p1, size_t h)
{
    for (size_t i = 0; i < h; i++) {
        NUMBER a0 = p0[i], a1 = p1[i];
        p0[i] = a0 + a1, p1[i] = a0 - a1;
    }
}

static void NAMED(butterflies_of_four)(NUMBER *restrict p0, NUMBER *restrict p1,
                                       NUMBER *restrict p2, NUMBER *restrict p3, size_t h)
{
    for (size_t i = 0; i < h; i++) {
        NUMBER a0 = p0[i] + p1[i], a1 = p0[i] - p1[i], a2 = p2[i] + p3[i], a3 = p2[i] - p3[i];
        p0[i] = a0 + a2, p1[i] = a1 + a3, p2[i] = a0 - a2, p3[i] = a1 - a3;
    }
}

static void NAMED(butterflies_of_eight)(NUMBER *restrict p0, NUMBER *restrict p1,
                                        NUMBER *restrict p2, NUMBER *restrict p3,
                                        NUMBER *restrict p4, NUMBER *restrict p5,
                                        NUMBER *restrict p6, NUMBER *restrict p7, size_t h)
{
    for (size_t i = 0; i < h; i++) {
        NUMBER a0 = p0[i] + p1[i], a1 = p0[i] - p1[i], a2 = p2[i] + p3[i], a3 = p2[i] - p3[i];
        NUMBER a4 = p4[i] + p5[i], a5 = p4[i] - p5[i], a6 = p6[i] + p7[i], a7 = p6[i] - p7[i];
        NUMBER b0 = a0 + a2, b1 = a1 + a3, b2 = a0 - a2, b3 = a1 - a3;
        NUMBER b4 = a4 + a6, b5 = a5 + a7, b6 = a4 - a6, b7 = a5 - a7;
        p0[i] = b0 + b4, p1[i] = b1 + b5, p2[i] = b2 + b6, p3[i] = b3 + b7;
        p4[i] = b0 - b4, p5[i] = b1 - b5, p6[i] = b2 - b6, p7[i] = b3 - b7;
    }
}

// Does the butterflies of all distances from h to n/2.
//   n, h: powers of two, h <= n
static void NAMED(transform_from)(NUMBER *x, size_t n, size_t h)
{
    for (; 8 * h <= n; h *= 8) {
        for (size_t i = 0; i < n; i += 8 * h) {
            NUMBER *p = x + i, *q = p + 4 * h;
            NAMED(butterflies_of_eight)
            (p, p + h, p + 2 * h, p + 3 * h, q, q + h, q + 2 * h, q + 3 * h, h);
        }
    }
    if (4 * h == n) NAMED(butterflies_of_four)(x, x + h, x + 2 * h, x + 3 * h, h);
    if (2 * h == n) NAMED(butterflies_of_two)(x, x + h, h);
}

// Does a whole transform that fits the second-level cache: first pieces that fit the first-level
// cache, then the distances between pieces.
static void NAMED(transform)(NUMBER *x, size_t n)
{
    size_t piece = n < PIECE ? n : PIECE;
    for (NUMBER *p = x; p < x + n; p += piece) {
        if (piece >= 8) NAMED(butterflies_within_eight)(p, piece);
        NAMED(transform_from)(p, piece, piece >= 8 ? 8 : 1);
    }
    NAMED(transform_from)(x, n, piece);
}
