// SPDX-License-Identifier: Apache-2.0
// What hangs together; see serve_joint.h.
#include "serve_joint.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "input_memory.h"
#include "joint_choice.h"
#include "joint_print.h"
#include "recipe.h"
#include "static_joint.h"

static bool has(const agg_recipe *recipe)
{
    return recipe->recipe->n_variables > 0;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

// The table of a pair has the most cells if both variables have this many categories.
#define CATEGORIES 32u

static uint64_t memory(const serve_collection *collection)
{
    const shoal_recipe *recipe = collection->recipe.recipe;
    agg_accumulator most = {0};
    agg_joint_choice choices[2];
    uint32_t n = recipe->n_variables;
    most.set.n_distinct = collection->records_room / (recipe->record_size + sizeof(uint32_t));
    for (uint32_t i = 0; i < 2; i++)
        choices[i] = (agg_joint_choice){.variable = i, .n = CATEGORIES};
    uint64_t sums = cli_accumulator_memory(NULL, recipe) + collection->records_room;
    return 2 * sums + agg_joint_memory(&collection->recipe, &most, choices, 2) +
           n * (n - 1) / 2 *
               (uint64_t)(sizeof(agg_joint_analysis) +
                          3 * AGG_JOINT_TABLE_MAX * sizeof(agg_joint_share));
}

static const agg_dictionary *const *values_of(const agg_dictionary *values[SHOAL_VARIABLES_MAX],
                                              const serve_collection *collection)
{
    for (uint32_t i = 0; i < collection->recipe.recipe->n_variables; i++)
        values[i] = collection->categories == NULL ? NULL : &collection->categories[i];
    return values;
}

// Refuses a variable that takes any string where nothing says which of them are shown.
static agg_err check_named(agg_error *error, const serve_collection *one)
{
    const shoal_recipe *recipe = one->recipe.recipe;
    for (uint32_t i = 0; i < recipe->n_variables; i++) {
        const shoal_name *name = &recipe->variables[i].name;
        if (agg_recipe_variable_is_closed(&one->recipe, i)) continue;
        if (one->categories != NULL && one->categories[i].n > 0) continue;
        return agg_fail(error, SHOAL_ERR_UNKNOWN_FIELD, AGG_EXIT_USAGE,
                        "variable %.*s takes any string, so the server\xe2\x80\x99s configuration "
                        "names the values to show: \"dictionaries\": {\"%s\": {\"%.*s\": "
                        "\"FILE\"}}",
                        (int)name->len, name->bytes, one->recipe.id, (int)name->len, name->bytes);
    }
    return SHOAL_OK;
}

static agg_err make(void **made, agg_error *error, const serve_view_order *order)
{
    const serve_collection *one = order->collection;
    const agg_dictionary *values[SHOAL_VARIABLES_MAX];
    const agg_static_report report = {.recipe = &one->recipe,
                                      .values = values_of(values, one),
                                      .memory = order->memory > 0 ? order->memory : 1, // 0: any
                                      .goes_on = order->goes_on,
                                      .context = order->context,
                                      .options = {.n_threads = 1},
                                      .release = serve_view_release(order)};
    agg_accumulator sum;
    agg_static_joint *joint;
    agg_released released;
    uint64_t bytes = 0;
    agg_err err = check_named(error, one);
    if (err == SHOAL_OK) err = serve_view_sum(&bytes, error, order);
    if (err == SHOAL_OK) err = serve_view_check(error, order, 2 * bytes);
    if (err != SHOAL_OK) return err;
    err = agg_store_load(order->store, &sum, &released, error, one->number, one->recipe.recipe,
                         order->span);
    if (err != SHOAL_OK) return err;
    err = agg_static_joint_make(&joint, error, &report, &sum);
    agg_accumulator_release(&sum);
    if (err == SHOAL_OK) *made = joint;
    return err;
}

static size_t size(const void *made)
{
    return agg_static_joint_size(made);
}

static void release(void *made)
{
    agg_static_joint_release(made);
}

static agg_err page(FILE *out, agg_error *error, const serve_job *job,
                    const serve_view_order *order, const void *made)
{
    serve_view_texts texts;
    char blocks[SERVE_VIEW_BLOCKS_MAX];
    const char *names[] = {blocks};
    agg_static_report report = {.names = names, .n = 1};
    serve_view_begin(&report, job, order, &texts);
    serve_view_name_blocks(blocks, &order->blocks);
    agg_static_report_open(out, &report);
    agg_static_joint_write(out, &report, made);
    return agg_static_report_close(out, error, &report);
}

static agg_err rows(FILE *out, agg_error *error, const serve_job *job,
                    const serve_view_order *order, const void *made)
{
    (void)order;
    const agg_joint_result *result = agg_static_joint_pair(made, job->pair[0], job->pair[1]);
    if (result == NULL) return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "no such pair");
    return agg_joint_print(out, error, result, job->format);
}

const char *serve_joint_read_pair(uint32_t pair[2], const agg_recipe *recipe, const char *names)
{
    static const char text[] =
        "variables names two of the recipe's variables, as variables=section,age";
    uint32_t n = recipe->recipe->n_variables;
    pair[0] = 0;
    pair[1] = 1;
    if (names == NULL) return n == 2 ? NULL : text;
    const char *comma = strchr(names, ',');
    if (comma == NULL) return text;
    uint32_t a = agg_recipe_find_variable(recipe, names, (size_t)(comma - names)),
             b = agg_recipe_find_variable(recipe, comma + 1, strlen(comma + 1));
    if (a == n || b == n || a == b) return text;
    pair[0] = (uint32_t)lesser(a, b);
    pair[1] = a < b ? b : a;
    return NULL;
}

static bool sorts_by(const char *column)
{
    (void)column;
    return false;
}

const serve_view_kind serve_joint_view = {
    .name = "joint",
    .title = "What hangs together",
    .href = "?view=joint",
    .needs = "this recipe asks for one value, and what hangs together needs several variables",
    .has = has,
    .memory = memory,
    .make = make,
    .size = size,
    .release = release,
    .page = page,
    .rows = rows,
    .sorts_by = sorts_by};
