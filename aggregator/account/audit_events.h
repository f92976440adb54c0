// SPDX-License-Identifier: Apache-2.0
// Events that tell two items apart, and the lower bounds on epsilon that their frequencies prove.
//
// For any event E, epsilon is at least ln(P(E | a) / P(E | b)). Every event is fixed before the
// draws that count for it are examined. The mechanism's own event (account.h) is fixed before any
// draw; learnt events come from training draws, which are left out of their count. Bounds on both
// probabilities are exact (Clopper-Pearson) and hold for all events at once (Bonferroni). Source of
// the method: Jagielski, Ullman, Oprea, "Auditing differentially private machine learning" (2020),
// section 3.
#ifndef AUDIT_EVENTS_H
#define AUDIT_EVENTS_H

#include <stdbool.h>

#include "audit_draws.h"
#include "audit_marks.h"

#define AGG_EVENT_MARKS_MAX 32u

typedef struct agg_event {
    uint32_t a, b; // indices of items in agg_draws
    bool is_law;   // the mechanism's own event; else the text's marks have weights that sum to at
                   // least `threshold`
    uint32_t n_marks;
    agg_mark marks[AGG_EVENT_MARKS_MAX];
    double weights[AGG_EVENT_MARKS_MAX];
    double threshold;
    uint64_t hits[2], n[2]; // draws of a and of b: those in the event, and all
    double low;             // the proved lower bound on epsilon; -infinity if nothing is proved
} agg_event;

// The events of every ordered pair of items: the mechanism's own event, the most telling mark, and
// the most telling sum of marks.
#define AGG_EVENTS_OF_PAIR 3u

typedef struct agg_events {
    agg_event *events; // room for AGG_EVENTS_OF_PAIR * n_items * (n_items - 1)
    uint32_t n;
    uint64_t n_train[AGG_DRAWS_ITEMS_MAX]; // training draws of each item: draws 0, 2, 4, ...
} agg_events;

// Chooses the events. Call agg_events_release afterwards, also after an error.
agg_err agg_events_choose(agg_events *events, agg_error *error, const agg_draws *draws,
                          unsigned n_threads) SHOAL_MUST_CHECK;

// Returns: the most bytes that choosing takes beside the draws. Counting takes less.
uint64_t agg_events_memory(const agg_draws *draws, unsigned n_threads);

// Counts hits among the draws that each event was not learnt from, and sets `low`. The result does
// not depend on the number of threads.
//   confidence: probability that all bounds hold at once, in (0, 1)
agg_err agg_events_count(agg_events *events, agg_error *error, const agg_draws *draws,
                         double confidence, unsigned n_threads) SHOAL_MUST_CHECK;

// Returns: the sum of the weights of the text's marks.
static inline double agg_event_score(const agg_event *event, const agg_marked *marked)
{
    double sum = 0;
    for (uint32_t i = 0; i < event->n_marks; i++)
        if (agg_marked_has(marked, &event->marks[i])) sum += event->weights[i];
    return sum;
}

// Describes the event in words.
void agg_event_describe(char *out, size_t cap, const agg_event *event);

void agg_events_release(agg_events *events);

// Adds the events that are learnt from the training draws. Private to audit_events.c and
// audit_learn.c.
agg_err agg_events_learn(agg_events *events, agg_error *error, const agg_draws *draws,
                         unsigned n_threads) SHOAL_MUST_CHECK;
// Returns: the bytes that learning takes.
//   n: number of training draws of each item
uint64_t agg_events_learn_memory(const agg_draws *draws, const uint64_t *n, unsigned n_threads);

#endif
