// SPDX-License-Identifier: Apache-2.0
// shoal_ngram_study: RAPPOR of n-grams on the populations of fanti-2016, one simulated collection;
// ngram_study.mjs runs it many times and makes the tables of docs/ngram-study.md.
//
//     shoal_ngram_study POPULATION REPORTS Q N MODE SEED [LENGTH [T]]
//     shoal_ngram_study quick
//
// POPULATION: "urls", the list below by Zipf's law; or "power", "geometric", "uniform" and a number
// of strings ("power100"): random strings of LENGTH letters (6), by the laws of share_of. Each part
// has p = 0.25, q = Q, f = 0, two hashes, 128 bits. N: bytes of an n-gram. MODE: "unknown" decodes
// with no list, "known" counts the list's own strings; T: least count of a row. Prints JSON on one
// line; talk is on stderr. `quick` is a small study that fails when too little is found.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "accumulator.h"
#include "agg_size.h"
#include "batch.h"
#include "discover.h"
#include "estimator.h"
#include "folder.h"
#include "multiple.h"
#include "recipe.h"
#include "simulation.h"

#define STRINGS_MAX 100u
#define BYTES_MAX 33u
#define P 0.25
#define COHORTS 16
#define FDR 0.05

// A hundred hosts of up to 20 characters.
static const char *const urls[STRINGS_MAX] = {"google.com",
                                              "facebook.com",
                                              "youtube.com",
                                              "baidu.com",
                                              "yahoo.com",
                                              "amazon.com",
                                              "wikipedia.org",
                                              "qq.com",
                                              "google.co.in",
                                              "twitter.com",
                                              "live.com",
                                              "taobao.com",
                                              "msn.com",
                                              "sina.com.cn",
                                              "yahoo.co.jp",
                                              "google.co.jp",
                                              "linkedin.com",
                                              "weibo.com",
                                              "bing.com",
                                              "vk.com",
                                              "yandex.ru",
                                              "hao123.com",
                                              "instagram.com",
                                              "ebay.com",
                                              "google.de",
                                              "amazon.co.jp",
                                              "mail.ru",
                                              "google.co.uk",
                                              "pinterest.com",
                                              "360.cn",
                                              "google.ru",
                                              "reddit.com",
                                              "google.com.br",
                                              "tmall.com",
                                              "netflix.com",
                                              "paypal.com",
                                              "google.fr",
                                              "microsoft.com",
                                              "blogspot.com",
                                              "wordpress.com",
                                              "sohu.com",
                                              "google.it",
                                              "google.es",
                                              "onclickads.net",
                                              "tumblr.com",
                                              "imgur.com",
                                              "gmw.cn",
                                              "ok.ru",
                                              "imdb.com",
                                              "apple.com",
                                              "xvideos.com",
                                              "aliexpress.com",
                                              "stackoverflow.com",
                                              "fc2.com",
                                              "google.com.mx",
                                              "ask.com",
                                              "alibaba.com",
                                              "google.com.hk",
                                              "google.com.tr",
                                              "rakuten.co.jp",
                                              "office.com",
                                              "diply.com",
                                              "craigslist.org",
                                              "amazon.de",
                                              "soso.com",
                                              "tianya.cn",
                                              "amazon.co.uk",
                                              "pixnet.net",
                                              "outbrain.com",
                                              "cnn.com",
                                              "github.com",
                                              "blogger.com",
                                              "google.pl",
                                              "go.com",
                                              "naver.com",
                                              "nicovideo.jp",
                                              "people.com.cn",
                                              "googleadservices.co",
                                              "kakaku.com",
                                              "xinhuanet.com",
                                              "google.com.au",
                                              "bbc.co.uk",
                                              "adcash.com",
                                              "dropbox.com",
                                              "popads.net",
                                              "google.com.tw",
                                              "haosou.com",
                                              "nytimes.com",
                                              "flipkart.com",
                                              "espn.go.com",
                                              "bongacams.com",
                                              "jd.com",
                                              "wikia.com",
                                              "coccoc.com",
                                              "google.com.eg",
                                              "directrev.com",
                                              "dailymotion.com",
                                              "indiatimes.com",
                                              "chinadaily.com.cn",
                                              "booking.com"};

