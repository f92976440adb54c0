// SPDX-License-Identifier: Apache-2.0
// Proves over Field128 with the wires of four pairs side by side; see flp128_lanes.h. Lane 2k is
// the first wire of pair k and lane 2k + 1 the second, so that one transform serves eight wires.
// First wires are in Montgomery form and second wires are not: a product of the two is plain.
#include "flp128_lanes.h"
#include "flp128_tables.h"
#include "xof.h"

#define FE shoal_field128
#define F(name) shoal_field128_##name
#define FIELD_LOG_ORDER SHOAL_FIELD128_LOG_ORDER
#include "field_vector.h"
#include "ntt.h"

#include "flp_field.h"

#define PAIRS (LANES / 2)
#define FIRST_WIRES 0x55
#define SECOND_WIRES 0xaa

// Vectors of one group of pairs: powers of joint randomness by call and their factors to the next
// group, wire values, and the gadget's values summed over all groups. The roots and the scale are
// tables.
typedef struct wires {
    uint64_t *roots, *scale, *powers, *steps, *values, *gadget;
} wires;

// Returns: lanes of b where the mask says so, else of a.
static lanes choose(lanes a, lanes b, __mmask8 which)
{
    for (unsigned i = 0; i < 3; i++) a.limb[i] = _mm512_mask_mov_epi64(a.limb[i], which, b.limb[i]);
    return a;
}

static void first_powers(const wires *w, const shoal_flp *flp, const FE *joint_rand, FE *powers)
{
    F(flp_first_powers)(powers, flp, joint_rand);
    for (size_t call = 0; call < flp->calls; call++) {
        FE r = joint_rand[flp->has_powers ? 0 : call];
        lanes step = lanes_mul(lanes_broadcast(r), lanes_r_squared()),
              square = lanes_mul(step, step);
        // By pair: 1, r, r^2, r^3
        lanes ahead = lanes_mul(choose(lanes_r(), step, 0xcc), choose(lanes_r(), square, 0xf0));
        lanes first = lanes_mul(lanes_broadcast(powers[call]), lanes_r_squared());
        // An entry is plain: the first wire's factor brings it to Montgomery form.
        first = lanes_mul(lanes_mul(first, ahead), lanes_r_squared());
        lanes_put(w->powers + call * LANES_WORDS, choose(first, lanes_r(), SECOND_WIRES));
        lanes_put(w->steps + call * LANES_WORDS,
                  choose(lanes_mul(square, square), lanes_r(), SECOND_WIRES));
    }
}

// Returns: n <= 4 consecutive elements, each in both lanes of its pair, then zeros.
static lanes load_pairs(const FE *from, size_t n)
{
    __m512i words = _mm512_maskz_loadu_epi64((__mmask8)((1u << 2 * n) - 1), from);
    return lanes_of_words(_mm512_unpacklo_epi64(words, words), _mm512_unpackhi_epi64(words, words));
}

// Writes the wire values of the pairs from `pair` on, of which n <= 4 exist. First wires of the
// others are zero.
static void fill(const wires *w, const shoal_flp *flp, uint32_t pair, size_t n, const FE *meas,
                 const FE *seeds)
{
    const lanes zero = {{lanes_all(0), lanes_all(0), lanes_all(0)}};
    const lanes ones =
        choose(zero, (lanes){{lanes_all(1), lanes_all(0), lanes_all(0)}}, SECOND_WIRES);
    lanes_put(w->values, lanes_mul(lanes_load(seeds + 2 * (size_t)pair, 2 * n),
                                   choose(lanes_r_squared(), lanes_r(), SECOND_WIRES)));
    for (size_t call = 0; call < flp->calls; call++) {
        size_t at = call * flp->chunk + pair, left = at < flp->meas_len ? flp->meas_len - at : 0;
        uint64_t *powers = w->powers + call * LANES_WORDS;
        lanes power = lanes_get(powers);
        lanes x = lanes_mul(load_pairs(meas + (left > 0 ? at : 0), left < n ? left : n), power);
        lanes_put(w->values + (call + 1) * LANES_WORDS, lanes_sub(x, ones, 0));
        lanes_put(powers, lanes_mul(power, lanes_get(w->steps + call * LANES_WORDS)));
    }
    for (size_t i = (size_t)flp->calls + 1; i < flp->wire_len; i++)
        lanes_put(w->values + i * LANES_WORDS, zero);
}

