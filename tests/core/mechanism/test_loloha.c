// SPDX-License-Identifier: Apache-2.0
// Longitudinal local hashing: the rows, the whole law of one report, and the whole law of a
// device's reports over all sequences of changing values, by enumeration; what the claims say
// against what the laws show, and where the claims end; what is permanent and what is fresh.
#include "loloha.h"

#include <math.h>
#include <stdlib.h>

#include "bytes.h"
#include "check.h"
#include "law.h"
#include "record.h"
#include "scripted_rng.h"
#include "test_recipes.h"

#define G_MAX SHOAL_LOLOHA_G_MAX

static shoal_part loloha_part(uint32_t size, uint32_t g, uint32_t eps, uint32_t eps_permanent)
{
    shoal_part part = {.mechanism = shoal_loloha_id,
                       .domain = SHOAL_DOMAIN_CLOSED,
                       .eps_micro = eps,
                       .eps_permanent_micro = eps_permanent,
                       .m = g,
                       .size = size,
                       .seed = {3}};
    const char *field;
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_OK);
    return part;
}

// In every row all answers are equally frequent among the N values, and any two values share their
// answer in exactly (N/g - 1)/(g - 1) rows.
static void rows(void)
{
    static const uint32_t shapes[][4] = {// g, size, N, k
                                         {2, 2, 4, 3},    {2, 3, 4, 3},      {2, 4, 8, 7},
                                         {2, 15, 16, 15}, {4, 2, 4, 1},      {4, 15, 16, 5},
                                         {8, 7, 8, 1},    {8, 8, 64, 9},     {8, 63, 64, 9},
                                         {16, 15, 16, 1}, {16, 16, 256, 17}, {16, 255, 256, 17}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        uint32_t g = shapes[i][0], n = shapes[i][2];
        shoal_part part = loloha_part(shapes[i][1], g, 1000000, 2000000);
        CHECK(shoal_loloha_values(&part) == n && part.k == shapes[i][3]);
        for (uint32_t j = 0; j < part.k; j++) {
            uint32_t seen[G_MAX] = {0};
            for (uint32_t x = 0; x < n; x++) seen[shoal_loloha_answer(&part, j, x)]++;
            for (uint32_t y = 0; y < g; y++) CHECK(seen[y] == n / g);
        }
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = 0; b < a; b++) {
                uint32_t shared = 0;
                for (uint32_t j = 0; j < part.k; j++)
                    shared += shoal_loloha_answer(&part, j, a) == shoal_loloha_answer(&part, j, b);
                CHECK(shared == (n / g - 1) / (g - 1));
            }
    }
}

// The law of one step, all its coins forced through the code: chance[y][z] of the answer z where y
// is the truth.
typedef struct step {
    double chance[G_MAX][G_MAX];
} step;

static void enumerate_step(step *s, const shoal_part *part, uint64_t f)
{
    double lies = ldexp((double)f, -64), g = part->m;
    memset(s, 0, sizeof *s);
    for (uint32_t y = 0; y < part->m; y++)
        for (uint64_t noise = 0; noise < part->m; noise++)
            for (int is_noise = 0; is_noise < 2; is_noise++) {
                shoal_rng rng;
                script(&rng, 0, 0);
                script_word(&rng, 0, is_noise ? f - 1 : f);
                script_word(&rng, 1, noise | (uint64_t)0x5a << 32); // its low bits alone count
                uint32_t z = shoal_loloha_noisy(part, f, y, &rng);
                s->chance[y][z] += (is_noise ? lies : 1 - lies) / g;
            }
    for (uint32_t y = 0; y < part->m; y++)
        for (uint32_t z = 0; z < part->m; z++)
            CHECK(fabs(s->chance[y][z] - (y == z ? 1 - lies : 0) - lies / g) < 1e-15);
}

