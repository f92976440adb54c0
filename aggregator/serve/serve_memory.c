// SPDX-License-Identifier: Apache-2.0
// Adding up the memory of `shoal serve`; see serve_memory.h.
#include "serve_memory.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "agg_parallel.h"
#include "audit_log.h"
#include "compare.h"
#include "compound.h"
#include "database.h"
#include "estimate.h"
#include "folder.h"
#include "input_memory.h"
#include "recipe.h"
#include "serve_access.h"
#include "serve_chain.h"
#include "serve_periods.h"
#include "serve_result.h"
#include "serve_rounds.h"
#include "serve_trends.h"
#include "serve_view_kinds.h"
#include "serve_views.h"

#define STEPS 8 // between the usual amount and the least
#define KEPT_LEAST ((size_t)16 << 20)
#define KEPT_TIMES 2 // how many of the largest estimate
#define FOLD_LEAST ((size_t)1 << 20)
#define JSON_ROW 400u // bytes of a row in JSON, without its value
#define JSON_HEAD 4096u
#define PAGE_ROW 1024u     // bytes of a row on a page, with the copy of its estimate
#define JSON_OF_RECIPE 12u // bytes that a parsed recipe takes for each byte of its text
#define RECORDS_ROOM ((uint64_t)16 << 20)
#define RECORDS_TIMES 3  // copies: in a fold, and in a result that adds a period to the ones before
#define SUMS_OF_THREAD 3 // copies of a sum in one thread: read, added to another, answered
#define SUMS_OF_STORE 5  // copies in the transaction: the batch's, old, new, and the database's two
#define BLOCK ((size_t)128 << 10) // bytes from which on freed memory is returned at once

static uint64_t more_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static size_t between(size_t least, size_t most, unsigned step)
{
    return most <= least ? least : least + (most - least) / STEPS * step;
}

// Returns: the most bytes that a dictionary's rows take as JSON. Some characters need an escape.
static uint64_t json_bytes(const agg_dictionary *dictionary)
{
    uint64_t bytes = JSON_HEAD + dictionary->n * (uint64_t)JSON_ROW;
    for (size_t i = 0; i < dictionary->n; i++)
        for (size_t j = 0; j < dictionary->values[i].len; j++) {
            unsigned char c = (unsigned char)dictionary->values[i].bytes[j];
            bool is_plain =
                c > ' ' && c < 127 && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
            bytes += is_plain || c >= 128 ? 1 : 6;
        }
    return bytes;
}

// Bytes over all collections.
typedef struct sizes {
    uint64_t held;             // dictionaries and recipes
    uint64_t sums;             // one sum of the largest recipe of aggregation "sum"
    uint64_t result;           // accumulators of the largest question
    uint64_t estimate, answer; // the largest dictionary's rows, and the rows as JSON
    uint64_t records;          // distinct records that are kept
    uint64_t rounds;           // the longest chain of rounds, or run, while it is told; 0: none
    uint64_t views;            // making the largest view
} sizes;

static void add_dictionary(sizes *s, const serve_collection *one, const agg_dictionary *dictionary,
                           uint64_t sketches, unsigned n_threads)
{
    const agg_estimate_options options = {.n_threads = n_threads};
    uint64_t rows = dictionary->n * (uint64_t)sizeof(agg_estimate_row),
             json = json_bytes(dictionary);
    // The page over time compares its ends while it holds the estimate of all (serve_periods.h).
    uint64_t estimating = 2 * sketches +
                          agg_estimate_memory(&one->recipe, dictionary->n, &options) +
                          agg_compare_memory(&one->recipe, &one->recipe, dictionary->n, n_threads);
    s->held += cli_dictionary_memory(dictionary);
    s->result = more_of(s->result, more_of(estimating, rows + json));
    s->estimate = more_of(s->estimate, rows);
    s->answer = more_of(s->answer, json);
}

static agg_err add_collection(sizes *s, agg_error *error, serve_collection *one, agg_store *store,
                              unsigned n_threads)
{
    const shoal_recipe *recipe = one->recipe.recipe;
    uint64_t sketches = cli_accumulator_memory(NULL, recipe), files = 0, waiting = 0;
    agg_err err = SHOAL_OK;
    s->held += JSON_OF_RECIPE * one->recipe.json_len + agg_copies_memory(recipe);
    if (recipe->aggregation == SHOAL_AGGREGATION_SUM) s->sums = more_of(s->sums, sketches);
    for (size_t i = 0; i < one->n_dictionaries; i++)
        add_dictionary(s, one, &one->dictionaries[i].dictionary, sketches, n_threads);
    // Alarms are tested after every closing, whether anybody asks for a result or not.
    s->result = more_of(s->result, 2 * sketches + agg_alarms_memory(recipe));
    for (uint32_t i = 0; one->categories != NULL && i < recipe->n_variables; i++)
        s->held += cli_dictionary_memory(&one->categories[i]);
    if (shoal_recipe_keeps_records(recipe)) {
        err = agg_store_bytes(store, &files, &waiting, error, one->number);
        one->records_room = 2 * (files + waiting) + RECORDS_ROOM;
        s->records += RECORDS_TIMES * one->records_room;
    }
    uint64_t view = serve_view_memory(one);
    s->views = more_of(s->views, view);
    if (view > 0) s->answer = more_of(s->answer, SERVE_VIEWS_ANSWER);
    return err;
}

