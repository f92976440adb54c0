// SPDX-License-Identifier: Apache-2.0
// The ledger, caps and stored bytes of a run; see epoch.h.
#include "epoch.h"

#include <stdbool.h>

#include "bytes.h"
#include "checksum.h"
#include "compound.h"

#define MAGIC "shoalrun"
#define VERSION 1u
#define CHECKSUM 8u

enum {
    AT_VERSION = 8,
    AT_ROWS = 12,
    AT_EPOCH = 16,
    AT_VOTE = 20,
    AT_ESTIMATE = 24,
    AT_RUN = 32,
    AT_LAST = 64
};

static const char *const names[SHOAL_EPOCH_REFUSALS] = {
    "accepted", "not-tracked", "state", "run", "answered", "follows", "late", "first"};
static const char *const texts[SHOAL_EPOCH_REFUSALS] = {
    "the epoch is answered",
    "the recipe is no epoch of a run, or the data is not what it counts",
    "the run's state on this device is damaged: nothing more is sent in this run",
    "the recipe is of another run",
    "this epoch, or one after it, was answered already",
    "the recipe follows another than the one answered",
    "the run is over",
    "there is no epoch before the first that an update could be of",
};

const char *shoal_epoch_refusal_name(shoal_epoch_refusal refusal)
{
    return (uint32_t)refusal < SHOAL_EPOCH_REFUSALS ? names[refusal] : "unknown";
}

const char *shoal_epoch_refusal_text(shoal_epoch_refusal refusal)
{
    return (uint32_t)refusal < SHOAL_EPOCH_REFUSALS ? texts[refusal] : "no refusal has this number";
}

// ---- the ledger ----

shoal_epoch_refusal shoal_epoch_check(const shoal_epoch_books *books, const shoal_evolving *run,
                                      uint32_t index, uint32_t is_update)
{
    if (index <= books->epoch) return SHOAL_EPOCH_ANSWERED;
    if (index > run->epochs && (index > run->epochs + 1 || !is_update)) return SHOAL_EPOCH_LATE;
    return index == 1 && is_update ? SHOAL_EPOCH_FIRST : SHOAL_EPOCH_ACCEPTED;
}

uint64_t shoal_epoch_vote(shoal_epoch_books *books, const shoal_evolving *run, uint32_t index,
                          uint64_t distance)
{
    uint64_t yes = 0; // mask
    for (uint32_t i = 0; i <= run->levels; i++) {
        uint64_t round_up = ((uint64_t)1 << (SHOAL_EVOLVING_STEP_BITS - 32)) - 1;
        uint64_t tau = (run->step * (i + 1) + round_up) >> (SHOAL_EVOLVING_STEP_BITS - 32);
        uint64_t is_above = 0 - ((tau - distance) >> 63);
        uint64_t divides = 0 - (uint64_t)((index & ((1u << (run->levels - i)) - 1)) == 0);
        yes = (divides & is_above) | (yes & ~is_above);
    }
    // The cap: 4 (c_V + a) <= epsilon.
    uint64_t paid = 4 * ((uint64_t)books->vote_micro + run->vote_micro);
    yes &= 0 - (uint64_t)(index <= run->epochs);
    yes &= ((run->eps_micro - paid) >> 63) - 1;
    books->vote_micro += run->vote_micro & (uint32_t)yes;
    return SHOAL_NUMBER_ONE & yes;
}

uint64_t shoal_epoch_estimate(shoal_epoch_books *books, const shoal_evolving *run,
                              uint32_t is_update)
{
    uint64_t spent = 2 * ((uint64_t)books->estimate_micro + run->estimate_micro);
    if (!is_update || spent > run->eps_micro) return 0;
    books->estimate_micro += run->estimate_micro;
    return UINT64_MAX;
}

// ---- the state as bytes ----

// Returns: w of heavythresh, or 0 for thresh.
static uint32_t rows_of(const shoal_recipe *recipe)
{
    uint32_t k = recipe->parts[SHOAL_EVOLVING_ESTIMATE].k;
    return k > 1 ? k : 0;
}

size_t shoal_run_size(const shoal_recipe *recipe)
{
    if (recipe->n_parts != 2 ||
        (recipe->mechanism != shoal_thresh_id && recipe->mechanism != shoal_heavythresh_id))
        return 0;
    uint32_t rows = rows_of(recipe);
    return SHOAL_RUN_HEADER + (rows > 0 ? 8 * (size_t)rows : 16) + CHECKSUM;
}

static void seal(uint8_t *state, size_t len)
{
    store64_le(state + len - CHECKSUM, shoal_checksum_of(state, len - CHECKSUM));
}

