// SPDX-License-Identifier: Apache-2.0
// Plans the parameters of an sfp recipe (core/compound/sfp.h): how a total epsilon is split between
// fragment and string, and how many rows each of them needs. Pure.
//
// Let s(epsilon) be the standard error of the oracle's count for one report. A word that nobody
// sent then has an error of s(e) sqrt(n) as a string and of s(e') sqrt(n P) as a fragment, in
// reports of all P positions. A word is found when its string scores about 2 and every one of its
// fragments about 4; the decoder accepts fragments from 3.5 up, and a word has several. The best
// split therefore makes both require the same count:
//
//     2 s(e) = 4 s(e') sqrt(P),     s = e^(e/4)/(e^(e/2) - 1) of cms, sqrt(p'(1-p')) / (p - p') of
//     olh with p' = 1/g
//
// In a simulation on the frequencies of English words, with 10^6 devices and strings of 10 bytes,
// this finds within a word or two of the best of four splits (docs/mechanisms/sfp.md). g is the
// power of two nearest e^epsilon + 1. k is so large that words that share rows add at most 5 % to
// the variance, if two of a hundred pairs of devices send the same word. All fragments fit 2^26
// cells and the strings 2^24.
#ifndef SFP_PLAN_H
#define SFP_PLAN_H

#include <stdint.h>

#include "agg_error.h"
#include "recipe_json.h"

#define AGG_SFP_SAME_WORD 0.02     // share of all pairs of devices that send the same word
#define AGG_SFP_STRING_SCORE 2.0   // the score at which a word is found
#define AGG_SFP_FRAGMENT_SCORE 4.0 // the score at which its fragments are found

typedef struct agg_sfp_plan {
    uint32_t oracle; // enum shoal_oracle
    uint32_t eps_micro,
        eps_fragment_micro; // of the string and of the fragment; their sum is the total that was
                            // requested
    uint32_t k, m, k_fragment,
        m_fragment; // as the recipe states them: k_fragment rows for each position, m is g of olh
    double string_error,
        fragment_error; // standard errors of a word that nobody sends, in reports of all positions
    double least;       // the count of a word that is found with probability about one half
} agg_sfp_plan;

// Plans the parameters. olh finds more words than cms at every epsilon, because its variance is the
// least possible, and its records are 40 times smaller. It is the choice unless cms is requested.
//   oracle: enum shoal_oracle
//   n: reports, 1 .. 4e9
//   eps_micro: of a report, fragment and string together, 100,000 .. 16,000,000
//   length: bytes of a string, 2 .. 32, even
// Returns: SHOAL_ERR_RANGE.
// Privacy: a report costs eps_micro, replacement model.
agg_err agg_sfp_plan_run(agg_sfp_plan *plan, agg_error *error, uint32_t oracle, double n,
                         uint32_t eps_micro, uint32_t length) SHOAL_MUST_CHECK;

// Returns: the share of n reports that a string needs to be found with probability about one half,
// by the same scores, whatever the recipe's parameters are.
//   recipe: of sfp
//   n: 1 or more
//   same: as in agg_least_share; AGG_SFP_SAME_WORD where nothing is known
double agg_sfp_found_from(const shoal_recipe *recipe, double n, double same);

#endif
