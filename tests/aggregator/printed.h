// SPDX-License-Identifier: Apache-2.0
// A result of two rows in every printed form, and what those forms have in common.
#ifndef PRINTED_H
#define PRINTED_H

#include "agg_test.h"
#include "print_text.h"

#define N_PRINTED (AGG_CSV + 1)

typedef struct printed {
    char *text[N_PRINTED]; // by agg_format
} printed;

typedef agg_err (*print_result)(FILE *stream, agg_error *error, const void *result,
                                agg_format format);

static inline void print_all(printed *p, print_result print, const void *result)
{
    for (int format = 0; format < N_PRINTED; format++) {
        size_t len = 0;
        agg_error error = {SHOAL_OK, 0, ""};
        FILE *stream = open_memstream(&p->text[format], &len);
        assert_non_null(stream);
        assert_ok(print(stream, &error, result, (agg_format)format));
        fclose(stream);
    }
}

// JSON is `head` and the rows, NDJSON the rows alone; a table has no character that a terminal
// obeys.
static inline void assert_printed(const printed *p, const char *head, const char *first,
                                  const char *second, const char *csv)
{
    char expected[2048];
    snprintf(expected, sizeof expected, "{%s,\"rows\":[\n%s,\n%s\n]}\n", head, first, second);
    assert_string_equal(p->text[AGG_JSON], expected);
    snprintf(expected, sizeof expected, "%s\n%s\n", first, second);
    assert_string_equal(p->text[AGG_NDJSON], expected);
    assert_string_equal(p->text[AGG_CSV], csv);
    assert_null(strchr(p->text[AGG_TABLE], '\x1b'));
}

static inline void printed_release(printed *p)
{
    for (int format = 0; format < N_PRINTED; format++) free(p->text[format]);
}

#endif
