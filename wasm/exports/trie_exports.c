// SPDX-License-Identifier: Apache-2.0
// Exports for tries: the buckets of words, and a device's complete answer to a round. Only the
// whole module has them. See exports.h.
#include "exports.h"
#include "trie.h"

static const shoal_encoded *field_of(uint32_t handle, uint32_t field)
{
    const shoal_recipe *r = ready_recipe(handle);
    return r && field < r->encoding.n_fields ? &r->encoding.fields[field] : NULL;
}

// Returns: the bucket of a word, from the index of its start and the little-endian u32 indices of
// the n characters after it. An index is 0xffffffff if it is not listed. n is at most the field's
// step, and less if the word ends before.
EXPORT(encoded_word)
int32_t export_encoded_word(uint32_t handle, uint32_t field, uint32_t start, uint32_t characters,
                            uint32_t n)
{
    uint32_t indices[SHOAL_STEP_MAX] = {0};
    const shoal_encoded *e = field_of(handle, field);
    if (!e || e->scheme != SHOAL_SCHEME_CHARACTERS || n > (e->step > 0 ? e->step : 1))
        return failed(SHOAL_ERR_ARGUMENT);
    if (!inside(characters, 4 * n)) return failed(SHOAL_ERR_ARGUMENT);
    for (uint32_t i = 0; i < n; i++) indices[i] = load32_le(at(characters) + 4 * i);
    return (int32_t)shoal_encoded_next(e, start, shoal_encoded_run(e, indices, n));
}

// Converts a bucket back, for labels. Writes, as little-endian u32: the start's index (0xffffffff
// for bucket 0), what follows it (0: characters, 1: the end, 2: a character that is not listed),
// the number of characters, and four indices, of which that many count.
#define WORD_WORDS (3u + SHOAL_STEP_MAX)
EXPORT(encoded_word_of)
uint32_t export_encoded_word_of(uint32_t out, uint32_t handle, uint32_t field, uint32_t bucket)
{
    uint32_t words[WORD_WORDS] = {SHOAL_NOT_LISTED}, next = SHOAL_NOT_LISTED;
    const shoal_encoded *e = field_of(handle, field);
    if (!e || e->scheme != SHOAL_SCHEME_CHARACTERS || bucket >= e->size) return SHOAL_ERR_ARGUMENT;
    if (!inside(out, WORD_WORDS * 4)) return SHOAL_ERR_ARGUMENT;
    (void)shoal_encoded_next_of(&words[0], &next, e, bucket);
    words[1] = next == SHOAL_NEXT_END ? 1 : next == SHOAL_NOT_LISTED ? 2 : 0;
    words[2] = words[1] == 0 ? shoal_encoded_run_of(words + 3, e, next) : 0;
    put_words(out, words, WORD_WORDS);
    return SHOAL_OK;
}

static const shoal_recipe *trie_of(uint32_t handle)
{
    const shoal_recipe *r = ready_recipe(handle);
    return r && r->mechanism == shoal_trie_id ? r : NULL;
}

// Returns: the number of records that a device answers with, or minus ARGUMENT if the recipe is no
// trie.
EXPORT(trie_contributions) int32_t export_trie_contributions(uint32_t handle)
{
    const shoal_recipe *r = trie_of(handle);
    return r ? (int32_t)r->contributions : failed(SHOAL_ERR_ARGUMENT);
}

static shoal_err answer_trie(uint32_t records, const shoal_recipe *r, uint32_t *buckets, uint32_t n,
                             uint32_t seed)
{
    uint64_t items[SHOAL_TRIE_CONTRIBUTIONS_MAX];
    shoal_rng rng;
    shoal_rng_init(&rng, at(seed));
    shoal_err err = shoal_trie_choose(items, r, buckets, n, &rng);
    for (uint32_t i = 0; i < r->contributions && !err; i++)
        err = shoal_record_randomize(at(records + i * r->record_size), r, &items[i], 1, NULL, &rng);
    shoal_rng_wipe(&rng);
    wipe(items, sizeof items);
    return err;
}

// Makes a device's complete answer to a round: chooses among the buckets of its words and
// randomizes each choice. The order of the records carries no information. Wipes buckets and seed.
//   records: contributions * record_size bytes, written
//   buckets: n_words little-endian u32, one for each word that is not known, as often as it was
//     typed; at most 4096
// Returns: the number of records, or minus ARGUMENT, RANGE.
EXPORT(trie_randomize)
int32_t export_trie_randomize(uint32_t records, uint32_t handle, uint32_t buckets, uint32_t n_words,
                              uint32_t seed)
{
    static uint32_t words[SHOAL_TRIE_WORDS_MAX]; // too large for the small stack
    if (n_words > SHOAL_LIST_MAX || !inside(buckets, 4 * n_words) || !inside(seed, 32))
        return failed(SHOAL_ERR_ARGUMENT);
    const shoal_recipe *r = trie_of(handle);
    shoal_err err = n_words > SHOAL_TRIE_WORDS_MAX ? SHOAL_ERR_RANGE : SHOAL_OK;
    if (!r || !inside(records, r->contributions * r->record_size)) err = SHOAL_ERR_ARGUMENT;
    if (!err) {
        for (uint32_t i = 0; i < n_words; i++) words[i] = load32_le(at(buckets) + 4 * i);
        err = answer_trie(records, r, words, n_words, seed);
        wipe(words, sizeof words);
    }
    wipe(at(buckets), 4 * n_words);
    wipe(at(seed), 32);
    return err ? failed(err) : (int32_t)r->contributions;
}
