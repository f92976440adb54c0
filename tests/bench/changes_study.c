// SPDX-License-Identifier: Apache-2.0
// The tables of docs/changes.md: what `shoal changes` finds in crowds whose changes are known.
//
//     shoal_changes_study tail|series [RUNS [FIRST_SEED [CROWD]]]
//
// `tail`: the bound on the chance of a scan beside simulated scans of normal series. `series`:
// false discoveries, power, dates and intervals, of all crowds or of one (from 0). Devices,
// records, accumulators and estimates are real.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "changes.h"
#include "recipe.h"
#include "record.h"
#include "split_tail.h"

#define N_VALUES 200u // and a rest that nobody asks about
#define PERIODS_MAX 20u

static double uniform(shoal_rng *rng)
{
    return ((double)(shoal_rng_u64(rng) >> 11) + 0.5) * 0x1p-53;
}

static double normal(shoal_rng *rng)
{
    double radius = sqrt(-2 * log(uniform(rng)));
    return radius * cos(2 * 3.14159265358979323846 * uniform(rng));
}

static void start(shoal_rng *rng, unsigned seed, unsigned which, unsigned purpose)
{
    uint8_t bytes[32] = {(uint8_t)seed, (uint8_t)(seed >> 8), (uint8_t)which, (uint8_t)purpose, 41};
    shoal_rng_init(rng, bytes);
}

static void stop_if(bool is_bad, const char *text)
{
    if (!is_bad) return;
    fprintf(stderr, "%s\n", text);
    exit(1);
}

// ---- tail ----

// Returns: the largest standardized difference over the splits of a series of n periods, all of one
// size.
static double scan_normal(size_t n, shoal_rng *rng)
{
    double x[1000], all = 0, head = 0, most = 0;
    for (size_t t = 0; t < n; t++) all += x[t] = normal(rng);
    for (size_t t = 1; t < n; t++) {
        head += x[t - 1];
        double b = (double)t, a = (double)(n - t);
        most = fmax(most, fabs((all - head) / a - head / b) / sqrt(1 / a + 1 / b));
    }
    return most;
}

static double bound(size_t n, double h)
{
    double sum = 2 * agg_normal_tail(h);
    for (size_t t = 1; t + 1 < n; t++) {
        double b = (double)t, a = (double)(n - t);
        sum += agg_split_tail_step(h, sqrt(b * (a - 1) / ((b + 1) * a)));
    }
    return sum;
}

// Returns: the height whose bound is p.
static double height(size_t n, double p)
{
    double low = 0, high = 20;
    for (int i = 0; i < 60; i++) {
        double h = (low + high) / 2;
        if (bound(n, h) > p)
            low = h;
        else
            high = h;
    }
    return high;
}

static void print_tail(unsigned runs, unsigned seed)
{
    static const size_t periods[] = {3, 6, 12, 20, 60, 365};
    static const double chances[] = {0.05, 0.01, 0.001};
    puts("| periods | 5 % | 1 % | 0.1 % | height at 5e-7 |\n| --- | --- | --- | --- | --- |");
    for (size_t i = 0; i < sizeof periods / sizeof periods[0]; i++) {
        size_t n = periods[i];
        double above[3] = {0};
        unsigned n_runs = (unsigned)(runs * 20.0 / (double)(n < 20 ? 20 : n));
        shoal_rng rng;
        start(&rng, seed, (unsigned)i, 0);
        double heights[3];
        for (int c = 0; c < 3; c++) heights[c] = height(n, chances[c]);
        for (unsigned run = 0; run < n_runs; run++) {
            double most = scan_normal(n, &rng);
            for (int c = 0; c < 3; c++) above[c] += most >= heights[c];
        }
        printf("| %zu | %.2f | %.3f | %.4f | %.2f |\n", n, 100 * above[0] / n_runs,
               100 * above[1] / n_runs, 100 * above[2] / n_runs, height(n, 5e-7));
    }
}

// ---- series ----

