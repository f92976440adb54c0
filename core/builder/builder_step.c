// SPDX-License-Identifier: Apache-2.0
// Sets encoding.N.step, the number of characters that a round of a trie asks for.
#include "builder_step.h"

#include "builder_fields.h"
#include "encoding_characters.h"

shoal_err shoal_builder_set_step(shoal_recipe_builder *builder, const char *path, size_t path_len,
                                 int64_t micro)
{
    const char *rest, *why = SHOAL_SENTENCE("must be from 1 to 4 characters");
    size_t n;
    uint32_t index = shoal_path_entry("encoding", path, path_len, &rest, &n);
    if (index == UINT32_MAX || !shoal_text_equal("step", rest, n))
        return shoal_builder_scalar_number(builder, path, path_len, micro);
    bool is_step =
        micro >= 1000000 && micro <= 1000000 * (int64_t)SHOAL_STEP_MAX && micro % 1000000 == 0;
    shoal_err err = is_step ? shoal_encoding_set_step(&builder->recipe.encoding, index,
                                                      (uint32_t)(micro / 1000000), &why)
                            : SHOAL_ERR_RANGE;
    return shoal_builder_answer(builder, "encoding.N.step", err, why);
}
