// SPDX-License-Identifier: Apache-2.0
// Learns events from the training draws: marks that are commoner under one item than under another.
// No mechanism is named here; see audit_events.h. The bounds hold whatever events are chosen; a bad
// choice only proves less.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "audit_events.h"

#define SLOTS ((uint32_t)1 << 18)   // size of the table of marks
#define ENTRIES_MAX (SLOTS / 4 * 3) // further marks are ignored
#define WHOLE_MAX (SLOTS / 4)       // the most entries for whole texts, which may all differ
#define BIT_CHARACTERS_MAX ((size_t)1 << 15) // later characters are not read as bits
#define Z_CHOICE 4.0 // standard errors of the bounds by which events are chosen
#define Z_MARK 5.0   // standard errors that make a mark worth a weight

typedef struct entry {
    agg_mark mark;
    uint64_t last; // the last draw that was counted
    uint32_t count[AGG_DRAWS_ITEMS_MAX];
} entry;

typedef struct learning {
    const agg_draws *draws;
    const uint64_t *n; // training draws of each item
    size_t text_max;
    agg_text *texts[AGG_DRAWS_ITEMS_MAX];
    char *pools[AGG_DRAWS_ITEMS_MAX]; // bytes of native texts
    uint32_t *slots;                  // open addressing: index of an entry, plus 1; 0: free
    entry *entries;
    uint32_t n_entries, n_whole;
    uint32_t (*digits)[16]; // [item][character][digit]
    size_t n_characters;
    double *scores[2]; // scores of a's and b's texts
    agg_marked *marked;
    uint8_t *scratch; // one for each thread
} learning;

// Draws one thread's share of every item's training texts.
static void draw_texts(void *context, unsigned thread, unsigned n_threads)
{
    const learning *l = context;
    uint8_t *scratch = l->scratch + thread * agg_draws_scratch(l->draws);
    for (uint32_t item = 0; item < l->draws->n_items; item++) {
        uint64_t stop = l->n[item] * (thread + 1) / n_threads;
        for (uint64_t i = l->n[item] * thread / n_threads; i < stop; i++) {
            agg_text text = agg_draws_get(l->draws, scratch, item, 2 * i).text;
            if (l->pools[item] != NULL) {
                char *own = l->pools[item] + i * l->text_max;
                memcpy(own, text.bytes, text.len);
                text.bytes = own;
            }
            l->texts[item][i] = text;
        }
    }
}

static agg_err start(learning *l, agg_error *error, unsigned n_threads)
{
    uint64_t most = 1;
    for (uint32_t item = 0; item < l->draws->n_items; item++) {
        size_t n = (size_t)l->n[item];
        bool is_native = l->draws->lines[item] == NULL;
        l->texts[item] = agg_alloc(error, n, sizeof *l->texts[item]);
        if (is_native) l->pools[item] = agg_alloc(error, n, l->text_max);
        if (l->texts[item] == NULL || (is_native && l->pools[item] == NULL)) return AGG_ERR_MEMORY;
        if (n > most) most = n;
    }
    l->n_characters = l->text_max < BIT_CHARACTERS_MAX ? l->text_max : BIT_CHARACTERS_MAX;
    l->digits = agg_alloc(error, l->draws->n_items * l->n_characters, sizeof *l->digits);
    l->slots = agg_alloc(error, SLOTS, sizeof *l->slots);
    l->entries = agg_alloc(error, ENTRIES_MAX, sizeof *l->entries);
    l->marked = agg_alloc(error, 1, sizeof *l->marked);
    l->scratch = agg_alloc(error, n_threads, agg_draws_scratch(l->draws));
    for (int side = 0; side < 2; side++)
        l->scores[side] = agg_alloc(error, (size_t)most, sizeof *l->scores[side]);
    if (l->digits == NULL || l->slots == NULL || l->entries == NULL || l->marked == NULL ||
        l->scratch == NULL || l->scores[0] == NULL || l->scores[1] == NULL)
        return AGG_ERR_MEMORY;
    agg_parallel(n_threads, draw_texts, l);
    return SHOAL_OK;
}

uint64_t agg_events_learn_memory(const agg_draws *draws, const uint64_t *n, unsigned n_threads)
{
    uint64_t text_max = agg_draws_text_max(draws), most = 0, bytes = 0;
    uint64_t characters = text_max < BIT_CHARACTERS_MAX ? text_max : BIT_CHARACTERS_MAX;
    for (uint32_t item = 0; item < draws->n_items; item++) {
        bytes += n[item] * (sizeof(agg_text) + (draws->lines[item] == NULL ? text_max : 0));
        if (n[item] > most) most = n[item];
    }
    return bytes + draws->n_items * characters * 16 * sizeof(uint32_t) + SLOTS * sizeof(uint32_t) +
           ENTRIES_MAX * sizeof(entry) + sizeof(agg_marked) +
           n_threads * (uint64_t)agg_draws_scratch(draws) + 2 * most * sizeof(double);
}