typedef struct population {
    char strings[STRINGS_MAX][BYTES_MAX];
    double shares[STRINGS_MAX]; // sum to 1
    uint32_t n, length;
    const char *alphabet;
} population;

static void die(const char *what)
{
    fprintf(stderr, "shoal_ngram_study: %s\n", what);
    exit(1);
}

static void check(agg_err err, const agg_error *error)
{
    if (err != SHOAL_OK) die(error->text);
}

// Zipf's law of exponent 1 for hosts. The paper's are a power law of exponent -5, whose scale it
// does not state and of which an eighth a string lets as many be seen as its Figure 8 shows; a
// geometric law of p = 0.3; and a uniform one.
static double share_of(const char *law, uint32_t i)
{
    if (strncmp(law, "power", 5) == 0) return pow(1 + i / 8.0, -5);
    if (strncmp(law, "geometric", 9) == 0) return pow(0.7, i);
    if (strncmp(law, "uniform", 7) == 0) return 1;
    return 1.0 / (i + 1);
}

static int is_repeated(const population *p, uint32_t i)
{
    for (uint32_t j = 0; j < i; j++)
        if (strcmp(p->strings[i], p->strings[j]) == 0) return 1;
    return 0;
}

static void make_population(population *p, const char *law, uint32_t length)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    uint8_t seed[32];
    double sum = 0;
    shoal_rng rng;
    memset(p, 0, sizeof *p);
    int is_urls = strcmp(law, "urls") == 0;
    p->length = is_urls ? 20 : length;
    p->alphabet = is_urls ? "-.0123456789abcdefghijklmnopqrstuvwxyz" : letters;
    p->n = is_urls ? STRINGS_MAX : (uint32_t)atoi(law + strcspn(law, "0123456789"));
    if (p->n < 1 || p->n > STRINGS_MAX || p->length < 2 || p->length >= BYTES_MAX)
        die("no such population");
    agg_simulation_seed(seed, law);
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < p->n; i++) {
        sum += p->shares[i] = share_of(law, i);
        if (is_urls) snprintf(p->strings[i], BYTES_MAX, "%s", urls[i]);
        while (p->strings[i][0] == '\0' || is_repeated(p, i))
            for (uint32_t c = 0; c < p->length; c++)
                p->strings[i][c] = letters[shoal_rng_below(&rng, 26)];
    }
    for (uint32_t i = 0; i < p->n; i++) p->shares[i] /= sum;
}

static void make_recipe(agg_recipe *recipe, const population *p, const char *q, const char *n,
                        const char *seed)
{
    char text[2048], hex[65];
    uint8_t key[32];
    agg_error error;
    agg_simulation_seed(key, seed);
    agg_hex(hex, key, sizeof key);
    snprintf(text, sizeof text,
             "{\"recipe\":\"study\",\"analysis\":\"study\",\"stream\":\"s\",\"value\":\"host\","
             "\"mechanism\":\"rappor-"
             "ngram\","
             "\"parameters\":{\"bits\":128,\"hashes\":2,\"cohorts\":%d,\"p\":%g,\"q\":%s,\"f\":0,"
             "\"length\":%u,\"n\":%s,"
             "\"alphabet\":\"%s\"},\"hash\":\"poly1\",\"seed\":\"%s\",\"limit\":{\"per_day\":1},"
             "\"expires\":\"2099-01-01\"}",
             COHORTS, P, q, p->length, n, p->alphabet, hex);
    check(agg_recipe_from_bytes(recipe, &error, "recipe", text, strlen(text)), &error);
}

static agg_err fold(void *context, agg_error *error, const uint8_t *batch, size_t len,
                    uint32_t count)
{
    (void)len;
    return agg_folder_add(context, error, batch + SHOAL_BATCH_HEADER, count);
}

