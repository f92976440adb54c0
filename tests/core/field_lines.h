// SPDX-License-Identifier: Apache-2.0
// Policies and recipes for tests, written as lines, as a host's parser would call the setters:
//
//     path=text    a string          path:micro   a number
//     path+text    a list's entry    path#micro   a list's entry, a number
//
// A second text of such lines changes the first: lines of the first whose path the second has are
// left out, and "path-" only leaves out.
#ifndef FIELD_LINES_H
#define FIELD_LINES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "building.h"
#include "policy.h"

typedef struct field_line {
    const char *path, *text;
    size_t path_len, text_len;
    char kind; // 0: no line
} field_line;

// Reads one line of *rest, which advances behind it. Returns: whether there was one.
static inline int next_line(field_line *line, const char **rest, size_t *left)
{
    size_t len = 0, at = 0;
    if (*left == 0) return 0;
    while (len < *left && (*rest)[len] != '\n') len++;
    while (at < len && strchr("=:+#-", (*rest)[at]) == NULL) at++;
    *line = (field_line){*rest, *rest + at + (at < len), at, len - at - (at < len),
                         at < len ? (*rest)[at] : '\0'};
    size_t used = len < *left ? len + 1 : len;
    *rest += used;
    *left -= used;
    return 1;
}

static inline int64_t line_number(const field_line *line)
{
    char digits[32] = {0};
    memcpy(digits, line->text, line->text_len < 31 ? line->text_len : 31);
    return strtoll(digits, NULL, 10);
}

static inline shoal_err policy_line(shoal_policy *policy, const field_line *l)
{
    if (l->kind == '=')
        return shoal_policy_set_string(policy, l->path, l->path_len, l->text, l->text_len);
    if (l->kind == ':')
        return shoal_policy_set_number(policy, l->path, l->path_len, line_number(l));
    if (l->kind == '+')
        return shoal_policy_add_text(policy, l->path, l->path_len, l->text, l->text_len);
    return SHOAL_OK;
}

static inline shoal_err recipe_line(const field_line *l)
{
    if (l->kind == '=')
        return shoal_builder_set_string(&building, l->path, l->path_len, l->text, l->text_len);
    if (l->kind == ':')
        return shoal_builder_set_number(&building, l->path, l->path_len, line_number(l));
    if (l->kind == '#')
        return shoal_builder_add_number(&building, l->path, l->path_len, line_number(l));
    if (l->kind != '+') return SHOAL_OK;
    if (l->path_len == 0) return shoal_builder_add_value(&building, l->text, l->text_len);
    return shoal_builder_add_text(&building, l->path, l->path_len, l->text, l->text_len);
}

static inline int is_changed(const field_line *line, const char *changes)
{
    size_t left = strlen(changes);
    field_line c;
    while (next_line(&c, &changes, &left))
        if (c.path_len == line->path_len && memcmp(c.path, line->path, c.path_len) == 0) return 1;
    return 0;
}

// Of several changes of one value the last counts.
static inline int is_again(const field_line *line, const char *rest)
{
    return (line->kind == '=' || line->kind == ':') && is_changed(line, rest);
}

// Returns: the first error, of a setter or of finish.
static inline shoal_err policy_of(shoal_policy *policy, const char *lines, const char *changes)
{
    size_t left = strlen(lines), more = strlen(changes);
    const char *added = changes;
    shoal_err err = SHOAL_OK;
    field_line l;
    shoal_policy_init(policy);
    while (err == SHOAL_OK && next_line(&l, &lines, &left))
        if (!is_changed(&l, changes)) err = policy_line(policy, &l);
    while (err == SHOAL_OK && next_line(&l, &added, &more))
        if (!is_again(&l, added)) err = policy_line(policy, &l);
    return err == SHOAL_OK ? shoal_policy_finish(policy) : err;
}

//   policy: what the recipe is under, where its lines do not name one; or NULL
static inline shoal_err recipe_of(shoal_recipe *recipe, const char *lines, const char *changes,
                                  const shoal_policy *policy)
{
    size_t left = strlen(lines), more = strlen(changes);
    const char *added = changes;
    shoal_err err = SHOAL_OK;
    field_line l, own = {"policy", NULL, 6, 0, '='};
    char hex[65];
    shoal_builder_init(&building);
    while (err == SHOAL_OK && next_line(&l, &lines, &left))
        if (!is_changed(&l, changes)) err = recipe_line(&l);
    while (err == SHOAL_OK && next_line(&l, &added, &more))
        if (!is_again(&l, added)) err = recipe_line(&l);
    if (err == SHOAL_OK && policy != NULL && !is_changed(&own, changes)) {
        for (int i = 0; i < 32; i++) snprintf(hex + 2 * i, 3, "%02x", policy->policy_hash[i]);
        err = shoal_builder_set_string(&building, "policy", 6, hex, 64);
    }
    return end_recipe(recipe, err);
}

