// SPDX-License-Identifier: Apache-2.0
// The next round; see round_next.h.
#include "round_next.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "agg_file.h"
#include "agg_size.h"
#include "compound.h"
#include "dictionary.h"
#include "estimate.h"
#include "input_memory.h"
#include "log.h"
#include "marginal.h"
#include "memory_option.h"
#include "next_epoch.h"
#include "next_prefixes.h"
#include "next_recipe.h"
#include "next_trie.h"
#include "recipe_write.h"
#include "refine.h"
#include "text_rule.h"
#include "trie_guarantee.h"

#define LARGE_RECORD 4096u // bytes, from where one bit a cell is worth a word of advice

// One call's state.
typedef struct work {
    const round_options *options;
    agg_recipe recipe;
    agg_accumulator acc;
    uint32_t field;
    agg_count *counts; // of the field's buckets
    agg_bytes token_bytes;
    agg_text *tokens; // of --tokens; NULL where it is not given
    size_t n_tokens;
    agg_next_prefixes prefixes;
    agg_refined refined;
    agg_trie_layer layer; // of a trie
    agg_next_trie trie;
} work;

AGG_PRINTF(1, 2) static void say(const char *format, ...)
{
    char command[] = "round", text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    agg_log_line(command, text);
}

static int is_name(const shoal_name *name, const char *text)
{
    return strlen(text) == name->len && memcmp(name->bytes, text, name->len) == 0;
}

// The field that changes: the one that is named, or the only one of its scheme.
static agg_err find_field(work *w, agg_error *error)
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

static agg_err check_field(work *w, agg_error *error)
{
    const round_options *o = w->options;
    if (o->step > 0 || o->sample > 0 || o->threshold > 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "%s: --step, --sample and --threshold are of a trie", o->recipe);
    return find_field(w, error);
}

// ---- --tokens ----

static agg_err add_token(work *w, agg_error *error, size_t *cap, agg_text token, size_t *n_changed)
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

static agg_err read_tokens(work *w, agg_error *error)
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
        say("%s: %zu of %zu tokens are not as the recipe's text rule leaves them: no device has "
            "them",
            path, n_changed, w->n_tokens);
    return err;
}

// ---- what the counts say ----

static agg_err count(work *w, agg_error *error)
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

static void say_prefixes(const work *w, double fdr)
{
    const agg_next_prefixes *next = &w->prefixes;
    const shoal_name *name = &w->recipe.recipe.encoding.fields[w->field].field;
    say("%.*s: %zu of %zu sequences are frequent, the least of them %.2f standard errors out of "
        "the noise; "
        "false-discovery rate %g",
        name->len, name->bytes, next->n_frequent, next->n_asked, next->least, fdr);
    if (next->n_withheld > 0)
        say("%zu of them are below the release threshold, or over %u bytes, and not kept",
            next->n_withheld, SHOAL_TOKEN_TEXT_MAX);
    if (next->n + next->n_withheld < next->n_frequent)
        say("the %zu strongest are kept: %s", next->n,
            next->n == w->options->max_prefixes ? "--max-prefixes"
                                                : "more cells than the largest domain has");
    say("kept: %zu, the least of an estimated %.0f of %llu reports; all together %.0f. "
        "Off each count %.0f were taken: so many may be random answers",
        next->n, next->least_count, (unsigned long long)w->acc.n, next->kept_count, next->random);
}

static agg_err choose_prefixes(work *w, agg_error *error, agg_next_recipe *next)
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
                        "of %zu sequences of prefix and token %s stands out of the noise of %llu "
                        "reports: there is no "
                        "next round to write",
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

static agg_err choose_boundaries(work *w, agg_error *error, agg_next_recipe *next)
{
    const shoal_encoded *field = &w->recipe.recipe.encoding.fields[w->field];
    agg_refined *refined = &w->refined;
    agg_err err = agg_refine(refined, error, field->boundaries, field->n_boundaries, w->counts,
                             w->options->fdr, (uint32_t)w->options->refine);
    if (err != SHOAL_OK) return err;
    say("%.*s: %u buckets become %u, of an estimated %.0f reports each where there are enough; %zu "
        "of the %u between "
        "the ends cannot be told from zero",
        field->field.len, field->field.bytes, field->size, refined->n + 1, refined->share,
        refined->n_zero, field->n_boundaries - 1);
    next->boundaries = refined->boundaries;
    next->n_boundaries = refined->n;
    return SHOAL_OK;
}

