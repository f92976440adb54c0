// SPDX-License-Identifier: Apache-2.0
// Claims: the sorted list, its place in an accumulator's file, its damage, and merging.
#include "agg_test.h"

#include "bytes.h"
#include "checksum.h"
#include "recipe.h"

#define SHAPES_END (124 + 12) // of a file of one part
#define IDS (SHAPES_END + 8)  // offset of the first id

static agg_recipe recipe;
static uint8_t *records;

static void id_of(uint8_t id[AGG_CLAIM], uint32_t number)
{
    memset(id, 0, AGG_CLAIM);
    store32_be(id, number * 2654435761u);
    store32_be(id + 4, number);
}

static void claim(agg_accumulator *acc, uint32_t first, uint32_t n)
{
    agg_error error;
    uint8_t ids[32][AGG_CLAIM];
    assert_true(n <= 32);
    for (uint32_t i = 0; i < n; i++) id_of(ids[i], first + i);
    assert_ok(agg_accumulator_claim(acc, &error, (const uint8_t(*)[AGG_CLAIM])ids, n));
}

// n records that n ids from `first` on claim.
static void make_claimed(agg_accumulator *acc, uint32_t first, uint32_t n)
{
    agg_error error;
    assert_ok(agg_accumulator_init(acc, &error, recipe.recipe));
    agg_accumulator_begin_claims(acc);
    assert_ok(agg_accumulator_add(acc, &error, records + first * recipe.recipe->record_size, n, 1));
    claim(acc, first, n);
}

static agg_err read_bytes(agg_accumulator *acc, agg_error *error, const char *bytes, size_t len)
{
    FILE *stream = fmemopen((void *)(uintptr_t)bytes, len, "rb");
    assert_non_null(stream);
    agg_err err = agg_accumulator_read(acc, error, "test", stream);
    fclose(stream);
    return err;
}

static void put_checksum(char *bytes, size_t len)
{
    store64_le((uint8_t *)bytes + len - 8, shoal_checksum_of((const uint8_t *)bytes, len - 8));
}

static void lists_are_sorted_and_exact(void **state)
{
    agg_claims list = {0}, other = {0};
    agg_error error;
    uint8_t ids[100][AGG_CLAIM];
    (void)state;
    for (uint32_t i = 0; i < 100; i++) id_of(ids[i], i);
    for (uint32_t i = 0; i < 100; i += 10)
        assert_ok(agg_claims_add(&list, &error, (const uint8_t(*)[AGG_CLAIM])(ids + i), 10));
    assert_int_equal(list.n, 100);
    for (size_t i = 1; i < list.n; i++)
        assert_true(memcmp(list.ids[i - 1], list.ids[i], AGG_CLAIM) < 0);
    for (uint32_t i = 0; i < 200; i++) {
        uint8_t id[AGG_CLAIM];
        id_of(id, i);
        assert_int_equal(agg_claims_have(&list, id), i < 100);
    }
    assert_null(agg_claims_shared(&list, &other));
    id_of(ids[0], 200);
    assert_ok(agg_claims_add(&other, &error, (const uint8_t(*)[AGG_CLAIM])ids, 1));
    assert_null(agg_claims_shared(&list, &other));
    assert_ok(agg_claims_add(&other, &error, (const uint8_t(*)[AGG_CLAIM])(ids + 50), 1));
    assert_memory_equal(agg_claims_shared(&list, &other), ids[50], AGG_CLAIM);
    // An overlap adds nothing, nor does an id that comes twice.
    assert_err(agg_claims_unite(&list, &error, &other), SHOAL_ERR_DUPLICATE);
    assert_non_null(strstr(error.text, "both count the batch or file of reports"));
    memcpy(ids[1], ids[0], AGG_CLAIM);
    assert_err(agg_claims_add(&list, &error, (const uint8_t(*)[AGG_CLAIM])ids, 2),
               SHOAL_ERR_DUPLICATE);
    assert_int_equal(list.n, 100);
    agg_claims_release(&list);
    agg_claims_release(&other);
}

