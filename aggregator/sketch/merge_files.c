// SPDX-License-Identifier: Apache-2.0
// Merged files; see merge_files.h.
#include "merge_files.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "accumulator.h"
#include "file_lock.h"
#include "log.h"
#include "memory_option.h"
#include "merge_rows.h"

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
// and claims add up. What comes through a pipe is not known.
static agg_err plan_memory(agg_error *error, uint64_t limit, const char *const *files, int n_files,
                           agg_rows rows)
{
    char command[] = "merge";
    uint64_t most = 0, sum = 0, claims = 0;
    bool has_records = false;
    for (int i = 0; i < n_files; i++) {
        struct stat about;
        agg_error ignored;
        agg_claims_about listed;
        bool keeps_records = false;
        if (strcmp(files[i], "-") == 0 || stat(files[i], &about) != 0 || !S_ISREG(about.st_mode))
            continue;
        uint64_t size = (uint64_t)about.st_size;
        listed.n_rows = 0;
        if (agg_accumulator_peek(&keeps_records, &ignored, files[i]) == SHOAL_OK)
            has_records |= keeps_records;
        if (agg_accumulator_peek_claims(&listed, &ignored, files[i]) == SHOAL_OK)
            claims += listed.n;
        if (rows.first > 0 && listed.n_rows > 0 && listed.rows.first == 0 &&
            rows.last <= listed.n_rows) // of about the same size each
            size = size / listed.n_rows * (rows.last - rows.first + 1);
        if (size > most) most = size;
        sum += size;
    }
    if (claims > AGG_CLAIMS_MAX) claims = AGG_CLAIMS_MAX;
    return cli_state_memory(error, command,
                            (n_files > 1 ? most : 0) + (has_records ? sum : most) +
                                AGG_CLAIM * 2 * claims, // a list may have room for twice as many
                            limit);
}

typedef struct merging {
    const char *const *files;
    agg_rows rows; // {0, 0}: all that the files hold
    agg_accumulator sum;
    int n_keeping;   // files that keep records
    int n_unclaimed; // files with records that nothing claims
} merging;

// Warns of a file whose reports may be in another one too, as far as its claims say.
static void note_unclaimed(merging *m, const agg_accumulator *acc, const char *file)
{
    char command[] = "merge", text[512];
    if (agg_accumulator_is_claimed(acc) || m->n_unclaimed++ >= AGG_LOG_LINES_MAX) return;
    snprintf(text, sizeof text,
             "%s does not list %s: give each report to one accumulator only, since overlaps with "
             "it cannot be found",
             strcmp(file, "-") == 0 ? "standard input" : file,
             acc->claims.n > 0 ? "all that it counts" : "what it counts");
    agg_log_line(command, text);
}

static const char *name_of(const char *file)
{
    return strcmp(file, "-") == 0 ? "standard input" : file;
}

// Refuses a file that claims a shard as another one before it does, and names that one.
static agg_err refuse_shards(const merging *m, agg_error *error, const agg_accumulator *next,
                             int index)
{
    agg_shard_claims sum;
    agg_error why;
    const char *other = "standard input";
    agg_err err = agg_shard_claims_unite(&sum, &why, &m->sum.shards, &next->shards);
    if (err == SHOAL_OK) {
        agg_shard_claims_release(&sum);
        return SHOAL_OK;
    }
    for (int i = 0; i < index; i++) {
        agg_claims claims;
        agg_shard_claims shards;
        agg_error ignored;
        if (strcmp(m->files[i], "-") == 0 ||
            agg_accumulator_load_claims(&claims, &shards, &ignored, m->files[i]) != SHOAL_OK)
            continue;
        if (agg_shard_claims_unite(&sum, &ignored, &shards, &next->shards) != SHOAL_OK)
            other = m->files[i];
        agg_shard_claims_release(&sum);
        agg_shard_claims_release(&shards);
        agg_claims_release(&claims);
    }
    return agg_fail(error, err, why.exit_code, "%s and %s: %s; nothing was written", other,
                    name_of(m->files[index]), why.text);
}

