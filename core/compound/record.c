// SPDX-License-Identifier: Apache-2.0
// A record is its parts joined; see record.h.
#include "record.h"

#include <stdbool.h>

#include "bytes.h"
#include "compound.h"
#include "recipe.h"

uint32_t shoal_record_size(const shoal_recipe *recipe)
{
    return recipe->record_size;
}

uint32_t shoal_record_text_size(const shoal_recipe *recipe)
{
    return recipe->text_size;
}

static const shoal_mechanism *mechanism_of(const shoal_part *part)
{
    return shoal_mechanism_by_id(part->mechanism);
}

static bool is_finished(const shoal_recipe *recipe)
{
    return recipe->n_parts >= 1 && recipe->n_parts <= SHOAL_PARTS_MAX;
}

static const shoal_compound *compound_of_strings(const shoal_recipe *recipe)
{
    const shoal_compound *compound = shoal_compound_by_id(recipe->mechanism);
    return compound != NULL && compound->randomize != NULL ? compound : NULL;
}

shoal_err shoal_record_randomize(uint8_t *record, const shoal_recipe *recipe, const uint64_t *items,
                                 uint32_t n_items, const shoal_permanent *permanent, shoal_rng *rng)
{
    if (!is_finished(recipe) || n_items != recipe->n_parts || compound_of_strings(recipe) != NULL)
        return SHOAL_ERR_ARGUMENT;
    for (uint32_t i = 0; i < n_items; i++) {
        if (permanent == NULL && mechanism_of(&recipe->parts[i])->is_permanent)
            return SHOAL_ERR_ARGUMENT;
        if (!shoal_part_has_item(&recipe->parts[i], items[i])) return SHOAL_ERR_RANGE;
    }
    for (uint32_t i = 0; i < n_items; i++) {
        const shoal_part *part = &recipe->parts[i];
        mechanism_of(part)->randomize(record, part, items[i], permanent, rng);
        record += part->record_size;
    }
    return SHOAL_OK;
}

shoal_err shoal_record_randomize_string(uint8_t *record, const shoal_recipe *recipe,
                                        const uint8_t *bytes, size_t len,
                                        const shoal_permanent *permanent, shoal_rng *rng)
{
    const shoal_compound *compound = is_finished(recipe) ? compound_of_strings(recipe) : NULL;
    if (compound == NULL) {
        if (!is_finished(recipe) || recipe->parts[0].domain != SHOAL_DOMAIN_OPEN)
            return SHOAL_ERR_ARGUMENT;
        uint64_t item = shoal_part_item(&recipe->parts[0], bytes, len);
        return shoal_record_randomize(record, recipe, &item, 1, permanent, rng);
    }
    if (permanent == NULL && compound->is_permanent) return SHOAL_ERR_ARGUMENT;
    compound->randomize(record, recipe, bytes, len, permanent, rng);
    return SHOAL_OK;
}

shoal_err shoal_record_randomize_none(uint8_t *record, const shoal_recipe *recipe, shoal_rng *rng)
{
    uint64_t items[SHOAL_PARTS_MAX];
    if (compound_of_strings(recipe) != NULL) // it reads the empty string as "none"
        return shoal_record_randomize_string(record, recipe, (const uint8_t *)"", 0, NULL, rng);
    for (uint32_t i = 0; i < SHOAL_PARTS_MAX; i++) items[i] = SHOAL_ITEM_NONE;
    // The variables of a joint recipe have a "none" of their own, also those of open domains.
    if (recipe->n_parts == 1 && recipe->parts[0].domain == SHOAL_DOMAIN_OPEN)
        items[0] = shoal_rng_u64(rng);
    return shoal_record_randomize(record, recipe, items, recipe->n_parts, NULL, rng);
}

shoal_err shoal_record_check(const shoal_recipe *recipe, const uint8_t *record)
{
    if (!is_finished(recipe)) return SHOAL_ERR_ARGUMENT;
    for (uint32_t i = 0; i < recipe->n_parts; i++) {
        const shoal_part *part = &recipe->parts[i];
        shoal_err err = mechanism_of(part)->check(part, record);
        if (err != SHOAL_OK) return err;
        record += part->record_size;
    }
    return SHOAL_OK;
}

shoal_err shoal_record_to_text(char *text, size_t cap, const shoal_recipe *recipe,
                               const uint8_t *record)
{
    if (!is_finished(recipe)) return SHOAL_ERR_ARGUMENT;
    if (cap < recipe->text_size) return SHOAL_ERR_SPACE;
    for (uint32_t i = 0; i < recipe->n_parts; i++) {
        const shoal_part *part = &recipe->parts[i];
        if (i > 0) *text++ = ';';
        mechanism_of(part)->print(text, part, record);
        text += part->text_size;
        record += part->record_size;
    }
    return SHOAL_OK;
}

static shoal_err read_parts(uint8_t *record, const shoal_recipe *recipe, const char *text,
                            size_t *position)
{
    size_t start = 0, at = 0;
    for (uint32_t i = 0; i < recipe->n_parts; i++) {
        const shoal_part *part = &recipe->parts[i];
        if (i > 0 && text[start++] != ';') {
            *position = start - 1;
            return SHOAL_ERR_TYPE;
        }
        shoal_err err = mechanism_of(part)->parse(record, part, text + start, &at);
        if (err == SHOAL_OK) err = mechanism_of(part)->check(part, record);
        if (err != SHOAL_OK) {
            *position = start + at;
            return err;
        }
        start += part->text_size;
        record += part->record_size;
    }
    return SHOAL_OK;
}

shoal_err shoal_record_from_text(uint8_t *record, const shoal_recipe *recipe, const char *text,
                                 size_t len, size_t *position)
{
    size_t ignored;
    if (position == NULL) position = &ignored;
    *position = 0;
    if (!is_finished(recipe)) return SHOAL_ERR_ARGUMENT;
    if (len != recipe->text_size) {
        *position = len < recipe->text_size ? len : recipe->text_size;
        return len < recipe->text_size ? SHOAL_ERR_TRUNCATED : SHOAL_ERR_EXTRA;
    }
    shoal_err err = read_parts(record, recipe, text, position);
    if (err != SHOAL_OK)
        memset(record, 0, recipe->record_size); // half a record must not pass for a whole one
    return err;
}
