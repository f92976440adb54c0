// SPDX-License-Identifier: Apache-2.0
// A run's figures in integers: against doubles over random plans, at both sides of Assumption 4.2,
// what is refused and by which name; that a run never costs more than its epsilon; the figures of
// the examples.
#include "evolving.h"

#include <math.h>
#include <string.h>

#include "check.h"
#include "probability.h"
#include "rng.h"

static const shoal_evolving_plan settings = {
    .eps_micro = 4000000, // 100,000 users of one group over 1,000 epochs
    .users = 100000,
    .samples = 100000,
    .epochs = 1000,
    .smallest_group = 100000,
    .groups = 1,
    .delta_exp = 6};
static const shoal_evolving_plan heavy = {.eps_micro = 4000000,
                                          .users = 20000,
                                          .samples = 100000,
                                          .epochs = 64,
                                          .smallest_group = 20000,
                                          .groups = 1,
                                          .delta_exp = 6,
                                          .projection = 2048,
                                          .eps_estimate_micro = 500000};

// The formulas as the papers' notes have them, not as evolving.h arranges them.
typedef struct exact {
    double a, b, tau, smallest;
} exact;

static exact exact_of(const shoal_evolving_plan *p)
{
    double n = p->users, l = p->samples, t = p->epochs, m = p->groups,
           delta = pow(10, -(double)p->delta_exp);
    double root = sqrt(n * log(12 * m * t / delta)), s = sqrt(log(12 * t / delta) / (2 * n));
    exact e;
    e.a = 4 * sqrt(2 * n * log(12 * m * t / delta)) / (p->smallest_group - 3 / sqrt(2) * root);
    e.b = 2 * s / (log2(t) * sqrt(log(12 * n * t / delta) / (2 * l)) - s);
    e.tau = 2 * sqrt(log(12 * n * t / delta) / (2 * l));
    e.smallest = (3 / sqrt(2) + sqrt(32)) * root;
    if (p->projection != 0) {
        e.b = p->eps_estimate_micro / 1e6;
        e.tau = sqrt((double)p->projection) *
                (2 * sqrt(2 * log(16 * (double)p->projection * n * t / delta) /
                          ((double)p->projection * l))) /
                2;
    }
    return e;
}

// To a relative 1e-6, then up to a whole micro-unit.
static int is_rounded_up(uint32_t micro, double exact_value)
{
    double up = exact_value * 1e6;
    return micro >= up * (1 - 1e-9) && micro <= up * (1 + 1e-6) + 1;
}

static uint32_t draw(shoal_rng *rng, uint32_t low, uint32_t high)
{
    // uniform in the logarithm
    double u = (double)(shoal_rng_u64(rng) >> 11) * 0x1p-53;
    double x = low * pow((double)high / low, u);
    return x < low ? low : x > high ? high : (uint32_t)x;
}

static shoal_evolving_plan draw_plan(shoal_rng *rng)
{
    static const uint32_t projections[] = {0, 0, 0, 64, 2048, 65536};
    shoal_evolving_plan p = {.eps_micro = draw(rng, 10000, 16000000),
                             .users = draw(rng, 1000, 1000000000),
                             .samples = draw(rng, 1, 1000000000),
                             .epochs = draw(rng, 2, 65536),
                             .groups = draw(rng, 1, 20),
                             .delta_exp = (uint32_t)shoal_rng_below(rng, 13) + 3,
                             .projection = projections[shoal_rng_below(rng, 6)]};
    p.smallest_group = draw(rng, p.users / p.groups / 3 + 1, p.users / p.groups);
    if (p.projection != 0) p.eps_estimate_micro = draw(rng, 10000, 16000000);
    return p;
}

static void check_figures(const shoal_evolving *f, const shoal_evolving_plan *p, const exact *e)
{
    CHECK(f->vote_micro == SHOAL_EPS_MICRO_MIN ? e->a <= 0.01 : is_rounded_up(f->vote_micro, e->a));
    CHECK(f->estimate_micro == SHOAL_EPS_MICRO_MIN ? e->b <= 0.01
                                                   : is_rounded_up(f->estimate_micro, e->b));
    double tau = (double)f->step / 281474976710656.0;
    CHECK(tau >= e->tau * (1 - 1e-12) && tau <= e->tau * (1 + 1e-6));
    CHECK(f->levels == (uint32_t)floor(log2(p->epochs)) && f->epochs == p->epochs &&
          f->eps_micro == p->eps_micro);
    CHECK(4 * (uint64_t)f->n_votes * f->vote_micro <= p->eps_micro);
    CHECK(4 * ((uint64_t)f->n_votes + 1) * f->vote_micro > p->eps_micro);
    CHECK(2 * (uint64_t)f->n_estimates * f->estimate_micro <= p->eps_micro);
    CHECK(2 * ((uint64_t)f->n_estimates + 1) * f->estimate_micro > p->eps_micro);
    CHECK(f->cost_micro == 2 * f->n_votes * f->vote_micro + f->n_estimates * f->estimate_micro);
    CHECK(f->cost_micro <= p->eps_micro && f->n_votes > 0 && f->n_estimates > 0);
}

