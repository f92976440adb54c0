// SPDX-License-Identifier: Apache-2.0
// Prio3 over one field; see prio3.h. Private to the core.
// Source: draft-irtf-cfrg-vdaf section "Specification" of Prio3.
//
// Include this file after flp_field.h, with the same FE and F, and with PRIO3_PROVE(prio3) and
// PRIO3_QUERY(prio3), which are flp_prove and flp_query or variants of them. It ends with the table
// of functions, named PRIO3_FIELD.

#define BLOCK 32 // elements of a share computed at a time; no helper's share is ever whole

// Starts the XOF of a usage whose binder begins with the number of proofs: a share of the proofs,
// and the prover, joint and query randomness.
static void F(prio3_proofs_xof)(shoal_xof *xof, const shoal_prio3 *prio3, prio3_usage usage,
                                const uint8_t *seed, shoal_prio3_bytes ctx)
{
    const uint8_t proofs = (uint8_t)prio3->proofs;
    shoal_prio3_xof(xof, prio3, usage, seed, ctx);
    shoal_xof_absorb(xof, &proofs, 1);
}

// Starts the XOF of a helper's measurement share.
static void F(prio3_meas_xof)(shoal_xof *xof, const shoal_prio3 *prio3, const uint8_t *seed,
                              shoal_prio3_bytes ctx, uint32_t aggregator)
{
    const uint8_t id = (uint8_t)aggregator;
    shoal_prio3_xof(xof, prio3, PRIO3_MEAS_SHARE, seed, ctx);
    shoal_xof_absorb(xof, &id, 1);
}

// Starts the XOF of a helper's share of the proofs, from the last of its seeds.
static void F(prio3_proof_xof)(shoal_xof *xof, const shoal_prio3 *prio3, const uint8_t *seeds,
                               shoal_prio3_bytes ctx, uint32_t aggregator)
{
    const uint8_t id = (uint8_t)aggregator,
                  *seed = seeds + (prio3->share_seeds - 1) * (size_t)prio3->seed;
    F(prio3_proofs_xof)(xof, prio3, PRIO3_PROOF_SHARE, seed, ctx);
    shoal_xof_absorb(xof, &id, 1);
}

// Starts the XOF of an aggregator's joint randomness part; its measurement share is absorbed next.
static void F(prio3_part_xof)(shoal_xof *xof, const shoal_prio3 *prio3, const uint8_t *blind,
                              shoal_prio3_bytes ctx, uint32_t aggregator, const uint8_t *nonce)
{
    const uint8_t id = (uint8_t)aggregator;
    shoal_prio3_xof(xof, prio3, PRIO3_JOINT_RAND_PART, blind, ctx);
    shoal_xof_absorb(xof, &id, 1);
    shoal_xof_absorb(xof, nonce, SHOAL_PRIO3_NONCE);
}

// Absorbs the encoding of a vector.
static void F(prio3_absorb)(shoal_xof *xof, const FE *vector, size_t n)
{
    uint8_t bytes[BLOCK * sizeof(FE)];
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t len = n - at < BLOCK ? n - at : BLOCK;
        F(vector_store)(bytes, vector + at, len);
        shoal_xof_absorb(xof, bytes, len * sizeof(FE));
    }
    wipe(bytes, sizeof bytes);
}

// Subtracts a XOF's expansion from a vector, and absorbs the expansion into `part` unless it is
// NULL.
static void F(prio3_take)(FE *vector, size_t n, shoal_xof *xof, shoal_xof *part)
{
    FE block[BLOCK];
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t len = n - at < BLOCK ? n - at : BLOCK;
        F(vector_expand)(block, len, xof);
        F(vector_sub)(vector + at, block, len);
        if (part != NULL) F(prio3_absorb)(part, block, len);
    }
    wipe(block, sizeof block);
    wipe(xof, sizeof *xof);
}

