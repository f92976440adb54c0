// SPDX-License-Identifier: Apache-2.0
// The next recipe, checked and written; see round_work.h.
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "log.h"
#include "mechanism.h"
#include "recipe_write.h"
#include "round_work.h"

#define LARGE_RECORD 4096u // bytes of a record from which on smaller mechanisms are suggested

void round_say(const char *format, ...)
{
    char command[] = "round", text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    agg_log_line(command, text);
}

// Reads the text back and refuses it unless it states what `next` states.
static agg_err read_back(agg_recipe *again, agg_error *error, const char *text,
                         const agg_next_recipe *next)
{
    agg_err err = agg_recipe_from_bytes(again, error, "the next recipe", text, strlen(text));
    if (err != SHOAL_OK) return err;
    const shoal_encoded *field = &again->recipe.encoding.fields[next->field];
    bool is_same = (next->n_starts == 0 ||
                    (field->prefixes.count == next->n_starts && field->step == next->step)) &&
                   (next->n_prefixes == 0 || field->prefixes.count == next->n_prefixes) &&
                   (next->n_boundaries == 0 || (field->n_boundaries == next->n_boundaries &&
                                                memcmp(field->boundaries, next->boundaries,
                                                       sizeof(int64_t) * next->n_boundaries) == 0));
    if (is_same) return SHOAL_OK;
    agg_recipe_release(again);
    return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                    "the next recipe does not read back as it was written");
}

// Returns: the bytes of a record of another mechanism; 0 if that cannot follow.
static uint32_t record_with(const round_work *w, const agg_next_recipe *next, const char *mechanism)
{
    agg_error error;
    agg_recipe other;
    agg_next_recipe asked = *next;
    char *text = NULL;
    uint32_t size = 0;
    asked.mechanism = mechanism;
    if (agg_next_recipe_text(&text, &error, &w->recipe, &asked) != SHOAL_OK) return 0;
    if (read_back(&other, &error, text, &asked) == SHOAL_OK) {
        size = other.recipe.record_size;
        agg_recipe_release(&other);
    }
    free(text);
    return size;
}

// The name of the mechanism that is usual for one AGG_USUAL_* bit.
static const char *usual(uint32_t kind)
{
    return shoal_mechanism_by_id(agg_account_usual(kind)->id)->name;
}

static void say_next(const round_work *w, const agg_recipe *again, const agg_next_recipe *next)
{
    const shoal_recipe *old = &w->recipe.recipe, *new = &again->recipe;
    const shoal_mechanism *mechanism = shoal_mechanism_by_id(new->parts[0].mechanism);
    round_say("%s: %u cells where %s had %u; a record has %u bytes (%u before)", again->id,
              new->parts[0].size, w->recipe.id, old->parts[0].size, new->record_size,
              old->record_size);
    if (agg_account_of(mechanism->id)->has_bit_a_value && new->record_size > LARGE_RECORD) {
        const char *shorter = usual(AGG_USUAL_SHORT_RECORDS),
                   *shortest = usual(AGG_USUAL_SHORTEST_RECORDS);
        uint32_t short_size = record_with(w, next, shorter),
                 shortest_size = record_with(w, next, shortest);
        if (short_size > 0 && shortest_size > 0)
            round_say("a record has one bit for each cell: with --mechanism %s it has %u bytes and "
                      "the same error, with --mechanism %s %u and a larger one",
                      shorter, short_size, shortest, shortest_size);
    }
    if (old->n_part > 0)
        round_say("the next round was learned from the part %s alone, and is asked of every part",
                  w->recipe.id);
    if (old->round_index == 0)
        round_say("%s states no round, so the next one is round 1", w->recipe.id);
    round_say("%s is not signed yet: read it (shoal recipe diff), then sign it (shoal recipe sign)",
              again->id);
}

// Suggests a mechanism that takes so large a domain, if there is one.
static void say_too_large(const round_work *w, const agg_next_recipe *next)
{
    const char *shortest = usual(AGG_USUAL_SHORTEST_RECORDS);
    uint32_t size = record_with(w, next, shortest);
    if (size > 0)
        round_say("--mechanism %s takes that many cells, with %u bytes a record", shortest, size);
}

agg_err round_write(round_work *w, agg_error *error, const agg_next_recipe *next)
{
    agg_recipe again;
    char *text = NULL;
    agg_err err = agg_next_recipe_text(&text, error, &w->recipe, next);
    if (err != SHOAL_OK) return err;
    if (strlen(text) > AGG_RECIPE_FILE_MAX)
        err = agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                       "the next recipe would have %zu bytes, but a recipe has at most %zu: ask "
                       "for fewer prefixes (--max-prefixes)",
                       strlen(text), AGG_RECIPE_FILE_MAX);
    if (err == SHOAL_OK) {
        err = read_back(&again, error, text, next);
        if (err == SHOAL_ERR_RANGE) say_too_large(w, next);
    }
    if (err == SHOAL_OK) {
        say_next(w, &again, next);
        agg_recipe_release(&again);
        err = recipe_write(error, w->options->output, text, strlen(text));
    }
    free(text);
    return err;
}
