// SPDX-License-Identifier: Apache-2.0
// What an epsilon promises a person, in words and in odds, and which epsilons a recipe's report,
// window and life have. `shoal recipe check`, the client's ledger() and the server's pages all take
// their verdicts from here.
//
// The odds: whoever sees what an epsilon covers can change their odds between any two values of a
// person by a factor of e^epsilon at most. A guesser who starts at 50:50 is then right with
// probability 1/(1 + e^-epsilon) at most. Both figures are rounded up.
//
// The verdicts (verdicts.def) and their bounds:
// - strong, up to 1: "strong formal privacy guarantees", tier 1 of Ponomareva et al., "How to
//   DP-fy ML" (2023), section 5.2; the guesser is right 73.11 % of the time.
// - moderate, up to 2, and limited, up to 4: the two doublings between, at which the guesser is
//   right 88.08 and 98.21 % of the time. Deployed local systems state 2 to 8 a report (apple-2017).
// - weak, up to 10: the end of tier 2, "reasonable" only if experiments support it. From 4.6 on
//   the guesser errs less than once in a hundred times.
// - no meaningful protection, above 10: tier 3, "weak to no formal privacy guarantees".
//
// Timing: public inputs, not constant.
#ifndef SHOAL_VERDICT_H
#define SHOAL_VERDICT_H

#include <stdint.h>

#include "recipe_ref.h"

typedef enum shoal_verdict_code {
#define SHOAL_VERDICT(code, most_micro, words) SHOAL_VERDICT_##code,
#include "verdicts.def"
#undef SHOAL_VERDICT
    SHOAL_N_VERDICTS
} shoal_verdict_code;

typedef struct shoal_verdict {
    uint64_t eps_micro; // what the verdict is about, in millionths
    shoal_verdict_code code;
    uint32_t odds_tenths;  // e^epsilon in tenths, rounded up to a tenth, and from 100 on to three
                           // digits; 0 if epsilon is above SHOAL_EPS_MICRO_MAX
    uint32_t right_myriad; // 1/(1 + e^-epsilon) in ten-thousandths, rounded up: 5000 .. 10000
} shoal_verdict;

// Judges an epsilon.
//   eps_micro: in millionths, of anything: a report, a window, a sum of many
void shoal_verdict_of(shoal_verdict *verdict, uint64_t eps_micro);

// Returns: the static words of a verdict, such as "limited".
const char *shoal_verdict_words(shoal_verdict_code code);

// What a recipe promises a person.
typedef struct shoal_promise {
    shoal_verdict report; // one report
    shoal_verdict window; // all reports of one UTC day. With send.pick "uniform" it covers all that
                          // a person did in the window, otherwise the reported events.
    shoal_verdict life;   // all reports from today until the recipe expires, by basic composition.
                          // Permanent coins: of one value, no more than their permanent answer.
} shoal_promise;

// Judges a recipe. A run over epochs is debited once and as a whole, and a device answers one round
// of a trie, or one version of a query, once: there window and life are the same.
//   today: days since 1970-01-01 UTC; after the last day of the recipe its life promises what no
//   report costs
void shoal_promise_of(shoal_promise *promise, const shoal_recipe *recipe, uint32_t today);

#endif
