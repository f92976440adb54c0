// SPDX-License-Identifier: Apache-2.0
// Powers, roots of unity, and vectors of elements with their encodings, shared by both fields.
// Private to the core.
//
// Include this file after field64.h or field128.h, with FE the element type and F(name) the field's
// prefix. Every name that it defines has that prefix, so one file may include it for each field. It
// has no include guard on purpose.

// Returns: base^exponent. The exponent must be public.
static inline FE F(pow)(FE base, uint64_t exponent)
{
    FE power = F(of)(1);
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1) power = F(mul)(power, base);
        base = F(mul)(base, base);
    }
    return power;
}

// Returns: the principal root of unity of order 2^log_order, by squaring the generator.
//   log_order: 0 .. the field's LOG_ORDER
static inline FE F(root)(unsigned log_order, unsigned field_log_order)
{
    FE root = F(generator)();
    for (unsigned i = log_order; i < field_log_order; i++) root = F(mul)(root, root);
    return root;
}

// Returns: 1 / value by Fermat's theorem, for public values other than zero. The bytes of the
// element -2 are the exponent p - 2.
static inline FE F(inverse)(FE value)
{
    uint8_t exponent[sizeof(FE)];
    F(store)(exponent, F(sub)(F(of)(0), F(of)(2)));
    FE power = F(of)(1);
    for (size_t bit = 8 * sizeof exponent; bit-- > 0;) {
        power = F(mul)(power, power);
        if (exponent[bit / 8] >> bit % 8 & 1) power = F(mul)(power, value);
    }
    return power;
}

// Returns: 1 / 2^exponent.
static inline FE F(half_power)(unsigned exponent)
{
    return F(pow)(F(half)(), exponent);
}

// Returns: sum of a[i] b[i].
static inline FE F(inner)(const FE *a, const FE *b, size_t n)
{
    FE sum = F(of)(0);
    for (size_t i = 0; i < n; i++) sum = F(add)(sum, F(mul)(a[i], b[i]));
    return sum;
}

static inline void F(vector_add)(FE *a, const FE *b, size_t n)
{
    for (size_t i = 0; i < n; i++) a[i] = F(add)(a[i], b[i]);
}

static inline void F(vector_sub)(FE *a, const FE *b, size_t n)
{
    for (size_t i = 0; i < n; i++) a[i] = F(sub)(a[i], b[i]);
}

static inline void F(vector_store)(uint8_t *bytes, const FE *vector, size_t n)
{
    for (size_t i = 0; i < n; i++) F(store)(bytes + i * sizeof(FE), vector[i]);
}

// Returns: 1 if every element is canonical, else 0.
static inline uint64_t F(vector_load)(FE *vector, const uint8_t *bytes, size_t n)
{
    uint64_t is_canonical = 1;
    for (size_t i = 0; i < n; i++) is_canonical &= F(load)(&vector[i], bytes + i * sizeof(FE));
    return is_canonical;
}

// Fills a vector with uniform elements. Bytes that are not canonical are drawn again. The bytes are
// squeezed into the vector's own room, which the accepted elements fill from the front.
// Timing: depends on the XOF's output, which is independent of every measurement.
static inline void F(vector_expand)(FE *vector, size_t n, shoal_xof *xof)
{
    for (size_t i = 0; i < n;) {
        size_t drawn = n - i;
        uint8_t *bytes = (uint8_t *)(vector + i);
        shoal_xof_squeeze(bytes, drawn * sizeof(FE), xof);
        for (size_t j = 0; j < drawn; j++) i += (size_t)F(load)(&vector[i], bytes + j * sizeof(FE));
    }
}
