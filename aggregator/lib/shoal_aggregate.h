// SPDX-License-Identifier: Apache-2.0
// libshoal_aggregate: what the command `shoal` does with reports, for other programs.
//
// Five calls are enough for an engine that folds batches: shoal_agg_recipe_from_file,
// shoal_agg_accumulator_new, shoal_agg_accumulator_add_batches, shoal_agg_accumulator_merge and
// shoal_agg_accumulator_save. shoal_agg_estimate_new turns a sum into counts. shoal_agg_run does
// everything else: it runs a command of `shoal` in this process and returns what it prints.
//
// Conventions, which hold where a call says nothing else:
//
//   Errors   A call that can fail returns SHOAL_AGG_OK or the code of an error, and fills `error`
//            only when it fails. `error` may be NULL. Outputs are written only on SHOAL_AGG_OK. On
//            an error the inputs are as they were before. Out of memory is an ordinary error; if
//            it ends a call that was adding records, later calls on that accumulator are refused
//            with SHOAL_AGG_MEMORY, and nothing half-added is ever saved.
//   Memory   Who gets a handle or shoal_agg_bytes releases it with the call that is named there.
//            Arguments are copied or read before the call returns, so the caller may release them;
//            where one is kept, the call says so. NULL may be released.
//   Threads  Calls on different handles may run at the same time in any threads. A handle that is
//            passed as const may be read by several threads at once; one that is not const belongs
//            to one thread at a time. Calls may start threads of their own, which end before the
//            call returns.
//   Process  The library has no state of its own. It writes nothing to standard output or standard
//            error, reads nothing from standard input, and never ends the process. It does not
//            change the locale, the signals, the working directory or the umask.
//   Texts    Texts are UTF-8. A text with a length may hold any byte; one without ends with NUL.
//
// Privacy: errors and log lines never contain a value of a report. The minimum cohort and the
// release threshold of a recipe hold here as they do in the command.
//
// Versions: functions are only added while the library's SONAME stays. A struct that the caller
// fills or gets begins with `size`, set to sizeof, so that members can be added at its end.
#ifndef SHOAL_AGGREGATE_H
#define SHOAL_AGGREGATE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#define SHOAL_AGG_API __attribute__((visibility("default")))
#define SHOAL_AGG_MUST_CHECK __attribute__((warn_unused_result))
#else
#define SHOAL_AGG_API
#define SHOAL_AGG_MUST_CHECK
#endif

// ---- errors ----

// The code of an error. Codes and their names never change; new ones are added.
typedef uint32_t shoal_agg_code;

#define SHOAL_AGG_OK 0u            // "ok"
#define SHOAL_AGG_ARGUMENT 1u      // "argument": the caller broke a function's contract
#define SHOAL_AGG_RANGE 2u         // "range": a number or length outside its range
#define SHOAL_AGG_UNKNOWN_FIELD 3u // "unknown-field": a field of a recipe that nobody knows
#define SHOAL_AGG_MISSING_FIELD 4u // "missing-field": a required field of a recipe is absent
#define SHOAL_AGG_TYPE 5u          // "type": a field or value does not have the form of its type
#define SHOAL_AGG_DUPLICATE 6u     // "duplicate": counted already, or given twice
#define SHOAL_AGG_MECHANISM 7u     // "mechanism": an unknown mechanism
#define SHOAL_AGG_RECORD 8u        // "record": a record that no device can have made
#define SHOAL_AGG_TRUNCATED 9u     // "truncated": the bytes end too early
#define SHOAL_AGG_MAGIC 10u        // "magic": the bytes are of another format
#define SHOAL_AGG_BAD_VERSION 11u  // "version": a version of a format that is not read here
#define SHOAL_AGG_CHECKSUM 12u     // "checksum": the bytes were damaged
#define SHOAL_AGG_RECIPE_HASH 13u  // "recipe-hash": the bytes belong to another recipe
#define SHOAL_AGG_SPACE 14u        // "space": a buffer is too small
#define SHOAL_AGG_OVERFLOW 19u     // "overflow": a count would no longer be exact
#define SHOAL_AGG_EXTRA 20u        // "extra": bytes follow the end
#define SHOAL_AGG_BATCH_ID 22u     // "batch-id": a batch whose id is not the hash of its bytes
#define SHOAL_AGG_DAY_ZERO 23u     // "day-zero": a batch whose sealed day is missing
#define SHOAL_AGG_DAY_LATE 24u     // "day-late": a batch whose sealed day has not come yet
#define SHOAL_AGG_IO 100u          // "io": a file could not be read or written
#define SHOAL_AGG_MEMORY 101u      // "memory": out of memory
#define SHOAL_AGG_NOT_JSON 102u    // "json": a text is not JSON
#define SHOAL_AGG_COHORT 103u      // "cohort": fewer reports than the recipe's minimum cohort
#define SHOAL_AGG_REJECTED 104u    // "rejected": too many rejected reports
#define SHOAL_AGG_USAGE 105u       // "usage": the question is wrong
#define SHOAL_AGG_SIGNATURE 106u   // "signature": missing, wrong, or by another key
#define SHOAL_AGG_ALARM 107u       // "alarm": a result raised an alarm, and failure was asked for
#define SHOAL_AGG_INCOMPLETE 108u  // "incomplete": shards or rows of an accumulator are missing
#define SHOAL_AGG_VERDICT 120u     // "verdict": a command's result says no, such as a failed audit

