// SPDX-License-Identifier: Apache-2.0
// Encodings: every rule of encoding.h, each scheme's buckets against the list that defines them,
// and items that are the mixed radix's and come back from it, over every cell; words by starts and
// runs of characters there and back, broken UTF-8. The two bucket counts of apple-2022 Appendix B.
#include "encoding.h"

#include <string.h>

#include "check.h"
#include "encoding_characters.h"
#include "sha256.h"

static shoal_encoding encoding;
static const char *why;
static uint32_t size;

static shoal_err field(uint32_t index, const char *name)
{
    return shoal_encoding_set_field(&encoding, index, name, strlen(name), &why);
}

static shoal_err text(uint32_t index, enum shoal_encoded_list list, const char *entry)
{
    return list < SHOAL_LIST_STARTS
               ? shoal_encoding_add_text(&encoding, index, list, entry, strlen(entry), &why)
               : shoal_encoding_add_characters(&encoding, index, list, entry, strlen(entry), &why);
}

static shoal_err boundary(uint32_t index, int64_t micro)
{
    return shoal_encoding_add_boundary(&encoding, index, micro, &why);
}

static shoal_err finish(void)
{
    size = 0;
    shoal_err err = shoal_encoding_finish(&encoding, &size, &why);
    CHECK(err == SHOAL_OK || size == 0);
    return err;
}

static void clear(void)
{
    memset(&encoding, 0, sizeof encoding);
}

// A field of so many buckets: n boundaries.
static void add_numbers(uint32_t index, const char *name, uint32_t n)
{
    CHECK(field(index, name) == SHOAL_OK);
    for (uint32_t i = 0; i < n; i++) CHECK(boundary(index, (int64_t)i * 10) == SHOAL_OK);
}

// ---- numbers ----

static void numbers(void)
{
    static const int64_t bounds[] = {INT64_MIN + 1, -20000000, 0, 1, 30000000, INT64_MAX};
    clear();
    CHECK(field(0, "age") == SHOAL_OK);
    for (int i = 0; i < 6; i++) CHECK(boundary(0, bounds[i]) == SHOAL_OK);
    CHECK(finish() == SHOAL_OK && size == 7 && encoding.fields[0].size == 7);
    CHECK(encoding.fields[0].scheme == SHOAL_SCHEME_NUMBER);
    for (int i = 0; i < 6; i++) { // a boundary is the first of its bucket
        CHECK(shoal_encoded_number(&encoding.fields[0], bounds[i] - 1) == (uint32_t)i);
        CHECK(shoal_encoded_number(&encoding.fields[0], bounds[i]) == (uint32_t)i + 1);
    }
    CHECK(boundary(0, INT64_MAX) == SHOAL_ERR_RANGE && strcmp(why, "must rise") == 0);
    CHECK(boundary(0, 5) == SHOAL_ERR_RANGE && encoding.fields[0].n_boundaries == 6);
    clear();
    add_numbers(0, "n", SHOAL_BOUNDARIES_MAX);
    CHECK(boundary(0, 1000) == SHOAL_ERR_RANGE);
    CHECK(finish() == SHOAL_OK && size == 65);
    clear();
    add_numbers(0, "n", 1);
    CHECK(finish() == SHOAL_OK && size == 2);
    CHECK(shoal_encoded_number(&encoding.fields[0], -1) == 0 &&
          shoal_encoded_number(&encoding.fields[0], 0) == 1);
}

// ---- lists ----

static void digest_of_list(uint8_t digest[32], const char *const *entries, size_t n)
{
    memset(digest, 0, 32);
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(entries[i]);
        const uint8_t prefix[4] = {0, 0, (uint8_t)(len >> 8), (uint8_t)len};
        shoal_sha256 sha;
        shoal_sha256_init(&sha);
        shoal_sha256_update(&sha, digest, 32);
        shoal_sha256_update(&sha, prefix, 4);
        shoal_sha256_update(&sha, (const uint8_t *)entries[i], len);
        shoal_sha256_final(digest, &sha);
    }
}

