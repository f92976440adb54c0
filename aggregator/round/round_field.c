// SPDX-License-Identifier: Apache-2.0
// The next round of a field with prefixes or boundaries; see round_work.h.
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "dictionary.h"
#include "estimate.h"
#include "marginal.h"
#include "round_work.h"
#include "text_rule.h"

static bool is_name(const shoal_name *name, const char *text)
{
    return strlen(text) == name->len && memcmp(name->bytes, text, name->len) == 0;
}

// Finds the field that changes: the one that is named, or the only one of its scheme.
static agg_err find_field(round_work *w, agg_error *error)
{
    const shoal_encoding *encoding = &w->recipe.recipe.encoding;
    const round_options *o = w->options;
    uint32_t scheme = o->refine > 0 ? SHOAL_SCHEME_NUMBER : SHOAL_SCHEME_TOKENS, n = 0, i;
    const char *what = o->refine > 0 ? "boundaries" : "tokens";
    for (i = 0; i < encoding->n_fields; i++) {
        const shoal_encoded *field = &encoding->fields[i];
        if (field->scheme != scheme || (o->field != NULL && !is_name(&field->field, o->field)))
            continue;
        w->field = i;
        n++;
    }
    if (n == 1) return SHOAL_OK;
    if (n > 1)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "%s: has several fields with %s: name one with --field", o->recipe, what);
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "%s: has no field%s%s with %s in an encoding", o->recipe,
                    o->field != NULL ? " " : "", o->field != NULL ? o->field : "", what);
}

agg_err round_field_find(round_work *w, agg_error *error)
{
    const round_options *o = w->options;
    if (o->step > 0 || o->sample > 0 || o->threshold > 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "%s: --step, --sample and --threshold are for tries", o->recipe);
    return find_field(w, error);
}

// ---- --tokens ----

static agg_err add_token(round_work *w, agg_error *error, size_t *cap, agg_text token,
                         size_t *n_changed)
{
    if (token.len == 0 || token.len > SHOAL_TOKEN_TEXT_MAX ||
        memchr(token.bytes, 0, token.len) != NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "%s: line %zu: a token has 1 to %u bytes, none of them 0",
                        w->options->tokens, w->n_tokens + 1, SHOAL_TOKEN_TEXT_MAX);
    agg_err err = agg_grow((void **)&w->tokens, cap, w->n_tokens + 1, sizeof *w->tokens, error);
    if (err != SHOAL_OK) return err;
    w->tokens[w->n_tokens++] = token;
    *n_changed += !agg_text_is_kept(&w->recipe.recipe, token.bytes, token.len);
    return SHOAL_OK;
}

static agg_err read_tokens(round_work *w, agg_error *error)
{
    size_t cap = 0, n_changed = 0;
    const char *path = w->options->tokens;
    agg_err err = agg_file_read(&w->token_bytes, error, path, AGG_RECIPE_FILE_MAX);
    if (err != SHOAL_OK) return err;
    const char *at = (const char *)w->token_bytes.data, *end = at + w->token_bytes.len;
    while (at < end && err == SHOAL_OK) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)),
                   *stop = newline != NULL ? newline : end;
        size_t len = (size_t)(stop - at) - (stop > at && stop[-1] == '\r');
        err = add_token(w, error, &cap, (agg_text){at, len}, &n_changed);
        at = stop + 1;
    }
    if (err == SHOAL_OK && w->n_tokens == 0)
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s: holds no token", path);
    if (err == SHOAL_OK && n_changed > 0)
        round_say(
            "%s: the recipe's text rule would change %zu of %zu tokens, so no device has them",
            path, n_changed, w->n_tokens);
    return err;
}

// ---- what the counts say ----

static agg_err count(round_work *w, agg_error *error)
{
    const shoal_recipe *recipe = &w->recipe.recipe;
    agg_err err = agg_estimate_check(error, &w->recipe, &w->acc);
    if (err != SHOAL_OK) {
        agg_error_prefix(error, "%s", w->options->accumulator);
        return err;
    }
    w->counts = agg_alloc(error, recipe->encoding.fields[w->field].size, sizeof *w->counts);
    if (w->counts == NULL) return AGG_ERR_MEMORY;
    return agg_marginal(w->counts, error, recipe, &w->acc, w->field, w->options->n_threads);
}

