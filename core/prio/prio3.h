// SPDX-License-Identifier: Apache-2.0
// Prio3 (draft-irtf-cfrg-vdaf section "Prio3", wire format of draft 18). A device splits a
// measurement into shares, one for each of two to four aggregators, with a proof that the
// measurement is an allowed one. The aggregators check the proof together and add up their shares.
// Only the collector, who gets every aggregate share, sees a sum.
//
// The path of a report; the third column has the draft's names:
//
//   device            shoal_prio3_shard         shard
//       makes a public share, and an input share for each aggregator
//   each aggregator   shoal_prio3_verify_init   verify_init
//       makes a state, which it keeps, and a verifier share, which it exchanges
//   one aggregator    shoal_prio3_combine       verifier_shares_to_message
//       refuses, or makes a message for all aggregators
//   each aggregator   shoal_prio3_verify_next   verify_next
//       refuses, or makes the state's output share
//   each aggregator   shoal_prio3_add           aggregate
//       adds output shares to an aggregate share
//   collector         shoal_prio3_unshard       unshard
//       turns aggregate shares into sums
//
// Conventions: every message is bytes in the draft's encoding, with little-endian, canonical field
// elements; readers refuse any other encoding. Outputs come first and are valid only on SHOAL_OK;
// shares are zeros after a refusal. Lengths depend on the shoal_prio3 alone. The caller provides
// work areas as 64-bit words; those that held a measurement or a share are wiped before the return.
//
// Privacy: Prio3 adds NO noise. As long as one aggregator is honest nobody sees a measurement. But
// the sums are exact, and exact sums of a small or a chosen group reveal what its members did. Add
// noise to the measurement before it is sharded (a one-hot randomizer's bits in MultihotCountVec)
// or to the aggregate, and require a minimum cohort in the aggregators. The verification key must
// be secret from devices, and a nonce must not occur twice under one key.
//
// Timing: sharding does not branch or index on the measurement or the random bytes. Its timing
// reveals only whether the measurement is in range, and which random elements were not canonical
// and were drawn again.
#ifndef SHOAL_PRIO3_H
#define SHOAL_PRIO3_H

#include "flp.h"
#include "xof.h"

#define SHOAL_PRIO3_VERSION 18 // VERSION byte from draft 18 on; part of every derived value
#define SHOAL_PRIO3_NONCE 16
#define SHOAL_PRIO3_VERIFY_KEY 32
#define SHOAL_PRIO3_SHARES_MAX 4

// A message received from another party.
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
    uint32_t proofs; // 1; for SumVec also 3 .. 255, over Field64 (fewer would not be sound there)
} shoal_prio3_parameters;

typedef struct shoal_prio3 {
    shoal_flp flp;
    uint32_t algorithm; // identifier in derived values: the circuit's number, 0xffffffff for SumVec
                        // with more proofs
    uint32_t shares, proofs;
    uint32_t element; // bytes of a field element: 8 for Count, Sum and SumVec with more proofs,
                      // else 16
    // The following fields differ after shoal_vdaf08_init (vdaf08.h); the comments give draft 18's
    // values.
    uint32_t version;     // SHOAL_PRIO3_VERSION
    uint32_t seed;        // bytes of a seed, a message and the verification key: SHOAL_XOF_SEED
    uint32_t share_seeds; // seeds that a helper's share is made from: 1
    uint32_t ctx_max;     // bytes of the longest context
    uint32_t cpu; // instruction set (prio_cpu.h): the machine's best, or what the caller sets it to
                  // before shoal_prio3_scratch_words. Messages do not depend on it
} shoal_prio3;

// Fills *prio3 for the given parameters.
// Returns: SHOAL_ERR_ARGUMENT for an unknown circuit, SHOAL_ERR_RANGE for a number outside its
// range.
shoal_err shoal_prio3_init(shoal_prio3 *prio3,
                           const shoal_prio3_parameters *parameters) SHOAL_MUST_CHECK;

// Return: the lengths of the random bytes and of each message, in bytes.
size_t shoal_prio3_rand_len(const shoal_prio3 *prio3);
size_t
shoal_prio3_public_share_len(const shoal_prio3 *prio3); // 0 without joint randomness (Count, Sum)
size_t shoal_prio3_input_share_len(const shoal_prio3 *prio3, uint32_t aggregator);
size_t shoal_prio3_verifier_share_len(const shoal_prio3 *prio3);
size_t shoal_prio3_message_len(const shoal_prio3 *prio3); // 0 without joint randomness
size_t shoal_prio3_state_len(const shoal_prio3 *prio3);
size_t shoal_prio3_output_share_len(const shoal_prio3 *prio3); // also the aggregate share's

// Returns: the 64-bit words of scratch that each of the functions below needs.
size_t shoal_prio3_scratch_words(const shoal_prio3 *prio3);

// Splits a measurement into shares.
//   public_share, input_shares[shares]: room for their lengths
//   ctx: the application's context, up to 65527 bytes, the same for all parties
//   measurement: Count: 0 or 1. Sum: 0 .. max. SumVec: `length` integers of 0 .. max. Histogram:
//   one bucket's index. MultihotCountVec: `length` zeros and ones, at most max ones
//   rand: shoal_prio3_rand_len bytes, secret, uniform, used once
// Returns: SHOAL_ERR_RANGE for a measurement or ctx outside its range.
// Cost: about 3 chunk (2 + log2 p) p / 2 products, where p is the power of two above meas_len /
// chunk. One permutation of TurboSHAKE for every 168 bytes of every share, two with joint
// randomness.
shoal_err shoal_prio3_shard(uint8_t *public_share, uint8_t *const *input_shares,
                            const shoal_prio3 *prio3, shoal_prio3_bytes ctx,
                            const uint64_t *measurement, const uint8_t nonce[SHOAL_PRIO3_NONCE],
                            const uint8_t *rand, uint64_t *scratch) SHOAL_MUST_CHECK;