static void lists(void)
{
    static const char *const entries[] = {"de", "en", "a value of words", "|x", "<oov"};
    static const char *const bad[] = {"a\nb", "tab\t", "\x7f",  "\x01",
                                      "|",    "<end>", "<oov>", "<none>"};
    char long_text[258];
    uint8_t digest[32];
    clear();
    CHECK(field(0, "locale") == SHOAL_OK);
    for (int i = 0; i < 5; i++) CHECK(text(0, SHOAL_LIST_VALUES, entries[i]) == SHOAL_OK);
    CHECK(finish() == SHOAL_OK && size == 6 && encoding.fields[0].scheme == SHOAL_SCHEME_LIST);
    digest_of_list(digest, entries, 5);
    CHECK(encoding.fields[0].values.count == 5 &&
          memcmp(digest, encoding.fields[0].values.digest, 32) == 0);
    for (uint32_t i = 0; i < 5; i++) CHECK(shoal_encoded_value(&encoding.fields[0], i) == i + 1);
    CHECK(shoal_encoded_value(&encoding.fields[0], 5) == 0);
    CHECK(shoal_encoded_value(&encoding.fields[0], SHOAL_NOT_LISTED) == 0);
    CHECK(text(0, SHOAL_LIST_VALUES, "") == SHOAL_ERR_RANGE);
    for (int i = 0; i < 7; i++) CHECK(text(0, SHOAL_LIST_VALUES, bad[i]) == SHOAL_ERR_TYPE);
    memset(long_text, 'x', sizeof long_text);
    CHECK(shoal_encoding_add_text(&encoding, 0, SHOAL_LIST_VALUES, long_text, 257, &why) ==
          SHOAL_ERR_RANGE);
    CHECK(encoding.fields[0].values.count == 5 &&
          memcmp(digest, encoding.fields[0].values.digest, 32) == 0);
    CHECK(shoal_encoding_add_text(&encoding, 0, SHOAL_LIST_VALUES, long_text, 256, &why) ==
          SHOAL_OK);
    CHECK(shoal_encoding_add_text(&encoding, 0, SHOAL_LIST_VALUES, "a\0b", 3, &why) ==
          SHOAL_ERR_TYPE);
    encoding.fields[0].values.count = SHOAL_LIST_MAX - 1;
    CHECK(text(0, SHOAL_LIST_VALUES, "last") == SHOAL_OK &&
          text(0, SHOAL_LIST_VALUES, "more") == SHOAL_ERR_RANGE);
}

// Entries that run together are other lists.
static void digests_differ(void)
{
    static const char *const pairs[3][2] = {{"ab", "c"}, {"a", "bc"}, {"c", "ab"}};
    shoal_list made[3];
    memset(made, 0, sizeof made);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++) shoal_list_add(&made[i], pairs[i][k], strlen(pairs[i][k]));
    CHECK(memcmp(made[0].digest, made[1].digest, 32) != 0 &&
          memcmp(made[0].digest, made[2].digest, 32) != 0);
}

// ---- tokens ----

static void tokens(void)
{
    static const char *const good[] = {"hello world", "i went", "a\xc3\xa9 b"};
    static const char *const bad_prefixes[] = {" a b",  "a b ",    "a  b",    "a\tb c",   " ",
                                               "a | b", "<oov> b", "a <end>", "a <none>", "|"};
    static const char *const bad_tokens[] = {"",      "a b",   " a",     "a ",  "|",
                                             "<end>", "<oov>", "<none>", "a\n", "\x7f"};
    clear();
    CHECK(field(0, "phrase") == SHOAL_OK);
    for (int i = 0; i < 3; i++) CHECK(text(0, SHOAL_LIST_PREFIXES, good[i]) == SHOAL_OK);
    CHECK(text(0, SHOAL_LIST_PREFIXES, "one") == SHOAL_ERR_RANGE);
    CHECK(text(0, SHOAL_LIST_PREFIXES, "one two three") == SHOAL_ERR_RANGE);
    CHECK(text(0, SHOAL_LIST_PREFIXES, "") == SHOAL_ERR_RANGE);
    for (size_t i = 0; i < sizeof bad_prefixes / sizeof bad_prefixes[0]; i++)
        if (!CHECK(text(0, SHOAL_LIST_PREFIXES, bad_prefixes[i]) == SHOAL_ERR_TYPE))
            printf("  %s\n", bad_prefixes[i]);
    for (size_t i = 0; i < sizeof bad_tokens / sizeof bad_tokens[0]; i++)
        if (!CHECK(text(0, SHOAL_LIST_TOKENS, bad_tokens[i]) == SHOAL_ERR_TYPE))
            printf("  %s\n", bad_tokens[i]);
    CHECK(encoding.fields[0].prefixes.count == 3 && encoding.fields[0].depth == 2);
    CHECK(finish() == SHOAL_ERR_MISSING_FIELD); // prefixes without tokens
    CHECK(text(0, SHOAL_LIST_TOKENS, "and") == SHOAL_OK &&
          text(0, SHOAL_LIST_TOKENS, "got") == SHOAL_OK);
    CHECK(finish() == SHOAL_OK && size == 1 + 3 * 4 &&
          encoding.fields[0].scheme == SHOAL_SCHEME_TOKENS);
}