static void collect(agg_accumulator *acc, const agg_recipe *recipe, const population *p,
                    uint64_t devices, const char *seed, uint64_t drawn[STRINGS_MAX])
{
    char text[STRINGS_MAX * (BYTES_MAX + 24)];
    size_t len = 0;
    agg_dictionary counts;
    agg_error error;
    agg_folder folder;
    agg_drawn out = {.counts = drawn};
    for (uint32_t i = 0; i < p->n; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s\t%.0f\n", p->strings[i],
                                1 + 1e9 * p->shares[i]);
    check(agg_dictionary_parse(&counts, &error, recipe, "counts", text, len, true, NULL, NULL),
          &error);
    agg_simulation simulation = {
        .recipe = recipe, .counts = &counts, .n_devices = devices, .n_events = 1, .n_threads = 2};
    agg_simulation_seed(simulation.seed, seed);
    check(agg_accumulator_init(acc, &error, recipe->recipe), &error);
    check(agg_folder_init(&folder, &error, acc, 0, 1), &error);
    check(agg_simulation_run(&out, &error, &simulation, fold, &folder), &error);
    check(agg_folder_flush(&folder, &error), &error);
    agg_folder_release(&folder);
    agg_dictionary_release(&counts);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct tally {
    uint32_t found, false_ones;
    size_t candidates;
    double hellinger, off; // root of the mean square error of the found, in standard errors
} tally;

static uint32_t find_string(const population *p, const char *bytes, size_t len)
{
    uint32_t i = 0;
    while (i < p->n && (strlen(p->strings[i]) != len || memcmp(p->strings[i], bytes, len) != 0))
        i++;
    return i;
}

// Adds a found string: what is missing of the Hellinger distance's cross term.
static void add_found(tally *t, double *cross, const population *p, uint32_t i, double count,
                      double error, double n, const uint64_t *drawn)
{
    if (i == p->n) {
        t->false_ones++;
        return;
    }
    double z = (count - (double)drawn[i]) / error;
    t->found++;
    t->off += z * z;
    *cross += sqrt(p->shares[i] * fmax(count, 0) / n);
}

// H^2 = 1 - sum sqrt(P Q), Q being what the found come to, scaled down to 1 where they come to
// more.
static void finish(tally *t, double cross, double mass)
{
    t->hellinger = sqrt(fmax(0, 1 - cross / sqrt(fmax(mass, 1))));
    t->off = t->found > 0 ? sqrt(t->off / t->found) : 0;
}

static void count_known(tally *t, const agg_recipe *recipe, const agg_accumulator *acc,
                        const population *p, const uint64_t *drawn)
{
    static uint64_t items[STRINGS_MAX];
    static agg_count counts[STRINGS_MAX];
    double scores[STRINGS_MAX], least = 0, cross = 0, mass = 0;
    agg_error error;
    uint32_t part = recipe->recipe->value_part;
    for (uint32_t i = 0; i < p->n; i++)
        if (!agg_recipe_item(&items[i], recipe, p->strings[i], strlen(p->strings[i])))
            die("no item");
    check(agg_estimator_counts(counts, &error, &recipe->recipe->parts[part], &acc->parts[part],
                               acc->n, items, p->n, 1),
          &error);
    for (uint32_t i = 0; i < p->n; i++) scores[i] = counts[i].score;
    check(agg_multiple_least(&least, &error, scores, p->n, AGG_BONFERRONI, FDR), &error);
    for (uint32_t i = 0; i < p->n; i++) {
        if (scores[i] < least) continue;
        add_found(t, &cross, p, i, counts[i].count, counts[i].stderr_, (double)acc->n, drawn);
        mass += counts[i].count / (double)acc->n;
    }
    t->candidates = p->n;
    finish(t, cross, mass);
}

static void discover(tally *t, const agg_recipe *recipe, const agg_accumulator *acc,
                     const population *p, const uint64_t *drawn, double threshold)
{
    const agg_discover_options options = {.fdr = FDR, .threshold = threshold, .n_threads = 2};
    const agg_discover_round round = {recipe, acc};
    agg_discovery found;
    agg_error error;
    double cross = 0, mass = 0;
    check(agg_discover_run(&found, &error, &round, 1, &options), &error);
    for (uint32_t i = 0; i < found.n_notes; i++) fprintf(stderr, "  %s\n", found.notes[i]);
    for (uint32_t i = 0; i < found.n_cuts; i++) fprintf(stderr, "  cut: %s\n", found.cuts[i]);
    for (size_t i = 0; i < found.n_rows; i++) {
        const agg_found *row = &found.rows[i];
        uint32_t at = find_string(p, row->value.bytes, row->value.len);
        fprintf(stderr, "  %-20.*s %9.0f +- %6.0f%s\n", (int)row->value.len, row->value.bytes,
                row->count, row->stderr_, at == p->n ? "  FALSE" : "");
        add_found(t, &cross, p, at, row->count, row->stderr_, (double)acc->n, drawn);
        mass += row->count / (double)acc->n;
    }
    t->candidates = found.n_candidates;
    finish(t, cross, mass);
    agg_discovery_release(&found);
}

typedef struct setting {
    const char *law, *reports, *q, *n, *mode, *seed;
    uint32_t length;
    double threshold;
} setting;

static tally run(const setting *s)
{
    static population people;
    static uint64_t drawn[STRINGS_MAX];
    agg_recipe recipe;
    agg_accumulator acc;
    tally t = {0};
    make_population(&people, s->law, s->length);
    make_recipe(&recipe, &people, s->q, s->n, s->seed);
    double start = seconds();
    collect(&acc, &recipe, &people, strtoull(s->reports, NULL, 10), s->seed, drawn);
    double middle = seconds();
    if (strcmp(s->mode, "known") == 0)
        count_known(&t, &recipe, &acc, &people, drawn);
    else
        discover(&t, &recipe, &acc, &people, drawn, s->threshold);
    printf("{\"population\":\"%s\",\"strings\":%u,\"length\":%u,\"reports\":%s,\"q\":%s,\"n\":%s,"
           "\"mode\":\"%s\","
           "\"seed\":\"%s\",\"epsilon_part\":%.4f,\"found\":%u,\"false\":%u,\"candidates\":%zu,"
           "\"hellinger\":%.4f,"
           "\"off\":%.3f,\"simulate_s\":%.2f,\"decode_s\":%.2f}\n",
           s->law, people.n, people.length, s->reports, s->q, s->n, s->mode, s->seed,
           recipe.recipe->parts[recipe.recipe->value_part].eps_micro / 1e6, t.found, t.false_ones,
           t.candidates, t.hellinger, t.off, middle - start, seconds() - middle);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
    return t;
}

// 60,000 reports: the error of a string's share is sqrt(p (1 - p) / 2n) / (q - p) = 0.25 %. Of a
// list what has 3.5 errors is found for sure at 1.1 % (sixteen of Zipf's law of exponent 1 have
// more); without one at 3 % for sure (six), as pairs of n-grams have 1,333 reports; 6 to 9 were
// seen.
static int run_quick(void)
{
    const setting known = {"urls", "60000", "0.75", "2", "known", "quick", 0, 0};
    const setting unknown = {"urls", "60000", "0.75", "2", "unknown", "quick", 0, 0};
    tally with = run(&known), without = run(&unknown);
    int is_good =
        with.found >= 16 && with.false_ones == 0 && without.found >= 5 && without.false_ones <= 1;
    return is_good && with.off < 1.5 && without.off < 2 ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "quick") == 0) return run_quick();
    if (argc < 7) die("POPULATION REPORTS Q N MODE SEED [LENGTH [T]]");
    const setting s = {argv[1],
                       argv[2],
                       argv[3],
                       argv[4],
                       argv[5],
                       argv[6],
                       argc > 7 ? (uint32_t)atoi(argv[7]) : 6,
                       argc > 8 ? strtod(argv[8], NULL) : 0};
    (void)run(&s);
    return 0;
}
