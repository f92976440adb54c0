// SPDX-License-Identifier: Apache-2.0
// Blocks: when they close, on which day, what a question gets of them; and the property that all of
// it is for: the reports behind any two answers differ by none or by at least the minimum.
#include "store_fixture.h"

#include <sqlite3.h>

#include "effort.h"
#include "store_growth.h"

enum { DAY = 20778, HOUR_S = 3600 };

// A record of these recipes is 64 bits. A batch of the tests sets one bit, its own, in all its
// records, so that a sum's cell says how many records of that batch are in it.
#define LIST_RECIPE(protocol)                                                                      \
    "{\"recipe\":\"blocks-" protocol "\",\"analysis\":\"tests\",\"stream\":\"words\","             \
    "\"value\":\"item\",\"mechanism\":\"onehot-asymmetric\","                                      \
    "\"parameters\":{\"epsilon\":2,\"size\":64},\"limit\":{\"per_day\":1},"                        \
    "\"batch\":{\"minimum\":1},\"cohort\":{\"minimum\":20},"                                       \
    "\"aggregation\":{\"protocol\":\"" protocol "\"},\"expires\":\"2030-01-31\"}"
enum { MINIMUM = 20, BATCHES = 64 };

static const char *const recipes_json[2] = {LIST_RECIPE("reports"), LIST_RECIPE("sum")};

typedef struct bench {
    char folder[64];
    agg_recipe recipes[2];
    const shoal_recipe *recipe; // one of them
    agg_store *store;
    int64_t collection;
} bench;

static void open_store(bench *b)
{
    agg_error error;
    must(agg_store_open(&b->store, &error, b->folder), &error);
}

static void reopen(bench *b)
{
    agg_store_close(b->store);
    open_store(b);
}

// What a process finds that is started after the last one was killed between two calls: the folder
// as it is on the disk, while the old process still has it open.
static void crash(bench *b)
{
    char command[200], old[64];
    memcpy(old, b->folder, sizeof old);
    fixture_folder(b->folder);
    snprintf(command, sizeof command, "cp -a '%s/.' '%s'", old, b->folder);
    assert_int_equal(system(command), 0);
    agg_store_close(b->store);
    fixture_remove(old);
    open_store(b);
}

static int set_up(void **state)
{
    agg_error error;
    bench *b = calloc(1, sizeof *b);
    fixture_folder(b->folder);
    for (int i = 0; i < 2; i++)
        must(agg_recipe_from_bytes(&b->recipes[i], &error, "blocks", recipes_json[i],
                                   strlen(recipes_json[i])),
             &error);
    open_store(b);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    bench *b = *state;
    agg_store_close(b->store);
    for (int i = 0; i < 2; i++) agg_recipe_release(&b->recipes[i]);
    fixture_remove(b->folder);
    free(b);
    return 0;
}

// Goes on with a new collection of one of the recipes.
static void start(bench *b, int recipe)
{
    b->recipe = b->recipes[recipe].recipe;
    b->collection++; // as if it were entered: nothing but its recipe makes it another
}

// Puts batch `i` of `count` records, whose bit is `i`.
static agg_put put(bench *b, unsigned i, uint32_t count, int32_t day)
{
    agg_error error;
    agg_put result;
    uint8_t id[16] = {(uint8_t)i, 1};
    size_t len = shoal_batch_size_v1(b->recipe, count);
    uint8_t *bytes = calloc(1, len);
    assert_non_null(bytes);
    assert_int_equal(b->recipe->record_size, 8);
    for (uint32_t r = 0; r < count; r++)
        bytes[SHOAL_BATCH_HEADER_V1 + 8 * (size_t)r + i / 8] = (uint8_t)(1u << i % 8);
    assert_int_equal(shoal_batch_seal_v1(bytes, len, b->recipe, count, id), SHOAL_OK);
    must(agg_store_put(b->store, &result, &error, b->collection, b->recipe, day, id, bytes, len),
         &error);
    free(bytes);
    return result;
}

