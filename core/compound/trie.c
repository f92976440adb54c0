// SPDX-License-Identifier: Apache-2.0
// A device's answer to one round of a trie; see trie.h.
#include "trie.h"

#include <stdbool.h>

#include "bytes.h"

static shoal_err expand(shoal_recipe *recipe, uint32_t cells, const char **field)
{
    shoal_part *part = &recipe->parts[0];
    *field = "mechanism";
    if (recipe->encoding.n_fields != 1 ||
        recipe->encoding.fields[0].scheme != SHOAL_SCHEME_CHARACTERS)
        return SHOAL_ERR_RANGE;
    *field = "depth";
    uint32_t step = recipe->encoding.fields[0].step;
    if (recipe->encoding.fields[0].depth + (step > 0 ? step : 1) > recipe->depth)
        return SHOAL_ERR_RANGE;
    *field = "pass";
    if (recipe->pass > recipe->passes) return SHOAL_ERR_RANGE;
    shoal_recipe_fill_part(part, recipe);
    part->mechanism = shoal_subset_id;
    part->domain = SHOAL_DOMAIN_CLOSED;
    part->size = cells;
    shoal_err err = shoal_part_prepare(part, field);
    if (err != SHOAL_OK) return err;
    recipe->n_parts = 1;
    recipe->value_part = 0;
    return SHOAL_OK;
}

bool shoal_trie_is_answer(const shoal_encoded *field, uint32_t bucket)
{
    uint32_t prefix, next;
    return shoal_encoded_next_of(&prefix, &next, field, bucket) && next != SHOAL_NOT_LISTED;
}

// Sorts in ascending order. Insertion sort suffices for a few hundred words.
static void sort(uint32_t *buckets, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        uint32_t own = buckets[i], at = i;
        for (; at > 0 && buckets[at - 1] > own; at--) buckets[at] = buckets[at - 1];
        buckets[at] = own;
    }
}

// Counts how often the bucket at `from` is repeated.
static uint32_t count_run(const uint32_t *buckets, uint32_t n, uint32_t from)
{
    uint32_t upto = from + 1;
    while (upto < n && buckets[upto] == buckets[from]) upto++;
    return upto - from;
}

// Returns: the count of the most frequent bucket if is_greedy, else 1, since all cells are then
// alike.
static uint32_t find_most(const uint32_t *buckets, uint32_t n, bool is_greedy)
{
    uint32_t most = 1;
    for (uint32_t at = 0, len = 0; is_greedy && at < n; at += len) {
        len = count_run(buckets, n, at);
        if (len > most) most = len;
    }
    return most;
}

// Walks over the runs of at least `most`, and counts them in *passed. Returns: the start of the run
// that has `skip` of them before it, or n.
static uint32_t find_run(uint32_t *passed, const uint32_t *buckets, uint32_t n, uint32_t most,
                         uint32_t skip)
{
    *passed = 0;
    for (uint32_t at = 0, len = 0; at < n; at += len) {
        len = count_run(buckets, n, at);
        if (len < most) continue;
        if ((*passed)++ == skip) return at;
    }
    return n;
}

// Draws one more cell, uniformly among all cells left or among the most frequent ones. Returns: the
// start of its run, or n.
static uint32_t choose_run(const uint32_t *buckets, uint32_t n, bool is_greedy, shoal_rng *rng)
{
    uint32_t most = find_most(buckets, n, is_greedy), alike, met;
    find_run(&alike, buckets, n, most, UINT32_MAX);
    return alike == 0 ? n : find_run(&met, buckets, n, most, (uint32_t)shoal_rng_below(rng, alike));
}

// Puts the items in a uniformly random order. The order of the choices would tell which cells come
// first, and how many there were.
static void shuffle(uint64_t *items, uint32_t n, shoal_rng *rng)
{
    for (uint32_t left = n; left > 1; left--) {
        uint32_t at = (uint32_t)shoal_rng_below(rng, left);
        uint64_t item = items[at];
        items[at] = items[left - 1];
        items[left - 1] = item;
    }
}

shoal_err shoal_trie_choose(uint64_t *items, const shoal_recipe *recipe, uint32_t *buckets,
                            uint32_t n_words, shoal_rng *rng)
{
    const shoal_encoded *field = &recipe->encoding.fields[0];
    uint32_t n = 0;
    if (recipe->n_parts != 1 || recipe->mechanism != shoal_trie_id) return SHOAL_ERR_ARGUMENT;
    if (n_words > SHOAL_TRIE_WORDS_MAX) return SHOAL_ERR_RANGE;
    for (uint32_t i = 0; i < n_words; i++)
        if (buckets[i] < field->size && shoal_trie_is_answer(field, buckets[i]))
            buckets[n++] = buckets[i];
    sort(buckets, n);
    for (uint32_t i = 0; i < recipe->contributions; i++) {
        uint32_t at = choose_run(buckets, n, recipe->sampler == SHOAL_SAMPLER_GREEDY, rng);
        items[i] = SHOAL_ITEM_NONE;
        if (at == n) continue;
        uint32_t len = count_run(buckets, n, at);
        items[i] = buckets[at];
        memmove(buckets + at, buckets + at + len, (n - at - len) * sizeof *buckets);
        n -= len;
    }
    shuffle(items, recipe->contributions, rng);
    return SHOAL_OK;
}

const shoal_compound shoal_trie_compound = {
    shoal_trie_id,
    "trie",
    SHOAL_DOMAIN_CLOSED,
    {SHOAL_TAKES_EPSILON | SHOAL_TAKES_TRIE, SHOAL_TAKES_TRIE_PASSES},
    0,
    0,
    expand,
    NULL,
};
