// SPDX-License-Identifier: Apache-2.0
// The analyst's side of a trie: which cells of a round stand out, what the next round or pass
// begins with, words from all rounds, what is refused; hostile accumulators; the plan. Votes are
// mostly set by hand: each cell what is expected of one that nobody holds, and more for some.
#include <math.h>

#include "agg_test.h"
#include "discover.h"
#include "event.h"
#include "next_recipe.h"
#include "next_trie.h"
#include "recipe.h"
#include "trie_guarantee.h"

#define HEAD "{\"recipe\":\"w-1\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"fields\","
#define TAIL "\"round\":{\"index\":1},\"limit\":{\"per_day\":1},\"expires\":\"2099-01-31\""

// Two characters at a time of three, one of two bytes: 13 + 1 cells behind the empty start, those
// that end "a", "b", "ä", nine that do not.
#define SMALL(parameters, more)                                                                    \
    HEAD "\"encoding\":[{\"field\":\"word\",\"starts\":[\"\"],\"characters\":\"ab\xc3\xa4\","      \
         "\"step\":2}],"                                                                           \
         "\"mechanism\":\"trie\",\"parameters\":{\"epsilon\":2,\"contributions\":1,\"depth\":"     \
         "6," parameters "}," TAIL more "}"

// Every cell as if nobody held it.
static void make_acc(agg_accumulator *acc, const agg_recipe *recipe, uint64_t n)
{
    agg_error error;
    const shoal_part *part = &recipe->recipe->parts[0];
    double p = (double)(0 - part->threshold) * 0x1p-64, q = (part->k - p) / (part->m - 1);
    assert_ok(agg_accumulator_init(acc, &error, recipe->recipe));
    acc->n = n;
    for (uint32_t i = 0; i < part->m; i++) acc->parts[0].cells.ones[i] = (uint32_t)((double)n * q);
}

static uint32_t cell_of(const agg_recipe *recipe, const char *word)
{
    uint64_t item = 0;
    (void)agg_recipe_word_item(&item, recipe, (agg_text){word, strlen(word)});
    assert_true(item > 0);
    return (uint32_t)item;
}

static void vote(agg_accumulator *acc, const agg_recipe *recipe, const char *word, uint32_t votes)
{
    acc->parts[0].cells.ones[cell_of(recipe, word)] += votes;
}

static void read_layer(agg_trie_layer *layer, const agg_recipe *recipe, const agg_accumulator *acc)
{
    const agg_trie_options options = {.fdr = 0.05};
    agg_error error;
    assert_ok(agg_trie_layer_read(layer, &error, recipe, acc, &options));
}

static void assert_cell(const agg_recipe *recipe, const agg_trie_cell *cell, const char *wanted,
                        bool is_word)
{
    char text[AGG_TRIE_TEXT_MAX];
    bool ends = false;
    size_t len = agg_trie_text(text, &ends, recipe, cell->bucket);
    assert_int_equal(len, strlen(wanted));
    assert_memory_equal(text, wanted, len);
    assert_int_equal(ends, is_word);
    assert_int_equal(cell->is_word, is_word);
}

static void assert_text(agg_text text, const char *wanted)
{
    assert_int_equal(text.len, strlen(wanted));
    assert_memory_equal(text.bytes, wanted, text.len);
}

// ---- a round ----