static uint64_t turn(bench *b, int64_t now_s, uint32_t tick_s)
{
    agg_error error;
    uint64_t n_records = 0;
    must(fixture_turn(b->store, &n_records, &error, b->collection, b->recipe, now_s, tick_s),
         &error);
    return n_records;
}

// How many records of each batch an answer holds.
typedef struct answer {
    uint32_t records[BATCHES];
    uint64_t n;
} answer;

static answer ask(bench *b, agg_released *released, agg_span span)
{
    agg_error error;
    agg_accumulator acc;
    answer a = {{0}, 0};
    must(agg_store_load(b->store, &acc, released, &error, b->collection, b->recipe, span), &error);
    assert_int_equal(acc.parts[0].n_cells, BATCHES);
    memcpy(a.records, acc.parts[0].cells.ones, sizeof a.records);
    a.n = acc.n;
    agg_accumulator_release(&acc);
    return a;
}

static uint64_t count(bench *b, int32_t first, int32_t last)
{
    return ask(b, NULL, (agg_span){first, last}).n;
}

// ---- when blocks close ----

#define MIDNIGHT(day) ((int64_t)FIXTURE_DAY_S * (day))

static void a_block_closes_at_a_tick_once_it_holds_enough(void **state)
{
    bench *b = *state;
    for (int recipe = 0; recipe < 2; recipe++) {
        agg_released released;
        start(b, recipe);
        turn(b, MIDNIGHT(DAY) + 9 * HOUR_S, FIXTURE_DAY_S);
        put(b, 0, MINIMUM - 1, DAY);
        assert_int_equal(turn(b, MIDNIGHT(DAY + 1), FIXTURE_DAY_S), 0); // one too few
        assert_int_equal(ask(b, &released, AGG_SPAN_ALL).n, 0);
        assert_int_equal(released.n, 0);
        put(b, 1, 1, DAY + 1);
        assert_int_equal(turn(b, MIDNIGHT(DAY + 2) - 1, FIXTURE_DAY_S), 0); // no tick yet
        assert_int_equal(turn(b, MIDNIGHT(DAY + 2), FIXTURE_DAY_S), MINIMUM);
        assert_int_equal(ask(b, &released, AGG_SPAN_ALL).n, MINIMUM);
        assert_int_equal(released.n, 1);
        assert_int_equal(released.first_number, 1);
        assert_int_equal(released.last_number, 1);
        assert_int_equal(released.first_day, DAY);    // of the first batch
        assert_int_equal(released.last_day, DAY + 1); // of the close
        assert_int_equal(count(b, DAY, DAY), 0);
        assert_int_equal(count(b, DAY + 1, DAY + 1), MINIMUM);
        assert_int_equal(count(b, DAY + 2, DAY + 2), 0);
    }
}

static void ticks_that_were_missed_close_one_block(void **state)
{
    bench *b = *state;
    start(b, 0);
    turn(b, MIDNIGHT(DAY), FIXTURE_DAY_S);
    put(b, 0, MINIMUM, DAY);
    reopen(b); // and nobody turns for days
    assert_int_equal(turn(b, MIDNIGHT(DAY + 3) + 5, FIXTURE_DAY_S), MINIMUM);
    assert_int_equal(count(b, DAY + 2, DAY + 2), MINIMUM);
    put(b, 1, MINIMUM, DAY + 3);
    assert_int_equal(turn(b, MIDNIGHT(DAY + 4) - 1, FIXTURE_DAY_S), 0);
}

