// SPDX-License-Identifier: Apache-2.0
// Counts files over time: epoch<TAB>value<TAB>count lines, with an optional fourth column, the
// group that the line is about.
//
// In an epoch the devices of a group draw their values in proportion to the counts of that group's
// lines. An epoch without a line of a group is like the epoch before, so that a file may hold the
// changes alone; the first epoch has lines of every group. Groups have the sizes that their sums of
// the first epoch are in proportion to, and keep them. Lines may come in any order. Knows no recipe
// and no mechanism.
#ifndef EPOCH_COUNTS_H
#define EPOCH_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "agg_error.h"
#include "text_list.h"

#define EPOCH_COUNTS_GROUPS_MAX 1000u

typedef struct epoch_count {
    uint32_t value; // index in `values`
    uint64_t count;
} epoch_count;

// What a group draws from, from an epoch on.
typedef struct epoch_law {
    uint32_t group, epoch;
    size_t first, n; // of `entries`, by rising value
    uint64_t total;  // of their counts, 1 .. 2^53
} epoch_law;

typedef struct epoch_counts {
    agg_list values, groups; // by their bytes; one group without a name where the file has none
    epoch_count *entries;
    size_t n_laws;
    epoch_law *laws;     // by group, then by epoch
    uint64_t *sizes;     // of each group, its sum in the first epoch
    uint32_t last_epoch; // that the file has lines of
} epoch_counts;

// Reads a file. Refused with their line: a missing column, an epoch that is no whole number from 1
// to 65537, a count that is none up to 2^53, an empty value, a value given twice for one epoch and
// group, a fourth column in some lines only; and a group without lines in epoch 1, a group whose
// counts of an epoch are all zero, a sum beyond 2^53, more than EPOCH_COUNTS_GROUPS_MAX groups.
agg_err epoch_counts_load(epoch_counts *counts, agg_error *error,
                          const char *path) SHOAL_MUST_CHECK;
// The same from bytes, which need not outlive the call.
agg_err epoch_counts_parse(epoch_counts *counts, agg_error *error, const char *name,
                           const char *bytes, size_t len) SHOAL_MUST_CHECK;
void epoch_counts_release(epoch_counts *counts);

// Returns: what a group draws from in an epoch.
const epoch_law *epoch_counts_law(const epoch_counts *counts, uint32_t group, uint32_t epoch);

// Returns: the number of the first device of a group among n; of group counts->groups.n, n itself.
uint64_t epoch_counts_first_device(const epoch_counts *counts, uint32_t group, uint64_t n);

// Returns: the mean of numbers[value] over all of n devices in an epoch: what a statistic of the
// population really is.
double epoch_counts_mean(const epoch_counts *counts, const double *numbers, uint32_t epoch,
                         uint64_t n);

#endif
