// SPDX-License-Identifier: Apache-2.0
// Reads golden/glmnet_*.tsv: a regression on a 0/1 design and another program's answers to it.
// Lines are a name and numbers: "row" WEIGHT RESPONSE x1 .. xp, or "column" ROW.. and "response"
// NUMBER.., then answers.
#ifndef REGRESSION_GOLDEN_H
#define REGRESSION_GOLDEN_H

#include "agg_test.h"

#include "bit_design.h"

#define GOLDEN_LINES 512

typedef struct golden {
    agg_bit_design design;
    double *weights, *y;
    size_t *start;
    uint32_t *rows;
    size_t n_lines;
    char name[GOLDEN_LINES][16];
    double *numbers[GOLDEN_LINES];
    size_t n_numbers[GOLDEN_LINES];
} golden;

static inline void read_golden_line(golden *g, char *line)
{
    char *at = line;
    size_t n = 0, i = g->n_lines;
    assert_true(i < GOLDEN_LINES && sscanf(line, "%15s", g->name[i]) == 1);
    at += strlen(g->name[i]);
    g->numbers[i] = malloc((strlen(line) / 2 + 1) * sizeof(double));
    assert_non_null(g->numbers[i]);
    for (char *end = at;; at = end) {
        double x = strtod(at, &end);
        if (end == at) break;
        g->numbers[i][n++] = x;
    }
    g->n_numbers[i] = n;
    g->n_lines++;
}

// Returns: the numbers of the nth line of that name, which must be `len`; NULL when there is none.
static inline const double *golden_line(const golden *g, const char *name, size_t nth, size_t len)
{
    for (size_t i = 0; i < g->n_lines; i++)
        if (strcmp(g->name[i], name) == 0 && nth-- == 0) {
            assert_int_equal(g->n_numbers[i], len);
            return g->numbers[i];
        }
    return NULL;
}

static inline size_t count_lines(const golden *g, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_lines; i++) n += strcmp(g->name[i], name) == 0;
    return n;
}

static inline void set_from_rows(golden *g, size_t n_rows)
{
    const double *line;
    size_t n_columns = g->n_numbers[0] - 2, at = 0;
    g->design = (agg_bit_design){n_rows, n_columns, NULL, NULL};
    g->start = calloc(n_columns + 1, sizeof *g->start);
    g->rows = calloc(n_rows * n_columns, sizeof *g->rows);
    for (size_t i = 0; (line = golden_line(g, "row", i, n_columns + 2)) != NULL; i++) {
        g->weights[i] = line[0];
        g->y[i] = line[1];
    }
    for (size_t j = 0; j < n_columns; j++) {
        for (size_t i = 0; i < n_rows; i++)
            if (golden_line(g, "row", i, n_columns + 2)[2 + j] != 0) g->rows[at++] = (uint32_t)i;
        g->start[j + 1] = at;
    }
}

static inline void set_from_columns(golden *g, size_t n_rows)
{
    size_t at = 0, n_columns = count_lines(g, "column"), column = 0;
    g->design = (agg_bit_design){n_rows, n_columns, NULL, NULL};
    g->start = calloc(n_columns + 1, sizeof *g->start);
    g->rows = calloc(n_rows * n_columns, sizeof *g->rows);
    for (size_t i = 0; i < g->n_lines; i++) {
        if (strcmp(g->name[i], "column") != 0) continue;
        for (size_t e = 0; e < g->n_numbers[i]; e++) g->rows[at++] = (uint32_t)g->numbers[i][e];
        g->start[++column] = at;
    }
    for (size_t i = 0; i < n_rows; i++) {
        g->weights[i] = 1;
        g->y[i] = golden_line(g, "response", 0, n_rows)[i];
    }
}

static inline golden read_golden(const char *path)
{
    static char line[65536];
    golden g;
    FILE *stream = fopen(path, "r");
    size_t n_rows;
    memset(&g, 0, sizeof g);
    if (stream == NULL) fail_msg("cannot open %s", path);
    while (fgets(line, sizeof line, stream) != NULL)
        if (line[0] != '#') read_golden_line(&g, line);
    fclose(stream);
    n_rows = count_lines(&g, "row");
    for (size_t i = 0; n_rows == 0 && i < g.n_lines; i++)
        if (strcmp(g.name[i], "response") == 0) n_rows = g.n_numbers[i];
    g.weights = calloc(n_rows, sizeof *g.weights);
    g.y = calloc(n_rows, sizeof *g.y);
    if (count_lines(&g, "row") > 0)
        set_from_rows(&g, n_rows);
    else
        set_from_columns(&g, n_rows);
    g.design.start = g.start;
    g.design.rows = g.rows;
    return g;
}

static inline void release_golden(golden *g)
{
    for (size_t i = 0; i < g->n_lines; i++) free(g->numbers[i]);
    free(g->weights);
    free(g->y);
    free(g->start);
    free(g->rows);
}

#endif