shoal_err shoal_run_init(uint8_t *state, size_t cap, size_t *len, const shoal_recipe *recipe)
{
    size_t size = shoal_run_size(recipe);
    uint32_t rows = rows_of(recipe);
    if (size == 0) return SHOAL_ERR_ARGUMENT;
    if (cap < size) return SHOAL_ERR_SPACE;
    memset(state, 0, size);
    memcpy(state, MAGIC, 8);
    store32_le(state + AT_VERSION, VERSION);
    store32_le(state + AT_ROWS, rows);
    memcpy(state + AT_RUN, recipe->run_hash, 32);
    for (uint32_t i = 0; i < 2 * rows; i++) store32_le(state + SHOAL_RUN_HEADER + 4 * i, 1u << 30);
    for (uint32_t i = 0; i < 2 && rows == 0; i++)
        store64_le(state + SHOAL_RUN_HEADER + 8 * i, (uint64_t)1 << 31);
    seal(state, size);
    *len = size;
    return SHOAL_OK;
}

// Returns: whether the bytes are an undamaged state.
static bool is_whole(const uint8_t *state, size_t len, const shoal_recipe *recipe)
{
    if (len != shoal_run_size(recipe) || memcmp(state, MAGIC, 8) != 0) return false;
    if (load32_le(state + AT_VERSION) != VERSION || load32_le(state + AT_ROWS) != rows_of(recipe))
        return false;
    return load64_le(state + len - CHECKSUM) == shoal_checksum_of(state, len - CHECKSUM);
}

// Reads the ledger from a state of the recipe's run. Returns: ACCEPTED, STATE, RUN.
static shoal_epoch_refusal read_books(shoal_epoch_books *books, const uint8_t *state, size_t len,
                                      const shoal_recipe *recipe)
{
    if (!is_whole(state, len, recipe)) return SHOAL_EPOCH_STATE;
    if (memcmp(state + AT_RUN, recipe->run_hash, 32) != 0) return SHOAL_EPOCH_RUN;
    *books = (shoal_epoch_books){load32_le(state + AT_EPOCH), load32_le(state + AT_VOTE),
                                 load32_le(state + AT_ESTIMATE)};
    bool is_within = 4 * (uint64_t)books->vote_micro <= recipe->eps_micro &&
                     2 * (uint64_t)books->estimate_micro <= recipe->eps_micro &&
                     books->epoch <= recipe->epochs + 1;
    return is_within ? SHOAL_EPOCH_ACCEPTED : SHOAL_EPOCH_STATE;
}

shoal_epoch_refusal shoal_run_open(shoal_epoch_books *books, shoal_evolving *run,
                                   const uint8_t *state, size_t len, const shoal_recipe *recipe)
{
    if (shoal_run_size(recipe) == 0 || recipe->round_index == 0) return SHOAL_EPOCH_NOT_TRACKED;
    shoal_epoch_books own;
    shoal_epoch_refusal refusal = read_books(&own, state, len, recipe);
    if (refusal != SHOAL_EPOCH_ACCEPTED) return refusal;
    shoal_evolving figures = shoal_evolving_of(recipe);
    if (recipe->round_index == own.epoch + 1 && own.epoch > 0 &&
        memcmp(state + AT_LAST, recipe->round_previous, 32) != 0)
        return SHOAL_EPOCH_FOLLOWS;
    refusal = shoal_epoch_check(&own, &figures, recipe->round_index, recipe->round_update);
    if (refusal != SHOAL_EPOCH_ACCEPTED) return refusal;
    *books = own;
    *run = figures;
    return SHOAL_EPOCH_ACCEPTED;
}

void shoal_run_close(uint8_t *state, size_t len, const shoal_epoch_books *books,
                     const shoal_recipe *recipe)
{
    store32_le(state + AT_EPOCH, books->epoch);
    store32_le(state + AT_VOTE, books->vote_micro);
    store32_le(state + AT_ESTIMATE, books->estimate_micro);
    memcpy(state + AT_LAST, recipe->query_hash, 32);
    seal(state, len);
}

shoal_err shoal_run_spent_of(shoal_run_spent *spent, const uint8_t *state, size_t len,
                             const shoal_recipe *recipe)
{
    if (shoal_run_size(recipe) == 0) return SHOAL_ERR_ARGUMENT;
    shoal_epoch_books books;
    shoal_epoch_refusal refusal = read_books(&books, state, len, recipe);
    if (refusal != SHOAL_EPOCH_ACCEPTED)
        return refusal == SHOAL_EPOCH_RUN ? SHOAL_ERR_RECIPE_HASH : SHOAL_ERR_LEDGER;
    *spent = (shoal_run_spent){
        books.epoch, books.vote_micro / recipe->parts[SHOAL_EVOLVING_VOTE].eps_micro,
        books.estimate_micro / recipe->parts[SHOAL_EVOLVING_ESTIMATE].eps_micro,
        2 * books.vote_micro + books.estimate_micro};
    return SHOAL_OK;
}
