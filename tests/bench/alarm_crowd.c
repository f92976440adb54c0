// SPDX-License-Identifier: Apache-2.0
// Honest crowds and attackers; see alarm_crowd.h.
#include "alarm_crowd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affine1.h"
#include "bytes.h"
#include "estimator.h"
#include "poly1.h"
#include "rappor.h"
#include "recipe.h"
#include "record.h"

#define WORDS 16u
#define COUNTED 32u
#define RARE 9u     // the word that a targeted attack supports
#define TARGETS 10u // of the attack of maximal gain
#define CANDIDATES 16u

// clang-format off
#define OPEN(mechanism, parameters) "\"value\":\"word\",\"mechanism\":\"" mechanism "\",\"hash\":\"poly1\",\"parameters\":" parameters
#define LIST(mechanism, parameters) "\"value\":\"item\",\"mechanism\":\"" mechanism "\",\"parameters\":" parameters
const crowd_setting crowd_small[] = {
    {"cms", OPEN("cms", "{\"epsilon\":2,\"k\":8,\"m\":16}")},
    {"hcms", OPEN("hcms", "{\"epsilon\":2,\"k\":4,\"m\":8}")},
    {"olh", OPEN("olh", "{\"epsilon\":2,\"k\":8,\"g\":8}")},
    {"grr", LIST("grr", "{\"epsilon\":2,\"size\":32}")},
    {"subset", LIST("subset", "{\"epsilon\":1,\"size\":32}")},
    {"hadamard", LIST("hadamard", "{\"epsilon\":2,\"size\":32}")},
    {"onehot-symmetric", LIST("onehot-symmetric", "{\"epsilon\":2,\"size\":32}")},
    {"onehot-asymmetric", LIST("onehot-asymmetric", "{\"epsilon\":2,\"size\":32}")},
    {"rappor", "\"value\":\"word\",\"mechanism\":\"rappor\",\"hash\":\"poly1\",\"parameters\":{\"bits\":16,\"hashes\":2,\"cohorts\":4,\"p\":0.25,\"q\":0.75,\"f\":0.25}"},
    {"rappor-list", LIST("rappor", "{\"size\":32,\"p\":0.25,\"q\":0.75,\"f\":0}")},
    {"one-bit-mean", "\"value\":\"number\",\"mechanism\":\"one-bit-mean\",\"parameters\":{\"epsilon\":1,\"low\":0,\"high\":32}"}};
const crowd_setting crowd_large[] = {
    {"cms", OPEN("cms", "{\"epsilon\":4,\"k\":2048,\"m\":1024}")},
    {"hcms", OPEN("hcms", "{\"epsilon\":4,\"k\":1024,\"m\":1024}")},
    {"olh", OPEN("olh", "{\"epsilon\":4,\"k\":4096,\"g\":64}")},
    {"grr", LIST("grr", "{\"epsilon\":4,\"size\":64}")},
    {"subset", LIST("subset", "{\"epsilon\":2,\"size\":1000}")},
    {"hadamard", LIST("hadamard", "{\"epsilon\":4,\"size\":4096}")},
    {"onehot-symmetric", LIST("onehot-symmetric", "{\"epsilon\":4,\"size\":1000}")},
    {"rappor", "\"value\":\"word\",\"mechanism\":\"rappor\",\"hash\":\"poly1\",\"parameters\":{\"bits\":128,\"hashes\":2,\"cohorts\":64,\"p\":0.25,\"q\":0.75,\"f\":0.25}"}};
// clang-format on
const size_t crowd_n_small = sizeof crowd_small / sizeof crowd_small[0],
             crowd_n_large = sizeof crowd_large / sizeof crowd_large[0];
const char *const crowd_law_names[] = {"one value", "zipf", "uniform", "none", "one device"};
const char *const crowd_attack_names[] = {"copies", "one word pushed", "random records",
                                          "maximal gain", "rare word"};

void crowd_recipe(agg_recipe *recipe, const crowd_setting *setting)
{
    char text[1024];
    bool has_seed =
        strstr(setting->members, "poly1") != NULL || strstr(setting->members, "rappor") != NULL;
    agg_error error = {SHOAL_OK, 0, ""};
    snprintf(text, sizeof text,
             "{\"recipe\":\"crowd\",\"analysis\":\"a\",\"stream\":\"s\",%s%s,\"limit\":{\"per_day\""
             ":1},\"expires\":\"2030-01-01\"}",
             has_seed
                 ? "\"seed\":\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
                   "\","
                 : "",
             setting->members);
    if (agg_recipe_from_bytes(recipe, &error, "crowd", text, strlen(text)) == SHOAL_OK) return;
    fprintf(stderr, "%s: %s\n", setting->name, error.text);
    exit(1);
}