static void a_late_batch_counts_in_the_open_block(void **state)
{
    bench *b = *state;
    for (int recipe = 0; recipe < 2; recipe++) {
        start(b, recipe);
        turn(b, MIDNIGHT(DAY), FIXTURE_DAY_S);
        put(b, 0, MINIMUM, DAY);
        turn(b, MIDNIGHT(DAY + 1), FIXTURE_DAY_S);
        put(b, 1, 1, DAY); // of a day that is over
        put(b, 0, MINIMUM, DAY + 1);
        for (int32_t day = DAY + 1; day < DAY + 5; day++) {
            turn(b, MIDNIGHT(day + 1), FIXTURE_DAY_S);
            assert_int_equal(count(b, DAY, DAY), MINIMUM);
            assert_int_equal(count(b, DAY, day), MINIMUM);
        }
    }
}

static void a_clock_that_is_set_back_closes_nothing_twice(void **state)
{
    bench *b = *state;
    agg_released released;
    start(b, 0);
    turn(b, MIDNIGHT(DAY), FIXTURE_DAY_S);
    put(b, 0, MINIMUM, DAY);
    assert_int_equal(turn(b, MIDNIGHT(DAY + 9), FIXTURE_DAY_S), MINIMUM); // too far ahead
    put(b, 1, MINIMUM, DAY);
    assert_int_equal(turn(b, MIDNIGHT(DAY + 1), FIXTURE_DAY_S), 0); // set right
    assert_int_equal(turn(b, MIDNIGHT(DAY + 2), FIXTURE_DAY_S), MINIMUM);
    ask(b, &released, AGG_SPAN_ALL);
    assert_int_equal(released.n, 2);
    assert_int_equal(released.last_day, DAY + 8); // never before the block that closed before it
    assert_int_equal(count(b, DAY + 1, DAY + 1), 0);
}

static void ticks_may_be_seconds_or_weeks(void **state)
{
    bench *b = *state;
    start(b, 1);
    turn(b, MIDNIGHT(DAY) + 100, 1);
    put(b, 0, MINIMUM, DAY);
    assert_int_equal(turn(b, MIDNIGHT(DAY) + 101, 1), MINIMUM);
    assert_int_equal(count(b, DAY, DAY), MINIMUM);
    start(b, 1); // DAY is a Saturday
    turn(b, MIDNIGHT(DAY), 7 * FIXTURE_DAY_S);
    put(b, 0, MINIMUM, DAY);
    assert_int_equal(turn(b, MIDNIGHT(DAY + 2) - 1, 7 * FIXTURE_DAY_S), 0);
    assert_int_equal(turn(b, MIDNIGHT(DAY + 2), 7 * FIXTURE_DAY_S), MINIMUM);
    assert_int_equal(count(b, DAY + 1, DAY + 1), MINIMUM); // its Sunday
}

static void the_database_refuses_to_change_a_closed_block(void **state)
{
    static const char *const changes[] = {
        "UPDATE blocks SET records = records + 1",
        "UPDATE blocks SET is_closed = 0",
        "UPDATE blocks SET last_day = 1",
        "UPDATE blocks SET body = x'00'",
    };
    bench *b = *state;
    start(b, 0);
    turn(b, MIDNIGHT(DAY), FIXTURE_DAY_S);
    put(b, 0, MINIMUM, DAY);
    turn(b, MIDNIGHT(DAY + 1), FIXTURE_DAY_S);
    agg_store_close(b->store);
    char path[96];
    snprintf(path, sizeof path, "%s/shoal.db", b->folder);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        assert_int_equal(sqlite3_exec(db, changes[i], NULL, NULL, NULL), SQLITE_CONSTRAINT);
    sqlite3_close(db);
    open_store(b);
    assert_int_equal(count(b, DAY, DAY), MINIMUM);
}

// ---- retention ----

static uint64_t merge(bench *b, int32_t day, agg_retention retention)
{
    agg_error error;
    uint64_t n_merged = 0, n;
    do {
        must(agg_store_merge_blocks(b->store, &n, &error, b->collection, b->recipe, day, retention),
             &error);
        n_merged += n;
    } while (n > 0);
    return n_merged;
}

