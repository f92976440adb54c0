// SPDX-License-Identifier: Apache-2.0
// Prio3 (draft-irtf-cfrg-vdaf section "Prio3", wire format of draft 18): a measurement is split
// into shares, one for each of two to four aggregators, with a proof that it is one of those
// allowed; the aggregators check the proof together and add up what they hold, and only the
// collector, who gets every aggregate share, sees a sum.
//
// The way of a report, with the draft's names:
//
//   device       shoal_prio3_shard          shard                       a public share, and an
//   input share for each aggregator aggregators  shoal_prio3_verify_init    verify_init each: a
//   state, kept, and a verifier share, exchanged one of them  shoal_prio3_combine
//   verifier_shares_to_message  refuses, or a message for all aggregators  shoal_prio3_verify_next
//   verify_next                 refuses, or the state's output share aggregators  shoal_prio3_add
//   aggregate                   output shares into an aggregate share collector shoal_prio3_unshard
//   unshard                     aggregate shares into sums
//
// Conventions: every message is bytes in the draft's encoding, field elements little-endian and
// canonical; a reader refuses any other. Outputs come first and mean something only on SHOAL_OK;
// shares are zeros after a refusal. Lengths are functions of the shoal_prio3 alone. Work areas are
// the caller's, as 64-bit words; those that held a measurement or a share are wiped before the
// return.
//
// Privacy: Prio3 adds NO noise. As long as one aggregator is honest nobody sees a measurement, but
// the sums are exact, and exact sums of a small or a chosen group say what its members did. Noise
// belongs into the measurement before it is sharded (a one-hot randomizer's bits into
// MultihotCountVec) or into the aggregate, and a minimum cohort into the aggregators. The
// verification key must be secret from devices, and a nonce must not come twice under one key.
//
// Timing: sharding does not branch or index on the measurement or the random bytes; only whether
// the measurement is in range, and which random elements were not canonical and drawn again, can be
// told from it.
#ifndef SHOAL_PRIO3_H
#define SHOAL_PRIO3_H

#include "flp.h"
#include "xof.h"

#define SHOAL_PRIO3_VERSION                                                                        \
    18 // the VERSION byte of draft 18 and after; it enters every derived value
#define SHOAL_PRIO3_NONCE 16
#define SHOAL_PRIO3_VERIFY_KEY 32
#define SHOAL_PRIO3_SHARES_MAX 4

// A message from somebody else.
typedef struct shoal_prio3_bytes {
    const uint8_t *at;
    size_t len;
} shoal_prio3_bytes;

typedef struct shoal_prio3_parameters {
    shoal_circuit circuit;
    uint32_t length; // see shoal_flp_init, as for max and chunk
    uint64_t max;
    uint32_t chunk;
    uint32_t shares; // aggregators: 2 .. SHOAL_PRIO3_SHARES_MAX; number 0 is the leader, the others
                     // are helpers
    uint32_t proofs; // 1; for SumVec also 3 .. 255, which then works in Field64 (fewer would not be
                     // sound there)
} shoal_prio3_parameters;

typedef struct shoal_prio3 {
    shoal_flp flp;
    uint32_t algorithm; // identifier in derived values: the circuit's number, 0xffffffff for SumVec
                        // with more proofs
    uint32_t shares, proofs;
    uint32_t
        element; // bytes of a field element: 8 for Count, Sum and SumVec with more proofs, else 16
    // What is otherwise in VDAF-08, after shoal_vdaf08_init (vdaf08.h).
    uint32_t version; // SHOAL_PRIO3_VERSION
    uint32_t
        seed; // bytes of a seed, and so of a message and of the verification key: SHOAL_XOF_SEED
    uint32_t share_seeds; // seeds that a helper's share is made from: 1
    uint32_t ctx_max;     // bytes of the longest context
} shoal_prio3;

// Returns: SHOAL_ERR_ARGUMENT for an unknown circuit, SHOAL_ERR_RANGE for a number outside its
// range
shoal_err shoal_prio3_init(shoal_prio3 *prio3,
                           const shoal_prio3_parameters *parameters) SHOAL_MUST_CHECK;

// Lengths in bytes.
size_t shoal_prio3_rand_len(const shoal_prio3 *prio3);
size_t
shoal_prio3_public_share_len(const shoal_prio3 *prio3); // 0 without joint randomness (Count, Sum)
size_t shoal_prio3_input_share_len(const shoal_prio3 *prio3, uint32_t aggregator);
size_t shoal_prio3_verifier_share_len(const shoal_prio3 *prio3);
size_t shoal_prio3_message_len(const shoal_prio3 *prio3); // 0 without joint randomness
size_t shoal_prio3_state_len(const shoal_prio3 *prio3);
size_t shoal_prio3_output_share_len(const shoal_prio3 *prio3); // also of an aggregate share

// Returns: 64-bit words of scratch that any of the functions below takes.
size_t shoal_prio3_scratch_words(const shoal_prio3 *prio3);

