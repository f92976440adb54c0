// SPDX-License-Identifier: Apache-2.0
// The number theoretic transform, in place, over either field. Private to the core.
//
// Include this file after field_vector.h, with the same FE and F. Values are p(w^i), i = 0 .. n-1,
// where w is the principal n-th root of unity. Coefficients are in bit-reversed order, so neither
// direction has to reorder: ntt_inverse decimates in frequency, ntt_forward in time. Between the
// two a caller may scale coefficient i by s^i (at its reversed place), which gives p(s w^i); this
// turns n values into 2n. Sizes are powers of two. `roots` holds w^i, i < n, at every `stride`-th
// place, so one table serves several sizes.

// Fills roots[0..n) with the powers of the principal n-th root.
static inline void F(ntt_roots)(FE *roots, size_t n, FE root)
{
    roots[0] = F(of)(1);
    for (size_t i = 1; i < n; i++) roots[i] = F(mul)(roots[i - 1], root);
}

// Returns: the lowest `bits` bits of i, reversed.
static inline size_t F(ntt_reversed)(size_t i, unsigned bits)
{
    size_t reversed = 0;
    for (unsigned b = 0; b < bits; b++) reversed |= (i >> b & 1) << (bits - 1 - b);
    return reversed;
}

// Transforms values to n times the coefficients.
static inline void F(ntt_inverse)(FE *v, size_t n, const FE *roots, size_t stride)
{
    for (size_t half = n / 2; half > 0; half /= 2) {
        size_t step = stride * (n / (2 * half));
        for (size_t at = 0; at < n; at += 2 * half) {
            for (size_t j = 0; j < half; j++) {
                FE low = v[at + j], high = v[at + half + j], difference = F(sub)(low, high);
                v[at + j] = F(add)(low, high);
                // The inverse of roots[j step] is its mirror image in the table; the 0-th is one.
                v[at + half + j] =
                    j == 0 ? difference : F(mul)(difference, roots[stride * n - j * step]);
            }
        }
    }
}

// Transforms coefficients to values.
static inline void F(ntt_forward)(FE *v, size_t n, const FE *roots, size_t stride)
{
    for (size_t half = 1; half < n; half *= 2) {
        size_t step = stride * (n / (2 * half));
        for (size_t at = 0; at < n; at += 2 * half) {
            for (size_t j = 0; j < half; j++) {
                FE low = v[at + j],
                   high = j == 0 ? v[at + half] : F(mul)(v[at + half + j], roots[j * step]);
                v[at + j] = F(add)(low, high);
                v[at + half + j] = F(sub)(low, high);
            }
        }
    }
}

// Fills weights[0..n) so that p(x) = sum of weights[i] p(w^i) for every p of degree below n.
// weights[i] is w^i / n times the product of x - w^j over all j other than i. The products are
// accumulated from both ends.
static inline void F(ntt_weights)(FE *weights, size_t n, const FE *roots, size_t stride, FE x)
{
    FE product = F(of)(1);
    for (size_t i = 0; i < n; i++) {
        weights[i] = F(mul)(product, roots[i * stride]);
        product = F(mul)(product, F(sub)(x, roots[i * stride]));
    }
    product = F(inverse)(F(of)(n));
    for (size_t i = n; i-- > 0;) {
        weights[i] = F(mul)(weights[i], product);
        product = F(mul)(product, F(sub)(x, roots[i * stride]));
    }
}
