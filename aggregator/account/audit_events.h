// SPDX-License-Identifier: Apache-2.0
// Events that tell two items apart, and what their frequencies prove about epsilon.
//
// For any event E, epsilon is at least ln(P(E | a) / P(E | b)). Events are fixed before the draws
// that count for them are looked at: the mechanism's own (account.h) before any draw, learnt ones
// from a training part of the draws, which is left out of their count. Bounds on both probabilities
// are exact (Clopper-Pearson) and hold for all events at once (Bonferroni). Source of the method:
// Jagielski, Ullman, Oprea, "Auditing differentially private machine learning" (2020), section 3.
#ifndef AUDIT_EVENTS_H
#define AUDIT_EVENTS_H

#include "audit_draws.h"
#include "audit_marks.h"

#define AGG_EVENT_MARKS_MAX 32u

typedef struct agg_event {
    uint32_t a, b; // numbers of items of agg_draws
    int is_law; // the mechanism's own event; else: the weights of the marks that a text has sum to
                // `threshold` at least
    uint32_t n_marks;
    agg_mark marks[AGG_EVENT_MARKS_MAX];
    double weights[AGG_EVENT_MARKS_MAX];
    double threshold;
    uint64_t hits[2], n[2]; // draws of a and of b, in the event and in all
    double low;             // proved: epsilon is not below; -infinity where nothing is
} agg_event;

// Events of every ordered pair of items: the mechanism's own, the most telling mark, the most
// telling sum of marks.
#define AGG_EVENTS_OF_PAIR 3u

typedef struct agg_events {
    agg_event *events; // room for AGG_EVENTS_OF_PAIR * n_items * (n_items - 1)
    uint32_t n;
    uint64_t n_train[AGG_DRAWS_ITEMS_MAX]; // draws 0, 2, 4, ... of an item that events are learnt
                                           // from, this many
} agg_events;

// Chooses events. Release with agg_events_release, also after an error.
agg_err agg_events_choose(agg_events *events, agg_error *error, const agg_draws *draws,
                          unsigned n_threads) SHOAL_MUST_CHECK;

// Returns: the most bytes that choosing takes beside the draws; counting takes less.
uint64_t agg_events_memory(const agg_draws *draws, unsigned n_threads);

// Counts hits among the draws that each event was not learnt from, and sets `low`.
//   confidence: probability that all of them are true at once, in (0, 1)
// The result does not depend on the number of threads.
agg_err agg_events_count(agg_events *events, agg_error *error, const agg_draws *draws,
                         double confidence, unsigned n_threads) SHOAL_MUST_CHECK;

// Returns: the sum of the weights of the marks that the text has.
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

// Adds the events that are learnt from the training draws (audit_learn.c). Private to these files.
agg_err agg_events_learn(agg_events *events, agg_error *error, const agg_draws *draws,
                         unsigned n_threads) SHOAL_MUST_CHECK;
// Returns: the bytes that learning takes.
//   n: number of training draws of each item
uint64_t agg_events_learn_memory(const agg_draws *draws, const uint64_t *n, unsigned n_threads);

#endif
