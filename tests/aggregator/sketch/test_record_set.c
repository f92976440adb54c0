// SPDX-License-Identifier: Apache-2.0
// Sets of distinct records against a plain count of them, in any order of adding and merging;
// accumulators that keep them, and the damage that their files can have.
#include "agg_test.h"

#include "bytes.h"
#include "checksum.h"
#include "permanent.h"
#include "record_set.h"

#define SIZE 9u
#define KINDS 300u

// Record number i of KINDS: the first eight bytes are alike for ten of them, so that the last byte
// decides.
static void make_record(uint8_t record[SIZE], uint32_t i)
{
    memset(record, 0, SIZE);
    record[3] = (uint8_t)(i / 10 * 37);
    record[SIZE - 1] = (uint8_t)(i % 10 * 91);
}

static void assert_same_set(const agg_record_set *a, const agg_record_set *b)
{
    assert_int_equal(a->n_distinct, b->n_distinct);
    assert_memory_equal(a->records, b->records, a->n_distinct * SIZE);
    assert_memory_equal(a->counts, b->counts, a->n_distinct * sizeof *a->counts);
}

static void sets_count_what_came(void **state)
{
    enum { COUNT = 2000 };
    static uint8_t records[COUNT][SIZE];
    static const uint8_t seed[32] = {9};
    uint32_t expected[KINDS] = {0};
    agg_record_set all, parts, other;
    agg_error error;
    shoal_rng rng;
    (void)state;
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t kind = (uint32_t)shoal_rng_below(&rng, KINDS);
        if (kind % 7 == 0) kind = 21; // one that comes often
        make_record(records[i], kind);
        expected[kind]++;
    }
    agg_record_set_init(&all, SIZE);
    assert_ok(agg_record_set_add(&all, &error, records[0], COUNT));
    uint64_t seen = 0;
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        uint8_t record[SIZE];
        uint64_t at = 0;
        make_record(record, kind);
        while (at < all.n_distinct && memcmp(agg_record_set_at(&all, at), record, SIZE) != 0) at++;
        if (expected[kind] == 0) assert_int_equal(at, all.n_distinct);
        if (expected[kind] == 0) continue;
        assert_int_equal(all.counts[at], expected[kind]);
        seen++;
    }
    assert_int_equal(seen, all.n_distinct);
    for (uint64_t i = 1; i < all.n_distinct; i++)
        assert_true(memcmp(agg_record_set_at(&all, i - 1), agg_record_set_at(&all, i), SIZE) < 0);
    for (uint32_t step = 1; step < COUNT;
         step = step * 5 + 1) { // in pieces, backwards, half of them by merging
        agg_record_set_init(&parts, SIZE);
        for (uint32_t last = COUNT; last > 0;) {
            uint32_t first = last > step ? last - step : 0;
            if (last % 2 == 0) {
                assert_ok(agg_record_set_add(&parts, &error, records[first], last - first));
            } else {
                agg_record_set_init(&other, SIZE);
                assert_ok(agg_record_set_add(&other, &error, records[first], last - first));
                assert_ok(agg_record_set_merge(&parts, &error, &other));
                agg_record_set_release(&other);
            }
            last = first;
        }
        assert_same_set(&parts, &all);
        agg_record_set_release(&parts);
    }
    agg_record_set_release(&all);
}

static void too_many_are_refused(void **state)
{
    agg_record_set set;
    agg_error error;
    (void)state;
    agg_record_set_init(&set, SIZE);
    assert_err(agg_record_set_reserve(&set, &error, AGG_RECORD_SET_BYTES / (SIZE + 4) + 1),
               SHOAL_ERR_OVERFLOW);
    assert_non_null(strstr(error.text, "at most"));
    assert_true(AGG_RECORD_SET_BYTES / 104 >= 10000000);
    agg_record_set_release(&set);
}

#define TEXT                                                                                       \
    "{\"recipe\":\"words\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"word\",\"mechanism\":"  \
    "\"rappor-ngram\","                                                                            \
    "\"parameters\":{\"bits\":16,\"hashes\":2,\"cohorts\":2,\"p\":0.25,\"q\":0.75,\"f\":0,"        \
    "\"length\":4,\"n\":2,"                                                                        \
    "\"alphabet\":\"abc\"},\"hash\":\"poly1\",\"seed\":\"" AGG_TEST_SEED                           \
    "\",\"limit\":{\"per_day\":1},"                                                                \
    "\"expires\":\"2030-01-01\"}"

