// SPDX-License-Identifier: Apache-2.0
// Queries a proof over Field128, eight values at a time; see flp128_lanes.h.
//
// A pair's wire values enter the verifier only through their inner products with the weights. The
// first wire is a power of joint randomness times an entry of the measurement. So the lanes keep
// weight times power, and an entry costs one reduced product, which advances the power, and two
// products that are added up before they are reduced.
#include "flp128_lanes.h"
#include "flp128_tables.h"
#include "xof.h"

#define FE shoal_field128
#define F(name) shoal_field128_##name
#define FIELD_LOG_ORDER SHOAL_FIELD128_LOG_ORDER
#include "field_vector.h"
#include "ntt.h"

#include "flp_field.h"

// Tables, each of one value for a root of unity: the weights of wires and of the gadget, and the
// first weights times powers of joint randomness, with the factor to the next pair.
typedef struct tables {
    uint64_t *roots, *wire_roots, *gadget, *wires, *first, *step;
} tables;

// Returns: the sum of values times a table, whose size n is a multiple of 8.
//   values: n - 1 elements; the last is taken as zero
static FE inner(const uint64_t *table, const FE *values, size_t n)
{
    FE sum = F(of)(0);
    for (size_t at = 0; at < n;) {
        lanes_columns columns = lanes_no_columns();
        size_t end = n - at < 1024 ? n : at + 1024;
        for (; at < end; at += LANES)
            lanes_multiply_add(&columns, lanes_get(table + 3 * at),
                               lanes_load(values + at, at + LANES < n ? LANES : LANES - 1));
        sum = F(add)(sum, lanes_sum(lanes_reduce(columns), 0xff));
    }
    return sum;
}

// Returns: the gadget's polynomial at the point of the weights; see flp_gadget_at.
static FE gadget_at(const FE *values, size_t n, const tables *t)
{
    const lanes one = {{lanes_all(1), lanes_all(0), lanes_all(0)}};
    FE last_weight[LANES], root[LANES];
    lanes_store(last_weight, lanes_mul(lanes_get(t->gadget + 6 * n - LANES_WORDS), one));
    lanes_store(root, lanes_mul(lanes_get(t->roots), one));
    FE last = F(sub)(F(of)(0), F(mul)(root[1], inner(t->roots, values, 2 * n)));
    return F(add)(inner(t->gadget, values, 2 * n), F(mul)(last, last_weight[LANES - 1]));
}

// Returns: elements `from[0]`, `from[stride]`, ... of which `left` exist, then zeros. An
// instruction that gathers takes longer on machines that protect it.
static lanes load_apart(const FE *from, size_t stride, size_t left)
{
    uint64_t low[LANES], high[LANES];
    __m128i e[LANES];
    for (size_t i = 0; i < LANES; i++)
        e[i] = i * stride < left ? _mm_loadu_si128((const __m128i *)(from + i * stride))
                                 : _mm_setzero_si128();
    for (size_t i = 0; i < LANES; i += 2) {
        _mm_storeu_si128((__m128i *)(low + i), _mm_unpacklo_epi64(e[i], e[i + 1]));
        _mm_storeu_si128((__m128i *)(high + i), _mm_unpackhi_epi64(e[i], e[i + 1]));
    }
    return lanes_of_words(_mm512_loadu_si512(low), _mm512_loadu_si512(high));
}

// Fills t->first and t->step. Value 0 is the seed's, which has no power, and those after the last
// call are zeros.
//   powers: wire_len elements of scratch
static void first_products(const tables *t, const shoal_flp *flp, const FE *joint_rand, FE *powers)
{
    FE zero = F(of)(0), first[LANES], step[LANES];
    F(flp_first_powers)(powers, flp, joint_rand);
    for (size_t at = 0; at < flp->wire_len; at += LANES) {
        for (size_t i = 0; i < LANES; i++) {
            bool is_call = at + i > 0 && at + i <= flp->calls;
            first[i] = is_call ? powers[at + i - 1] : zero;
            step[i] = is_call ? joint_rand[flp->has_powers ? 0 : at + i - 1] : zero;
        }
        lanes r = lanes_mul(lanes_load(first, LANES), lanes_r_squared());
        lanes_put(t->first + 3 * at, lanes_mul(r, lanes_get(t->wires + 3 * at)));
        lanes_put(t->step + 3 * at, lanes_mul(lanes_load(step, LANES), lanes_r_squared()));
    }
}

