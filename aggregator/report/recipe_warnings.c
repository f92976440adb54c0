// SPDX-License-Identifier: Apache-2.0
// Logs warnings about recipes; see recipe_warnings.h.
#include "recipe_warnings.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "dictionary.h"
#include "epoch.h"
#include "event.h"
#include "log.h"
#include "recipe.h"
#include "text_rule.h"

// Warns of entries of a variable's list that the text rule changes.
static void warn_of_variables(const agg_recipe *recipe)
{
    char text[160];
    for (uint32_t i = 0; i < recipe->recipe->n_variables; i++) {
        const agg_list *values = &recipe->variables[i];
        if (recipe->recipe->variables[i].value == SHOAL_VALUE_ITEM) continue;
        for (uint32_t j = 0; j < values->n; j++) {
            if (agg_text_is_kept(recipe->recipe, values->texts[j].bytes, values->texts[j].len))
                continue;
            snprintf(text, sizeof text,
                     "entry %u of variables[%u].parameters.values: the text rule changes it, so no "
                     "device reports it",
                     j + 1, i);
            agg_log_line("recipe", text);
        }
    }
}

static void warn_of_values(const agg_recipe *recipe)
{
    char text[160];
    if (recipe->recipe->value == SHOAL_VALUE_ITEM)
        return; // the client matches these values unchanged
    for (uint32_t i = 0; i < recipe->values.n; i++) {
        if (agg_text_is_kept(recipe->recipe, recipe->values.texts[i].bytes,
                             recipe->values.texts[i].len))
            continue;
        snprintf(text, sizeof text,
                 "entry %u of parameters.values: the text rule changes it, so no device reports it",
                 i + 1);
        agg_log_line("recipe", text);
    }
}

// Warns of entries of an encoding that the text rule changes, because no device has them. In a
// prefix each token is checked.
static void warn_of_list(const agg_recipe *recipe, uint32_t field, const char *name,
                         const agg_list *list)
{
    char text[160];
    bool is_tokens = strcmp(name, "values") != 0;
    for (uint32_t i = 0; i < list->n; i++) {
        if (agg_entry_is_kept(recipe->recipe, list->texts[i], is_tokens)) continue;
        snprintf(text, sizeof text,
                 "entry %u of encoding[%u].%s: the text rule changes it%s, so no device reports it",
                 i + 1, field, name, is_tokens ? " or cuts it" : "");
        agg_log_line("recipe", text);
    }
}

// Warns of words of a trie that the text rule changes, because no device finds them.
static void warn_of_words(const agg_recipe *recipe)
{
    char text[160];
    shoal_recipe any_length = *recipe->recipe;
    const agg_list *characters = &recipe->lists[0][SHOAL_LIST_CHARACTERS], *known = &recipe->known;
    any_length.text_min = 0;
    any_length.text_max = UINT32_MAX;
    if (recipe->recipe->contributions == 0) return;
    for (uint32_t i = 0; i < characters->n; i++) {
        if (agg_text_is_kept(&any_length, characters->texts[i].bytes, characters->texts[i].len))
            continue;
        snprintf(
            text, sizeof text,
            "entry %u of encoding[0].characters: the text rule changes it, so no device reports it",
            i + 1);
        agg_log_line("recipe", text);
    }
    for (uint32_t i = 0; i < known->n; i++) {
        if (agg_text_is_kept(recipe->recipe, known->texts[i].bytes, known->texts[i].len)) continue;
        snprintf(text, sizeof text,
                 "entry %u of parameters.known: the text rule changes it, so no device has it",
                 i + 1);
        agg_log_line("recipe", text);
    }
    if (recipe->recipe->text_max + 1 < recipe->recipe->depth) // depth counts the end of a word
        agg_log_line(
            "recipe",
            "text.max is below the longest word of parameters.depth: no device has words so long");
}

static void warn_of_encoding(const agg_recipe *recipe)
{
    static const char *const names[] = {"values", "prefixes", "tokens"};
    for (uint32_t i = 0; i < recipe->recipe->encoding.n_fields; i++)
        for (uint32_t j = 0; j < 3; j++) warn_of_list(recipe, i, names[j], &recipe->lists[i][j]);
}

// Warns of a round that no device answers (core/compound/epoch.h).
static void warn_of_round(const shoal_recipe *r)
{
    const shoal_epoch_ledger none = {0, 0, 0};
    shoal_evolving run = shoal_evolving_of(r);
    shoal_epoch_refusal refusal = shoal_epoch_check(&none, &run, r->round_index, r->round_update);
    char text[160];
    if (refusal == SHOAL_EPOCH_ACCEPTED) return;
    snprintf(text, sizeof text, "no device answers this recipe: %s",
             r->round_index == 0 ? "it states no round" : shoal_epoch_refusal_text(refusal));
    agg_log_line("recipe", text);
}

void recipe_warnings_log(const agg_recipe *recipe, uint32_t today)
{
    char command[] = "recipe";
    warn_of_values(recipe);
    warn_of_variables(recipe);
    warn_of_encoding(recipe);
    warn_of_words(recipe);
    if (recipe->recipe->epochs > 0) warn_of_round(recipe->recipe);
    if (recipe->recipe->trial != 0)
        agg_log_line(command, "trial is 1: clients and servers refuse the recipe off loopback");
    if (shoal_recipe_check_day(recipe->recipe, today) != SHOAL_OK)
        agg_log_line(command, "the recipe has expired: devices send nothing");
}