// Each bucket in the order that the header gives, and back.
static void next_tokens(void)
{
    static const uint32_t order[] = {SHOAL_NEXT_END, SHOAL_NOT_LISTED, 0, 1};
    uint32_t prefix = 7, next = 7, bucket = 1;
    const shoal_encoded *f = &encoding.fields[0];
    for (uint32_t p = 0; p < 3; p++)
        for (int i = 0; i < 4; i++, bucket++) {
            CHECK(shoal_encoded_next(f, p, order[i]) == bucket);
            CHECK(shoal_encoded_next_of(&prefix, &next, f, bucket) == 1 && prefix == p &&
                  next == order[i]);
        }
    prefix = 7;
    CHECK(shoal_encoded_next_of(&prefix, &next, f, 0) == 0 && prefix == 7);
    CHECK(shoal_encoded_next(f, 3, 0) == 0 &&
          shoal_encoded_next(f, SHOAL_NOT_LISTED, SHOAL_NEXT_END) == 0);
    CHECK(shoal_encoded_next(f, 1, 2) ==
          shoal_encoded_next(f, 1, SHOAL_NOT_LISTED)); // beyond the list
    CHECK(shoal_encoded_next(f, 0, SHOAL_NOT_LISTED) == 2);
    clear();
    CHECK(field(0, "phrase") == SHOAL_OK && text(0, SHOAL_LIST_PREFIXES, "") == SHOAL_OK);
    CHECK(text(0, SHOAL_LIST_PREFIXES, "") == SHOAL_ERR_DUPLICATE &&
          text(0, SHOAL_LIST_PREFIXES, "a") == SHOAL_ERR_RANGE);
    CHECK(text(0, SHOAL_LIST_TOKENS, "a") == SHOAL_OK);
    CHECK(finish() == SHOAL_OK && size == 4 && f->depth == 0);
    CHECK(shoal_encoded_next(f, 0, SHOAL_NEXT_END) == 1 && shoal_encoded_next(f, 0, 0) == 3);
}

// ---- the whole ----

static void wholes(void)
{
    clear();
    CHECK(field(1, "a") == SHOAL_ERR_RANGE && field(0, "A") == SHOAL_ERR_TYPE);
    clear();
    CHECK(field(0, "a") == SHOAL_OK && field(0, "b") == SHOAL_ERR_DUPLICATE);
    CHECK(finish() == SHOAL_ERR_MISSING_FIELD); // no scheme
    CHECK(boundary(0, 1) == SHOAL_OK && text(0, SHOAL_LIST_VALUES, "x") == SHOAL_OK);
    CHECK(finish() == SHOAL_ERR_MISSING_FIELD); // two schemes
    clear();
    CHECK(field(0, "a") == SHOAL_OK && text(0, SHOAL_LIST_TOKENS, "x") == SHOAL_OK);
    CHECK(finish() == SHOAL_ERR_MISSING_FIELD); // tokens without prefixes
    CHECK(text(0, SHOAL_LIST_PREFIXES, "") == SHOAL_OK && finish() == SHOAL_OK);
    CHECK(text(0, SHOAL_LIST_VALUES, "x") == SHOAL_OK && finish() == SHOAL_ERR_MISSING_FIELD);
    clear();
    CHECK(boundary(0, 1) == SHOAL_OK && finish() == SHOAL_ERR_MISSING_FIELD); // no name
    clear();
    add_numbers(0, "a", 1);
    add_numbers(1, "a", 1);
    CHECK(finish() == SHOAL_ERR_DUPLICATE);
    clear();
    add_numbers(0, "a", 1);
    add_numbers(1, "b", 1);
    add_numbers(2, "b", 1);
    CHECK(finish() == SHOAL_ERR_DUPLICATE);
    clear();
    for (uint32_t i = 0; i < SHOAL_ENCODED_MAX; i++) {
        const char name[2] = {(char)('a' + i), '\0'};
        add_numbers(i, name, 63);
    }
    CHECK(finish() == SHOAL_OK && size == SHOAL_DOMAIN_SIZE_MAX); // 64^4
    CHECK(field(4, "e") == SHOAL_ERR_RANGE && boundary(4, 0) == SHOAL_ERR_RANGE);
    CHECK(text(4, SHOAL_LIST_VALUES, "x") == SHOAL_ERR_RANGE && encoding.n_fields == 4);
    CHECK(boundary(3, 1000) == SHOAL_OK && finish() == SHOAL_ERR_RANGE); // 64^3 65
    clear();
    CHECK(field(0, "a") == SHOAL_OK);
    CHECK(text(0, SHOAL_LIST_PREFIXES, "p") == SHOAL_OK &&
          text(0, SHOAL_LIST_TOKENS, "t") == SHOAL_OK);
    encoding.fields[0].prefixes.count = encoding.fields[0].tokens.count = SHOAL_LIST_MAX;
    CHECK(finish() == SHOAL_ERR_RANGE); // 2^40 do not turn round to few
    encoding.fields[0].prefixes.count = 255;
    encoding.fields[0].tokens.count = 65791;
    CHECK(finish() == SHOAL_OK && size == SHOAL_DOMAIN_SIZE_MAX); // 1 + 255 65793
    encoding.fields[0].tokens.count = 65792;
    CHECK(finish() == SHOAL_ERR_RANGE);
    encoding.fields[0].prefixes.count = 1;
    encoding.fields[0].tokens.count = 7;
    CHECK(finish() == SHOAL_OK && size == 10);
}