typedef struct setting {
    const char *name, *mechanism, *parameters;
    bool is_list;
    double n; // reports of a period, on average
    size_t n_periods;
    unsigned n_changed;
    bool is_gradual;
} setting;

static const setting settings[] = {
    {"olh 2", "olh", "\"epsilon\":2,\"k\":4096,\"g\":8", false, 60000, 12, 0, false},
    {"olh 2", "olh", "\"epsilon\":2,\"k\":4096,\"g\":8", false, 60000, 12, 12, false},
    {"olh 2, 20 months", "olh", "\"epsilon\":2,\"k\":4096,\"g\":8", false, 60000, 20, 1, false},
    {"olh 2, 16 rows", "olh", "\"epsilon\":2,\"k\":16,\"g\":8", false, 60000, 12, 0, false},
    {"olh 2, 16 rows", "olh", "\"epsilon\":2,\"k\":16,\"g\":8", false, 60000, 12, 12, false},
    {"olh 6, small", "olh", "\"epsilon\":6,\"k\":4096,\"g\":256", false, 3000, 12, 0, false},
    {"olh 6, small", "olh", "\"epsilon\":6,\"k\":4096,\"g\":256", false, 3000, 12, 12, false},
    {"hcms 4", "hcms", "\"epsilon\":4,\"k\":64,\"m\":256", false, 60000, 12, 0, false},
    {"hcms 4", "hcms", "\"epsilon\":4,\"k\":64,\"m\":256", false, 60000, 12, 12, false},
    {"subset 1", "subset", "\"epsilon\":1,\"size\":201", true, 60000, 12, 0, false},
    {"subset 1", "subset", "\"epsilon\":1,\"size\":201", true, 60000, 12, 12, false},
    {"hadamard 4", "hadamard", "\"epsilon\":4,\"size\":201", true, 60000, 12, 0, false},
    {"hadamard 4", "hadamard", "\"epsilon\":4,\"size\":201", true, 60000, 12, 12, false},
    {"grr 6, small", "grr", "\"epsilon\":6,\"size\":201", true, 3000, 12, 0, false},
    {"grr 6, small", "grr", "\"epsilon\":6,\"size\":201", true, 3000, 12, 12, false},
    {"subset 4, drift", "subset", "\"epsilon\":4,\"size\":201", true, 60000, 12, 12, true}};

#define N_SETTINGS (sizeof settings / sizeof settings[0])

typedef struct crowd {
    double shares[PERIODS_MAX][N_VALUES];
    size_t split[N_VALUES]; // 0: unchanged
} crowd;

typedef struct world {
    agg_recipe recipe;
    agg_dictionary dictionary;
    uint64_t rest; // the item of the rest
    agg_accumulator accs[PERIODS_MAX];
    agg_changes_period periods[PERIODS_MAX];
    char labels[PERIODS_MAX][8];
} world;

static void open_world(world *w, const setting *s, unsigned seed)
{
    char text[1024], values[2048];
    size_t len = 0;
    agg_error error = {SHOAL_OK, 0, ""};
    memset(w, 0, sizeof *w);
    snprintf(text, sizeof text,
             "{\"recipe\":\"study\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\","
             "\"mechanism\":\"%s\",\"parameters\":{%s}%s,\"limit\":{\"per_day\":1},"
             "\"expires\":\"2099-01-01\",\"cohort\":{\"minimum\":1},\"seed\":\"%064x\"}",
             s->mechanism, s->parameters, s->is_list ? "" : ",\"hash\":\"poly1\"", seed + 1);
    if (s->is_list) memcpy(strstr(text, ",\"seed\""), "}", 2);
    stop_if(agg_recipe_from_bytes(&w->recipe, &error, "study", text, strlen(text)) != SHOAL_OK,
            error.text);
    for (unsigned d = 0; d < N_VALUES; d++)
        len += (size_t)snprintf(values + len, sizeof values - len, "%u\n", d);
    stop_if(agg_dictionary_parse(&w->dictionary, &error, &w->recipe, "values", values, len, false,
                                 NULL, NULL) != SHOAL_OK,
            error.text);
    w->rest = N_VALUES;
    if (!s->is_list) stop_if(!agg_recipe_item(&w->rest, &w->recipe, "rest", 4), "no item");
}

