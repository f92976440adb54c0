// SPDX-License-Identifier: Apache-2.0
// The lists of characters of an encoding; see encoding_characters.h.
#include "encoding_characters.h"

#include "sentence.h"

// Counts the characters of a text: printable code points of well-formed UTF-8. Returns: their
// number, or SHOAL_NOT_LISTED for a text that holds anything else.
static uint32_t count_characters(const char *text, size_t len)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    uint32_t n = 0;
    for (size_t i = 0; i < len; n++) {
        uint8_t c = (uint8_t)text[i++];
        uint32_t more = c < 0xc0   ? 0
                        : c < 0xe0 ? 1
                        : c < 0xf0 ? 2
                                   : 3,
                 point = c & (0x7fu >> more >> (more > 0));
        if (c <= ' ' || c == 0x7f || (c >= 0x80 && c < 0xc2) || c > 0xf4 || more > len - i)
            return SHOAL_NOT_LISTED;
        for (uint32_t j = 0; j < more; j++) {
            c = (uint8_t)text[i++];
            if (c >> 6 != 2) return SHOAL_NOT_LISTED;
            point = point << 6 | (c & 0x3f);
        }
        if (point < least[more] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
            return SHOAL_NOT_LISTED;
        if (point >= 0x80 && point < 0xa0) return SHOAL_NOT_LISTED;
    }
    return n;
}

static shoal_err add_start(shoal_encoded *field, const char *text, size_t len, const char **why)
{
    uint32_t depth = count_characters(text, len);
    *why = SHOAL_SENTENCE("holds what is not the start of a word: printing characters, no space");
    if (depth == SHOAL_NOT_LISTED) return SHOAL_ERR_TYPE;
    *why = SHOAL_SENTENCE("holds a start of more than 64 characters");
    if (depth > SHOAL_DEPTH_MAX) return SHOAL_ERR_RANGE;
    *why = SHOAL_SENTENCE("holds starts of different lengths");
    if (field->prefixes.count > 0 && depth != field->depth) return SHOAL_ERR_RANGE;
    *why = SHOAL_SENTENCE("holds the empty start twice");
    if (field->prefixes.count > 0 && depth == 0) return SHOAL_ERR_DUPLICATE;
    field->depth = depth;
    shoal_list_add(&field->prefixes, text, len);
    return SHOAL_OK;
}

static shoal_err add_character(shoal_encoded *field, const char *text, size_t len, const char **why)
{
    *why = SHOAL_SENTENCE("holds what is not one printing character");
    if (count_characters(text, len) != 1) return SHOAL_ERR_TYPE;
    shoal_list_add(&field->tokens, text, len);
    return SHOAL_OK;
}

shoal_err shoal_encoding_add_characters(shoal_encoding *encoding, uint32_t index,
                                        enum shoal_encoded_list list, const char *text, size_t len,
                                        const char **why)
{
    shoal_encoded *field = shoal_encoding_at(encoding, index, why);
    if (field == NULL) return SHOAL_ERR_RANGE;
    bool is_start = list == SHOAL_LIST_STARTS;
    uint32_t count = is_start ? field->prefixes.count : field->tokens.count;
    *why = SHOAL_SENTENCE("holds too many entries, or one over 256 bytes");
    if (len > SHOAL_TOKEN_TEXT_MAX || count == SHOAL_LIST_MAX) return SHOAL_ERR_RANGE;
    *why = SHOAL_SENTENCE("mixes starts and characters with prefixes and tokens");
    if (!field->is_word && field->prefixes.count + field->tokens.count > 0)
        return SHOAL_ERR_DUPLICATE;
    field->is_word = true; // the first entry decides the kind of the field's lists
    return is_start ? add_start(field, text, len, why) : add_character(field, text, len, why);
}

shoal_err shoal_encoding_set_step(shoal_encoding *encoding, uint32_t index, uint32_t step,
                                  const char **why)
{
    shoal_encoded *field = shoal_encoding_at(encoding, index, why);
    if (field == NULL) return SHOAL_ERR_RANGE;
    *why = SHOAL_SENTENCE("is given twice");
    if (field->step != 0) return SHOAL_ERR_DUPLICATE;
    *why = SHOAL_SENTENCE("must be from 1 to 4 characters");
    if (step < 1 || step > SHOAL_STEP_MAX) return SHOAL_ERR_RANGE;
    field->step = step;
    return SHOAL_OK;
}
