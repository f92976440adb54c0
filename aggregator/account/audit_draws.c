// SPDX-License-Identifier: Apache-2.0
// Labelled records; see audit_draws.h.
#include "audit_draws.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "agg_file.h"
#include "agg_size.h"
#include "recipe.h"
#include "sha256.h"

static agg_err refuse(agg_error *error, const char *why)
{
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s", why);
}

static agg_text text_of(const char *text)
{
    return (agg_text){text, strlen(text)};
}

static bool is_same(agg_text a, agg_text b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.bytes, b.bytes, a.len) == 0);
}

// Returns: the index of a named item; n_items if no item has that name.
static uint32_t find(const agg_draws *draws, agg_text name)
{
    uint32_t i = 0;
    while (i < draws->n_items && !is_same(draws->names[i], name)) i++;
    return i;
}

static bool item_of(uint64_t *item, const agg_recipe *recipe, agg_text name)
{
    if (name.len > 0) return agg_recipe_item(item, recipe, name.bytes, name.len);
    *item = SHOAL_ITEM_NONE;
    return agg_recipe_is_closed(recipe);
}

agg_err agg_draws_add_item(agg_draws *draws, agg_error *error, const agg_recipe *recipe,
                           agg_text name)
{
    uint64_t item = 0;
    if (recipe->recipe->n_parts != 1)
        return refuse(error, "only recipes of one variable can be drawn from");
    if (draws->n_items == AGG_DRAWS_ITEMS_MAX) return refuse(error, "more items than 8");
    if (find(draws, name) < draws->n_items) return refuse(error, "an item is named twice");
    if (!item_of(&item, recipe, name)) return refuse(error, "the item is not one of the recipe's");
    draws->recipe = recipe->recipe;
    draws->items[draws->n_items] = item;
    draws->names[draws->n_items++] = name;
    return SHOAL_OK;
}

// Writes a number as a decimal without trailing zeros.
static void write_micro(char out[24], int64_t micro)
{
    uint64_t size = micro < 0 ? 0 - (uint64_t)micro : (uint64_t)micro;
    int len = snprintf(out, 24, "%s%llu.%06llu", micro < 0 ? "-" : "",
                       (unsigned long long)(size / 1000000), (unsigned long long)(size % 1000000));
    while (out[len - 1] == '0') len--;
    if (out[len - 1] == '.') len--;
    out[len] = '\0';
}

#define PILOT_DRAWS 500u
#define PILOT_STRINGS 16u

// Returns: the candidate string that is told from "a" most often. If two strings share hash
// columns, nothing tells them apart. The draws that choose have a seed of their own, so the draws
// that are counted stay independent of the choice.
static const char *choose_string(const agg_recipe *recipe)
{
    static const char *const names[PILOT_STRINGS] = {"b", "c", "d", "e", "f", "g", "h", "i",
                                                     "j", "k", "l", "m", "n", "o", "p", "q"};
    const shoal_part *part = &recipe->recipe->parts[0];
    const agg_account *account = agg_account_of(part->mechanism);
    uint64_t a = shoal_part_item(part, (const uint8_t *)"a", 1), b[PILOT_STRINGS];
    uint32_t hits[PILOT_STRINGS] = {0}, best = 0;
    agg_draws pilot = {.recipe = recipe->recipe, .n_items = 1, .items = {a}};
    uint8_t *scratch = agg_alloc(NULL, agg_draws_scratch(&pilot), 1);
    if (scratch == NULL) return names[0];
    for (uint32_t s = 0; s < PILOT_STRINGS; s++)
        b[s] = shoal_part_item(part, (const uint8_t *)names[s], 1);
    agg_draws_native(&pilot, "which string", PILOT_DRAWS);
    for (uint64_t i = 0; i < PILOT_DRAWS; i++) {
        const uint8_t *record = agg_draws_get(&pilot, scratch, 0, i).record;
        for (uint32_t s = 0; record != NULL && s < PILOT_STRINGS; s++)
            hits[s] += account->tells_apart(part, record, a, b[s]);
    }
    for (uint32_t s = 1; s < PILOT_STRINGS; s++)
        if (hits[s] > hits[best]) best = s;
    free(scratch);
    return names[best];
}

