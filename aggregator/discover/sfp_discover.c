// SPDX-License-Identifier: Apache-2.0
// The server's side of the Sequence Fragment Puzzle (apple-2017 Algorithm 10). Heavy fragments of
// every position are joined by their common hash byte and confirmed by the oracle of whole strings.
// The decoder must not depend on a list of strings or of letters.
//
// Fragments only choose candidates. They pass at a score that chance reaches often, because a
// string needs several of them and a hash that fits. The reported count comes from the second
// record of each report, which has its own coins and hash rows. A string that nobody sent therefore
// scores there as if it had been picked blindly. The false discoveries are held to the stated rate
// over all candidates, grouped by the strength of their fragments (sfp_tiers.h).
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "agg_size.h"
#include "estimator.h"
#include "normal_law.h"
#include "recipe.h"
#include "sfp.h"
#include "sfp_decoder.h"
#include "sfp_noise.h"
#include "sfp_plan.h"
#include "sfp_tiers.h"
#include "whole_domain.h"
#include "window_picks.h"

#define LOOSE 3.5 // standard errors; chance reaches it once in 4,298 fragments
#define CAUTION                                                                                    \
    0.5 // share of the stated rate, which is an average over collections; hardly any single one
        // exceeds it
#define FRAGMENTS 0x1p24 // fragments scored at each position
#define KEPT ((size_t)1 << 16)
#define CANDIDATES 16384.0 // candidates in all
#define LOOK_UPS 0x1p29    // hash look-ups of candidates in rows of the string's oracle
#define STEPS ((uint64_t)1 << 28)
#define TIER 32u // strings of the first tier; the next one has twice as many

agg_sfp_settings agg_sfp_settings_of(const shoal_recipe *recipe, double threshold)
{
    double positions = shoal_sfp_positions(recipe);
    double candidates = fmax(fmin(CANDIDATES, LOOK_UPS / recipe->k) / positions, 8 * TIER);
    agg_sfp_settings s = {{LOOSE, threshold, KEPT}, {0, 0, STEPS}, NULL};
    s.bounds.products = candidates * AGG_SFP_HASHES; // one of so many has the right hash by chance
    s.bounds.candidates = 4 * (size_t)candidates;
    return s;
}

// Groups the strings of one number of fragments into tiers by rank: 32, 64, 128, ... strings.
static uint16_t *group_candidates(size_t *n_groups, agg_error *error, const agg_sfp_candidates *c,
                                  uint32_t n_positions)
{
    uint16_t *groups = agg_alloc(error, c->n, sizeof *groups);
    *n_groups = 0;
    for (uint32_t i = 1; groups != NULL && i <= n_positions; i++) {
        size_t end = c->start[i], size = TIER;
        for (size_t at = c->start[i]; at < c->start[i + 1]; at++) {
            if (at == end) {
                end += size;
                size *= 2;
                ++*n_groups;
            }
            groups[at] = (uint16_t)(*n_groups - 1);
        }
    }
    return groups;
}

static agg_err add_rows(agg_discovery *d, agg_error *error, const agg_sfp_candidates *c,
                        const agg_count *counts, const double *scores, const bool *confirmed)
{
    agg_err err = SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < c->n; i++) {
        if (!confirmed[i] || counts[i].count < d->threshold) continue;
        char how[AGG_FOUND_HOW_MAX];
        const agg_sfp_candidate *candidate = &c->list[i];
        snprintf(how, sizeof how, "%u fragment%s, the weakest %.1f standard errors",
                 candidate->n_fragments, candidate->n_fragments == 1 ? "" : "s",
                 (double)candidate->strength);
        err =
            agg_discovery_add(d, error, (agg_text){(const char *)candidate->bytes, candidate->len},
                              counts[i].count, counts[i].stderr_, scores[i], how);
    }
    return err;
}

// Adds a note if all counts are shifted. For honest reports the sum over all cells is off
// by far less than one string is.
static void tell_noise(agg_discovery *d, const agg_sfp_noise *noise)
{
    if (fabs(noise->excess) > noise->null_error)
        agg_discovery_note(
            d, "all counts are %.0f reports too high: records say more than honest devices do",
            noise->excess);
}

