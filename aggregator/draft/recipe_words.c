// SPDX-License-Identifier: Apache-2.0
// Defaults of recipes that find words; see recipe_words.h.
#include "recipe_words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compound.h"
#include "options.h"
#include "probability.h"
#include "sfp_plan.h"
#include "trie_plan.h"

#define DEVICES_DEFAULT 1000000.0
#define EPSILON_DEFAULT 4.0
#define LENGTH_DEFAULT 10u

static void put_micro(char out[24], uint32_t micro)
{
    int len = snprintf(out, 24, "%u.%06u", micro / 1000000, micro % 1000000);
    while (out[len - 1] == '0') len--;
    out[len - (out[len - 1] == '.')] = '\0';
}

static void put_whole(char out[16], uint32_t number)
{
    snprintf(out, 16, "%u", number);
}

typedef struct wish {
    double devices, epsilon;
    uint64_t length, depth, contributions, hashes, grams, max_prefixes, step;
} wish;

// An option's number, or what stands for it.
static agg_err read_whole(uint64_t *number, agg_error *error, const char *name, const char *text,
                          uint64_t initial, uint64_t low, uint64_t high)
{
    *number = initial;
    return text == NULL ? SHOAL_OK : cli_read_whole(number, error, name, text, low, high);
}

static agg_err read_wish(wish *w, agg_error *error, const recipe_options *o)
{
    uint64_t devices = 0;
    w->epsilon = EPSILON_DEFAULT;
    agg_err err = SHOAL_OK;
    if (o->epsilon != NULL)
        err = cli_read_decimal(&w->epsilon, error, "epsilon", o->epsilon, 0.01, 16);
    if (err == SHOAL_OK)
        err = read_whole(&devices, error, "devices", o->devices, (uint64_t)DEVICES_DEFAULT, 1,
                         4000000000u);
    if (err == SHOAL_OK)
        err = read_whole(&w->length, error, "length", o->length, LENGTH_DEFAULT, 2, 32);
    if (err == SHOAL_OK) err = read_whole(&w->depth, error, "depth", o->depth, 15, 1, 64);
    if (err == SHOAL_OK)
        err = read_whole(&w->contributions, error, "contributions", o->contributions, 1, 1, 64);
    if (err == SHOAL_OK) err = read_whole(&w->hashes, error, "hashes", o->hashes, 1, 1, 16);
    if (err == SHOAL_OK) err = read_whole(&w->grams, error, "grams", o->grams, 2, 2, 4);
    if (err == SHOAL_OK)
        err = read_whole(&w->max_prefixes, error, "max-prefixes", o->max_prefixes, 10000, 1, 65536);
    if (err == SHOAL_OK) err = read_whole(&w->step, error, "step", o->step, 0, 1, SHOAL_STEP_MAX);
    w->devices = (double)devices;
    return err;
}

// The split of epsilon and the rows; where the fragment's epsilon is said, epsilon is the string's
// and the sum is planned for.
static agg_err fill_sfp(recipe_words *words, agg_error *error, const recipe_options *o,
                        const wish *w)
{
    agg_sfp_plan plan;
    double fragment = 0;
    uint32_t oracle =
        o->oracle == NULL || strcmp(o->oracle, "cms") != 0 ? SHOAL_ORACLE_OLH : SHOAL_ORACLE_CMS;
    agg_err err = SHOAL_OK;
    if (o->epsilon_fragment != NULL)
        err = cli_read_decimal(&fragment, error, "epsilon-fragment", o->epsilon_fragment, 0.01, 16);
    if (err == SHOAL_OK && w->length % 2 != 0)
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--length of sfp must be even");
    if (err == SHOAL_OK && (w->epsilon + fragment < 0.1 || w->epsilon + fragment > 16))
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                       "--epsilon of both parts of sfp is from 0.1 to 16");
    if (err == SHOAL_OK)
        err =
            agg_sfp_plan_run(&plan, error, oracle, w->devices,
                             (uint32_t)lround((w->epsilon + fragment) * 1e6), (uint32_t)w->length);
    if (err != SHOAL_OK) return err;
    put_micro(words->epsilon, fragment > 0 ? (uint32_t)lround(w->epsilon * 1e6) : plan.eps_micro);
    put_micro(words->epsilon_fragment, plan.eps_fragment_micro);
    put_whole(words->k, plan.k);
    put_whole(words->m, plan.m);
    put_whole(words->k_fragment, plan.k_fragment);
    put_whole(words->m_fragment, plan.m_fragment);
    return SHOAL_OK;
}

// Each of the parts' hashes may cost x = epsilon/(parts hashes), and with p = 1 - q costs 2
// ln(q/(1-q)): q = 1/(1 + e^(-x/2)), rounded down and one millionth more, as epsilon is rounded up
// for each.
static void fill_ngram(recipe_words *words, const wish *w)
{
    double each = w->epsilon / (double)((w->grams + 1) * w->hashes);
    uint32_t q = (uint32_t)floor(1e6 / (1 + exp(-each / 2))) - 1;
    put_micro(words->q, q);
    put_micro(words->p, 1000000 - q);
}

static void fill_trie(recipe_words *words, const wish *w)
{
    agg_trie_plan plan;
    agg_trie_wish of = {.devices = w->devices,
                        .epsilon = w->epsilon,
                        .contributions = (double)w->contributions,
                        .depth = (uint32_t)w->depth,
                        .characters = sizeof RECIPE_WORDS_LETTERS - 1,
                        .max_prefixes = (double)w->max_prefixes,
                        .step = (uint32_t)w->step};
    agg_trie_plan_run(&plan, &of);
    words->step = w->step > 0 ? (uint32_t)w->step : plan.n_rounds > 0 ? plan.rounds[0].step : 1;
    words->sample = plan.n_rounds > 0 ? plan.rounds[0].devices / w->devices : 1;
}

agg_err recipe_words_fill(recipe_words *words, agg_error *error, const recipe_options *o,
                          uint32_t mechanism)
{
    wish w;
    memset(words, 0, sizeof *words);
    agg_err err = read_wish(&w, error, o);
    if (err != SHOAL_OK) return err;
    if (mechanism == shoal_sfp_id) return fill_sfp(words, error, o, &w);
    if (mechanism == shoal_rappor_ngram_id && o->p == NULL && o->q == NULL) fill_ngram(words, &w);
    if (mechanism == shoal_trie_id) fill_trie(words, &w);
    return SHOAL_OK;
}
