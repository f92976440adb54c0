// SPDX-License-Identifier: Apache-2.0
// What both fields must satisfy, against arithmetic that shares nothing with theirs: binary numbers
// of 32-bit limbs, doubled and added bit by bit. Included by test_field64.c and test_field128.c
// with FE, F, LOG_ORDER, and the modulus.
#include <string.h>

#include "check.h"
#include "rng.h"

#define N_LIMBS (sizeof(FE) / 4)

typedef struct number {
    uint32_t limbs[N_LIMBS + 1]; // little-endian, one limb of room
} number;

static int is_above_modulus(const number *a)
{
    for (size_t i = N_LIMBS + 1; i-- > 0;) {
        uint32_t p = i < N_LIMBS ? MODULUS[i] : 0;
        if (a->limbs[i] != p) return a->limbs[i] > p;
    }
    return 1;
}

// a + b, less the modulus where it is not below it.
static number number_add(number a, number b)
{
    uint64_t carry = 0;
    for (size_t i = 0; i <= N_LIMBS; i++) {
        carry += (uint64_t)a.limbs[i] + b.limbs[i];
        a.limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (!is_above_modulus(&a)) return a;
    int64_t borrow = 0;
    for (size_t i = 0; i <= N_LIMBS; i++) {
        borrow += (int64_t)a.limbs[i] - (i < N_LIMBS ? MODULUS[i] : 0);
        a.limbs[i] = (uint32_t)borrow;
        borrow = borrow < 0 ? -1 : 0;
    }
    return a;
}

static number number_mul(number a, number b)
{
    number product = {{0}};
    for (size_t bit = 32 * N_LIMBS; bit-- > 0;) {
        product = number_add(product, product);
        if (b.limbs[bit / 32] >> bit % 32 & 1) product = number_add(product, a);
    }
    return product;
}

static number number_of(FE element)
{
    number a = {{0}};
    uint8_t bytes[sizeof(FE)];
    F(store)(bytes, element);
    for (size_t i = 0; i < N_LIMBS; i++) a.limbs[i] = load32_le(bytes + 4 * i);
    return a;
}

static int is_number(FE element, number a)
{
    number b = number_of(element);
    return memcmp(&a, &b, sizeof a) == 0;
}

static FE draw(shoal_rng *rng)
{
    FE element;
    uint8_t bytes[sizeof(FE)];
    do shoal_rng_bytes(rng, bytes, sizeof bytes);
    while (!F(load)(&element, bytes));
    return element;
}

static void check_pair(FE a, FE b)
{
    FE difference = F(sub)(a, b);
    CHECK(is_number(F(add)(a, b), number_add(number_of(a), number_of(b))));
    CHECK(is_number(F(mul)(a, b), number_mul(number_of(a), number_of(b))));
    CHECK(!is_above_modulus(&(number){{0}}) &&
          !is_above_modulus((number[]){number_of(difference)}));
    CHECK(is_number(a, number_add(number_of(difference), number_of(b))));
    CHECK(F(is_equal)(a, b) == (memcmp(&a, &b, sizeof a) == 0));
}

// Limbs at the ends of their range, where carries and borrows are, and whatever is near zero and
// the modulus.
static void check_arithmetic(shoal_rng *rng)
{
    static const uint32_t ends[] = {0,          1,          2,          27,
                                    28,         29,         0x7fffffff, 0x80000000,
                                    0xffffffe3, 0xffffffe4, 0xfffffffe, 0xffffffff};
    FE edges[300];
    size_t n = 0;
    edges[n++] = F(of)(0);
    for (uint64_t i = 1; i < 40; i++) {
        edges[n++] = F(of)(i);
        edges[n++] = F(sub)(F(of)(0), F(of)(i));
    }
    while (n < 300) {
        uint8_t bytes[sizeof(FE)];
        for (size_t i = 0; i < N_LIMBS; i++)
            store32_le(bytes + 4 * i, ends[shoal_rng_below(rng, 12)]);
        n += F(load)(&edges[n], bytes);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j += 1 + i % 5) check_pair(edges[i], edges[j]);
    for (int i = 0; i < 3000; i++) check_pair(draw(rng), draw(rng));
}

static void check_encoding(shoal_rng *rng)
{
    uint8_t bytes[2 * sizeof(FE)], again[2 * sizeof(FE)];
    FE element, pair[2];
    for (size_t i = 0; i < N_LIMBS; i++) store32_le(bytes + 4 * i, MODULUS[i]);
    CHECK(!F(load)(&element, bytes)); // p
    bytes[0] = 0;
    CHECK(F(load)(&element, bytes) && F(is_equal)(element, F(sub)(F(of)(0), F(of)(1)))); // p - 1
    bytes[0] = 2;
    CHECK(!F(load)(&element, bytes)); // p + 1
    memset(bytes, 0xff, sizeof(FE));
    CHECK(!F(load)(&element, bytes));
    F(store)(bytes + sizeof(FE), F(of)(7));
    CHECK(!F(vector_load)(pair, bytes, 2));
    for (int i = 0; i < 1000; i++) {
        pair[0] = draw(rng);
        pair[1] = draw(rng);
        F(vector_store)(bytes, pair, 2);
        CHECK(F(vector_load)(pair, bytes, 2));
        F(vector_store)(again, pair, 2);
        CHECK(memcmp(bytes, again, sizeof bytes) == 0);
    }
}

static void check_inverse(shoal_rng *rng)
{
    for (uint64_t i = 1; i < 50; i++)
        CHECK(F(is_equal)(F(mul)(F(inverse)(F(of)(i)), F(of)(i)), F(of)(1)));
    for (int i = 0; i < 50; i++) {
        FE a = draw(rng);
        CHECK(F(is_equal)(F(mul)(F(inverse)(a), a), F(of)(1)));
        CHECK(F(is_equal)(F(pow)(a, 13), F(mul)(F(pow)(a, 6), F(pow)(a, 7))));
    }
}

// The generator is 7 to the cofactor, and its order is 2^LOG_ORDER and no less.
static void check_generator(void)
{
    FE power = F(pow)(F(of)(7), COFACTOR);
    CHECK(F(is_equal)(power, F(generator)()));
    for (unsigned i = 1; i < LOG_ORDER; i++) power = F(mul)(power, power);
    CHECK(F(is_equal)(power, F(sub)(F(of)(0), F(of)(1))));
    CHECK(F(is_equal)(F(root)(0, LOG_ORDER), F(of)(1)));
    CHECK(F(is_equal)(F(root)(1, LOG_ORDER), power));
    CHECK(F(is_equal)(F(root)(LOG_ORDER, LOG_ORDER), F(generator)()));
}

// coefficients[0] + coefficients[1] x + ...
static FE evaluate(const FE *coefficients, size_t n, FE x)
{
    FE value = F(of)(0);
    for (size_t i = n; i-- > 0;) value = F(add)(F(mul)(value, x), coefficients[i]);
    return value;
}

// Values to coefficients and back, against evaluation by Horner's rule; and through the table of
// twice the size.
static void check_transform(shoal_rng *rng)
{
    enum { MOST = 64 };
    FE coefficients[MOST], v[MOST], roots[2 * MOST];
    for (unsigned log_n = 0; 1u << log_n <= MOST; log_n++) {
        for (size_t stride = 1; stride <= 2; stride++) {
            size_t n = (size_t)1 << log_n;
            FE root = F(root)(log_n, LOG_ORDER), n_inverse = F(inverse)(F(of)(n));
            F(ntt_roots)(roots, stride * n, F(root)(log_n + (stride == 2), LOG_ORDER));
            for (size_t i = 0; i < n; i++) coefficients[i] = draw(rng);
            for (size_t i = 0; i < n; i++) v[F(ntt_reversed)(i, log_n)] = coefficients[i];
            F(ntt_forward)(v, n, roots, stride);
            for (size_t i = 0; i < n; i++)
                CHECK(F(is_equal)(v[i], evaluate(coefficients, n, F(pow)(root, i))));
            F(ntt_inverse)(v, n, roots, stride);
            for (size_t i = 0; i < n; i++)
                CHECK(
                    F(is_equal)(F(mul)(v[F(ntt_reversed)(i, log_n)], n_inverse), coefficients[i]));
        }
    }
}

// The product from 32-bit halves is the compiler's.
static void check_wide(shoal_rng *rng)
{
    static const uint64_t ends[] = {
        0, 1, 0xffffffff, 0x100000000, 0xffffffff00000000, 0xffffffffffffffff};
    wide seven = wide_mul_portable(0xffffffffffffffff, 7);
    CHECK(seven.low == 0xfffffffffffffff9 && seven.high == 6);
#ifdef __SIZEOF_INT128__
    for (int i = 0; i < 20000; i++) {
        uint64_t a = i < 36 ? ends[i % 6] : shoal_rng_u64(rng),
                 b = i < 36 ? ends[i / 6] : shoal_rng_u64(rng);
        wide x = wide_mul_portable(a, b), y = wide_mul_int128(a, b);
        CHECK(x.low == y.low && x.high == y.high);
    }
#else
    (void)rng;
    (void)ends;
#endif
}

int main(void)
{
    const uint8_t seed[32] = {SEED};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    check_wide(&rng);
    check_arithmetic(&rng);
    check_encoding(&rng);
    check_inverse(&rng);
    check_generator();
    check_transform(&rng);
    return check_summary();
}
