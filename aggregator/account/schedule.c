// SPDX-License-Identifier: Apache-2.0
// Parses schedules of queries; see schedule.h.
#include "schedule.h"

#include <string.h>

#include "options.h"

#define WORDS_MAX 3

static agg_err fail(agg_error *error, const char *text)
{
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s", text);
}

// Returns: the number of words. Words beyond WORDS_MAX are counted and not kept.
static size_t split(char *words[WORDS_MAX], char *line)
{
    char *rest = NULL;
    size_t n = 0;
    line[strcspn(line, "#")] = '\0';
    for (char *word = strtok_r(line, " \t\r", &rest); word != NULL;
         word = strtok_r(NULL, " \t\r", &rest), n++)
        if (n < WORDS_MAX) words[n] = word;
    return n;
}

static agg_err read_query(agg_query *query, agg_error *error, char *words[WORDS_MAX],
                          size_t n_words)
{
    uint64_t reports = 0, count = 1;
    agg_err err = cli_read_decimal(&query->local_epsilon, error, "local-epsilon", words[0],
                                   AGG_LOCAL_EPSILON_MIN, AGG_LOCAL_EPSILON_MAX);
    if (err == SHOAL_OK)
        err = cli_read_whole(&reports, error, "reports", words[1], 2,
                             (uint64_t)AGG_CROWD_REPORTS_MAX);
    if (err == SHOAL_OK && n_words == WORDS_MAX)
        err = cli_read_whole(&count, error, "queries", words[2], 1, AGG_SCHEDULE_QUERIES_MAX);
    query->n = (double)reports;
    query->count = (double)count;
    query->bit_epsilon = 0;
    return err;
}

static agg_err read_line(agg_query *schedule, size_t *n_queries, agg_error *error, char *line)
{
    char *words[WORDS_MAX];
    size_t n_words = split(words, line);
    if (n_words == 0) return SHOAL_OK;
    if (n_words < 2 || n_words > WORDS_MAX)
        return fail(error, "a line is local epsilon, reports and, if not 1, how many queries");
    if (*n_queries == AGG_SCHEDULE_MAX) return fail(error, "more than 64 kinds of queries");
    return read_query(&schedule[(*n_queries)++], error, words, n_words);
}

agg_err agg_schedule_parse(agg_query schedule[AGG_SCHEDULE_MAX], size_t *n_queries,
                           agg_error *error, const char *name, char *text, size_t len)
{
    char *line = NULL;
    size_t number = 0;
    agg_err err = SHOAL_OK;
    *n_queries = 0;
    if (memchr(text, 0, len) != NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s: not a text", name);
    while (err == SHOAL_OK && (line = strsep(&text, "\n")) != NULL) {
        number++;
        err = read_line(schedule, n_queries, error, line);
        if (err != SHOAL_OK) agg_error_prefix(error, "%s: line %zu", name, number);
    }
    if (err == SHOAL_OK && *n_queries == 0)
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s: no queries", name);
    return err;
}
