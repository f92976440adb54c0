// SPDX-License-Identifier: Apache-2.0
// Fully linear proofs over one field: encoding, proving, querying and deciding; see flp.h. Private
// to the core.
// Source: draft-irtf-cfrg-vdaf sections "FLP Specification", "Variants" and "FLP Gadgets".
//
// Include this file after ntt.h, with the same FE and F, and with FIELD_LOG_ORDER defined. No
// function branches or indexes on an element.

// Writes value as flp->bits zeros and ones. The digits are binary except the last one, whose weight
// makes all ones equal flp->max.
// Returns: 1 if value is in 0 .. flp->max, else 0.
static inline uint64_t F(flp_put_integer)(FE *bits, const shoal_flp *flp, uint64_t value)
{
    uint32_t last = flp->bits - 1;
    uint64_t ones = ((uint64_t)1 << last) - 1, is_above = value > ones;
    uint64_t rest = value - ((flp->max - ones) & wide_mask(is_above));
    for (uint32_t i = 0; i < last; i++) bits[i] = F(of)(rest >> i & 1);
    bits[last] = F(of)(is_above);
    return value <= flp->max;
}

// Returns: the integer that zeros and ones encode; for shares of them, a share of the integer.
static inline FE F(flp_integer)(const FE *bits, const shoal_flp *flp)
{
    uint32_t last = flp->bits - 1;
    uint64_t ones = ((uint64_t)1 << last) - 1;
    FE value = F(of)(0);
    for (uint32_t i = last; i-- > 0;) value = F(add)(F(add)(value, value), bits[i]);
    return F(add)(value, F(mul)(F(of)(flp->max - ones), bits[last]));
}

// Encodes a measurement: `length` integers for SumVec and MultihotCountVec, otherwise one integer.
//   meas: room for flp->meas_len
// Returns: 1 if every integer is in its range, else 0; meas must not be used then.
static inline uint64_t F(flp_encode)(FE *meas, const shoal_flp *flp, const uint64_t *measurement)
{
    uint64_t is_valid = 1, weight = 0;
    switch (flp->circuit) {
    case SHOAL_CIRCUIT_COUNT: meas[0] = F(of)(measurement[0]); return measurement[0] <= 1;
    case SHOAL_CIRCUIT_SUM: return F(flp_put_integer)(meas, flp, measurement[0]);
    case SHOAL_CIRCUIT_SUM_VEC:
        for (uint32_t i = 0; i < flp->length; i++)
            is_valid &= F(flp_put_integer)(meas + (size_t)i * flp->bits, flp, measurement[i]);
        return is_valid;
    case SHOAL_CIRCUIT_HISTOGRAM:
        for (uint32_t i = 0; i < flp->length; i++) meas[i] = F(of)(measurement[0] == i);
        return measurement[0] < flp->length;
    default: break;
    }
    for (uint32_t i = 0; i < flp->length; i++) {
        is_valid &= measurement[i] <= 1;
        weight += measurement[i] & 1;
        meas[i] = F(of)(measurement[i]);
    }
    return F(flp_put_integer)(meas + flp->length, flp, weight) & is_valid;
}

// Writes the part of an encoded measurement, or of a share of it, that is added up.
//   out: room for flp->output_len; may be meas
static inline void F(flp_truncate)(FE *out, const shoal_flp *flp, const FE *meas)
{
    bool is_integers = flp->circuit == SHOAL_CIRCUIT_SUM || flp->circuit == SHOAL_CIRCUIT_SUM_VEC;
    for (uint32_t i = 0; i < flp->output_len; i++)
        out[i] = is_integers ? F(flp_integer)(meas + (size_t)i * flp->bits, flp) : meas[i];
}

// Returns whether the first wire of a pair is multiplied by a power of the joint randomness and the
// second is reduced by one.
static inline bool F(flp_is_parallel)(const shoal_flp *flp)
{
    return flp->circuit >= SHOAL_CIRCUIT_SUM_VEC;
}