#define SHOAL_AGG_ERROR_TEXT 512

// What went wrong. Its size and members are fixed.
typedef struct shoal_agg_error {
    shoal_agg_code code;
    uint32_t exit_code;              // with which the command `shoal` would have ended
    char text[SHOAL_AGG_ERROR_TEXT]; // a sentence that says what and where
} shoal_agg_error;

// Returns: the static name of a code, as in the list above; "unknown" for other numbers.
SHOAL_AGG_API const char *shoal_agg_error_name(shoal_agg_code code);

// ---- bytes that the library made ----

typedef struct shoal_agg_bytes {
    uint8_t *data; // NULL if len is 0
    size_t len;
} shoal_agg_bytes;

// Releases the bytes and makes them empty.
SHOAL_AGG_API void shoal_agg_bytes_free(shoal_agg_bytes *bytes);

// ---- version ----

// Returns: the static version of the library, such as "0.1.0".
SHOAL_AGG_API const char *shoal_agg_version(void);

// ---- recipes ----

// A recipe: the contract of a collection. It never changes once it is open, so any number of
// threads may use it.
typedef struct shoal_agg_recipe shoal_agg_recipe;

// Opens a recipe from JSON text, or from a file. Release it with shoal_agg_recipe_free;
// accumulators that were made with it keep what they need.
//   name: of the text in errors; NULL: "recipe"
SHOAL_AGG_API shoal_agg_code
shoal_agg_recipe_from_json(shoal_agg_recipe **recipe, const char *name, const char *json,
                           size_t len, shoal_agg_error *error) SHOAL_AGG_MUST_CHECK;
SHOAL_AGG_API shoal_agg_code shoal_agg_recipe_from_file(
    shoal_agg_recipe **recipe, const char *path, shoal_agg_error *error) SHOAL_AGG_MUST_CHECK;
SHOAL_AGG_API void shoal_agg_recipe_free(shoal_agg_recipe *recipe);

// Returns: the recipe's id, its hash as 64 hex digits, the name of its mechanism, and the text that
// it was opened from. They live as long as the recipe.
SHOAL_AGG_API const char *shoal_agg_recipe_id(const shoal_agg_recipe *recipe);
SHOAL_AGG_API const char *shoal_agg_recipe_hash(const shoal_agg_recipe *recipe);
SHOAL_AGG_API const char *shoal_agg_recipe_mechanism(const shoal_agg_recipe *recipe);
SHOAL_AGG_API const char *shoal_agg_recipe_json(const shoal_agg_recipe *recipe);

// What a recipe says of its reports. shoal_agg_run with "recipe check" tells the rest.
typedef struct shoal_agg_recipe_facts {
    size_t size;                // sizeof(shoal_agg_recipe_facts)
    double epsilon;             // of one report
    uint64_t n_values;          // values of a closed domain; 0 if any value may be sent
    uint64_t release_threshold; // counts below it are withheld; 0: none are
    uint32_t record_size;       // bytes of one record
    uint32_t report_size;       // bytes of one report, a JSON text, without the end of its line
    uint32_t cohort_minimum;    // reports below which nothing is estimated
    uint32_t n_variables;       // of a joint recipe; 0 for others
    uint32_t is_mean;           // 1 if a mean is estimated and no counts
} shoal_agg_recipe_facts;