// Adds up one pair's calls: the products of the first wire and of the entries themselves with the
// weights. Advances t->first to the next pair.
static void query_pair(FE sums[2], const tables *t, const shoal_flp *flp, uint32_t pair,
                       const FE *meas)
{
    lanes_columns a = lanes_no_columns(), b = a;
    for (size_t at = 0; at <= flp->calls; at += LANES) {
        // Lane i is call at + i - 1. Call -1 does not exist; its lane gets no entry.
        size_t place = at * flp->chunk + pair, skip = at == 0;
        size_t from = skip ? pair : place - flp->chunk;
        lanes x = from < flp->meas_len ? load_apart(meas + from, flp->chunk, flp->meas_len - from)
                                       : (lanes){{lanes_all(0), lanes_all(0), lanes_all(0)}};
        if (skip) { // move the calls from 0 on to the lanes from 1 on
            const __m512i up = _mm512_setr_epi64(0, 0, 1, 2, 3, 4, 5, 6);
            for (unsigned i = 0; i < 3; i++)
                x.limb[i] = _mm512_maskz_permutexvar_epi64(0xfe, up, x.limb[i]);
        }
        uint64_t *first = t->first + 3 * at;
        lanes power = lanes_get(first);
        lanes_multiply_add(&a, power, x);
        lanes_multiply_add(&b, lanes_get(t->wires + 3 * at), x);
        lanes_put(first, lanes_mul(power, lanes_get(t->step + 3 * at)));
    }
    sums[0] = lanes_sum(lanes_reduce(a), 0xff);
    sums[1] = lanes_sum(lanes_reduce(b), 0xff);
}

static void query_wires(FE *verifier, const tables *t, const shoal_flp *flp, const FE *meas,
                        const FE *seeds, FE one)
{
    const lanes plain = {{lanes_all(1), lanes_all(0), lanes_all(0)}};
    FE weights[LANES], calls_weight = F(of)(0), sums[2];
    for (size_t at = 0; at <= flp->calls; at += LANES) {
        lanes_store(weights, lanes_mul(lanes_get(t->wires + 3 * at), plain));
        for (size_t i = at == 0; i < LANES && at + i <= flp->calls; i++)
            calls_weight = F(add)(calls_weight, weights[i]);
    }
    FE less = F(mul)(one, calls_weight); // the second wire is an entry less one
    lanes_store(weights, lanes_mul(lanes_get(t->wires), plain));
    for (uint32_t pair = 0; pair < flp->chunk; pair++) {
        FE *to = verifier + 2 * (size_t)pair;
        query_pair(sums, t, flp, pair, meas);
        to[0] = F(add)(sums[0], F(mul)(weights[0], seeds[2 * pair]));
        to[1] = F(add)(F(sub)(sums[1], less), F(mul)(weights[0], seeds[2 * pair + 1]));
    }
}

uint64_t shoal_flp128_query_avx512(FE *verifier, const shoal_flp *flp, const FE *meas,
                                   const FE *proof, const FE *query_rand, const FE *joint_rand,
                                   unsigned shares, FE *scratch)
{
    size_t n = flp->wire_len;
    FE *roots = scratch, *values = roots + 2 * n, *weights = values + 2 * n;
    FE *powers = weights + n, point = query_rand[flp->query_rand_len - 1];
    uint64_t *words = (uint64_t *)(scratch + shoal_flp_scratch(flp));
    const tables t = {words,          words + 6 * n,  words + 9 * n,
                      words + 15 * n, words + 18 * n, words + 21 * n};
    const FE *gadget = proof + flp->arity;
    unsigned log_n = F(flp_log)(flp);
    if (F(is_equal)(F(pow)(point, n), F(of)(1))) return 0;
    FE root = F(root)(log_n + 1, FIELD_LOG_ORDER), n_inverse = F(half_power)(log_n);
    FE one = shares == 2 ? F(half)() : F(inverse)(F(of)(shares));
    if (flp->has_coefficients) {
        F(ntt_roots)(roots, 2 * n, root);
        F(flp_to_values)(values, gadget, n, log_n, roots);
        gadget = values;
    }
    flp128_roots(t.roots, 2 * n, root);
    flp128_roots(t.wire_roots, n, F(mul)(root, root));
    flp128_weights(t.gadget, 2 * n, t.roots, point, F(half_power)(log_n + 1));
    flp128_weights(t.wires, n, t.wire_roots, point, n_inverse);
    F(flp_output_weights)(weights, flp, query_rand, joint_rand);
    verifier[0] = F(flp_reduced_output)(flp, meas, gadget, weights, one);
    first_products(&t, flp, joint_rand, powers);
    query_wires(verifier + 1, &t, flp, meas, proof, one);
    verifier[1 + flp->arity] = gadget_at(gadget, n, &t);
    return 1;
}