// Writes the polynomials of one pair of wires as values: the seeds, then the inputs of every call,
// then zeros.
//   a, b: room for flp->wire_len
//   powers: for each call, the power of its joint randomness for this pair; unused without joint
//   randomness
//   seeds: the seeds of this pair
//   one: 1, or a share of it
static inline void F(flp_wires)(FE *a, FE *b, const shoal_flp *flp, uint32_t pair, const FE *meas,
                                const FE *powers, const FE *seeds, FE one)
{
    a[0] = seeds[0];
    b[0] = flp->arity > 1 ? seeds[1] : a[0];
    bool is_parallel = F(flp_is_parallel)(flp);
    for (uint32_t i = 1; i < flp->wire_len; i++) a[i] = b[i] = F(of)(0);
    for (uint32_t call = 0; call < flp->calls; call++) {
        size_t at = (size_t)call * flp->chunk + pair;
        FE x = at < flp->meas_len ? meas[at] : F(of)(0);
        a[call + 1] = is_parallel ? F(mul)(powers[call], x) : x;
        b[call + 1] = is_parallel ? F(sub)(x, one) : x;
    }
    if (flp->arity > 1) return;
    for (uint32_t i = 0; i < flp->wire_len; i++)
        b[i] = F(sub)(a[i], one); // Sum: the second factor is not a wire
}

// Writes the powers of joint randomness for the first pair.
static inline void F(flp_first_powers)(FE *powers, const shoal_flp *flp, const FE *joint_rand)
{
    if (!F(flp_is_parallel)(flp)) return;
    FE step = flp->has_powers ? F(pow)(joint_rand[0], flp->chunk) : F(of)(0);
    for (uint32_t i = 0; i < flp->calls; i++)
        powers[i] = !flp->has_powers ? joint_rand[i]
                    : i == 0         ? joint_rand[0]
                                     : F(mul)(powers[i - 1], step);
}

// Advances the powers of joint randomness to the next pair.
static inline void F(flp_next_powers)(FE *powers, const shoal_flp *flp, const FE *joint_rand)
{
    if (!F(flp_is_parallel)(flp)) return;
    for (uint32_t i = 0; i < flp->calls; i++)
        powers[i] = F(mul)(powers[i], joint_rand[flp->has_powers ? 0 : i]);
}

// Adds the n products of a pair to every `step`-th of the values.
static inline void F(flp_add_products)(FE *values, size_t step, const FE *a, const FE *b, size_t n)
{
    for (size_t i = 0; i < n; i++) values[i * step] = F(add)(values[i * step], F(mul)(a[i], b[i]));
}

// Turns values p(w^i) into p(s w^i), where s is the square root of w. These are the odd values of
// twice as many.
//   scale: s^i / n at the bit-reversed place of i
static inline void F(flp_odd_values)(FE *v, size_t n, const FE *roots, const FE *scale)
{
    F(ntt_inverse)(v, n, roots, 2);
    for (size_t i = 0; i < n; i++) v[i] = F(mul)(v[i], scale[i]);
    F(ntt_forward)(v, n, roots, 2);
}

// Returns: the last of 2n values of a polynomial of degree 2n-2. The others determine it, because
// the coefficient of x^(2n-1) is zero.
static inline FE F(flp_last_value)(const FE *values, size_t n, const FE *roots)
{
    return F(sub)(F(of)(0), F(mul)(roots[1], F(inner)(values, roots, 2 * n - 1)));
}

// Converts the gadget's polynomial in place from 2n-1 values to its coefficients.
//   roots: 2n elements
//   v: room for 2n elements
static inline void F(flp_to_coefficients)(FE *gadget, size_t n, unsigned log_n, const FE *roots,
                                          FE *v)
{
    FE n_inverse = F(half_power)(log_n + 1);
    for (size_t i = 0; i < 2 * n - 1; i++) v[i] = gadget[i];
    v[2 * n - 1] = F(flp_last_value)(gadget, n, roots);
    F(ntt_inverse)(v, 2 * n, roots, 1);
    for (size_t i = 0; i < 2 * n - 1; i++)
        gadget[i] = F(mul)(v[F(ntt_reversed)(i, log_n + 1)], n_inverse);
}

// Writes 2n values of the gadget's polynomial, computed from its 2n-1 coefficients.
static inline void F(flp_to_values)(FE *values, const FE *gadget, size_t n, unsigned log_n,
                                    const FE *roots)
{
    for (size_t i = 0; i < 2 * n; i++)
        values[F(ntt_reversed)(i, log_n + 1)] = i < 2 * n - 1 ? gadget[i] : F(of)(0);
    F(ntt_forward)(values, 2 * n, roots, 1);
}

static inline unsigned F(flp_log)(const shoal_flp *flp)
{
    unsigned log_n = 0;
    while (1u << log_n < flp->wire_len) log_n++;
    return log_n;
}

