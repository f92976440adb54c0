// SPDX-License-Identifier: Apache-2.0
// What `shoal init` knows before it plans: each answer, from an option, a question or a default,
// checked. Texts that reach a configuration as they are hold no character that needs quotes.
#ifndef INIT_ANSWERS_H
#define INIT_ANSWERS_H

#include <stddef.h>
#include <stdint.h>

#include "init.h"
#include "name.h"
#include "text_list.h"
#include "url.h"

#define INIT_VALUES_MAX 200u // choices that a page shows
#define INIT_MICRO_TEXT 32u

typedef enum init_what {
    INIT_WORDS = 0,
    INIT_SITES,
    INIT_CHOICES,
    INIT_NUMBERS,
    INIT_NEW_WORDS
} init_what;

#define INIT_WINDOW_DAYS 30u // that the site's budget is for, at one report a day

typedef struct init_answers {
    init_what what;
    uint64_t visitors;  // on a day
    size_t level;       // position in init_levels
    uint32_t eps_micro; // of one report
    double taking_part; // share of visitors who agree and do something that counts
    uint32_t days;      // that the plan looks ahead
    double active;      // 0: not stated
    bool is_one_page;
    char site[SHOAL_URL_MAX + 1], edge[SHOAL_URL_MAX + 1], relay[SHOAL_URL_MAX + 1]; // origins
    char id[SHOAL_NAME_MAX + 1];
    char expires[16];
    char low[INIT_MICRO_TEXT], high[INIT_MICRO_TEXT];
    int64_t low_micro, high_micro;
    uint32_t buckets; // 0: a mean
    agg_list values;  // of choices
    const init_options *options;
    bool can_ask;
} init_answers;

extern const char *const init_whats[];  // names by init_what, then NULL
extern const char *const init_levels[]; // high, medium, low, NULL

// Takes the answers from the options, and asks for those of the three questions that are missing.
// Returns: AGG_ERR_USAGE naming the option that is wrong or missing. Release the answers then, too.
agg_err init_answers_take(init_answers *answers, agg_error *error,
                          const init_options *options) SHOAL_MUST_CHECK;
void init_answers_release(init_answers *answers);

#endif
