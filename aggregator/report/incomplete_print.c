// SPDX-License-Identifier: Apache-2.0
// Prints that shards are missing; see incomplete_print.h.
#include "incomplete_print.h"

#include "print_text.h"
#include "round_text.h"

const char *agg_incomplete_line(char out[AGG_INCOMPLETE_LINE_MAX], agg_shards_about shards)
{
    snprintf(out, AGG_INCOMPLETE_LINE_MAX, "incomplete: %s of %s shards are missing",
             agg_whole(shards.missing).text, agg_whole(shards.n).text);
    return out;
}

void agg_incomplete_print(FILE *stream, agg_shards_about shards)
{
    char line[AGG_INCOMPLETE_LINE_MAX];
    if (shards.missing > 0) fprintf(stream, "%s\n", agg_incomplete_line(line, shards));
}

void agg_incomplete_print_json(FILE *stream, agg_shards_about shards)
{
    if (shards.missing > 0)
        fprintf(stream, "\"incomplete\":{\"shards\":%llu,\"missing\":%llu},",
                (unsigned long long)shards.n, (unsigned long long)shards.missing);
}

void agg_incomplete_state(agg_table *table, agg_shards_about shards, const char *n_name,
                          const char *missing_name)
{
    if (shards.missing == 0) return;
    agg_table_state_whole(table, n_name, shards.n);
    agg_table_state_whole(table, missing_name, shards.missing);
}