uint64_t crowd_item(const agg_recipe *recipe, uint32_t i)
{
    const shoal_part *part = &recipe->recipe->parts[0];
    char word[16];
    if (part->domain == SHOAL_DOMAIN_NUMBER) return i * (SHOAL_NUMBER_ONE / WORDS / 2);
    if (part->domain == SHOAL_DOMAIN_CLOSED) return i % part->size;
    int len = snprintf(word, sizeof word, "word%u", i);
    return shoal_part_item(part, (const uint8_t *)word, (size_t)len);
}

static uint64_t draw_item(const agg_recipe *recipe, crowd_law law, shoal_rng *rng)
{
    bool is_open = recipe->recipe->parts[0].domain == SHOAL_DOMAIN_OPEN;
    uint32_t i = 0;
    switch (law) {
    case CROWD_ZIPF: // value i where 1/(i + 1) is first above a uniform number; a tail stays at 0
        i = (uint32_t)(((uint64_t)1 << 32) / (shoal_rng_below(rng, (uint64_t)1 << 32) + 1)) - 1;
        if (i >= WORDS) i = 0;
        break;
    case CROWD_UNIFORM: i = (uint32_t)shoal_rng_below(rng, WORDS); break;
    case CROWD_NONE:
        if (!is_open) return SHOAL_ITEM_NONE;
        i = (uint32_t)shoal_rng_below(rng, (uint64_t)1 << 31);
        break;
    default: break;
    }
    return crowd_item(recipe, i);
}

static void randomize(uint8_t *record, const agg_recipe *recipe, uint64_t item,
                      const shoal_permanent *permanent, shoal_rng *rng)
{
    if (shoal_record_randomize(record, recipe->recipe, &item, 1, permanent, rng) != SHOAL_OK)
        abort();
}

void crowd_honest(uint8_t *records, uint32_t n, const agg_recipe *recipe, crowd_law law,
                  shoal_rng *rng)
{
    size_t size = shoal_record_size(recipe->recipe);
    shoal_permanent permanent = {{1}};
    for (uint32_t i = 0; i < n; i++) {
        if (law != CROWD_SAME) store32_le(permanent.secret + 4, (uint32_t)shoal_rng_u64(rng));
        randomize(records + i * size, recipe, draw_item(recipe, law, rng), &permanent, rng);
    }
}

static uint32_t column_of(const shoal_part *part, uint32_t row, uint64_t item)
{
    shoal_poly1 hash;
    shoal_poly1_row(&hash, part->seed, row);
    return shoal_poly1_hash(&hash, shoal_poly1_point(item), part->m);
}

static bool has_bit(const uint8_t *bits, uint32_t l)
{
    return (bits[l / 8] >> l % 8 & 1) != 0;
}

// Returns: whether a record speaks for an item.
static bool supports(const shoal_part *part, const uint8_t *record, uint64_t item)
{
    uint32_t first = part->record_size >= 4 ? load32_le(record) : record[0], index = (uint32_t)item;
    switch (part->mechanism) {
    case shoal_cms_id: return has_bit(record + 4, column_of(part, first, item));
    case shoal_hcms_id: {
        uint32_t column_sign = load32_le(record + 4);
        return (shoal_parity(column_sign >> 1 & column_of(part, first, item)) ^ column_sign) & 1;
    }
    case shoal_olh_id: return first % part->m == column_of(part, first / part->m, item);
    case shoal_grr_id: return first == index;
    case shoal_subset_id:
        for (uint32_t i = 0; i < part->k; i++)
            if (load32_le(record + (size_t)4 * i) == index) return true;
        return false;
    case shoal_hadamard_id:
        return first / 2 / part->m == index % part->k &&
               ((shoal_parity(first / 2 % part->m & index / part->k) ^ first) & 1);
    case shoal_rappor_id:
        if (part->domain == SHOAL_DOMAIN_CLOSED) return has_bit(record + 4, index);
        for (uint32_t h = 0; h < part->hashes; h++)
            if (!has_bit(record + 4, column_of(part, shoal_rappor_row(part, first, h), item)))
                return false;
        return true;
    case shoal_one_bit_mean_id: return record[0] == 1;
    default: return has_bit(record, index);
    }
}

