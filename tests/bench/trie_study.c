// SPDX-License-Identifier: Apache-2.0
// Runs of LDP-TrieHH over simulated devices (gboard-2024 section 4), in one process: every device's
// words, choice and records by the core, every round's recipe by what `shoal round next` uses. A
// run is a line of settings on standard input; a line of JSON says what came of it.
//
//     shoal_trie_study WORDS.tsv < SETTINGS
//
// WORDS.tsv: word<TAB>count. Settings, name=value, by spaces:
//     seed epsilon devices (of a round) words (of a device) contributions prefixes passes depth
//     rounds sampler (random, greedy) step fill      characters added to the list that no word has,
//     so that it has 100 as the paper's favourites, repeats   words that a device repeats so often
//     each, drawn from all words alike; the rest of its words are by count exact     1: no noise;
//     every contribution is counted as it is, and max_prefixes is all that is cut
// Coverage is the share of all that devices type (their favourites included) which the found words
// make up.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accumulator.h"
#include "agg_file.h"
#include "agg_size.h"
#include "event.h"
#include "next_recipe.h"
#include "next_trie.h"
#include "record.h"
#include "trie.h"

#define WORDS_MAX 200000u
#define BATCH 4096u // records folded at a time

typedef struct population {
    uint32_t n;
    agg_text words[WORDS_MAX];
    uint64_t upto[WORDS_MAX]; // counts added up
    char characters[4096];    // all of them in a row
} population;

typedef struct setting {
    double seed, epsilon, devices, words, contributions, prefixes, passes, depth, rounds, step,
        fill, favourites, repeats, exact;
    char sampler[8];
} setting;

typedef struct run {
    const population *people;
    const setting *set;
    agg_recipe recipe;
    uint32_t *bucket;  // of each word, in this round
    uint8_t *is_found; // of each word
    size_t n_found, n_false, n_rounds, n_capped;
    uint64_t records;
    size_t cells_most, record_most;
    shoal_rng rng;
} run;

static population people;

static void die(const char *what, const agg_error *error)
{
    fprintf(stderr, "trie_study: %s%s%s\n", what, error != NULL ? ": " : "",
            error != NULL ? error->text : "");
    exit(1);
}

static void must(agg_err err, const agg_error *error)
{
    if (err != SHOAL_OK) die("failed", error);
}

// ---- the people ----

static void add_characters(population *p, agg_text word)
{
    for (size_t at = 0, len; at < word.len; at += len) {
        char one[8] = "";
        len = agg_characters_size((agg_text){word.bytes + at, word.len - at}, 1);
        if (len == SIZE_MAX || len >= sizeof one) die("a word is no UTF-8", NULL);
        memcpy(one, word.bytes + at, len);
        if (strstr(p->characters, one) == NULL &&
            strlen(p->characters) + len < sizeof p->characters)
            strcat(p->characters, one);
    }
}

static void load(population *p, const char *path)
{
    agg_bytes file;
    agg_error error;
    uint64_t total = 0;
    must(agg_file_read(&file, &error, path, (size_t)1 << 26), &error);
    char *at = (char *)file.data, *end = at + file.len;
    while (at < end && p->n < WORDS_MAX) {
        char *tab = memchr(at, '\t', (size_t)(end - at)),
             *newline = memchr(at, '\n', (size_t)(end - at));
        if (tab == NULL || newline == NULL) break;
        total += strtoull(tab + 1, NULL, 10);
        p->words[p->n] = (agg_text){at, (size_t)(tab - at)};
        add_characters(p, p->words[p->n]);
        p->upto[p->n++] = total;
        at = newline + 1;
    }
    if (p->n == 0) die("no words", NULL);
}

