// SPDX-License-Identifier: Apache-2.0
// Property: a text is split exactly where it is a record of its recipe and no honest one would be
// refused for its weight; what is refused leaves zeros, and a measurement is one that Prio3 takes.
#include "fuzz_recipe.h"
#include "record.h"
#include "split.h"

#define LENGTH_MAX 5000u // entries: longer vectors read their texts by the same code
#define RECORD_MAX ((size_t)1 << 17)

// Returns: how the choice's recipe is split, or NULL where it is not.
static const shoal_split *split_of(const shoal_recipe *recipe, uint8_t choice)
{
    static shoal_split made[256];
    static char is_made[256];
    const char *why;
    if (recipe->n_parts != 1 || recipe->n_variables > 0 ||
        shoal_mechanism_by_id(recipe->mechanism) == NULL)
        return NULL;
    if (!is_made[choice] && shoal_split_init(&made[choice], &recipe->parts[0], &why) != SHOAL_OK)
        made[choice].prio3.length = UINT32_MAX;
    is_made[choice] = 1;
    return made[choice].prio3.length <= LENGTH_MAX ? &made[choice] : NULL;
}

size_t fuzz_seed(uint8_t *out, size_t cap, size_t index)
{
    static uint8_t record[RECORD_MAX];
    uint8_t seed[32] = {2};
    shoal_recipe recipe;
    shoal_rng rng;
    const sample *s = sample_number(index).sample;
    if (s == NULL || index > UINT8_MAX) return 0;
    fuzz_recipe(&recipe, (uint8_t)index);
    if (split_of(&recipe, (uint8_t)index) == NULL || 1 + recipe.text_size > cap) return 0;
    shoal_rng_init(&rng, seed);
    fuzz_randomize(record, &recipe, s->value, &rng);
    out[0] = (uint8_t)index;
    PROPERTY(shoal_record_to_text((char *)out + 1, cap - 1, &recipe, record) == SHOAL_OK);
    return 1 + recipe.text_size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static uint8_t record[RECORD_MAX];
    uint64_t measurement[LENGTH_MAX];
    shoal_recipe recipe;
    if (len < 1) return 0;
    fuzz_recipe(&recipe, data[0]);
    const shoal_split *split = split_of(&recipe, data[0]);
    if (split == NULL) return 0;
    const char *text = (const char *)data + 1;
    int is_record = shoal_record_from_text(record, &recipe, text, len - 1, NULL) == SHOAL_OK;
    shoal_err err = shoal_split_text(measurement, split, text, len - 1);
    PROPERTY(err == SHOAL_OK || err == (is_record ? SHOAL_ERR_RANGE : SHOAL_ERR_RECORD));
    PROPERTY(is_record || err != SHOAL_OK);
    const int is_index = split->prio3.circuit == SHOAL_CIRCUIT_HISTOGRAM;
    uint64_t weight = 0;
    for (size_t i = 0; i < shoal_split_words(split); i++) {
        PROPERTY(measurement[i] < (is_index ? split->prio3.length : 2));
        weight += measurement[i];
    }
    PROPERTY(err == SHOAL_OK ? is_index || weight <= split->prio3.max : weight == 0);
    return 0;
}
