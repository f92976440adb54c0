// SPDX-License-Identifier: Apache-2.0
// shoal_permanent_study: values that change, followed under permanent answers and by a new recipe
// each epoch, at one epsilon for everything that a person's reports tell of the values over all
// epochs. permanent_study.mjs makes the tables of docs/change-study.md of it.
//
//     shoal_permanent_study [COLLECTIONS [BASE [DEVICES]]]
//
// Lists are of 3 and of 12 entries, by Zipf's law; 12 epochs. Between two epochs each device draws
// its value anew with a chance of 0, 0.1 or 1. Devices report in the first epoch, in the second and
// in the last. Devices, records and estimates are real; the theory is of the values that they had.
//
// A line a setting, separated by tabs: entries of the list, epsilon, chance of a new value,
// mechanism, g (0: none), epsilon of any number of reports of one value (0: none), epsilon of one
// report, epsilon over all epochs between any two histories; then root mean squares over all
// values, in % of the devices: of a share in theory and measured, of a change to the next epoch in
// theory and measured, of one from the first epoch to the last in theory and measured; the standard
// error that shoal compare states for the change to the next epoch; coverage of its 95 % intervals.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "accumulator.h"
#include "compare.h"
#include "domain_dictionary.h"
#include "loloha_law.h"
#include "part_recipe.h"
#include "rappor.h"
#include "recipe.h"
#include "record.h"
#include "sha256.h"

#define SIZE_MAX_ 12u
#define VALUES (SIZE_MAX_ + 1) // and "none"
#define EPOCHS 12u
#define REPORTS 3u // the first epoch's, the second's, the last's

static void stop_if(bool is_bad, const char *text)
{
    if (!is_bad) return;
    fprintf(stderr, "shoal_permanent_study: %s\n", text);
    exit(1);
}

typedef struct setting {
    uint32_t size;
    double epsilon, moved;
} setting;

// One way to follow the values.
typedef struct method {
    shoal_part part; // prepared
    double unlimited, one, any;
    agg_recipe recipe;
    agg_dictionary dictionary;
    bool is_permanent;
    // of what two reports of a device add to the count of a value that it held at neither, at the
    // first, at both; by values: covariance[v][x][y]
    double covariance[VALUES][VALUES][VALUES];
} method;

// ---- the ways ----

static double micro(double x)
{
    return floor(x * 1e6 + 0.5) / 1e6;
}

// Returns: how many permanent answers 12 epochs can show.
static double answers(double values)
{
    return fmin(values, EPOCHS);
}

static void prepare(shoal_part *part)
{
    const char *field = "";
    memset(part->seed, 0x3c, sizeof part->seed);
    stop_if(shoal_part_prepare(part, &field) != SHOAL_OK, field);
}

// Returns: the share of answers that a randomized response over g answers keeps.
static double keeps(double epsilon, double g)
{
    return (exp(epsilon) - 1) / (exp(epsilon) - 1 + g);
}

// Fresh coins make one report half of the permanent answer's epsilon, as in the paper's
// experiments; if `is_strict`, they keep the bound between any two histories.
static void set_loloha(method *m, const setting *s, uint32_t g, bool is_strict)
{
    double permanent = micro(s->epsilon / answers(g));
    double fresh = keeps(permanent / 2, g) / keeps(permanent, g);
    double epsilon = is_strict ? s->epsilon / EPOCHS : log(1 + g * fresh / (1 - fresh));
    m->part = (shoal_part){.mechanism = shoal_loloha_id,
                           .domain = SHOAL_DOMAIN_CLOSED,
                           .eps_micro = (uint32_t)(1e6 * epsilon),
                           .eps_permanent_micro = (uint32_t)(permanent * 1e6 + 0.5),
                           .m = g,
                           .size = s->size};
    prepare(&m->part);
    agg_loloha_law law = agg_loloha_law_of(&m->part);
    m->unlimited = permanent;
    m->one = log(law.truth / law.lie);
    m->any = EPOCHS * m->part.eps_micro / 1e6;
}