static uint32_t draw_word(run *r)
{
    uint64_t x = shoal_rng_below(&r->rng, r->people->upto[r->people->n - 1]);
    uint32_t low = 0, high = r->people->n - 1;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (r->people->upto[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t draw_device(uint32_t *words, run *r)
{
    uint32_t n = 0, all = (uint32_t)r->set->words;
    for (uint32_t f = 0; f < (uint32_t)r->set->favourites; f++) {
        uint32_t word = (uint32_t)shoal_rng_below(&r->rng, r->people->n);
        for (uint32_t i = 0; i < (uint32_t)r->set->repeats && n < all; i++) words[n++] = word;
    }
    while (n < all) words[n++] = draw_word(r);
    return n;
}

// The share of everything typed that is this word.
static double weight(const run *r, uint32_t word)
{
    uint64_t before = word > 0 ? r->people->upto[word - 1] : 0;
    double by_count =
        (double)(r->people->upto[word] - before) / (double)r->people->upto[r->people->n - 1];
    double repeated = fmin(1, r->set->favourites * r->set->repeats / r->set->words);
    return (1 - repeated) * by_count + repeated / r->people->n;
}

// ---- a round ----

static void write_recipe(run *r)
{
    const setting *s = r->set;
    char characters[8192] = "", *text = NULL;
    size_t len = 0;
    agg_error error;
    strcpy(characters, r->people->characters);
    for (uint32_t i = 0; i < (uint32_t)s->fill;
         i++) { // letters of Cyrillic and beyond: U+0400 and on
        char two[3] = {(char)(0xd0 + i / 64), (char)(0x80 + i % 64), 0};
        strcat(characters, two);
    }
    FILE *out = open_memstream(&text, &len);
    if (out == NULL) die("no memory", NULL);
    fprintf(
        out,
        "{\"recipe\":\"study-1\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"fields\",\"text\":"
        "{\"max\":64},"
        "\"encoding\":[{\"field\":\"word\",\"starts\":[\"\"],\"characters\":\"%s\",\"step\":%.0f}],"
        "\"mechanism\":\"trie\",\"parameters\":{\"epsilon\":%g,\"contributions\":%.0f,\"sampler\":"
        "\"%s\","
        "\"depth\":%.0f,\"max_prefixes\":%.0f,\"passes\":%.0f,\"pass\":1},\"round\":{\"index\":1},"
        "\"limit\":{\"per_day\":1},\"expires\":\"2099-01-31\"}",
        characters, s->step, s->epsilon, s->contributions, s->sampler, s->depth, s->prefixes,
        s->passes);
    fclose(out);
    must(agg_recipe_from_bytes(&r->recipe, &error, "the first recipe", text, len), &error);
    free(text);
}

static void find_buckets(run *r)
{
    for (uint32_t i = 0; i < r->people->n; i++) {
        uint64_t item = 0;
        int is_sent = agg_recipe_word_item(&item, &r->recipe, r->people->words[i]);
        r->bucket[i] = is_sent ? (uint32_t)item : 0;
    }
}

static void answer(run *r, agg_accumulator *acc)
{
    static uint8_t records[BATCH * (4 * 4096)];
    const shoal_recipe *recipe = &r->recipe.recipe;
    uint32_t words[1024], buckets[1024], n_records = 0,
                                         most = (uint32_t)(sizeof records / recipe->record_size);
    uint64_t items[64];
    agg_error error;
    if (most > BATCH) most = BATCH;
    for (uint64_t i = 0; i < (uint64_t)r->set->devices; i++) {
        uint32_t n = draw_device(words, r);
        for (uint32_t w = 0; w < n; w++) buckets[w] = r->bucket[words[w]];
        must(shoal_trie_choose(items, recipe, buckets, n, &r->rng), NULL);
        for (uint32_t c = 0; c < recipe->contributions; c++) {
            acc->n += r->set->exact != 0;
            if (r->set->exact != 0) {
                if (items[c] != SHOAL_ITEM_NONE) acc->parts[0].cells.ones[items[c]]++;
                continue;
            }
            uint8_t *record = records + (size_t)n_records * recipe->record_size;
            must(shoal_record_randomize(record, recipe, &items[c], 1, NULL, &r->rng), NULL);
            if (++n_records < most) continue;
            must(agg_accumulator_add(acc, &error, records, n_records, 1), &error);
            n_records = 0;
        }
    }
    if (n_records > 0) must(agg_accumulator_add(acc, &error, records, n_records, 1), &error);
}

static int compare_counts(const void *a, const void *b)
{
    const agg_trie_cell *x = a, *y = b;
    return (x->count < y->count) - (x->count > y->count);
}

// Algorithm 2 without noise: the best max_prefixes of what anybody sent.
static void read_exact(agg_trie_layer *layer, const run *r, const agg_accumulator *acc)
{
    agg_error error;
    char text[AGG_TRIE_TEXT_MAX];
    *layer = (agg_trie_layer){.n = acc->n};
    layer->cells = agg_alloc(&error, r->recipe.recipe.parts[0].size, sizeof *layer->cells);
    if (layer->cells == NULL) die("no memory", NULL);
    for (uint32_t b = 0; b < r->recipe.recipe.parts[0].size; b++) {
        bool is_word = false;
        uint32_t count = acc->parts[0].cells.ones[b];
        if (count > 0 && agg_trie_text(text, &is_word, &r->recipe, b) > 0)
            layer->cells[layer->n_cells++] = (agg_trie_cell){b, is_word, count, count, 0};
    }
    qsort(layer->cells, layer->n_cells, sizeof *layer->cells, compare_counts);
    layer->n_cut =
        layer->n_cells > (size_t)r->set->prefixes ? layer->n_cells - (size_t)r->set->prefixes : 0;
    layer->n_cells -= layer->n_cut;
}

static void take_words(run *r, const agg_trie_layer *layer)
{
    char text[AGG_TRIE_TEXT_MAX];
    for (size_t i = 0; i < layer->n_cells; i++) {
        uint32_t word = 0;
        if (!layer->cells[i].is_word) continue;
        agg_text found = {text, agg_trie_text(text, NULL, &r->recipe, layer->cells[i].bucket)};
        while (word < r->people->n && agg_text_compare(r->people->words[word], found) != 0) word++;
        if (word == r->people->n)
            r->n_false++;
        else
            r->n_found += !r->is_found[word];
        if (word < r->people->n) r->is_found[word] = 1;
    }
}

// Returns: whether there is a next round; the recipe is its then.
static int go_on(run *r, const agg_trie_layer *layer)
{
    const agg_next_trie_wish wish = {(uint32_t)r->set->step, 0.5, 0};
    agg_next_trie next;
    agg_recipe after;
    agg_error error;
    char *text = NULL;
    must(agg_next_trie_find(&next, &error, &r->recipe, layer, &wish), &error);
    int goes_on = next.end == AGG_TRIE_GOES_ON && r->n_rounds < (size_t)r->set->rounds;
    if (goes_on) {
        const agg_next_recipe asked = {.starts = next.starts,
                                       .n_starts = next.n_starts,
                                       .known = next.known,
                                       .n_known = next.n_known,
                                       .step = next.step,
                                       .pass = next.pass,
                                       .sample = next.sample};
        must(agg_next_recipe_text(&text, &error, &r->recipe, &asked), &error);
        must(agg_recipe_from_bytes(&after, &error, "the next recipe", text, strlen(text)), &error);
        agg_recipe_release(&r->recipe);
        r->recipe = after;
        free(text);
    }
    agg_next_trie_release(&next);
    return goes_on;
}

static int play_round(run *r)
{
    const agg_trie_options options = {.fdr = 0.05};
    agg_accumulator acc;
    agg_trie_layer layer;
    agg_error error;
    find_buckets(r);
    must(agg_accumulator_init(&acc, &error, &r->recipe.recipe), &error);
    answer(r, &acc);
    if (r->set->exact != 0)
        read_exact(&layer, r, &acc);
    else
        must(agg_trie_layer_read(&layer, &error, &r->recipe, &acc, &options), &error);
    r->n_rounds++;
    r->n_capped += layer.n_cut > 0;
    r->records += acc.n;
    if (r->recipe.recipe.parts[0].size > r->cells_most)
        r->cells_most = r->recipe.recipe.parts[0].size;
    if (r->recipe.recipe.record_size > r->record_most)
        r->record_most = r->recipe.recipe.record_size;
    take_words(r, &layer);
    int goes_on = go_on(r, &layer);
    agg_trie_layer_release(&layer);
    agg_accumulator_release(&acc);
    return goes_on;
}

static double coverage(const run *r)
{
    double sum = 0;
    for (uint32_t i = 0; i < r->people->n; i++) sum += r->is_found[i] ? weight(r, i) : 0;
    return sum;
}

static void play(const population *p, const setting *s)
{
    run r = {.people = p, .set = s};
    uint8_t seed[32] = {0};
    agg_error error;
    memcpy(seed, &(uint64_t){(uint64_t)s->seed}, 8);
    shoal_rng_init_stream(&r.rng, seed, 0);
    r.bucket = agg_alloc(&error, p->n, sizeof *r.bucket);
    r.is_found = agg_alloc(&error, p->n, 1);
    if (r.bucket == NULL || r.is_found == NULL) die("no memory", NULL);
    write_recipe(&r);
    while (play_round(&r)) {
    }
    printf("{\"seed\":%.0f,\"epsilon\":%g,\"sampler\":\"%s\",\"passes\":%.0f,\"coverage\":%.5f,"
           "\"words\":%zu,\"false\":"
           "%zu,"
           "\"rounds\":%zu,\"capped\":%zu,\"records\":%llu,\"cells\":%zu,\"record_bytes\":%zu}\n",
           s->seed, s->epsilon, s->sampler, s->passes, coverage(&r), r.n_found, r.n_false,
           r.n_rounds, r.n_capped, (unsigned long long)r.records, r.cells_most, r.record_most);
    fflush(stdout);
    agg_recipe_release(&r.recipe);
    free(r.bucket);
    free(r.is_found);
}

// ---- settings ----

static void read_setting(setting *s, char *line)
{
    struct {
        const char *name;
        double *value;
    } numbers[] = {
        {"seed", &s->seed},       {"epsilon", &s->epsilon},   {"devices", &s->devices},
        {"words", &s->words},     {"prefixes", &s->prefixes}, {"contributions", &s->contributions},
        {"passes", &s->passes},   {"depth", &s->depth},       {"rounds", &s->rounds},
        {"step", &s->step},       {"fill", &s->fill},         {"favourites", &s->favourites},
        {"repeats", &s->repeats}, {"exact", &s->exact}};
    *s = (setting){1, 10, 20000, 30, 3, 300, 1, 15, 30, 1, 0, 0, 0, 0, "random"};
    for (char *word = strtok(line, " \n"); word != NULL; word = strtok(NULL, " \n")) {
        char *equals = strchr(word, '=');
        size_t i = 0, n = sizeof numbers / sizeof numbers[0];
        if (equals == NULL) die(word, NULL);
        *equals = '\0';
        while (i < n && strcmp(numbers[i].name, word) != 0) i++;
        if (i < n)
            *numbers[i].value = strtod(equals + 1, NULL);
        else if (strcmp(word, "sampler") == 0)
            snprintf(s->sampler, sizeof s->sampler, "%s", equals + 1);
        else
            die(word, NULL);
    }
    if (s->words < 1 || s->words > 1000 || s->contributions > 64 || s->fill > 128)
        die("a setting is out of range", NULL);
}

int main(int argc, char **argv)
{
    char line[1024];
    setting s;
    if (argc != 2) die("usage: shoal_trie_study WORDS.tsv < SETTINGS", NULL);
    load(&people, argv[1]);
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (line[0] == '\n' || line[0] == '#') continue;
        read_setting(&s, line);
        play(&people, &s);
    }
    return 0;
}
