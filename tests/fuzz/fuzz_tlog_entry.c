// SPDX-License-Identifier: Apache-2.0
// Properties of the readers of a log's entries and bundles: an entry that is read prints to the
// same bytes, and follows itself only with the next serial; a key list as people write it prints to
// an entry; a bundle ends where its bytes end.
#include <string.h>

#include "fuzz_aggregator.h"
#include "tlog_entry.h"
#include "tlog_tile.h"

static agg_tlog_entry entry, next;
static char text[AGG_TLOG_ENTRY_MAX + 1];

static void check_entry(const char *bytes, size_t len)
{
    agg_error error = {SHOAL_OK, 0, ""};
    size_t n = 0;
    if (agg_tlog_entry_read(&entry, &error, bytes, len) != SHOAL_OK) {
        PROPERTY(error.exit_code != 0 && error.text[0] != '\0');
        return;
    }
    PROPERTY(agg_tlog_entry_print(text, &n, &error, &entry) == SHOAL_OK);
    PROPERTY(n == len && memcmp(text, bytes, len) == 0);
    if (entry.type != AGG_TLOG_KEYS) return;
    next = entry;
    PROPERTY(agg_tlog_keys_follow(&error, &entry, &next, 0) != SHOAL_OK);
    next.serial++;
    PROPERTY(agg_tlog_keys_follow(&error, &entry, &next, 0) == SHOAL_OK);
}

static void check_list(const char *bytes, size_t len)
{
    agg_error error = {SHOAL_OK, 0, ""};
    size_t n = 0;
    if (agg_tlog_keys_read(&entry, &error, bytes, len, 7) != SHOAL_OK) {
        PROPERTY(error.exit_code != 0 && error.text[0] != '\0');
        return;
    }
    if (agg_tlog_entry_print(text, &n, &error, &entry) != SHOAL_OK) return; // too long for a log
    PROPERTY(agg_tlog_entry_read(&next, &error, text, n) == SHOAL_OK);
    PROPERTY(next.serial == entry.serial && next.n_tokens == entry.n_tokens);
}

static void check_bundle(const uint8_t *bytes, size_t len)
{
    const uint8_t *at = bytes, *end = bytes + len, *one = NULL;
    size_t one_len = 0, sum = 0;
    while (agg_tlog_bundle_take(&one, &one_len, &at, end)) {
        PROPERTY(one == bytes + sum + 2 && one + one_len == at && at <= end);
        sum += 2 + one_len;
        check_entry((const char *)one, one_len);
    }
    PROPERTY(at == bytes + sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    uint8_t *copy = malloc(len > 0 ? len : 1);
    PROPERTY(copy != NULL);
    memcpy(copy, data, len);
    check_entry((const char *)copy, len);
    check_list((const char *)copy, len);
    check_bundle(copy, len);
    free(copy);
    return 0;
}
