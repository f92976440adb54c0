// SPDX-License-Identifier: Apache-2.0
// Discrete noise: the output laws, enumerated through the real samplers with their coins forced;
// the coins themselves; the same draws on every build; what is refused.
#include "discrete_noise.h"

#include <math.h>
#include <string.h>

#include "check.h"
#include "ratio.h"

// ---- forced coins ----

// The samplers below are discrete_noise.c itself, with forced_ratio and forced_below in place of
// its only sources of randomness. A run takes its choices from `path`. Where the path ends, it goes
// on with the first choice, so that next_path visits every leaf of the tree of choices.
#define DEPTH 400
static struct {
    uint64_t choice, n; // of n choices
} path[DEPTH];
static size_t path_len, path_at;
static double weight, cut; // the run's probability; runs below `cut` are given up
static bool is_given_up;

// Takes the next choice of the path.
//   up: probability of choice 1 of two; 0: all n are alike
static uint64_t choose(uint64_t n, double up)
{
    if (path_at == path_len) {
        path[path_len].choice = 0;
        path[path_len++].n = n;
    }
    uint64_t choice = path[path_at++].choice;
    weight *= up > 0 ? (choice ? up : 1 - up) : 1 / (double)n;
    is_given_up = weight < cut || path_at == DEPTH;
    return choice;
}

static double value_of(const whole *a)
{
    double value = 0;
    for (int i = WHOLE_WORDS - 1; i >= 0; i--) value = value * 4294967296.0 + a->word[i];
    return value;
}

// A sampler asks for coins of probability e^-x only, by the function whose law exponential_coins
// enumerates. In the samplers' own trees such a coin is one choice: its first part ends it as 1, or
// goes on, and its second part ends it as 0. A run that is given up gets coins of a small
// generator, so that it ends soon.
static bool is_whole_coin, is_second_part;
static uint32_t given_up_coins = 1;

static uint32_t forced_ratio(shoal_rng *rng, const whole *num, const whole *den)
{
    (void)rng;
    double x = value_of(num) / value_of(den);
    if (is_second_part) return is_second_part = false;
    if (x <= 0 || (is_given_up && !is_whole_coin)) return 0;
    if (is_given_up) {
        given_up_coins = given_up_coins * 1664525 + 1013904223;
        return is_second_part = given_up_coins >> 31;
    }
    if (!is_whole_coin) return whole_less(num, den) ? (uint32_t)choose(2, x) : 1;
    return is_second_part = choose(2, -expm1(-x)) == 1;
}

// Every try of a sampler begins with this draw. A run ends where a second try begins: that try's
// law is the law of the first one.
static bool has_begun, is_tried_again;

static uint64_t forced_below(shoal_rng *rng, uint64_t n)
{
    (void)rng;
    if (has_begun && !is_given_up) is_given_up = is_tried_again = true;
    has_begun = true;
    return n <= 1 || is_given_up ? 0 : choose(n, 0);
}

static uint64_t forced_u64(shoal_rng *rng)
{
    (void)rng;
    return is_given_up ? 0 : choose(2, 0) << 63;
}

static void begin_run(void)
{
    weight = 1;
    path_at = 0;
    is_given_up = is_second_part = has_begun = is_tried_again = false;
}

// Moves to the next leaf. Returns: whether there is one.
static bool next_path(void)
{
    path_len = path_at;
    while (path_len > 0 && path[path_len - 1].choice + 1 == path[path_len - 1].n) path_len--;
    if (path_len == 0) return false;
    path[path_len - 1].choice++;
    return true;
}

#define shoal_rng_ratio forced_ratio
#define shoal_rng_below forced_below
#define shoal_rng_u64 forced_u64
#define shoal_noise_laplace forced_laplace
#define shoal_noise_gaussian forced_gaussian
#define shoal_noise_draw forced_draw
shoal_err forced_laplace(shoal_noise *noise, uint64_t sensitivity, uint32_t eps_micro);
shoal_err forced_gaussian(shoal_noise *noise, uint64_t variance);
int64_t forced_draw(shoal_rng *rng, const shoal_noise *noise);
#include "discrete_noise.c"
#undef shoal_rng_ratio
#undef shoal_rng_below
#undef shoal_rng_u64
#undef shoal_noise_laplace
#undef shoal_noise_gaussian
#undef shoal_noise_draw

#define REACH 60 // outputs of -REACH .. REACH are told apart

// Adds up the probability of every output over all leaves of one try, and divides by the
// probability that a try ends the sampler. Returns: the probability of the runs that were given up.
static double enumerate(double *law, const shoal_noise *noise)
{
    double lost = 0, again = 0;
    cut = 1e-11;
    path_len = 0;
    memset(law, 0, (2 * REACH + 1) * sizeof *law);
    do {
        begin_run();
        int64_t x = forced_draw(NULL, noise);
        if (is_tried_again)
            again += weight;
        else if (is_given_up)
            lost += weight;
        else if (x >= -REACH && x <= REACH)
            law[x + REACH] += weight;
    } while (next_path());
    for (int i = 0; i <= 2 * REACH; i++) law[i] /= 1 - again;
    return lost;
}