static void close_world(world *w, const setting *s)
{
    for (size_t t = 0; t < s->n_periods; t++) agg_accumulator_release(&w->accs[t]);
    agg_dictionary_release(&w->dictionary);
    agg_recipe_release(&w->recipe);
}

// Zipf's law over 60 % of the reports. A value that changes has three times its share from a split
// on, or a third if it is one of the ten largest; a gradual one moves there on a line.
static void draw_crowd(crowd *c, const setting *s, shoal_rng *rng)
{
    double sum = 0;
    memset(c, 0, sizeof *c);
    for (unsigned d = 0; d < N_VALUES; d++) sum += 1.0 / (d + 1);
    for (unsigned i = 0; i < s->n_changed;) {
        unsigned d = s->n_changed == 1 ? 9 + (unsigned)(uniform(rng) * 10)
                                       : 2 + (unsigned)(uniform(rng) * 58);
        if (c->split[d] != 0) continue;
        c->split[d] = 1 + (size_t)(uniform(rng) * (double)(s->n_periods - 1));
        i++;
    }
    for (size_t t = 0; t < s->n_periods; t++)
        for (unsigned d = 0; d < N_VALUES; d++) {
            double share = 0.6 / (d + 1) / sum, factor = d < 10 ? 1.0 / 3 : 3;
            double part =
                s->is_gradual ? (double)t / (double)(s->n_periods - 1) : (double)(t >= c->split[d]);
            if (s->n_changed == 1) factor = 3;
            c->shares[t][d] = share * (c->split[d] != 0 ? 1 + (factor - 1) * part : 1);
        }
}

static void fold_period(world *w, const crowd *c, const setting *s, size_t t, shoal_rng *rng)
{
    double sums[N_VALUES], sum = 0;
    uint32_t n = (uint32_t)(s->n * (0.5 + uniform(rng))); // half to one and a half
    size_t size = w->recipe.recipe->record_size;
    uint8_t *records = malloc(n * size);
    agg_error error = {SHOAL_OK, 0, ""};
    stop_if(records == NULL, "out of memory");
    for (unsigned d = 0; d < N_VALUES; d++) sums[d] = sum += c->shares[t][d];
    stop_if(sum > 1, "shares above 1");
    for (uint32_t i = 0; i < n; i++) {
        double u = uniform(rng);
        unsigned low = 0, high = N_VALUES; // the first d with u < sums[d]
        while (low < high) {
            unsigned middle = (low + high) / 2;
            if (u < sums[middle])
                high = middle;
            else
                low = middle + 1;
        }
        uint64_t item = low < N_VALUES ? w->dictionary.items[low] : w->rest;
        stop_if(shoal_record_randomize(records + i * size, w->recipe.recipe, &item, 1, NULL, rng) !=
                    SHOAL_OK,
                "no record");
    }
    stop_if(agg_accumulator_init(&w->accs[t], &error, w->recipe.recipe) != SHOAL_OK ||
                agg_accumulator_add(&w->accs[t], &error, records, n, 1) != SHOAL_OK,
            error.text);
    free(records);
    snprintf(w->labels[t], sizeof w->labels[t], "%zu", t);
    w->periods[t] = (agg_changes_period){
        {w->labels[t], strlen(w->labels[t])}, &w->recipe, &w->accs[t], &w->dictionary};
}

// Sums over runs.
typedef struct sums {
    double runs, false_share, any, changed, found, dated, in_dates, width, several, gradual;
    double intervals, missed; // of differences, per run: the share that misses, summed
} sums;

static double mean_share(const crowd *c, const world *w, unsigned d, size_t first, size_t end)
{
    double sum = 0, n = 0;
    for (size_t t = first; t < end; t++) {
        sum += (double)w->accs[t].n * c->shares[t][d];
        n += (double)w->accs[t].n;
    }
    return sum / n;
}

