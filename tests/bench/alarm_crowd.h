// SPDX-License-Identifier: Apache-2.0
// Crowds for the alarms: honest devices with values of several laws, and five attacks. The tests
// take p-values of honest crowds from here, alarm_power.c the power against the attacks.
#ifndef ALARM_CROWD_H
#define ALARM_CROWD_H

#include "accumulator.h"
#include "alarms.h"
#include "permanent.h"
#include "recipe_json.h"
#include "rng.h"

// Laws of the values of honest devices.
typedef enum crowd_law {
    CROWD_ONE,     // all hold the first value
    CROWD_ZIPF,    // value i in proportion to 1/(i + 1)
    CROWD_UNIFORM, // over 16 values
    CROWD_NONE,    // "none of the list"; strings that differ in an open domain
    CROWD_SAME,    // one device, again and again: permanent coins are all the same
    CROWD_LAWS
} crowd_law;

typedef enum crowd_attack {
    CROWD_COPIES,   // one honest record, over and over
    CROWD_PUSHED,   // the honest randomizer on one word
    CROWD_RANDOM,   // any record, all equally likely
    CROWD_GAIN,     // of 16 honest records the one that supports most of ten words
    CROWD_TARGETED, // honest records of a rare word, without those that do not support it
    CROWD_ATTACKS
} crowd_attack;

// A recipe of one mechanism.
typedef struct crowd_setting {
    const char *name;
    const char *members; // of the recipe from "value" on, as JSON
} crowd_setting;

extern const crowd_setting crowd_small[], crowd_large[]; // for many collections, and for large ones
extern const size_t crowd_n_small, crowd_n_large;
extern const char *const crowd_law_names[CROWD_LAWS], *const crowd_attack_names[CROWD_ATTACKS];

// Makes the recipe, or exits.
void crowd_recipe(agg_recipe *recipe, const crowd_setting *setting);

// Returns: the item of word i.
uint64_t crowd_item(const agg_recipe *recipe, uint32_t i);

// Writes n records of honest devices, or of an attacker.
void crowd_honest(uint8_t *records, uint32_t n, const agg_recipe *recipe, crowd_law law,
                  shoal_rng *rng);
void crowd_forged(uint8_t *records, uint32_t n, const agg_recipe *recipe, crowd_attack attack,
                  shoal_rng *rng);

// Computes the alarms of an accumulator, the counts of the first 32 words included.
void crowd_alarms(agg_alarms *alarms, const agg_recipe *recipe, const agg_accumulator *acc);

// Empties an accumulator, which keeps its memory.
void crowd_clear(agg_accumulator *acc);

#endif