static void a_full_list_is_refused(void **state)
{
    agg_claims list = {0}, one = {0};
    agg_error error;
    uint8_t(*ids)[AGG_CLAIM] = calloc(AGG_CLAIMS_MAX + 1, AGG_CLAIM);
    (void)state;
    assert_non_null(ids);
    for (uint32_t i = 0; i <= AGG_CLAIMS_MAX; i++) store32_be(ids[i], i);
    const uint8_t(*given)[AGG_CLAIM] = (const uint8_t(*)[AGG_CLAIM])ids;
    assert_err(agg_claims_add(&list, &error, given, AGG_CLAIMS_MAX + 1), SHOAL_ERR_OVERFLOW);
    assert_int_equal(list.n, 0);
    assert_ok(agg_claims_add(&list, &error, given, AGG_CLAIMS_MAX));
    assert_ok(agg_claims_add(&one, &error, given + AGG_CLAIMS_MAX, 1));
    assert_err(agg_claims_unite(&list, &error, &one), SHOAL_ERR_OVERFLOW);
    assert_non_null(strstr(error.text, "at most 1048576"));
    assert_int_equal(list.n, AGG_CLAIMS_MAX);
    assert_int_equal(one.n, 1);
    agg_claims_release(&list);
    agg_claims_release(&one);
    free(ids);
}

static void files_hold_their_claims(void **state)
{
    agg_accumulator acc, loaded;
    agg_error error = {SHOAL_OK, 0, ""};
    size_t len = 0;
    (void)state;
    for (uint32_t n = 0; n < 20; n += 19) {
        make_claimed(&acc, 0, n);
        char *bytes = acc_bytes(&len, &acc);
        assert_int_equal(load32_le((uint8_t *)bytes + 8), 3);
        assert_int_equal(load32_le((uint8_t *)bytes + SHAPES_END), 0);
        assert_int_equal(load32_le((uint8_t *)bytes + SHAPES_END + 4), n);
        assert_ok(read_bytes(&loaded, &error, bytes, len));
        assert_int_equal(loaded.claims.n, n);
        assert_true(loaded.claims.is_complete);
        assert_same_acc(&loaded, &acc);
        agg_accumulator_release(&loaded);
        agg_accumulator_release(&acc);
        free(bytes);
    }
}

static void damage_is_refused(void **state)
{
    agg_accumulator acc, loaded;
    agg_error error;
    size_t len = 0;
    (void)state;
    make_claimed(&acc, 0, 5);
    char *bytes = acc_bytes(&len, &acc);
    for (size_t cut = 0; cut < len; cut++) {
        agg_err err = cut == 0 ? SHOAL_ERR_TRUNCATED : read_bytes(&loaded, &error, bytes, cut);
        assert_err(err, SHOAL_ERR_TRUNCATED);
    }
    for (size_t bit = 0; bit < 8 * len; bit++) {
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
        assert_int_not_equal((int)read_bytes(&loaded, &error, bytes, len), (int)SHOAL_OK);
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
    }
    free(bytes);
    agg_accumulator_release(&acc);
}