static void check_refusal(const char *field, const shoal_evolving_plan *p, const exact *e)
{
    if (strcmp(field, "smallest_group") == 0)
        CHECK(p->smallest_group <= e->smallest * (1 + 1e-9));
    else if (strcmp(field, "samples") == 0)
        CHECK(p->projection == 0 && (e->b < 0 || e->b > 16 * (1 - 1e-6) || !isfinite(e->b)));
    else if (strcmp(field, "epsilon_estimate") == 0)
        CHECK(p->projection != 0 && 2 * p->eps_estimate_micro > p->eps_micro);
    else
        CHECK(strcmp(field, "epsilon") == 0 && (4 * e->a > p->eps_micro / 1e6 * (1 - 1e-6) ||
                                                2 * e->b > p->eps_micro / 1e6 * (1 - 1e-6) ||
                                                p->eps_micro < 4 * SHOAL_EPS_MICRO_MIN));
}

static void random_plans(void)
{
    uint8_t seed[32] = {61};
    uint32_t n_good = 0, n_refused = 0;
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (int i = 0; i < 20000; i++) {
        shoal_evolving_plan p = draw_plan(&rng);
        exact e = exact_of(&p);
        shoal_evolving f = {0};
        const char *field = "";
        shoal_err err = shoal_evolving_figures(&f, &field, &p);
        CHECK(err == SHOAL_OK || (err == SHOAL_ERR_RANGE && f.epochs == 0));
        if (err == SHOAL_OK)
            check_figures(&f, &p, &e);
        else
            check_refusal(field, &p, &e);
        n_good += err == SHOAL_OK;
        n_refused += err != SHOAL_OK;
    }
    CHECK(n_good > 4000 && n_refused > 4000);
}

static shoal_err figures(const shoal_evolving_plan *p, const char **field)
{
    shoal_evolving f;
    *field = "";
    return shoal_evolving_figures(&f, field, p);
}

// The smallest L works and the one below does not; so does the smallest n with groups of one size.
static void needs(void)
{
    uint8_t seed[32] = {62};
    shoal_rng rng;
    const char *field;
    shoal_rng_init(&rng, seed);
    for (int i = 0; i < 3000; i++) {
        shoal_evolving_plan p = draw_plan(&rng);
        uint64_t smallest, users;
        exact e = exact_of(&p);
        shoal_evolving_needs(&smallest, &users, &p);
        CHECK(fabs((double)smallest - (floor(e.smallest) + 1)) <= 1 + 1e-9 * e.smallest);
        double n =
            p.groups *
            (floor(60.5 * p.groups * log(12.0 * p.groups * p.epochs * pow(10, p.delta_exp))) + 1);
        CHECK(fabs((double)users - n) <= p.groups);
        p.eps_micro = 16000000;
        p.samples = 1000;
        p.projection = 64; // b is stated: nothing but the assumption refuses
        p.eps_estimate_micro = 1000000;
        p.smallest_group = (uint32_t)smallest;
        if (smallest <= p.users / p.groups) CHECK(figures(&p, &field) == SHOAL_OK);
        p.smallest_group = (uint32_t)smallest - 1;
        CHECK(figures(&p, &field) == SHOAL_ERR_RANGE && strcmp(field, "smallest_group") == 0);
        p.users = (uint32_t)users;
        p.smallest_group = p.users / p.groups;
        CHECK(figures(&p, &field) == SHOAL_OK);
        p.users--;
        p.smallest_group = p.users / p.groups;
        CHECK(figures(&p, &field) == SHOAL_ERR_RANGE && strcmp(field, "smallest_group") == 0);
    }
    shoal_evolving_plan many = settings; // 60.5 10^8 (..) is beyond all users
    uint64_t smallest, users = 1;
    many.groups = 10000;
    shoal_evolving_needs(&smallest, &users, &many);
    CHECK(users == 0);
    many.groups = 1000000;
    shoal_evolving_needs(&smallest, &users, &many);
    CHECK(users == 0);
}