// ---- the laws ----

// Enumerates a coin of probability e^-(n/d) and of its opposite.
static void has_coin(uint64_t n, uint64_t d, uint32_t (*toss)(const whole *, const whole *))
{
    const whole num = whole_product(n, 1, 1), den = whole_product(d, 1, 1);
    double seen[2] = {0, 0};
    path_len = 0;
    cut = 1e-15;
    do {
        begin_run();
        uint32_t side = toss(&num, &den);
        if (!is_given_up) seen[side] += weight;
    } while (next_path());
    CHECK(fabs(seen[1] - exp(-(double)n / (double)d)) < 1e-13);
    CHECK(fabs(seen[0] + seen[1] - 1) < 1e-13);
}

static uint32_t toss_below_one(const whole *num, const whole *den)
{
    return coin_below_one(NULL, num, den);
}

static uint32_t toss(const whole *num, const whole *den)
{
    return coin(NULL, *num, den);
}

// Exponents above 1 take a coin of probability 1/e for each whole one.
static void exponential_coins(void)
{
    is_whole_coin = false;
    for (uint64_t d = 1; d <= 12; d++)
        for (uint64_t n = 0; n <= d; n++) has_coin(n, d, toss_below_one);
    is_whole_coin = true;
    for (uint64_t n = 0; n <= 60; n++) has_coin(n, 7, toss);
}

static double laplace_law(const shoal_noise *noise, int64_t x)
{
    double rate = (double)noise->s / (double)noise->t;
    return tanh(rate / 2) * exp(-rate * fabs((double)x));
}

static double gaussian_law(const shoal_noise *noise, int64_t x)
{
    double v = (double)noise->variance, all = 0;
    for (int i = -2000; i <= 2000; i++) all += exp(-(double)i * i / (2 * v));
    return exp(-(double)x * (double)x / (2 * v)) / all;
}

// Every output has the stated probability, by enumeration and not by sampling. What a run that was
// given up would have added is at most `lost`.
static void has_law(const shoal_noise *noise, double (*law_of)(const shoal_noise *, int64_t))
{
    double law[2 * REACH + 1], lost = enumerate(law, noise);
    CHECK(lost < 1e-7);
    for (int64_t x = -REACH; x <= REACH; x++)
        CHECK(fabs(law[x + REACH] - law_of(noise, x)) <= 2 * lost + 1e-12);
}