// Appendix B: ages in 7 ranges, and 3 prefixes with end, oov and 9 tokens: 1 + 7 and 1 + 3 (1 + 1 +
// 9) buckets. Every cell.
static void every_item(void)
{
    static const char *const prefixes[] = {"i went", "we will", "they are"};
    clear();
    add_numbers(0, "age", 7);
    CHECK(field(1, "phrase") == SHOAL_OK && field(2, "locale") == SHOAL_OK);
    for (int i = 0; i < 3; i++) CHECK(text(1, SHOAL_LIST_PREFIXES, prefixes[i]) == SHOAL_OK);
    for (char c = 'a'; c < 'j'; c++) {
        const char token[2] = {c, '\0'};
        CHECK(text(1, SHOAL_LIST_TOKENS, token) == SHOAL_OK);
    }
    CHECK(text(2, SHOAL_LIST_VALUES, "de") == SHOAL_OK &&
          text(2, SHOAL_LIST_VALUES, "en") == SHOAL_OK);
    CHECK(finish() == SHOAL_OK && encoding.fields[0].size == 8 && encoding.fields[1].size == 34 &&
          size == 8 * 34 * 3);
    uint64_t item = 0;
    for (uint32_t a = 0; a < 8; a++) // the first field is the most significant
        for (uint32_t b = 0; b < 34; b++)
            for (uint32_t c = 0; c < 3; c++, item++) {
                uint32_t buckets[3] = {a, b, c}, back[3] = {99, 99, 99};
                CHECK(shoal_encoding_item(&encoding, buckets) == item);
                shoal_encoding_buckets(back, &encoding, item);
                CHECK(memcmp(buckets, back, sizeof back) == 0);
            }
}

// ---- starts and characters ----

static shoal_err step(uint32_t n)
{
    return shoal_encoding_set_step(&encoding, 0, n, &why);
}

// A field of so many starts of two letters and the first n_characters letters.
static void add_words(uint32_t n_starts, uint32_t n_characters, uint32_t n_step)
{
    clear();
    CHECK(field(0, "word") == SHOAL_OK);
    for (uint32_t i = 0; i < n_starts; i++) {
        const char start[3] = {(char)('a' + i / 26), (char)('a' + i % 26), '\0'};
        CHECK(text(0, SHOAL_LIST_STARTS, start) == SHOAL_OK);
    }
    for (uint32_t i = 0; i < n_characters; i++) {
        const char character[2] = {(char)('a' + i), '\0'};
        CHECK(text(0, SHOAL_LIST_CHARACTERS, character) == SHOAL_OK);
    }
    if (n_step > 0) CHECK(step(n_step) == SHOAL_OK);
}

