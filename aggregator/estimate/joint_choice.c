// SPDX-License-Identifier: Apache-2.0
// Chooses the categories of a variable; see joint_choice.h.
#include "joint_choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "domain_dictionary.h"
#include "recipe.h"

static agg_err fail_variable(agg_error *error, const agg_recipe *recipe, uint32_t i,
                             const char *why)
{
    const shoal_name *name = &recipe->recipe->variables[i].name;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "variable %.*s: %s", (int)name->len,
                    name->bytes, why);
}

static agg_err load_dictionary(agg_joint_chosen *c, agg_error *error, const agg_recipe *recipe,
                               const agg_joint_wish *wish)
{
    c->values = &c->dictionary;
    if (wish->values != NULL && wish->values->n > 0) {
        c->values = wish->values;
        return SHOAL_OK;
    }
    if (wish->file != NULL)
        return agg_dictionary_load(&c->dictionary, error, c->view, wish->file, wish->log,
                                   wish->log_context);
    if (!agg_recipe_variable_is_closed(recipe, wish->variable))
        return fail_variable(error, recipe, wish->variable,
                             "takes any string: name its categories with --categories NAME=FILE");
    return agg_dictionary_of_recipe(&c->dictionary, error, c->view);
}

static agg_err reserve(agg_joint_chosen *c, agg_error *error, size_t n)
{
    c->labels = agg_alloc(error, n, sizeof *c->labels);
    c->items = agg_alloc(error, n, sizeof *c->items);
    c->shares = agg_alloc(error, n, sizeof *c->shares);
    return c->labels == NULL || c->items == NULL || c->shares == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
}

static agg_err take_all(agg_joint_chosen *c, agg_error *error)
{
    agg_err err = reserve(c, error, c->values->n + 1); // room for "none of the list" too
    if (err != SHOAL_OK) return err;
    for (size_t i = 0; i < c->values->n; i++) {
        c->labels[i] = c->values->values[i];
        c->items[i] = c->values->items[i];
    }
    c->choice.n = (uint32_t)c->values->n;
    return SHOAL_OK;
}

static void say_taken(const agg_recipe *recipe, const agg_joint_chosen *c,
                      const agg_joint_wish *wish, size_t n_detected)
{
    char text[200];
    const shoal_name *name = &recipe->recipe->variables[c->choice.variable].name;
    snprintf(
        text, sizeof text,
        "variable %.*s: %zu of %zu values stand out from the noise; the %u largest are categories",
        (int)name->len, name->bytes, n_detected, c->values->n, c->choice.n);
    if (wish->log != NULL) wish->log(wish->log_context, text);
}

// Takes the largest values that stand out from the noise. Rows are sorted by falling count.
static agg_err take_largest(agg_joint_chosen *c, agg_error *error, const agg_recipe *recipe,
                            const agg_accumulator *acc, const agg_joint_wish *wish, size_t top)
{
    const agg_estimate_options options = {.confidence = wish->confidence,
                                          .n_threads = wish->n_threads};
    agg_err err = agg_estimate_run(&c->estimate, error, c->view, acc, c->values, &options);
    if (err == SHOAL_OK) err = reserve(c, error, top);
    if (err != SHOAL_OK) return err;
    size_t n_detected = 0;
    for (size_t i = 0; i < c->estimate.n_rows; i++) {
        const agg_estimate_row *row = &c->estimate.rows[i];
        if (!row->detected || n_detected++ >= top) continue;
        c->labels[c->choice.n] = row->value;
        c->items[c->choice.n] = row->item;
        c->shares[c->choice.n++] = row->count / (double)acc->n;
    }
    if (c->choice.n == 0)
        return fail_variable(error, recipe, wish->variable,
                             "none of its values stands out from the noise, so it has no category");
    c->choice.shares = c->shares;
    say_taken(recipe, c, wish, n_detected);
    return SHOAL_OK;
}

// Returns: whether there is a rest. Any string always leaves one; a list leaves one unless all of
// its values are categories.
static bool leaves_rest(const agg_joint_chosen *c, const agg_recipe *recipe)
{
    const shoal_part *part = &recipe->recipe->parts[c->choice.variable];
    return part->domain == SHOAL_DOMAIN_OPEN || c->choice.n < part->size;
}

// Adds the devices that hold no value of the list, as a category of their own.
static void add_none(agg_joint_chosen *c, const agg_recipe *recipe)
{
    const shoal_part *part = &recipe->recipe->parts[c->choice.variable];
    if (part->domain == SHOAL_DOMAIN_OPEN || c->choice.n < part->size) return;
    c->labels[c->choice.n] = (agg_text){"<none>", 6};
    c->items[c->choice.n++] = SHOAL_ITEM_NONE;
}

static agg_err make(agg_joint_chosen *c, agg_error *error, const agg_recipe *recipe,
                    const agg_accumulator *acc, const agg_joint_wish *wish)
{
    c->choice.variable = wish->variable;
    c->view = agg_recipe_of_variable(error, recipe, wish->variable);
    if (c->view == NULL) return AGG_ERR_MEMORY;
    agg_err err = load_dictionary(c, error, recipe, wish);
    if (err != SHOAL_OK) return err;
    size_t top = wish->top > 0 ? wish->top : AGG_JOINT_TOP;
    bool is_own = wish->file == NULL && c->values == &c->dictionary;
    size_t whole = wish->top > 0 || !is_own ? top : AGG_JOINT_WHOLE_MAX;
    err =
        c->values->n <= whole ? take_all(c, error) : take_largest(c, error, recipe, acc, wish, top);
    if (err != SHOAL_OK) return err;
    c->choice.labels = c->labels;
    c->choice.items = c->items;
    c->choice.has_other = !wish->no_other && leaves_rest(c, recipe);
    if (wish->with_none) add_none(c, recipe);
    return SHOAL_OK;
}

agg_err agg_joint_chosen_make(agg_joint_chosen *categories, agg_error *error,
                              const agg_recipe *recipe, const agg_accumulator *acc,
                              const agg_joint_wish *wish)
{
    memset(categories, 0, sizeof *categories);
    agg_err err = make(categories, error, recipe, acc, wish);
    if (err != SHOAL_OK) agg_joint_chosen_release(categories);
    return err;
}

void agg_joint_chosen_release(agg_joint_chosen *categories)
{
    agg_estimate_release(&categories->estimate);
    agg_dictionary_release(&categories->dictionary);
    free(categories->view);
    free(categories->labels);
    free(categories->items);
    free(categories->shares);
    memset(categories, 0, sizeof *categories);
}