static bool *flag_known(agg_error *error, const agg_sfp_candidates *c, const agg_list *known)
{
    bool *flags = agg_alloc(error, c->n, sizeof *flags);
    for (size_t i = 0; flags != NULL && known != NULL && i < c->n; i++)
        flags[i] = agg_list_find(known, (agg_text){(const char *)c->list[i].bytes,
                                                   c->list[i].len}) != AGG_NOT_LISTED;
    return flags;
}

static agg_err confirm(agg_discovery *d, agg_error *error, const agg_discover_round *round,
                       const agg_sfp_candidates *c, const agg_list *known, unsigned n_threads)
{
    const shoal_recipe *recipe = round->recipe->recipe;
    const shoal_part *part = &recipe->parts[SHOAL_SFP_STRING];
    const agg_sketch *sketch = &round->acc->parts[SHOAL_SFP_STRING];
    size_t n_groups = 0;
    uint64_t *items = agg_alloc(error, c->n, sizeof *items);
    agg_count *counts = agg_alloc(error, c->n, sizeof *counts);
    double *scores = agg_alloc(error, c->n, sizeof *scores);
    bool *confirmed = agg_alloc(error, c->n, sizeof *confirmed),
         *is_known = flag_known(error, c, known);
    uint16_t *groups = group_candidates(&n_groups, error, c, shoal_sfp_positions(recipe));
    agg_err err = AGG_ERR_MEMORY;
    if (items != NULL && counts != NULL && scores != NULL && confirmed != NULL &&
        is_known != NULL && groups != NULL) {
        for (size_t i = 0; i < c->n; i++)
            items[i] = shoal_part_item(part, c->list[i].bytes, c->list[i].len);
        err = agg_estimator_counts(counts, error, part, &round->acc->parts[SHOAL_SFP_STRING],
                                   round->acc->n, items, c->n, n_threads);
        agg_picks_widen(counts, c->n, recipe, (double)round->acc->n);
        agg_sfp_noise noise = agg_sfp_noise_of(part, sketch, round->acc->n);
        for (size_t i = 0; i < c->n; i++)
            scores[i] = agg_sfp_noise_score(&noise, (counts[i].count - noise.offset) / noise.scale);
        tell_noise(d, &noise);
        if (err == SHOAL_OK)
            err = agg_sfp_tiers_confirm(confirmed, error, scores, groups, is_known, c->n, n_groups,
                                        CAUTION * d->fdr);
        if (err == SHOAL_OK) err = add_rows(d, error, c, counts, scores, confirmed);
    }
    free(items);
    free(counts);
    free(scores);
    free(confirmed);
    free(is_known);
    free(groups);
    return err;
}

// Returns: the score that any of the 2^24 fragments passes by chance only at the stated rate.
// Weaker fragments may be left out silently.
static double sure_score(const agg_discovery *d)
{
    return -agg_normal_quantile(d->fdr / FRAGMENTS);
}

static void tell_fragments(agg_discovery *d, const agg_sfp_heavy *heavy, const agg_sfp_keep *keep)
{
    double sure = sure_score(d), error = 0;
    size_t n = 0, n_sure = 0;
    for (uint32_t p = 0; p < heavy->n_positions; p++) {
        n += heavy->start[p][AGG_SFP_HASHES];
        error = fmax(error, heavy->null_error[p]);
        for (uint32_t i = 0; i < heavy->start[p][AGG_SFP_HASHES]; i++)
            n_sure += heavy->fragments[p][i].score >= sure;
        if (heavy->left_out[p] > 0)
            agg_discovery_cut(d,
                              "position %u: %zu fragments above %.1f standard errors, but not "
                              "among the %zu strongest",
                              p + 1, heavy->left_out[p], keep->score, keep->most);
    }
    agg_discovery_note(
        d, "scored all 16,777,216 fragments of each of %u positions; standard error %.0f reports",
        heavy->n_positions, error);
    agg_discovery_note(d,
                       "let %zu of them through to the join, from %.1f standard errors up (%zu "
                       "from %.2f up, where chance does not reach)",
                       n, keep->score, n_sure, sure);
}

