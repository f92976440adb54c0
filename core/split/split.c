// SPDX-License-Identifier: Apache-2.0
// Splits records into measurements of Prio3; see split.h. This file knows the texts of records by
// the table of split_kind.h, and no randomizer.
#include "split.h"

#include <stdbool.h>

#include "bytes.h"
#include "field_text.h"
#include "split_kind.h"

static const shoal_split_kind *const table[] = {
#define SHOAL_MECHANISM(id, stem, name) &shoal_##stem##_split,
#include "mechanisms.def"
#undef SHOAL_MECHANISM
};

static const shoal_split_kind *kind_of(uint32_t mechanism)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i]->id == mechanism) return table[i];
    return NULL;
}

// Returns the number of values of a field, in entries of the vector; adds the field's characters to
// *text_size.
static uint64_t field_values(uint32_t *text_size, enum split_field field, uint32_t k, uint32_t m)
{
    if (field == SPLIT_BITS) {
        *text_size += 2 * ((m + 7) / 8);
        return m;
    }
    if (field == SPLIT_SET) {
        *text_size += k * (shoal_decimal_width(m) + 1) - 1;
        return m;
    }
    uint32_t values = field == SPLIT_ROW      ? k
                      : field == SPLIT_COLUMN ? m
                      : field == SPLIT_CELL   ? k * m
                                              : 2;
    *text_size += shoal_decimal_width(values);
    return values;
}

// Writes cells, rows and text_size.
// Returns: the entries of the vector, or a number above SHOAL_SPLIT_LENGTH_MAX if there are too
// many.
static uint64_t lay_out(shoal_split *split, const shoal_split_kind *kind)
{
    uint64_t entries = 1;
    split->text_size = 0;
    for (uint32_t i = 0; i < SPLIT_FIELDS && kind->fields[i] != SPLIT_END; i++) {
        split->text_size += i > 0; // a comma
        entries *=
            field_values(&split->text_size, (enum split_field)kind->fields[i], split->k, split->m);
        if (entries > SHOAL_SPLIT_LENGTH_MAX) return entries;
    }
    split->idle = kind->idle;
    split->is_signed = kind->is_signed;
    split->cells = (uint32_t)(entries - split->idle) >> split->is_signed;
    split->rows =
        kind->weight != NULL && kind->fields[0] == SPLIT_ROW && split->k > 1 ? split->k : 0;
    return entries + split->rows;
}

shoal_err shoal_split_init(shoal_split *split, const shoal_part *part, const char **why)
{
    const shoal_split_kind *kind = kind_of(part->mechanism);
    shoal_split made = {.mechanism = part->mechanism, .k = part->k, .m = part->m};
    *why = "the mechanism is unknown";
    if (kind == NULL) return SHOAL_ERR_MECHANISM;
    uint64_t length = lay_out(&made, kind);
    *why = "two servers add up at most 131072 counters: k and m, or size, are too large";
    if (length > SHOAL_SPLIT_LENGTH_MAX) return SHOAL_ERR_RANGE;
    *why = "two servers add up records of a plain recipe only";
    if (made.text_size != part->text_size) return SHOAL_ERR_MECHANISM;
    uint64_t refusal;
    uint32_t weight = kind->weight != NULL ? kind->weight(&refusal, part) + (made.rows > 0) : 0;
    made.prio3 =
        (shoal_prio3_parameters){.circuit = kind->weight != NULL ? SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC
                                                                 : SHOAL_CIRCUIT_HISTOGRAM,
                                 .length = (uint32_t)length,
                                 .max = weight,
                                 .shares = 2,
                                 .proofs = 1};
    shoal_flp flp;
    shoal_err err = shoal_flp_init(&flp, made.prio3.circuit, made.prio3.length, weight, 1);
    *why = "the vector has no proof";
    if (err != SHOAL_OK) return err;
    made.prio3.chunk = shoal_flp_best_chunk(flp.meas_len);
    *split = made;
    return SHOAL_OK;
}