SHOAL_AGG_API shoal_agg_code shoal_agg_recipe_facts_of(shoal_agg_recipe_facts *facts,
                                                       const shoal_agg_recipe *recipe,
                                                       shoal_agg_error *error) SHOAL_AGG_MUST_CHECK;

// Returns: value i of a recipe whose values are a list of texts, not NUL-terminated, *len bytes.
// NULL if i is out of range or the recipe lists no texts. It lives as long as the recipe.
SHOAL_AGG_API const char *shoal_agg_recipe_value(const shoal_agg_recipe *recipe, uint64_t i,
                                                 size_t *len);

// ---- accumulators ----

// The sum of the records of one recipe, in integers. Any split of the records over accumulators,
// threads and machines, in any order, merges to the same bytes. It lists what it counts: batches by
// their ids, and records under the claims of the caller. Adding what it counts already is refused.
typedef struct shoal_agg_accumulator shoal_agg_accumulator;

#define SHOAL_AGG_CLAIM 16 // bytes of the id of a batch or of a claim

// Makes an empty accumulator. Release it with shoal_agg_accumulator_free.
SHOAL_AGG_API shoal_agg_code shoal_agg_accumulator_new(shoal_agg_accumulator **accumulator,
                                                       const shoal_agg_recipe *recipe,
                                                       shoal_agg_error *error) SHOAL_AGG_MUST_CHECK;
SHOAL_AGG_API void shoal_agg_accumulator_free(shoal_agg_accumulator *accumulator);

// Sets how many threads later calls on this accumulator may take: 1 at first; 0: one a core.
SHOAL_AGG_API void shoal_agg_accumulator_set_threads(shoal_agg_accumulator *accumulator,
                                                     uint32_t n_threads);

// What a call that adds has done.
typedef struct shoal_agg_added {
    size_t size;       // sizeof(shoal_agg_added)
    uint64_t records;  // that were added
    uint64_t batches;  // that were added
    uint64_t held;     // batches that were left out, because they are counted already
    uint64_t rejected; // lines that hold no good report
} shoal_agg_added;

// What to do with a batch that the accumulator counts already.
#define SHOAL_AGG_REFUSE_HELD 0u // fail with SHOAL_AGG_DUPLICATE, and add nothing
#define SHOAL_AGG_SKIP_HELD 1u   // leave it out, and add the others

// Adds the records of batches, as the edge seals them: one batch, or several without gaps. A batch
// that comes twice in one call counts once. All are checked before any is added.
//   added: may be NULL
SHOAL_AGG_API shoal_agg_code shoal_agg_accumulator_add_batches(
    shoal_agg_accumulator *accumulator, const uint8_t *bytes, size_t len, uint32_t held,
    shoal_agg_added *added, shoal_agg_error *error) SHOAL_AGG_MUST_CHECK;

// Adds reports as devices send them, a JSON text a line. The whole text is one claim, by a
// fingerprint of its records, as a file of reports is for `shoal ingest`.
//   max_rejected: the share of lines that may hold no good report, 0 to 1; beyond it the call fails
//                 with SHOAL_AGG_REJECTED, which names the first of them, and adds nothing
//   added: may be NULL
SHOAL_AGG_API shoal_agg_code shoal_agg_accumulator_add_reports(
    shoal_agg_accumulator *accumulator, const char *lines, size_t len, double max_rejected,
    shoal_agg_added *added, shoal_agg_error *error) SHOAL_AGG_MUST_CHECK;

// Adds n binary records that lie together, record_size bytes each (shoal_agg_recipe_facts). They
// are read where they lie, without copies. All are checked before any is added.
//   claim: SHOAL_AGG_CLAIM bytes that name these records for ever, such as the id of the message
//          that brought them; refused if it is counted already. NULL: the records are claimed by
//          nothing, and merging cannot find that they count twice
SHOAL_AGG_API shoal_agg_code shoal_agg_accumulator_add_records(
    shoal_agg_accumulator *accumulator, const uint8_t *records, uint64_t n, const uint8_t *claim,
    shoal_agg_error *error) SHOAL_AGG_MUST_CHECK;

// Adds another accumulator of the same recipe, with its claims. Fails with SHOAL_AGG_DUPLICATE,
// naming it, if both count the same.
//   from: as it was afterwards; it belongs to this thread during the call
SHOAL_AGG_API shoal_agg_code
shoal_agg_accumulator_merge(shoal_agg_accumulator *into, shoal_agg_accumulator *from,
                            shoal_agg_error *error) SHOAL_AGG_MUST_CHECK;

