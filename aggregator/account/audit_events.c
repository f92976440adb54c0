// SPDX-License-Identifier: Apache-2.0
// Counts events and computes the bounds that they prove; see audit_events.h.
#include "audit_events.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "agg_parallel.h"
#include "agg_size.h"
#include "clopper_pearson.h"

#define TRAIN_MAX ((uint64_t)1 << 17)     // training draws of an item
#define TRAIN_BYTES_MAX ((size_t)1 << 25) // characters of the training draws

static void add_law_events(agg_events *events, const agg_draws *draws)
{
    for (uint32_t a = 0; a < draws->n_items; a++)
        for (uint32_t b = 0; b < draws->n_items; b++) {
            // No mechanism has an event for "none"; learnt events serve instead.
            if (a == b || draws->items[a] == SHOAL_ITEM_NONE || draws->items[b] == SHOAL_ITEM_NONE)
                continue;
            events->events[events->n++] = (agg_event){.a = a, .b = b, .is_law = true};
        }
}

// Returns: the number of an item's training draws.
static uint64_t train_of(const agg_draws *draws, uint32_t item)
{
    uint64_t half = draws->count[item] / 2, fit = TRAIN_BYTES_MAX / (agg_draws_text_max(draws) + 1);
    uint64_t most = fit < TRAIN_MAX ? fit : TRAIN_MAX;
    return half < most ? half : most;
}

uint64_t agg_events_memory(const agg_draws *draws, unsigned n_threads)
{
    uint64_t n[AGG_DRAWS_ITEMS_MAX] = {0},
             room = AGG_EVENTS_OF_PAIR * draws->n_items * (draws->n_items - 1);
    for (uint32_t i = 0; i < draws->n_items; i++) n[i] = train_of(draws, i);
    return room * sizeof(agg_event) + agg_events_learn_memory(draws, n, n_threads);
}

agg_err agg_events_choose(agg_events *events, agg_error *error, const agg_draws *draws,
                          unsigned n_threads)
{
    size_t room = AGG_EVENTS_OF_PAIR * draws->n_items * (draws->n_items - 1);
    memset(events, 0, sizeof *events);
    events->events = agg_alloc(error, room, sizeof *events->events);
    if (events->events == NULL) return AGG_ERR_MEMORY;
    for (uint32_t i = 0; i < draws->n_items; i++) events->n_train[i] = train_of(draws, i);
    add_law_events(events, draws);
    return agg_events_learn(events, error, draws, n_threads);
}

typedef struct counting {
    const agg_events *events;
    const agg_draws *draws;
    uint64_t (*hits)[2]; // [thread][event]
    uint8_t *scratch;    // one for each thread
    agg_marked *marked;  // one for each thread
} counting;

static bool is_hit(const agg_event *event, const agg_draws *draws, const agg_drawn *drawn,
                   const agg_marked *marked)
{
    const shoal_part *part = shoal_recipe_part(draws->recipe, 0);
    if (!event->is_law) return agg_event_score(event, marked) >= event->threshold;
    return drawn->record != NULL &&
           agg_account_of(part->mechanism)
               ->tells_apart(part, drawn->record, draws->items[event->a], draws->items[event->b]);
}

static bool is_training(const agg_events *events, uint32_t item, uint64_t i)
{
    return i % 2 == 0 && i / 2 < events->n_train[item];
}

static void count_draw(const counting *c, uint64_t (*hits)[2], agg_marked *marked, uint8_t *scratch,
                       uint32_t item, uint64_t i)
{
    agg_drawn drawn = agg_draws_get(c->draws, scratch, item, i);
    bool trains = is_training(c->events, item, i);
    if (!trains) agg_marked_read(marked, drawn.text);
    for (uint32_t e = 0; e < c->events->n; e++) {
        const agg_event *event = &c->events->events[e];
        if ((event->a != item && event->b != item) || (trains && !event->is_law)) continue;
        if (is_hit(event, c->draws, &drawn, marked)) hits[e][event->b == item]++;
    }
}

static void count_part(void *context, unsigned thread, unsigned n_threads)
{
    const counting *c = context;
    uint64_t(*hits)[2] = c->hits + (size_t)thread * c->events->n;
    uint8_t *scratch = c->scratch + thread * agg_draws_scratch(c->draws);
    for (uint32_t item = 0; item < c->draws->n_items; item++) {
        uint64_t n = c->draws->count[item], stop = n * (thread + 1) / n_threads;
        for (uint64_t i = n * thread / n_threads; i < stop; i++)
            count_draw(c, hits, &c->marked[thread], scratch, item, i);
    }
}

static void bound(agg_events *events, const agg_draws *draws, double alpha)
{
    for (uint32_t e = 0; e < events->n; e++) {
        agg_event *event = &events->events[e];
        const uint32_t items[2] = {event->a, event->b};
        for (int side = 0; side < 2; side++)
            event->n[side] =
                draws->count[items[side]] - (event->is_law ? 0 : events->n_train[items[side]]);
        event->low = log(agg_clopper_pearson_lower(event->hits[0], event->n[0], alpha) /
                         agg_clopper_pearson_upper(event->hits[1], event->n[1], alpha));
    }
}

agg_err agg_events_count(agg_events *events, agg_error *error, const agg_draws *draws,
                         double confidence, unsigned n_threads)
{
    counting c = {events, draws, NULL, NULL, NULL};
    agg_err err = SHOAL_OK;
    c.hits = agg_alloc(error, (size_t)n_threads * (events->n + 1), sizeof *c.hits);
    c.scratch = agg_alloc(error, n_threads, agg_draws_scratch(draws));
    c.marked = agg_alloc(error, n_threads, sizeof *c.marked);
    if (c.hits == NULL || c.scratch == NULL || c.marked == NULL) err = AGG_ERR_MEMORY;
    if (err == SHOAL_OK) {
        agg_parallel(n_threads, count_part, &c);
        for (uint32_t e = 0; e < events->n; e++)
            for (int side = 0; side < 2; side++) {
                events->events[e].hits[side] = 0;
                for (unsigned t = 0; t < n_threads; t++)
                    events->events[e].hits[side] += c.hits[(size_t)t * events->n + e][side];
            }
        // Each event has two bounds, which share the error probability.
        bound(events, draws, (1 - confidence) / (2.0 * (events->n > 0 ? events->n : 1)));
    }
    free(c.hits);
    free(c.scratch);
    free(c.marked);
    return err;
}

void agg_event_describe(char *out, size_t cap, const agg_event *event)
{
    char mark[96];
    if (event->is_law) {
        snprintf(out, cap, "the mechanism's own event");
        return;
    }
    agg_mark_describe(mark, sizeof mark, &event->marks[0]);
    if (event->n_marks == 1)
        snprintf(out, cap, "%s%s", event->weights[0] < 0 ? "not: " : "", mark);
    else
        snprintf(out, cap, "%u marks weighed together, the heaviest: %s%s", event->n_marks,
                 event->weights[0] < 0 ? "not: " : "", mark);
}

void agg_events_release(agg_events *events)
{
    free(events->events);
    memset(events, 0, sizeof *events);
}