// The run of a number of characters that is the number-th of its length: what the header says,
// digit by digit.
static void spell(uint32_t *characters, uint32_t number, uint32_t len, uint32_t base)
{
    for (uint32_t i = len; i-- > 0; number /= base) characters[i] = number % base;
}

// Every bucket stands for something of its own and is the bucket of that, in the order of the
// header.
static void every_run(uint32_t n_starts, uint32_t base, uint32_t n_step)
{
    uint32_t steps = n_step > 0 ? n_step : 1, bucket = 1, characters[SHOAL_STEP_MAX],
             back[SHOAL_STEP_MAX];
    add_words(n_starts, base, n_step);
    CHECK(finish() == SHOAL_OK);
    const shoal_encoded *f = &encoding.fields[0];
    CHECK(f->scheme == SHOAL_SCHEME_CHARACTERS && f->depth == 2);
    for (uint32_t start = 0; start < n_starts; start++) {
        CHECK(shoal_encoded_next(f, start, shoal_encoded_run(f, NULL, 0)) == bucket++); // it ends
        characters[0] = SHOAL_NOT_LISTED;
        CHECK(shoal_encoded_next(f, start, shoal_encoded_run(f, characters, 1)) == bucket++);
        for (uint32_t len = 1, runs = base; len <= steps; len++, runs *= base)
            for (uint32_t number = 0; number < runs; number++, bucket++) {
                uint32_t prefix = 99, next = 99;
                spell(characters, number, len, base);
                CHECK(shoal_encoded_next(f, start, shoal_encoded_run(f, characters, len)) ==
                      bucket);
                CHECK(shoal_encoded_next_of(&prefix, &next, f, bucket) && prefix == start);
                CHECK(shoal_encoded_run_of(back, f, next) == len &&
                      memcmp(back, characters, len * 4) == 0);
                if (len < 2) continue;
                characters[number % len] = base; // beyond the list: not listed, wherever it is
                CHECK(shoal_encoded_run(f, characters, len) == SHOAL_NOT_LISTED);
            }
    }
    CHECK(bucket == f->size && bucket == size);
    CHECK(shoal_encoded_run_of(back, f, SHOAL_NEXT_END) == 0 &&
          shoal_encoded_run_of(back, f, SHOAL_NOT_LISTED) == 0);
    CHECK(shoal_encoded_next(f, n_starts, 0) == 0); // no start of the list
}

static void characters_refused(void)
{
    static const char *const broken[] = {"\x80",
                                         "\xc3",
                                         "\xc3\x28",
                                         "\xc0\xaf",
                                         "\xe0\x80\xaf", // no lead, cut, overlong
                                         "\xed\xa0\x80",
                                         "\xf4\x90\x80\x80",
                                         "\xf8\x88\x80\x80",
                                         "\xf0\x82\x82\xac",
                                         "\xff",
                                         "\xe6\xbc", // surrogate, beyond
                                         "\xc2\x80",
                                         "\xc2\x9f",
                                         "\x01",
                                         "\x7f",
                                         " ",
                                         "\n"};
    static const char *const good[] = {"a",
                                       "~",
                                       "\xc2\xa1",
                                       "\xc3\xa9",
                                       "\xdf\xbf",
                                       "\xe0\xa0\x80",
                                       "\xed\x9f\xbf",
                                       "\xee\x80\x80",
                                       "\xe6\xbc\xa2",
                                       "\xf0\x90\x80\x80",
                                       "\xf4\x8f\xbf\xbf"};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        clear();
        CHECK(text(0, SHOAL_LIST_CHARACTERS, broken[i]) == SHOAL_ERR_TYPE);
        clear();
        CHECK(text(0, SHOAL_LIST_STARTS, broken[i]) == SHOAL_ERR_TYPE);
    }
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        clear();
        CHECK(text(0, SHOAL_LIST_CHARACTERS, good[i]) == SHOAL_OK);
        CHECK(text(0, SHOAL_LIST_STARTS, good[i]) == SHOAL_OK && encoding.fields[0].depth == 1);
    }
    clear();
    CHECK(text(0, SHOAL_LIST_CHARACTERS, "ab") == SHOAL_ERR_TYPE &&
          text(0, SHOAL_LIST_CHARACTERS, "") == SHOAL_ERR_TYPE);
    clear();
    CHECK(shoal_encoding_add_characters(&encoding, 0, SHOAL_LIST_STARTS, "a\0b", 3, &why) ==
          SHOAL_ERR_TYPE);
    clear();
    CHECK(text(0, SHOAL_LIST_STARTS, "\xc3\xa9t") == SHOAL_OK &&
          encoding.fields[0].depth == 2); // characters, not bytes
    CHECK(text(0, SHOAL_LIST_STARTS, "ab") == SHOAL_OK &&
          text(0, SHOAL_LIST_STARTS, "abc") == SHOAL_ERR_RANGE);
    clear();
    CHECK(text(0, SHOAL_LIST_STARTS, "") == SHOAL_OK &&
          text(0, SHOAL_LIST_STARTS, "") == SHOAL_ERR_DUPLICATE);
}