// The claim is the loss of the enumerated law: not below it, and above it by rounding only.
static void check_claim(double loss, shoal_err err, uint32_t claimed)
{
    CHECK(err == SHOAL_OK && claimed / 1e6 >= loss - 1e-12);
    CHECK(claimed / 1e6 <= fmax(loss, 0.01) + 2e-6);
}

static shoal_part with_thresholds(uint32_t size, uint32_t g, uint64_t f1, uint64_t f2)
{
    shoal_part part = loloha_part(size, g, 1000000, 2000000);
    part.pqf_threshold[SHOAL_LOLOHA_PERMANENT] = f1 << 60;
    part.threshold = f2 << 60;
    return part;
}

// One report of each value and of "none", over both steps: in every row the loss of any two is that
// of their answers, and it is reached. The answers' laws are the same whatever the row.
static void law_of_one_report(uint32_t size, uint32_t g)
{
    static const uint64_t coins[][2] = {{4, 4}, {1, 8}, {12, 2}, {15, 15}, {2, 1}};
    for (size_t i = 0; i < sizeof coins / sizeof coins[0]; i++) {
        shoal_part part = with_thresholds(size, g, coins[i][0], coins[i][1]);
        step first, second;
        enumerate_step(&first, &part, coins[i][0] << 60);
        enumerate_step(&second, &part, coins[i][1] << 60);
        double largest = 0, report[G_MAX][G_MAX] = {{0}};
        for (uint32_t y = 0; y < g; y++)
            for (uint32_t o = 0; o < g; o++)
                for (uint32_t m = 0; m < g; m++)
                    report[y][o] += first.chance[y][m] * second.chance[m][o];
        for (uint32_t j = 0; j < part.k; j++)
            for (uint32_t a = 0; a <= size; a++)
                for (uint32_t b = 0; b <= size; b++)
                    for (uint32_t o = 0; o < g; o++) {
                        double x = report[shoal_loloha_answer(&part, j, a)][o],
                               y = report[shoal_loloha_answer(&part, j, b)][o];
                        largest = fmax(largest, log(x / y));
                    }
        uint32_t claimed = 0;
        shoal_err err = shoal_loloha_mechanism.epsilon(&claimed, &part);
        check_claim(largest, err, claimed);
    }
}

// All sequences of T hashed answers, and all of T outputs, are numbers to base g.
typedef struct paths {
    uint32_t g, length, n; // n = g^length
    double *law;           // law[sequence * n + output]
} paths;

static uint32_t digit(uint32_t number, uint32_t g, uint32_t place)
{
    while (place-- > 0) number /= g;
    return number % g;
}

// Adds the law of one table of permanent answers, whose probability is given. Given the table, the
// reports are independent.
static void add_table(paths *p, const step *second, const uint32_t *table, double chance)
{
    for (uint32_t s = 0; s < p->n; s++)
        for (uint32_t o = 0; o < p->n; o++) {
            double product = chance;
            for (uint32_t t = 0; t < p->length; t++)
                product *= second->chance[table[digit(s, p->g, t)]][digit(o, p->g, t)];
            p->law[(size_t)s * p->n + o] += product;
        }
}

// Sums over all g^g tables of permanent answers.
static void enumerate_paths(paths *p, const step *first, const step *second)
{
    uint32_t n_tables = (uint32_t)power(p->g, p->g), table[G_MAX];
    p->n = (uint32_t)power(p->g, p->length);
    p->law = calloc((size_t)p->n * p->n, sizeof *p->law);
    if (p->law == NULL) exit(1);
    for (uint32_t i = 0; i < n_tables; i++) {
        double chance = 1;
        for (uint32_t y = 0; y < p->g; y++) {
            table[y] = digit(i, p->g, y);
            chance *= first->chance[y][table[y]];
        }
        add_table(p, second, table, chance);
    }
    for (uint32_t s = 0; s < p->n; s++) {
        double total = 0;
        for (uint32_t o = 0; o < p->n; o++) total += p->law[(size_t)s * p->n + o];
        CHECK(fabs(total - 1) < 1e-12);
    }
}

