// SPDX-License-Identifier: Apache-2.0
// The collections of a server: every configured recipe with its dictionaries and its number in the
// store. Collections are read-only once loaded, except the counters, which any thread may add to.
#ifndef COLLECTION_H
#define COLLECTION_H

#include <stdatomic.h>

#include "alarms.h"
#include "dictionary.h"
#include "guarantee.h"
#include "recipe_json.h"
#include "serve_config.h"
#include "store.h"

enum { SERVE_WATCHED = 2 }; // answers whose alarms are watched (serve_alarms.h)

typedef struct serve_dictionary {
    const char *name; // as the configuration calls it
    agg_dictionary dictionary;
} serve_dictionary;

typedef enum serve_counter {
    COUNT_BATCHES_STORED,
    COUNT_BATCHES_KNOWN,
    COUNT_RECORDS_STORED,
    COUNT_FOLDS,
    COUNT_FOLD_FAILURES,
    COUNTER_COUNT
} serve_counter;

// What a collection counts while the server runs, also across reloads.
typedef struct serve_live {
    int64_t number;                        // of the collection in the store
    atomic_ullong counters[COUNTER_COUNT]; // since the start
    atomic_bool is_alarm_due;              // a block has closed since alarms were tested
    atomic_bool is_trend_due;              // one has closed or was merged since (serve_trends.h)
    atomic_uint closings;                  // how often blocks have closed or were merged
    atomic_int alarms[SERVE_WATCHED][AGG_ALARM_CODES]; // agg_alarm_outcome
    atomic_bool is_fold_failing; // the last fold failed, not for want of planned memory
    double due_s; // when it may be folded again, on the monotonic clock; the folding thread's own
} serve_live;

typedef struct serve_collection {
    agg_recipe recipe;
    int64_t number;                     // in the store
    serve_live *live;                   // set when the collection is put in force
    uint32_t tick_s;                    // seconds between ticks at which its blocks close
    double growth_alarm;                // serve_config.h
    double honest;                      // share of honest reports that is assumed; 0: none stated
    _Atomic(agg_guarantee *) guarantee; // at the smallest block; NULL until somebody asked
    serve_dictionary *dictionaries;     // the first one answers a request that names none
    size_t n_dictionaries;
    agg_dictionary *categories; // of each variable of a joint recipe; empty: its own list
    // Bytes of memory planned for the distinct records that are kept; 0 when the recipe keeps none.
    // Only the folding thread touches it once that runs.
    uint64_t records_room;
} serve_collection;

typedef struct serve_collections {
    serve_collection *list;
    size_t n;
} serve_collections;

// Loads recipes and dictionaries. The dictionary "default" of a recipe with a closed domain is the
// domain's own list.
//   config: outlives the collections
//   log: receives warnings of dictionary lines that the text rule would change
agg_err serve_collections_load(serve_collections *collections, agg_error *error,
                               const serve_config *config, agg_log_fn log,
                               void *log_context) SHOAL_MUST_CHECK;

// Enters the recipes in the store, which gives the collections their numbers.
agg_err serve_collections_enter(serve_collections *collections, agg_error *error,
                                agg_store *store) SHOAL_MUST_CHECK;
void serve_collections_release(serve_collections *collections);

// Returns: the collection of a recipe id or hash, or NULL.
serve_collection *serve_collection_by_id(const serve_collections *collections, const char *id);
serve_collection *serve_collection_by_hash(const serve_collections *collections,
                                           const uint8_t hash[32]);

// Fills in the one answer to every question that closed blocks cannot answer, whatever waits: the
// minimum and the next tick.
//   now_s: seconds since 1970-01-01 00:00 UTC
void serve_collection_say_too_few(agg_error *error, const serve_collection *collection,
                                  int64_t now_s);

// Loads a dictionary of the configuration. Of a recipe with variables it is of the variable that
// has its name.
//   variable: set to that variable; 0 for a recipe of one value
agg_err serve_dictionary_load(agg_dictionary *dictionary, uint32_t *variable, agg_error *error,
                              const agg_recipe *recipe, const serve_dictionary_path *path,
                              agg_log_fn log, void *log_context) SHOAL_MUST_CHECK;

// Returns: the dictionary of a name, or the first one when name is NULL; NULL when there is none.
const serve_dictionary *serve_dictionary_of(const serve_collection *collection, const char *name);

#endif