// ---- the recipe ----

// Reads a text back; what came is what went, or it is not written.
static agg_err read_back(agg_recipe *again, agg_error *error, const char *text,
                         const agg_next_recipe *next)
{
    agg_err err = agg_recipe_from_bytes(again, error, "the next recipe", text, strlen(text));
    if (err != SHOAL_OK) return err;
    const shoal_encoded *field = &again->recipe.encoding.fields[next->field];
    int is_same = (next->n_starts == 0 ||
                   (field->prefixes.count == next->n_starts && field->step == next->step)) &&
                  (next->n_prefixes == 0 || field->prefixes.count == next->n_prefixes) &&
                  (next->n_boundaries == 0 || (field->n_boundaries == next->n_boundaries &&
                                               memcmp(field->boundaries, next->boundaries,
                                                      sizeof(int64_t) * next->n_boundaries) == 0));
    if (is_same) return SHOAL_OK;
    agg_recipe_release(again);
    return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                    "the next recipe does not read back as it was written");
}

// Bytes of a record of another mechanism; 0 where it cannot follow.
static uint32_t record_with(const work *w, const agg_next_recipe *next, const char *mechanism)
{
    agg_error error;
    agg_recipe other;
    agg_next_recipe asked = *next;
    char *text = NULL;
    uint32_t size = 0;
    asked.mechanism = mechanism;
    if (agg_next_recipe_text(&text, &error, &w->recipe, &asked) != SHOAL_OK) return 0;
    if (read_back(&other, &error, text, &asked) == SHOAL_OK) {
        size = other.recipe.record_size;
        agg_recipe_release(&other);
    }
    free(text);
    return size;
}

// The name of the mechanism that is usual for one AGG_USUAL_* bit.
static const char *usual(uint32_t kind)
{
    return shoal_mechanism_by_id(agg_account_usual(kind)->id)->name;
}

static void say_next(const work *w, const agg_recipe *again, const agg_next_recipe *next)
{
    const shoal_recipe *old = &w->recipe.recipe, *new = &again->recipe;
    const shoal_mechanism *mechanism = shoal_mechanism_by_id(new->parts[0].mechanism);
    say("%s: %u cells where %s had %u; a record has %u bytes (%u before)", again->id,
        new->parts[0].size, w->recipe.id, old->parts[0].size, new->record_size, old->record_size);
    if (agg_account_of(mechanism->id)->has_bit_a_value && new->record_size > LARGE_RECORD) {
        const char *shorter = usual(AGG_USUAL_SHORT_RECORDS),
                   *shortest = usual(AGG_USUAL_SHORTEST_RECORDS);
        uint32_t short_size = record_with(w, next, shorter),
                 shortest_size = record_with(w, next, shortest);
        if (short_size > 0 && shortest_size > 0)
            say("one bit a cell is much to send: --mechanism %s has %u bytes and the same error, "
                "--mechanism %s %u and a larger one",
                shorter, short_size, shortest, shortest_size);
    }
    if (old->n_part > 0)
        say("learnt from %s alone; the next round is asked of every part", w->recipe.id);
    if (old->round_index == 0) say("%s states no round: what follows it is round 1", w->recipe.id);
    say("%s is not signed: shoal recipe sign, after you have read it (shoal recipe diff)",
        again->id);
}

// Where the domain is too large for the mechanism another may do.
static void say_too_large(const work *w, const agg_next_recipe *next)
{
    const char *shortest = usual(AGG_USUAL_SHORTEST_RECORDS);
    uint32_t size = record_with(w, next, shortest);
    if (size > 0)
        say("--mechanism %s would take so many cells, with %u bytes a record", shortest, size);
}

