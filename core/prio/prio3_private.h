// SPDX-License-Identifier: Apache-2.0
// The interface between prio3.c, which handles messages and lengths, and prio3_field.h, which
// handles elements. Private to the core.
#ifndef SHOAL_PRIO3_PRIVATE_H
#define SHOAL_PRIO3_PRIVATE_H

#include "prio3.h"

#define PRIO3_TAG 8 // bytes of the domain separation tag

// Usages of derived values (the draft's table "Constants used by Prio3").
typedef enum prio3_usage {
    PRIO3_MEAS_SHARE = 1,
    PRIO3_PROOF_SHARE = 2,
    PRIO3_JOINT_RANDOMNESS = 3,
    PRIO3_PROVE_RANDOMNESS = 4,
    PRIO3_QUERY_RANDOMNESS = 5,
    PRIO3_JOINT_RAND_SEED = 6,
    PRIO3_JOINT_RAND_PART = 7
} prio3_usage;

// Starts the XOF of a usage from a seed of prio3->seed bytes. The caller has checked the context's
// length.
void shoal_prio3_xof(shoal_xof *xof, const shoal_prio3 *prio3, prio3_usage usage,
                     const uint8_t *seed, shoal_prio3_bytes ctx);

// Writes the seed of the joint randomness, prio3->seed bytes, from the parts of all aggregators.
void shoal_prio3_joint_seed(uint8_t *seed, const shoal_prio3 *prio3, shoal_prio3_bytes ctx,
                            const uint8_t *parts);

// Pointers to the seeds in one report's random bytes, in the draft's order.
typedef struct prio3_seeds {
    const uint8_t *shares[SHOAL_PRIO3_SHARES_MAX]; // a helper's prio3->share_seeds seeds;
                                                   // the leader has none
    const uint8_t *blinds[SHOAL_PRIO3_SHARES_MAX]; // only with joint randomness
    const uint8_t *prove;
} prio3_seeds;

// Shards over one field. It is apart from the aggregators' functions, so that a page's module need
// not include those. Writes the leader's share without its blind.
// Returns: 1 if the measurement is in range, else 0.
typedef uint64_t prio3_sharder(uint8_t *leader_share, uint8_t *parts, const shoal_prio3 *prio3,
                               shoal_prio3_bytes ctx, const uint64_t *measurement,
                               const uint8_t *nonce, const prio3_seeds *seeds, uint64_t *scratch);

extern prio3_sharder shoal_field64_prio3_shard, shoal_field128_prio3_shard;

// Functions of the aggregators and the collector over one field. The caller has checked the lengths
// of messages, but not their elements.
typedef struct prio3_field {
    // Returns: 1, or 0 if the report is refused.
    uint64_t (*verify)(uint8_t *state, uint8_t *verifier_share, const shoal_prio3 *prio3,
                       const uint8_t *verify_key, shoal_prio3_bytes ctx, uint32_t aggregator,
                       const shoal_prio3_report *report, uint64_t *scratch);
    // Returns: 1 if the sum of the verifier shares accepts, else 0.
    uint64_t (*decide)(const shoal_prio3 *prio3, const shoal_prio3_bytes *verifier_shares,
                       uint64_t *scratch);
    // Returns: 1 if n encoded elements are all canonical, else 0.
    uint64_t (*check)(const uint8_t *share, size_t n);
    // Adds n encoded elements to the sum.
    // Returns: 1 if all are canonical, else 0 with the sum unchanged.
    uint64_t (*add)(uint8_t *sum, const uint8_t *share, size_t n);
    // Reads n encoded elements as integers.
    // Returns: 1 if all are below 2^64, else 0.
    uint64_t (*values)(uint64_t *values, const uint8_t *sum, size_t n);
    // Adds n integers to the sum.
    // Returns: 1 if its elements are all canonical, else 0 with the sum unchanged.
    uint64_t (*add_integers)(uint8_t *sum, const int64_t *integers, size_t n);
    // Reads n encoded elements as integers, those above half of the modulus as negative ones.
    // Returns: 1 if all are below 2^63 in absolute value, else 0.
    uint64_t (*centred_values)(int64_t *values, const uint8_t *sum, size_t n);
} prio3_field;

extern const prio3_field shoal_prio3_field64, shoal_prio3_field128;

#endif