static void laplace_laws(void)
{
    static const struct {
        uint64_t sensitivity;
        uint32_t eps_micro;
    } cases[] = {{1, 1000000}, {1, 2000000}, {2, 1000000}, {3, 2000000}, {1, 500000}, {5, 3000000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        shoal_noise noise;
        CHECK(shoal_noise_laplace(&noise, cases[i].sensitivity, cases[i].eps_micro) == SHOAL_OK);
        has_law(&noise, laplace_law);
    }
}

static void gaussian_laws(void)
{
    static const uint64_t variances[] = {1, 2, 3, 4, 5, 8};
    for (size_t i = 0; i < sizeof variances / sizeof *variances; i++) {
        shoal_noise noise;
        CHECK(shoal_noise_gaussian(&noise, variances[i]) == SHOAL_OK);
        has_law(&noise, gaussian_law);
    }
}

// ---- coins ----

// A coin of num/den with small numbers: each word of the generator decides, so counting the words
// below den is counting the law. Words of 2^k - 1 and more are drawn again.
static void ratio_law(void)
{
    const uint8_t seed[32] = {7};
    for (uint64_t den = 1; den <= 17; den++)
        for (uint64_t num = 0; num <= den; num++) {
            shoal_rng rng;
            unsigned ones = 0, n = 20000;
            const whole a = whole_product(num, 1, 1), b = whole_product(den, 1, 1);
            shoal_rng_init_stream(&rng, seed, den * 100 + num);
            for (unsigned i = 0; i < n; i++) ones += shoal_rng_ratio(&rng, &a, &b);
            double p = (double)num / (double)den, sd = sqrt(n * p * (1 - p));
            CHECK(fabs(ones - n * p) <= 4.5 * sd); // 170 settings: 0.1 % in all
        }
}

// Writes one word of the generator's stream, so that the next draw is known.
static void expect_word(shoal_rng *rng, uint32_t at, uint64_t word)
{
    for (int i = 0; i < 8; i++) rng->buffer[8 * at + (uint32_t)i] = (uint8_t)(word >> (8 * i));
}

// At the bounds of numbers of more than 64 bits: num - 1 is below num, num is not, den is redrawn.
static void ratio_bounds(void)
{
    const uint8_t seed[32] = {0};
    const whole num = whole_product(UINT64_C(1) << 63, 3, 1),
                den = whole_product(1u << 31, 1u << 31, 12);
    static const struct {
        uint64_t low, high;
        uint32_t expected;
    } draws[] = {{UINT64_MAX, 0, 1},
                 {(UINT64_C(1) << 63) - 1, 1, 1},
                 {UINT64_C(1) << 63, 1, 0},
                 {UINT64_MAX, 2, 0}};
    for (size_t i = 0; i < sizeof draws / sizeof *draws; i++) {
        shoal_rng rng;
        shoal_rng_init(&rng, seed);
        rng.used = 0;
        expect_word(&rng, 0, UINT64_MAX); // 3 2^64 and more of 4 2^64: drawn again
        expect_word(&rng, 1, 3);
        expect_word(&rng, 2, draws[i].low);
        expect_word(&rng, 3, draws[i].high);
        CHECK(shoal_rng_ratio(&rng, &num, &den) == draws[i].expected);
        CHECK(rng.used == 32);
    }
}

// ---- draws ----

// Mean and variance of real draws, at settings too large to enumerate. The variance of a variance
// over n draws is (kurtosis - 1) v^2/n; the kurtosis is 3 for Gaussian and 6 for Laplace noise.
static void moments(void)
{
    const uint8_t seed[32] = {42};
    for (int kind = 0; kind < 4; kind++) {
        shoal_noise noise;
        shoal_rng rng;
        double sum = 0, squares = 0, expected, n = 20000;
        if (kind < 2) {
            uint64_t variance = kind == 0 ? 1000 : SHOAL_NOISE_VARIANCE_MAX;
            CHECK(shoal_noise_gaussian(&noise, variance) == SHOAL_OK);
            expected = (double)variance;
        } else {
            CHECK(shoal_noise_laplace(&noise, kind == 2 ? 7 : SHOAL_NOISE_SENSITIVITY_MAX,
                                      kind == 2 ? 300000 : 1000000) == SHOAL_OK);
            double rate = (double)noise.s / (double)noise.t;
            expected = 0.5 / pow(sinh(rate / 2), 2); // 2 e^-r/(1 - e^-r)^2
        }
        shoal_rng_init_stream(&rng, seed, (uint64_t)kind);
        for (int i = 0; i < n; i++) {
            double x = (double)shoal_noise_draw(&rng, &noise);
            sum += x;
            squares += x * x;
        }
        CHECK(fabs(sum / n) < 4.5 * sqrt(expected / n));
        CHECK(fabs(squares / n / expected - 1) < 4.5 * sqrt((kind < 2 ? 2.0 : 5.0) / n));
    }
}

// The first draws of a seed, which every build has to give.
static void vectors(void)
{
    static const int64_t laplace[8] = {3, -51, -23, 8, -15, 12, 27, -111},
                         gaussian[8] = {862, -23, -83, -43, 531, 131, -1278, -1571};
    uint8_t seed[32];
    shoal_rng rng;
    shoal_noise noise;
    for (uint8_t i = 0; i < 32; i++) seed[i] = i;
    CHECK(shoal_noise_laplace(&noise, 100, 1500000) == SHOAL_OK);
    CHECK(noise.t == 200 && noise.s == 3);
    shoal_rng_init(&rng, seed);
    for (int i = 0; i < 8; i++) CHECK(shoal_noise_draw(&rng, &noise) == laplace[i]);
    CHECK(shoal_noise_gaussian(&noise, 1000000) == SHOAL_OK);
    CHECK(noise.root == 1001);
    shoal_rng_init(&rng, seed);
    for (int i = 0; i < 8; i++) CHECK(shoal_noise_draw(&rng, &noise) == gaussian[i]);
}

static void refusals(void)
{
    shoal_noise noise = {SHOAL_NOISE_NONE, 0, 0, 0, 0};
    CHECK(shoal_noise_laplace(&noise, 0, 1000000) == SHOAL_ERR_RANGE);
    CHECK(shoal_noise_laplace(&noise, SHOAL_NOISE_SENSITIVITY_MAX + 1, 1000000) == SHOAL_ERR_RANGE);
    CHECK(shoal_noise_laplace(&noise, 1, 999) == SHOAL_ERR_RANGE);
    CHECK(shoal_noise_laplace(&noise, 1, 16000001) == SHOAL_ERR_RANGE);
    CHECK(shoal_noise_gaussian(&noise, 0) == SHOAL_ERR_RANGE);
    CHECK(shoal_noise_gaussian(&noise, SHOAL_NOISE_VARIANCE_MAX + 1) == SHOAL_ERR_RANGE);
    CHECK(noise.kind == SHOAL_NOISE_NONE); // outputs are written on OK only
    for (uint64_t v = 1; v < 5000; v++) {
        CHECK(shoal_noise_gaussian(&noise, v) == SHOAL_OK);
        CHECK((noise.root - 1) * (noise.root - 1) <= v && noise.root * noise.root > v);
    }
}

int main(void)
{
    exponential_coins();
    laplace_laws();
    gaussian_laws();
    ratio_law();
    ratio_bounds();
    moments();
    vectors();
    refusals();
    return check_summary();
}