static void blocks_of_a_day_merge_once_it_is_over(void **state)
{
    bench *b = *state;
    agg_released released;
    for (int recipe = 0; recipe < 2; recipe++) {
        start(b, recipe);
        for (unsigned i = 0; i < 4; i++) {
            turn(b, MIDNIGHT(DAY) + i * HOUR_S, HOUR_S);
            put(b, i, MINIMUM + i, DAY);
        }
        turn(b, MIDNIGHT(DAY) + 4 * HOUR_S, HOUR_S);
        assert_int_equal(merge(b, DAY, AGG_RETENTION_DEFAULT), 0);
        const answer before = ask(b, &released, (agg_span){DAY, DAY});
        assert_int_equal(released.n, 4);
        assert_int_equal(merge(b, DAY + 1, AGG_RETENTION_DEFAULT), 4);
        assert_int_equal(merge(b, DAY + 1, AGG_RETENTION_DEFAULT), 0);
        reopen(b);
        const answer after = ask(b, &released, (agg_span){DAY, DAY});
        assert_memory_equal(&after, &before, sizeof after);
        assert_int_equal(released.n, 1);
        assert_int_equal(released.first_number, 1);
        assert_int_equal(released.last_number, 4);
    }
}

// A day's block is a 256 MiB file in the largest collections, so their number is what the disk must
// hold: 128 of them are 32 GiB.
enum { YEAR_BLOCKS_MAX = 128 };

static void a_year_stays_small_and_old_days_get_coarser(void **state)
{
    bench *b = *state;
    agg_error error;
    agg_store_stats stats;
    agg_released released;
    uint64_t most = 0;
    int32_t first = DAY - 324; // 2026-01-01
    start(b, 0);
    turn(b, MIDNIGHT(first), FIXTURE_DAY_S);
    for (int32_t day = first; day < first + 366; day++) {
        uint8_t id[16] = {(uint8_t)day, (uint8_t)(day >> 8), 2};
        agg_put result;
        size_t len = shoal_batch_size_v1(b->recipe, MINIMUM);
        uint8_t *bytes = calloc(1, len);
        assert_non_null(bytes);
        assert_int_equal(shoal_batch_seal_v1(bytes, len, b->recipe, MINIMUM, id), SHOAL_OK);
        must(
            agg_store_put(b->store, &result, &error, b->collection, b->recipe, day, id, bytes, len),
            &error);
        free(bytes);
        assert_int_equal(turn(b, MIDNIGHT(day + 1), FIXTURE_DAY_S), MINIMUM);
        merge(b, day + 1, AGG_RETENTION_DEFAULT);
        must(agg_store_statistics(b->store, &stats, &error, b->collection), &error);
        if (stats.blocks > most) most = stats.blocks;
    }
    print_message("%llu blocks at most\n", (unsigned long long)most);
    assert_in_range(most, 91, YEAR_BLOCKS_MAX);
    assert_int_equal(count(b, first, first + 365), 366 * MINIMUM);
    // The last days are single, a day of September is a week, a day of January a month.
    assert_int_equal(count(b, first + 350, first + 350), MINIMUM);
    assert_int_equal(count(b, first + 250, first + 250), 7 * MINIMUM);
    uint64_t n = ask(b, &released, (agg_span){first + 40, first + 40}).n;
    uint64_t days = (uint64_t)(released.last_day - released.first_day + 1);
    assert_int_equal(n, MINIMUM * days);
    assert_in_range(days, 28, 37); // with weeks across its edges
}

// ---- any two answers ----

enum { ANSWERS_MAX = 256 };

typedef struct sequence {
    shoal_rng rng;
    int64_t now_s;
    uint32_t tick_s;
    uint32_t counts[BATCHES]; // records of the batches that were put
    unsigned n_batches;
    answer answers[ANSWERS_MAX]; // that differ
    size_t n_answers;
    uint64_t n_asked;
} sequence;

