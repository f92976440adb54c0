// SPDX-License-Identifier: Apache-2.0
// Property: a text record that is accepted is printed back as exactly the same text, and its bytes
// pass the check.
#include "fuzz_recipe.h"
#include "record.h"

#define RECORD_MAX ((size_t)1 << 17)

size_t fuzz_seed(uint8_t *out, size_t cap, size_t index)
{
    static uint8_t record[RECORD_MAX];
    uint8_t seed[32] = {1};
    shoal_recipe recipe;
    shoal_rng rng;
    const sample *s = sample_number(index).sample;
    if (s == NULL || index > UINT8_MAX) return 0;
    fuzz_recipe(&recipe, (uint8_t)index);
    if (1 + recipe.text_size > cap) return 0;
    shoal_rng_init(&rng, seed);
    fuzz_randomize(record, &recipe, s->value, &rng);
    out[0] = (uint8_t)index;
    PROPERTY(shoal_record_to_text((char *)out + 1, cap - 1, &recipe, record) == SHOAL_OK);
    return 1 + recipe.text_size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static uint8_t record[RECORD_MAX];
    static char text[2 * RECORD_MAX];
    shoal_recipe recipe;
    size_t position = 0;
    if (len < 1) return 0;
    fuzz_recipe(&recipe, data[0]);
    PROPERTY(recipe.record_size <= sizeof record && recipe.text_size <= sizeof text);
    const char *input = (const char *)data + 1;
    if (shoal_record_from_text(record, &recipe, input, len - 1, &position) != SHOAL_OK) {
        PROPERTY(position <= len - 1);
        return 0;
    }
    PROPERTY(len - 1 == recipe.text_size);
    PROPERTY(shoal_record_check(&recipe, record) == SHOAL_OK);
    PROPERTY(shoal_record_to_text(text, sizeof text, &recipe, record) == SHOAL_OK);
    PROPERTY(memcmp(text, input, len - 1) == 0);
    return 0;
}
