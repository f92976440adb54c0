// SPDX-License-Identifier: Apache-2.0
// What the planner says of the answers: the mechanism, its parameters, what will be seen, and the
// minimums that the expected reports can reach. Pure but for memory.
#ifndef INIT_FIGURES_H
#define INIT_FIGURES_H

#include "init_answers.h"
#include "plan.h"
#include "sfp_plan.h"

#define INIT_NEW_WORD_BYTES 10u // of a word that discovery finds whole

typedef struct init_figures {
    agg_plan plan;          // of all but new words
    agg_sfp_plan sfp;       // of new words
    double devices;         // that report on a day
    double days;            // on which each of them reports
    double reports;         // in all
    double share;           // told from zero in 95 of 100 collections; above 1: no share is
    double share_half;      // told from zero, or found, as often as not
    double mean_error;      // half of the 95 % interval of a mean, in the number's unit
    double needed_visitors; // that the commonest value takes; 0: not known
    bool is_nothing;
    const char *why;        // a sentence's end, where is_nothing
    bool is_uniform;        // send.pick
    uint32_t cohort, batch; // minimums that the recipe states
} init_figures;

// Plans. Returns: AGG_ERR_MEMORY.
agg_err init_figures_make(init_figures *figures, agg_error *error,
                          const init_answers *answers) SHOAL_MUST_CHECK;

#endif
