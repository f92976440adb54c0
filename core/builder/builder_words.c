// SPDX-License-Identifier: Apache-2.0
// Sets the fields parameters.alphabet (rappor-ngram) and parameters.known (trie).
#include "builder_fields.h"

static const char path_of_alphabet[] = "parameters.alphabet", path_of_known[] = "parameters.known";

// Inserts a byte in ascending order. Characters of several bytes may share a byte, which is added
// once.
static void add_byte(shoal_recipe *recipe, uint8_t byte)
{
    uint32_t at = recipe->alphabet_len;
    while (at > 0 && recipe->alphabet[at - 1] > byte) at--;
    if (at > 0 && recipe->alphabet[at - 1] == byte) return;
    for (uint32_t i = recipe->alphabet_len++; i > at; i--)
        recipe->alphabet[i] = recipe->alphabet[i - 1];
    recipe->alphabet[at] = byte;
}

static shoal_err set_alphabet(shoal_recipe_builder *builder, const char *path, size_t path_len,
                              const char *string, size_t len)
{
    const uint8_t *text = (const uint8_t *)string;
    const shoal_recipe_row *row;
    shoal_err err = shoal_builder_state(&row, builder, path, path_len);
    if (err != SHOAL_OK) return err;
    if (len < 1 || len > SHOAL_ALPHABET_MAX)
        return shoal_builder_refuse(builder, path_of_alphabet, SHOAL_ERR_RANGE,
                                    "must have 1 to 128 bytes");
    for (size_t i = 0; i < len; i++)
        if (text[i] < ' ' || text[i] == 0x7f || (i > 0 && text[i] < 0x80 && text[i] <= text[i - 1]))
            return shoal_builder_refuse(
                builder, path_of_alphabet, SHOAL_ERR_TYPE,
                "must hold characters that print, each above the one before");
    for (size_t i = 0; i < len; i++) add_byte(&builder->recipe, text[i]);
    return SHOAL_OK;
}

static shoal_err add_known(shoal_recipe_builder *builder, const char *path, size_t path_len,
                           const char *text, size_t len)
{
    shoal_list *known = &builder->recipe.known;
    if (path_len != sizeof path_of_known - 1)
        return shoal_builder_refuse(builder, NULL, SHOAL_ERR_UNKNOWN_FIELD,
                                    "is not a list of a recipe");
    (void)path;
    shoal_err err = shoal_builder_state_list(builder, path_of_known, known->count == 0);
    if (err != SHOAL_OK) return err;
    if (known->count == SHOAL_KNOWN_MAX)
        return shoal_builder_refuse(builder, path_of_known, SHOAL_ERR_RANGE,
                                    "holds more than 131072 words");
    if (len < 1 || len > SHOAL_VALUE_MAX)
        return shoal_builder_refuse(builder, path_of_known, SHOAL_ERR_RANGE,
                                    "holds a word that is empty or over 256 bytes");
    for (size_t i = 0; i < len; i++)
        if ((uint8_t)text[i] <= ' ' || text[i] == 0x7f)
            return shoal_builder_refuse(builder, path_of_known, SHOAL_ERR_TYPE,
                                        "holds a space or a control character");
    shoal_list_add(known, text, len);
    return SHOAL_OK;
}

const shoal_setter shoal_alphabet_setter = {.set_string = set_alphabet,
                                            .set_number = shoal_builder_refuse_number};
const shoal_setter shoal_known_setter = {.add_text = add_known};