static bool is_held(const agg_changes *result, agg_level level, double truth)
{
    return fabs(level.share - truth) <= result->selection.quantile * sqrt(level.variance);
}

static void take_run(sums *f, const agg_changes *result, const crowd *c, const world *w,
                     const setting *s)
{
    double n_false = 0, missed = 0, n = (double)result->n_detected;
    for (size_t i = 0; i < result->n_detected; i++) {
        const agg_changes_row *row = &result->rows[i];
        unsigned d = (unsigned)row->index;
        double before = mean_share(c, w, d, 0, row->at),
               after = mean_share(c, w, d, row->at, s->n_periods);
        missed += !is_held(result, row->before, before) || !is_held(result, row->after, after) ||
                  !is_held(result, row->difference, after - before);
        if (c->split[d] == 0) {
            n_false++;
            continue;
        }
        f->found++;
        f->dated += row->at == c->split[d];
        f->in_dates +=
            row->dates.n > 0 && row->dates.first <= c->split[d] && c->split[d] <= row->dates.last;
        f->width += row->dates.n > 0 ? (double)(row->dates.last - row->dates.first + 1) : 0;
        f->gradual += row->shape == AGG_CHANGE_GRADUAL;
        f->several += row->shape == AGG_CHANGE_SEVERAL;
    }
    f->runs++;
    f->changed += s->n_changed;
    f->any += n_false > 0;
    f->false_share += n > 0 ? n_false / n : 0;
    f->missed += n > 0 ? missed / n : 0;
}

static void print_row(const setting *s, const sums *f)
{
    double sd = 100 * sqrt(f->false_share / f->runs * (1 - f->false_share / f->runs) / f->runs);
    printf("| %s | %u of %u | %.1f +- %.1f ", s->name, s->n_changed, N_VALUES,
           100 * f->false_share / f->runs, sd);
    if (f->found <= 0) {
        puts("| | | | | | |");
        return;
    }
    printf("| %.0f | %.0f | %.1f | %.1f | %.0f / %.0f | %.1f |\n", 100 * f->found / f->changed,
           100 * f->dated / f->found, 100 * f->in_dates / f->found, f->width / f->found,
           100 * f->gradual / f->found, 100 * f->several / f->found, 100 * f->missed / f->runs);
}

static void print_series(unsigned runs, unsigned seed, unsigned first, unsigned end)
{
    static crowd c;
    static world w;
    puts("| crowd | changed | false discoveries | found | dated to the period | date holds it | "
         "periods of a date | gradual / several | intervals that miss |\n"
         "| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for (unsigned i = first; i < end; i++) {
        const setting *s = &settings[i];
        sums f = {0};
        for (unsigned run = 0; run < runs; run++) {
            const agg_changes_options options = {0.95, AGG_BH, 0, 1};
            agg_changes result;
            agg_error error = {SHOAL_OK, 0, ""};
            shoal_rng rng;
            start(&rng, seed + run, i, 1);
            open_world(&w, s, seed + run);
            draw_crowd(&c, s, &rng);
            for (size_t t = 0; t < s->n_periods; t++) fold_period(&w, &c, s, t, &rng);
            stop_if(agg_changes_run(&result, &error, w.periods, s->n_periods, &options) != SHOAL_OK,
                    error.text);
            take_run(&f, &result, &c, &w, s);
            agg_changes_release(&result);
            close_world(&w, s);
        }
        print_row(s, &f);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    unsigned runs = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    unsigned seed = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1;
    unsigned which = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 0;
    stop_if(which >= N_SETTINGS, "no such crowd");
    if (argc > 1 && strcmp(argv[1], "tail") == 0)
        print_tail(runs > 0 ? runs : 1000000, seed);
    else if (argc > 1 && strcmp(argv[1], "series") == 0)
        print_series(runs > 0 ? runs : 100, seed, which,
                     argc > 4 ? which + 1 : (unsigned)N_SETTINGS);
    else
        stop_if(true, "Usage: shoal_changes_study tail|series [RUNS [FIRST_SEED]]");
    return 0;
}
