// SPDX-License-Identifier: Apache-2.0
// How far apart a mechanism's reports of two inputs can be: the law that amplification by a crowd
// follows from.
//
// Records fall into classes. In one class the probabilities under x, under x' and of the blanket
// are in the same proportion for every record. The blanket is what every report holds whatever its
// input: the least probability of each record over all inputs, or something below it. x and x' are
// the two inputs that are told apart most easily. For hashed values these never share a column, and
// for numbers they are the ends of the range; docs/central.md shows why no other pair is worse.
// Pure; doubles.
#ifndef PAIR_LAW_H
#define PAIR_LAW_H

#include <stddef.h>

#include "recipe_ref.h"

#define AGG_PAIR_CLASSES_MAX 1024

// Probabilities of one class of records.
typedef struct agg_pair_class {
    double own;   // under x
    double other; // under x'
    double least; // of the blanket; the sum over all classes is at most 1
    double third; // under a value that is apart from both, for lower bounds
} agg_pair_class;

typedef struct agg_pair_law {
    size_t n; // 0: not known
    agg_pair_class classes[AGG_PAIR_CLASSES_MAX];
} agg_pair_law;

// Computes the law of one report of a finished recipe, whose parts are independent. It is not known
// where a mechanism does not state its own, where a report costs another epsilon than its parts
// together, and where it has more than AGG_PAIR_CLASSES_MAX classes.
void agg_pair_law_of(agg_pair_law *law, const shoal_recipe *recipe);

// Computes the law of one part; n is 0 where its mechanism does not state one.
void agg_pair_law_of_part(agg_pair_law *law, const shoal_part *part);

// Adds a class.
static inline void agg_pair_add(agg_pair_law *law, double own, double other, double least,
                                double third)
{
    if (law->n < AGG_PAIR_CLASSES_MAX)
        law->classes[law->n++] = (agg_pair_class){own, other, least, third};
}

// Adds a class of x and its mirror image of x'.
static inline void agg_pair_add_both(agg_pair_law *law, double own, double other, double least,
                                     double third)
{
    agg_pair_add(law, own, other, least, third);
    agg_pair_add(law, other, own, least, third);
}

// Returns: the total variation distance of x's and x' laws, which no other pair of inputs exceeds;
// 0 where the law is not known.
double agg_pair_variation(const agg_pair_law *law);

#endif
