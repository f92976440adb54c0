// SPDX-License-Identifier: Apache-2.0
// Records as measurements of Prio3 (prio3.h), which two servers add up in place of reports.
//
// A mechanism's accumulator is counters, and a record adds to a few of them. A record is therefore
// a vector of zeros and ones over those counters, and the sum over all devices is the accumulator.
// Every estimator works on that sum as if it had seen the records. A counter that a record may also
// lower becomes two entries, one for +1 and one for -1.
//
// A record of one counter is a Histogram, whose proof says that exactly one entry is set. A record
// of several counters is a MultihotCountVec, whose proof bounds how many are set. Both are stronger
// than SumVec: a hostile device adds no more weight than an honest one may.
//
// If the randomizer draws how many bits it sets, the bound is the smallest that an honest record
// provably exceeds with probability at most 1e-6 (split_weight.h). A record above the bound is not
// sent, and never drawn again. The probability is the same for every listed value, and smaller for
// "none of the list" of a one-hot encoding. The refusal depends only on a record that was already
// randomized, so it costs no privacy.
//
// Privacy: this code adds no noise. The record was randomized before (its epsilon is the recipe's);
// sharding hides even the record from each server.
// Depends on prio3.h's parameters only, not on sharding.
#ifndef SHOAL_SPLIT_H
#define SHOAL_SPLIT_H

#include <stdbool.h>

#include "mechanism.h"
#include "prio3.h"

#define SHOAL_SPLIT_LENGTH_MAX (1u << 17) // entries: two MiB of the leader's share

typedef struct shoal_split {
    shoal_prio3_parameters
        prio3;          // Histogram or MultihotCountVec, of `length` entries, for two servers
    uint32_t mechanism; // id of mechanisms.def
    uint32_t k, m;      // shape of the part's sketch (agg_sketch) and of its record's text
    uint32_t text_size; // characters of a record
    // The vector has `idle` entries that no cell counts, then the cells' entries (two for each
    // signed cell), then the rows' numbers of records. `rows` is 0 if there is one row, or if the
    // entries of a row sum to its number of records, as in a Histogram.
    uint32_t idle, cells, rows;
    bool is_signed; // entry idle + 2 i adds one to cell i, the next entry subtracts one
} shoal_split;

// Determines how a part's records are split.
//   why: static sentence, written on error
// Returns: SHOAL_ERR_RANGE if the vector would be longer than SHOAL_SPLIT_LENGTH_MAX;
// SHOAL_ERR_MECHANISM for a part that only compounds have.
// Cost: up to 2^17 divisions, a millisecond, for records of 2^16 bits.
shoal_err shoal_split_init(shoal_split *split, const shoal_part *part,
                           const char **why) SHOAL_MUST_CHECK;

// Returns: the 64-bit words of a measurement: 1 for a Histogram, `length` for a MultihotCountVec.
size_t shoal_split_words(const shoal_split *split);

// Parses a record's text (record.h), strictly, to its measurement.
//   measurement: shoal_split_words words; zeros on error
// Returns: SHOAL_ERR_RECORD for a text that is no record of the part; SHOAL_ERR_RANGE for a record
// with too much weight, which is not sent.
shoal_err shoal_split_text(uint64_t *measurement, const shoal_split *split, const char *text,
                           size_t len) SHOAL_MUST_CHECK;

// Returns: the probability that an honest record has too much weight, in units of 2^-64, rounded
// up; 0 if it never has.
uint64_t shoal_split_refusal(const shoal_split *split, const shoal_part *part);

#endif
