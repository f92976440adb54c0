// SPDX-License-Identifier: Apache-2.0
// The account of RAPPOR: Erlingsson, Pihur and Korolova 2014; the formulas of rappor.h.
#include <math.h>

#include "account.h"
#include "bytes.h"
#include "hash_column.h"
#include "rappor.h"

#define BITS_LEAST 8u
#define COHORTS 64.0
#define WIDTHS 9u // doublings of BITS_LEAST

// Sets p, q and f. f makes any number of reports cost twice what one does: f/2 = 1/(e^epsilon + 1)
// = t. The odds of one report, q*(1 - p*)/(p*(1 - q*)) = e^epsilon, are then shared between the two
// sides of a bit.
//
// q* = 1 - p* is the papers' choice. q* = 1/2 and p* = t give rare values of a list the least
// variance that one report can have (as in asymmetric one-hot). Values between the two suit strings
// whose bits collide more often than they are flipped. Rounding keeps the exact cost below epsilon.
static void set_probabilities(shoal_part *part, double q_star)
{
    double e = exp(part->eps_micro / 1e6), t = 1 / (e + 1),
           p_star = q_star / (q_star + e * (1 - q_star));
    double gap = (q_star - p_star) / (1 - 2 * t), p = p_star - t * gap, q = q_star + t * gap;
    part->pqf_micro[SHOAL_RAPPOR_F] = (uint32_t)ceil(2e6 * t);
    part->pqf_micro[SHOAL_RAPPOR_Q] = (uint32_t)floor(1e6 * q);
    part->pqf_micro[SHOAL_RAPPOR_P] = (uint32_t)ceil(1e6 * p);
}

// Proposes one bit for each entry of a list. Open strings get one hash, 8 to 4096 bits, and 64
// cohorts or as many as fit (a cohort has a counter besides its bits).
static bool propose(shoal_part *part, const agg_wish *wish, uint32_t index)
{
    const double q_stars[] = {1 / (1 + exp(-(wish->eps_micro / 2e6))), 0.5, 0.65, 0.8};
    uint32_t way = index % 4, width = index / 4;
    if (wish->is_number || width > (wish->size > 0 ? 0 : WIDTHS) ||
        wish->size > SHOAL_RAPPOR_BITS_MAX)
        return false;
    uint32_t bits = wish->size > 0 ? wish->size : BITS_LEAST << width;
    *part =
        (shoal_part){.mechanism = shoal_rappor_id,
                     .domain = wish->size > 0 ? SHOAL_DOMAIN_CLOSED : SHOAL_DOMAIN_OPEN,
                     .hash = wish->size > 0 ? SHOAL_HASH_NONE : SHOAL_HASH_POLY1,
                     .eps_micro = wish->eps_micro,
                     .k = wish->size > 0 ? 1 : (uint32_t)fmin(COHORTS, wish->cells / (bits + 1.0)),
                     .m = bits,
                     .size = wish->size,
                     .hashes = 1};
    set_probabilities(part, q_stars[way]);
    return true;
}

static void effective(double *p_star, double *q_star, const shoal_part *part)
{
    uint64_t p = 0, q = 0;
    shoal_rappor_effective(&p, &q, part);
    *p_star = (double)p * 0x1p-64;
    *q_star = (double)q * 0x1p-64;
}

// Returns: the variance of a bit's coins over the squared gap, divided by the h bits of a value.
// For open strings the background, which every bit measures, takes m/(m - 1). Collisions are
// adjusted for, so they cost only where values outside the list are common (rappor_decode.h).
static double variance(const shoal_part *part, double n, double f, double squares)
{
    double p = 0, q = 0, m = part->m;
    (void)squares;
    effective(&p, &q, part);
    double gap = q - p, list = (f * q * (1 - q) + (n - f) * p * (1 - p)) / (gap * gap);
    if (part->domain == SHOAL_DOMAIN_CLOSED) return list;
    double share = part->hashes / m,
           ones = p + gap * (1 - pow(1 - 1 / m, part->hashes)); // includes the bits that others set
    double other = (n - f) * ones * (1 - ones) / (gap * gap);
    return (f * q * (1 - q) / (gap * gap) + other) / part->hashes / (1 - share);
}

static uint32_t bit_of(const uint8_t *record, uint32_t l)
{
    return record[4 + l / 8] >> l % 8 & 1;
}

typedef struct columns {
    uint64_t of[SHOAL_RAPPOR_HASHES_MAX];
    uint32_t n;
} columns;

