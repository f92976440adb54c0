// SPDX-License-Identifier: Apache-2.0
// What the table of collections draws in each row: the share of the collection's largest value, or
// its mean, over its newest periods (serve_spans.h). It is made between questions, after alarms,
// and kept, so that a page of a thousand collections makes no estimate.
//
// The largest value is that of all closed blocks together, in the dictionary that the collection's
// page shows first, if it can be told from zero. When a block closes, it is picked again; while it
// stays the same, only periods that are new are estimated. Each point is one that
// ?view=periods has: of a whole period, at least the minimum cohort, and not withheld by the
// release threshold. All others are gaps.
#ifndef SERVE_TRENDS_H
#define SERVE_TRENDS_H

#include <stdbool.h>
#include <stdio.h>

#include "recipe_ref.h"
#include "serve_set.h"
#include "spark_figure.h"
#include "store_close.h"

// The trend of one collection as it is shown.
typedef struct serve_trend {
    char value[SHOAL_VALUE_MAX]; // value_len bytes, hostile; cut if it is longer
    size_t value_len;
    bool is_mean;               // of numbers: figures in the recipe's unit, else in percent
    int decimals;               // of the figures
    double first, last, error;  // the oldest and the newest point, and half of that one's interval
    size_t n;                   // periods with a point: 2 or more
    char from[11], to[11];      // days of the oldest and the newest one
    agg_released blocks;        // that the points are made of: the numbers alone are set
    char drawn[AGG_SPARK_SIZE]; // spark_figure.h
} serve_trend;

typedef struct serve_trends serve_trends;

// Makes the place where trends are kept. Only the results thread may touch it.
// Returns: NULL where memory is short.
serve_trends *serve_trends_make(agg_error *error);
void serve_trends_release(serve_trends *trends); // may be NULL

// Takes over to the set in force: forgets collections that are not in it, and looks at the others
// again, whose dictionaries may have changed. Until that is done they have no trend. Nothing for
// the same set.
void serve_trends_settle(serve_trends *trends, const serve_set *set);

// Takes one step with collection i of the set that was settled: picks its value, or estimates one
// period. A failure is logged; the next block that closes tries again.
// Returns: whether there was something to do, which takes its time.
bool serve_trends_step(serve_trends *trends, agg_store *store, const serve_set *set, size_t i);

// Returns: the trend of collection i of a set, or NULL.
const serve_trend *serve_trends_of(const serve_trends *trends, const serve_set *set, size_t i);

// Prints a trend: its picture, which says in words what it shows, and the newest figure.
void serve_trend_write(FILE *out, const serve_trend *trend);

// Returns: the bytes that the trends of n collections take.
uint64_t serve_trends_memory(size_t n);

#endif