agg_err agg_draws_add_usual(agg_draws *draws, agg_error *error, const agg_recipe *recipe)
{
    const shoal_recipe *r = recipe->recipe;
    agg_text first = text_of("a"), last;
    if (!agg_recipe_is_closed(recipe)) {
        last = text_of(choose_string(recipe));
    } else if (recipe->values.n > 0) {
        first = recipe->values.texts[0];
        last = recipe->values.texts[recipe->values.n - 1];
    } else {
        bool is_number = r->value == SHOAL_VALUE_NUMBER;
        if (is_number) write_micro(draws->own_names[0], r->low_micro);
        if (is_number) write_micro(draws->own_names[1], r->high_micro);
        if (!is_number) snprintf(draws->own_names[0], sizeof draws->own_names[0], "0");
        if (!is_number)
            snprintf(draws->own_names[1], sizeof draws->own_names[1], "%u", r->parts[0].size - 1);
        first = text_of(draws->own_names[0]);
        last = text_of(draws->own_names[1]);
    }
    agg_err err = agg_draws_add_item(draws, error, recipe, first);
    if (err == SHOAL_OK) err = agg_draws_add_item(draws, error, recipe, last);
    if (err == SHOAL_OK && agg_recipe_is_closed(recipe))
        err = agg_draws_add_item(draws, error, recipe, text_of(""));
    return err;
}

void agg_draws_native(agg_draws *draws, const char *seed_text, uint64_t count)
{
    static const char label[] = "shoal audit seed";
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, (const uint8_t *)label, sizeof label - 1);
    shoal_sha256_update(&sha, (const uint8_t *)seed_text, strlen(seed_text));
    shoal_sha256_final(draws->seed, &sha);
    for (uint32_t i = 0; i < draws->n_items; i++) draws->count[i] = count;
}

// Cuts off the next line.
// Returns: whether there was one.
static bool next_line(agg_text *line, char **at, char *end)
{
    if (*at >= end) return false;
    char *newline = memchr(*at, '\n', (size_t)(end - *at));
    char *stop = newline != NULL ? newline : end;
    *line = (agg_text){*at, (size_t)(stop - *at)};
    if (line->len > 0 && line->bytes[line->len - 1] == '\r') line->len--;
    *at = newline != NULL ? newline + 1 : end;
    return true;
}

// Splits a line into its name and its text.
// Returns: whether there is a tab.
static bool split(agg_text *name, agg_text *text, agg_text line)
{
    const char *tab = memchr(line.bytes, '\t', line.len);
    if (tab == NULL) return false;
    *name = (agg_text){line.bytes, (size_t)(tab - line.bytes)};
    *text = (agg_text){tab + 1, line.len - name->len - 1};
    return true;
}

static agg_err count_line(agg_draws *draws, agg_error *error, const agg_recipe *recipe,
                          agg_text line, bool takes_new)
{
    agg_text name, text;
    if (!split(&name, &text, line))
        return refuse(error, "a tab between item and record is missing");
    uint32_t i = find(draws, name);
    if (i == draws->n_items) {
        if (!takes_new || i == AGG_DRAWS_ITEMS_MAX) return SHOAL_OK;
        agg_err err = agg_draws_add_item(draws, error, recipe, name);
        if (err != SHOAL_OK) return err;
    }
    draws->count[i]++;
    return SHOAL_OK;
}

static agg_err count_lines(agg_draws *draws, agg_error *error, const agg_recipe *recipe,
                           char *bytes, size_t len)
{
    bool takes_new = draws->n_items == 0;
    char *at = bytes;
    agg_text line;
    for (size_t number = 1; next_line(&line, &at, bytes + len); number++) {
        agg_err err = count_line(draws, error, recipe, line, takes_new);
        if (err == SHOAL_OK) continue;
        agg_error_prefix(error, "line %zu", number);
        return err;
    }
    if (draws->n_items < 2) return refuse(error, "draws of two items at least are needed");
    for (uint32_t i = 0; i < draws->n_items; i++)
        if (draws->count[i] < 2)
            return agg_fail(
                error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "item \"%.*s\" has fewer than two draws",
                draws->names[i].len < 64 ? (int)draws->names[i].len : 64, draws->names[i].bytes);
    return SHOAL_OK;
}

