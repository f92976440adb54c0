// SPDX-License-Identifier: Apache-2.0
// Plans for strings that nobody listed; see plan_words.h.
#include "plan_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utf8proc.h>

#include "policy_json.h"
#include "recipe_json.h"
#include "recipe_new.h"

#define EXPIRES_DAYS 180
#define MAX_PREFIXES 10000u

const char *const agg_words_methods[] = {"sfp", "trie", NULL};
const char *const agg_words_oracles[] = {"olh", "cms", NULL};
static const uint32_t oracle_ids[] = {SHOAL_ORACLE_OLH, SHOAL_ORACLE_CMS};

static agg_err usage(agg_error *error, const char *text)
{
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s", text);
}

// Characters are code points, in any order; the recipe's reader refuses one that comes twice.
agg_err agg_words_plan_count_characters(agg_words_plan *p, agg_error *error)
{
    const utf8proc_uint8_t *at = (const utf8proc_uint8_t *)p->characters;
    size_t left = strlen(p->characters);
    while (left > 0) {
        utf8proc_int32_t point = 0;
        utf8proc_ssize_t used = utf8proc_iterate(at, (utf8proc_ssize_t)left, &point);
        if (used <= 0 || point <= 0x20 || point == '"' || point == '\\' ||
            (point >= 0x7f && point < 0xa0))
            return usage(error,
                         "--characters takes UTF-8 text without blanks, quotes and backslashes");
        at += used;
        left -= (size_t)used;
        p->n_characters++;
    }
    return p->n_characters > 0 ? SHOAL_OK : usage(error, "--characters holds none");
}

// ---- planning ----

uint32_t agg_words_plan_contribution_micro(const agg_words_plan *p)
{
    return p->eps_micro / p->contributions;
}

static double worst_share(const agg_trie_plan *trie)
{
    double share = trie->n_rounds > 0 ? 0 : 1;
    for (uint32_t i = 0; i < trie->n_rounds; i++)
        if (trie->rounds[i].share > share) share = trie->rounds[i].share;
    return share < 1 ? share : 1;
}

agg_err agg_words_plan_run(agg_words_plan *p, agg_error *error)
{
    const agg_trie_wish wish = {.devices = p->devices,
                                .epsilon = agg_words_plan_contribution_micro(p) / 1e6,
                                .contributions = p->contributions,
                                .depth = p->depth,
                                .characters = p->n_characters,
                                .max_prefixes = MAX_PREFIXES};
    agg_err err = agg_sfp_plan_run(&p->sfp, error, oracle_ids[p->oracle], p->devices, p->eps_micro,
                                   p->length);
    if (err != SHOAL_OK) return err;
    agg_trie_plan_run(&p->trie, &wish);
    p->share[AGG_WORDS_SFP] = p->sfp.least < p->devices ? p->sfp.least / p->devices : 1;
    p->share[AGG_WORDS_TRIE] = worst_share(&p->trie);
    if (!p->is_chosen)
        p->method =
            p->share[AGG_WORDS_TRIE] < p->share[AGG_WORDS_SFP] ? AGG_WORDS_TRIE : AGG_WORDS_SFP;
    if (p->method == AGG_WORDS_TRIE && p->trie.n_rounds == 0)
        return usage(error, "not even one of so many characters fits a record: fewer --characters");
    return SHOAL_OK;
}

// ---- the recipe ----

// Options stand in the text as they were given: what is written was read back first.
static void print_sfp_recipe(FILE *stream, const agg_words_plan *p, const char *seed_hex)
{
    const agg_sfp_plan *s = &p->sfp;
    fprintf(stream,
            "\"stream\": \"typed-words\",\n  \"value\": \"word\",\n  \"mechanism\": \"sfp\",\n"
            "  \"parameters\": {\"epsilon\": %.10g, \"epsilon_fragment\": %.10g, \"k\": %u, \"m\": "
            "%u, \"k_fragment\": %u, "
            "\"m_fragment\": %u, \"length\": %u, \"oracle\": \"%s\"},\n  \"hash\": \"poly1\",\n  "
            "\"seed\": \"%s\",\n",
            s->eps_micro / 1e6, s->eps_fragment_micro / 1e6, s->k, s->m, s->k_fragment,
            s->m_fragment, p->length, agg_words_oracles[p->oracle], seed_hex);
}