static agg_err check_and_write(work *w, agg_error *error, const agg_next_recipe *next)
{
    agg_recipe again;
    char *text = NULL;
    agg_err err = agg_next_recipe_text(&text, error, &w->recipe, next);
    if (err != SHOAL_OK) return err;
    if (strlen(text) > AGG_RECIPE_FILE_MAX)
        err = agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                       "the next recipe would have %zu bytes, and a recipe has at most %zu: ask "
                       "for fewer prefixes "
                       "(--max-prefixes)",
                       strlen(text), AGG_RECIPE_FILE_MAX);
    if (err == SHOAL_OK) {
        err = read_back(&again, error, text, next);
        if (err == SHOAL_ERR_RANGE) say_too_large(w, next);
    }
    if (err == SHOAL_OK) {
        say_next(w, &again, next);
        agg_recipe_release(&again);
        err = recipe_write(error, w->options->output, text, strlen(text));
    }
    free(text);
    return err;
}

// ---- tries ----

static agg_err check_trie_options(agg_error *error, const round_options *o)
{
    if (o->field == NULL && o->tokens == NULL && o->mechanism == NULL && o->refine == 0)
        return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "%s: a trie takes neither --field nor --tokens, --mechanism or --refine",
                    o->recipe);
}

static agg_err read_layer(work *w, agg_error *error)
{
    const round_options *o = w->options;
    double release = (double)w->recipe.recipe.release_threshold;
    size_t most = w->recipe.recipe.max_prefixes;
    if (o->max_prefixes > 0 && o->max_prefixes < most) most = (size_t)o->max_prefixes;
    const agg_trie_options options = {.fdr = o->fdr,
                                      .threshold = o->threshold > release ? o->threshold : release,
                                      .max_prefixes = most,
                                      .n_threads = o->n_threads};
    agg_err err = agg_estimate_check(error, &w->recipe, &w->acc);
    if (err == SHOAL_OK)
        return agg_trie_layer_read(&w->layer, error, &w->recipe, &w->acc, &options);
    agg_error_prefix(error, "%s", o->accumulator);
    return err;
}

static agg_err say_layer(const work *w, agg_error *error)
{
    const agg_trie_layer *layer = &w->layer;
    agg_trie_guarantee g;
    say("%zu of %zu starts and %zu of %zu words stand out of the noise of %llu reports and are "
        "kept; false-discovery "
        "rate "
        "%g of each",
        layer->n_kept[0], layer->n_asked[0], layer->n_kept[1], layer->n_asked[1],
        (unsigned long long)layer->n, w->options->fdr);
    if (layer->n_withheld > 0)
        say("%zu more are below the threshold of release, or --threshold, and not kept",
            layer->n_withheld);
    if (layer->n_cut > 0)
        say("%zu more are beyond max_prefixes, the weakest, and not kept", layer->n_cut);
    agg_err err = agg_trie_guarantee_run(&g, error, &w->recipe.recipe, layer);
    for (int i = 0; i < AGG_TRIE_LINES_MAX && err == SHOAL_OK; i++) say("%s", g.lines[i]);
    return err;
}

static void say_end(const agg_next_trie *next)
{
    static const char *const why[] = {
        "", "this round asked every device that was left",
        "no start is left, and no pass is to come",
        "no start is left, and a further pass would know no word more"};
    say("complete: %s. There is no next round to write. The words: shoal discover --recipe R1 ACC1 "
        "--recipe R2 ACC2 "
        "..., "
        "every round in its order",
        why[next->end]);
}

static void say_trie(const work *w, const agg_next_trie *next)
{
    if (next->n_dropped > 0)
        say("%zu starts more, the weakest, have no room in a record", next->n_dropped);
    if (next->pass != w->recipe.recipe.pass)
        say("pass %u is over; pass %u begins anew and leaves out %zu known words",
            w->recipe.recipe.pass, next->pass, next->n_known);
    else if (next->n_new > 0)
        say("%zu words join the known ones, as another pass follows", next->n_new);
    say("next: %zu starts of %u characters, step %u; %.4g of the devices that are left, about "
        "%.0f; rounds left in "
        "this pass: %u",
        next->n_starts, next->depth, next->step, next->sample, next->devices,
        next->plan.n_rounds > 0 ? next->plan.n_rounds : 1);
}