static int32_t today(const sequence *s)
{
    return (int32_t)(s->now_s / FIXTURE_DAY_S);
}

static uint64_t below(sequence *s, uint64_t n)
{
    return shoal_rng_below(&s->rng, n);
}

static uint64_t difference(const answer *x, const answer *y)
{
    uint64_t d = 0;
    for (int i = 0; i < BATCHES; i++)
        d += x->records[i] > y->records[i] ? x->records[i] - y->records[i]
                                           : y->records[i] - x->records[i];
    return d;
}

// Checks an answer against all before it.
static void check_answer(bench *b, sequence *s, agg_span span)
{
    agg_released released;
    answer a = ask(b, &released, span);
    uint64_t n = 0;
    s->n_asked++;
    for (unsigned i = 0; i < BATCHES; i++) {
        if (a.records[i] != 0 && a.records[i] != s->counts[i])
            fail_msg("a batch of %u records counts %u times", s->counts[i], a.records[i]);
        n += a.records[i];
    }
    assert_int_equal(n, a.n);
    assert_int_equal(a.n > 0, released.n > 0);
    const answer nothing = {{0}, 0};
    for (size_t i = 0; i <= s->n_answers; i++) {
        uint64_t d = difference(&a, i == 0 ? &nothing : &s->answers[i - 1]);
        if (i > 0 && d == 0) return; // seen before, so checked
        if (d > 0 && d < MINIMUM)
            fail_msg("two answers differ by %llu of %llu records", (unsigned long long)d,
                     (unsigned long long)a.n);
    }
    assert_true(s->n_answers < ANSWERS_MAX);
    s->answers[s->n_answers++] = a;
}

static agg_span any_span(sequence *s)
{
    int32_t first = DAY - 3 + (int32_t)below(s, 40), last = first + (int32_t)below(s, 12);
    switch (below(s, 4)) {
    case 0: return AGG_SPAN_ALL;
    case 1: return (agg_span){INT32_MIN, last};
    case 2: return (agg_span){first, INT32_MAX};
    default: return (agg_span){first, last};
    }
}

static void put_any(bench *b, sequence *s)
{
    unsigned i = s->n_batches;
    if (i == BATCHES || (i > 0 && below(s, 5) == 0)) { // one that was delivered before
        i = (unsigned)below(s, s->n_batches);
        assert_int_equal(put(b, i, s->counts[i], today(s)), AGG_PUT_KNOWN);
        return;
    }
    s->counts[i] = below(s, 3) == 0 ? 1 : 1 + (uint32_t)below(s, 30);
    s->n_batches++;
    assert_int_equal(put(b, i, s->counts[i], today(s) - (int32_t)below(s, 2)), AGG_PUT_STORED);
}

static void step(bench *b, sequence *s)
{
    switch (below(s, 14)) {
    case 0:
    case 1:
    case 2:
    case 3: put_any(b, s); break;
    case 4:
    case 5:
        s->now_s += (int64_t)below(s, 2 * (uint64_t)s->tick_s);
        turn(b, s->now_s, s->tick_s);
        break;
    case 6: turn(b, s->now_s, s->tick_s); break;
    case 7:
        if (below(s, 3) == 0) s->now_s -= (int64_t)below(s, 3 * (uint64_t)FIXTURE_DAY_S);
        break;
    case 8:
        if (below(s, 20) == 0) reopen(b);
        if (below(s, 40) == 0) crash(b);
        break;
    case 9:
        merge(b, today(s), (agg_retention){(uint32_t)below(s, 20), (uint32_t)below(s, 4)});
        break;
    default: check_answer(b, s, any_span(s)); break;
    }
}