// What a checksum cannot tell: it is put right each time.
static void impossible_claims_are_refused(void **state)
{
    typedef struct lie {
        uint32_t flags, n, n_records;
        agg_err err;
    } lie;
    static const lie lies[] = {
        {0, 5, 5, SHOAL_OK},
        {2, 5, 6, SHOAL_OK},
        {4, 5, 5, SHOAL_ERR_RANGE}, // a flag that nobody knows
        {2, 5, 5, SHOAL_ERR_RANGE}, // incomplete, but no record is left to claim
        {0, 0, 5, SHOAL_ERR_RANGE}, // complete, but nothing claims the records
        {2, 0, 5, SHOAL_ERR_RANGE}, // what version 1 says shorter
        {0, 5, 4, SHOAL_ERR_RANGE}, // more ids than records
        {0, 6, 6, SHOAL_ERR_RANGE}, // the sixth would be a sum, which is not above the fifth
        {0, 999, 999, SHOAL_ERR_TRUNCATED}, // the list would reach beyond the file
        {0, (1u << 20) + 1, 1u << 31, SHOAL_ERR_RANGE},
        {0, UINT32_MAX, UINT32_MAX, SHOAL_ERR_RANGE},
    };
    agg_accumulator acc, loaded;
    agg_error error;
    size_t len = 0;
    (void)state;
    make_claimed(&acc, 0, 5);
    char *bytes = acc_bytes(&len, &acc);
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        store32_le((uint8_t *)bytes + SHAPES_END, lies[i].flags);
        store32_le((uint8_t *)bytes + SHAPES_END + 4, lies[i].n);
        store64_le((uint8_t *)bytes + 116, lies[i].n_records);
        put_checksum(bytes, len);
        agg_err err = read_bytes(&loaded, &error, bytes, len);
        if (err != lies[i].err) fail_msg("case %zu: %d, %s", i, (int)err, error.text);
        if (err == SHOAL_OK) agg_accumulator_release(&loaded);
    }
    free(bytes);
    bytes = acc_bytes(&len, &acc);
    uint8_t *ids = (uint8_t *)bytes + IDS, spare[AGG_CLAIM];
    memcpy(spare, ids, AGG_CLAIM);
    memcpy(ids, ids + AGG_CLAIM, AGG_CLAIM); // the same twice
    put_checksum(bytes, len);
    assert_err(read_bytes(&loaded, &error, bytes, len), SHOAL_ERR_RANGE);
    memcpy(ids + AGG_CLAIM, spare, AGG_CLAIM); // descending
    put_checksum(bytes, len);
    assert_err(read_bytes(&loaded, &error, bytes, len), SHOAL_ERR_RANGE);
    free(bytes);
    agg_accumulator_release(&acc);
}

// A program that forgot to claim what it added writes nothing.
static void records_without_claims_are_not_written(void **state)
{
    agg_accumulator acc;
    agg_error error = {SHOAL_OK, 0, ""};
    (void)state;
    FILE *stream = tmpfile();
    assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
    agg_accumulator_begin_claims(&acc);
    assert_ok(agg_accumulator_add(&acc, &error, records, 3, 1));
    assert_err(agg_accumulator_write(stream, &error, &acc), SHOAL_ERR_ARGUMENT);
    assert_int_equal(ftell(stream), 0);
    claim(&acc, 0, 4);
    assert_err(agg_accumulator_write(stream, &error, &acc), SHOAL_ERR_ARGUMENT);
    uint8_t ids[3][AGG_CLAIM];
    for (uint32_t i = 0; i < 3; i++) id_of(ids[i], i);
    assert_err(agg_accumulator_claim_all(&acc, &error, (const uint8_t(*)[AGG_CLAIM])ids, 0),
               SHOAL_ERR_ARGUMENT);
    assert_ok(agg_accumulator_claim_all(&acc, &error, (const uint8_t(*)[AGG_CLAIM])ids, 3));
    assert_ok(agg_accumulator_write(stream, &error, &acc));
    fclose(stream);
    agg_accumulator_release(&acc);
}

static void an_overlap_is_refused_and_changes_nothing(void **state)
{
    agg_accumulator a, b, before;
    agg_error error = {SHOAL_OK, 0, ""};
    (void)state;
    make_claimed(&a, 0, 10);
    make_claimed(&before, 0, 10);
    make_claimed(&b, 9, 5);
    assert_err(agg_accumulator_merge(&a, &error, &b), SHOAL_ERR_DUPLICATE);
    assert_same_acc(&a, &before);
    assert_err(agg_accumulator_merge(&a, &error, &before), SHOAL_ERR_DUPLICATE);
    assert_same_acc(&a, &before);
    agg_accumulator_release(&b);
    make_claimed(&b, 10, 5);
    assert_ok(agg_accumulator_merge(&a, &error, &b));
    assert_int_equal(a.claims.n, 15);
    assert_int_equal(a.n, 15);
    agg_accumulator_release(&before);
    make_claimed(&before, 0, 15);
    assert_same_acc(&a, &before);
    agg_accumulator_release(&a);
    agg_accumulator_release(&b);
    agg_accumulator_release(&before);
}

