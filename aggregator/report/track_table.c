// SPDX-License-Identifier: Apache-2.0
// The rows of a series; see track_table.h.
#include "track_table.h"

#include <math.h>
#include <string.h>

#include "compound.h"
#include "recipe.h"

// A number that may be missing.
#define MAYBE(text, unit_)                                                                         \
    {                                                                                              \
        .name = {(text), sizeof(text) - 1}, .kind = AGG_COLUMN_NUMBER, .may_be_missing = true,     \
        .unit = (unit_)                                                                            \
    }
#define DIGIT(text)                                                                                \
    {                                                                                              \
        .name = {(text), sizeof(text) - 1}, .kind = AGG_COLUMN_FLAG, .marks = AGG_CSV_DIGIT        \
    }

bool agg_track_is_shown(const agg_track_result *result, size_t u, size_t rank)
{
    const agg_track_items *items = result->items;
    if (agg_track_is_withheld(items, u, items->order[rank])) return false;
    return result->top == 0 || rank < result->top ||
           agg_track_items_at(items, u, items->order[rank])->has_moved;
}

static void put_measured(agg_cell *cells, const double values[4], double error)
{
    for (size_t j = 0; j < 4; j++) {
        cells[j].number = values[j];
        cells[j].error = error;
    }
}

static void put_exact(agg_cell *cell, double x)
{
    cell->number = x;
    cell->error = NAN;
}

static bool read_epoch(agg_cell *cells, void *source, size_t i)
{
    const agg_track_result *result = source;
    const agg_track_row *row = &result->track->rows[i];
    const double values[4] = {row->value, row->stderr_, row->low, row->high};
    cells[0].whole = row->epoch;
    cells[1].whole = row->of;
    put_measured(cells + 2, values, row->stderr_);
    cells[6].whole = row->n;
    put_exact(&cells[7], row->votes);
    put_exact(&cells[8], row->needed);
    cells[9].flag = row->is_update;
    cells[10].flag = row->is_pending;
    cells[11].flag = row->is_frozen;
    if (result->truth != NULL) put_exact(&cells[12], result->truth[i]);
    return true;
}

// The rows are all pairs of an update and a rank, update by update.
static bool read_item(agg_cell *cells, void *source, size_t row)
{
    const agg_track_result *result = source;
    const agg_track_items *items = result->items;
    size_t u = row / items->n, rank = row % items->n;
    uint32_t i = items->order[rank];
    const agg_track_share *s = agg_track_items_at(items, u, i);
    const double values[4] = {s->share, s->stderr_, s->low, s->high};
    if (!agg_track_is_shown(result, u, rank)) return false;
    cells[0].whole = result->track->updates[u].epoch;
    cells[1].text = items->dictionary->values[i];
    put_measured(cells + 2, values, s->stderr_);
    cells[6].flag = s->is_detected;
    put_exact(&cells[7], s->change);
    put_exact(&cells[8], s->change_error);
    cells[9].flag = s->has_moved;
    return true;
}

static void state_facts(agg_table *table, const agg_track *t)
{
    agg_table_state(table, "schema", "1");
    agg_table_state(table, "recipe", t->recipe.id);
    agg_table_state(table, "run_hash", t->run_hex);
    agg_table_state(table, "mechanism", shoal_recipe_mechanism_name(t->recipe.recipe));
    agg_table_state_number(table, "epsilon", t->law.epsilon);
    agg_table_state_whole(table, "users", t->law.plan.users);
    agg_table_state_whole(table, "epochs", t->law.plan.epochs);
    agg_table_state_number(table, "confidence", t->confidence);
}

void agg_track_table_of_epochs(agg_table *table, const agg_track_result *result)
{
    static const agg_column columns[] = {AGG_COLUMN("epoch", AGG_COLUMN_WHOLE, NULL),
                                         AGG_COLUMN("of", AGG_COLUMN_WHOLE, NULL),
                                         MAYBE("value", NULL),
                                         MAYBE("stderr", NULL),
                                         MAYBE("low", NULL),
                                         MAYBE("high", NULL),
                                         AGG_COLUMN("n", AGG_COLUMN_WHOLE, "reports"),
                                         MAYBE("votes", "share"),
                                         MAYBE("needed", "share"),
                                         DIGIT("update"),
                                         DIGIT("pending"),
                                         DIGIT("frozen"),
                                         MAYBE("truth", NULL)};
    const size_t n = sizeof columns / sizeof columns[0];
    *table = (agg_table){
        .n_rows = result->track->n_rows, .source = (void *)(uintptr_t)result, .read = read_epoch};
    agg_table_add(table, columns, result->truth != NULL ? n : n - 1);
    state_facts(table, result->track);
}

void agg_track_table(agg_table *table, const agg_track_result *result)
{
    static const agg_column columns[] = {AGG_COLUMN("epoch", AGG_COLUMN_WHOLE, NULL),
                                         AGG_COLUMN("value", AGG_COLUMN_TEXT, NULL),
                                         MAYBE("share", "share"),
                                         MAYBE("stderr", "share"),
                                         MAYBE("low", "share"),
                                         MAYBE("high", "share"),
                                         DIGIT("detected"),
                                         MAYBE("change", "share"),
                                         MAYBE("change_stderr", "share"),
                                         DIGIT("moved")};
    if (result->items == NULL) {
        agg_track_table_of_epochs(table, result);
        return;
    }
    *table = (agg_table){.n_rows = result->track->n_updates * result->items->n,
                         .source = (void *)(uintptr_t)result,
                         .read = read_item};
    agg_table_add(table, columns, sizeof columns / sizeof columns[0]);
    state_facts(table, result->track);
}
