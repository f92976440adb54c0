// SPDX-License-Identifier: Apache-2.0
// The next round; see round_next.h.
#include "round_next.h"

#include <stdlib.h>

#include "compound.h"
#include "input_memory.h"
#include "memory_option.h"
#include "recipe.h"
#include "recipe_write.h"
#include "round_work.h"

static agg_err run(round_work *w, agg_error *error)
{
    const round_options *o = w->options;
    char seed_hex[65];
    agg_next_recipe next = {.id = o->id,
                            .mechanism = o->mechanism,
                            .expires = o->expires,
                            .seed_hex = o->seed_hex,
                            .version = (uint32_t)o->version,
                            .cohort_epsilon = o->cohort_epsilon};
    if (w->recipe.recipe->epochs > 0) return round_epoch(w, error);
    if (w->recipe.recipe->contributions > 0) return round_trie(w, error, &next);
    agg_err err = round_field_choose(w, error, &next);
    if (err == SHOAL_OK && o->seed_hex == NULL) {
        err = recipe_fresh_seed(seed_hex, error);
        next.seed_hex = seed_hex;
    }
    return err == SHOAL_OK ? round_write(w, error, &next) : err;
}

// Bytes that a recipe takes for one byte of its text while it is made: the strings of JSON are
// small.
#define JSON_OF_BYTE 12u

// Runs before the accumulator is read, which stays in memory until the end.
static agg_err state_memory(round_work *w, agg_error *error)
{
    char command[] = "round";
    const shoal_recipe *recipe = w->recipe.recipe;
    uint64_t bytes =
        cli_accumulator_memory(w->options->accumulator, recipe) + JSON_OF_BYTE * w->recipe.json_len;
    agg_err err = SHOAL_OK;
    if (recipe->contributions > 0)
        bytes += round_trie_memory(w);
    else if (recipe->epochs == 0 && (err = round_field_find(w, error)) == SHOAL_OK)
        bytes += round_field_memory(w);
    return err == SHOAL_OK ? cli_state_memory(error, command, bytes, w->options->memory_limit)
                           : err;
}

agg_err round_next(agg_error *error, const round_options *options)
{
    round_work w = {.options = options};
    agg_err err = agg_recipe_from_file(&w.recipe, error, options->recipe);
    if (err != SHOAL_OK) return err;
    err = state_memory(&w, error);
    if (err == SHOAL_OK)
        err = agg_accumulator_load_result(&w.acc, error, options->accumulator, w.recipe.recipe,
                                          AGG_WHOLE_ONLY);
    if (err == SHOAL_OK) {
        err = run(&w, error);
        agg_accumulator_release(&w.acc);
    }
    agg_next_prefixes_release(&w.prefixes);
    agg_next_trie_release(&w.trie);
    agg_trie_layer_release(&w.layer);
    free(w.counts);
    free(w.tokens);
    free(w.token_bytes.data);
    agg_recipe_release(&w.recipe);
    return err;
}