static void say_prefixes(const round_work *w, double fdr)
{
    const agg_next_prefixes *next = &w->prefixes;
    const shoal_name *name = &w->recipe.recipe.encoding.fields[w->field].field;
    round_say("%.*s: %zu of %zu sequences are detected, the weakest by %.2f standard errors; "
              "false-discovery rate %g",
              name->len, name->bytes, next->n_frequent, next->n_asked, next->least, fdr);
    if (next->n_withheld > 0)
        round_say("%zu of them are not kept: they are below the release threshold or over %u bytes",
                  next->n_withheld, SHOAL_TOKEN_TEXT_MAX);
    if (next->n + next->n_withheld < next->n_frequent)
        round_say("the %zu strongest are kept: %s", next->n,
                  next->n == w->options->max_prefixes ? "--max-prefixes"
                                                      : "more cells than the largest domain has");
    round_say("kept: %zu; the rarest has an estimated %.0f of %llu reports, all together have "
              "%.0f. From each count %.0f were subtracted, because so many may be random answers",
              next->n, next->least_count, (unsigned long long)w->acc.n, next->kept_count,
              next->random);
}

static agg_err choose_prefixes(round_work *w, agg_error *error, agg_next_recipe *next)
{
    const round_options *o = w->options;
    const shoal_recipe *recipe = &w->recipe.recipe;
    size_t n_tokens =
        w->tokens != NULL ? w->n_tokens : recipe->encoding.fields[w->field].tokens.count;
    size_t most = agg_next_prefixes_fit(recipe, w->field, n_tokens);
    if (most == 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s: has too many tokens", o->tokens);
    if (o->max_prefixes > 0 && o->max_prefixes < most) most = (size_t)o->max_prefixes;
    agg_err err = agg_next_prefixes_choose(&w->prefixes, error, &w->recipe, w->field, w->counts,
                                           w->acc.n, o->fdr, most);
    if (err != SHOAL_OK) return err;
    if (w->prefixes.n == 0)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                        "of %zu sequences of prefix and token, %s stands out from the noise of "
                        "%llu reports: there is no next round to write",
                        w->prefixes.n_asked,
                        w->prefixes.n_frequent > 0 ? "none that may be shown" : "none",
                        (unsigned long long)w->acc.n);
    say_prefixes(w, o->fdr);
    next->prefixes = w->prefixes.texts;
    next->n_prefixes = w->prefixes.n;
    next->tokens = w->tokens;
    next->n_tokens = w->n_tokens;
    return SHOAL_OK;
}

static agg_err choose_boundaries(round_work *w, agg_error *error, agg_next_recipe *next)
{
    const shoal_encoded *field = &w->recipe.recipe.encoding.fields[w->field];
    agg_refined *refined = &w->refined;
    agg_err err = agg_refine(refined, error, field->boundaries, field->n_boundaries, w->counts,
                             w->options->fdr, (uint32_t)w->options->refine);
    if (err != SHOAL_OK) return err;
    round_say("%.*s: %u buckets become %u, each with an estimated %.0f reports where there are "
              "enough; %zu of the %u between the ends cannot be told from zero",
              field->field.len, field->field.bytes, field->size, refined->n + 1, refined->share,
              refined->n_zero, field->n_boundaries - 1);
    next->boundaries = refined->boundaries;
    next->n_boundaries = refined->n;
    return SHOAL_OK;
}

agg_err round_field_choose(round_work *w, agg_error *error, agg_next_recipe *next)
{
    const round_options *o = w->options;
    agg_err err = o->tokens != NULL ? read_tokens(w, error) : SHOAL_OK;
    if (err == SHOAL_OK) err = count(w, error);
    if (err != SHOAL_OK) return err;
    next->field = w->field;
    return o->refine > 0 ? choose_boundaries(w, error, next) : choose_prefixes(w, error, next);
}

// ---- memory ----

#define JSON_OF_TEXT 320u // bytes that a recipe takes for a prefix while it is made

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

// Returns: the most prefixes that a recipe's text can hold, each with quotes and a comma.
static uint64_t prefixes_max(const round_work *w)
{
    uint64_t most = AGG_RECIPE_FILE_MAX / 4, size = w->recipe.recipe.encoding.fields[w->field].size;
    if (size < most) most = size;
    return w->options->max_prefixes > 0 && w->options->max_prefixes < most
               ? w->options->max_prefixes
               : most;
}

uint64_t round_field_memory(const round_work *w)
{
    const shoal_recipe *recipe = &w->recipe.recipe;
    uint64_t counts = recipe->encoding.fields[w->field].size * (uint64_t)sizeof(agg_count);
    uint64_t choosing = w->options->refine > 0 ? 0
                                               : larger(agg_next_prefixes_memory(recipe, w->field),
                                                        prefixes_max(w) * JSON_OF_TEXT);
    return counts + larger(agg_marginal_memory(recipe, w->field, w->options->n_threads), choosing);
}
