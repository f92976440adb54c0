// SPDX-License-Identifier: Apache-2.0
// Asymmetric one-hot records; see onehot_asymmetric.h.
#include "onehot_asymmetric.h"

#include "bits.h"
#include "field_text.h"
#include "probability.h"

static shoal_err prepare(shoal_part *part, const char **field)
{
    *field = "size";
    part->m = part->size;
    if (part->m < 2 || part->m > SHOAL_ONEHOT_SIZE_MAX) return SHOAL_ERR_RANGE;
    part->record_size = bits_size(part->m);
    part->text_size = 2 * bits_size(part->m);
    *field = "epsilon";
    return shoal_threshold(&part->threshold, part->eps_micro, 1);
}

static void randomize(uint8_t *record, const shoal_part *part, uint64_t item, const shoal_permanent *permanent,
                      shoal_rng *rng)
{
    (void)permanent;
    uint64_t fair = shoal_rng_u64(rng) & 1;
    shoal_bits_onehot(record, part->m, item, part->threshold, 0, fair, rng);
}

static shoal_err check(const shoal_part *part, const uint8_t *record)
{
    return shoal_bits_check(record, part->m);
}

static void print(char *text, const shoal_part *part, const uint8_t *record)
{
    shoal_print_hex(text, record, bits_size(part->m));
}

static shoal_err parse(uint8_t *record, const shoal_part *part, const char *text, size_t *position)
{
    const char *at = text;
    shoal_err err = shoal_parse_hex(record, bits_size(part->m), &at);
    *position = (size_t)(at - text);
    return err;
}

static shoal_err epsilon(uint32_t *eps_micro, const shoal_part *part)
{
    return shoal_threshold_epsilon(eps_micro, part->threshold, 1);
}

const shoal_mechanism shoal_onehot_asymmetric_mechanism = {
    shoal_onehot_asymmetric_id,
    "onehot-asymmetric",
    {0, 0},
    {SHOAL_TAKES_EPSILON | SHOAL_TAKES_LIST, 0},
    {0, 0},
    0,
    prepare,
    randomize,
    check,
    print,
    parse,
    epsilon,
};