// As many answers as the list has values, "none" among them. Two answers differ in any bits.
static void set_rappor(method *m, const setting *s)
{
    double permanent = s->epsilon / answers(s->size + 1);
    double flip = ceil(1e6 / (exp(permanent / 2) + 1)) / 1e6, f = 2 * flip;
    double target = 1 / (exp(-permanent / 4) + 1), q = (target - flip) / (1 - f);
    m->part = (shoal_part){
        .mechanism = shoal_rappor_id, .domain = SHOAL_DOMAIN_CLOSED, .size = s->size, .hashes = 1};
    m->part.pqf_micro[SHOAL_RAPPOR_P] = (uint32_t)(1e6 - floor(q * 1e6));
    m->part.pqf_micro[SHOAL_RAPPOR_Q] = (uint32_t)floor(q * 1e6);
    m->part.pqf_micro[SHOAL_RAPPOR_F] = (uint32_t)(f * 1e6 + 0.5);
    prepare(&m->part);
    m->unlimited = 2 * log((1 - flip) / flip);
    m->one = m->part.eps_micro / 1e6;
    m->any = EPOCHS * s->size * log(q / (1 - q));
}

// The least error of a list, at the part of an epoch.
static void set_fresh(method *m, const setting *s)
{
    const agg_wish wish = {(uint32_t)(s->epsilon / EPOCHS * 1e6), s->size, false, 1e4, 0, 1e8};
    stop_if(!agg_account_of(shoal_subset_id)->propose(&m->part, &wish, 0), "no subset");
    prepare(&m->part);
    m->one = m->part.eps_micro / 1e6;
    m->any = EPOCHS * m->one;
}

static void open_recipe(method *m)
{
    static char text[4096];
    char seed[65] = {0};
    agg_error error = {SHOAL_OK, 0, ""};
    for (size_t i = 0; i < 32; i++) snprintf(seed + 2 * i, 3, "%02x", m->part.seed[i]);
    const agg_recipe_frame frame = {.id = "study",
                                    .analysis = "a",
                                    .stream = "s",
                                    .value = "item",
                                    .seed_hex = seed,
                                    .expires = "2099-01-01",
                                    .per_day = 1,
                                    .cohort_minimum = 1};
    FILE *stream = fmemopen(text, sizeof text, "w");
    stop_if(stream == NULL, "out of memory");
    agg_part_recipe_print(stream, &m->part, &frame);
    fclose(stream);
    stop_if(agg_recipe_from_bytes(&m->recipe, &error, "study", text, strlen(text)) != SHOAL_OK,
            error.text);
    stop_if(agg_dictionary_of_recipe(&m->dictionary, &error, &m->recipe) != SHOAL_OK, error.text);
    m->is_permanent = shoal_recipe_is_permanent(m->recipe.recipe);
}

// ---- theory ----

// Returns: the covariance of two supports of v, over rows and permanent coins, by what the row's
// answers are.
static double loloha_covariance(const shoal_part *part, uint32_t v, uint32_t x, uint32_t y)
{
    agg_loloha_law law = agg_loloha_law_of(part);
    double g = part->m, f1 = (double)part->pqf_threshold[SHOAL_LOLOHA_PERMANENT] * 0x1p-64;
    double fresh = 1 - (double)part->threshold * 0x1p-64;
    double of_x = 0, of_y = 0, both = 0, coins = 0;
    for (uint32_t j = 0; j < part->k; j++) {
        uint32_t a = shoal_loloha_answer(part, j, v), b = shoal_loloha_answer(part, j, x),
                 c = shoal_loloha_answer(part, j, y);
        double p_x = a == b ? law.truth : law.lie, p_y = a == c ? law.truth : law.lie;
        double right = f1 / g + (a == b ? 1 - f1 : 0); // the permanent answer is v's
        of_x += p_x / part->k;
        of_y += p_y / part->k;
        both += p_x * p_y / part->k;
        if (b == c) coins += fresh * fresh * right * (1 - right) / part->k;
    }
    return both - of_x * of_y + coins;
}

static void set_covariances(method *m)
{
    const shoal_part *part = &m->part;
    memset(m->covariance, 0, sizeof m->covariance);
    if (!m->is_permanent) return;
    agg_loloha_law law = {0};
    if (part->mechanism == shoal_loloha_id) law = agg_loloha_law_of(part);
    double flip = (double)part->pqf_threshold[SHOAL_RAPPOR_F] * 0x1p-64;
    for (uint32_t v = 0; v < part->size; v++)
        for (uint32_t x = 0; x <= part->size; x++)
            for (uint32_t y = 0; y <= part->size; y++) {
                double *out = &m->covariance[v][x][y];
                if (part->mechanism == shoal_loloha_id)
                    *out = loloha_covariance(part, v, x, y) /
                           ((law.truth - law.other) * (law.truth - law.other));
                else if (x == y)
                    *out = flip * (1 - flip) / ((1 - 2 * flip) * (1 - 2 * flip));
            }
}

