// SPDX-License-Identifier: Apache-2.0
// Says how frequent a string has to be before n-grams find it. Pure.
//
// A string's n-gram at every position must stand out among all n-grams of the alphabet, in the
// reports that speak of the position (grams out of P positions each), and the whole string must
// stand out among a thousand candidates (docs/mechanisms/rappor-ngram.md, steps 1 and 5). Both are
// a share of z standard errors by the variance of the part's account. The larger of the two is a
// lower bound: pairs, cliques and the bounds on work ask for more.
#ifndef NGRAM_PLAN_H
#define NGRAM_PLAN_H

#include "recipe_json.h"

// Returns: the share of n devices below which a string is found by chance only; 1 if no share is
// enough.
//   recipe: of a compound that reports n-grams (grams above 0)
//   n: devices, 1 or more
double agg_ngram_plan_share(const shoal_recipe *recipe, double n);

#define AGG_NGRAM_PLAN_TEXT 64u // bytes that every text has room in, NUL included

// Says in words which strings n devices can show: "only what 2.3 % or more send", or "nothing".
// Everything that states the share takes its words from here.
void agg_ngram_plan_say(char text[AGG_NGRAM_PLAN_TEXT], const shoal_recipe *recipe, double n);
void agg_ngram_plan_say_share(char text[AGG_NGRAM_PLAN_TEXT], double share);

// Returns: q in millionths, with p = 1 - q, such that a report of so many n-grams and the string
// costs epsilon: each hash of each part x = epsilon/((grams + 1) hashes) = 2 ln(q/(1-q)). It is
// rounded down and lowered by one millionth, since the cost of each hash is rounded up.
uint32_t agg_ngram_plan_q(double epsilon, double grams, double hashes);

// Returns: as agg_ngram_plan_share, of the recipe that `shoal recipe new` writes by default.
//   epsilon: of a report
//   length: bytes of a string, 1 .. 32
//   letters: of the alphabet, 1 or more
double agg_ngram_plan_share_for(double epsilon, uint32_t length, uint32_t letters, double n);

#endif
