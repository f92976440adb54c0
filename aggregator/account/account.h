// SPDX-License-Identifier: Apache-2.0
// An account describes what a mechanism can tell before any record exists. The planner takes from
// it the settings worth comparing, and the auditor the output law. The recipe writer takes the
// defaults, and the guarantees take the bounds that hold. Pure; doubles.
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "mechanism.h"
#include "pair_law.h"

// The quantity that a plan estimates, and the limits of the plan. All counts are numbers of
// reports.
typedef struct agg_wish {
    uint32_t eps_micro; // epsilon of one report, replacement model
    uint32_t size;      // values of a closed domain; 0: open strings
    bool is_number;     // the plan is for a mean
    double n;           // reports
    double squares;     // sum over all values of (devices that hold it)^2
    double cells;       // the most four-byte numbers that a sketch may hold, row counters included
} agg_wish;

// The kinds of values for which a mechanism is the default when a recipe states none. Each bit
// belongs to one mechanism.
enum {
    AGG_USUAL_STRINGS = 1 << 0,
    AGG_USUAL_LIST = 1 << 1,
    AGG_USUAL_CELLS = 1 << 2, // combinations of an event's fields
    AGG_USUAL_NUMBER = 1 << 3,
    AGG_USUAL_VARIABLE_STRINGS = 1 << 4, // one string variable of a joint recipe
    AGG_USUAL_VARIABLE_FEW = 1 << 5,     // a variable with at most e^epsilon + 2 listed values
    AGG_USUAL_VARIABLE_MANY = 1 << 6,    // a variable with more listed values
    AGG_USUAL_SHORT_RECORDS = 1 << 7,    // a long list: records are short, errors the same
    AGG_USUAL_SHORTEST_RECORDS = 1 << 8  // a very long list: one cell is sent, errors grow
};

// The closed forms that a paper states for a sketch of k rows and m columns (apple-2017 section 5).
typedef struct agg_paper_cost {
    double (*bits)(const shoal_part *part); // bits of a record
    // Returns: the server's steps for n records and p values, up to a constant factor.
    double (*steps)(const shoal_part *part, double n, double p);
    const char *bits_text; // the formula of `bits`
} agg_paper_cost;

typedef struct agg_account {
    uint32_t id;
    uint32_t usual_for; // AGG_USUAL_*
    // The printed names of the part's k and m; NULL: "rows" and "columns".
    const char *rows, *columns;
    // `variance` of a mean is about the mean of these very devices. An estimate's error about the
    // mean of the crowd also has how their numbers differ, which nobody knows beforehand.
    bool is_of_devices;
    bool sums_up; // every record of a list supports the same number of values, "none" among them
    bool has_bit_a_value; // a record has one independently randomized bit for each listed value
    // Sets the parameters of the index-th variant that is worth comparing: mechanism, domain, hash,
    // eps_micro, k, m, size and the like. The part is not yet prepared, and the caller gives the
    // seed. The caller drops a variant that breaks a limit.
    // Returns: whether there is an index-th variant.
    bool (*propose)(shoal_part *part, const agg_wish *wish, uint32_t index);
    // Returns: the variance of the estimated count of a value that f of n devices hold, in reports
    // squared. For a mean: the variance of the fraction.
    //   f: devices; for a mean, the fraction times n
    //   squares: as in agg_wish. Where the variance depends on which values share a block or a
    //   cell, the result is its expectation over the keys.
    double (*variance)(const shoal_part *part, double n, double f, double squares);

    // Used by the auditor.
    // Returns: whether the record lies in the event whose probability under item a is e^epsilon
    // times its probability under item b.
    bool (*tells_apart)(const shoal_part *part, const uint8_t *record, uint64_t a, uint64_t b);
    // Returns: the number of indices that cover all records the part can make; 0 if it exceeds
    // 2^20.
    uint64_t (*n_outputs)(const shoal_part *part);
    // Writes the record of an index below n_outputs.
    // Returns: whether the index stands for a record.
    bool (*output)(uint8_t *record, const shoal_part *part, uint64_t index);
    // Returns: the probability of a record given an item (SHOAL_ITEM_NONE too), from the integer
    // thresholds. For a permanent mechanism, each report comes from a fresh device.
    double (*probability)(const shoal_part *part, const uint8_t *record, uint64_t item);

    // A member below is NULL if the mechanism does not offer it.

    // Fills in k, m and g of a new recipe where the options leave them out, that is, where the
    // part's members are 0. NULL: the defaults of the recipe's fields.
    //   n: reports
    void (*draft)(shoal_part *part, double epsilon, double n);
    bool draft_needs_reports; // what `draft` fills in follows n
    // Fills in p, q and f of one variable of a joint recipe, whose `hashes` cost epsilon together.
    void (*draft_variable)(shoal_part *part, double epsilon);
    // Returns: the central epsilon of n reports at delta, by a bound of the mechanism's own.
    //   local: epsilon of one report
    double (*central)(double local, double n, double delta);
    // Adds the classes of the part's records to an empty law (pair_law.h); NULL: general bounds of
    // amplification hold, which take the worst mechanism of this epsilon.
    void (*pair)(agg_pair_law *law, const shoal_part *part);
    // Makes every report of the part the permanent answer itself, which is what many reports of one
    // value reveal.
    // Returns: SHOAL_ERR_RANGE if the permanent answer hides nothing.
    shoal_err (*reveal)(shoal_part *part);
    // Computes the epsilon of any number of reports of any values, of a reader who knows which of
    // them share a permanent answer. NULL unless there is a bound that no number of values exceeds.
    shoal_err (*changing)(uint64_t *eps_micro, const shoal_part *part);
    const agg_paper_cost *paper;
} agg_account;

#define SHOAL_MECHANISM(id, stem, name) extern const agg_account agg_##stem##_account;
#include "mechanisms.def"
#undef SHOAL_MECHANISM

// Returns: the account of a mechanism id, or NULL.
const agg_account *agg_account_of(uint32_t mechanism);

// Returns: the account of the mechanism that is usual for one AGG_USUAL_* bit.
const agg_account *agg_account_usual(uint32_t kind);

// Returns: the index-th account of the registry, or NULL if there are fewer.
const agg_account *agg_account_at(uint32_t index);

#endif