static void check_record(agg_draws *draws, uint8_t *record, agg_text text, size_t number)
{
    agg_err err = shoal_record_from_text(record, draws->recipe, text.bytes, text.len, NULL);
    if (err == SHOAL_OK || draws->n_refused++ > 0) return;
    snprintf(draws->refusal, sizeof draws->refusal, "line %zu: %s", number, shoal_err_text(err));
}

static void fill_lines(agg_draws *draws, uint8_t *record, char *bytes, size_t len)
{
    uint64_t filled[AGG_DRAWS_ITEMS_MAX] = {0};
    char *at = bytes;
    agg_text line, name, text;
    for (size_t number = 1; next_line(&line, &at, bytes + len); number++) {
        if (!split(&name, &text, line)) continue;
        uint32_t i = find(draws, name);
        if (i == draws->n_items) continue;
        draws->lines[i][filled[i]++] = text;
        check_record(draws, record, text, number);
    }
}

agg_err agg_draws_parse(agg_draws *draws, agg_error *error, const agg_recipe *recipe,
                        const char *name, char *bytes, size_t len)
{
    agg_err err = count_lines(draws, error, recipe, bytes, len);
    uint8_t *record = err == SHOAL_OK ? agg_alloc(error, recipe->recipe->record_size, 1) : NULL;
    if (err == SHOAL_OK && record == NULL) err = AGG_ERR_MEMORY;
    for (uint32_t i = 0; i < draws->n_items && err == SHOAL_OK; i++) {
        draws->lines[i] = agg_alloc(error, (size_t)draws->count[i], sizeof *draws->lines[i]);
        if (draws->lines[i] == NULL) err = AGG_ERR_MEMORY;
    }
    if (err == SHOAL_OK)
        fill_lines(draws, record, bytes, len);
    else
        agg_error_prefix(error, "%s", name);
    free(record);
    return err;
}

agg_err agg_draws_load(agg_draws *draws, agg_error *error, const agg_recipe *recipe,
                       const char *path)
{
    agg_bytes bytes;
    agg_err err = agg_file_read(&bytes, error, path, AGG_DRAWS_FILE_MAX);
    if (err != SHOAL_OK) return err;
    draws->file = (char *)bytes.data;
    return agg_draws_parse(draws, error, recipe, strcmp(path, "-") == 0 ? "standard input" : path,
                           draws->file, bytes.len);
}

size_t agg_draws_scratch(const agg_draws *draws)
{
    return (size_t)draws->recipe->record_size + draws->recipe->text_size;
}

static agg_drawn read_line(const agg_draws *draws, uint8_t *record, agg_text text)
{
    bool is_good =
        shoal_record_from_text(record, draws->recipe, text.bytes, text.len, NULL) == SHOAL_OK;
    return (agg_drawn){text, is_good ? record : NULL};
}

agg_drawn agg_draws_get(const agg_draws *draws, uint8_t *scratch, uint32_t item, uint64_t i)
{
    const shoal_recipe *r = draws->recipe;
    char *text = (char *)scratch + r->record_size;
    shoal_permanent device;
    shoal_rng rng;
    if (draws->lines[item] != NULL) return read_line(draws, scratch, draws->lines[item][i]);
    shoal_rng_init_stream(&rng, draws->seed, i * AGG_DRAWS_ITEMS_MAX + item);
    if (shoal_recipe_is_permanent(r)) shoal_rng_bytes(&rng, device.secret, sizeof device.secret);
    // The item was checked when it was named, and a finished recipe refuses nothing else.
    if (shoal_record_randomize(scratch, r, &draws->items[item], 1, &device, &rng) != SHOAL_OK ||
        shoal_record_to_text(text, r->text_size, r, scratch) != SHOAL_OK)
        return (agg_drawn){{text, 0}, NULL};
    return (agg_drawn){{text, r->text_size}, scratch};
}

size_t agg_draws_text_max(const agg_draws *draws)
{
    size_t most = 0;
    for (uint32_t i = 0; i < draws->n_items; i++) {
        if (draws->lines[i] == NULL) return draws->recipe->text_size;
        for (uint64_t d = 0; d < draws->count[i]; d++)
            if (draws->lines[i][d].len > most) most = draws->lines[i][d].len;
    }
    return most;
}

void agg_draws_release(agg_draws *draws)
{
    for (uint32_t i = 0; i < AGG_DRAWS_ITEMS_MAX; i++) free(draws->lines[i]);
    free(draws->file);
    memset(draws, 0, sizeof *draws);
}