static void tell_join(agg_discovery *d, const agg_sfp_candidates *c, uint32_t n_positions)
{
    double sure = sure_score(d);
    for (uint32_t i = 1; i <= n_positions; i++) {
        if (c->cut[i] >
            fmax(sure, c->least)) // does not count what T or the fragments' own bounds leave out
            agg_discovery_cut(d, "strings of %u fragments: those weaker than %.1f standard errors",
                              i, c->cut[i]);
        if (c->is_exhausted[i])
            agg_discovery_cut(
                d, "strings of %u fragments: the search stopped early, some are missing", i);
    }
    agg_discovery_note(d, "joined %zu strings whose fragments share the right hash", c->n);
}

agg_err agg_sfp_discover_heavy(agg_discovery *discovery, agg_error *error,
                               const agg_discover_round *round, const agg_sfp_heavy *heavy,
                               const agg_sfp_settings *settings, unsigned n_threads)
{
    agg_sfp_candidates candidates = {0};
    tell_fragments(discovery, heavy, &settings->keep);
    agg_err err = agg_sfp_join(&candidates, error, round->recipe->recipe, heavy, &settings->bounds);
    if (err == SHOAL_OK) {
        tell_join(discovery, &candidates, heavy->n_positions);
        discovery->n_candidates = candidates.n;
        err = confirm(discovery, error, round, &candidates, settings->known, n_threads);
    }
    agg_sfp_candidates_release(&candidates);
    return err;
}

agg_err agg_sfp_discover_with(agg_discovery *discovery, agg_error *error,
                              const agg_discover_round *round, const agg_sfp_settings *settings,
                              unsigned n_threads)
{
    agg_sfp_heavy heavy;
    if (n_threads < 1) n_threads = 1;
    agg_err err = agg_sfp_heavy_find(&heavy, error, round->recipe->recipe, round->acc,
                                     &settings->keep, n_threads);
    if (err == SHOAL_OK)
        err = agg_sfp_discover_heavy(discovery, error, round, &heavy, settings, n_threads);
    agg_sfp_heavy_release(&heavy);
    return err;
}

static agg_err run(agg_discovery *discovery, agg_error *error, const agg_discover_round *rounds,
                   size_t n_rounds, const agg_discover_options *options)
{
    agg_sfp_settings settings = agg_sfp_settings_of(rounds[0].recipe->recipe, discovery->threshold);
    (void)n_rounds;
    settings.known = options->known;
    agg_err err =
        agg_sfp_discover_with(discovery, error, &rounds[0], &settings, options->n_threads);
    const double n = (double)rounds[0].acc->n;
    if (err == SHOAL_OK && n > 0)
        agg_discovery_note_nothing(
            discovery, "sfp", n,
            agg_sfp_found_from(rounds[0].recipe->recipe, n, AGG_SFP_SAME_WORD));
    return err;
}

// The positions' fragments are decoded one after the other.
static uint64_t memory(const shoal_recipe *recipe, uint64_t accumulator, unsigned n_threads)
{
    uint64_t most = 0;
    (void)accumulator;
    for (uint32_t i = 0; i < recipe->n_parts; i++) {
        const shoal_part *part = &recipe->parts[i];
        uint64_t bytes = part->hash == SHOAL_HASH_AFFINE1
                             ? agg_sketch_support_memory(part, part->size, n_threads)
                             : 0;
        if (bytes > most) most = bytes;
    }
    return most;
}

static double least_share(const shoal_recipe *recipe, double n, double fdr, double same)
{
    (void)fdr;
    return agg_sfp_found_from(recipe, n, same);
}

const agg_discoverer agg_sfp_discoverer = {
    .id = shoal_sfp_id,
    .run = run,
    .memory = memory,
    .least_share = least_share,
};
