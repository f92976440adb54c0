// SPDX-License-Identifier: Apache-2.0
// Writes recipes of planned discoveries; see discovery_recipe.h.
#include "discovery_recipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "policy_json.h"
#include "recipe_json.h"
#include "recipe_judge.h"
#include "recipe_write.h"

#define EXPIRES_DAYS 180

static void print_sfp_recipe(FILE *stream, const agg_discovery_plan *p, const char *seed_hex)
{
    const agg_sfp_plan *s = &p->sfp;
    fprintf(stream,
            "\"stream\": \"typed-words\",\n  \"value\": \"word\",\n  \"mechanism\": \"sfp\",\n"
            "  \"parameters\": {\"epsilon\": %.10g, \"epsilon_fragment\": %.10g, \"k\": %u, \"m\": "
            "%u, \"k_fragment\": %u, "
            "\"m_fragment\": %u, \"length\": %u, \"oracle\": \"%s\"},\n  \"hash\": \"poly1\",\n  "
            "\"seed\": \"%s\",\n",
            s->eps_micro / 1e6, s->eps_fragment_micro / 1e6, s->k, s->m, s->k_fragment,
            s->m_fragment, p->wish.length, agg_discovery_oracles[p->wish.oracle], seed_hex);
}

static void print_trie_recipe(FILE *stream, const agg_discovery_plan *p,
                              const agg_discovery_frame *frame, const char *policy_hash)
{
    const agg_trie_round *first = &p->trie.rounds[0];
    double sample = first->devices / p->wish.devices;
    fprintf(stream,
            "\"stream\": \"typed-words\",\n  \"value\": \"fields\",\n"
            "  \"encoding\": [{\"field\": \"word\", \"starts\": [\"\"], \"characters\": \"%s\", "
            "\"step\": %u}],\n"
            "  \"mechanism\": \"trie\",\n"
            "  \"parameters\": {\"epsilon\": %.10g, \"contributions\": %u, \"sampler\": "
            "\"random\", \"depth\": %u, "
            "\"max_prefixes\": %u, \"passes\": 1, \"pass\": 1},\n  \"round\": {\"index\": 1},\n",
            frame->characters, first->step, agg_discovery_contribution_micro(p) / 1e6,
            p->wish.contributions, p->wish.depth, AGG_DISCOVERY_PREFIXES_MAX);
    if (sample < 0.999999)
        fprintf(stream, "  \"send\": {\"sample\": %.6f},\n", sample > 0.000001 ? sample : 0.000001);
    if (policy_hash != NULL)
        fprintf(stream, "  \"policy\": \"%s\",\n  \"version\": 1,\n", policy_hash);
}

// Writes the default last day of a recipe.
static agg_err write_date(char date[16], agg_error *error)
{
    time_t last = time(NULL) + (time_t)86400 * EXPIRES_DAYS;
    struct tm day;
    if (gmtime_r(&last, &day) != NULL && strftime(date, 16, "%Y-%m-%d", &day) != 0) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_RUNTIME, "the system gives no date");
}

static agg_err print_text(FILE *stream, agg_error *error, const agg_discovery_plan *p,
                          const agg_discovery_frame *frame)
{
    char seed_hex[65], date[16];
    agg_policy policy;
    agg_err err = recipe_fresh_seed(seed_hex, error);
    if (err == SHOAL_OK) err = write_date(date, error);
    if (err == SHOAL_OK && frame->policy != NULL)
        err = agg_policy_from_file(&policy, error, frame->policy);
    if (err != SHOAL_OK) return err;
    fprintf(stream, "{\n  \"recipe\": \"%s\",\n  \"analysis\": \"%s\",\n  ", frame->id, frame->id);
    if (p->way == AGG_DISCOVERY_SFP)
        print_sfp_recipe(stream, p, seed_hex);
    else
        print_trie_recipe(stream, p, frame, frame->policy != NULL ? policy.hash_hex : NULL);
    fprintf(stream, "  \"limit\": {\"per_day\": 1},\n  \"expires\": \"%s\"\n}\n",
            frame->expires != NULL ? frame->expires : date);
    return SHOAL_OK;
}

agg_err agg_discovery_recipe_write(agg_error *error, const char *path,
                                   const agg_discovery_plan *plan, const agg_discovery_frame *frame)
{
    char *text = NULL;
    size_t len = 0;
    agg_recipe recipe;
    FILE *memory = open_memstream(&text, &len);
    if (memory == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    agg_err err = print_text(memory, error, plan, frame);
    if (fclose(memory) != 0 && err == SHOAL_OK)
        err = agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "no memory");
    if (err == SHOAL_OK)
        err = agg_recipe_from_bytes(&recipe, error, "the planned recipe", text, len);
    if (err == SHOAL_OK) {
        err = recipe_judge_day(error, &recipe);
        agg_recipe_release(&recipe);
    }
    if (err == SHOAL_OK) err = recipe_write(error, path, text, len);
    free(text);
    return err;
}