// Subtracts the helpers' shares from an encoded measurement and writes every aggregator's part of
// the joint randomness.
static void F(prio3_share_meas)(FE *leader, uint8_t *parts, const shoal_prio3 *prio3,
                                shoal_prio3_bytes ctx, const uint8_t *nonce,
                                const prio3_seeds *seeds)
{
    shoal_xof xof, part;
    size_t meas_len = prio3->flp.meas_len;
    bool has_parts = prio3->flp.joint_rand_len > 0;
    for (uint32_t i = 1; i < prio3->shares; i++) {
        F(prio3_meas_xof)(&xof, prio3, seeds->shares[i], ctx, i);
        if (has_parts) F(prio3_part_xof)(&part, prio3, seeds->blinds[i], ctx, i, nonce);
        F(prio3_take)(leader, meas_len, &xof, has_parts ? &part : NULL);
        if (has_parts) shoal_xof_squeeze(parts + (size_t)i * prio3->seed, prio3->seed, &part);
    }
    if (!has_parts) return;
    F(prio3_part_xof)(&part, prio3, seeds->blinds[0], ctx, 0, nonce);
    F(prio3_absorb)(&part, leader, meas_len);
    shoal_xof_squeeze(parts, prio3->seed, &part);
    wipe(&part, sizeof part);
}

static void F(prio3_joint_rands)(FE *joint_rands, const shoal_prio3 *prio3, const uint8_t *seed,
                                 shoal_prio3_bytes ctx)
{
    shoal_xof xof;
    if (prio3->flp.joint_rand_len == 0) return;
    F(prio3_proofs_xof)(&xof, prio3, PRIO3_JOINT_RANDOMNESS, seed, ctx);
    F(vector_expand)(joint_rands, (size_t)prio3->flp.joint_rand_len * prio3->proofs, &xof);
}

uint64_t F(prio3_shard)(uint8_t *leader_share, uint8_t *parts, const shoal_prio3 *prio3,
                        shoal_prio3_bytes ctx, const uint64_t *measurement, const uint8_t *nonce,
                        const prio3_seeds *seeds, uint64_t *scratch)
{
    const shoal_flp *flp = &prio3->flp;
    size_t proofs_len = (size_t)flp->proof_len * prio3->proofs,
           rand_len = (size_t)flp->arity * prio3->proofs;
    FE *meas = (FE *)scratch, *leader = meas + flp->meas_len, *proofs = leader + flp->meas_len;
    FE *prove_rand = proofs + proofs_len, *joint_rand = prove_rand + rand_len;
    FE *rest = joint_rand + (size_t)flp->joint_rand_len * prio3->proofs;
    uint8_t joint_seed[SHOAL_XOF_SEED] = {0};
    shoal_xof xof;

    uint64_t is_valid = F(flp_encode)(meas, flp, measurement);
    memcpy(leader, meas, flp->meas_len * sizeof *meas);
    F(prio3_share_meas)(leader, parts, prio3, ctx, nonce, seeds);
    if (flp->joint_rand_len > 0) shoal_prio3_joint_seed(joint_seed, prio3, ctx, parts);
    F(prio3_joint_rands)(joint_rand, prio3, joint_seed, ctx);
    F(prio3_proofs_xof)(&xof, prio3, PRIO3_PROVE_RANDOMNESS, seeds->prove, ctx);
    F(vector_expand)(prove_rand, rand_len, &xof);
    for (uint32_t i = 0; i < prio3->proofs; i++) PRIO3_PROVE(prio3)
    (proofs + (size_t)i * flp->proof_len, flp, meas, prove_rand + (size_t)i * flp->arity,
     joint_rand + (size_t)i * flp->joint_rand_len, rest);
    for (uint32_t i = 1; i < prio3->shares; i++) {
        F(prio3_proof_xof)(&xof, prio3, seeds->shares[i], ctx, i);
        F(prio3_take)(proofs, proofs_len, &xof, NULL);
    }
    // The proofs follow the measurement in memory.
    F(vector_store)(leader_share, leader, flp->meas_len + proofs_len);
    wipe(&xof, sizeof xof);
    return is_valid;
}

