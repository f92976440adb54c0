// SPDX-License-Identifier: Apache-2.0
// Judges new recipes; see recipe_judge.h.
#include "recipe_judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "discovery_plan.h"
#include "log.h"
#include "ngram_plan.h"
#include "recipe.h"
#include "recipe_choices.h"
#include "track_law.h"
#include "trie_plan.h"
#include "verdict_text.h"

#define WORDS_FEW 10.0 // fewer words than that are almost none
#define COARSE 0.25    // of a range, or of a value's share

static void say(const char *text)
{
    char command[] = "recipe";
    agg_log_line(command, text);
}

static void say_weak(const shoal_recipe *r, uint32_t today)
{
    shoal_promise promise;
    char text[320];
    shoal_promise_of(&promise, r, today);
    bool is_once = r->epochs > 0 || r->version > 0 || r->contributions > 0;
    if (!agg_verdict_is_weak(&promise.report) && !agg_verdict_is_weak(&promise.window) &&
        !agg_verdict_is_weak(&promise.life))
        return;
    if (is_once)
        snprintf(
            text, sizeof text,
            "a person's protection, over all answers: %s; `shoal recipe check` prints the odds",
            shoal_verdict_words(promise.window.code));
    else
        snprintf(text, sizeof text,
                 "a person's protection, by report: %s, by day: %s, over its %u days: %s; "
                 "`shoal recipe check` prints the odds",
                 shoal_verdict_words(promise.report.code), shoal_verdict_words(promise.window.code),
                 r->expires_day - today + 1, shoal_verdict_words(promise.life.code));
    say(text);
}

// Says what a run over epochs will not see (track_law.h).
static void say_run(const shoal_recipe *r)
{
    agg_track_law law;
    char text[320];
    shoal_evolving_plan plan = shoal_evolving_stated(r);
    agg_track_law_of(&law, &plan);
    if (law.fault != AGG_TRACK_RUNS) return; // the recipe is refused
    const char *of = agg_track_is_heavy(&law) ? "a value's share" : "the range";
    if (agg_track_level(&law, 1) < 0)
        snprintf(text, sizeof text,
                 "this run will see nothing: no change is large enough for a vote; more samples of "
                 "a device lower the threshold");
    else if (law.unit > COARSE)
        snprintf(
            text, sizeof text,
            "this run will see almost nothing: a change of up to %.2g of %s is never voted on; "
            "more samples of a device lower the threshold",
            law.unit, of);
    else if (law.stderr_ > COARSE)
        snprintf(text, sizeof text,
                 "this run will see almost nothing: the standard error of an update is %.2g of %s; "
                 "more devices, or a higher epsilon, lower it",
                 law.stderr_, of);
    else
        return;
    say(text);
}

// Says how few words a trie will find, by the planner's model of English (trie_plan.h).
static void say_trie(const agg_recipe *recipe, const recipe_options *options)
{
    const shoal_recipe *r = recipe->recipe;
    agg_trie_plan plan;
    agg_trie_wish wish = {.devices = strtod(options->devices, NULL),
                          .epsilon = r->eps_micro / 1e6,
                          .contributions = r->contributions,
                          .depth = r->depth,
                          .characters = recipe->lists[0][SHOAL_LIST_CHARACTERS].n,
                          .max_prefixes = r->max_prefixes};
    char text[320];
    agg_trie_plan_run(&plan, &wish);
    if (plan.n_rounds > 0 && plan.words >= WORDS_FEW) return;
    snprintf(text, sizeof text,
             "this trie will find almost nothing: about %.0f word%s from %.0f devices that "
             "type English; more devices, or a higher epsilon, find more (shoal plan --discover)",
             plan.words, plan.words >= 0.5 && plan.words < 1.5 ? "" : "s", wish.devices);
    say(text);
}

#define DEVICES_MANY 1e6 // where the number of devices is not stated

// Says how frequent a string has to be for its n-grams to be found, against one round that asks for
// fragments at the same epsilon (sfp_plan.h).
static void say_ngrams(const shoal_recipe *r, const recipe_options *options)
{
    double n = options->devices != NULL ? strtod(options->devices, NULL) : DEVICES_MANY;
    agg_sfp_plan other;
    agg_error unused;
    char text[320], least[AGG_NGRAM_PLAN_TEXT];
    agg_ngram_plan_say(least, r, n);
    if (agg_sfp_plan_run(&other, &unused, SHOAL_ORACLE_OLH, n, r->cost_micro,
                         r->length + r->length % 2) != SHOAL_OK)
        other.least = n;
    snprintf(text, sizeof text,
             "of %.0f devices n-grams find %s, and often nothing; at the same epsilon %s finds "
             "what %.2g %% send, and a trie rarer strings (shoal plan --discover)",
             n, least, agg_discovery_ways[AGG_DISCOVERY_SFP], 100 * fmin(1, other.least / n));
    say(text);
}

agg_err recipe_judge_day(agg_error *error, const agg_recipe *recipe)
{
    if (shoal_recipe_check_day(recipe->recipe, (uint32_t)((uint64_t)time(NULL) / 86400)) ==
        SHOAL_OK)
        return SHOAL_OK;
    return agg_fail(error, SHOAL_ERR_EXPIRED, AGG_EXIT_USAGE,
                    "--expires: this day has passed: devices would send nothing");
}

agg_err recipe_judge(agg_error *error, const agg_recipe *recipe, const recipe_options *options)
{
    const shoal_recipe *r = recipe->recipe;
    if (shoal_recipe_check_day(r, options->today) != SHOAL_OK)
        return agg_fail(error, SHOAL_ERR_EXPIRED, AGG_EXIT_USAGE,
                        "--expires %s has passed: devices would send nothing", options->expires);
    say_weak(r, options->today);
    if (r->epochs > 0) say_run(r);
    if (r->grams > 0 && r->alphabet_len > 0) say_ngrams(r, options);
    if (r->contributions > 0 && options->devices != NULL) say_trie(recipe, options);
    return SHOAL_OK;
}
