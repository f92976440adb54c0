// SPDX-License-Identifier: Apache-2.0
// What each mechanism tells the planner and the auditor about itself, before any record exists.
// Pure; doubles.
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include <stdint.h>

#include "mechanism.h"

// What a plan looks for. Counts are in reports.
typedef struct agg_wish {
    uint32_t eps_micro; // of one report, replacement model
    uint32_t size;      // values of a closed domain; 0: open strings
    int is_number;      // a mean is wanted
    double n;           // reports
    double squares;     // sum over all values of (devices that hold it)^2
    double cells;       // four-byte numbers of a sketch (its cells and its rows' counters), at most
} agg_wish;

typedef struct agg_account {
    uint32_t id;
    // Sets the parameters of the index-th variant that is worth comparing: mechanism, domain, hash,
    // eps_micro, k, m, size and the like, not yet prepared. A seed is given by the caller. Returns:
    // 0 when there is no index-th; 1 otherwise (a variant that breaks a limit is dropped by the
    // caller).
    int (*propose)(shoal_part *part, const agg_wish *wish, uint32_t index);
    // Returns: variance of the estimated count of a value that f of n devices hold (a mean: of the
    // fraction), in reports squared.
    //   f: devices; for a mean, the fraction times n
    //   squares: as in agg_wish. Where the variance depends on which values share a block or a
    //   cell, its expectation over the keys.
    double (*variance)(const shoal_part *part, double n, double f, double squares);

    // Audit. Does the record lie in the event whose probability under item a is e^epsilon times
    // that under b?
    int (*tells_apart)(const shoal_part *part, const uint8_t *record, uint64_t a, uint64_t b);
    // Returns: how many indices cover all records the part can make; 0 where they are more than
    // 2^20.
    uint64_t (*n_outputs)(const shoal_part *part);
    // Writes the record of an index below n_outputs. Returns: 0 where the index stands for none.
    int (*output)(uint8_t *record, const shoal_part *part, uint64_t index);
    // Returns: the probability of a record given an item (SHOAL_ITEM_NONE too), from the integer
    // thresholds. For a permanent mechanism over fresh devices, one report each.
    double (*probability)(const shoal_part *part, const uint8_t *record, uint64_t item);
} agg_account;

#define SHOAL_MECHANISM(id, stem, name) extern const agg_account agg_##stem##_account;
#include "mechanisms.def"
#undef SHOAL_MECHANISM

// Returns: the account of a mechanism id, or NULL.
const agg_account *agg_account_of(uint32_t mechanism);

// Returns: the index-th account of the registry, or NULL behind the last.
const agg_account *agg_account_at(uint32_t index);

#endif