// ---- collections ----

typedef struct crowd {
    uint32_t n;
    uint8_t *values; // REPORTS by device; size stands for "none"
    double counts[REPORTS][VALUES];
    double moves[REPORTS][VALUES][VALUES]; // from report 0 to report r
} crowd;

static double uniform(shoal_rng *rng)
{
    return (double)(shoal_rng_u64(rng) >> 11) * 0x1p-53;
}

// One device in ten has none of the list.
static uint8_t draw(const setting *s, shoal_rng *rng)
{
    double sum = 0, u = uniform(rng) / 0.9;
    uint32_t d = 0;
    for (uint32_t i = 0; i < s->size; i++) sum += 1.0 / (i + 1);
    if (u >= 1) return (uint8_t)s->size;
    for (u *= sum; d + 1 < s->size && u >= 1.0 / (d + 1); d++) u -= 1.0 / (d + 1);
    return (uint8_t)d;
}

static void draw_crowd(crowd *c, const setting *s, shoal_rng *rng)
{
    double later = 1 - pow(1 - s->moved, EPOCHS - 2);
    memset(c->counts, 0, sizeof c->counts);
    memset(c->moves, 0, sizeof c->moves);
    for (uint32_t i = 0; i < c->n; i++) {
        uint8_t *own = c->values + (size_t)i * REPORTS;
        own[0] = draw(s, rng);
        own[1] = uniform(rng) < s->moved ? draw(s, rng) : own[0];
        own[2] = uniform(rng) < later ? draw(s, rng) : own[1];
        for (uint32_t r = 0; r < REPORTS; r++) {
            c->counts[r][own[r]]++;
            c->moves[r][own[0]][own[r]]++;
        }
    }
}

// Squares of errors, in reports; sums over values and collections.
typedef struct figures {
    double theory[3], measured[3], stated, covered, n;
} figures;

static double variance_of(const method *m, const crowd *c, uint32_t r, uint32_t v)
{
    return agg_account_of(m->part.mechanism)->variance(&m->part, c->n, c->counts[r][v], 0);
}

static void take_theory(figures *f, const method *m, const crowd *c)
{
    for (uint32_t v = 0; v < m->part.size; v++) {
        f->theory[0] += variance_of(m, c, 0, v);
        for (uint32_t r = 1; r < REPORTS; r++) {
            double shared = 0;
            for (uint32_t x = 0; x <= m->part.size; x++)
                for (uint32_t y = 0; y <= m->part.size; y++)
                    shared += c->moves[r][x][y] * m->covariance[v][x][y];
            f->theory[r] += variance_of(m, c, 0, v) + variance_of(m, c, r, v) - 2 * shared;
        }
    }
}

static void fold(agg_accumulator acc[REPORTS], const method *m, const crowd *c, shoal_rng *rng)
{
    const shoal_recipe *recipe = m->recipe.recipe;
    size_t size = recipe->record_size;
    uint8_t *records = malloc((size_t)c->n * REPORTS * size);
    agg_error error = {SHOAL_OK, 0, ""};
    stop_if(records == NULL, "out of memory");
    for (uint32_t i = 0; i < c->n; i++) {
        shoal_permanent permanent;
        shoal_rng_bytes(rng, permanent.secret, sizeof permanent.secret);
        for (uint32_t r = 0; r < REPORTS; r++) {
            uint8_t own = c->values[(size_t)i * REPORTS + r];
            uint64_t item = own < m->part.size ? own : SHOAL_ITEM_NONE;
            stop_if(shoal_record_randomize(records + ((size_t)r * c->n + i) * size, recipe, &item,
                                           1, m->is_permanent ? &permanent : NULL, rng) != SHOAL_OK,
                    "no record");
        }
    }
    for (uint32_t r = 0; r < REPORTS; r++)
        stop_if(agg_accumulator_init(&acc[r], &error, recipe) != SHOAL_OK ||
                    agg_accumulator_add(&acc[r], &error, records + (size_t)r * c->n * size, c->n,
                                        1) != SHOAL_OK,
                error.text);
    free(records);
}

static uint32_t value_of(const method *m, agg_text value)
{
    uint32_t v = 0;
    while (m->dictionary.values[v].bytes != value.bytes) v++;
    return v;
}