// An aggregator's input for one report.
typedef struct shoal_prio3_report {
    const uint8_t *nonce; // SHOAL_PRIO3_NONCE bytes
    shoal_prio3_bytes public_share, input_share;
} shoal_prio3_report;

// Checks an input share without verifying its proof: its length, and that its field elements are
// canonical. An aggregator may so refuse, before it keeps a report, a share that no device makes.
//   aggregator: the share's owner, 0 .. shares - 1
// Returns: SHOAL_ERR_ARGUMENT for a number that no aggregator has; SHOAL_ERR_TRUNCATED or
// SHOAL_ERR_EXTRA for a wrong length; SHOAL_ERR_RECORD for an element that is not canonical.
shoal_err shoal_prio3_check_share(const shoal_prio3 *prio3, uint32_t aggregator,
                                  shoal_prio3_bytes input_share) SHOAL_MUST_CHECK;

// Starts the verification of a report.
//   state: kept by this aggregator until verify_next; secret from the others
//   verifier_share: sent to the party that combines
//   verify_key: 32 bytes that the aggregators share, chosen before reports arrive
//   aggregator: this aggregator's number, 0 .. shares - 1
// Returns: SHOAL_ERR_ARGUMENT for a number that no aggregator has; SHOAL_ERR_RANGE for a ctx that
// is too long; SHOAL_ERR_TRUNCATED, SHOAL_ERR_EXTRA or SHOAL_ERR_RECORD for shares that no device
// makes. Also SHOAL_ERR_RECORD, about once in 2^50 nonces, if the query falls on a value of the
// proof.
shoal_err shoal_prio3_verify_init(uint8_t *state, uint8_t *verifier_share, const shoal_prio3 *prio3,
                                  const uint8_t verify_key[SHOAL_PRIO3_VERIFY_KEY],
                                  shoal_prio3_bytes ctx, uint32_t aggregator,
                                  const shoal_prio3_report *report,
                                  uint64_t *scratch) SHOAL_MUST_CHECK;

// Decides about a report from the verifier shares of all aggregators, in the aggregators' order.
//   message: room for shoal_prio3_message_len bytes, which may be 0
//   verifier_shares: `shares` of them
// Returns: SHOAL_ERR_RECORD if the proof does not hold or a share is not canonical;
// SHOAL_ERR_TRUNCATED or SHOAL_ERR_EXTRA for a share of the wrong length; SHOAL_ERR_RANGE for a ctx
// that is too long.
shoal_err shoal_prio3_combine(uint8_t *message, const shoal_prio3 *prio3, shoal_prio3_bytes ctx,
                              const shoal_prio3_bytes *verifier_shares,
                              uint64_t *scratch) SHOAL_MUST_CHECK;

// Ends the verification: the message must confirm the joint randomness that this aggregator used.
//   output_share: room for shoal_prio3_output_share_len bytes
// Returns: SHOAL_ERR_RECORD for any other message; SHOAL_ERR_TRUNCATED or SHOAL_ERR_EXTRA for one
// of the wrong length.
shoal_err shoal_prio3_verify_next(uint8_t *output_share, const shoal_prio3 *prio3,
                                  const uint8_t *state, shoal_prio3_bytes message) SHOAL_MUST_CHECK;

// Adds an output share, or another aggregate share of the same aggregator, to an aggregate share.
// An empty aggregate share is zeros. Addition is commutative and associative, so aggregates may be
// merged in any order.
// Returns: SHOAL_ERR_RECORD if either share is not canonical; SHOAL_ERR_TRUNCATED or
// SHOAL_ERR_EXTRA for a share of the wrong length. The aggregate is unchanged on error.
shoal_err shoal_prio3_add(uint8_t *aggregate, const shoal_prio3 *prio3,
                          shoal_prio3_bytes share) SHOAL_MUST_CHECK;

// Writes the sums, flp.output_len of them, from the aggregate shares of all aggregators.
// Returns: SHOAL_ERR_RECORD if a share is not canonical; SHOAL_ERR_OVERFLOW if a sum does not fit
// 64 bits, as happens with shares of different batches; SHOAL_ERR_TRUNCATED or SHOAL_ERR_EXTRA for
// a share of the wrong length.
// The sums are exact as long as the number of reports times the largest value is below the field's
// modulus, at least 2^64 - 2^32 + 1.
shoal_err shoal_prio3_unshard(uint64_t *sums, const shoal_prio3 *prio3,
                              const shoal_prio3_bytes *aggregate_shares,
                              uint64_t *scratch) SHOAL_MUST_CHECK;

// Adds an integer to each entry of an aggregate share: an aggregator's noise (discrete_noise.h).
//   noise: flp.output_len integers, above -2^63
// Returns: SHOAL_ERR_RECORD for a share that is not canonical, which stays as it is.
shoal_err shoal_prio3_add_noise(uint8_t *aggregate, const shoal_prio3 *prio3,
                                const int64_t *noise) SHOAL_MUST_CHECK;

// Writes the sums of shares with noise, which may be below zero: a field element above half of the
// modulus stands for a negative number.
// Returns: as shoal_prio3_unshard; SHOAL_ERR_OVERFLOW for a sum of 2^63 and more, either way.
shoal_err shoal_prio3_unshard_centred(int64_t *sums, const shoal_prio3 *prio3,
                                      const shoal_prio3_bytes *aggregate_shares,
                                      uint64_t *scratch) SHOAL_MUST_CHECK;

#endif
