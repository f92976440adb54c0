// SPDX-License-Identifier: Apache-2.0
// Encodes the answer to a query as one index; see encoding.h.
#include "encoding.h"

#include "bytes.h"
#include "encoding_characters.h"
#include "sentence.h"
#include "sha256.h"

#define NEXT_FIRST 2u // "it ends here" and "not listed" precede the listed tokens

void shoal_list_add(shoal_list *list, const char *text, size_t len)
{
    uint8_t prefix[4];
    shoal_sha256 sha;
    store32_be(prefix, (uint32_t)len);
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, list->digest, sizeof list->digest);
    shoal_sha256_update(&sha, prefix, sizeof prefix);
    shoal_sha256_update(&sha, (const uint8_t *)text, len);
    shoal_sha256_final(list->digest, &sha);
    list->count++;
}

shoal_encoded *shoal_encoding_at(shoal_encoding *encoding, uint32_t index, const char **why)
{
    *why = SHOAL_SENTENCE("has too many fields, or skips one");
    if (index > encoding->n_fields || index >= SHOAL_ENCODED_MAX) return NULL;
    if (index == encoding->n_fields) encoding->n_fields++;
    return &encoding->fields[index];
}

shoal_err shoal_encoding_set_field(shoal_encoding *encoding, uint32_t index, const char *name,
                                   size_t len, const char **why)
{
    shoal_encoded *field = shoal_encoding_at(encoding, index, why);
    if (field == NULL) return SHOAL_ERR_RANGE;
    *why = SHOAL_SENTENCE("is given twice");
    if (field->field.len != 0) return SHOAL_ERR_DUPLICATE;
    return shoal_name_set(&field->field, name, len, why);
}

shoal_err shoal_encoding_add_boundary(shoal_encoding *encoding, uint32_t index, int64_t micro,
                                      const char **why)
{
    shoal_encoded *field = shoal_encoding_at(encoding, index, why);
    if (field == NULL) return SHOAL_ERR_RANGE;
    *why = SHOAL_SENTENCE("has more than 64 boundaries");
    if (field->n_boundaries == SHOAL_BOUNDARIES_MAX) return SHOAL_ERR_RANGE;
    *why = SHOAL_SENTENCE("must rise");
    if (field->n_boundaries > 0 && micro <= field->boundaries[field->n_boundaries - 1])
        return SHOAL_ERR_RANGE;
    field->boundaries[field->n_boundaries++] = micro;
    return SHOAL_OK;
}

// Counts the tokens of a text: words separated by single spaces. Returns: their number, or
// SHOAL_NOT_LISTED for a text in another form.
static uint32_t count_tokens(const char *text, size_t len)
{
    uint32_t n = len > 0;
    for (size_t i = 0; i < len; i++) {
        uint8_t c = (uint8_t)text[i];
        bool is_space = c == ' ', is_edge = i == 0 || i + 1 == len || text[i - 1] == ' ';
        if (c < ' ' || c == 0x7f || (is_space && is_edge)) return SHOAL_NOT_LISTED;
        n += (uint32_t)is_space;
    }
    return n;
}

static const char marks[] =
    "holds what stands for something else in labels: | or <end>, <oov>, <none>";

// A token may not equal one of the marks from which labels of cells are built.
static bool is_mark(const char *text, size_t len)
{
    return shoal_text_equal("|", text, len) || shoal_text_equal("<end>", text, len) ||
           shoal_text_equal("<oov>", text, len) || shoal_text_equal("<none>", text, len);
}

// Returns: whether one of the words of a text is a mark.
static bool has_mark(const char *text, size_t len)
{
    for (size_t start = 0, end = 0; start < len; start = end + 1) {
        end = start;
        while (end < len && text[end] != ' ') end++;
        if (is_mark(text + start, end - start)) return true;
    }
    return false;
}

static shoal_err add_prefix(shoal_encoded *field, const char *text, size_t len, const char **why)
{
    uint32_t depth = count_tokens(text, len);
    *why = SHOAL_SENTENCE("holds a prefix that is not tokens with one space between them");
    if (depth == SHOAL_NOT_LISTED) return SHOAL_ERR_TYPE;
    *why = SHOAL_SENTENCE(marks);
    if (has_mark(text, len)) return SHOAL_ERR_TYPE;
    *why = SHOAL_SENTENCE("holds prefixes of different numbers of tokens");
    if (field->prefixes.count > 0 && depth != field->depth) return SHOAL_ERR_RANGE;
    *why = SHOAL_SENTENCE("holds the empty prefix twice");
    if (field->prefixes.count > 0 && depth == 0) return SHOAL_ERR_DUPLICATE;
    field->depth = depth;
    shoal_list_add(&field->prefixes, text, len);
    return SHOAL_OK;
}