// Refuses a file that claims an id as another one before it does, and names that one.
static agg_err refuse_overlap(const merging *m, agg_error *error, const agg_accumulator *next,
                              int index)
{
    char text[AGG_CLAIM_TEXT];
    const char *other = "standard input";
    const uint8_t *shared = agg_claims_shared(&next->claims, &m->sum.claims);
    if (shared == NULL) return SHOAL_OK;
    for (int i = 0; i < index; i++) {
        agg_claims claims;
        agg_shard_claims shards;
        agg_error ignored;
        if (strcmp(m->files[i], "-") == 0 ||
            agg_accumulator_load_claims(&claims, &shards, &ignored, m->files[i]) != SHOAL_OK)
            continue;
        if (agg_claims_have(&claims, shared)) other = m->files[i];
        agg_shard_claims_release(&shards);
        agg_claims_release(&claims);
    }
    return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_RUNTIME,
                    "%s and %s both count the batch or file of reports %s; nothing was written",
                    other, strcmp(m->files[index], "-") == 0 ? "standard input" : m->files[index],
                    agg_claim_print(text, shared));
}

static agg_err merge_next(merging *m, agg_error *error, int index)
{
    agg_accumulator next;
    agg_err err = agg_accumulator_load_rows(&next, error, m->files[index], m->rows);
    if (err != SHOAL_OK) return err;
    m->n_keeping += agg_accumulator_keeps_records(&next);
    note_unclaimed(m, &next, m->files[index]);
    err = agg_accumulator_check_alike(&m->sum, error, &next);
    if (err != SHOAL_OK) agg_error_prefix(error, "%s", m->files[index]);
    if (err == SHOAL_OK) err = refuse_overlap(m, error, &next, index);
    if (err == SHOAL_OK) err = refuse_shards(m, error, &next, index);
    if (err == SHOAL_OK) {
        err = agg_accumulator_merge(&m->sum, error, &next);
        if (err != SHOAL_OK) agg_error_prefix(error, "%s", m->files[index]);
    }
    agg_accumulator_release(&next);
    return err;
}

// Finds whether the files hold different rows, which are put together and not added.
static bool hold_other_rows(const char *const *files, int n_files)
{
    agg_claims_about first = {.n = 0}, about;
    agg_error ignored;
    bool has_first = false;
    for (int i = 0; i < n_files; i++) {
        if (strcmp(files[i], "-") == 0 ||
            agg_accumulator_peek_claims(&about, &ignored, files[i]) != SHOAL_OK)
            continue;
        if (has_first &&
            (about.rows.first != first.rows.first || about.rows.last != first.rows.last))
            return true;
        first = about;
        has_first = true;
    }
    return false;
}

static agg_err join_files(agg_error *error, const char *output, const char *const *files,
                          int n_files)
{
    agg_accumulator whole;
    agg_err err = agg_merge_rows(&whole, error, files, n_files);
    if (err != SHOAL_OK) return err;
    err = agg_accumulator_save(&whole, error, output);
    agg_accumulator_release(&whole);
    return err;
}

static agg_err merge_files(agg_error *error, const char *output, const char *const *files,
                           int n_files, agg_rows rows)
{
    merging m = {.files = files, .rows = rows};
    if (rows.first == 0 && hold_other_rows(files, n_files))
        return join_files(error, output, files, n_files);
    agg_err err = agg_accumulator_load_rows(&m.sum, error, files[0], rows);
    if (err != SHOAL_OK) return err;
    m.n_keeping = agg_accumulator_keeps_records(&m.sum);
    if (n_files > 1) note_unclaimed(&m, &m.sum, files[0]);
    for (int i = 1; i < n_files && err == SHOAL_OK; i++) err = merge_next(&m, error, i);
    if (err == SHOAL_OK) err = agg_accumulator_save(&m.sum, error, output);
    if (err == SHOAL_OK) say_records(m.n_keeping, n_files);
    agg_accumulator_release(&m.sum);
    return err;
}

agg_err agg_merge_files(agg_error *error, const char *output, const char *const *files, int n_files,
                        agg_rows rows, uint64_t memory_limit)
{
    agg_file_lock lock;
    char command[] = "merge";
    agg_err err = check_doubles(error, files, n_files);
    if (err == SHOAL_OK) err = plan_memory(error, memory_limit, files, n_files, rows);
    if (err != SHOAL_OK) return err;
    err = agg_file_lock_take(&lock, error, command, output);
    if (err != SHOAL_OK) return err;
    err = merge_files(error, output, files, n_files, rows);
    agg_file_lock_release(&lock);
    return err;
}