static void characters_limits(void)
{
    char longest[4 * 64 + 2];
    for (int i = 0; i < 64; i++) memcpy(longest + 4 * i, "\xf0\x9f\x90\x9f", 4);
    memcpy(longest + 256, "a", 2);
    clear();
    CHECK(shoal_encoding_add_characters(&encoding, 0, SHOAL_LIST_STARTS, longest, 256, &why) ==
          SHOAL_OK);
    CHECK(encoding.fields[0].depth == 64);
    clear();
    CHECK(shoal_encoding_add_characters(&encoding, 0, SHOAL_LIST_STARTS, longest, 257, &why) ==
          SHOAL_ERR_RANGE);
    memset(longest, 'a', sizeof longest);
    clear();
    CHECK(shoal_encoding_add_characters(&encoding, 0, SHOAL_LIST_STARTS, longest, 65, &why) ==
          SHOAL_ERR_RANGE);
    clear();
    CHECK(step(0) == SHOAL_ERR_RANGE);
    clear();
    CHECK(step(5) == SHOAL_ERR_RANGE);
    clear();
    CHECK(step(4) == SHOAL_OK && step(4) == SHOAL_ERR_DUPLICATE);
    // 26 letters and 4 characters: 475,254 runs and two more for each start; 35 starts fit 2^24
    // cells, 36 do not.
    add_words(35, 26, 4);
    CHECK(finish() == SHOAL_OK && size == 1 + 35 * (2 + 26 + 676 + 17576 + 456976));
    add_words(36, 26, 4);
    CHECK(finish() == SHOAL_ERR_RANGE);
    add_words(1, 26, 4);
    encoding.fields[0].tokens.count = SHOAL_LIST_MAX; // 2^80 runs
    CHECK(finish() == SHOAL_ERR_RANGE);
    add_words(2, 3, 0);
    CHECK(finish() == SHOAL_OK && size == 1 + 2 * 5); // step 1
}

// One field is of tokens or of characters; a step is of characters only.
static void characters_mixed(void)
{
    clear();
    CHECK(text(0, SHOAL_LIST_STARTS, "a") == SHOAL_OK &&
          text(0, SHOAL_LIST_TOKENS, "b") == SHOAL_ERR_DUPLICATE);
    clear();
    CHECK(text(0, SHOAL_LIST_PREFIXES, "a") == SHOAL_OK &&
          text(0, SHOAL_LIST_CHARACTERS, "b") == SHOAL_ERR_DUPLICATE);
    clear();
    CHECK(field(0, "f") == SHOAL_OK && text(0, SHOAL_LIST_STARTS, "a") == SHOAL_OK);
    CHECK(finish() == SHOAL_ERR_MISSING_FIELD); // no characters
    clear();
    CHECK(field(0, "f") == SHOAL_OK && text(0, SHOAL_LIST_CHARACTERS, "a") == SHOAL_OK);
    CHECK(finish() == SHOAL_ERR_MISSING_FIELD); // no starts
    clear();
    CHECK(field(0, "f") == SHOAL_OK && text(0, SHOAL_LIST_PREFIXES, "a") == SHOAL_OK);
    CHECK(text(0, SHOAL_LIST_TOKENS, "b") == SHOAL_OK && finish() == SHOAL_OK);
    CHECK(step(2) == SHOAL_OK && finish() == SHOAL_ERR_MISSING_FIELD);
}

int main(void)
{
    numbers();
    lists();
    digests_differ();
    tokens();
    next_tokens();
    wholes();
    every_item();
    for (uint32_t n = 0; n <= SHOAL_STEP_MAX; n++) every_run(3, 5, n);
    every_run(1, 1, 4);
    every_run(2, 26, 2);
    characters_refused();
    characters_limits();
    characters_mixed();
    return check_summary();
}
