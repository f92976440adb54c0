// SPDX-License-Identifier: Apache-2.0
// Normalizes texts and changes their case; see text_case.h. utf8proc has normalization, folding and
// the simple lower case of a character; the conditions of Unicode's SpecialCasing are here.
#include "text_case.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "recipe.h"

#define DOT_ABOVE 0x307
#define ABOVE 230 // canonical combining class of marks above
#define GROWTH 3u // characters of one character's lower case at most

typedef enum language {
    LANGUAGE_NONE,
    LANGUAGE_OTHER,
    LANGUAGE_TURKIC,
    LANGUAGE_LITHUANIAN
} language;

static language language_of(const shoal_name *locale)
{
    static const struct {
        const char *code;
        language language;
    } codes[] = {{"tr", LANGUAGE_TURKIC},     {"tur", LANGUAGE_TURKIC},
                 {"az", LANGUAGE_TURKIC},     {"aze", LANGUAGE_TURKIC},
                 {"lt", LANGUAGE_LITHUANIAN}, {"lit", LANGUAGE_LITHUANIAN}};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (strlen(codes[i].code) == locale->len &&
            memcmp(codes[i].code, locale->bytes, locale->len) == 0)
            return codes[i].language;
    return locale->len > 0 ? LANGUAGE_OTHER : LANGUAGE_NONE;
}

// A text as code points.
typedef struct points {
    const int32_t *at;
    size_t n;
} points;

typedef struct point_range {
    int32_t first, last;
} point_range;

static bool is_in(int32_t point, const point_range *ranges, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (point >= ranges[i].first && point <= ranges[i].last) return true;
    return false;
}

// Returns: whether the character has Unicode's property Case_Ignorable.
static bool is_case_ignorable(int32_t point)
{
    // Characters of the word breaks MidLetter, MidNumLet and Single_Quote.
    static const point_range others[] = {
        {0x27, 0x27},     {0x2e, 0x2e},     {0x3a, 0x3a},     {0xb7, 0xb7},
        {0x387, 0x387},   {0x55f, 0x55f},   {0x5f4, 0x5f4},   {0x2018, 0x2019},
        {0x2024, 0x2024}, {0x2027, 0x2027}, {0xfe13, 0xfe13}, {0xfe52, 0xfe52},
        {0xfe55, 0xfe55}, {0xff07, 0xff07}, {0xff0e, 0xff0e}, {0xff1a, 0xff1a}};
    utf8proc_category_t category = utf8proc_category(point);
    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME ||
           category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_LM ||
           category == UTF8PROC_CATEGORY_SK ||
           is_in(point, others, sizeof others / sizeof others[0]);
}

// Returns: whether the character has Unicode's property Cased. Only asked about characters that
// are not ignorable, so modifier letters are not listed.
static bool is_cased(int32_t point)
{
    // Other_Lowercase and Other_Uppercase.
    static const point_range others[] = {{0xaa, 0xaa},      {0xba, 0xba},       {0x2160, 0x217f},
                                         {0x24b6, 0x24e9},  {0x1f130, 0x1f149}, {0x1f150, 0x1f169},
                                         {0x1f170, 0x1f189}};
    utf8proc_category_t category = utf8proc_category(point);
    return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL ||
           category == UTF8PROC_CATEGORY_LT ||
           is_in(point, others, sizeof others / sizeof others[0]);
}

// Final_Sigma: a cased letter comes before, and none after; ignorable characters do not count.
static bool is_final(points text, size_t i)
{
    size_t before = i, after = i + 1;
    while (before > 0 && is_case_ignorable(text.at[before - 1])) before--;
    while (after < text.n && is_case_ignorable(text.at[after])) after++;
    return before > 0 && is_cased(text.at[before - 1]) &&
           !(after < text.n && is_cased(text.at[after]));
}

static int class_of(int32_t point)
{
    return utf8proc_get_property(point)->combining_class;
}

// Returns: the index of the first character after i that is a base or a mark above; text.n if there
// is none.
static size_t next_above(points text, size_t i)
{
    for (i++; i < text.n; i++)
        if (class_of(text.at[i]) == 0 || class_of(text.at[i]) == ABOVE) break;
    return i;
}

// More_Above: a mark above follows, with no base and no other mark above between.
static bool has_more_above(points text, size_t i)
{
    size_t next = next_above(text, i);
    return next < text.n && class_of(text.at[next]) == ABOVE;
}

// Before_Dot: a combining dot above follows, with no base and no other mark above between.
static bool is_before_dot(points text, size_t i)
{
    size_t next = next_above(text, i);
    return next < text.n && text.at[next] == DOT_ABOVE;
}

// After_I: an I comes before, with no base and no mark above between.
static bool is_after_i(points text, size_t i)
{
    while (i > 0) {
        i--;
        if (text.at[i] == 'I') return true;
        if (class_of(text.at[i]) == 0 || class_of(text.at[i]) == ABOVE) return false;
    }
    return false;
}

// Writes the lower case of one character where Turkish and Azeri differ. Returns: the number of
// characters, or -1 where they do not.
static int lower_turkic(int32_t *out, points text, size_t i)
{
    switch (text.at[i]) {
    case 0x130: *out = 'i'; return 1;
    case 'I': *out = is_before_dot(text, i) ? 'i' : 0x131; return 1;
    case DOT_ABOVE: return is_after_i(text, i) ? 0 : -1;
    default: return -1;
    }
}