// ---- a policy and a query under it ----

#define KEY_A "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define KEY_B "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100"

// The least that a policy can have, and a split.
static const char small_policy[] =
    "policy=p\nkeys+" KEY_A "\nstreams.0.stream=s\nstreams.0.retention_days:14000000\n"
    "streams.0.fields.0.field=f\nstreams.0.fields.0.type=tokens\n"
    "streams.0.fields.1.field=l\nstreams.0.fields.1.type=text\n"
    "analyses.0.analysis=a\nanalyses.0.stream=s\nanalyses.0.mechanisms+grr\n"
    "analyses.0.budget.epsilon:1500000\nanalyses.0.budget.delta=1e-7\n"
    "analyses.0.budget.reports:3000000\nanalyses.0.split_by+l\n"
    "analyses.0.fields.0.field=f\nanalyses.0.fields.0.local_epsilon:4000000\n"
    "analyses.0.fields.0.epsilon:500000\nanalyses.0.fields.0.reports:1000000\n";

static const char keyboard_policy[] = "policy=keyboard-2026\n"
                                      "keys+" KEY_A "\n"
                                      "streams.0.stream=typed-phrases\n"
                                      "streams.0.retention_days:14000000\n"
                                      "streams.0.fields.0.field=phrase\n"
                                      "streams.0.fields.0.type=tokens\n"
                                      "streams.0.fields.1.field=age\n"
                                      "streams.0.fields.1.type=number\n"
                                      "streams.0.fields.2.field=locale\n"
                                      "streams.0.fields.2.type=text\n"
                                      "streams.0.fields.3.field=device\n"
                                      "streams.0.fields.3.type=text\n"
                                      "streams.1.stream=visits\n"
                                      "streams.1.retention_days:30000000\n"
                                      "streams.1.fields.0.field=host\n"
                                      "streams.1.fields.0.type=text\n"
                                      "analyses.0.analysis=keyboard\n"
                                      "analyses.0.stream=typed-phrases\n"
                                      "analyses.0.version:3000000\n"
                                      "analyses.0.mechanisms+onehot-symmetric\n"
                                      "analyses.0.mechanisms+subset\n"
                                      "analyses.0.query.fields:2000000\n"
                                      "analyses.0.query.size:1000000000\n"
                                      "analyses.0.budget.epsilon:1000000\n"
                                      "analyses.0.budget.delta=1e-7\n"
                                      "analyses.0.budget.reports:3000000\n"
                                      "analyses.0.cohort.minimum:5000000000\n"
                                      "analyses.0.cohort.honest:900000\n"
                                      "analyses.0.split_by+locale\n"
                                      "analyses.0.fields.0.field=phrase\n"
                                      "analyses.0.fields.0.local_epsilon:5000000\n"
                                      "analyses.0.fields.0.epsilon:1000000\n"
                                      "analyses.0.fields.0.reports:3000000\n"
                                      "analyses.0.fields.1.field=age\n"
                                      "analyses.0.fields.1.local_epsilon:4000000\n"
                                      "analyses.0.fields.1.epsilon:500000\n"
                                      "analyses.0.fields.1.reports:1000000\n"
                                      "analyses.1.analysis=sites\n"
                                      "analyses.1.stream=visits\n"
                                      "analyses.1.mechanisms+grr\n"
                                      "analyses.1.budget.epsilon:2000000\n"
                                      "analyses.1.budget.delta=1e-6\n"
                                      "analyses.1.budget.reports:100000000\n"
                                      "analyses.1.fields.0.field=host\n"
                                      "analyses.1.fields.0.local_epsilon:2000000\n"
                                      "analyses.1.fields.0.epsilon:2000000\n"
                                      "analyses.1.fields.0.reports:100000000\n";

// Ages by phrases: 4 * (1 + 2 (2 + 3)) = 44 cells. The crowd gives 0.49.
static const char keyboard_query[] = "recipe=ngrams-2\n"
                                     "analysis=keyboard\n"
                                     "stream=typed-phrases\n"
                                     "value=fields\n"
                                     "encoding.0.field=age\n"
                                     "encoding.0.boundaries#20000000\n"
                                     "encoding.0.boundaries#30000000\n"
                                     "encoding.0.boundaries#40000000\n"
                                     "encoding.1.field=phrase\n"
                                     "encoding.1.prefixes+hello world\n"
                                     "encoding.1.prefixes+i went\n"
                                     "encoding.1.tokens+a\n"
                                     "encoding.1.tokens+and\n"
                                     "encoding.1.tokens+got\n"
                                     "mechanism=onehot-symmetric\n"
                                     "parameters.epsilon:4000000\n"
                                     "limit.per_day:1000000\n"
                                     "cohort.minimum:100000000000\n"
                                     "cohort.epsilon:500000\n"
                                     "cohort.delta=1e-9\n"
                                     "version:3000000\n"
                                     "expires=2027-01-31\n"; // day 20849

#endif