static void release(learning *l)
{
    for (uint32_t item = 0; item < AGG_DRAWS_ITEMS_MAX; item++) {
        free(l->texts[item]);
        free(l->pools[item]);
    }
    free(l->digits);
    free(l->slots);
    free(l->entries);
    free(l->marked);
    free(l->scratch);
    free(l->scores[0]);
    free(l->scores[1]);
}

static uint32_t slot_of(const agg_mark *mark)
{
    uint64_t hash = 0xcbf29ce484222325u ^ ((uint64_t)mark->kind << 32 | mark->position); // FNV-1a
    for (uint32_t i = 0; i < mark->len; i++)
        hash = (hash ^ (uint8_t)mark->text[i]) * 0x100000001b3u;
    hash *= 0x9e3779b97f4a7c15u;
    return (uint32_t)(hash >> 40) % SLOTS;
}

// Returns: the mark's entry; NULL if the table has no room for it.
static entry *entry_of(learning *l, const agg_mark *mark)
{
    uint32_t at = slot_of(mark);
    for (; l->slots[at] != 0; at = (at + 1) % SLOTS) {
        entry *known = &l->entries[l->slots[at] - 1];
        if (memcmp(&known->mark, mark, sizeof *mark) == 0) return known;
    }
    bool is_whole = mark->kind == AGG_MARK_WHOLE;
    if (l->n_entries == ENTRIES_MAX || (is_whole && l->n_whole == WHOLE_MAX)) return NULL;
    entry *new = &l->entries[l->n_entries++];
    new->mark = *mark;
    l->n_whole += (uint32_t)is_whole;
    l->slots[at] = l->n_entries;
    return new;
}

static void count_text(learning *l, uint32_t item, agg_text text, uint64_t number)
{
    uint32_t(*digits)[16] = l->digits + item * l->n_characters;
    agg_mark mark;
    for (size_t c = 0; c < text.len && c < l->n_characters; c++) {
        int digit = agg_hex_digit(text.bytes[c]);
        if (digit >= 0) digits[c][digit]++;
    }
    agg_marked_read(l->marked, text);
    for (uint32_t i = 0;; i++) {
        int found = agg_marked_list(&mark, l->marked, i);
        if (found == 0) return;
        entry *e = found == 1 ? entry_of(l, &mark) : NULL;
        if (e == NULL || e->last == number) continue;
        e->last = number;
        e->count[item]++;
    }
}

static void count_texts(learning *l)
{
    uint64_t number = 0;
    for (uint32_t item = 0; item < l->draws->n_items; item++)
        for (uint64_t i = 0; i < l->n[item]; i++) count_text(l, item, l->texts[item][i], ++number);
}

// A mark with the shares of a's and b's texts that have it.
typedef struct candidate {
    agg_mark mark;
    uint64_t count[2];
} candidate;

typedef void (*visit)(void *context, const candidate *c);

static uint64_t count_bit(const learning *l, uint32_t item, uint32_t position)
{
    const uint32_t *digits = l->digits[item * l->n_characters + position / 4];
    uint64_t count = 0;
    for (uint32_t digit = 0; digit < 16; digit++)
        if (digit >> position % 4 & 1) count += digits[digit];
    return count;
}

static void visit_marks(const learning *l, const uint32_t items[2], visit take, void *context)
{
    candidate c;
    for (uint32_t i = 0; i < l->n_entries; i++) {
        const entry *e = &l->entries[i];
        if (e->count[items[0]] + e->count[items[1]] == 0) continue;
        c = (candidate){e->mark, {e->count[items[0]], e->count[items[1]]}};
        take(context, &c);
    }
    for (uint32_t position = 0; position < 4 * l->n_characters; position++) {
        c = (candidate){{AGG_MARK_BIT, position, 0, ""},
                        {count_bit(l, items[0], position), count_bit(l, items[1], position)}};
        take(context, &c);
    }
}

// Returns: one end of Wilson's score interval. It serves the choice of events only, so it need not
// be exact.
//   sign: -1 or 1
static double wilson(double hits, double n, double sign)
{
    double z = Z_CHOICE, p = hits / n, middle = p + z * z / (2 * n);
    return (middle + sign * z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))) / (1 + z * z / n);
}

static double promise(double hits_a, double n_a, double hits_b, double n_b)
{
    double low = wilson(hits_a, n_a, -1);
    return low > 0 ? log(low / wilson(hits_b, n_b, 1)) : -INFINITY;
}

typedef struct best_mark {
    double n[2], promise, weight;
    agg_mark mark;
} best_mark;

