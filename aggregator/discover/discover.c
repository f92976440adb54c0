// SPDX-License-Identifier: Apache-2.0
// Turns accumulators into unlisted strings: checks the input before a decoder runs, and filters and
// sorts its rows; see discover.h. The decoders find the strings.
#include "discover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "discoverer.h"
#include "estimate.h"
#include "recipe.h"

static const agg_discoverer *const table[] = {
#define SHOAL_COMPOUND(id, stem, name)
#define SHOAL_FINDS_STRINGS(stem) &agg_##stem##_discoverer,
#include "compounds.def"
#undef SHOAL_FINDS_STRINGS
#undef SHOAL_COMPOUND
};
#define TABLE_LEN (sizeof table / sizeof table[0])

#define CONFIDENCE_DEFAULT 0.95
#define FDR_DEFAULT 0.05

const agg_discoverer *agg_discoverer_of(uint32_t mechanism)
{
    for (size_t i = 0; i < TABLE_LEN; i++)
        if (table[i]->id == mechanism) return table[i];
    return NULL;
}

bool agg_discover_finds(const agg_recipe *recipe)
{
    return agg_discoverer_of(recipe->recipe->mechanism) != NULL;
}

bool agg_discover_takes_rounds(const agg_recipe *recipe)
{
    const agg_discoverer *discoverer = agg_discoverer_of(recipe->recipe->mechanism);
    return discoverer != NULL && discoverer->takes_rounds;
}

bool agg_discover_bounds_any(const agg_recipe *recipe)
{
    const agg_discoverer *discoverer = agg_discoverer_of(recipe->recipe->mechanism);
    return discoverer != NULL && discoverer->bounds_any;
}

static bool is_share(double x)
{
    return x > 0 && x < 1;
}

static agg_err check_options(const agg_discovery *d, agg_error *error)
{
    if (!is_share(d->confidence))
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                        "the confidence must lie between 0 and 1");
    if (!is_share(d->fdr))
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                        "the false-discovery rate must lie between 0 and 1");
    if (!(d->threshold >= 0 && d->threshold <= 1e18)) // refuses infinities too
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE,
                        "the threshold must be a number of reports");
    return SHOAL_OK;
}

static agg_err refuse_mechanism(agg_error *error, const char *id)
{
    char names[128] = "";
    for (size_t i = 0; i < TABLE_LEN; i++) {
        size_t len = strlen(names);
        const char *name = shoal_compound_by_id(table[i]->id)->name;
        snprintf(names + len, sizeof names - len, "%s%s",
                 i == 0              ? ""
                 : i + 1 < TABLE_LEN ? ", "
                                     : " and ",
                 name);
    }
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "recipe %s: its mechanism cannot discover strings; %s can", id, names);
}

// Usage errors come before refusals for privacy. The decoder checks whether its rounds follow each
// other.
static agg_err check_rounds(agg_error *error, const agg_discover_round *rounds, size_t n_rounds)
{
    const agg_discoverer *discoverer = agg_discoverer_of(rounds[0].recipe->recipe->mechanism);
    const char *id = rounds[0].recipe->id;
    agg_err err = SHOAL_OK;
    if (discoverer == NULL) return refuse_mechanism(error, id);
    if (n_rounds > 1 && !discoverer->takes_rounds)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "recipe %s has no rounds: it takes one accumulator", id);
    for (size_t i = 0; err == SHOAL_OK && i < n_rounds; i++)
        err = agg_estimate_check(error, rounds[i].recipe, rounds[i].acc);
    return err;
}

// Strings come from reports, so a decoder's candidates may be any bytes.
static bool is_text(agg_text text)
{
    const utf8proc_uint8_t *at = (const utf8proc_uint8_t *)text.bytes;
    size_t left = text.len;
    while (left > 0) {
        utf8proc_int32_t point = 0;
        utf8proc_ssize_t used = utf8proc_iterate(at, (utf8proc_ssize_t)left, &point);
        if (used <= 0 || point < 0x20 || (point >= 0x7f && point < 0xa0)) return 0;
        at += used;
        left -= (size_t)used;
    }
    return text.len > 0;
}

static bool is_known(const agg_list *known, agg_text text)
{
    return known != NULL && known->n > 0 && agg_list_find(known, text) != AGG_NOT_LISTED;
}

// Drops rows that are not text, too small, known or not to be released; the numbers of the last two
// are results. A word that later rounds of a trie skip because an earlier pass found it does not
// count as known.
static void filter(agg_discovery *d, const agg_list *known, const agg_list *recipe_known)
{
    double release = (double)d->recipe->recipe->release_threshold;
    size_t kept = 0;
    for (size_t i = 0; i < d->n_rows; i++) {
        const agg_found *row = &d->rows[i];
        if (!is_text(row->value) || (d->threshold > 0 && row->count < d->threshold)) continue;
        if (is_known(known, row->value) || is_known(recipe_known, row->value))
            d->n_known++;
        else if (release > 0 && row->count < release)
            d->n_withheld++;
        else
            d->rows[kept++] = *row;
    }
    d->n_rows = kept;
}

