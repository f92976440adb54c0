// SPDX-License-Identifier: Apache-2.0
// Enumerates output laws; see audit_law.h. Records and probabilities come from the mechanism's
// account, so no mechanism is named here.
#include "audit_law.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "agg_parallel.h"
#include "agg_size.h"
#include "recipe.h"

#define SAMPLE_STRINGS 32u
#define SAMPLE_FRACTIONS 64u

// The results of one thread over its records.
typedef struct found {
    double ratio, deletion; // largest ratios
    uint64_t n_outputs;
    double *sums; // sum of each item's probabilities
    uint8_t *record;
    double *row; // probabilities of one record, by item
} found;

typedef struct scan {
    const shoal_part *part;
    const agg_account *account;
    uint64_t *items;
    uint64_t n_items, n_outputs;
    found *found; // one for each thread
} scan;

static uint64_t count_items(const shoal_part *part)
{
    if (part->domain == SHOAL_DOMAIN_OPEN) return SAMPLE_STRINGS;
    return part->domain == SHOAL_DOMAIN_NUMBER ? SAMPLE_FRACTIONS + 2 : (uint64_t)part->size + 1;
}

static bool has_none(const shoal_part *part)
{
    return part->domain != SHOAL_DOMAIN_OPEN;
}

// Returns: the i-th item. "None" comes last, where the domain has it.
static uint64_t item_at(const shoal_part *part, uint64_t i, uint64_t n)
{
    char text[24];
    if (part->domain == SHOAL_DOMAIN_OPEN) {
        int len = snprintf(text, sizeof text, "%u", (unsigned)i);
        return shoal_part_item(part, (const uint8_t *)text, (size_t)len);
    }
    if (i == n - 1) return SHOAL_ITEM_NONE;
    return part->domain == SHOAL_DOMAIN_NUMBER ? i * (SHOAL_NUMBER_ONE / SAMPLE_FRACTIONS) : i;
}

// Returns: large / small. 0/0 is not a ratio, since neither item can make the record.
static double ratio_of(double large, double small)
{
    if (large <= 0) return 1;
    return small > 0 ? large / small : INFINITY;
}

static void take_output(const scan *s, found *f)
{
    double least = INFINITY, most = 0;
    for (uint64_t i = 0; i < s->n_items; i++) {
        double p = s->account->probability(s->part, f->record, s->items[i]);
        f->row[i] = p;
        f->sums[i] += p;
        least = fmin(least, p);
        most = fmax(most, p);
    }
    f->n_outputs += most > 0;
    f->ratio = fmax(f->ratio, ratio_of(most, least));
    if (!has_none(s->part)) return;
    double none = f->row[s->n_items - 1];
    f->deletion = fmax(f->deletion, fmax(ratio_of(most, none), ratio_of(none, least)));
}

static void scan_outputs(void *context, unsigned thread, unsigned n_threads)
{
    const scan *s = context;
    found *f = &s->found[thread];
    uint64_t stop = s->n_outputs * (thread + 1) / n_threads;
    for (uint64_t o = s->n_outputs * thread / n_threads; o < stop; o++)
        if (s->account->output(f->record, s->part, o)) take_output(s, f);
}

static agg_err start(scan *s, agg_error *error, unsigned n_threads)
{
    s->items = agg_alloc(error, (size_t)s->n_items, sizeof *s->items);
    s->found = agg_alloc(error, n_threads, sizeof *s->found);
    if (s->items == NULL || s->found == NULL) return AGG_ERR_MEMORY;
    for (uint64_t i = 0; i < s->n_items; i++) s->items[i] = item_at(s->part, i, s->n_items);
    for (unsigned t = 0; t < n_threads; t++) {
        found *f = &s->found[t];
        f->ratio = f->deletion = 1;
        f->sums = agg_alloc(error, (size_t)s->n_items, sizeof *f->sums);
        f->row = agg_alloc(error, (size_t)s->n_items, sizeof *f->row);
        f->record = agg_alloc(error, s->part->record_size, 1);
        if (f->sums == NULL || f->row == NULL || f->record == NULL) return AGG_ERR_MEMORY;
    }
    return SHOAL_OK;
}

static void add_part(agg_law *law, const scan *s, unsigned n_threads)
{
    double ratio = 1, deletion = 1;
    uint64_t n_outputs = 0;
    for (unsigned t = 0; t < n_threads; t++) {
        ratio = fmax(ratio, s->found[t].ratio);
        deletion = fmax(deletion, s->found[t].deletion);
        n_outputs += s->found[t].n_outputs;
    }
    for (uint64_t i = 0; i < s->n_items; i++) {
        double sum = 0;
        for (unsigned t = 0; t < n_threads; t++) sum += s->found[t].sums[i];
        law->sum_error = fmax(law->sum_error, fabs(sum - 1));
    }
    law->epsilon += log(ratio);
    law->deletion += log(deletion);
    if (n_outputs > law->n_outputs) law->n_outputs = n_outputs;
    if (s->n_items > law->n_items) law->n_items = s->n_items;
    law->is_whole &= s->part->domain == SHOAL_DOMAIN_CLOSED;
}

static void release(scan *s, unsigned n_threads)
{
    for (unsigned t = 0; s->found != NULL && t < n_threads; t++) {
        free(s->found[t].sums);
        free(s->found[t].row);
        free(s->found[t].record);
    }
    free(s->found);
    free(s->items);
}

static bool is_small(const shoal_part *part)
{
    uint64_t n_outputs = agg_account_of(part->mechanism)->n_outputs(part);
    return n_outputs > 0 && n_outputs <= AGG_LAW_WORK_MAX / count_items(part);
}

agg_err agg_law_enumerate(agg_law *law, agg_error *error, const shoal_recipe *recipe,
                          unsigned n_threads)
{
    agg_err err = SHOAL_OK;
    *law = (agg_law){0};
    for (uint32_t i = 0; i < recipe->n_parts; i++)
        if (!is_small(&recipe->parts[i])) return SHOAL_OK;
    law->is_enumerated = law->is_whole = true;
    for (uint32_t i = 0; i < recipe->n_parts && err == SHOAL_OK; i++) {
        const shoal_part *part = &recipe->parts[i];
        const agg_account *account = agg_account_of(part->mechanism);
        scan s = {part, account, NULL, count_items(part), account->n_outputs(part), NULL};
        err = start(&s, error, n_threads);
        if (err == SHOAL_OK) agg_parallel(n_threads, scan_outputs, &s);
        if (err == SHOAL_OK) add_part(law, &s, n_threads);
        release(&s, n_threads);
    }
    return err;
}