// Complete or not, with records or without: the order of merging decides nothing, and what has
// neither claims nor records changes nothing.
static void incomplete_lists_merge_in_any_order(void **state)
{
    enum { KINDS = 5 }; // empty and old; old; claimed; empty and claimed; partly claimed
    agg_error error;
    (void)state;
    for (unsigned order = 0; order < KINDS * KINDS * KINDS; order++) {
        agg_accumulator sums[2], parts[3];
        const unsigned kinds[3] = {order % KINDS, order / KINDS % KINDS, order / KINDS / KINDS};
        for (unsigned way = 0; way < 2; way++) {
            for (unsigned i = 0; i < 3; i++) {
                agg_accumulator *acc = &parts[i];
                if (kinds[i] == 2 || kinds[i] == 3) {
                    make_claimed(acc, 10 * i, kinds[i] == 2 ? 4 : 0);
                    continue;
                }
                read_acc(acc, &recipe, records, kinds[i] > 0 ? 3 : 0, 1);
                if (kinds[i] == 4) {
                    agg_accumulator_begin_claims(acc); // too late for three records
                    assert_ok(agg_accumulator_add(acc, &error, records, 2, 1));
                    claim(acc, 10 * i, 2);
                }
            }
            unsigned first = way == 0 ? 0 : 2, last = 2 - first;
            assert_ok(agg_accumulator_merge(&parts[1], &error, &parts[last]));
            assert_ok(agg_accumulator_merge(&parts[first], &error, &parts[1]));
            sums[way] = parts[first];
            agg_accumulator_release(&parts[1]);
            agg_accumulator_release(&parts[last]);
        }
        assert_same_acc(&sums[0], &sums[1]);
        bool has_unclaimed = false, has_claims = false;
        for (unsigned i = 0; i < 3; i++) {
            has_unclaimed |= kinds[i] == 1 || kinds[i] == 4;
            has_claims |= kinds[i] == 2 || kinds[i] == 3;
        }
        assert_int_equal(sums[0].claims.is_complete, has_claims && !has_unclaimed);
        assert_int_equal(agg_accumulator_is_claimed(&sums[0]), !has_unclaimed);
        agg_accumulator_release(&sums[0]);
        agg_accumulator_release(&sums[1]);
    }
}

static void heads_are_read_alone(void **state)
{
    static const char path[] = "/tmp/shoal-test-claims.acc";
    agg_accumulator acc;
    agg_claims claims;
    agg_shard_claims shards;
    agg_claims_about about = {.n = 0};
    agg_error error = {SHOAL_OK, 0, ""};
    bool keeps_records = true;
    (void)state;
    make_claimed(&acc, 3, 7);
    assert_ok(agg_accumulator_save(&acc, &error, path));
    assert_ok(agg_accumulator_peek(&keeps_records, &error, path));
    assert_false(keeps_records);
    assert_ok(agg_accumulator_peek_claims(&about, &error, path));
    assert_int_equal(about.n, 7);
    assert_true(about.is_complete);
    assert_ok(agg_accumulator_load_claims(&claims, &shards, &error, path));
    assert_int_equal(claims.n, 7);
    assert_memory_equal(claims.ids, acc.claims.ids, 7 * AGG_CLAIM);
    agg_claims_release(&claims);
    agg_accumulator_release(&acc);
    read_acc(&acc, &recipe, records, 4, 1);
    assert_ok(agg_accumulator_save(&acc, &error, path));
    assert_ok(agg_accumulator_peek_claims(&about, &error, path));
    assert_int_equal(about.n, 0);
    assert_false(about.is_complete);
    agg_accumulator_release(&acc);
    remove(path);
}

static int make_all(void **state)
{
    (void)state;
    sketch_recipe(&recipe, "cms", 2, 2, 9);
    records = make_records(&recipe, 64, 0);
    return 0;
}

static int remove_all(void **state)
{
    (void)state;
    free(records);
    agg_recipe_release(&recipe);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_are_sorted_and_exact),
                                       cmocka_unit_test(a_full_list_is_refused),
                                       cmocka_unit_test(files_hold_their_claims),
                                       cmocka_unit_test(damage_is_refused),
                                       cmocka_unit_test(impossible_claims_are_refused),
                                       cmocka_unit_test(records_without_claims_are_not_written),
                                       cmocka_unit_test(an_overlap_is_refused_and_changes_nothing),
                                       cmocka_unit_test(incomplete_lists_merge_in_any_order),
                                       cmocka_unit_test(heads_are_read_alone)};
    return cmocka_run_group_tests(tests, make_all, remove_all);
}
