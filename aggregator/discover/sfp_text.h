// SPDX-License-Identifier: Apache-2.0
// The bytes that a string of a recipe can hold: UTF-8 (Unicode 15, table 3-7) without control
// characters, with upper-case ASCII only if the recipe keeps case, then zero bytes up to its
// length. It is an automaton, so that a join can prune inside a character. Private to discover/.
#ifndef SFP_TEXT_H
#define SFP_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "recipe.h"

// The state after the bytes so far, which decides the bytes that may follow.
enum {
    AGG_SFP_DEAD = 0, // no string of the recipe begins like this
    AGG_SFP_NONE,     // no byte yet
    AGG_SFP_BETWEEN,  // the characters so far are whole
    AGG_SFP_ENDED,    // zero bytes follow
    AGG_SFP_ONE,      // one byte of a character must follow
    AGG_SFP_TWO,      // two bytes must follow
    AGG_SFP_THREE,    // three bytes must follow
    AGG_SFP_AFTER_C2, // as ONE, but not the controls U+0080 .. U+009F
    AGG_SFP_AFTER_E0, // as TWO, but no character that fits two bytes
    AGG_SFP_AFTER_ED, // as TWO, but no surrogate
    AGG_SFP_AFTER_F0, // as THREE, but no character that fits three bytes
    AGG_SFP_AFTER_F4, // as THREE, but nothing above U+10FFFF
    AGG_SFP_STATES
};

typedef struct agg_sfp_text {
    uint8_t next[AGG_SFP_STATES][256];
} agg_sfp_text;

void agg_sfp_text_init(agg_sfp_text *text, const shoal_recipe *recipe);

// Returns: the state after a fragment's two bytes.
static inline uint32_t agg_sfp_text_pair(const agg_sfp_text *text, uint32_t state, uint32_t pair)
{
    return text->next[text->next[state][pair >> 8]][pair & 255];
}

// Returns: whether a string can end in a state.
static inline bool agg_sfp_text_is_whole(uint32_t state)
{
    return state == AGG_SFP_BETWEEN || state == AGG_SFP_ENDED;
}

// Writes which pairs of bytes a position can hold, for any bytes around it.
//   possible: 65,536 flags
void agg_sfp_text_possible(bool *possible, const agg_sfp_text *text, uint32_t position);

#endif