// Writes a proof.
//   proof: room for flp->proof_len
//   prove_rand: flp->arity elements
//   joint_rand: flp->joint_rand_len elements
//   scratch: shoal_flp_scratch(flp) elements
static inline void F(flp_prove)(FE *proof, const shoal_flp *flp, const FE *meas,
                                const FE *prove_rand, const FE *joint_rand, FE *scratch)
{
    size_t n = flp->wire_len;
    unsigned log_n = F(flp_log)(flp);
    FE *roots = scratch, *scale = roots + 2 * n, *a = scale + n, *b = a + n, *powers = b + n;
    FE *gadget = proof + flp->arity, n_inverse = F(half_power)(log_n);
    F(ntt_roots)(roots, 2 * n, F(root)(log_n + 1, FIELD_LOG_ORDER));
    for (size_t i = 0; i < n; i++) scale[F(ntt_reversed)(i, log_n)] = F(mul)(roots[i], n_inverse);
    for (uint32_t i = 0; i < flp->arity; i++) proof[i] = prove_rand[i];
    for (size_t i = 0; i < 2 * n - 1; i++) gadget[i] = F(of)(0);
    F(flp_first_powers)(powers, flp, joint_rand);
    for (uint32_t pair = 0; pair < flp->chunk; pair++) {
        F(flp_wires)(a, b, flp, pair, meas, powers, prove_rand + 2 * (size_t)pair, F(of)(1));
        F(flp_add_products)(gadget, 2, a, b, n);
        F(flp_odd_values)(a, n, roots, scale);
        F(flp_odd_values)(b, n, roots, scale);
        F(flp_add_products)(gadget + 1, 2, a, b, n - 1);
        F(flp_next_powers)(powers, flp, joint_rand);
    }
    if (flp->has_coefficients) F(flp_to_coefficients)(gadget, n, log_n, roots, a);
}

// Writes the factors by which the circuit's outputs are multiplied before they are added up.
static inline void F(flp_output_weights)(FE *weights, const shoal_flp *flp, const FE *query_rand,
                                         const FE *joint_rand)
{
    weights[0] = F(of)(1); // a single output is not multiplied
    for (uint32_t i = 0; i < flp->outputs && flp->outputs > 1; i++) weights[i] = query_rand[i];
    if (!flp->has_powers) return;
    FE r = joint_rand[flp->joint_rand_len - 1];
    for (uint32_t i = 0; i < flp->outputs; i++) weights[i] = i == 0 ? r : F(mul)(weights[i - 1], r);
}

// Returns: the circuit's outputs, or shares of them, reduced to one element.
//   gadget: values of the gadget's polynomial; the output of call k is value 2k, from k = 1
//   weights: flp->outputs elements
static inline FE F(flp_reduced_output)(const shoal_flp *flp, const FE *meas, const FE *gadget,
                                       const FE *weights, FE one)
{
    FE range = F(of)(0), sum = F(of)(0);
    bool is_sum = flp->circuit == SHOAL_CIRCUIT_SUM;
    for (uint32_t call = 0; call < flp->calls; call++) {
        FE out = gadget[2 * ((size_t)call + 1)];
        range = F(add)(range, is_sum ? F(mul)(weights[call], out) : out);
    }
    if (flp->circuit == SHOAL_CIRCUIT_COUNT) return F(sub)(range, meas[0]);
    if (flp->circuit == SHOAL_CIRCUIT_SUM || flp->circuit == SHOAL_CIRCUIT_SUM_VEC) return range;
    for (uint32_t i = 0; i < flp->length; i++) sum = F(add)(sum, meas[i]);
    FE claimed =
        flp->circuit == SHOAL_CIRCUIT_HISTOGRAM ? one : F(flp_integer)(meas + flp->length, flp);
    return F(add)(F(mul)(weights[0], range), F(mul)(weights[1], F(sub)(sum, claimed)));
}

// Returns: the gadget's polynomial, given by values, at the point of the weights.
static inline FE F(flp_gadget_at)(const FE *gadget, size_t n, const FE *weights, const FE *roots)
{
    FE last = F(flp_last_value)(gadget, n, roots);
    return F(add)(F(inner)(gadget, weights, 2 * n - 1), F(mul)(last, weights[2 * n - 1]));
}

