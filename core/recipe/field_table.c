// SPDX-License-Identifier: Apache-2.0
// Sets scalar fields; see field_table.h.
#include "field_table.h"

#include <string.h>

#include "field_text.h"
#include "name.h"
#include "sentence.h"

static bool is_wide(const shoal_field *f)
{
    return f->kind >= FIELD_COUNT;
}

uint64_t shoal_field_get(const shoal_field *f, const void *at)
{
    uint32_t narrow;
    uint64_t wide;
    const uint8_t *from = (const uint8_t *)at + f->offset;
    memcpy(&narrow, from, sizeof narrow);
    if (!is_wide(f)) return narrow;
    memcpy(&wide, from, sizeof wide);
    return wide;
}

void shoal_field_put(const shoal_field *f, void *at, uint64_t number)
{
    uint32_t narrow = (uint32_t)number;
    uint8_t *to = (uint8_t *)at + f->offset;
    if (is_wide(f))
        memcpy(to, &number, sizeof number);
    else
        memcpy(to, &narrow, sizeof narrow);
}

const shoal_choice *shoal_find_choice(const shoal_choice *choices, const char *text, size_t len)
{
    for (const shoal_choice *c = choices; c->name != NULL; c++)
        if (shoal_text_equal(c->name, text, len)) return c;
    return NULL;
}

// ---- from a number ----

shoal_err shoal_field_set_number(const shoal_field *f, void *at, int64_t micro, const char **why)
{
    uint64_t number = (uint64_t)micro, min = f->min, max = f->max;
    *why = f->kind == FIELD_LIST ? SHOAL_SENTENCE("must be a list")
                                 : SHOAL_SENTENCE("must be a string");
    if (f->kind < FIELD_INTEGER) return SHOAL_ERR_TYPE;
    if (f->kind != FIELD_SIGNED) {
        *why = SHOAL_SENTENCE("must not be negative");
        if (micro < 0) return SHOAL_ERR_RANGE;
        if (f->kind == FIELD_COUNT) max = FIELD_COUNT_MAX;
        if (f->kind != FIELD_MICRO) {
            *why = SHOAL_SENTENCE("must be a whole number");
            if (number % 1000000 != 0) return SHOAL_ERR_TYPE;
            number /= 1000000;
        }
        *why = SHOAL_SENTENCE("is outside its range");
        if (number < min || number > max) return SHOAL_ERR_RANGE;
    }
    shoal_field_put(f, at, number);
    return SHOAL_OK;
}

// ---- from a string ----

shoal_err shoal_parse_bytes(uint8_t bytes[32], const char *text, size_t len, const char **why)
{
    uint8_t any = 0;
    *why = SHOAL_SENTENCE("must be 64 lower-case hex digits");
    if (len != 64 || shoal_parse_hex(bytes, 32, &text) != SHOAL_OK) return SHOAL_ERR_TYPE;
    for (size_t i = 0; i < 32; i++) any |= bytes[i];
    *why = SHOAL_SENTENCE("must not be all zeros");
    return any ? SHOAL_OK : SHOAL_ERR_RANGE;
}

static bool is_leap(uint32_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static uint32_t month_days(uint32_t year, uint32_t month)
{
    static const uint8_t days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year) ? 1u : 0u);
}

static shoal_err parse_day(uint32_t *days, const char *text, size_t len, const char **why)
{
    uint32_t year, month, day;
    const char *rest = text;
    *why = SHOAL_SENTENCE("must be a date YYYY-MM-DD");
    if (len != 10 || shoal_parse_decimal(&year, &rest, 4, 10000) != SHOAL_OK ||
        shoal_parse_char('-', &rest) != SHOAL_OK ||
        shoal_parse_decimal(&month, &rest, 2, 100) != SHOAL_OK ||
        shoal_parse_char('-', &rest) != SHOAL_OK ||
        shoal_parse_decimal(&day, &rest, 2, 100) != SHOAL_OK)
        return SHOAL_ERR_TYPE;
    *why = SHOAL_SENTENCE("is not a date");
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > month_days(year, month))
        return SHOAL_ERR_RANGE;
    *days = day - 1;
    for (uint32_t y = 1970; y < year; y++) *days += is_leap(y) ? 366 : 365;
    for (uint32_t m = 1; m < month; m++) *days += month_days(year, m);
    return SHOAL_OK;
}

static shoal_err parse_delta(uint32_t *exponent, const shoal_field *f, const char *text, size_t len,
                             const char **why)
{
    const char *rest = text + 3;
    *why = SHOAL_SENTENCE("must be written 1e-K");
    if (len < 4 || len > 5 || memcmp(text, "1e-", 3) != 0 || text[3] == '0' ||
        shoal_parse_decimal(exponent, &rest, (uint32_t)len - 3, 100) != SHOAL_OK)
        return SHOAL_ERR_TYPE;
    *why = SHOAL_SENTENCE("must be 1e-3 to 1e-15");
    return *exponent >= f->min && *exponent <= f->max ? SHOAL_OK : SHOAL_ERR_RANGE;
}

static shoal_err parse_choice(uint32_t *number, const shoal_field *f, const char *text, size_t len,
                              const char **why)
{
    const shoal_choice *c = shoal_find_choice(f->choices, text, len);
    *why = SHOAL_SENTENCE("is none of the known names");
    if (c == NULL) return SHOAL_ERR_TYPE;
    *number = c->number;
    return SHOAL_OK;
}

shoal_err shoal_field_set_string(const shoal_field *f, void *at, const char *text, size_t len,
                                 const char **why)
{
    uint32_t number = 0;
    uint8_t *to = (uint8_t *)at + f->offset;
    shoal_err err = SHOAL_ERR_TYPE;
    *why = f->kind == FIELD_LIST ? SHOAL_SENTENCE("must be a list")
                                 : SHOAL_SENTENCE("must be a number");
    switch (f->kind) {
    case FIELD_NAME: return shoal_name_set((shoal_name *)(void *)to, text, len, why);
    case FIELD_BYTES: return shoal_parse_bytes(to, text, len, why);
    case FIELD_CHOICE: err = parse_choice(&number, f, text, len, why); break;
    case FIELD_DAY: err = parse_day(&number, text, len, why); break;
    case FIELD_DELTA: err = parse_delta(&number, f, text, len, why); break;
    default: break;
    }
    if (err == SHOAL_OK) shoal_field_put(f, at, number);
    return err;
}
