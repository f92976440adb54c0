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

#endif