// Reads the leader's share, or expands a helper's.
// Returns: 1 if its elements are canonical, else 0.
static uint64_t F(prio3_open)(FE *meas, FE *proofs, const shoal_prio3 *prio3, shoal_prio3_bytes ctx,
                              uint32_t aggregator, const uint8_t *input_share)
{
    size_t meas_len = prio3->flp.meas_len,
           proofs_len = (size_t)prio3->flp.proof_len * prio3->proofs;
    shoal_xof xof;
    if (aggregator == 0)
        return F(vector_load)(meas, input_share, meas_len) &
               F(vector_load)(proofs, input_share + meas_len * sizeof(FE), proofs_len);
    F(prio3_meas_xof)(&xof, prio3, input_share, ctx, aggregator);
    F(vector_expand)(meas, meas_len, &xof);
    F(prio3_proof_xof)(&xof, prio3, input_share, ctx, aggregator);
    F(vector_expand)(proofs, proofs_len, &xof);
    return 1;
}

// Writes this aggregator's own joint randomness part and the corrected seed, in which that part
// replaces the one in the public share.
static void F(prio3_correct_seed)(uint8_t *seed, uint8_t *part, const shoal_prio3 *prio3,
                                  shoal_prio3_bytes ctx, uint32_t aggregator,
                                  const shoal_prio3_report *report, const FE *meas)
{
    uint8_t parts[SHOAL_PRIO3_SHARES_MAX * SHOAL_XOF_SEED];
    shoal_xof xof;
    const uint8_t *blind = report->input_share.at + report->input_share.len - prio3->seed;
    F(prio3_part_xof)(&xof, prio3, blind, ctx, aggregator, report->nonce);
    F(prio3_absorb)(&xof, meas, prio3->flp.meas_len);
    shoal_xof_squeeze(part, prio3->seed, &xof);
    memcpy(parts, report->public_share.at, report->public_share.len);
    memcpy(parts + (size_t)aggregator * prio3->seed, part, prio3->seed);
    shoal_prio3_joint_seed(seed, prio3, ctx, parts);
}

static uint64_t F(prio3_verify)(uint8_t *state, uint8_t *verifier_share, const shoal_prio3 *prio3,
                                const uint8_t *verify_key, shoal_prio3_bytes ctx,
                                uint32_t aggregator, const shoal_prio3_report *report,
                                uint64_t *scratch)
{
    const shoal_flp *flp = &prio3->flp;
    size_t query_len = (size_t)flp->query_rand_len * prio3->proofs,
           verifiers_len = (size_t)flp->verifier_len * prio3->proofs;
    FE *meas = (FE *)scratch, *proofs = meas + flp->meas_len,
       *verifiers = proofs + (size_t)flp->proof_len * prio3->proofs;
    FE *query_rand = verifiers + verifiers_len, *joint_rand = query_rand + query_len;
    FE *rest = joint_rand + (size_t)flp->joint_rand_len * prio3->proofs;
    uint8_t *seed = state + (size_t)flp->output_len * sizeof(FE);
    shoal_xof xof;

    uint64_t is_valid = F(prio3_open)(meas, proofs, prio3, ctx, aggregator, report->input_share.at);
    if (!is_valid) return 0;
    if (flp->joint_rand_len > 0) F(prio3_correct_seed)
    (seed, verifier_share + verifiers_len * sizeof(FE), prio3, ctx, aggregator, report, meas);
    F(prio3_joint_rands)(joint_rand, prio3, seed, ctx);
    F(prio3_proofs_xof)(&xof, prio3, PRIO3_QUERY_RANDOMNESS, verify_key, ctx);
    shoal_xof_absorb(&xof, report->nonce, SHOAL_PRIO3_NONCE);
    F(vector_expand)(query_rand, query_len, &xof);
    for (uint32_t i = 0; i < prio3->proofs; i++)
        is_valid &= PRIO3_QUERY(prio3)(
            verifiers + (size_t)i * flp->verifier_len, flp, meas,
            proofs + (size_t)i * flp->proof_len, query_rand + (size_t)i * flp->query_rand_len,
            joint_rand + (size_t)i * flp->joint_rand_len, prio3->shares, rest);
    F(vector_store)(verifier_share, verifiers, verifiers_len);
    F(flp_truncate)(meas, flp, meas);
    F(vector_store)(state, meas, flp->output_len);
    return is_valid;
}