static void words_end_and_starts_go_on(void **state)
{
    (void)state;
    agg_recipe recipe;
    agg_accumulator acc;
    agg_trie_layer layer;
    read_recipe(&recipe, SMALL("\"max_prefixes\":20", ""));
    make_acc(&acc, &recipe, 10000);
    vote(&acc, &recipe, "\xc3\xa4", 900); // ends after one character of two bytes
    vote(&acc, &recipe, "b\xc3\xa4", 800);
    vote(&acc, &recipe, "ab", 30);      // noise
    acc.parts[0].cells.ones[0] += 5000; // begins with no start
    acc.parts[0].cells.ones[1] += 5000; // the empty word
    acc.parts[0].cells.ones[2] += 5000; // a character that is not listed
    read_layer(&layer, &recipe, &acc);
    assert_int_equal(layer.n_asked[0], 9);
    assert_int_equal(layer.n_asked[1], 3);
    assert_int_equal(layer.n_cells, 2);
    assert_cell(&recipe, &layer.cells[0], "\xc3\xa4", true);
    assert_cell(&recipe, &layer.cells[1], "b\xc3\xa4", false);
    assert_int_equal(layer.n_kept[0], 1);
    assert_int_equal(layer.n_kept[1], 1);
    agg_trie_layer_release(&layer);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

static void the_cap_is_on_both_together_and_keeps_the_strongest(void **state)
{
    (void)state;
    agg_recipe recipe;
    agg_accumulator acc;
    agg_trie_layer layer;
    read_recipe(&recipe, SMALL("\"max_prefixes\":3", ""));
    make_acc(&acc, &recipe, 10000);
    vote(&acc, &recipe, "a", 900);
    vote(&acc, &recipe, "ab", 1000);
    vote(&acc, &recipe, "bb", 700);
    vote(&acc, &recipe, "b", 800);
    read_layer(&layer, &recipe, &acc);
    assert_int_equal(layer.n_frequent, 4);
    assert_int_equal(layer.n_cut, 1);
    assert_int_equal(layer.n_cells, 3);
    assert_cell(&recipe, &layer.cells[0], "ab", false);
    assert_cell(&recipe, &layer.cells[1], "a", true);
    assert_cell(&recipe, &layer.cells[2], "b", true);
    assert_true(layer.support_kept == acc.parts[0].cells.ones[cell_of(&recipe, "b")]);
    agg_trie_layer_release(&layer);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

// More cells stand out than are held at once: those that are kept are the strongest of all,
// wherever they lie.
static void of_very_many_the_strongest_are_kept(void **state)
{
    (void)state;
    enum { KEPT = 50, LEVELS = 5000 };
    agg_recipe recipe;
    agg_accumulator acc;
    agg_trie_layer layer;
    uint64_t n_raised = 0, n_over = 0;
    read_recipe(
        &recipe,
        "{\"recipe\":\"r\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"fields\",\"mechanism\":"
        "\"trie\","
        "\"parameters\":{\"epsilon\":10,\"contributions\":1,\"sampler\":\"random\",\"depth\":12,"
        "\"max_prefixes\":50},\"encoding\":[{\"field\":\"w\",\"starts\":[\"\"],\"step\":4,"
        "\"characters\":\"abcdefghijklmnopqrstuvwxyz\"}],\"limit\":{\"per_day\":1},"
        "\"expires\":\"2099-12-31\"}");
    make_acc(&acc, &recipe, 10000000);
    uint32_t *ones = acc.parts[0].cells.ones, first = cell_of(&recipe, "aaaa"),
             last = cell_of(&recipe, "zzzz");
    for (uint32_t cell = first; cell <= last; cell += 3, n_raised++)
        ones[cell] += LEVELS + (uint32_t)(((uint64_t)cell * 2654435761u >> 8) % LEVELS);
    read_layer(&layer, &recipe, &acc);
    assert_int_equal(layer.n_frequent, n_raised);
    assert_true(n_raised > 2 * 65536);
    assert_int_equal(layer.n_cells, KEPT);
    assert_int_equal(layer.n_cut, n_raised - KEPT);
    for (uint32_t cell = first; cell <= last; cell++)
        n_over += ones[cell] > (uint32_t)layer.support_kept;
    assert_true(n_over < KEPT);
    for (size_t i = 0; i < KEPT; i++) {
        assert_true(ones[layer.cells[i].bucket] >= (uint32_t)layer.support_kept);
        assert_true(i == 0 || layer.cells[i].score <= layer.cells[i - 1].score);
    }
    agg_trie_layer_release(&layer);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

// Eight words end here. Five of them stand out by far, and "f" by 2.2: enough for the last of six
// among eight (a p-value of 0.025 6/8, 2.08), not for the one among the three that are left where
// the five are known to the reader (0.025/3, 2.39).
static void what_the_reader_knows_does_not_lower_the_bar(void **state)
{
    (void)state;
    agg_recipe recipe;
    agg_accumulator acc;
    agg_trie_layer layer;
    agg_list known = {0};
    agg_error error;
    const agg_text words[] = {{"a", 1}, {"b", 1}, {"c", 1},
                              {"d", 1}, {"e", 1}, {"no such word", 12}};
    read_recipe(
        &recipe,
        HEAD "\"encoding\":[{\"field\":\"word\",\"starts\":[\"\"],\"characters\":\"abcdefgh\","
             "\"step\":2}],"
             "\"mechanism\":\"trie\",\"parameters\":{\"epsilon\":2,\"contributions\":1,\"depth\":6,"
             "\"max_prefixes\":20}," TAIL "}");
    make_acc(&acc, &recipe, 10000);
    double q = acc.parts[0].cells.ones[0] / 10000.0;
    for (uint32_t i = 0; i < 5; i++) vote(&acc, &recipe, words[i].bytes, 900);
    vote(&acc, &recipe, "f", (uint32_t)(1 + 2.25 * sqrt(10000 * q * (1 - q))));
    read_layer(&layer, &recipe, &acc);
    assert_int_equal(layer.n_asked[1], 8);
    assert_int_equal(layer.n_kept[1], 6);
    assert_true(layer.cells[5].score > 2.1 && layer.cells[5].score < 2.35);
    agg_trie_layer_release(&layer);
    assert_ok(agg_list_copy(&known, &error, "known", words, 6));
    const agg_trie_options options = {.fdr = 0.05, .known = &known};
    assert_ok(agg_trie_layer_read(&layer, &error, &recipe, &acc, &options));
    assert_int_equal(layer.n_asked[1], 3);
    assert_int_equal(
        layer.n_kept[1],
        5); // those that are known: whoever leaves them out wants to say how many there were
    assert_true(layer.least[1] == HUGE_VAL);
    agg_trie_layer_release(&layer);
    agg_list_release(&known);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

// "a" is known, and no device reports it; "ab" is known as well, but "abb" and the like are
// reported in its cell.
static void known_words_are_not_tested(void **state)
{
    (void)state;
    agg_recipe recipe;
    agg_accumulator acc;
    agg_trie_layer layer;
    read_recipe(&recipe, SMALL("\"max_prefixes\":20,\"known\":[\"a\",\"ab\",\"\xd0\xb1\"]", ""));
    make_acc(&acc, &recipe, 10000);
    acc.parts[0].cells.ones[3] += 900; // "a"
    vote(&acc, &recipe, "ab", 800);
    read_layer(&layer, &recipe, &acc);
    assert_int_equal(layer.n_asked[1], 2);
    assert_int_equal(layer.n_cells, 1);
    assert_cell(&recipe, &layer.cells[0], "ab", false);
    agg_trie_layer_release(&layer);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

static void a_count_below_t_is_withheld(void **state)
{
    (void)state;
    agg_recipe recipe;
    agg_accumulator acc;
    agg_trie_layer layer;
    agg_error error;
    read_recipe(&recipe, SMALL("\"max_prefixes\":20", ""));
    make_acc(&acc, &recipe, 10000);
    vote(&acc, &recipe, "a", 900);
    vote(&acc, &recipe, "b", 500);
    read_layer(&layer, &recipe, &acc);
    assert_int_equal(layer.n_cells, 2);
    const agg_trie_options options = {.fdr = 0.05, .threshold = layer.cells[0].count};
    agg_trie_layer_release(&layer);
    assert_ok(agg_trie_layer_read(&layer, &error, &recipe, &acc, &options));
    assert_int_equal(layer.n_cells, 1);
    assert_int_equal(layer.n_withheld, 1);
    agg_trie_layer_release(&layer);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

// Nobody has a word: 2,000 devices, 20 seeds. Of words each seed has a chance of 0.025 of any (half
// of the rate of 0.05), of starts 0.05: of 20 seeds more than 3 and more than 5 have some with
// chances of 0.0003 and 0.0003.
static void noise_has_no_words(void **state)
{
    (void)state;
    agg_recipe recipe;
    unsigned n_words = 0, n_starts = 0;
    read_recipe(&recipe, SMALL("\"max_prefixes\":20", ""));
    for (uint8_t seed = 1; seed <= 20; seed++) {
        const uint8_t key[32] = {seed, 77};
        agg_accumulator acc;
        agg_trie_layer layer;
        agg_error error;
        static uint8_t records[2000 * 64];
        size_t size = recipe.recipe->record_size;
        assert_true(size <= 64);
        for (uint32_t i = 0; i < 2000; i++) {
            shoal_rng rng;
            const uint64_t nothing = SHOAL_ITEM_NONE;
            shoal_rng_init_stream(&rng, key, i);
            assert_ok(
                shoal_record_randomize(records + i * size, recipe.recipe, &nothing, 1, NULL, &rng));
        }
        assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
        assert_ok(agg_accumulator_add(&acc, &error, records, 2000, 1));
        read_layer(&layer, &recipe, &acc);
        n_words += layer.n_kept[1] > 0;
        n_starts += layer.n_kept[0] > 0;
        agg_trie_layer_release(&layer);
        agg_accumulator_release(&acc);
    }
    assert_in_range(n_words, 0, 3);
    assert_in_range(n_starts, 0, 5);
    agg_recipe_release(&recipe);
}

// ---- what follows ----

static void find_next(agg_next_trie *next, const agg_recipe *recipe, const agg_accumulator *acc)
{
    const agg_next_trie_wish wish = {0};
    agg_trie_layer layer;
    agg_error error;
    read_layer(&layer, recipe, acc);
    assert_ok(agg_next_trie_find(next, &error, recipe, &layer, &wish));
    agg_trie_layer_release(&layer);
}

// A quarter answered: 10,000 devices, so that 30,000 are left.
static void starts_are_sorted_and_the_share_is_of_those_left(void **state)
{
    (void)state;
    agg_recipe recipe;
    agg_accumulator acc;
    agg_next_trie next;
    read_recipe(&recipe, SMALL("\"max_prefixes\":20", ",\"send\":{\"sample\":0.25}"));
    make_acc(&acc, &recipe, 10000);
    vote(&acc, &recipe, "b\xc3\xa4", 1500);
    vote(&acc, &recipe, "ab", 900);
    vote(&acc, &recipe, "a", 800);
    find_next(&next, &recipe, &acc);
    assert_int_equal(next.end, AGG_TRIE_GOES_ON);
    assert_int_equal(next.pass, 1);
    assert_int_equal(next.depth, 2);
    assert_int_equal(next.n_starts, 2);
    assert_text(next.starts[0], "ab");
    assert_text(next.starts[1], "b\xc3\xa4");
    assert_int_equal(next.n_known, 0); // of the last pass nothing is published
    assert_true(next.plan.n_rounds >= 1 && next.step == next.plan.rounds[0].step);
    assert_true(fabs(next.devices - 30000 * next.sample) < 1);
    assert_true(fabs(next.devices - next.plan.rounds[0].devices) < 1);
    agg_next_trie_release(&next);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

static void all_devices_asked_is_the_end(void **state)
{
    (void)state;
    agg_recipe recipe;
    agg_accumulator acc;
    agg_next_trie next;
    read_recipe(&recipe, SMALL("\"max_prefixes\":20", "")); // round 1 asks everybody
    make_acc(&acc, &recipe, 10000);
    vote(&acc, &recipe, "ab", 900);
    find_next(&next, &recipe, &acc);
    assert_int_equal(next.end, AGG_TRIE_GOES_ON);
    agg_next_trie_release(&next);
    fields_of(&recipe)->round_index = 2; // a later round that asks all that are left
    find_next(&next, &recipe, &acc);
    assert_int_equal(next.end, AGG_TRIE_NO_DEVICE);
    agg_next_trie_release(&next);
    fields_of(&recipe)->sample_micro = 500000;
    find_next(&next, &recipe, &acc);
    assert_int_equal(next.end, AGG_TRIE_GOES_ON);
    agg_next_trie_release(&next);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

static void a_pass_ends_and_the_next_knows_its_words(void **state)
{
    (void)state;
    agg_recipe recipe;
    agg_accumulator acc;
    agg_next_trie next;
    read_recipe(&recipe, SMALL("\"max_prefixes\":20,\"passes\":2,\"known\":[\"zoo\"]",
                               ",\"send\":{\"sample\":0.25}"));
    make_acc(&acc, &recipe, 10000);
    vote(&acc, &recipe, "b", 900);
    vote(&acc, &recipe, "a", 800);
    find_next(&next, &recipe, &acc);
    assert_int_equal(next.end, AGG_TRIE_GOES_ON);
    assert_int_equal(next.pass, 2);
    assert_int_equal(next.depth, 0);
    assert_int_equal(next.n_starts, 1);
    assert_text(next.starts[0], "");
    assert_int_equal(next.n_new, 2);
    assert_int_equal(next.n_known, 3);
    assert_text(next.known[0], "a");
    assert_text(next.known[1], "b");
    assert_text(next.known[2], "zoo");
    agg_next_trie_release(&next);
    fields_of(&recipe)->pass = 2; // the last
    find_next(&next, &recipe, &acc);
    assert_int_equal(next.end, AGG_TRIE_COMPLETE);
    agg_next_trie_release(&next);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

// ---- words from all rounds ----

typedef struct rounds {
    agg_recipe recipes[2];
    agg_accumulator accs[2];
    agg_discover_round list[2];
} rounds;

// "ä" ends in the first round, "abb" and "ab" in the second, which follows by what `round next`
// writes.
static void make_rounds(rounds *r, uint64_t n_second)
{
    const agg_next_trie_wish wish = {2, 0.5, 0};
    agg_trie_layer layer;
    agg_next_trie next;
    agg_error error;
    char *text = NULL;
    read_recipe(&r->recipes[0], SMALL("\"max_prefixes\":20",
                                      ",\"send\":{\"sample\":0.5},\"cohort\":{\"minimum\":100}"));
    make_acc(&r->accs[0], &r->recipes[0], 10000);
    vote(&r->accs[0], &r->recipes[0], "\xc3\xa4", 900);
    vote(&r->accs[0], &r->recipes[0], "ab", 900);
    read_layer(&layer, &r->recipes[0], &r->accs[0]);
    assert_ok(agg_next_trie_find(&next, &error, &r->recipes[0], &layer, &wish));
    const agg_next_recipe asked = {.starts = next.starts,
                                   .n_starts = next.n_starts,
                                   .step = next.step,
                                   .pass = next.pass,
                                   .sample = next.sample};
    assert_ok(agg_next_recipe_text(&text, &error, &r->recipes[0], &asked));
    read_recipe(&r->recipes[1], text);
    free(text);
    agg_next_trie_release(&next);
    agg_trie_layer_release(&layer);
    make_acc(&r->accs[1], &r->recipes[1], n_second);
    for (int i = 0; i < 2; i++) r->list[i] = (agg_discover_round){&r->recipes[i], &r->accs[i]};
}

static void release_rounds(rounds *r)
{
    for (int i = 0; i < 2; i++) {
        agg_accumulator_release(&r->accs[i]);
        agg_recipe_release(&r->recipes[i]);
    }
}

static void discover(agg_discovery *d, const rounds *r, size_t n, unsigned n_threads)
{
    // Each round is one block, all of it honest.
    const agg_discover_options options = {.n_threads = n_threads, .release = {UINT32_MAX, 1, 1}};
    agg_error error;
    assert_ok(agg_discover_run(d, &error, r->list, n, &options));
}

static void the_next_recipe_is_front_coded_and_follows(void **state)
{
    (void)state;
    rounds r;
    make_rounds(&r, 5000);
    const shoal_recipe *second = r.recipes[1].recipe;
    assert_int_equal(second->round_index, 2);
    assert_memory_equal(second->round_previous, r.recipes[0].recipe->query_hash, 32);
    assert_string_equal(r.recipes[1].id, "w-2");
    assert_non_null(strstr(r.recipes[1].json, "\"starts\":\"0ab\""));
    assert_int_equal(second->sample_micro, 500000);
    assert_int_equal(second->encoding.fields[0].depth, 2);
    release_rounds(&r);
}

// A word of the second round, asked of 5,000 of 15,000: three times its count there, and the error
// of that and of the sample.
static void counts_are_of_all_reports_of_all_rounds(void **state)
{
    (void)state;
    rounds r;
    agg_discovery d;
    agg_trie_layer layer;
    make_rounds(&r, 5000);
    vote(&r.accs[1], &r.recipes[1], "ab", 700);
    vote(&r.accs[1], &r.recipes[1], "abb", 500);
    vote(&r.accs[1], &r.recipes[1], "abba", 600); // does not end: no word
    discover(&d, &r, 2, 1);
    read_layer(&layer, &r.recipes[1], &r.accs[1]);
    assert_int_equal(d.n, 15000);
    assert_int_equal(d.n_rows, 3);
    assert_text(d.rows[0].value, "ab");
    assert_text(d.rows[1].value, "abb");
    assert_text(d.rows[2].value, "\xc3\xa4");
    assert_string_equal(d.rows[0].how, "round 2, pass 1");
    assert_string_equal(d.rows[2].how, "round 1, pass 1");
    double c = layer.cells[0].count, noise = layer.cells[0].stderr_;
    assert_cell(&r.recipes[1], &layer.cells[0], "ab", true);
    assert_true(fabs(d.rows[0].count - 3 * c) < 1e-6);
    double wanted = 3 * sqrt(noise * noise + c * (1 - c / 5000) * (1 - 1.0 / 3));
    assert_true(fabs(d.rows[0].stderr_ - wanted) < 1e-6 * wanted);
    agg_trie_layer_release(&layer);
    agg_discovery_release(&d);
    release_rounds(&r);
}

// 500 votes for "abb" come to a count that three times over is above the release threshold; the
// reports that say so are not.
static void what_few_reports_say_is_not_released(void **state)
{
    (void)state;
    rounds r;
    agg_discovery d;
    make_rounds(&r, 5000);
    vote(&r.accs[1], &r.recipes[1], "ab", 1500);
    vote(&r.accs[1], &r.recipes[1], "abb", 500);
    discover(&d, &r, 2, 1);
    assert_int_equal(d.n_rows, 3);
    assert_text(d.rows[1].value, "abb");
    fields_of(&r.recipes[1])->release_threshold = (uint64_t)(d.rows[1].count / 2);
    agg_discovery_release(&d);
    discover(&d, &r, 2, 1);
    assert_int_equal(d.n_rows, 2);
    assert_text(d.rows[1].value, "\xc3\xa4");
    assert_int_equal(d.n_withheld, 1);
    agg_discovery_release(&d);
    release_rounds(&r);
}

static int has_note(const agg_discovery *d, const char *text)
{
    for (uint32_t i = 0; i < d->n_notes; i++)
        if (strstr(d->notes[i], text) != NULL) return 1;
    return 0;
}

// The second round has fewer reports; where the first one's are of a larger epsilon, that is what
// is promised.
static void what_is_promised_is_the_weakest(void **state)
{
    (void)state;
    rounds r;
    agg_discovery d;
    make_rounds(&r, 5000);
    discover(&d, &r, 2, 1);
    assert_true(has_note(&d, "local epsilon 2") && has_note(&d, "smallest block of 5000 reports"));
    agg_discovery_release(&d);
    fields_of(&r.recipes[0])->eps_micro = 3000000;
    discover(&d, &r, 2, 1);
    assert_true(has_note(&d, "local epsilon 3") && has_note(&d, "smallest block of 10000 reports"));
    agg_discovery_release(&d);
    release_rounds(&r);
}

static void starts_that_are_left_open_are_told_unless_few_hold_them(void **state)
{
    (void)state;
    rounds r;
    agg_discovery d;
    make_rounds(&r, 5000);
    discover(&d, &r, 1, 1);
    assert_int_equal(d.reach, 1);
    assert_false(d.is_in_bytes);
    assert_true(d.n_open >= 1);
    assert_int_equal(d.open[0].len, 2);
    assert_memory_equal(d.open[0].text, "ab", 2);
    assert_true(d.open[0].stderr_ > 0 && d.open[0].count > 3 * d.open[0].stderr_);
    fields_of(&r.recipes[0])->release_threshold = (uint64_t)d.open[0].count + 1;
    agg_discovery_release(&d);
    discover(&d, &r, 1, 1);
    assert_int_equal(d.n_open, 0);
    agg_discovery_release(&d);
    fields_of(&r.recipes[0])->release_threshold = 0;
    discover(&d, &r, 2, 1);
    assert_true(d.reach > 1);
    agg_discovery_release(&d);
    release_rounds(&r);
}

static void rounds_that_do_not_follow_are_refused(void **state)
{
    (void)state;
    const agg_discover_options options = {0};
    rounds r;
    agg_discovery d;
    agg_error error;
    make_rounds(&r, 5000);
    const agg_discover_round swapped[2] = {r.list[1], r.list[0]}, twice[2] = {r.list[0], r.list[0]};
    assert_err(agg_discover_run(&d, &error, swapped, 2, &options), AGG_ERR_USAGE);
    assert_err(agg_discover_run(&d, &error, twice, 2, &options), AGG_ERR_USAGE);
    fields_of(&r.recipes[1])->round_previous[5] ^= 1;
    assert_err(agg_discover_run(&d, &error, r.list, 2, &options), AGG_ERR_USAGE);
    assert_non_null(strstr(error.text, "round.previous"));
    fields_of(&r.recipes[1])->round_previous[5] ^= 1;
    fields_of(&r.recipes[1])->pass = 2;
    assert_err(agg_discover_run(&d, &error, r.list, 2, &options), AGG_ERR_USAGE);
    assert_non_null(strstr(error.text, "empty start"));
    fields_of(&r.recipes[1])->pass = 1;
    r.recipes[1].lists[0][SHOAL_LIST_STARTS].texts[0].len = 1; // "a": that is where a word ends
    assert_err(agg_discover_run(&d, &error, r.list, 2, &options), AGG_ERR_USAGE);
    assert_non_null(strstr(error.text, "starts"));
    release_rounds(&r);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    rounds r;
    agg_discovery one, four;
    make_rounds(&r, 5000);
    vote(&r.accs[1], &r.recipes[1], "abb", 500);
    discover(&one, &r, 2, 1);
    discover(&four, &r, 2, 4);
    assert_int_equal(one.n_rows, four.n_rows);
    for (size_t i = 0; i < one.n_rows; i++) {
        assert_true(one.rows[i].count == four.rows[i].count &&
                    one.rows[i].stderr_ == four.rows[i].stderr_);
        assert_true(agg_text_compare(one.rows[i].value, four.rows[i].value) == 0);
    }
    agg_discovery_release(&one);
    agg_discovery_release(&four);
    release_rounds(&r);
}

// ---- hostile reports ----

static void equal_cells_say_nothing(void **state)
{
    (void)state;
    agg_recipe recipe;
    agg_accumulator acc;
    agg_trie_layer layer;
    read_recipe(&recipe, SMALL("\"max_prefixes\":20", ""));
    make_acc(&acc, &recipe, 10000);
    read_layer(&layer, &recipe, &acc);
    assert_int_equal(layer.n_cells, 0);
    agg_trie_layer_release(&layer);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

// What no honest devices send: every vote for one cell, or all cells full. Finite numbers, and the
// cap holds.
static void full_cells_are_bounded(void **state)
{
    (void)state;
    agg_recipe recipe;
    agg_accumulator acc;
    agg_trie_layer layer;
    read_recipe(&recipe, SMALL("\"max_prefixes\":5", ""));
    make_acc(&acc, &recipe, 10000);
    for (uint32_t i = 0; i < recipe.recipe->parts[0].m; i++) acc.parts[0].cells.ones[i] = 0;
    acc.parts[0].cells.ones[cell_of(&recipe, "a")] = 10000;
    read_layer(&layer, &recipe, &acc);
    assert_int_equal(layer.n_cells, 1);
    assert_true(isfinite(layer.cells[0].count) && isfinite(layer.cells[0].stderr_));
    agg_trie_layer_release(&layer);
    for (uint32_t i = 0; i < recipe.recipe->parts[0].m; i++) acc.parts[0].cells.ones[i] = 10000;
    read_layer(&layer, &recipe, &acc);
    assert_int_equal(layer.n_cells, 5);
    assert_int_equal(layer.n_frequent, 12);
    agg_trie_layer_release(&layer);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

// An attacker whose reports all hold one cell: of n reports a share x adds n x (1 - q) votes, where
// an honest share would add n x (p - q). So x weighs as (1 - q) / (p - q) honest ones, 2.4 times
// here (p = 0.54, q = 0.21), and no more: the rule bounds what a report can do. It shows where n x
// (1 - q) is above the bar of about z sqrt(n q (1 - q)), z = 2.6 among the 3 words: 1.4 % of
// 10,000, 0.14 % of a million.
static void what_an_attacker_can_push(void **state)
{
    (void)state;
    const struct {
        uint64_t n;
        double share;
        int is_shown;
    } cases[] = {{10000, 0.005, 0}, {10000, 0.03, 1}, {1000000, 0.0005, 0}, {1000000, 0.01, 1}};
    agg_recipe recipe;
    read_recipe(&recipe, SMALL("\"max_prefixes\":20", ""));
    const shoal_part *part = &recipe.recipe->parts[0];
    double p = (double)(0 - part->threshold) * 0x1p-64, q = (part->k - p) / (part->m - 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        agg_accumulator acc;
        agg_trie_layer layer;
        double pushed = cases[i].share * (double)cases[i].n;
        make_acc(&acc, &recipe, cases[i].n);
        vote(&acc, &recipe, "b", (uint32_t)(pushed * (1 - q)));
        read_layer(&layer, &recipe, &acc);
        assert_int_equal(layer.n_cells, cases[i].is_shown);
        if (cases[i].is_shown)
            assert_true(fabs(layer.cells[0].count - pushed * (1 - q) / (p - q)) <
                        0.01 * pushed + 4);
        agg_trie_layer_release(&layer);
        agg_accumulator_release(&acc);
    }
    assert_true((1 - q) / (p - q) < 2.5);
    agg_recipe_release(&recipe);
}

// ---- what is promised ----

static void every_line_says_item_or_device(void **state)
{
    (void)state;
    agg_recipe recipe;
    agg_accumulator acc;
    agg_trie_layer layer;
    agg_error error;
    static agg_trie_guarantee g;
    char text[] = SMALL("\"max_prefixes\":20",
                        ",\"cohort\":{\"minimum\":100,\"epsilon\":1,\"delta\":\"1e-6\"}");
    *(strstr(text, "\"contributions\":1") + 16) = '3';
    read_recipe(&recipe, text);
    make_acc(&acc, &recipe, 3000000);
    read_layer(&layer, &recipe, &acc);
    const agg_release release = {1000000, 0.9, 1}, files = {0};
    assert_ok(agg_trie_guarantee_run(&g, &error, recipe.recipe, &layer, &files));
    assert_int_equal(g.n_lines, 3); // files have no central figure
    for (int i = 0; i < g.n_lines; i++) assert_null(strstr(g.lines[i], "central"));
    assert_ok(agg_trie_guarantee_run(&g, &error, recipe.recipe, &layer, &release));
    assert_int_equal(g.n_lines, AGG_TRIE_LINES_MAX);
    assert_non_null(strstr(g.lines[0], "item (one contribution): local epsilon 2; device (3 of "
                                       "them, in one round): local epsilon 6"));
    assert_int_equal(
        strncmp(
            g.lines[1],
            "item: central epsilon, delta 1e-6, smallest block of 1000000 reports, 90 % honest, "
            "for readers of blocks only: ",
            111),
        0);
    for (int i = 1; i < 3; i++) // not cut off
        assert_string_equal(g.lines[i] + strlen(g.lines[i]) - 9, " stronger");
    assert_int_equal(strncmp(g.lines[2], "device, by group privacy: central epsilon", 41), 0);
    for (int bound = 0; bound < 3;
         bound++) { // three contributions cost about three times as much, and more for delta
        assert_true(g.item[bound] > 0 && g.item[bound] < 0.1);
        assert_true(g.device[bound] > 3 * g.item[bound] && g.device[bound] < 4 * g.item[bound]);
    }
    assert_non_null(strstr(g.lines[3], "Lemma 1"));
    agg_trie_layer_release(&layer);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_end_and_starts_go_on),
        cmocka_unit_test(the_cap_is_on_both_together_and_keeps_the_strongest),
        cmocka_unit_test(of_very_many_the_strongest_are_kept),
        cmocka_unit_test(what_the_reader_knows_does_not_lower_the_bar),
        cmocka_unit_test(known_words_are_not_tested),
        cmocka_unit_test(a_count_below_t_is_withheld),
        cmocka_unit_test(noise_has_no_words),
        cmocka_unit_test(starts_are_sorted_and_the_share_is_of_those_left),
        cmocka_unit_test(all_devices_asked_is_the_end),
        cmocka_unit_test(a_pass_ends_and_the_next_knows_its_words),
        cmocka_unit_test(the_next_recipe_is_front_coded_and_follows),
        cmocka_unit_test(counts_are_of_all_reports_of_all_rounds),
        cmocka_unit_test(what_few_reports_say_is_not_released),
        cmocka_unit_test(what_is_promised_is_the_weakest),
        cmocka_unit_test(starts_that_are_left_open_are_told_unless_few_hold_them),
        cmocka_unit_test(rounds_that_do_not_follow_are_refused),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(equal_cells_say_nothing),
        cmocka_unit_test(full_cells_are_bounded),
        cmocka_unit_test(what_an_attacker_can_push),
        cmocka_unit_test(every_line_says_item_or_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