// Are the same reports about one answer in both sequences?
static int is_same_pattern(const paths *p, uint32_t a, uint32_t b)
{
    for (uint32_t t = 0; t < p->length; t++)
        for (uint32_t u = 0; u < t; u++)
            if ((digit(a, p->g, t) == digit(a, p->g, u)) !=
                (digit(b, p->g, t) == digit(b, p->g, u)))
                return 0;
    return 1;
}

static uint32_t n_distinct(const paths *p, uint32_t a)
{
    uint64_t seen = 0;
    for (uint32_t t = 0; t < p->length; t++) seen |= (uint64_t)1 << digit(a, p->g, t);
    return count_bits(seen);
}

// The largest losses of all pairs of sequences.
typedef struct losses {
    double any;              // of any two sequences
    double alike[G_MAX + 1]; // of two with one pattern, by the number of distinct answers
} losses;

static losses losses_of(const paths *p)
{
    losses l = {0};
    for (uint32_t a = 0; a < p->n; a++)
        for (uint32_t b = 0; b < p->n; b++) {
            double largest = 0;
            for (uint32_t o = 0; o < p->n; o++)
                largest =
                    fmax(largest, p->law[(size_t)a * p->n + o] / p->law[(size_t)b * p->n + o]);
            double *alike = &l.alike[n_distinct(p, a)];
            l.any = fmax(l.any, log(largest));
            if (is_same_pattern(p, a, b)) *alike = fmax(*alike, log(largest));
        }
    return l;
}

// The loss of a step: ln(1 + g (16 - f)/f).
static double step_loss(uint32_t g, uint64_t sixteenths)
{
    return log1p(g * (16.0 - (double)sixteenths) / (double)sixteenths);
}

static losses losses_of_part(const shoal_part *part, uint32_t length)
{
    step first, second;
    paths p = {.g = part->m, .length = length};
    enumerate_step(&first, part, part->pqf_threshold[SHOAL_LOLOHA_PERMANENT]);
    enumerate_step(&second, part, part->threshold);
    enumerate_paths(&p, &first, &second);
    losses l = losses_of(&p);
    free(p.law);
    return l;
}

static losses enumerate_losses(uint32_t g, uint32_t length, uint64_t f1, uint64_t f2)
{
    shoal_part part = with_thresholds(2, g, f1, f2);
    return losses_of_part(&part, length);
}

// Any two sequences of values: no more than `epsilon` a report. Two whose reports share permanent
// answers alike: d epsilon_permanent at most, d being their distinct answers, so g of them in the
// end; of one value, epsilon_permanent.
static void law_of_changing_values(uint32_t g, uint32_t length, uint64_t f1, uint64_t f2)
{
    losses l = enumerate_losses(g, length, f1, f2);
    double permanent = step_loss(g, f1), fresh = step_loss(g, f2);
    CHECK(l.any <= length * fresh * (1 + 1e-12));
    for (uint32_t d = 1; d <= g; d++) CHECK(l.alike[d] <= d * permanent * (1 + 1e-12));
    CHECK(l.alike[1] > 0.5 * fmin(permanent, fresh)); // there is something to hide
}