static agg_err run_trie(work *w, agg_error *error, agg_next_recipe *next)
{
    const round_options *o = w->options;
    const agg_next_trie_wish wish = {(uint32_t)o->step, o->sample, 0};
    agg_err err = check_trie_options(error, o);
    if (err == SHOAL_OK) err = read_layer(w, error);
    if (err == SHOAL_OK) err = say_layer(w, error);
    if (err == SHOAL_OK) err = agg_next_trie_find(&w->trie, error, &w->recipe, &w->layer, &wish);
    if (err != SHOAL_OK) return err;
    if (w->trie.end != AGG_TRIE_GOES_ON) {
        say_end(&w->trie);
        return SHOAL_OK;
    }
    say_trie(w, &w->trie);
    next->starts = w->trie.starts;
    next->n_starts = w->trie.n_starts;
    next->known = w->trie.known;
    next->n_known = w->trie.n_known;
    next->step = w->trie.step;
    next->pass = w->trie.pass;
    next->sample = w->trie.sample;
    return check_and_write(w, error, next);
}

// ---- runs over epochs ----

static agg_err check_epoch_options(agg_error *error, const round_options *o)
{
    int is_any = o->field != NULL || o->tokens != NULL || o->mechanism != NULL || o->id != NULL ||
                 o->seed_hex != NULL || o->expires != NULL || o->refine > 0 ||
                 o->max_prefixes > 0 || o->version > 0 || o->step > 0;
    if (!is_any && !(o->cohort_epsilon > 0 || o->sample > 0 || o->threshold > 0)) return SHOAL_OK;
    return agg_fail(
        error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
        "%s: the next epoch is the same recipe with another round: it takes --recipe and -o alone",
        o->recipe);
}

static void say_epoch(const agg_next_epoch *next, const agg_recipe *recipe)
{
    double n = (double)next->n;
    const char *decision =
        next->is_update ? "an update, whose estimates the next reports bring" : "no update";
    if (next->epoch > next->epochs) {
        say("these are the closing reports, with the estimates of epoch %u. The run is over: shoal "
            "track",
            next->epochs);
        return;
    }
    say("epoch %u of %u: %llu of %llu reports say yes, %.3f %%, where %.3f %% are needed: %s",
        next->epoch, next->epochs, (unsigned long long)next->votes, (unsigned long long)next->n,
        100 * (double)next->votes / n, 100 * (double)next->needed / n, decision);
    if (next->n != recipe->recipe.users)
        say("the recipe states %u users: the threshold is that of the %llu reports",
            recipe->recipe.users, (unsigned long long)next->n);
    if (next->is_over)
        say("it was the last epoch, and nothing is left to collect: there is no next recipe. shoal "
            "track");
    else
        say("next: epoch %u%s; not signed: shoal recipe sign", next->epoch + 1,
            next->epoch == next->epochs ? ", which collects the last estimates" : "");
}

static agg_err write_epoch(const work *w, agg_error *error, const agg_next_epoch *next)
{
    agg_recipe again;
    char *text = NULL;
    agg_err err = agg_next_epoch_text(&text, error, &w->recipe, next);
    if (err != SHOAL_OK) return err;
    err = agg_recipe_from_bytes(&again, error, "the next recipe", text, strlen(text));
    if (err == SHOAL_OK) {
        if (memcmp(again.recipe.run_hash, w->recipe.recipe.run_hash, 32) != 0)
            err = agg_fail(error, SHOAL_ERR_RECIPE_HASH, AGG_EXIT_RUNTIME,
                           "the next recipe is of another run");
        agg_recipe_release(&again);
    }
    if (err == SHOAL_OK) err = recipe_write(error, w->options->output, text, strlen(text));
    free(text);
    return err;
}

static agg_err run_epoch(work *w, agg_error *error)
{
    agg_next_epoch next;
    agg_err err = check_epoch_options(error, w->options);
    if (err != SHOAL_OK) return err;
    err = agg_next_epoch_decide(&next, error, &w->recipe, &w->acc);
    if (err != SHOAL_OK) {
        agg_error_prefix(error, "%s", w->options->accumulator);
        return err;
    }
    say_epoch(&next, &w->recipe);
    return next.is_over ? SHOAL_OK : write_epoch(w, error, &next);
}