// Writes the accumulator's file, which `shoal` reads, or its bytes. A file is replaced atomically
// and is on the disk when the call returns.
SHOAL_AGG_API shoal_agg_code shoal_agg_accumulator_save(shoal_agg_accumulator *accumulator,
                                                        const char *path, shoal_agg_error *error)
    SHOAL_AGG_MUST_CHECK;
SHOAL_AGG_API shoal_agg_code
shoal_agg_accumulator_to_bytes(shoal_agg_accumulator *accumulator, shoal_agg_bytes *bytes,
                               shoal_agg_error *error) SHOAL_AGG_MUST_CHECK;

// Reads an accumulator of this recipe from its file or from its bytes. Anything but exactly what
// the calls above and `shoal` write is refused.
SHOAL_AGG_API shoal_agg_code
shoal_agg_accumulator_load(shoal_agg_accumulator **accumulator, const shoal_agg_recipe *recipe,
                           const char *path, shoal_agg_error *error) SHOAL_AGG_MUST_CHECK;
SHOAL_AGG_API shoal_agg_code shoal_agg_accumulator_from_bytes(
    shoal_agg_accumulator **accumulator, const shoal_agg_recipe *recipe, const uint8_t *bytes,
    size_t len, shoal_agg_error *error) SHOAL_AGG_MUST_CHECK;

// Returns: the number of records that were added.
SHOAL_AGG_API uint64_t shoal_agg_accumulator_n(const shoal_agg_accumulator *accumulator);

// Returns: the number of claims, ids of batches among them.
SHOAL_AGG_API uint64_t shoal_agg_accumulator_n_claims(const shoal_agg_accumulator *accumulator);

// Returns: the claims, ascending, SHOAL_AGG_CLAIM bytes each; NULL if there are none. They are
// valid until the next call that changes the accumulator.
SHOAL_AGG_API const uint8_t *shoal_agg_accumulator_claims(const shoal_agg_accumulator *accumulator);

// Returns: 1 if a claim names every record, so that merging finds whatever would count twice.
SHOAL_AGG_API uint32_t shoal_agg_accumulator_is_claimed(const shoal_agg_accumulator *accumulator);

// ---- estimates ----

// The correction for how many values were asked about, behind `detected`.
#define SHOAL_AGG_BONFERRONI 0u // the chance that any value that nobody sent is detected
#define SHOAL_AGG_BH 1u         // the share of such values among the detected
#define SHOAL_AGG_NO_CORRECTION 2u

typedef struct shoal_agg_estimate_options {
    size_t size;         // sizeof(shoal_agg_estimate_options)
    double confidence;   // of the intervals, between 0 and 1; 0: 0.95
    uint32_t multiple;   // SHOAL_AGG_BONFERRONI and so on
    uint32_t n_threads;  // 0: one a core
    uint32_t incomplete; // 1: estimate though shards of manifests are missing; 0: refuse that
} shoal_agg_estimate_options;

// A value that is asked about. It need not be NUL-terminated.
typedef struct shoal_agg_text {
    const char *bytes;
    size_t len;
} shoal_agg_text;

// Counts, one row for each value that was asked about.
typedef struct shoal_agg_estimate shoal_agg_estimate;

// Estimates how many reports each value has. The counts have no bias and may be negative.
//   values: the values to count; two of them may be the same. NULL: all of the recipe's own list,
//           in its order, where n_values is not read. A recipe that estimates a mean has the one
//           row "mean"
//   options: NULL: 95 % intervals, Bonferroni's correction, one thread a core
// Returns: SHOAL_AGG_COHORT for fewer reports than the recipe's minimum cohort;
// SHOAL_AGG_INCOMPLETE, naming them, for missing shards of a manifest; SHOAL_AGG_USAGE for
// a joint recipe, which shoal_agg_run answers with "joint"; SHOAL_AGG_RANGE, naming its place, for
// a value outside the recipe's list.
// Release the estimate with shoal_agg_estimate_free.
SHOAL_AGG_API shoal_agg_code shoal_agg_estimate_new(shoal_agg_estimate **estimate,
                                                    shoal_agg_accumulator *accumulator,
                                                    const shoal_agg_text *values, size_t n_values,
                                                    const shoal_agg_estimate_options *options,
                                                    shoal_agg_error *error) SHOAL_AGG_MUST_CHECK;