// Finds the bytes of the largest fold, or of the largest merge of blocks, which adds accumulators.
static agg_err find_fold(uint64_t *most, agg_error *error, const serve_collections *collections,
                         size_t fold_bytes, unsigned n_threads)
{
    *most = 0;
    for (size_t i = 0; i < collections->n; i++) {
        const shoal_recipe *recipe = collections->list[i].recipe.recipe;
        agg_accumulator acc;
        if (recipe->aggregation == SHOAL_AGGREGATION_SUM) continue;
        agg_err err = agg_accumulator_init(&acc, error, recipe);
        if (err != SHOAL_OK) return err;
        agg_folder_memory folder = agg_folder_memory_of(&acc, fold_bytes, n_threads);
        agg_accumulator_release(&acc);
        uint64_t sketches = cli_accumulator_memory(NULL, recipe);
        *most = more_of(*most, sketches + more_of(sketches, folder.buffer + folder.beside));
    }
    return SHOAL_OK;
}

static agg_err plan_step(serve_plan *plan, agg_error *error, const serve_config *config,
                         const serve_collections *collections, const sizes *s, unsigned step)
{
    size_t answer = (size_t)more_of(s->answer, s->sums), estimate = (size_t)s->estimate;
    agg_http_room usual = agg_http_room_usual(config->max_body, answer),
                  least = agg_http_room_least(config->max_body, answer);
    uint64_t fold = 0;
    plan->largest_answer = answer;
    plan->held = s->held;
    plan->room = (agg_http_room){(unsigned)between(least.connections, usual.connections, step),
                                 between(least.bodies, usual.bodies, step),
                                 between(least.answers, usual.answers, step)};
    plan->fold_bytes = between(FOLD_LEAST, AGG_STORE_FOLD_BYTES, step);
    plan->kept_bytes = between(estimate, (size_t)more_of(KEPT_LEAST, KEPT_TIMES * estimate), step);
    if (plan->kept_bytes > 8 * estimate)
        plan->kept_bytes = 8 * estimate; // the results thread keeps 8 at most
    plan->kept_bytes += SERVE_PERIODS_LEAST + (s->rounds > 0 ? SERVE_ROUNDS_KEPT : 0);
    agg_err err = find_fold(&fold, error, collections, plan->fold_bytes, agg_parallel_cores());
    uint64_t folding = fold + 2 * (uint64_t)config->max_body; // a batch and the database's copy
    uint64_t summing = s->sums * (SUMS_OF_THREAD * config->threads + SUMS_OF_STORE);
    uint64_t page = s->answer > 0 ? SERVE_PAGE_ROWS_MAX * (uint64_t)PAGE_ROW : 0;
    uint64_t result = more_of(s->result, s->rounds + (s->rounds > 0 ? SERVE_ROUNDS_PAGE : 0));
    uint64_t answering =
        more_of(result, s->estimate + page) + SERVE_PAGE_ROWS_MAX * sizeof(agg_estimate_row);
    uint64_t access = serve_access_memory(config) + agg_audit_log_memory();
    plan->bytes = agg_http_listener_memory(&plan->room, config->threads + 3) + s->held + access +
                  plan->kept_bytes + serve_trends_memory(collections->n) + answering + s->records +
                  folding + summing + AGG_DATABASE_BYTES;
    return err;
}

// Gives views the memory that is left, or a part of it; they are refused where it is too little.
static void plan_views(serve_plan *plan, const sizes *s)
{
    // A reload has both sets for a while.
    uint64_t taken = plan->bytes + s->held;
    uint64_t left = plan->limit == 0      ? SERVE_VIEWS_MOST
                    : taken < plan->limit ? plan->limit - taken
                                          : 0;
    uint64_t kept = s->views > 0 ? SERVE_VIEWS_KEPT : 0;
    if (left < kept) return;
    plan->views_bytes = s->views < left - kept ? s->views : left - kept;
    plan->bytes += plan->views_bytes + kept;
}

agg_err serve_memory_plan(serve_plan *plan, agg_error *error, const serve_config *config,
                          const serve_collections *collections, agg_store *store, uint64_t limit)
{
    sizes s = {0};
    agg_err err = SHOAL_OK;
    *plan = (serve_plan){.limit = limit};
    for (size_t i = 0; err == SHOAL_OK && i < collections->n; i++)
        err = add_collection(&s, error, &collections->list[i], store, agg_parallel_cores());
    s.rounds = serve_chain_memory(collections, agg_parallel_cores());
    for (unsigned step = STEPS; err == SHOAL_OK; step--) {
        err = plan_step(plan, error, config, collections, &s, step);
        if (limit == 0 || plan->bytes <= limit || step == 0) break;
    }
    if (err == SHOAL_OK) plan_views(plan, &s);
    return err;
}

agg_err serve_memory_check(serve_plan *plan, agg_error *error, serve_collection *collection,
                           agg_store *store, bool *has_grown)
{
    uint64_t files = 0, waiting = 0;
    uint32_t size = collection->recipe.recipe->record_size;
    *has_grown = false;
    if (collection->records_room == 0) return SHOAL_OK;
    agg_err err = agg_store_bytes(store, &files, &waiting, error, collection->number);
    uint64_t needed = files + waiting / size * (size + 4); // each record is kept with its count
    if (err != SHOAL_OK || needed <= collection->records_room) return err;
    uint64_t more = RECORDS_TIMES * (2 * needed - collection->records_room);
    if (plan->limit > 0 && plan->bytes + more > plan->limit)
        return agg_fail(
            error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME,
            "its records need more memory than --memory allows; the batches wait on the disk");
    plan->bytes += more;
    collection->records_room = 2 * needed;
    *has_grown = true;
    return SHOAL_OK;
}

void serve_memory_settle(void)
{
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, (int)BLOCK);
#endif
}
