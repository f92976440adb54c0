// SPDX-License-Identifier: Apache-2.0
// The numbers of the names that a recipe's choices take. Depends on nothing.
#ifndef SHOAL_RECIPE_CHOICES_H
#define SHOAL_RECIPE_CHOICES_H

enum shoal_value_kind {
    SHOAL_VALUE_WORD = 1,
    SHOAL_VALUE_HOST,
    SHOAL_VALUE_SITE,
    SHOAL_VALUE_ITEM,
    SHOAL_VALUE_NUMBER,
    SHOAL_VALUE_FIELDS,   // the fields of an event, encoded as `encoding` states
    SHOAL_VALUE_VARIABLES // one value per entry of `variables`; recipes cannot state this kind by
                          // name
};
enum shoal_text_form { SHOAL_FORM_NONE = 0, SHOAL_FORM_NFC = 1 };
enum shoal_text_case { SHOAL_CASE_KEEP = 0, SHOAL_CASE_LOWER = 1, SHOAL_CASE_FOLD = 2 };
enum shoal_fresh { SHOAL_FRESH_WAIT = 0, SHOAL_FRESH_ALLOW = 1 };
enum shoal_pick { SHOAL_PICK_FIRST = 0, SHOAL_PICK_UNIFORM = 1 };
enum shoal_window {
    SHOAL_WINDOW_NONE = 0,
    SHOAL_WINDOW_VISIT,
    SHOAL_WINDOW_DAY
}; // stated exactly where the pick is uniform
enum shoal_oracle { SHOAL_ORACLE_CMS = 0, SHOAL_ORACLE_OLH = 1 }; // mechanism of the parts of sfp
enum shoal_sampler {
    SHOAL_SAMPLER_RANDOM = 0,
    SHOAL_SAMPLER_GREEDY = 1
}; // trie: which of a device's words it reports
enum shoal_aggregation {
    SHOAL_AGGREGATION_REPORTS = 0, // records are kept until they are folded
    SHOAL_AGGREGATION_SUM = 1,     // only sums reach the aggregator's disk
    SHOAL_AGGREGATION_DAP =
        2 // two servers add up shares of reports, and neither can read a report (dap.h)
};

#endif