static shoal_err add_token(shoal_encoded *field, const char *text, size_t len, const char **why)
{
    *why = SHOAL_SENTENCE("holds what is not one token");
    if (count_tokens(text, len) != 1) return SHOAL_ERR_TYPE;
    *why = SHOAL_SENTENCE(marks);
    if (is_mark(text, len)) return SHOAL_ERR_TYPE;
    shoal_list_add(&field->tokens, text, len);
    return SHOAL_OK;
}

static shoal_err add_value(shoal_encoded *field, const char *text, size_t len, const char **why)
{
    *why = SHOAL_SENTENCE("holds a value that is empty or has control characters");
    if (len == 0) return SHOAL_ERR_RANGE;
    for (size_t i = 0; i < len; i++)
        if ((uint8_t)text[i] < ' ' || text[i] == 0x7f) return SHOAL_ERR_TYPE;
    *why = SHOAL_SENTENCE(marks);
    if (has_mark(text, len)) return SHOAL_ERR_TYPE;
    shoal_list_add(&field->values, text, len);
    return SHOAL_OK;
}

shoal_err shoal_encoding_add_text(shoal_encoding *encoding, uint32_t index,
                                  enum shoal_encoded_list list, const char *text, size_t len,
                                  const char **why)
{
    shoal_encoded *field = shoal_encoding_at(encoding, index, why);
    if (field == NULL) return SHOAL_ERR_RANGE;
    if (list > SHOAL_LIST_TOKENS) return SHOAL_ERR_ARGUMENT;
    const shoal_list *lists[] = {&field->values, &field->prefixes, &field->tokens};
    *why = SHOAL_SENTENCE("holds too many entries, or one over 256 bytes");
    if (len > SHOAL_TOKEN_TEXT_MAX || lists[list]->count == SHOAL_LIST_MAX) return SHOAL_ERR_RANGE;
    *why = SHOAL_SENTENCE("mixes starts and characters with prefixes and tokens");
    if (field->is_word) return SHOAL_ERR_DUPLICATE;
    if (list == SHOAL_LIST_PREFIXES) return add_prefix(field, text, len, why);
    return list == SHOAL_LIST_TOKENS ? add_token(field, text, len, why)
                                     : add_value(field, text, len, why);
}

// Counts the buckets of one prefix: two, plus the runs of 1 .. step entries. Stops early at a
// number above SHOAL_DOMAIN_SIZE_MAX.
static uint64_t count_choices(const shoal_encoded *field)
{
    uint64_t choices = NEXT_FIRST, runs = 1;
    for (uint32_t i = 0; i < (field->step > 0 ? field->step : 1); i++) {
        runs *= field->tokens.count;
        choices += runs;
        if (choices > SHOAL_DOMAIN_SIZE_MAX) break;
    }
    return choices;
}

// Finds the scheme that the given lists make, and writes its number of buckets. Returns: 0 if the
// lists make no scheme.
static uint32_t find_scheme(const shoal_encoded *field, uint64_t *size)
{
    bool has_numbers = field->n_boundaries > 0, has_values = field->values.count > 0;
    bool has_prefixes = field->prefixes.count > 0, has_tokens = field->tokens.count > 0;
    if (has_prefixes != has_tokens || has_numbers + has_values + has_tokens != 1) return 0;
    if (field->step != 0 && !field->is_word) return 0;
    if (has_numbers) {
        *size = 1 + (uint64_t)field->n_boundaries;
        return SHOAL_SCHEME_NUMBER;
    }
    if (has_values) {
        *size = 1 + (uint64_t)field->values.count;
        return SHOAL_SCHEME_LIST;
    }
    *size = 1 + field->prefixes.count * count_choices(field);
    return field->is_word ? SHOAL_SCHEME_CHARACTERS : SHOAL_SCHEME_TOKENS;
}

static bool has_prefixes_of(const shoal_encoded *field)
{
    return field->scheme >= SHOAL_SCHEME_TOKENS;
}

static bool has_field_before(const shoal_encoding *encoding, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (shoal_name_equal(&encoding->fields[i].field, &encoding->fields[index].field))
            return true;
    return false;
}

