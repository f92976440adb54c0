// SPDX-License-Identifier: Apache-2.0
// Copies among records while they are folded: how often one record came, against how often honest
// devices could send it.
//
// Sums forget which records were equal, so records are counted as they pass. A table has a slot for
// each of 8,192 residues of a record's fingerprint, with the last fingerprint and how often it came
// in a row. A record that is a share f of those examined is found again before its slot is
// overwritten where f is well above 1/8192. All of the first 2^14 records are examined and then
// every 128th, so that looking costs a fixed time and then little.
//
// Let P bound the probability of any one record, whatever value its device holds. The probability
// that g given records of honest devices are all equal is sum_r p_1(r) ... p_g(r) <= P^(g-1). So
// among n records there is such a group with probability C(n, g) P^(g-1) at most. A record that is
// overwritten is counted too seldom and never too often, so that the bound holds for the table.
#ifndef COPIES_H
#define COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "recipe_ref.h"

#define AGG_COPIES_RATE 1e-4 // honest collections of records that are said to have copies, at most

typedef struct agg_copies_slot {
    uint64_t print;
    uint32_t count; // 0: empty
} agg_copies_slot;

typedef struct agg_copies {
    agg_copies_slot *slots; // NULL where nothing is measured
    size_t record_size;
    double log_likeliest; // ln P
    uint64_t n;           // records that passed
    uint64_t n_examined;
    uint32_t largest; // times that one record came, at least
} agg_copies;

// What tables saw of a set of records.
typedef struct agg_copies_seen {
    uint64_t n_examined;
    uint32_t largest;
    bool is_whole; // all records passed, from the first to the last
} agg_copies_seen;

// Adds what was seen of other records. Records of both are not matched.
//   is_first: `into` is of no records yet
void agg_copies_seen_add(agg_copies_seen *into, const agg_copies_seen *from, bool is_first);

// Makes an empty table, or none where copies cannot be told from a crowd: where a recipe's records
// are so few that honest devices send equal ones, or the devices of a run answer again as before.
agg_err agg_copies_init(agg_copies *copies, agg_error *error,
                        const shoal_recipe *recipe) SHOAL_MUST_CHECK;
void agg_copies_release(agg_copies *copies);

// Forgets all records.
void agg_copies_clear(agg_copies *copies);

// Returns: the bytes that a table of the recipe takes.
uint64_t agg_copies_memory(const shoal_recipe *recipe);

// Counts records as they lie in a batch. Cost: a fingerprint a record that is examined.
void agg_copies_add(agg_copies *copies, const uint8_t *records, uint32_t count);

// Adds what another table of the same recipe has seen. Records that both have seen are not matched.
void agg_copies_merge(agg_copies *into, const agg_copies *from);

// Returns: a bound on the probability that honest devices send one record as often; 1 where nothing
// was measured.
double agg_copies_p(const agg_copies *copies);

// Returns: the same of what was seen of a recipe's records; P is set to the bound of the
// probability of any one record, 1 where nothing is measured.
double agg_copies_seen_p(double *likeliest, const shoal_recipe *recipe,
                         const agg_copies_seen *seen);

#define AGG_COPIES_LINE_MAX 256

// Writes a line about copies that honest devices do not send at AGG_COPIES_RATE.
// Returns: false, with nothing written, where there are none.
bool agg_copies_line(char line[AGG_COPIES_LINE_MAX], const agg_copies *copies);

#endif