// Everything that was put is in a closed block or waits to be.
static void check_whole(bench *b, sequence *s)
{
    agg_error error;
    agg_store_stats stats;
    uint64_t n = 0, n_released = ask(b, NULL, AGG_SPAN_ALL).n;
    turn(b, s->now_s, s->tick_s);
    for (unsigned i = 0; i < s->n_batches; i++) n += s->counts[i];
    must(agg_store_statistics(b->store, &stats, &error, b->collection), &error);
    assert_int_equal(stats.records, n);
    assert_int_equal(stats.waiting_batches, 0);
    assert_true(stats.released >= n_released);
}

static void any_two_answers_differ_by_none_or_the_minimum(void **state)
{
    enum { OF_STORE = 100 };
    static const uint32_t ticks[] = {1, 600, FIXTURE_DAY_S, 7 * FIXTURE_DAY_S};
    bench *b = *state;
    const uint8_t seed[32] = {23};
    uint64_t n_asked = 0, n_apart = 0;
    const uint32_t n_sequences = effort(10000, 1500, 300);
    for (uint32_t i = 0; i < n_sequences; i++) {
        static sequence s;
        memset(&s, 0, sizeof s);
        shoal_rng_init_stream(&s.rng, seed, i);
        s.now_s = MIDNIGHT(DAY) + (int64_t)below(&s, FIXTURE_DAY_S);
        s.tick_s = ticks[below(&s, 4)];
        if (i % OF_STORE == 0) { // a new store, so that opening it stays quick
            agg_store_close(b->store);
            fixture_remove(b->folder);
            fixture_folder(b->folder);
            open_store(b);
        }
        start(b, (int)(i % 2));
        for (uint64_t n = 10 + below(&s, 60); n > 0; n--) step(b, &s);
        check_whole(b, &s);
        n_asked += s.n_asked;
        n_apart += s.n_answers;
    }
    print_message("%llu answers, %llu of them different\n", (unsigned long long)n_asked,
                  (unsigned long long)n_apart);
    assert_true(n_apart > n_sequences); // otherwise little closed, and nothing was tried
}

// ---- growth ----

static agg_growth growth(bench *b, int64_t last_number)
{
    agg_growth g;
    agg_error error;
    must(agg_store_growth(b->store, &g, &error, b->collection, last_number), &error);
    return g;
}

// Closings on days 0, 1, 2, 4 and 5, with 20, 40, 30, 120 and 300 records.
static void growth_is_of_records_a_day(void **state)
{
    static const struct {
        int32_t day;
        uint32_t records;
        double rate, usual; // of this closing, and of those before
    } closings[] = {
        {0, 20, 20, 0}, {1, 40, 40, 0}, {2, 30, 30, 0}, {4, 120, 60, 30}, {5, 300, 300, 35}};
    bench *b = *state;
    start(b, 0);
    turn(b, MIDNIGHT(DAY), FIXTURE_DAY_S);
    assert_true(growth(b, INT64_MAX).newest == 0);
    for (unsigned i = 0; i < sizeof closings / sizeof closings[0]; i++) {
        put(b, i, closings[i].records, DAY + closings[i].day);
        assert_int_equal(turn(b, MIDNIGHT(DAY + closings[i].day + 1), FIXTURE_DAY_S),
                         closings[i].records);
        assert_true(growth(b, INT64_MAX).newest == closings[i].rate);
        assert_true(growth(b, INT64_MAX).usual == closings[i].usual);
    }
    assert_true(growth(b, 4).newest == 60 && growth(b, 4).usual == 30); // later blocks do not count
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_block_closes_at_a_tick_once_it_holds_enough),
        TEST(ticks_that_were_missed_close_one_block),
        TEST(a_late_batch_counts_in_the_open_block),
        TEST(a_clock_that_is_set_back_closes_nothing_twice),
        TEST(ticks_may_be_seconds_or_weeks),
        TEST(the_database_refuses_to_change_a_closed_block),
        TEST(blocks_of_a_day_merge_once_it_is_over),
        TEST(a_year_stays_small_and_old_days_get_coarser),
        TEST(growth_is_of_records_a_day),
        TEST(any_two_answers_differ_by_none_or_the_minimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
