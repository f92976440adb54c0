// SPDX-License-Identifier: Apache-2.0
// Property: a text record that is accepted is printed back as exactly the same text, and its bytes pass the check.
#include "fuzz_recipe.h"
#include "record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static uint8_t record[1024];
    static char text[1024];
    shoal_recipe recipe;
    size_t position = 0;
    if (len < 1) return 0;
    fuzz_recipe(&recipe, data[0]);
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