static void take_best(void *context, const candidate *c)
{
    best_mark *best = context;
    double a = (double)c->count[0], b = (double)c->count[1];
    double with = promise(a, best->n[0], b, best->n[1]);
    double without = promise(best->n[0] - a, best->n[0], best->n[1] - b, best->n[1]);
    if (fmax(with, without) <= best->promise) return;
    *best = (best_mark){
        {best->n[0], best->n[1]}, fmax(with, without), with >= without ? 1 : -1, c->mark};
}

typedef struct heavy_marks {
    double n[2];
    double z[AGG_EVENT_MARKS_MAX]; // falling
    agg_event *event;
} heavy_marks;

// Returns: the log odds that the mark adds to "a, not b". Half a hit is added so that no weight is
// infinite.
static double weight_of(const candidate *c, const double n[2])
{
    double odds[2];
    for (int side = 0; side < 2; side++)
        odds[side] = log(((double)c->count[side] + 0.5) / (n[side] - (double)c->count[side] + 0.5));
    return odds[0] - odds[1];
}

static void take_heavy(void *context, const candidate *c)
{
    heavy_marks *h = context;
    agg_event *event = h->event;
    double a = (double)c->count[0], b = (double)c->count[1], mean = (a + b) / (h->n[0] + h->n[1]);
    double spread = sqrt(mean * (1 - mean) * (1 / h->n[0] + 1 / h->n[1]));
    double z = spread > 0 ? fabs(a / h->n[0] - b / h->n[1]) / spread : 0;
    if (z < Z_MARK || (event->n_marks == AGG_EVENT_MARKS_MAX && z <= h->z[AGG_EVENT_MARKS_MAX - 1]))
        return;
    uint32_t at = event->n_marks < AGG_EVENT_MARKS_MAX ? event->n_marks++ : AGG_EVENT_MARKS_MAX - 1;
    for (; at > 0 && h->z[at - 1] < z; at--) {
        h->z[at] = h->z[at - 1];
        event->marks[at] = event->marks[at - 1];
        event->weights[at] = event->weights[at - 1];
    }
    h->z[at] = z;
    event->marks[at] = c->mark;
    event->weights[at] = weight_of(c, h->n);
}

static int falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

// Returns: the threshold that promises most, over the training texts' own scores.
static double choose_threshold(learning *l, const agg_event *event, const uint32_t items[2])
{
    double best = -INFINITY, threshold = INFINITY;
    uint64_t upto[2] = {0, 0};
    for (int side = 0; side < 2; side++) {
        for (uint64_t i = 0; i < l->n[items[side]]; i++) {
            agg_marked_read(l->marked, l->texts[items[side]][i]);
            l->scores[side][i] = agg_event_score(event, l->marked);
        }
        qsort(l->scores[side], (size_t)l->n[items[side]], sizeof *l->scores[side], falling);
    }
    uint64_t n_a = l->n[items[0]], n_b = l->n[items[1]];
    while (upto[0] < n_a) {
        double score = l->scores[0][upto[0]];
        while (upto[0] < n_a && l->scores[0][upto[0]] >= score) upto[0]++;
        while (upto[1] < n_b && l->scores[1][upto[1]] >= score) upto[1]++;
        double p = promise((double)upto[0], (double)n_a, (double)upto[1], (double)n_b);
        if (p <= best) continue;
        best = p;
        threshold = score;
    }
    return threshold;
}

static void learn_pair(agg_events *events, learning *l, uint32_t a, uint32_t b)
{
    const uint32_t items[2] = {a, b};
    best_mark best = {{(double)l->n[a], (double)l->n[b]}, -INFINITY, 0, {0, 0, 0, ""}};
    visit_marks(l, items, take_best, &best);
    if (best.promise > 0) {
        agg_event *event = &events->events[events->n++];
        *event = (agg_event){.a = a, .b = b, .n_marks = 1, .threshold = best.weight > 0 ? 1 : 0};
        event->marks[0] = best.mark;
        event->weights[0] = best.weight;
    }
    agg_event *sum = &events->events[events->n];
    *sum = (agg_event){.a = a, .b = b};
    heavy_marks heavy = {{(double)l->n[a], (double)l->n[b]}, {0}, sum};
    visit_marks(l, items, take_heavy, &heavy);
    if (sum->n_marks < 2) return;
    sum->threshold = choose_threshold(l, sum, items);
    events->n++;
}

agg_err agg_events_learn(agg_events *events, agg_error *error, const agg_draws *draws,
                         unsigned n_threads)
{
    learning l = {.draws = draws, .n = events->n_train, .text_max = agg_draws_text_max(draws)};
    agg_err err = start(&l, error, n_threads);
    if (err == SHOAL_OK) {
        count_texts(&l);
        for (uint32_t a = 0; a < draws->n_items; a++)
            for (uint32_t b = 0; b < draws->n_items; b++)
                if (a != b && events->n_train[a] > 0 && events->n_train[b] > 0)
                    learn_pair(events, &l, a, b);
    }
    release(&l);
    return err;
}