// Splits a measurement.
//   public_share, input_shares[shares]: room for their lengths
//   ctx: the application's context, up to 65527 bytes, the same for all parties
//   measurement: Count: 0 or 1. Sum: 0 .. max. SumVec: `length` integers of 0 .. max. Histogram:
//   one bucket's index.
//                MultihotCountVec: `length` zeros and ones, at most max ones
//   rand: shoal_prio3_rand_len bytes, secret, uniform, used once
// Returns: SHOAL_ERR_RANGE for a measurement or ctx outside its range
// Cost: about 3 chunk (2 + log2 p) p / 2 products, p the power of two above meas_len / chunk, and a
// permutation of TurboSHAKE for every 168 bytes of every share, twice where there is joint
// randomness
shoal_err shoal_prio3_shard(uint8_t *public_share, uint8_t *const *input_shares,
                            const shoal_prio3 *prio3, shoal_prio3_bytes ctx,
                            const uint64_t *measurement, const uint8_t nonce[SHOAL_PRIO3_NONCE],
                            const uint8_t *rand, uint64_t *scratch) SHOAL_MUST_CHECK;

// What an aggregator is given of a report.
typedef struct shoal_prio3_report {
    const uint8_t *nonce; // SHOAL_PRIO3_NONCE bytes
    shoal_prio3_bytes public_share, input_share;
} shoal_prio3_report;

// Begins to verify a report.
//   state: kept by this aggregator until verify_next; secret from the others
//   verifier_share: for whoever combines
//   verify_key: 32 bytes that the aggregators share, chosen before reports come in
//   aggregator: this one's number, 0 .. shares - 1
// Returns: SHOAL_ERR_ARGUMENT for an aggregator that is none; SHOAL_ERR_RANGE for a ctx too long;
// SHOAL_ERR_TRUNCATED,
//          SHOAL_ERR_EXTRA or SHOAL_ERR_RECORD for shares that no device makes; SHOAL_ERR_RECORD
//          also, about once in 2^50 nonces, where the query would fall on a value of the proof
shoal_err shoal_prio3_verify_init(uint8_t *state, uint8_t *verifier_share, const shoal_prio3 *prio3,
                                  const uint8_t verify_key[SHOAL_PRIO3_VERIFY_KEY],
                                  shoal_prio3_bytes ctx, uint32_t aggregator,
                                  const shoal_prio3_report *report,
                                  uint64_t *scratch) SHOAL_MUST_CHECK;

// Decides about a report from all aggregators' verifier shares, in the order of the aggregators.
//   message: room for shoal_prio3_message_len bytes, which may be 0
//   verifier_shares: `shares` of them
// Returns: SHOAL_ERR_RECORD where the proof does not hold or a share is not canonical;
// SHOAL_ERR_TRUNCATED, SHOAL_ERR_EXTRA;
//          SHOAL_ERR_RANGE for a ctx too long
shoal_err shoal_prio3_combine(uint8_t *message, const shoal_prio3 *prio3, shoal_prio3_bytes ctx,
                              const shoal_prio3_bytes *verifier_shares,
                              uint64_t *scratch) SHOAL_MUST_CHECK;

// Ends the verification: the message must confirm the joint randomness that this aggregator used.
//   output_share: room for shoal_prio3_output_share_len bytes
// Returns: SHOAL_ERR_RECORD for another message; SHOAL_ERR_TRUNCATED, SHOAL_ERR_EXTRA
shoal_err shoal_prio3_verify_next(uint8_t *output_share, const shoal_prio3 *prio3,
                                  const uint8_t *state, shoal_prio3_bytes message) SHOAL_MUST_CHECK;

// Adds an output share, or another aggregate share of the same aggregator, to an aggregate share.
// Zeros are the empty one. Commutative and associative: aggregates may be merged in any order.
// Returns: SHOAL_ERR_RECORD where either is not canonical, and the aggregate is as before;
// SHOAL_ERR_TRUNCATED, SHOAL_ERR_EXTRA
shoal_err shoal_prio3_add(uint8_t *aggregate, const shoal_prio3 *prio3,
                          shoal_prio3_bytes share) SHOAL_MUST_CHECK;

// Writes the sums, flp.output_len of them, of all aggregators' aggregate shares.
// Returns: SHOAL_ERR_RECORD where one is not canonical; SHOAL_ERR_OVERFLOW where a sum is above
// 2^64 - 1 (shares of different
//          batches look like that); SHOAL_ERR_TRUNCATED, SHOAL_ERR_EXTRA
// Sums are exact as long as reports times the largest value stay below the field's modulus, 2^64 -
// 2^32 + 1 at least.
shoal_err shoal_prio3_unshard(uint64_t *sums, const shoal_prio3 *prio3,
                              const shoal_prio3_bytes *aggregate_shares,
                              uint64_t *scratch) SHOAL_MUST_CHECK;

#endif