// The claims are reached: with next to no fresh noise, d answers of d reports cost d
// epsilon_permanent; and with next to no permanent noise any report costs `epsilon`.
static void claims_are_reached(void)
{
    for (uint32_t g = 2; g <= 4; g += 2) {
        shoal_part part = with_thresholds(2, g, 4, 0);
        step first;
        enumerate_step(&first, &part, (uint64_t)4 << 60);
        step shown = {{{0}}};
        for (uint32_t y = 0; y < g; y++)
            for (uint32_t z = 0; z < g; z++) shown.chance[y][z] = y == z;
        paths p = {.g = g, .length = g};
        enumerate_paths(&p, &first, &shown);
        for (uint32_t d = 1; d <= g; d++) {
            double largest = 0;
            for (uint32_t a = 0; a < p.n; a++)
                for (uint32_t b = 0; b < p.n; b++)
                    for (uint32_t o = 0; o < p.n && n_distinct(&p, a) == d; o++)
                        if (is_same_pattern(&p, a, b) && p.law[(size_t)b * p.n + o] > 0)
                            largest = fmax(largest,
                                           p.law[(size_t)a * p.n + o] / p.law[(size_t)b * p.n + o]);
            CHECK(fabs(log(largest) - d * step_loss(g, 4)) < 1e-9);
        }
        free(p.law);
    }
    losses l = enumerate_losses(2, 4, 1, 13);
    CHECK(l.any > 0.9 * 4 * step_loss(2, 13));
    uint32_t unlimited = 0;
    shoal_part part = with_thresholds(2, 4, 4, 4);
    shoal_err err = shoal_loloha_unlimited(&unlimited, &part);
    check_claim(step_loss(4, 4), err, unlimited);
}

// Where other claims would end. Any number of reports show when values changed: two sequences of
// unlike patterns are told apart by more than g epsilon_permanent. And reports cost more than the
// first one's epsilon each, so a device debits the fresh coins'.
static void where_claims_end(void)
{
    uint64_t f1 = 14, f2 = 2;
    double permanent = step_loss(2, f1), first = 0;
    losses l = enumerate_losses(2, 6, f1, f2);
    CHECK(l.alike[1] <= permanent && l.alike[2] <= 2 * permanent * (1 + 1e-12));
    CHECK(l.any > 2 * permanent);
    first = log1p(2.0 / (256.0 / ((16.0 - (double)f1) * (16.0 - (double)f2)) - 1));
    losses one = enumerate_losses(2, 1, f1, f2);
    CHECK(fabs(one.any - first) < 1e-12);
    CHECK(l.any > 6 * first);
}

// The losses of docs/mechanisms/loloha.md, of real recipes with g = 2: between any two histories of
// 1 to 4 reports, and between two whose answers change at the same reports.
static void documented_losses(void)
{
    static const struct {
        uint32_t eps, permanent;
        double any[4], alike[4];
    } rows_[] = {
        {1000000, 2000000, {0.735, 1.471, 2.060, 2.650}, {0.735, 1.471, 2.060, 2.650}},
        {1000000, 1000000, {0.434, 0.868, 1.169, 1.711}, {0.434, 0.868, 1.169, 1.471}},
        {2000000, 1000000, {0.735, 1.471, 2.429, 3.387}, {0.735, 1.471, 1.693, 1.916}},
        {4000000, 2000000, {1.876, 3.751, 5.749, 7.746}, {1.876, 3.751, 3.873, 3.995}},
    };
    for (size_t i = 0; i < sizeof rows_ / sizeof rows_[0]; i++) {
        shoal_part part = loloha_part(2, 2, rows_[i].eps, rows_[i].permanent);
        for (uint32_t t = 1; t <= 4; t++) {
            losses l = losses_of_part(&part, t);
            CHECK(fabs(l.any - rows_[i].any[t - 1]) < 6e-4);
            CHECK(fabs(fmax(l.alike[1], l.alike[2]) - rows_[i].alike[t - 1]) < 6e-4);
            CHECK(l.any <= t * (rows_[i].eps / 1e6) * (1 + 1e-12));
        }
    }
}

static void real_epsilon(void)
{
    static const uint32_t eps[] = {10000, 500000, 1000000, 1342455, 4000000, 8000000, 16000000};
    for (size_t i = 0; i < sizeof eps / sizeof eps[0]; i++)
        for (uint32_t g = 2; g <= G_MAX; g *= 2) {
            shoal_part part = loloha_part(3, g, eps[i], eps[6 - i]);
            uint32_t claimed = 0, one = 0;
            uint64_t f[2] = {part.threshold, part.pqf_threshold[SHOAL_LOLOHA_PERMANENT]};
            for (int s = 0; s < 2; s++) {
                double e = exp(eps[s == 0 ? i : 6 - i] / 1e6),
                       odds = 1 + g * ((double)(0 - f[s]) / (double)f[s]);
                CHECK(odds <= e * (1 + 1e-12) && odds >= 0.999999 * e);
            }
            CHECK(shoal_loloha_unlimited(&claimed, &part) == SHOAL_OK && claimed == eps[6 - i]);
            if (shoal_loloha_mechanism.epsilon(&one, &part) == SHOAL_OK)
                CHECK(one <= eps[i] && one <= eps[6 - i]);
        }
}