// Records of words, each many times over.
static uint8_t *word_records(const agg_recipe *recipe, uint32_t count)
{
    static const uint8_t seed[32] = {4};
    static const shoal_permanent permanent = {{3}};
    size_t size = shoal_record_size(recipe->recipe);
    uint8_t *records = malloc(count * size);
    shoal_rng rng;
    assert_non_null(records);
    for (uint32_t i = 0; i < count; i++) {
        shoal_rng_init_stream(&rng, seed, i % 150); // some twice, some three times
        assert_ok(shoal_record_randomize_string(records + i * size, recipe->recipe,
                                                (const uint8_t *)"abca", 1 + i % 3, &permanent,
                                                &rng));
    }
    return records;
}

static agg_err load_bytes(agg_accumulator *acc, agg_error *error, const char *bytes, size_t len)
{
    FILE *stream = fmemopen((void *)(uintptr_t)bytes, len, "rb");
    assert_non_null(stream);
    agg_err err = agg_accumulator_read(acc, error, "test", stream);
    fclose(stream);
    return err;
}

// A file, damaged at a place, with its checksum put right: what else is wrong must be seen.
static agg_err load_damaged(const char *bytes, size_t len, size_t at, int flip)
{
    agg_accumulator acc;
    agg_error error;
    char *copy = malloc(len);
    assert_non_null(copy);
    memcpy(copy, bytes, len);
    copy[at] = (char)(copy[at] ^ flip);
    uint64_t sum = shoal_checksum_of((const uint8_t *)copy, len - 8);
    store64_le((uint8_t *)copy + len - 8, sum);
    agg_err err = load_bytes(&acc, &error, copy, len);
    if (err == SHOAL_OK) agg_accumulator_release(&acc);
    free(copy);
    return err;
}

static void accumulators_keep_records_and_sums(void **state)
{
    enum { COUNT = 400 };
    agg_recipe recipe;
    agg_accumulator whole, left, right, loaded;
    agg_error error;
    size_t len = 0;
    (void)state;
    read_recipe(&recipe, TEXT);
    uint32_t size = shoal_record_size(recipe.recipe);
    uint8_t *records = word_records(&recipe, COUNT);
    read_acc(&whole, &recipe, records, COUNT, 1);
    uint64_t most = 0;
    assert_true(agg_accumulator_keeps_records(&whole));
    assert_ok(agg_accumulator_size_of(&most, &error, recipe.recipe));
    assert_int_equal(most, AGG_RECORD_SET_BYTES); // no sum that could be written with every batch
    assert_in_range(whole.set.n_distinct, 150, COUNT - 1);
    static const uint32_t cuts[] = {0, 1, 150, 399, 400};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        read_acc(&left, &recipe, records + cuts[i] * size, COUNT - cuts[i], 2);
        read_acc(&right, &recipe, records, cuts[i], 3);
        assert_ok(agg_accumulator_merge(&left, &error, &right));
        assert_same_acc(&left, &whole);
        for (uint32_t p = 0; p < whole.n_parts; p++)
            assert_memory_equal(left.parts[p].cells.ones, whole.parts[p].cells.ones,
                                4 * whole.parts[p].n_cells);
        agg_accumulator_release(&left);
        agg_accumulator_release(&right);
    }
    char *bytes = acc_bytes(&len, &whole);
    assert_int_equal(load32_le((const uint8_t *)bytes + 8), 2);
    assert_ok(load_bytes(&loaded, &error, bytes, len));
    assert_same_acc(&loaded, &whole);
    for (uint32_t p = 0; p < whole.n_parts;
         p++) { // made again of the records, each as often as it came
        assert_memory_equal(loaded.parts[p].cells.ones, whole.parts[p].cells.ones,
                            4 * whole.parts[p].n_cells);
        assert_memory_equal(loaded.parts[p].rows, whole.parts[p].rows, 4 * whole.parts[p].n_rows);
    }
    agg_accumulator_release(&loaded);
    for (size_t cut = 0; cut < len; cut += 1 + cut % 5) {
        if (cut == 0) continue; // no stream of no bytes
        assert_err(load_bytes(&loaded, &error, bytes, cut), SHOAL_ERR_TRUNCATED);
    }
    size_t first = 124 + 12 * whole.n_parts + 8, step = size + 4;
    assert_err(load_damaged(bytes, len, 116, 1), SHOAL_ERR_RANGE); // n is not the counts' sum
    assert_err(load_damaged(bytes, len, first + size, 1), SHOAL_ERR_RANGE);  // nor are the counts
    assert_err(load_damaged(bytes, len, first + 3, 0x80), SHOAL_ERR_RECORD); // no such cohort
    assert_err(load_damaged(bytes, len, first + step, 0xff), SHOAL_ERR_RECORD); // nor of the second
    assert_int_not_equal((int)load_damaged(bytes, len, first - 8, 1), (int)SHOAL_OK);
    assert_int_not_equal((int)load_damaged(bytes, len, first - 1, 1),
                         (int)SHOAL_OK);                                      // 2^56 records
    assert_int_not_equal((int)load_damaged(bytes, len, 8, 3), (int)SHOAL_OK); // version 1
    memcpy(bytes + first + step, bytes + first, step);                        // twice the same
    assert_err(load_damaged(bytes, len, len - 1, 0), SHOAL_ERR_RANGE);
    free(bytes);
    agg_accumulator_release(&whole);
    agg_recipe_release(&recipe);
    free(records);
}