static void refuse(shoal_evolving_plan p, const char *expected)
{
    const char *field;
    CHECK(figures(&p, &field) == SHOAL_ERR_RANGE);
    if (!CHECK(strcmp(field, expected) == 0)) printf("%s, not %s\n", field, expected);
}

#define WITH(base, change)                                                                         \
    do {                                                                                           \
        shoal_evolving_plan p = base;                                                              \
        change;                                                                                    \
        refuse(p, field);                                                                          \
    } while (0)

static void refusals(void)
{
    const char *field = "epsilon";
    WITH(settings, p.eps_micro = 9999);
    WITH(settings, p.eps_micro = 16000001);
    WITH(settings, p.eps_micro = 4 * 89059 - 4); // no vote
    field = "users";
    WITH(settings, p.users = 0);
    WITH(settings, p.users = 1000000001);
    field = "epochs";
    WITH(settings, p.epochs = 1);
    WITH(settings, p.epochs = SHOAL_EPOCHS_MAX + 1);
    field = "samples";
    WITH(settings, p.samples = 0);
    WITH(settings,
         p.samples =
             1000000000); // log(T) h < s: local means are better than what an update could tell
    field = "groups";
    WITH(settings, p.groups = 0);
    WITH(settings, p.groups = 100001);
    field = "smallest_group";
    WITH(settings, p.smallest_group = 0);
    WITH(settings, p.smallest_group = 100001);
    WITH(settings, p.groups = 2); // two groups of 100,000 are not 100,000 users
    WITH(settings, p.smallest_group = 11849);
    field = "delta";
    WITH(settings, p.delta_exp = 2);
    WITH(settings, p.delta_exp = 16);
    field = "projection";
    WITH(heavy, p.projection = 32);
    WITH(heavy, p.projection = 2047);
    WITH(heavy, p.projection = 131072);
    field = "epsilon_estimate";
    WITH(heavy, p.eps_estimate_micro = 9999);
    WITH(heavy, p.eps_estimate_micro = 2000001);
}

// The examples of the papers' notes, by hand: R = sqrt(100000 ln(1.2e10)/2) = 1077.23, a = 8
// R/(100000 - 3 R) = 0.089056; s = 0.0107723, h = 0.0131755, b = 2 s/(9.96578 h - s) = 0.178737.
static void examples(void)
{
    shoal_evolving f;
    const char *field;
    CHECK(shoal_evolving_figures(&f, &field, &settings) == SHOAL_OK);
    CHECK(f.levels == 9);
    exact e = exact_of(&settings);
    check_figures(&f, &settings, &e);
    CHECK(f.n_votes == 11 && f.n_estimates == 11);
    uint64_t smallest, users;
    shoal_evolving_needs(&smallest, &users, &settings);
    CHECK(smallest == 11850 && users == 1405);
    CHECK(shoal_evolving_figures(&f, &field, &heavy) == SHOAL_OK);
    e = exact_of(&heavy);
    check_figures(&f, &heavy, &e);
    CHECK(f.n_estimates == 4 && f.levels == 6);
}

// More votes than 1/(e^a + 1) + sqrt(ln(10 T/delta)/(2 n)) of n.
static void update_votes(void)
{
    uint8_t seed[32] = {63};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (int i = 0; i < 3000; i++) {
        shoal_evolving_plan p = draw_plan(&rng);
        uint64_t threshold = 0,
                 n = i % 2 == 0 ? p.users : draw(&rng, 1, 1000000000) * (uint64_t)1000;
        CHECK(shoal_threshold(&threshold, draw(&rng, 10000, 1000000), 1) == SHOAL_OK);
        double share = (double)threshold / 18446744073709551616.0;
        double bound =
            (double)n * share + sqrt((double)n * log(10.0 * p.epochs * pow(10, p.delta_exp)) / 2);
        uint64_t votes = shoal_evolving_update_votes(&p, threshold, n);
        CHECK((double)votes >= bound * (1 - 1e-9) && (double)votes <= bound * (1 + 1e-9) + 1.001);
    }
}

int main(void)
{
    random_plans();
    needs();
    refusals();
    examples();
    update_votes();
    return check_summary();
}