static uint64_t F(prio3_decide)(const shoal_prio3 *prio3, const shoal_prio3_bytes *verifier_shares,
                                uint64_t *scratch)
{
    size_t n = (size_t)prio3->flp.verifier_len * prio3->proofs;
    FE *sum = (FE *)scratch, *share = sum + n;
    uint64_t is_valid = F(vector_load)(sum, verifier_shares[0].at, n);
    for (uint32_t i = 1; i < prio3->shares; i++) {
        is_valid &= F(vector_load)(share, verifier_shares[i].at, n);
        F(vector_add)(sum, share, n);
    }
    for (uint32_t i = 0; i < prio3->proofs; i++)
        is_valid &= F(flp_decide)(&prio3->flp, sum + (size_t)i * prio3->flp.verifier_len);
    return is_valid;
}

static uint64_t F(prio3_check)(const uint8_t *share, size_t n)
{
    uint64_t is_canonical = 1;
    FE element;
    for (size_t i = 0; i < n; i++) is_canonical &= F(load)(&element, share + i * sizeof(FE));
    wipe(&element, sizeof element);
    return is_canonical;
}

static uint64_t F(prio3_add)(uint8_t *sum, const uint8_t *share, size_t n)
{
    uint64_t is_canonical = 1;
    FE a, b;
    for (size_t at = 0; at < n * sizeof(FE); at += sizeof(FE))
        is_canonical &= F(load)(&a, sum + at) & F(load)(&b, share + at);
    for (size_t at = 0; is_canonical && at < n * sizeof(FE); at += sizeof(FE)) {
        (void)F(load)(&a, sum + at);
        (void)F(load)(&b, share + at);
        F(store)(sum + at, F(add)(a, b));
    }
    return is_canonical;
}

static uint64_t F(prio3_values)(uint64_t *values, const uint8_t *sum, size_t n)
{
    uint64_t fits = 1;
    for (size_t i = 0; i < n; i++) {
        FE element;
        fits &= F(load)(&element, sum + i * sizeof(FE));
        fits &= F(value)(&values[i], element);
    }
    return fits;
}

static uint64_t F(prio3_add_integers)(uint8_t *sum, const int64_t *integers, size_t n)
{
    uint64_t is_canonical = F(prio3_check)(sum, n);
    for (size_t i = 0; is_canonical && i < n; i++) {
        FE a, b = F(of)((uint64_t)(integers[i] < 0 ? -integers[i] : integers[i]));
        (void)F(load)(&a, sum + i * sizeof(FE));
        F(store)(sum + i * sizeof(FE), integers[i] < 0 ? F(sub)(a, b) : F(add)(a, b));
    }
    return is_canonical;
}

static uint64_t F(prio3_centred_values)(int64_t *values, const uint8_t *sum, size_t n)
{
    uint64_t fits = 1;
    for (size_t i = 0; i < n; i++) {
        FE element;
        uint64_t up = 0, down = 0;
        fits &= F(load)(&element, sum + i * sizeof(FE));
        uint64_t is_up = F(value)(&up, element) && up <= INT64_MAX;
        uint64_t is_down = F(value)(&down, F(sub)(F(of)(0), element)) && down <= INT64_MAX;
        values[i] = is_up ? (int64_t)up : -(int64_t)(is_down ? down : 0);
        fits &= is_up | is_down;
    }
    return fits;
}

const prio3_field PRIO3_FIELD = {.verify = F(prio3_verify),
                                 .decide = F(prio3_decide),
                                 .check = F(prio3_check),
                                 .add = F(prio3_add),
                                 .values = F(prio3_values),
                                 .add_integers = F(prio3_add_integers),
                                 .centred_values = F(prio3_centred_values)};
