// SPDX-License-Identifier: Apache-2.0
// Merged files; see merge_files.h.
#include "merge_files.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "accumulator.h"
#include "log.h"
#include "memory_option.h"

static agg_err check_doubles(agg_error *error, const char *const *files, int n_files)
{
    for (int i = 1; i < n_files; i++)
        for (int j = 0; j < i; j++)
            if (strcmp(files[i], files[j]) == 0)
                return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s is given twice",
                                files[i]);
    return SHOAL_OK;
}

// Records that some of the files keep go where others have none: what is left cannot be decoded
// together.
static void say_records(int n_keeping, int n_files)
{
    char command[] = "merge", text[120];
    if (n_keeping == 0 || n_keeping == n_files) return;
    snprintf(text, sizeof text, "%d of %d accumulators have no records any more: the sum has none",
             n_files - n_keeping, n_files);
    agg_log_line(command, text);
}

// The sum so far and one more lie in memory; sums of one recipe are alike, records that are kept
// add up. What comes through a pipe is not known.
static agg_err plan_memory(agg_error *error, uint64_t limit, const char *const *files, int n_files)
{
    char command[] = "merge";
    uint64_t most = 0, sum = 0;
    bool has_records = false;
    for (int i = 0; i < n_files; i++) {
        struct stat about;
        agg_error ignored;
        bool keeps_records = false;
        if (strcmp(files[i], "-") == 0 || stat(files[i], &about) != 0 || !S_ISREG(about.st_mode))
            continue;
        uint64_t size = (uint64_t)about.st_size;
        if (agg_accumulator_peek(&keeps_records, &ignored, files[i]) == SHOAL_OK)
            has_records |= keeps_records;
        if (size > most) most = size;
        sum += size;
    }
    return cli_state_memory(error, command, (n_files > 1 ? most : 0) + (has_records ? sum : most),
                            limit);
}

static agg_err merge_files(agg_error *error, const char *output, const char *const *files,
                           int n_files)
{
    agg_accumulator sum, next;
    agg_err err = agg_accumulator_load(&sum, error, files[0]);
    if (err != SHOAL_OK) return err;
    int n_keeping = agg_accumulator_keeps_records(&sum);
    for (int i = 1; i < n_files && err == SHOAL_OK; i++) {
        err = agg_accumulator_load(&next, error, files[i]);
        if (err != SHOAL_OK) break;
        n_keeping += agg_accumulator_keeps_records(&next);
        err = agg_accumulator_merge(&sum, error, &next);
        if (err != SHOAL_OK) agg_error_prefix(error, "%s", files[i]);
        agg_accumulator_release(&next);
    }
    if (err == SHOAL_OK) err = agg_accumulator_save(&sum, error, output);
    if (err == SHOAL_OK) say_records(n_keeping, n_files);
    agg_accumulator_release(&sum);
    return err;
}

agg_err agg_merge_files(agg_error *error, const char *output, const char *const *files, int n_files,
                        uint64_t memory_limit)
{
    agg_err err = check_doubles(error, files, n_files);
    if (err == SHOAL_OK) err = plan_memory(error, memory_limit, files, n_files);
    return err == SHOAL_OK ? merge_files(error, output, files, n_files) : err;
}