// What forgot its records has the sums of all of them, in whichever order it was added to and
// merged, and so does whatever it is merged with.
static void forgotten_records_leave_sums(void **state)
{
    enum { COUNT = 300 };
    agg_recipe recipe;
    agg_accumulator whole, left, right, loaded;
    agg_error error;
    size_t len = 0;
    (void)state;
    read_recipe(&recipe, TEXT);
    uint32_t size = shoal_record_size(recipe.recipe);
    uint8_t *records = word_records(&recipe, COUNT);
    read_acc(&whole, &recipe, records, COUNT, 1);
    for (int forgets_left = 0; forgets_left < 2; forgets_left++) {
        read_acc(&left, &recipe, records, 100, 1);
        read_acc(&right, &recipe, records + 100 * size, 100, 1);
        agg_accumulator_forget(forgets_left ? &left : &right);
        assert_ok(agg_accumulator_merge(&left, &error, &right));
        assert_ok(agg_accumulator_add(&left, &error, records + 200 * size, 100, 1));
        assert_false(agg_accumulator_keeps_records(&left));
        assert_int_equal(left.n, COUNT);
        for (uint32_t p = 0; p < whole.n_parts; p++)
            assert_memory_equal(left.parts[p].cells.ones, whole.parts[p].cells.ones,
                                4 * whole.parts[p].n_cells);
        char *bytes = acc_bytes(&len, &left);
        assert_int_equal(len, agg_accumulator_size(&left));
        assert_int_equal(load32_le((const uint8_t *)bytes + 8), 1);
        assert_ok(load_bytes(&loaded, &error, bytes, len));
        assert_same_acc(&loaded, &left);
        free(bytes);
        agg_accumulator_release(&loaded);
        agg_accumulator_release(&left);
        agg_accumulator_release(&right);
    }
    agg_accumulator_release(&whole);
    agg_recipe_release(&recipe);
    free(records);
}

// Claims lie before the records, and stay when the records are forgotten.
static void claims_and_records_go_together(void **state)
{
    enum { COUNT = 60 };
    static const uint8_t ids[2][AGG_CLAIM] = {{7}, {3, 1}};
    agg_recipe recipe;
    agg_accumulator acc, loaded;
    agg_error error;
    size_t len = 0;
    (void)state;
    read_recipe(&recipe, TEXT);
    uint8_t *records = word_records(&recipe, COUNT);
    read_acc(&acc, &recipe, records, COUNT, 1);
    assert_ok(agg_accumulator_claim_all(&acc, &error, ids, 2));
    for (uint32_t is_forgotten = 0; is_forgotten < 2; is_forgotten++) {
        if (is_forgotten) agg_accumulator_forget(&acc);
        char *bytes = acc_bytes(&len, &acc);
        size_t flags = 124 + 12 * (size_t)acc.n_parts;
        assert_int_equal(load32_le((const uint8_t *)bytes + 8), 3);
        assert_int_equal(load32_le((const uint8_t *)bytes + flags), is_forgotten ? 0 : 1);
        assert_ok(load_bytes(&loaded, &error, bytes, len));
        assert_same_acc(&loaded, &acc);
        assert_int_equal(agg_accumulator_keeps_records(&loaded), !is_forgotten);
        assert_int_equal(loaded.claims.n, 2);
        assert_int_equal(loaded.claims.ids[0][0], 3);
        agg_accumulator_release(&loaded);
        assert_int_not_equal((int)load_damaged(bytes, len, flags, 1), (int)SHOAL_OK);
        free(bytes);
    }
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
    free(records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sets_count_what_came),
                                       cmocka_unit_test(too_many_are_refused),
                                       cmocka_unit_test(accumulators_keep_records_and_sums),
                                       cmocka_unit_test(forgotten_records_leave_sums),
                                       cmocka_unit_test(claims_and_records_go_together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