static shoal_permanent device(uint32_t number)
{
    shoal_permanent permanent = {{(uint8_t)number, (uint8_t)(number >> 8), 9, 77}};
    return permanent;
}

static uint32_t record_of(const shoal_part *part, uint64_t item, uint32_t number, shoal_rng *rng)
{
    uint8_t record[4];
    shoal_permanent own = device(number);
    shoal_loloha_mechanism.randomize(record, part, item, &own, rng);
    CHECK(shoal_loloha_mechanism.check(part, record) == SHOAL_OK);
    return load32_le(record);
}

// Without fresh noise: a device's record of a value is always the same, its row the same whatever
// the value, and values of one answer have one record. A renewed seed, another size, g or
// epsilon_permanent gives other rows and answers: of 400 devices, one in 5 keeps its row by chance
// (80, sd 8), and all of them would if a parameter were missing from the key.
static void what_is_permanent(void)
{
    shoal_part part = loloha_part(15, 4, 1000000, 2000000), others[3] = {part, part, part};
    shoal_rng rng;
    uint8_t seed[32] = {9};
    shoal_rng_init(&rng, seed);
    part.threshold = 0;
    others[0].seed[1] ^= 1;
    others[1] = loloha_part(14, 4, 1000000, 2000000);
    others[2] = loloha_part(15, 4, 1000000, 2000001);
    uint32_t kept[3] = {0};
    for (uint32_t i = 0; i < 400; i++) {
        uint32_t first = record_of(&part, 5, i, &rng), j = first / 4;
        CHECK(record_of(&part, 5, i, &rng) == first);
        for (uint32_t x = 0; x < 15; x++) {
            uint32_t record = record_of(&part, x, i, &rng);
            CHECK(record / 4 == j);
            if (shoal_loloha_answer(&part, j, x) == shoal_loloha_answer(&part, j, 5))
                CHECK(record == first);
        }
        for (int o = 0; o < 3; o++) {
            others[o].threshold = 0;
            kept[o] += record_of(&others[o], 5, i, &rng) / 4 == j;
        }
    }
    for (int o = 0; o < 3; o++) CHECK(kept[o] > 40 && kept[o] < 120);
}

// 60,000 devices, one report each, of a listed value and of "none": each cell as often as the law
// says, 5 sd.
static void real_draws(void)
{
    shoal_part part = loloha_part(15, 4, 1500000, 2500000);
    double f1 = ldexp((double)part.pqf_threshold[SHOAL_LOLOHA_PERMANENT], -64),
           f2 = ldexp((double)part.threshold, -64), lie = (f1 + f2 - f1 * f2) / 4, n = 60000;
    shoal_rng rng;
    uint8_t seed[32] = {6};
    shoal_rng_init(&rng, seed);
    for (int is_none = 0; is_none < 2; is_none++) {
        uint32_t seen[20] = {0}, x = is_none ? 15 : 7;
        for (uint32_t i = 0; i < (uint32_t)n; i++)
            seen[record_of(&part, is_none ? SHOAL_ITEM_NONE : x, i, &rng)]++;
        for (uint32_t cell = 0; cell < 20; cell++) {
            double p = shoal_loloha_answer(&part, cell / 4, x) == cell % 4 ? 1 - 3 * lie : lie;
            CHECK(fabs(seen[cell] - n * p / 5) < 5 * sqrt(n * p / 5));
        }
    }
}