// Writes the wires of all pairs at the point of the weights. Only inner products with the weights
// are needed, so the powers of joint randomness are kept times the weights.
//   wires: room for flp->arity
//   powers: those of the first pair; overwritten
static inline void F(flp_query_pairs)(FE *wires, const shoal_flp *flp, const FE *meas,
                                      const FE *seeds, const FE *joint_rand, const FE *weights,
                                      FE *powers, FE one)
{
    FE calls_weight = F(of)(0);
    for (uint32_t call = 0; call < flp->calls; call++) {
        powers[call] = F(mul)(powers[call], weights[call + 1]);
        calls_weight = F(add)(calls_weight, weights[call + 1]);
    }
    FE less = F(mul)(one, calls_weight); // the second wire is an entry less one
    for (uint32_t pair = 0; pair < flp->chunk; pair++) {
        FE a = F(mul)(weights[0], seeds[2 * (size_t)pair]),
           b = F(sub)(F(mul)(weights[0], seeds[2 * (size_t)pair + 1]), less);
        size_t at = pair;
        for (uint32_t call = 0; at < flp->meas_len; call++, at += flp->chunk) {
            a = F(add)(a, F(mul)(powers[call], meas[at]));
            b = F(add)(b, F(mul)(weights[call + 1], meas[at]));
        }
        wires[2 * (size_t)pair] = a;
        wires[2 * (size_t)pair + 1] = b;
        F(flp_next_powers)(powers, flp, joint_rand);
    }
}

// Writes a verifier, or a share of it.
//   verifier: room for flp->verifier_len
//   meas, proof: shares, `shares` of them in all
//   query_rand: flp->query_rand_len elements
//   joint_rand: flp->joint_rand_len elements
//   scratch: shoal_flp_scratch(flp) elements
// Returns: 0 if the query's point is one at which proofs give values, because it would reveal a
// wire; else 1.
static inline uint64_t F(flp_query)(FE *verifier, const shoal_flp *flp, const FE *meas,
                                    const FE *proof, const FE *query_rand, const FE *joint_rand,
                                    unsigned shares, FE *scratch)
{
    size_t n = flp->wire_len;
    FE *roots = scratch, *gadget_weights = roots + 2 * n, *weights = gadget_weights + 2 * n,
       *a = weights + n, *b = a + n;
    FE *powers = b + n, *values = powers + n, point = query_rand[flp->query_rand_len - 1],
       one = shares == 2 ? F(half)() : F(inverse)(F(of)(shares));
    const FE *gadget = proof + flp->arity;
    unsigned log_n = F(flp_log)(flp);
    if (F(is_equal)(F(pow)(point, n), F(of)(1))) return 0;
    F(ntt_roots)(roots, 2 * n, F(root)(log_n + 1, FIELD_LOG_ORDER));
    if (flp->has_coefficients) {
        F(flp_to_values)(values, gadget, n, log_n, roots);
        gadget = values;
    }
    F(ntt_weights)(gadget_weights, 2 * n, roots, 1, point);
    F(ntt_weights)(weights, n, roots, 2, point);
    F(flp_output_weights)(a, flp, query_rand, joint_rand);
    verifier[0] = F(flp_reduced_output)(flp, meas, gadget, a, one);
    if (F(flp_is_parallel)(flp)) {
        F(flp_first_powers)(powers, flp, joint_rand);
        F(flp_query_pairs)(verifier + 1, flp, meas, proof, joint_rand, weights, powers, one);
    } else {
        F(flp_wires)(a, b, flp, 0, meas, powers, proof, one);
        // The wires are zero beyond their calls.
        verifier[1] = F(inner)(a, weights, (size_t)flp->calls + 1);
        if (flp->arity > 1) verifier[2] = F(inner)(b, weights, (size_t)flp->calls + 1);
    }
    verifier[1 + flp->arity] = F(flp_gadget_at)(gadget, n, gadget_weights, roots);
    return 1;
}

// Returns: 1 if a whole verifier accepts, else 0.
static inline uint64_t F(flp_decide)(const shoal_flp *flp, const FE *verifier)
{
    const FE *wires = verifier + 1;
    FE out = F(of)(0);
    for (uint32_t pair = 0; pair < flp->chunk; pair++) {
        FE second = flp->arity > 1 ? wires[2 * pair + 1] : F(sub)(wires[0], F(of)(1));
        out = F(add)(out, F(mul)(wires[2 * pair], second));
    }
    return F(is_equal)(verifier[0], F(of)(0)) & F(is_equal)(out, wires[flp->arity]);
}
