// SPDX-License-Identifier: Apache-2.0
// Records as measurements of Prio3 (prio3.h): what two servers add up in place of reports.
//
// A mechanism's accumulator is counters, and a record adds to a few of them. So a record is a
// vector of zeros and ones over those counters, and the sum over all devices is the accumulator:
// every estimator works on it as if it had seen the records. A counter that a record may also lower
// is two, one for +1 and one for -1.
//
// A record of one counter is a Histogram, whose proof says that exactly one entry is set; one of
// several is a MultihotCountVec, whose proof bounds how many. Both are stronger than SumVec would
// be: a hostile device adds no more weight than an honest one may. Where the randomizer draws how
// many bits it sets, the bound is the smallest that an honest record is proved (split_weight.h) to
// exceed with probability at most 1e-6; such a record is not sent, and never drawn again. The
// chance is the same for every listed value, and smaller for "none of the list" of a one-hot
// encoding; either way it is read off a record that was randomized before, and so costs no privacy.
//
// Privacy: nothing is added here. The record was randomized before (its epsilon is the recipe's);
// sharding it hides even that from each server. Depends on prio3.h's parameters only, not on
// sharding.
#ifndef SHOAL_SPLIT_H
#define SHOAL_SPLIT_H

#include "mechanism.h"
#include "prio3.h"

#define SHOAL_SPLIT_LENGTH_MAX (1u << 17) // entries: two MiB of the leader's share

typedef struct shoal_split {
    shoal_prio3_parameters
        prio3;          // Histogram or MultihotCountVec, of `length` entries, for two servers
    uint32_t mechanism; // id of mechanisms.def
    uint32_t k, m;      // shape of the part's sketch (agg_sketch), as the record's text spells it
    uint32_t text_size; // characters of a record
    // Entries: `idle` that no cell counts, then the cells' (two for each that is signed), then the
    // rows' numbers of records. These are left out (0) where there is one row, or where the entries
    // of a row sum to them: in a Histogram.
    uint32_t idle, cells, rows;
    uint32_t is_signed; // entry idle + 2 i adds one to cell i, entry idle + 2 i + 1 takes one off
} shoal_split;

// Finds how a part's records are split.
//   why: written on error, a static sentence
// Returns: SHOAL_ERR_RANGE where the vector would be longer than SHOAL_SPLIT_LENGTH_MAX;
// SHOAL_ERR_MECHANISM for a part that only
//          compounds have
// Cost: up to 2^17 divisions, a millisecond, for records of 2^16 bits
shoal_err shoal_split_init(shoal_split *split, const shoal_part *part,
                           const char **why) SHOAL_MUST_CHECK;

// Returns: 64-bit words of a measurement: 1 of a Histogram, `length` of a MultihotCountVec
size_t shoal_split_words(const shoal_split *split);

// Makes the measurement of a record's text (record.h), strictly.
//   measurement: shoal_split_words words
// Returns: SHOAL_ERR_RECORD for a text that is no record of the part; SHOAL_ERR_RANGE for one with
// too much weight (it is not sent).
//          The measurement is zeros then
shoal_err shoal_split_text(uint64_t *measurement, const shoal_split *split, const char *text,
                           size_t len) SHOAL_MUST_CHECK;

// The probability that an honest record has too much weight, rounded up, in units of 2^-64; 0 where
// it never has.
uint64_t shoal_split_refusal(const shoal_split *split, const shoal_part *part);

#endif