static agg_err run(work *w, agg_error *error)
{
    const round_options *o = w->options;
    char seed_hex[65];
    agg_next_recipe next = {.id = o->id,
                            .mechanism = o->mechanism,
                            .expires = o->expires,
                            .seed_hex = o->seed_hex,
                            .version = (uint32_t)o->version,
                            .cohort_epsilon = o->cohort_epsilon};
    if (w->recipe.recipe.epochs > 0) return run_epoch(w, error);
    if (w->recipe.recipe.contributions > 0) return run_trie(w, error, &next);
    agg_err err = o->tokens != NULL ? read_tokens(w, error) : SHOAL_OK;
    if (err == SHOAL_OK) err = count(w, error);
    if (err != SHOAL_OK) return err;
    next.field = w->field;
    err = o->refine > 0 ? choose_boundaries(w, error, &next) : choose_prefixes(w, error, &next);
    if (err == SHOAL_OK && o->seed_hex == NULL) {
        err = recipe_fresh_seed(seed_hex, error);
        next.seed_hex = seed_hex;
    }
    return err == SHOAL_OK ? check_and_write(w, error, &next) : err;
}

// ---- memory ----

#define JSON_OF_BYTE                                                                               \
    12u // bytes that a recipe takes while it is made, for one of its text: strings of JSON are
        // small
#define JSON_OF_TEXT 320u // the same, for a prefix

static uint64_t more_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t trie_memory(const work *w)
{
    const shoal_recipe *recipe = &w->recipe.recipe;
    uint64_t most = recipe->max_prefixes, size = recipe->parts[0].size;
    if (w->options->max_prefixes > 0 && w->options->max_prefixes < most)
        most = w->options->max_prefixes;
    uint64_t reading = agg_trie_layer_memory(recipe, (size_t)most, w->options->n_threads);
    if (most > size) most = size;
    return more_of(reading,
                   most * sizeof(agg_trie_cell) + agg_next_trie_memory(recipe, (size_t)most));
}

// Prefixes whose texts a recipe has room for, in quotes and between commas.
static uint64_t prefixes_max(const work *w)
{
    uint64_t most = AGG_RECIPE_FILE_MAX / 4, size = w->recipe.recipe.encoding.fields[w->field].size;
    if (size < most) most = size;
    return w->options->max_prefixes > 0 && w->options->max_prefixes < most
               ? w->options->max_prefixes
               : most;
}

static uint64_t field_memory(const work *w)
{
    const shoal_recipe *recipe = &w->recipe.recipe;
    uint64_t counts = recipe->encoding.fields[w->field].size * (uint64_t)sizeof(agg_count);
    uint64_t choosing = w->options->refine > 0 ? 0
                                               : more_of(agg_next_prefixes_memory(recipe, w->field),
                                                         prefixes_max(w) * JSON_OF_TEXT);
    return counts + more_of(agg_marginal_memory(recipe, w->field, w->options->n_threads), choosing);
}

// Before the accumulator is read, which stays until the end.
static agg_err state_memory(work *w, agg_error *error)
{
    char command[] = "round";
    const shoal_recipe *recipe = &w->recipe.recipe;
    uint64_t bytes =
        cli_accumulator_memory(w->options->accumulator, recipe) + JSON_OF_BYTE * w->recipe.json_len;
    agg_err err = SHOAL_OK;
    if (recipe->contributions > 0)
        bytes += trie_memory(w);
    else if (recipe->epochs == 0 && (err = check_field(w, error)) == SHOAL_OK)
        bytes += field_memory(w);
    return err == SHOAL_OK ? cli_state_memory(error, command, bytes, w->options->memory_limit)
                           : err;
}

agg_err round_next(agg_error *error, const round_options *options)
{
    work w = {.options = options};
    agg_err err = agg_recipe_from_file(&w.recipe, error, options->recipe);
    if (err != SHOAL_OK) return err;
    err = state_memory(&w, error);
    if (err == SHOAL_OK &&
        (err = agg_accumulator_load(&w.acc, error, options->accumulator)) == SHOAL_OK) {
        err = run(&w, error);
        agg_accumulator_release(&w.acc);
    }
    agg_next_prefixes_release(&w.prefixes);
    agg_next_trie_release(&w.trie);
    agg_trie_layer_release(&w.layer);
    free(w.counts);
    free(w.tokens);
    free(w.token_bytes.data);
    agg_recipe_release(&w.recipe);
    return err;
}
