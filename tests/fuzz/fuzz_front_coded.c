// SPDX-License-Identifier: Apache-2.0
// Property: a front-coded string either is refused with a text, leaving nothing behind, or gives
// entries of no more than its limit, which written again are no longer than it was and are the same
// entries; a row of characters gives characters that make it up again.
#include "front_coded.h"
#include "fuzz.h"
#include "json_walk.h"

// Good inputs beside the corpus.
size_t fuzz_seed(uint8_t *out, size_t cap, size_t index)
{
    static const char *const good[] = {
        "0cat 3s 1ow", "0", "0 0", "0\u65e5\u672c 1\u5149 0\u65e5", "00 11 2Z", "0ab 2 1c"};
    if (index >= sizeof good / sizeof good[0] || strlen(good[index]) > cap) return 0;
    memcpy(out, good[index], strlen(good[index]));
    return strlen(good[index]);
}

static void check_again(const agg_texts *texts, size_t len)
{
    agg_error error = {0};
    agg_texts again;
    char *coded = NULL;
    size_t coded_len = 0;
    PROPERTY(agg_front_encode(&coded, &coded_len, &error, texts->texts, texts->n) == SHOAL_OK &&
             coded_len <= len);
    PROPERTY(agg_front_decode(&again, &error, "again", (agg_text){coded, coded_len}) == SHOAL_OK);
    PROPERTY(again.n == texts->n);
    for (size_t i = 0; i < again.n; i++)
        PROPERTY(agg_text_compare(again.texts[i], texts->texts[i]) == 0);
    agg_texts_release(&again);
    free(coded);
}

static void check_row(agg_text row)
{
    agg_texts texts;
    agg_error error = {0};
    size_t at = 0;
    if (agg_characters_split(&texts, &error, "row", row) != SHOAL_OK) {
        PROPERTY(row.len == 0 && error.text[0] != '\0');
        return;
    }
    for (size_t i = 0; i < texts.n; at += texts.texts[i++].len) {
        PROPERTY(texts.texts[i].len >= 1 && texts.texts[i].len <= 4 &&
                 at + texts.texts[i].len <= row.len);
        PROPERTY(memcmp(texts.texts[i].bytes, row.bytes + at, texts.texts[i].len) == 0);
    }
    PROPERTY(at == row.len);
    agg_texts_release(&texts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    agg_texts texts;
    agg_error error = {0};
    agg_text coded = {(const char *)data, len};
    if (len > 65536 || !agg_utf8_is_valid(coded.bytes, len)) return 0; // as every string of JSON is
    check_row(coded);
    if (agg_front_decode(&texts, &error, "input", coded) != SHOAL_OK) {
        PROPERTY(error.text[0] != '\0');
        return 0;
    }
    for (size_t i = 0; i < texts.n; i++) PROPERTY(texts.texts[i].len <= AGG_FRONT_ENTRY_MAX);
    check_again(&texts, len);
    agg_texts_release(&texts);
    return 0;
}