// Writes a record that is uniform over all that the mechanism may send.
static void randomize_uniform(uint8_t *record, const agg_recipe *recipe, shoal_rng *rng)
{
    const shoal_part *part = &recipe->recipe->parts[0];
    size_t size = part->record_size;
    bool has_rows = part->mechanism == shoal_cms_id || part->mechanism == shoal_rappor_id;
    for (size_t i = 0; i < size; i++) record[i] = (uint8_t)shoal_rng_u64(rng);
    if (part->mechanism == shoal_subset_id) { // any set of d: each index as likely as any other
        uint32_t left = part->k, at = 0;
        for (uint32_t i = 0; i < part->m; i++)
            if (shoal_rng_below(rng, part->m - i) < left) {
                store32_le(record + (size_t)4 * at++, i);
                left--;
            }
        return;
    }
    if (has_rows || part->mechanism == shoal_hcms_id)
        store32_le(record, (uint32_t)shoal_rng_below(rng, part->k));
    if (part->mechanism == shoal_hcms_id)
        store32_le(record + 4, (uint32_t)shoal_rng_below(rng, 2 * (uint64_t)part->m));
    if (part->mechanism == shoal_grr_id)
        store32_le(record, (uint32_t)shoal_rng_below(rng, part->m));
    if (part->mechanism == shoal_olh_id)
        store32_le(record, (uint32_t)shoal_rng_below(rng, (uint64_t)part->k * part->m));
    if (part->mechanism == shoal_hadamard_id)
        store32_le(record, (uint32_t)shoal_rng_below(rng, 2 * (uint64_t)part->k * part->m));
    if (part->mechanism == shoal_one_bit_mean_id) record[0] &= 1;
    if (part->m % 8 != 0) record[size - 1] &= (uint8_t)((1u << part->m % 8) - 1);
}

static void forge(uint8_t *record, const agg_recipe *recipe, crowd_attack attack, shoal_rng *rng)
{
    const shoal_part *part = &recipe->recipe->parts[0];
    uint8_t other[4096 * 4];
    shoal_permanent permanent = {{2}};
    uint32_t best = 0;
    store32_le(permanent.secret + 4, (uint32_t)shoal_rng_u64(rng));
    switch (attack) {
    case CROWD_RANDOM: randomize_uniform(record, recipe, rng); break;
    case CROWD_GAIN:
        for (uint32_t c = 0; c < CANDIDATES; c++) {
            uint32_t gained = 0, word = (uint32_t)shoal_rng_below(rng, TARGETS);
            randomize(other, recipe, crowd_item(recipe, word), &permanent, rng);
            for (uint32_t t = 0; t < TARGETS; t++)
                gained += supports(part, other, crowd_item(recipe, t));
            if (c > 0 && gained <= best) continue;
            best = gained;
            memcpy(record, other, part->record_size);
        }
        break;
    case CROWD_TARGETED:
        do randomize(record, recipe, crowd_item(recipe, RARE), &permanent, rng);
        while (!supports(part, record, crowd_item(recipe, RARE)));
        break;
    default: randomize(record, recipe, crowd_item(recipe, RARE), &permanent, rng);
    }
}

void crowd_forged(uint8_t *records, uint32_t n, const agg_recipe *recipe, crowd_attack attack,
                  shoal_rng *rng)
{
    size_t size = shoal_record_size(recipe->recipe);
    for (uint32_t i = 0; i < n; i++) {
        if (attack == CROWD_COPIES && i > 0)
            memcpy(records + i * size, records, size);
        else
            forge(records + i * size, recipe, attack, rng);
    }
}

void crowd_alarms(agg_alarms *alarms, const agg_recipe *recipe, const agg_accumulator *acc)
{
    const shoal_part *part = &recipe->recipe->parts[0];
    agg_count counts[COUNTED];
    uint64_t items[COUNTED];
    agg_error error = {SHOAL_OK, 0, ""};
    *alarms = (agg_alarms){.n_tests = 0};
    for (uint32_t i = 0; i < COUNTED; i++) items[i] = crowd_item(recipe, i);
    if (agg_alarms_test(alarms, &error, recipe->recipe, acc) != SHOAL_OK) abort();
    if (agg_estimator_of(part->mechanism)->counts == NULL) {
        if (agg_estimator_counts(counts, &error, part, &acc->parts[0], acc->n, items, COUNTED, 1) !=
            SHOAL_OK)
            abort();
        agg_alarms_test_counts(alarms, part, acc->n, counts, COUNTED);
    }
    agg_alarms_finish(alarms);
}

void crowd_clear(agg_accumulator *acc)
{
    agg_sketch *sketch = &acc->parts[0];
    memset(sketch->cells.ones, 0, sketch->n_cells * sizeof *sketch->cells.ones);
    if (sketch->rows != NULL) memset(sketch->rows, 0, sketch->n_rows * sizeof *sketch->rows);
    acc->n = 0;
}
