// SPDX-License-Identifier: Apache-2.0
// For test_audit: RAPPOR whose epsilon forgets, when told to, that a value sets several bits. A
// library shipped so. It takes the library's place in that program.
#include "mechanism.h"

#define shoal_rappor_mechanism sound_rappor
#include "rappor.c"
#undef shoal_rappor_mechanism

int rappor_forgets_hashes;

static uint32_t counted(uint32_t eps_micro, const shoal_part *part)
{
    return rappor_forgets_hashes ? eps_micro / part->hashes : eps_micro;
}

static shoal_err forgetful_prepare(shoal_part *part, const char **field)
{
    uint32_t stated = part->eps_micro;
    if (!rappor_forgets_hashes) return sound_rappor.prepare(part, field);
    part->eps_micro = 0;
    shoal_err err = sound_rappor.prepare(part, field);
    part->eps_micro = stated > 0 ? stated : counted(part->eps_micro, part);
    return err;
}

static shoal_err forgetful_epsilon(uint32_t *eps_micro, const shoal_part *part)
{
    shoal_err err = sound_rappor.epsilon(eps_micro, part);
    *eps_micro = counted(*eps_micro, part);
    return err;
}

static void sound_randomize(uint8_t *record, const shoal_part *part, uint64_t item,
                            const shoal_permanent *permanent, shoal_rng *rng)
{
    sound_rappor.randomize(record, part, item, permanent, rng);
}

static shoal_err sound_check(const shoal_part *part, const uint8_t *record)
{
    return sound_rappor.check(part, record);
}

static void sound_print(char *text, const shoal_part *part, const uint8_t *record)
{
    sound_rappor.print(text, part, record);
}

static shoal_err sound_parse(uint8_t *record, const shoal_part *part, const char *text,
                             size_t *position)
{
    return sound_rappor.parse(record, part, text, position);
}

static shoal_err sound_unlimited(uint32_t *eps_micro, const shoal_part *part)
{
    return sound_rappor.unlimited(eps_micro, part);
}

const shoal_mechanism shoal_rappor_mechanism = {
    .id = shoal_rappor_id,
    .name = "rappor",
    .open = {SHOAL_TAKES_BITS | SHOAL_TAKES_HASHES | SHOAL_TAKES_COHORTS | SHOAL_TAKES_PQF |
                 SHOAL_TAKES_SEED | SHOAL_TAKES_POLY1,
             SHOAL_TAKES_EPSILON},
    .closed = {SHOAL_TAKES_LIST | SHOAL_TAKES_PQF | SHOAL_TAKES_SEED, SHOAL_TAKES_EPSILON},
    .number = {0, 0},
    .is_permanent = true,
    .prepare = forgetful_prepare,
    .randomize = sound_randomize,
    .check = sound_check,
    .print = sound_print,
    .parse = sound_parse,
    .epsilon = forgetful_epsilon,
    .unlimited = sound_unlimited,
};