// Returns: the bits that an item sets in the record's cohort. SHOAL_ITEM_NONE of a list sets a bit
// that no record has.
static columns columns_of(const shoal_part *part, const uint8_t *record, uint64_t item)
{
    columns c = {{item}, part->hashes};
    if (part->domain == SHOAL_DOMAIN_CLOSED) return c;
    for (uint32_t h = 0; h < part->hashes; h++)
        c.of[h] = agg_hash_column(part, shoal_rappor_row(part, load32_le(record), h), item);
    return c;
}

static bool has_bit(const columns *c, uint32_t l)
{
    for (uint32_t h = 0; h < c->n; h++)
        if (c->of[h] == l) return true;
    return false;
}

// The event: all bits that only a has are 1, and all that only b has are 0. There must be 2h such
// bits, because a cohort where the two overlap proves less.
static bool tells_apart(const shoal_part *part, const uint8_t *record, uint64_t a, uint64_t b)
{
    uint32_t n_apart = 0;
    columns of_a = columns_of(part, record, a), of_b = columns_of(part, record, b);
    for (uint32_t l = 0; l < part->m; l++) {
        bool in_a = has_bit(&of_a, l);
        if (in_a == has_bit(&of_b, l)) continue;
        if (bit_of(record, l) != (uint32_t)in_a) return false;
        n_apart++;
    }
    return n_apart == 2 * part->hashes;
}

static uint64_t n_outputs(const shoal_part *part)
{
    return part->m <= 16 && part->k <= (1u << 20) >> part->m ? (uint64_t)part->k << part->m : 0;
}

static bool output(uint8_t *record, const shoal_part *part, uint64_t index)
{
    store32_le(record, (uint32_t)(index >> part->m));
    uint64_t bits = index & (((uint64_t)1 << part->m) - 1);
    for (uint32_t i = 4; i < part->record_size; i++, bits >>= 8) record[i] = (uint8_t)bits;
    return true;
}

static double probability(const shoal_part *part, const uint8_t *record, uint64_t item)
{
    double p = 0, q = 0, product = 1.0 / part->k;
    columns own = columns_of(part, record, item);
    effective(&p, &q, part);
    for (uint32_t l = 0; l < part->m; l++) {
        double one = has_bit(&own, l) ? q : p;
        product *= bit_of(record, l) ? one : 1 - one;
    }
    return product;
}

// With p = 1 - q each of the hashes costs 2 ln(q/(1-q)), so q = 1/(1 + e^(-epsilon/2 hashes)). It
// is rounded down and lowered by one millionth, since the cost of each hash is rounded up.
static void draft_variable(shoal_part *part, double epsilon)
{
    uint32_t q = (uint32_t)floor(1e6 / (1 + exp(-epsilon / (2.0 * (double)part->hashes)))) - 1;
    part->pqf_micro[SHOAL_RAPPOR_P] = 1000000 - q;
    part->pqf_micro[SHOAL_RAPPOR_Q] = q;
    part->pqf_micro[SHOAL_RAPPOR_F] = 0;
}

static shoal_err reveal(shoal_part *part)
{
    const char *field = NULL;
    part->pqf_micro[SHOAL_RAPPOR_P] = 0;
    part->pqf_micro[SHOAL_RAPPOR_Q] = 1000000;
    part->eps_micro = 0;
    return shoal_part_prepare(part, &field);
}

static double binomial(uint32_t n, uint32_t i, double p)
{
    double x = pow(p, i) * pow(1 - p, n - i);
    for (uint32_t j = 0; j < i; j++) x *= (double)(n - j) / (j + 1);
    return x;
}

// Of values that share no bit: i of the h bits of x are ones, and j of those of x'. The blanket is
// below the law of no value at all by what h zeros of a value's own bits cost.
static void pair(agg_pair_law *law, const shoal_part *part)
{
    double p = 0, q = 0;
    uint32_t h = part->hashes;
    effective(&p, &q, part);
    double least = pow((1 - q) / (1 - p), h);
    for (uint32_t i = 0; i <= h; i++)
        for (uint32_t j = 0; j <= h; j++) {
            double none = binomial(h, i, p) * binomial(h, j, p);
            agg_pair_add(law, binomial(h, i, q) * binomial(h, j, p),
                         binomial(h, i, p) * binomial(h, j, q), least * none, none);
        }
}

const agg_account agg_rappor_account = {
    .id = shoal_rappor_id,
    .propose = propose,
    .variance = variance,
    .tells_apart = tells_apart,
    .n_outputs = n_outputs,
    .output = output,
    .probability = probability,
    .pair = pair,
    .rows = "cohorts",
    .columns = "bits",
    .draft_variable = draft_variable,
    .reveal = reveal,
};