// As ntt_inverse: values are below 2^k p before a pass and below 2^(k+1) p after it.
static void inverse(uint64_t *v, size_t n, const uint64_t *roots)
{
    unsigned k = 2;
    for (size_t half = n / 2, step = 2; half > 0; half /= 2, step *= 2, k++) {
        for (size_t j = 0; j < half; j++) {
            lanes root = flp128_value(roots, j == 0 ? 0 : 2 * n - j * step);
            for (size_t at = j; at < n; at += 2 * half) {
                uint64_t *to_low = v + at * LANES_WORDS, *to_high = to_low + half * LANES_WORDS;
                lanes low = lanes_get(to_low), high = lanes_get(to_high),
                      difference = lanes_sub(low, high, k);
                lanes_put(to_low, lanes_add(low, high));
                lanes_put(to_high, j == 0 ? difference : lanes_mul(difference, root));
            }
        }
    }
}

// As ntt_forward: a pass adds at most 2p.
static void forward(uint64_t *v, size_t n, const uint64_t *roots)
{
    for (size_t half = 1, step = n; half < n; half *= 2, step /= 2) {
        for (size_t j = 0; j < half; j++) {
            lanes root = flp128_value(roots, j * step);
            for (size_t at = j; at < n; at += 2 * half) {
                uint64_t *to_low = v + at * LANES_WORDS, *to_high = to_low + half * LANES_WORDS;
                lanes low = lanes_get(to_low), high = lanes_mul(lanes_get(to_high), root);
                lanes_put(to_low, lanes_add(low, high));
                lanes_put(to_high, lanes_sub(low, high, 1));
            }
        }
    }
}

// Adds the products of n pairs of wires to every second of the gadget's values. Limbs are added
// without a carry: there are at most 256 groups.
static void add_products(uint64_t *gadget, const uint64_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        lanes v = lanes_get(values + i * LANES_WORDS), other = v;
        for (unsigned l = 0; l < 3; l++)
            other.limb[l] = _mm512_permutex_epi64(v.limb[l], 0xb1); // the pair's other wire
        lanes product = lanes_mul(v, other), sum = lanes_get(gadget + 2 * i * LANES_WORDS);
        for (unsigned l = 0; l < 3; l++)
            sum.limb[l] = _mm512_add_epi64(sum.limb[l], product.limb[l]);
        lanes_put(gadget + 2 * i * LANES_WORDS, sum);
    }
}

static void open_tables(const wires *w, size_t n, unsigned log_n, FE root)
{
    FE n_inverse = F(half_power)(log_n), in_order[LANES];
    lanes scale = lanes_mul(lanes_broadcast(n_inverse), lanes_r_squared());
    flp128_roots(w->roots, 2 * n, root);
    for (size_t i = 0; i < n; i += LANES) {
        lanes_store(in_order, lanes_mul(lanes_get(w->roots + 3 * i), scale));
        for (size_t j = 0; j < LANES; j++) {
            size_t to = F(ntt_reversed)(i + j, log_n);
            lanes s = lanes_broadcast(in_order[j]);
            uint64_t *at = w->scale + to / LANES * LANES_WORDS + to % LANES;
            for (unsigned l = 0; l < 3; l++)
                at[l * LANES] = (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(s.limb[l]));
        }
    }
}

void shoal_flp128_prove_avx512(FE *proof, const shoal_flp *flp, const FE *meas,
                               const FE *prove_rand, const FE *joint_rand, FE *scratch)
{
    size_t n = flp->wire_len;
    unsigned log_n = F(flp_log)(flp);
    FE *gadget = proof + flp->arity, root = F(root)(log_n + 1, FIELD_LOG_ORDER);
    uint64_t *words = (uint64_t *)(scratch + shoal_flp_scratch(flp));
    const wires w = {words,          words + 6 * n,  words + 9 * n,
                     words + 33 * n, words + 57 * n, words + 81 * n};
    open_tables(&w, n, log_n, root);
    first_powers(&w, flp, joint_rand, scratch);
    memset(w.gadget, 0, 2 * n * LANES_WORDS * sizeof *w.gadget);
    for (uint32_t pair = 0; pair < flp->chunk; pair += PAIRS) {
        fill(&w, flp, pair, flp->chunk - pair < PAIRS ? flp->chunk - pair : PAIRS, meas,
             prove_rand);
        add_products(w.gadget, w.values, n);
        inverse(w.values, n, w.roots);
        for (size_t i = 0; i < n; i++)
            lanes_put(w.values + i * LANES_WORDS,
                      lanes_mul(lanes_get(w.values + i * LANES_WORDS), flp128_value(w.scale, i)));
        forward(w.values, n, w.roots);
        add_products(w.gadget + LANES_WORDS, w.values, n - 1);
    }
    memcpy(proof, prove_rand, flp->arity * sizeof *proof);
    for (size_t i = 0; i < 2 * n - 1; i++)
        gadget[i] = lanes_sum(lanes_get(w.gadget + i * LANES_WORDS), FIRST_WIRES);
    if (!flp->has_coefficients) return;
    FE *roots = scratch;
    F(ntt_roots)(roots, 2 * n, root);
    F(flp_to_coefficients)(gadget, n, log_n, roots, roots + 2 * n);
}
