// SPDX-License-Identifier: Apache-2.0
// The UTF-8 automaton; see sfp_text.h.
#include "sfp_text.h"

#include <stdbool.h>
#include <string.h>

#include "text_rule.h"

static void set(agg_sfp_text *text, uint32_t state, uint32_t first, uint32_t last, uint8_t next)
{
    memset(text->next[state] + first, next, last - first + 1);
}

static void set_starts(agg_sfp_text *text, uint32_t state, bool keeps_case)
{
    set(text, state, 0x20, 0x7e, AGG_SFP_BETWEEN);
    if (!keeps_case) set(text, state, 'A', 'Z', AGG_SFP_DEAD);
    set(text, state, 0xc2, 0xc2, AGG_SFP_AFTER_C2);
    set(text, state, 0xc3, 0xdf, AGG_SFP_ONE);
    set(text, state, 0xe1, 0xef, AGG_SFP_TWO);
    set(text, state, 0xe0, 0xe0, AGG_SFP_AFTER_E0);
    set(text, state, 0xed, 0xed, AGG_SFP_AFTER_ED);
    set(text, state, 0xf0, 0xf0, AGG_SFP_AFTER_F0);
    set(text, state, 0xf1, 0xf3, AGG_SFP_THREE);
    set(text, state, 0xf4, 0xf4, AGG_SFP_AFTER_F4);
}

void agg_sfp_text_init(agg_sfp_text *text, const shoal_recipe *recipe)
{
    bool keeps_case = agg_text_rule_keeps_case(recipe);
    memset(text, AGG_SFP_DEAD, sizeof *text);
    set_starts(text, AGG_SFP_NONE, keeps_case);
    set_starts(text, AGG_SFP_BETWEEN, keeps_case);
    set(text, AGG_SFP_BETWEEN, 0, 0, AGG_SFP_ENDED);
    set(text, AGG_SFP_ENDED, 0, 0, AGG_SFP_ENDED);
    set(text, AGG_SFP_ONE, 0x80, 0xbf, AGG_SFP_BETWEEN);
    set(text, AGG_SFP_TWO, 0x80, 0xbf, AGG_SFP_ONE);
    set(text, AGG_SFP_THREE, 0x80, 0xbf, AGG_SFP_TWO);
    set(text, AGG_SFP_AFTER_C2, 0xa0, 0xbf, AGG_SFP_BETWEEN);
    set(text, AGG_SFP_AFTER_E0, 0xa0, 0xbf, AGG_SFP_ONE);
    set(text, AGG_SFP_AFTER_ED, 0x80, 0x9f, AGG_SFP_ONE);
    set(text, AGG_SFP_AFTER_F0, 0x90, 0xbf, AGG_SFP_TWO);
    set(text, AGG_SFP_AFTER_F4, 0x80, 0x8f, AGG_SFP_TWO);
}

void agg_sfp_text_possible(bool *possible, const agg_sfp_text *text, uint32_t position)
{
    uint32_t first = position == 0 ? AGG_SFP_NONE : AGG_SFP_BETWEEN;
    uint32_t last = position == 0 ? AGG_SFP_NONE : AGG_SFP_STATES - 1;
    for (uint32_t pair = 0; pair <= UINT16_MAX; pair++) {
        possible[pair] = false;
        for (uint32_t state = first; state <= last; state++)
            possible[pair] |= agg_sfp_text_pair(text, state, pair) != AGG_SFP_DEAD;
    }
}
