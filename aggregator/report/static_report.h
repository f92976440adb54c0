// SPDX-License-Identifier: Apache-2.0
// A result as one self-contained page, to send to somebody: no script, nothing that is fetched, and
// a Content-Security-Policy that forbids both. It is made of accumulators alone.
//
// Of a joint recipe the page has a heat map of each pair of variables (joint_picture.h), of all
// accumulators together; they need their records.
//
// Of a recipe that finds strings the page has those that nobody listed (static_discovery.h). If it
// has no dictionary, the strings found are what is followed over time.
//
// The page has all accumulators together, as `shoal estimate` counts them, and how their numbers
// are spread (distribution_picture.h) if they tell a distribution; with several, each value over
// them in their order, and the first against the last, as `shoal compare` does.
#ifndef STATIC_REPORT_H
#define STATIC_REPORT_H

#include <stddef.h>
#include <stdio.h>

#include "accumulator.h"
#include "estimate.h"
#include "guarantee.h"
#include "result_page.h"

typedef struct agg_static_report {
    const char *title;
    const agg_recipe *recipe;         // of one value, such as a view of a variable; or joint
    const agg_dictionary *dictionary; // the values to count, of a recipe of one value; empty where
                                      // only unlisted strings are to be found
    const char *const *categories;    // for each variable of a joint recipe the file of its values,
                                      // or NULL for its own list; NULL for a recipe of one value
    // The same as dictionaries, in place of files; NULL for none, and NULL or empty for a variable
    // without one.
    const agg_dictionary *const *values;
    uint64_t memory; // bytes that a joint analysis may take; 0: any
    // Of a recipe whose mechanism finds strings in rounds: the rounds, in their order, each with
    // its recipe and accumulators. The report's own are those of the first one.
    const struct agg_static_report *rounds;
    size_t n_rounds;
    const agg_recipe *next; // the round that is asked next and has no reports yet; NULL for none
    bool finds; // whether strings that nobody listed are looked for; the recipe's mechanism can
    const agg_list *known;    // strings that are no discovery; may be NULL
    const char *const *names; // of the accumulators, in the order of time; hostile text
    size_t n;                 // accumulators: 1 .. AGG_STATIC_REPORT_MAX
    // Loads accumulator i, which the caller of it releases. It is called up to five times for each,
    // so that two accumulators are in memory at most; of rounds, one of each.
    agg_err (*load)(void *context, agg_accumulator *acc, agg_error *error, size_t i);
    // Asked between the steps of a joint analysis: whether it goes on, else why not; NULL: always.
    bool (*goes_on)(void *context, agg_error *error);
    void *context;
    // What an earlier page with the same recipe, dictionary and options is made of, from which
    // figures of single accumulators are taken; NULL for none. was[i] is which of its accumulators
    // is number i of this one, to the byte, or AGG_STATIC_NEW.
    const struct agg_static_made *before;
    const size_t *was;
    agg_estimate_options options; // by and post: zeros
    agg_release release;
    const char *among; // its name in headings and labels, distinct, if a page has several; or NULL
    // On a server; NULL in a file, as in agg_page.
    const char *home, *account;
    const agg_page_link *links;
    const char *note;             // before the sections; plain text, escaped here; NULL for none
    const agg_table_order *order; // of the tables, which the page offers to change
    // Path and arguments of the figures of a joint recipe or of the strings found, to which others
    // are added; NULL for none.
    const char *downloads;
    // Path of a script of the same origin that draws the trends from their table, whose cells then
    // have the exact numbers; NULL for none.
    const char *script;
} agg_static_report;

#define AGG_STATIC_REPORT_MAX 400u
#define AGG_STATIC_NEW ((size_t)-1)
#define AGG_STATIC_TRENDS 6u   // values that are drawn over time
#define AGG_STATIC_CHANGES 12u // values of the comparison

// What a page is made of: everything that takes time. It points into the report's recipe,
// dictionary and accumulators' values, not into its names.
typedef struct agg_static_made agg_static_made;

// Makes what the page needs, which agg_static_report_release frees.
// Returns: as agg_estimate_run and agg_compare_run for each accumulator, of which none may be below
// the minimum cohort, with its name in front; SHOAL_ERR_DUPLICATE if two count the same reports.
// *made is NULL then.
agg_err agg_static_report_make(agg_static_made **made, agg_error *error,
                               const agg_static_report *report) SHOAL_MUST_CHECK;

// Prints the page. It loads no accumulator, so that a server prints it again in another order.
//   report: that of agg_static_report_make, of the same recipe, dictionary, accumulators and
//   options; title, home, account, links and order are free
// Returns: AGG_ERR_IO if the stream fails.
agg_err agg_static_report_print(FILE *stream, agg_error *error, const agg_static_report *report,
                                const agg_static_made *made) SHOAL_MUST_CHECK;

// Print what comes before and after the sections of a page.
void agg_static_report_open(FILE *stream, const agg_static_report *report);
agg_err agg_static_report_close(FILE *stream, agg_error *error,
                                const agg_static_report *report) SHOAL_MUST_CHECK;

// What a page says in place of a section that there is not.
typedef struct agg_static_note {
    const char *head, *text; // UTF-8, escaped here
    bool is_working;         // the section is being made: the page can be asked again
} agg_static_note;
void agg_static_note_write(FILE *stream, const char *title, const agg_static_note *note);

// Returns: the strings that the page has, if the report finds any.
const struct agg_static_found *agg_static_report_found(const agg_static_made *made);

// Returns: the bytes of memory that it holds.
size_t agg_static_report_size(const agg_static_made *made);

// made may be NULL.
void agg_static_report_release(agg_static_made *made);

// Makes and prints the page.
// Returns: as the two above.
// Privacy: post-processing of private records. Whoever gets the page can subtract its accumulators
// from one another: it is for people who may see each of them.
agg_err agg_static_report_write(FILE *stream, agg_error *error,
                                const agg_static_report *report) SHOAL_MUST_CHECK;

// Reports of different recipes for one page. Their home, account and links are NULL.
typedef struct agg_static_set {
    const char *title; // NULL: that of the only report, or how many there are
    const agg_static_report *reports;
    size_t n; // 1 or more
} agg_static_set;

// Prints a page with a table of contents and the reports as parts, each with its own facts,
// guarantees and figures. Returns: as agg_static_report_write.
agg_err agg_static_set_write(FILE *stream, agg_error *error,
                             const agg_static_set *set) SHOAL_MUST_CHECK;

// Returns: whether one of the page's tables has a column of this name.
bool agg_static_report_sorts_by(const char *column);

// Writes the Content-Security-Policy of the page on a server, for the header of an answer.
//   out: AGG_PAGE_CSP_SIZE bytes
//   script: that of the report; NULL for none
void agg_static_report_csp(char *out, const char *script);

// Returns: the bytes of memory that it takes besides two accumulators and the dictionary.
uint64_t agg_static_report_memory(const agg_static_report *report);

#endif