// 20,000 reports of one device about one value: the permanent answer with probability 1 - F2 +
// F2/g, each other one with F2/g, 5 sd.
static void fresh_draws(void)
{
    shoal_part part = loloha_part(7, 8, 1000000, 1000000), shown = part;
    double f2 = ldexp((double)part.threshold, -64), n = 20000;
    uint32_t seen[8] = {0};
    shoal_rng rng;
    uint8_t seed[32] = {8};
    shoal_rng_init(&rng, seed);
    shown.threshold = 0;
    uint32_t kept = record_of(&shown, 3, 1, &rng);
    for (uint32_t i = 0; i < (uint32_t)n; i++) seen[record_of(&part, 3, 1, &rng)]++;
    for (uint32_t y = 0; y < 8; y++) {
        double p = y == kept ? 1 - 7 * f2 / 8 : f2 / 8;
        CHECK(fabs(seen[y] - n * p) < 5 * sqrt(n * p * (1 - p)));
    }
}

static shoal_err loloha_recipe(shoal_recipe *recipe, uint32_t size, uint32_t g, int64_t permanent)
{
    shoal_err err = start_recipe("loloha", 1000000);
    if (err == SHOAL_OK) err = set_text("seed", TEST_SEED);
    if (err == SHOAL_OK) err = set_int("parameters.g", g);
    if (err == SHOAL_OK) err = set_int("parameters.size", size);
    if (err == SHOAL_OK && permanent > 0)
        err = set_micro("parameters.epsilon_permanent", permanent);
    return end_recipe(recipe, err);
}

static int is_refused(uint32_t size, uint32_t g, int64_t permanent, const char *field)
{
    shoal_recipe recipe;
    return loloha_recipe(&recipe, size, g, permanent) != SHOAL_OK &&
           strcmp(building.error_field, field) == 0;
}

static void ranges(void)
{
    shoal_recipe recipe;
    uint8_t record[4];
    size_t position = 9;
    CHECK(loloha_recipe(&recipe, 255, 16, 2000000) == SHOAL_OK && recipe.record_size == 4 &&
          recipe.text_size == 5 && recipe.cost_micro == 1000000);
    CHECK(shoal_recipe_is_permanent(&recipe));
    CHECK(shoal_record_from_text(record, &recipe, "16,15", 5, NULL) == SHOAL_OK);
    CHECK(load32_le(record) == 17 * 16 - 1);
    CHECK(shoal_record_from_text(record, &recipe, "17,00", 5, &position) == SHOAL_ERR_RANGE);
    CHECK(shoal_record_from_text(record, &recipe, "00;00", 5, &position) == SHOAL_ERR_TYPE &&
          position == 2);
    store32_le(record, 17 * 16);
    CHECK(shoal_record_check(&recipe, record) == SHOAL_ERR_RECORD);
    CHECK(is_refused(16, 2, 2000000, "parameters.size"));
    CHECK(is_refused(64, 8, 2000000, "parameters.size"));
    CHECK(is_refused(256, 16, 2000000, "parameters.size"));
    CHECK(is_refused(15, 3, 2000000, "parameters.g"));
    CHECK(is_refused(15, 32, 2000000, "parameters.g"));
    CHECK(is_refused(15, 2, 0, "parameters.epsilon_permanent"));
    CHECK(is_refused(15, 2, 9999, "parameters.epsilon_permanent"));
}

int main(void)
{
    rows();
    law_of_one_report(3, 2);
    law_of_one_report(15, 4);
    law_of_one_report(63, 8);
    law_of_changing_values(2, 1, 4, 8);
    law_of_changing_values(2, 5, 4, 8);
    law_of_changing_values(2, 6, 12, 3);
    law_of_changing_values(4, 3, 6, 10);
    law_of_changing_values(4, 4, 12, 4);
    claims_are_reached();
    where_claims_end();
    documented_losses();
    real_epsilon();
    what_is_permanent();
    real_draws();
    fresh_draws();
    ranges();
    return check_summary();
}
