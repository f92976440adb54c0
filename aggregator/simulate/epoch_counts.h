// SPDX-License-Identifier: Apache-2.0
// Counts files over time: lines of epoch<TAB>value<TAB>count, with an optional fourth column that
// names a group of devices.
//
// In each epoch the devices of a group draw their values in proportion to the counts of that
// group's lines. An epoch without lines of a group repeats the epoch before it, so a file may list
// changes only; the first epoch must have lines of every group. The sums of the first epoch give
// the sizes of the groups, which never change. Lines may come in any order. This file knows no
// recipe and no mechanism.
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

// The counts that a group draws from, from an epoch on.
typedef struct epoch_law {
    uint32_t group, epoch;
    size_t first, n; // its entries in `entries`, by rising value
    uint64_t total;  // sum of their counts, 1 .. 2^53
} epoch_law;

typedef struct epoch_counts {
    agg_list values, groups; // sorted by bytes; a file without groups has one without a name
    epoch_count *entries;
    size_t n_laws;
    epoch_law *laws;     // by group, then by epoch
    uint64_t *sizes;     // of each group, its sum in the first epoch
    uint32_t last_epoch; // the last epoch that the file has lines of
} epoch_counts;

// Reads a file.
// Returns: AGG_ERR_USAGE naming the line for a missing column, an epoch outside 1 to 65537, a count
// above 2^53, an empty value, a value given twice for one epoch and group, and a fourth column in
// some lines only; also for a group without lines in epoch 1, counts of a group and epoch that are
// all zero, a sum above 2^53, and more than EPOCH_COUNTS_GROUPS_MAX groups.
agg_err epoch_counts_load(epoch_counts *counts, agg_error *error,
                          const char *path) SHOAL_MUST_CHECK;
// The same from bytes, which need not outlive the call.
agg_err epoch_counts_parse(epoch_counts *counts, agg_error *error, const char *name,
                           const char *bytes, size_t len) SHOAL_MUST_CHECK;
void epoch_counts_release(epoch_counts *counts);

// Returns: the counts that a group draws from in an epoch.
const epoch_law *epoch_counts_law(const epoch_counts *counts, uint32_t group, uint32_t epoch);

// Returns: the number of the first device of a group among n; n itself for counts->groups.n.
uint64_t epoch_counts_first_device(const epoch_counts *counts, uint32_t group, uint64_t n);

// Returns: the mean of numbers[value] over n devices in an epoch, the true statistic of the
// population.
double epoch_counts_mean(const epoch_counts *counts, const double *numbers, uint32_t epoch,
                         uint64_t n);

#endif
