// SPDX-License-Identifier: Apache-2.0
// Judges epsilons; see verdict.h.
#include "verdict.h"

#include "compound.h"
#include "exponential.h"
#include "mechanism.h"
#include "probability.h"
#include "recipe.h"

#define ONE ((uint64_t)1 << SHOAL_EXPONENTIAL_BITS)

static const uint64_t most_micro[] = {
#define SHOAL_VERDICT(code, most, words) most,
#include "verdicts.def"
#undef SHOAL_VERDICT
};

// Apart from the bounds, so that a WebAssembly module can leave the words out.
static const char *const words_of[] = {
#define SHOAL_VERDICT(code, most, words) words,
#include "verdicts.def"
#undef SHOAL_VERDICT
};

// Returns: tenths of the odds, rounded up; from 100 on to three digits.
//   odds: an upper bound of e^epsilon, times 2^40, below 2^64
static uint32_t tenths_of(uint64_t odds)
{
    // The whole part is below 2^24. So tenths stay below 2^28, and rounding up does not overflow.
    uint64_t part = (odds & (ONE - 1)) * 10;
    uint64_t tenths =
        (odds >> SHOAL_EXPONENTIAL_BITS) * 10 + ((part + ONE - 1) >> SHOAL_EXPONENTIAL_BITS);
    uint64_t unit = 1;
    while (tenths > 1000 * unit) unit *= 10;
    return (uint32_t)((tenths + unit - 1) / unit * unit);
}

// Returns: ten-thousandths of odds/(1 + odds), rounded up.
static uint32_t myriad_of(uint64_t odds)
{
    // It is 1 - 1/(1 + odds), and the subtracted quotient is rounded down.
    return 10000 - (uint32_t)(10000 * ONE / (ONE + odds));
}

void shoal_verdict_of(shoal_verdict *verdict, uint64_t eps_micro)
{
    uint32_t code = 0;
    while (eps_micro > most_micro[code]) code++;
    *verdict = (shoal_verdict){eps_micro, (shoal_verdict_code)code, 0, 10000};
    if (eps_micro > SHOAL_EPS_MICRO_MAX) return;
    // The exponential is a lower bound, less than 2 too small; that of 0 is exact.
    uint64_t odds = shoal_exponential((uint32_t)eps_micro) + (eps_micro > 0 ? 2 : 0);
    verdict->odds_tenths = tenths_of(odds);
    verdict->right_myriad = myriad_of(odds);
}

const char *shoal_verdict_words(shoal_verdict_code code)
{
    return words_of[code];
}

static uint64_t times(uint64_t a, uint64_t b)
{
    return b > 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

// Returns: the cost of a number of reports of a part, of one value if its coins are permanent.
static uint64_t part_cost(const shoal_part *part, uint64_t reports)
{
    const shoal_mechanism *mechanism = shoal_mechanism_by_id(part->mechanism);
    uint64_t all = times(part->eps_micro, reports);
    uint32_t limit = 0;
    if (mechanism->unlimited == NULL || mechanism->unlimited(&limit, part) != SHOAL_OK) return all;
    return limit < all ? limit : all;
}

// Returns: the cost of a number of reports. Compounds that find strings draw each report's parts
// among more than they state, so permanent coins are no limit there; variables are parts.
static uint64_t cost_of(const shoal_recipe *r, uint64_t reports)
{
    uint64_t whole = times(r->cost_micro, reports), parts = 0;
    if (shoal_compound_by_id(r->mechanism) != NULL && r->n_variables == 0) return whole;
    for (uint32_t i = 0; i < r->n_parts; i++) parts = plus(parts, part_cost(&r->parts[i], reports));
    return parts < whole ? parts : whole;
}

void shoal_promise_of(shoal_promise *promise, const shoal_recipe *r, uint32_t today)
{
    uint64_t days = r->expires_day >= today ? (uint64_t)r->expires_day - today + 1 : 0;
    uint64_t a_day = r->epochs > 0 || r->version > 0 ? 1
                     : r->contributions > 0          ? r->contributions
                                                     : r->per_day;
    bool is_once = r->epochs > 0 || r->version > 0 || r->contributions > 0;
    if (is_once && days > 0) days = 1;
    shoal_verdict_of(&promise->report, r->cost_micro);
    shoal_verdict_of(&promise->window, cost_of(r, a_day));
    shoal_verdict_of(&promise->life, cost_of(r, times(a_day, days)));
}