// Writes the lower case of one character where Lithuanian differs, as lower_turkic does. It keeps
// the dot of an i under further accents. The capital I with a dot is no letter of Lithuanian.
static int lower_lithuanian(int32_t *out, points text, size_t i)
{
    int32_t point = text.at[i];
    switch (point) {
    case 0x130: *out = 'i'; return 1;
    case 0xcc:
    case 0xcd:
    case 0x128:
        out[0] = 'i';
        out[1] = DOT_ABOVE;
        out[2] = point == 0xcc ? 0x300 : point == 0xcd ? 0x301 : 0x303;
        return 3;
    case 'I':
    case 'J':
    case 0x12e:
        if (!has_more_above(text, i)) return -1;
        out[0] = utf8proc_tolower(point);
        out[1] = DOT_ABOVE;
        return 2;
    default: return -1;
    }
}

static int lower_default(int32_t *out, points text, size_t i)
{
    out[0] = utf8proc_tolower(text.at[i]);
    if (text.at[i] == 0x3a3) out[0] = is_final(text, i) ? 0x3c2 : 0x3c3;
    if (text.at[i] != 0x130) return 1;
    out[1] = DOT_ABOVE;
    return 2;
}

// Drops the combining dots that follow an i. Returns: the number of characters left.
static size_t drop_dots(int32_t *text, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (text[i] != DOT_ABOVE || kept == 0 || text[kept - 1] != 'i') text[kept++] = text[i];
    return kept;
}

// Writes the lower case of a text. Returns: the number of characters, at most GROWTH of each.
static size_t lower_points(int32_t *out, points text, language own)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        int added = own == LANGUAGE_TURKIC       ? lower_turkic(out + n, text, i)
                    : own == LANGUAGE_LITHUANIAN ? lower_lithuanian(out + n, text, i)
                                                 : -1;
        if (added < 0) added = lower_default(out + n, text, i);
        n += (size_t)added;
    }
    return own == LANGUAGE_OTHER || own == LANGUAGE_TURKIC ? drop_dots(out, n) : n;
}

// A text in memory of its own.
typedef struct own_text {
    uint8_t *bytes;
    utf8proc_ssize_t len;
} own_text;

// Replaces a text by its image under utf8proc_map. Returns: false without valid UTF-8 or memory.
static bool map(own_text *text, utf8proc_option_t options)
{
    own_text mapped = {NULL, 0};
    mapped.len = utf8proc_map(text->bytes, text->len, &mapped.bytes, options);
    if (mapped.len < 0) return false;
    free(text->bytes);
    *text = mapped;
    return true;
}

static bool lower(own_text *text, language own)
{
    size_t n = (size_t)text->len; // characters are no more than bytes
    int32_t *from = malloc((n + 1) * sizeof *from);
    int32_t *to = malloc((n * GROWTH + 1) * sizeof *to); // with room for the NUL of the bytes
    bool is_done = false;
    if (from != NULL && to != NULL) {
        utf8proc_ssize_t count = utf8proc_decompose(text->bytes, text->len, from, text->len, 0);
        if (count >= 0) {
            size_t lowered = lower_points(to, (points){from, (size_t)count}, own);
            text->len = utf8proc_reencode(to, (utf8proc_ssize_t)lowered, 0);
            free(text->bytes);
            text->bytes = (uint8_t *)to;
            to = NULL;
            is_done = text->len >= 0;
        }
    }
    free(from);
    free(to);
    return is_done;
}

static bool change_case(own_text *text, const shoal_recipe *recipe)
{
    bool is_nfc = recipe->text_form == SHOAL_FORM_NFC;
    language own = language_of(&recipe->text_locale);
    switch (recipe->text_case) {
    case SHOAL_CASE_LOWER:
        return lower(text, own) &&
               (own == LANGUAGE_NONE || !is_nfc || map(text, UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    case SHOAL_CASE_FOLD:
        return is_nfc ? map(text, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE) &&
                            map(text, UTF8PROC_STABLE | UTF8PROC_CASEFOLD | UTF8PROC_COMPOSE)
                      : map(text, UTF8PROC_STABLE | UTF8PROC_CASEFOLD);
    default: return true;
    }
}

// Returns: the number of characters of valid UTF-8.
static size_t count_points(const own_text *text)
{
    size_t n = 0;
    for (utf8proc_ssize_t i = 0; i < text->len; i++) n += (text->bytes[i] & 0xc0) != 0x80;
    return n;
}

bool agg_text_apply(char out[AGG_RULED_TEXT_MAX], size_t *len, const shoal_recipe *recipe,
                    agg_text text)
{
    own_text own = {malloc(text.len + 1), (utf8proc_ssize_t)text.len};
    bool is_nfc = recipe->text_form == SHOAL_FORM_NFC, is_counted = false;
    if (own.bytes == NULL) return false;
    memcpy(own.bytes, text.bytes, text.len);
    if (map(&own, is_nfc ? UTF8PROC_STABLE | UTF8PROC_COMPOSE : 0) && change_case(&own, recipe)) {
        size_t n = count_points(&own);
        is_counted =
            n >= recipe->text_min && n <= recipe->text_max && (size_t)own.len <= AGG_RULED_TEXT_MAX;
    }
    if (is_counted) {
        memcpy(out, own.bytes, (size_t)own.len);
        *len = (size_t)own.len;
    }
    free(own.bytes);
    return is_counted;
}
