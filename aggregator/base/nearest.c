// SPDX-License-Identifier: Apache-2.0
// Mistyped names; see nearest.h.
#include "nearest.h"

#include <string.h>

#define NAME_MAX_LEN 31u // characters of a word that can be a mistyped name

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

// Counts the insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`
// (optimal string alignment). Both have at most NAME_MAX_LEN characters.
static size_t count_edits(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    size_t rows[NAME_MAX_LEN + 1][NAME_MAX_LEN + 1];
    for (size_t j = 0; j <= m; j++) rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        rows[i][0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t replaced = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            rows[i][j] = smaller(replaced, 1 + smaller(rows[i - 1][j], rows[i][j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                rows[i][j] = smaller(rows[i][j], 1 + rows[i - 2][j - 2]);
        }
    }
    return rows[n][m];
}

const char *agg_nearest(const char *const *names, size_t n, const char *text)
{
    const char *best = NULL;
    size_t len = strlen(text), least = 3 + len / 3;
    if (len > NAME_MAX_LEN) return NULL;
    for (size_t i = 0; i < n; i++) {
        if (strlen(names[i]) > NAME_MAX_LEN) continue;
        size_t edits = count_edits(text, names[i]);
        if (edits < least && edits < smaller(len, strlen(names[i]))) {
            least = edits;
            best = names[i];
        }
    }
    return best;
}

agg_err agg_fail_unknown_field(agg_error *error, const char *where, const char *text,
                               const char *const *names, size_t n)
{
    const char *nearest = agg_nearest(names, n, text);
    if (nearest == NULL)
        return agg_fail(error, SHOAL_ERR_UNKNOWN_FIELD, AGG_EXIT_USAGE, "%s%s: unknown field",
                        where, text);
    return agg_fail(error, SHOAL_ERR_UNKNOWN_FIELD, AGG_EXIT_USAGE,
                    "%s%s: unknown field; did you mean %s?", where, text, nearest);
}