static int compare_rows(const void *a, const void *b)
{
    const agg_found *x = a, *y = b;
    if (x->count != y->count) return x->count > y->count ? -1 : 1;
    return agg_text_compare(x->value, y->value);
}

// Sets the intervals of rows that were selected, and their ranks. The rows are selected among the
// candidates by the counts that they show. Intervals of all candidates at the level of ranks hold
// together, and so do those of the rows.
static agg_err select_rows(agg_discovery *d, agg_error *error, size_t top)
{
    const size_t shown = top > 0 && top < d->n_rows ? top : d->n_rows;
    const size_t n_all = d->n_candidates > d->n_rows ? d->n_candidates : d->n_rows;
    agg_ranks ranks;
    d->selection = agg_selection_of(shown, n_all, d->confidence);
    agg_err err = agg_ranks_init(&ranks, error, d->n_rows, n_all, d->confidence);
    if (err != SHOAL_OK) return err;
    for (size_t i = 0; i < d->n_rows; i++) {
        const agg_found *row = &d->rows[i];
        ranks.lows[i] = row->count - ranks.quantile * row->stderr_;
        ranks.highs[i] = row->count + ranks.quantile * row->stderr_;
    }
    agg_ranks_sort(&ranks);
    for (size_t i = 0; i < shown; i++) {
        agg_found *row = &d->rows[i];
        const double half = ranks.quantile * row->stderr_;
        row->rank = agg_ranks_find(&ranks, row->count - half, row->count + half);
        row->rank.high -= n_all - d->n_rows; // among the rows alone
        row->fcr_low = row->count - d->selection.quantile * row->stderr_;
        row->fcr_high = row->count + d->selection.quantile * row->stderr_;
    }
    agg_ranks_release(&ranks);
    d->n_rows = shown;
    return SHOAL_OK;
}

uint64_t agg_discover_memory(const agg_recipe *recipe, uint64_t accumulator, unsigned n_threads)
{
    const agg_discoverer *discoverer = agg_discoverer_of(recipe->recipe->mechanism);
    if (n_threads == 0) n_threads = 1;
    // A recipe without a discoverer is refused before anything is allocated.
    if (discoverer == NULL) return 0;
    uint64_t searching = discoverer->memory(recipe->recipe, accumulator, n_threads),
             testing = agg_alarms_memory(recipe->recipe); // before strings are searched
    return testing > searching ? testing : searching;
}

agg_err agg_discover_run(agg_discovery *discovery, agg_error *error,
                         const agg_discover_round *rounds, size_t n_rounds,
                         const agg_discover_options *options)
{
    agg_discover_options o = *options;
    memset(discovery, 0, sizeof *discovery);
    if (n_rounds == 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "no accumulator was given to discover strings in");
    if (o.confidence == 0) o.confidence = CONFIDENCE_DEFAULT;
    if (o.fdr == 0) o.fdr = FDR_DEFAULT;
    if (o.n_threads == 0) o.n_threads = 1;
    discovery->recipe = rounds[n_rounds - 1].recipe;
    discovery->confidence = o.confidence;
    discovery->fdr = o.fdr;
    discovery->threshold = o.threshold;
    for (size_t i = 0; i < n_rounds; i++) discovery->n += rounds[i].acc->n;
    agg_err err = check_options(discovery, error);
    if (err == SHOAL_OK) err = check_rounds(error, rounds, n_rounds);
    for (size_t i = 0; err == SHOAL_OK && i < n_rounds; i++)
        err = agg_alarms_test(&discovery->alarms, error, rounds[i].recipe->recipe, rounds[i].acc);
    if (err == SHOAL_OK) agg_alarms_finish(&discovery->alarms);
    if (err == SHOAL_OK)
        err = agg_discoverer_of(rounds[0].recipe->recipe->mechanism)
                  ->run(discovery, error, rounds, n_rounds, &o);
    if (err == SHOAL_OK && discovery->reach == 0) { // one round, which asks about so many bytes
        discovery->reach = rounds[0].recipe->recipe->length;
        discovery->is_in_bytes = true;
    }
    if (err == SHOAL_OK) filter(discovery, o.known, &rounds[0].recipe->known);
    if (err == SHOAL_OK && discovery->n_rows > 1)
        qsort(discovery->rows, discovery->n_rows, sizeof *discovery->rows, compare_rows);
    if (err == SHOAL_OK) err = select_rows(discovery, error, o.top);
    if (err != SHOAL_OK) agg_discovery_release(discovery);
    return err;
}
