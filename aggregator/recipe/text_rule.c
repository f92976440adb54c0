// SPDX-License-Identifier: Apache-2.0
// The recipe's text rule and the cutting into tokens; see text_rule.h.
#include "text_rule.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "recipe.h"
#include "text_case.h"

static bool is_composed(const char *bytes, size_t len)
{
    utf8proc_uint8_t *composed = NULL;
    utf8proc_ssize_t n = utf8proc_map((const utf8proc_uint8_t *)bytes, (utf8proc_ssize_t)len,
                                      &composed, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    bool is_same = n == (utf8proc_ssize_t)len && memcmp(bytes, composed, len) == 0;
    free(composed);
    return is_same;
}

bool agg_text_rule_is_applied(const shoal_recipe *recipe)
{
    return recipe->text_locale.len > 0 || recipe->text_case == SHOAL_CASE_FOLD;
}

bool agg_text_rule_keeps_case(const shoal_recipe *recipe)
{
    return recipe->text_case == SHOAL_CASE_KEEP;
}

// Most texts of a list are plain lower-case ASCII, which every rule leaves alone.
static bool is_plain(const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)bytes[i] >= 0x80 || (bytes[i] >= 'A' && bytes[i] <= 'Z')) return false;
    return true;
}

static bool is_unchanged(const shoal_recipe *recipe, const char *bytes, size_t len)
{
    char ruled[AGG_RULED_TEXT_MAX];
    size_t n = 0;
    if (is_plain(bytes, len)) return len >= recipe->text_min && len <= recipe->text_max;
    return agg_text_apply(ruled, &n, recipe, (agg_text){bytes, len}) && n == len &&
           memcmp(ruled, bytes, len) == 0;
}

bool agg_text_is_kept(const shoal_recipe *recipe, const char *bytes, size_t len)
{
    if (agg_text_rule_is_applied(recipe)) return is_unchanged(recipe, bytes, len);
    const utf8proc_uint8_t *at = (const utf8proc_uint8_t *)bytes;
    size_t left = len, points = 0;
    bool is_ascii = true;
    while (left > 0) {
        utf8proc_int32_t point = 0;
        utf8proc_ssize_t used = utf8proc_iterate(at, (utf8proc_ssize_t)left, &point);
        if (used <= 0) return false;
        // Devices apply the full lower-casing, which keeps every character that the simple one
        // keeps.
        if (recipe->text_case == SHOAL_CASE_LOWER && utf8proc_tolower(point) != point) return false;
        is_ascii &= point < 0x80;
        at += used;
        left -= (size_t)used;
        points++;
    }
    if (points < recipe->text_min || points > recipe->text_max) return false;
    return is_ascii || recipe->text_form != SHOAL_FORM_NFC || is_composed(bytes, len);
}

static bool is_space(int32_t point)
{
    return (point >= 9 && point <= 13) || point == ' ' || point == 0xa0 || point == 0x1680 ||
           (point >= 0x2000 && point <= 0x200a) || point == 0x2028 || point == 0x2029 ||
           point == 0x202f || point == 0x205f || point == 0x3000 || point == 0xfeff;
}

// Returns: the number of bytes of the first character if its kind (white space or not) is the one
// asked for; 0 if it is of the other kind or the text is empty.
static size_t next_of(bool space, agg_text text)
{
    utf8proc_int32_t point = -1;
    if (text.len == 0) return 0;
    utf8proc_ssize_t used =
        utf8proc_iterate((const utf8proc_uint8_t *)text.bytes, (utf8proc_ssize_t)text.len, &point);
    if (used <= 0) used = 1;
    return is_space(point) == space ? (size_t)used : 0;
}

bool agg_text_take_token(agg_text *token, agg_text *text)
{
    for (size_t used; (used = next_of(true, *text)) > 0; text->bytes += used, text->len -= used) {
    }
    *token = (agg_text){text->bytes, 0};
    for (size_t used; (used = next_of(false, *text)) > 0; text->bytes += used, text->len -= used)
        token->len += used;
    return token->len > 0;
}

bool agg_tokens_are_kept(size_t *joined, const shoal_recipe *recipe, agg_text text)
{
    agg_text token;
    *joined = 0;
    while (agg_text_take_token(&token, &text)) {
        if (!agg_text_is_kept(recipe, token.bytes, token.len)) return false;
        *joined += (*joined > 0) + token.len;
    }
    return true;
}

bool agg_entry_is_kept(const shoal_recipe *recipe, agg_text entry, bool is_tokens)
{
    size_t joined = 0;
    if (!is_tokens) return agg_text_is_kept(recipe, entry.bytes, entry.len);
    return agg_tokens_are_kept(&joined, recipe, entry) && joined == entry.len;
}