size_t shoal_split_words(const shoal_split *split)
{
    return split->prio3.circuit == SHOAL_CIRCUIT_HISTOGRAM ? 1 : split->prio3.length;
}

uint64_t shoal_split_refusal(const shoal_split *split, const shoal_part *part)
{
    const shoal_split_kind *kind = kind_of(split->mechanism);
    uint64_t refusal = 0;
    if (kind != NULL && kind->weight != NULL) (void)kind->weight(&refusal, part);
    return refusal;
}

// Raises the entries of m bits, the first of which is `first`.
// Returns: false for a character that is not a hex digit or a bit beyond the m-th.
static bool read_bits(uint64_t *measurement, uint32_t first, uint32_t m, const char **at)
{
    for (uint32_t column = 0; column < m; column += 8) {
        uint8_t bits;
        if (shoal_parse_hex(&bits, 1, at) != SHOAL_OK) return false;
        for (uint32_t i = 0; i < 8; i++) {
            if (column + i < m)
                measurement[first + column + i] = bits >> i & 1;
            else if (bits >> i & 1)
                return false;
        }
    }
    return true;
}

// Raises the entries of `count` numbers below m.
// Returns: false if a number is malformed or the numbers do not ascend.
static bool read_set(uint64_t *measurement, uint32_t count, uint32_t m, const char **at)
{
    uint32_t least = 0, number = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && shoal_parse_char(',', at) != SHOAL_OK) return false;
        if (shoal_parse_decimal(&number, at, shoal_decimal_width(m), m) != SHOAL_OK ||
            number < least)
            return false;
        measurement[number] = 1;
        least = number + 1;
    }
    return true;
}

// Reads all fields. Bits and sets raise their entries, and `number` is then the row before them.
// Otherwise `number` is the entry itself.
// Returns: whether the text is a record.
static bool read_fields(uint64_t *measurement, uint32_t *number, const shoal_split *split,
                        const shoal_split_kind *kind, const char *at)
{
    *number = 0;
    for (uint32_t i = 0; i < SPLIT_FIELDS && kind->fields[i] != SPLIT_END; i++) {
        uint32_t value = 0, unused = 0;
        const enum split_field field = (enum split_field)kind->fields[i];
        if (i > 0 && shoal_parse_char(',', &at) != SHOAL_OK) return false;
        if (field == SPLIT_BITS) return read_bits(measurement, *number * split->m, split->m, &at);
        if (field == SPLIT_SET) return read_set(measurement, split->k, split->m, &at);
        uint32_t values = (uint32_t)field_values(&unused, field, split->k, split->m);
        if (shoal_parse_decimal(&value, &at, shoal_decimal_width(values), values) != SHOAL_OK)
            return false;
        *number = *number * values + value;
    }
    return true;
}

static uint64_t weight_of(const uint64_t *measurement, uint32_t length)
{
    uint64_t weight = 0;
    for (uint32_t i = 0; i < length; i++) weight += measurement[i];
    return weight;
}

shoal_err shoal_split_text(uint64_t *measurement, const shoal_split *split, const char *text,
                           size_t len)
{
    const shoal_split_kind *kind = kind_of(split->mechanism);
    const size_t bytes = shoal_split_words(split) * sizeof *measurement;
    uint32_t number;
    shoal_err err = SHOAL_OK;
    memset(measurement, 0, bytes);
    if (kind == NULL || len != split->text_size ||
        !read_fields(measurement, &number, split, kind, text))
        err = SHOAL_ERR_RECORD;
    else if (kind->weight == NULL)
        measurement[0] = number ^ split->is_signed; // a sign of 1 is the first entry of its cell
    else {
        if (split->rows > 0) measurement[split->cells + number] = 1;
        if (weight_of(measurement, split->prio3.length) > split->prio3.max) err = SHOAL_ERR_RANGE;
    }
    if (err != SHOAL_OK) wipe(measurement, bytes);
    return err;
}