shoal_err shoal_encoding_finish(shoal_encoding *encoding, uint32_t *size, const char **why)
{
    uint64_t cells = 1;
    for (uint32_t i = 0; i < encoding->n_fields; i++) {
        shoal_encoded *field = &encoding->fields[i];
        uint64_t buckets = 0;
        *why = SHOAL_SENTENCE("holds an entry without a field");
        if (field->field.len == 0) return SHOAL_ERR_MISSING_FIELD;
        *why = SHOAL_SENTENCE("holds one field twice");
        if (has_field_before(encoding, i)) return SHOAL_ERR_DUPLICATE;
        *why = SHOAL_SENTENCE("needs, for each field, boundaries, or values, or prefixes and "
                              "tokens, or starts and characters");
        field->scheme = find_scheme(field, &buckets);
        if (field->scheme == 0) return SHOAL_ERR_MISSING_FIELD;
        *why = SHOAL_SENTENCE("has more than 2^24 cells");
        if (buckets > SHOAL_DOMAIN_SIZE_MAX) return SHOAL_ERR_RANGE;
        cells *= buckets;
        if (cells > SHOAL_DOMAIN_SIZE_MAX) return SHOAL_ERR_RANGE;
        field->size = (uint32_t)buckets;
        field->choices = has_prefixes_of(field) ? (uint32_t)count_choices(field) : 0;
    }
    *size = (uint32_t)cells;
    return SHOAL_OK;
}

uint32_t shoal_encoded_number(const shoal_encoded *field, int64_t micro)
{
    uint32_t bucket = 0;
    for (uint32_t i = 0; i < field->n_boundaries; i++)
        bucket += (uint32_t)(micro >= field->boundaries[i]);
    return bucket;
}

uint32_t shoal_encoded_value(const shoal_encoded *field, uint32_t index)
{
    return index < field->values.count ? 1 + index : 0;
}

uint32_t shoal_encoded_next(const shoal_encoded *field, uint32_t prefix, uint32_t next)
{
    if (prefix >= field->prefixes.count) return 0;
    uint32_t choice = next == SHOAL_NEXT_END               ? 0
                      : next < field->choices - NEXT_FIRST ? NEXT_FIRST + next
                                                           : 1;
    return 1 + prefix * field->choices + choice;
}

bool shoal_encoded_next_of(uint32_t *prefix, uint32_t *next, const shoal_encoded *field,
                           uint32_t bucket)
{
    if (bucket == 0) return false;
    uint32_t choice = (bucket - 1) % field->choices;
    *prefix = (bucket - 1) / field->choices;
    *next = choice == 0 ? SHOAL_NEXT_END : choice == 1 ? SHOAL_NOT_LISTED : choice - NEXT_FIRST;
    return true;
}

uint32_t shoal_encoded_run(const shoal_encoded *field, const uint32_t *characters, uint32_t n)
{
    uint32_t base = field->tokens.count, before = 0, runs = 1, run = 0;
    if (n == 0) return SHOAL_NEXT_END;
    for (uint32_t i = 0; i < n; i++) {
        if (characters[i] >= base) return SHOAL_NOT_LISTED;
        run = run * base + characters[i];
        if (i > 0) before += runs *= base;
    }
    return before + run;
}

uint32_t shoal_encoded_run_of(uint32_t characters[SHOAL_STEP_MAX], const shoal_encoded *field,
                              uint32_t next)
{
    uint32_t base = field->tokens.count, runs = base, n = 1;
    if (next >= field->choices - NEXT_FIRST) return 0;
    for (; next >= runs; n++) {
        next -= runs;
        runs *= base;
    }
    for (uint32_t i = n; i-- > 0; next /= base) characters[i] = next % base;
    return n;
}

uint64_t shoal_encoding_item(const shoal_encoding *encoding, const uint32_t *buckets)
{
    uint64_t item = 0;
    for (uint32_t i = 0; i < encoding->n_fields; i++)
        item = item * encoding->fields[i].size + buckets[i];
    return item;
}

void shoal_encoding_buckets(uint32_t *buckets, const shoal_encoding *encoding, uint64_t item)
{
    for (uint32_t i = encoding->n_fields; i-- > 0;) {
        buckets[i] = (uint32_t)(item % encoding->fields[i].size);
        item /= encoding->fields[i].size;
    }
}