// The same for values that are named by their place in the recipe's list, from 0.
SHOAL_AGG_API shoal_agg_code shoal_agg_estimate_new_of_indices(
    shoal_agg_estimate **estimate, shoal_agg_accumulator *accumulator, const uint64_t *indices,
    size_t n_indices, const shoal_agg_estimate_options *options,
    shoal_agg_error *error) SHOAL_AGG_MUST_CHECK;
SHOAL_AGG_API void shoal_agg_estimate_free(shoal_agg_estimate *estimate);

// The result, as arrays of n_rows entries in the order of the values that were asked about. They
// live as long as the estimate. A count below the recipe's release threshold is withheld: its
// numbers are NaN.
typedef struct shoal_agg_columns {
    size_t size; // sizeof(shoal_agg_columns)
    size_t n_rows;
    uint64_t n_reports;  // in the accumulator
    double confidence;   // of the intervals
    uint64_t n_withheld; // values that are withheld
    uint64_t n_alarms;   // alarms that were raised; `shoal estimate` prints which
    const double *count; // reports; for a mean, the mean
    const double *standard_error;
    const double *low, *high;    // interval at the confidence
    const uint8_t *detected;     // 1 if the count can be told from zero; 0 for a mean
    const uint8_t *withheld;     // 1 if the row is withheld
    const shoal_agg_text *value; // as the recipe's text rule makes it
    uint64_t n_shards;           // of the manifests that the accumulator counts
    uint64_t n_missing_shards;   // not 0 only where `incomplete` allowed it
} shoal_agg_columns;

SHOAL_AGG_API shoal_agg_code
shoal_agg_estimate_columns(shoal_agg_columns *columns, const shoal_agg_estimate *estimate,
                           shoal_agg_error *error) SHOAL_AGG_MUST_CHECK;

// ---- all other commands ----

// How to run commands: log, threads and memory. Several threads may run commands with one context,
// as long as none changes it.
typedef struct shoal_agg_context shoal_agg_context;

// Takes a line of the log of a command, without a newline. Lines of one command come one at a time,
// perhaps in another thread than that which called; those of commands that run at the same time may
// come at the same time.
//   user: as given to shoal_agg_context_set_log
//   text: valid during the call
typedef void (*shoal_agg_log)(void *user, const char *text);

SHOAL_AGG_API shoal_agg_code shoal_agg_context_new(shoal_agg_context **context,
                                                   shoal_agg_error *error) SHOAL_AGG_MUST_CHECK;
SHOAL_AGG_API void shoal_agg_context_free(shoal_agg_context *context);

// Sets where log lines go; NULL, as at first: nowhere.
//   user: kept and passed on
SHOAL_AGG_API void shoal_agg_context_set_log(shoal_agg_context *context, shoal_agg_log log,
                                             void *user);

// Runs a command of `shoal` in this process, through the same code, and returns what it prints.
//   context: NULL: no log
//   command: the name, with that of the action if there is one: "plan", "recipe check";
//            shoal_agg_command lists them
//   options: a JSON object of the command's own long options without dashes, such as
//            {"recipe": "fish.json", "top": 10, "fail-on-alarm": true}. A value is a text, a
//            number, a boolean (false: as if it were absent), or a list for an option that may be
//            repeated. The member "words" lists what stands on a command line without an option:
//            files and the like. NULL: no options
//   format:  "json", "ndjson", "csv", "arrow" or "table", for commands that have it; NULL: as the
//            command prints without the option
//   out:     what the command prints on standard output, to be released with shoal_agg_bytes_free.
//            It is always written, and may be empty: with SHOAL_AGG_ALARM and SHOAL_AGG_VERDICT a
//            result comes with the error. Files that options name are written as the command writes
//            them
// The file "-" is `out` for output, and refused for input. Paths are relative to the working
// directory of the process. Commands that serve, ask questions or reach the network are not here.
// Returns: SHOAL_AGG_USAGE for an unknown command or option; else what the command fails with.
SHOAL_AGG_API shoal_agg_code shoal_agg_run(const shoal_agg_context *context, const char *command,
                                           const char *options, const char *format,
                                           shoal_agg_bytes *out,
                                           shoal_agg_error *error) SHOAL_AGG_MUST_CHECK;

// Returns: the static name of the command with the number i, from 0; NULL from the last on.
SHOAL_AGG_API const char *shoal_agg_command(size_t i);

#ifdef __cplusplus
}
#endif

#endif