static void take_changes(figures *f, const method *m, const crowd *c,
                         const agg_accumulator acc[REPORTS], uint32_t r)
{
    const agg_compare_side a = {&m->recipe, &acc[0], &m->dictionary},
                           b = {&m->recipe, &acc[r], &m->dictionary};
    const agg_compare_options options = {AGG_COMPARE_COUNTS, 0.95, AGG_BONFERRONI, 0, 1};
    agg_error error = {SHOAL_OK, 0, ""};
    agg_compare result;
    stop_if(agg_compare_run(&result, &error, &a, &b, &options) != SHOAL_OK, error.text);
    for (size_t i = 0; i < result.n_rows; i++) {
        const agg_compare_row *row = &result.rows[i];
        uint32_t v = value_of(m, row->value);
        double truth = c->counts[r][v] - c->counts[0][v], off = row->difference - truth;
        f->measured[r] += off * off;
        if (r > 1) continue;
        f->measured[0] += (row->a - c->counts[0][v]) * (row->a - c->counts[0][v]);
        f->stated += row->stderr_ * row->stderr_;
        f->covered += row->low <= truth && truth <= row->high;
        f->n++;
    }
    agg_compare_release(&result);
}

static void run(method *m, const setting *s, const char *name, const char *base,
                uint32_t n_collections, uint32_t n)
{
    crowd c = {.n = n, .values = malloc((size_t)n * REPORTS)};
    figures f = {0};
    stop_if(c.values == NULL, "out of memory");
    open_recipe(m);
    set_covariances(m);
    for (uint32_t i = 0; i < n_collections; i++) {
        agg_accumulator acc[REPORTS];
        char text[160];
        uint8_t seed[32];
        shoal_rng rng;
        shoal_sha256 sha;
        snprintf(text, sizeof text, "%s %s %u %u %g %g %u", base, name, m->part.m, s->size,
                 s->epsilon, s->moved, i);
        shoal_sha256_init(&sha);
        shoal_sha256_update(&sha, (const uint8_t *)text, strlen(text));
        shoal_sha256_final(seed, &sha);
        shoal_rng_init(&rng, seed);
        draw_crowd(&c, s, &rng);
        take_theory(&f, m, &c);
        fold(acc, m, &c, &rng);
        for (uint32_t r = 1; r < REPORTS; r++) take_changes(&f, m, &c, acc, r);
        for (uint32_t r = 0; r < REPORTS; r++) agg_accumulator_release(&acc[r]);
    }
    printf("%u\t%g\t%g\t%s\t%u\t%.4f\t%.4f\t%.2f", s->size, s->epsilon, s->moved, name,
           m->part.mechanism == shoal_loloha_id ? m->part.m : 0, m->unlimited, m->one, m->any);
    for (uint32_t r = 0; r < REPORTS; r++)
        printf("\t%.4f\t%.4f", 100 * sqrt(f.theory[r] / f.n) / n,
               100 * sqrt(f.measured[r] / f.n) / n);
    printf("\t%.4f\t%.4f\n", 100 * sqrt(f.stated / f.n) / n, f.covered / f.n);
    fflush(stdout);
    agg_dictionary_release(&m->dictionary);
    agg_recipe_release(&m->recipe);
    free(c.values);
}

int main(int argc, char **argv)
{
    static const uint32_t sizes[] = {3, 12}, shapes[] = {2, 4, 8, 16};
    static const double epsilons[] = {4, 8}, chances[] = {0, 0.1, 1};
    uint32_t n_collections = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 100;
    const char *base = argc > 2 ? argv[2] : "permanent";
    uint32_t n = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 4000;
    stop_if(n_collections == 0 || n == 0, "COLLECTIONS and DEVICES are whole numbers from 1 on");
    for (size_t i = 0; i < 2 * 2 * 3; i++) {
        const setting s = {sizes[i / 6], epsilons[i / 3 % 2], chances[i % 3]};
        static method m;
        for (size_t j = 0; j < sizeof shapes / sizeof shapes[0]; j++) {
            m = (method){.one = 0};
            set_loloha(&m, &s, shapes[j], false);
            run(&m, &s, "loloha", base, n_collections, n);
        }
        m = (method){.one = 0};
        set_loloha(&m, &s, 2, true);
        run(&m, &s, "loloha-strict", base, n_collections, n);
        m = (method){.one = 0};
        set_rappor(&m, &s);
        run(&m, &s, "rappor", base, n_collections, n);
        m = (method){.one = 0};
        set_fresh(&m, &s);
        run(&m, &s, "subset", base, n_collections, n);
    }
    return 0;
}