static void print_trie_recipe(FILE *stream, const agg_words_plan *p, const char *policy_hash)
{
    const agg_trie_round *first = &p->trie.rounds[0];
    double sample = first->devices / p->devices;
    fprintf(stream,
            "\"stream\": \"typed-words\",\n  \"value\": \"fields\",\n"
            "  \"encoding\": [{\"field\": \"word\", \"starts\": [\"\"], \"characters\": \"%s\", "
            "\"step\": %u}],\n"
            "  \"mechanism\": \"trie\",\n"
            "  \"parameters\": {\"epsilon\": %.10g, \"contributions\": %u, \"sampler\": "
            "\"random\", \"depth\": %u, "
            "\"max_prefixes\": %u, \"passes\": 1, \"pass\": 1},\n  \"round\": {\"index\": 1},\n",
            p->characters, first->step, agg_words_plan_contribution_micro(p) / 1e6,
            p->contributions, p->depth, MAX_PREFIXES);
    if (sample < 0.999999)
        fprintf(stream, "  \"send\": {\"sample\": %.6f},\n", sample > 0.000001 ? sample : 0.000001);
    if (policy_hash != NULL)
        fprintf(stream, "  \"policy\": \"%s\",\n  \"version\": 1,\n", policy_hash);
}

typedef struct recipe_frame {
    const char *id, *policy, *expires;
} recipe_frame;

static agg_err print_text(FILE *stream, agg_error *error, const agg_words_plan *p,
                          const recipe_frame *frame)
{
    char seed_hex[65], date[16];
    agg_policy policy;
    time_t last = time(NULL) + (time_t)86400 * EXPIRES_DAYS;
    struct tm day;
    agg_err err = recipe_fresh_seed(seed_hex, error);
    if (err != SHOAL_OK) return err;
    if (gmtime_r(&last, &day) == NULL || strftime(date, sizeof date, "%Y-%m-%d", &day) == 0)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_RUNTIME, "the system gives no date");
    err = frame->policy != NULL ? agg_policy_from_file(&policy, error, frame->policy) : SHOAL_OK;
    if (err != SHOAL_OK) return err;
    fprintf(stream, "{\n  \"recipe\": \"%s\",\n  \"analysis\": \"%s\",\n  ", frame->id, frame->id);
    if (p->method == AGG_WORDS_SFP)
        print_sfp_recipe(stream, p, seed_hex);
    else
        print_trie_recipe(stream, p, frame->policy != NULL ? policy.hash_hex : NULL);
    fprintf(stream, "  \"limit\": {\"per_day\": 1},\n  \"expires\": \"%s\"\n}\n",
            frame->expires != NULL ? frame->expires : date);
    return SHOAL_OK;
}

agg_err agg_words_plan_write(const agg_words_plan *plan, agg_error *error, const char *path,
                             const char *id, const char *policy, const char *expires)
{
    const recipe_frame frame = {id, policy, expires};
    char *text = NULL;
    size_t len = 0;
    agg_recipe recipe;
    FILE *memory = open_memstream(&text, &len);
    if (memory == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    agg_err err = print_text(memory, error, plan, &frame);
    if (fclose(memory) != 0 && err == SHOAL_OK)
        err = agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    if (err == SHOAL_OK)
        err = agg_recipe_from_bytes(&recipe, error, "the planned recipe", text, len);
    if (err == SHOAL_OK) {
        agg_recipe_release(&recipe);
        err = recipe_write(error, path, text, len);
    }
    free(text);
    return err;
}
