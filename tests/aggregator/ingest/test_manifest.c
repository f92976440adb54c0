// SPDX-License-Identifier: Apache-2.0
// Manifests and shards. Property: however a generation is split into shards, in whatever order and
// fan-in these are merged, and whatever comes twice, the bytes are those of one process; and
// nothing that would count twice, or leave something out, is accepted.
#include "agg_test.h"

#include "batch.h"
#include "bytes.h"
#include "manifest.h"
#include "recipe.h"
#include "sha256.h"
#include "shard_input.h"

#define N_BATCHES 40u
#define RECORDS 3u // of a batch
#define SHARDS_MAX 24u
#define MANIFEST "test_manifest.man"

static agg_recipe recipe;
static uint8_t *records;
static uint8_t ids[N_BATCHES][AGG_CLAIM]; // of the batches

static uint32_t below(uint64_t *state, uint32_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % n);
}

static agg_run run_of(uint32_t batch)
{
    return (agg_run){ids[batch], records + batch * RECORDS * shoal_record_size(recipe.recipe),
                     RECORDS, 2};
}

// A manifest of batches [first, end), after others.
static void make(agg_manifest *manifest, uint32_t first, uint32_t end, const agg_manifest *earlier,
                 size_t n_earlier)
{
    agg_error error = {SHOAL_OK, 0, ""};
    uint8_t own[N_BATCHES][AGG_CLAIM];
    memcpy(own, ids[first], AGG_CLAIM * (size_t)(end - first));
    agg_generation g = {.recipe_hash = recipe.recipe->recipe_hash,
                        .earlier = earlier,
                        .n_earlier = n_earlier,
                        .ids = own,
                        .n_ids = end - first};
    if (agg_manifest_make(manifest, &error, &g) != SHOAL_OK) fail_msg("%s", error.text);
}

static void write_file(const agg_manifest *manifest)
{
    FILE *file = fopen(MANIFEST, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(manifest->file.data, 1, manifest->file.len, file), manifest->file.len);
    fclose(file);
}

// Folds shard `shard` of n, in an order of its own; some batches come twice.
static void fold_shard(agg_accumulator *acc, uint32_t shard, uint32_t n, uint64_t *state)
{
    agg_error error = {SHOAL_OK, 0, ""};
    agg_shard_input in;
    uint32_t first = below(state, N_BATCHES);
    assert_ok(agg_accumulator_init(acc, &error, recipe.recipe));
    assert_ok(agg_shard_input_open(&in, &error, &recipe, MANIFEST, shard, n));
    assert_ok(agg_accumulator_check_shards(acc, &error, &in.claims));
    for (uint32_t i = 0; i < N_BATCHES; i++) {
        uint32_t batch = (i * 7 + first) % N_BATCHES; // 7 and N_BATCHES have no common divisor
        const agg_run run = run_of(batch);
        uint32_t times = agg_shard_of(ids[batch], n) == shard ? 1 + below(state, 2) : 0;
        for (uint32_t j = 0; j < times; j++) {
            bool is_fresh = false;
            assert_ok(agg_shard_input_take(&in, &error, &run, "file", &is_fresh));
            assert_int_equal(is_fresh, j == 0);
            if (is_fresh) assert_ok(agg_accumulator_add(acc, &error, run.records, run.count, 1));
        }
    }
    assert_ok(agg_shard_input_check_all(&in, &error));
    assert_ok(agg_accumulator_claim_shards(acc, &error, &in.claims));
    agg_shard_input_release(&in);
}

// Reads back what is written, as another machine would.
static void send(agg_accumulator *acc)
{
    agg_error error = {SHOAL_OK, 0, ""};
    size_t len = 0;
    char *bytes = acc_bytes(&len, acc);
    assert_int_equal(load32_le((uint8_t *)bytes + 8), 4);
    agg_accumulator_release(acc);
    FILE *stream = fmemopen(bytes, len, "rb");
    assert_non_null(stream);
    if (agg_accumulator_read(acc, &error, "test", stream) != SHOAL_OK) fail_msg("%s", error.text);
    fclose(stream);
    free(bytes);
}

// Merges n accumulators into the first, a few at a time, and tries doubles on the way.
static void merge_all(agg_accumulator *list, uint32_t n, uint64_t *state)
{
    agg_error error = {SHOAL_OK, 0, ""};
    while (n > 1) {
        uint32_t a = below(state, n), b = below(state, n);
        if (a == b) {
            // Its own copy: a twin that ran at the same time.
            assert_err(agg_accumulator_merge(&list[a], &error, &list[b]), SHOAL_ERR_DUPLICATE);
            continue;
        }
        assert_err(agg_accumulator_check_whole(&list[a], &error), AGG_ERR_INCOMPLETE);
        assert_ok(agg_accumulator_merge(&list[a], &error, &list[b]));
        if (below(state, 4) == 0) send(&list[a]);
        // A second time is refused and changes nothing.
        assert_err(agg_accumulator_merge(&list[a], &error, &list[b]), SHOAL_ERR_DUPLICATE);
        agg_accumulator_release(&list[b]);
        list[b] = list[--n];
    }
}

static void every_sharding_gives_the_bytes_of_one_process(void **unused)
{
    uint64_t state = 11;
    agg_manifest manifest;
    agg_accumulator one, list[SHARDS_MAX];
    agg_error error;
    (void)unused;
    make(&manifest, 0, N_BATCHES, NULL, 0);
    write_file(&manifest);
    fold_shard(&one, 1, 1, &state);
    assert_int_equal(one.n, N_BATCHES * RECORDS);
    for (int i = 0; i < 1000; i++) {
        uint32_t n = 1 + below(&state, SHARDS_MAX);
        for (uint32_t shard = 1; shard <= n; shard++)
            fold_shard(&list[shard - 1], shard, n, &state);
        if (n > 1) merge_all(list, n, &state);
        assert_ok(agg_accumulator_check_whole(&list[0], &error));
        assert_same_acc(&list[0], &one);
        agg_accumulator_release(&list[0]);
    }
    agg_accumulator_release(&one);
    agg_manifest_release(&manifest);
}

static void shards_are_ranges_of_ids(void **unused)
{
    uint8_t low[AGG_CLAIM] = {0}, high[AGG_CLAIM];
    agg_manifest manifest;
    (void)unused;
    memset(high, 0xff, sizeof high);
    for (uint32_t n = 1; n <= AGG_SHARDS_MAX; n = 2 * n + (n % 3 == 0)) {
        assert_int_equal(agg_shard_of(low, n), 1);
        assert_int_equal(agg_shard_of(high, n), n);
    }
    // 0x5555555555555555 * 3 is one below 2^64; one more is in the second of three.
    uint8_t third[AGG_CLAIM] = {0};
    memset(third, 0x55, 8);
    assert_int_equal(agg_shard_of(third, 3), 1);
    third[7]++;
    assert_int_equal(agg_shard_of(third, 3), 2);
    make(&manifest, 0, N_BATCHES, NULL, 0);
    for (uint32_t n = 1; n < 60; n++) {
        size_t at = 0;
        for (uint32_t shard = 1; shard <= n; shard++) {
            assert_int_equal(agg_manifest_shard_start(&manifest, shard, n), at);
            while (at < manifest.n_ids && agg_shard_of(manifest.ids[at], n) == shard) at++;
        }
        assert_int_equal(at, N_BATCHES);
        assert_int_equal(agg_manifest_shard_start(&manifest, n + 1, n), N_BATCHES);
    }
    agg_manifest_release(&manifest);
}

static void names_of_shards_are_read(void **unused)
{
    static const char *const bad[] = {"",     "1",    "/",     "1/",   "/4",      "0/4",
                                      "5/4",  "1/0",  "1/4 ",  " 1/4", "1/4/2",   "1/65537",
                                      "-1/4", "+1/4", "1.0/4", "a/4",  "1/99999", "000001/4"};
    uint32_t shard = 0, n = 0;
    agg_error error;
    (void)unused;
    assert_ok(agg_shard_parse(&shard, &n, &error, "3/16"));
    assert_int_equal(shard, 3);
    assert_int_equal(n, 16);
    assert_ok(agg_shard_parse(&shard, &n, &error, "65536/65536"));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (agg_shard_parse(&shard, &n, &error, bad[i]) != AGG_ERR_USAGE)
            fail_msg("%s was read", bad[i]);
}

static void generations_exclude_one_another(void **unused)
{
    agg_manifest list[3];
    agg_error error = {SHOAL_OK, 0, ""};
    uint8_t own[N_BATCHES][AGG_CLAIM];
    const char *const names[] = {"a", "b", "c"};
    (void)unused;
    make(&list[0], 0, 10, NULL, 0);
    make(&list[1], 5, 20, list, 1); // 5 .. 9 are of the first
    assert_int_equal(list[1].n_ids, 10);
    assert_int_equal(list[1].generation, 2);
    make(&list[2], 0, 30, list, 2);
    assert_int_equal(list[2].n_ids, 10);
    assert_int_equal(list[2].generation, 3);
    assert_ok(agg_manifest_check_chain(&error, list, names, 3));
    // One of the earlier ones is missing.
    memcpy(own, ids, sizeof own);
    agg_generation g = {.recipe_hash = recipe.recipe->recipe_hash,
                        .earlier = &list[1],
                        .n_earlier = 1,
                        .ids = own,
                        .n_ids = N_BATCHES};
    agg_manifest made;
    assert_err(agg_manifest_make(&made, &error, &g), SHOAL_ERR_MISSING_FIELD);
    // Nothing is new.
    g = (agg_generation){.recipe_hash = recipe.recipe->recipe_hash,
                         .earlier = list,
                         .n_earlier = 3,
                         .ids = own,
                         .n_ids = 30};
    memcpy(own, ids, sizeof own);
    assert_err(agg_manifest_make(&made, &error, &g), SHOAL_ERR_RANGE);
    assert_int_equal(g.n_known, 30);
    // One that does not know the first overlaps with it.
    agg_manifest_release(&list[1]);
    make(&list[1], 9, 12, NULL, 0);
    assert_err(agg_manifest_check_chain(&error, list, names, 2), SHOAL_ERR_DUPLICATE);
    agg_manifest_release(&list[1]);
    make(&list[1], 10, 12, NULL, 0);
    assert_err(agg_manifest_check_chain(&error, list, names, 2), SHOAL_ERR_MISSING_FIELD);
    for (int i = 0; i < 3; i++) agg_manifest_release(&list[i]);
}

static void claim_manifest(agg_accumulator *acc, const agg_manifest *manifest, uint32_t n_records)
{
    agg_error error = {SHOAL_OK, 0, ""};
    agg_shard_input in;
    write_file(manifest);
    assert_ok(agg_shard_input_open(&in, &error, &recipe, MANIFEST, 1, 1));
    assert_ok(agg_accumulator_init(acc, &error, recipe.recipe));
    assert_ok(agg_accumulator_add(acc, &error, records, n_records, 1));
    assert_ok(agg_accumulator_claim_shards(acc, &error, &in.claims));
    agg_shard_input_release(&in);
}

static void only_a_chain_of_manifests_merges(void **unused)
{
    agg_manifest first, second, apart;
    agg_accumulator a, b, c, d;
    agg_error error = {SHOAL_OK, 0, ""};
    (void)unused;
    make(&first, 0, 10, NULL, 0);
    make(&second, 0, 20, &first, 1);
    make(&apart, 20, 30, NULL, 0);
    claim_manifest(&a, &first, 10);
    claim_manifest(&b, &second, 10);
    claim_manifest(&c, &apart, 10);
    read_acc(&d, &recipe, records, 5, 1);
    assert_err(agg_accumulator_merge(&a, &error, &c), SHOAL_ERR_DUPLICATE);
    assert_err(agg_accumulator_merge(&a, &error, &d), SHOAL_ERR_DUPLICATE);
    assert_err(agg_accumulator_merge(&d, &error, &a), SHOAL_ERR_DUPLICATE);
    assert_int_equal(a.n, 10);
    assert_int_equal(d.n, 5);
    assert_ok(agg_accumulator_merge(&a, &error, &b));
    assert_int_equal(a.shards.n, 2);
    assert_err(agg_accumulator_merge(&b, &error, &a), SHOAL_ERR_DUPLICATE);
    send(&a);
    assert_int_equal(a.shards.n, 2);
    agg_accumulator_release(&a);
    agg_accumulator_release(&b);
    agg_accumulator_release(&c);
    agg_accumulator_release(&d);
    agg_manifest_release(&first);
    agg_manifest_release(&second);
    agg_manifest_release(&apart);
}

static void what_a_shard_does_not_list_is_refused(void **unused)
{
    agg_manifest manifest;
    agg_shard_input in;
    agg_error error = {SHOAL_OK, 0, ""};
    char text[AGG_CLAIM_TEXT];
    bool is_fresh = false;
    (void)unused;
    make(&manifest, 0, 20, NULL, 0);
    write_file(&manifest);
    assert_ok(agg_shard_input_open(&in, &error, &recipe, MANIFEST, 1, 2));
    agg_run run = run_of(30);
    assert_err(agg_shard_input_take(&in, &error, &run, "f", &is_fresh), SHOAL_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, agg_claim_print(text, ids[30])));
    for (uint32_t i = 0; i < 20; i++) {
        bool is_own = agg_shard_of(ids[i], 2) == 1;
        run = run_of(i);
        assert_err(agg_shard_input_take(&in, &error, &run, "f", &is_fresh),
                   is_own ? SHOAL_OK : SHOAL_ERR_ARGUMENT);
        if (!is_own) assert_non_null(strstr(error.text, "is of shard 2/2, not of 1/2"));
    }
    run.version = 1;
    for (uint32_t i = 0; i < 20; i++) {
        run.batch_id = ids[i];
        if (agg_shard_of(ids[i], 2) == 1)
            assert_err(agg_shard_input_take(&in, &error, &run, "f", &is_fresh), SHOAL_ERR_VERSION);
    }
    run = (agg_run){NULL, records, 1, 0};
    assert_err(agg_shard_input_take(&in, &error, &run, "f", &is_fresh), SHOAL_ERR_TYPE);
    assert_ok(agg_shard_input_check_all(&in, &error));
    agg_shard_input_release(&in);
    assert_ok(agg_shard_input_open(&in, &error, &recipe, MANIFEST, 2, 2));
    assert_err(agg_shard_input_check_all(&in, &error), SHOAL_ERR_MISSING_FIELD);
    agg_shard_input_release(&in);
    agg_manifest_release(&manifest);
}

// In version 1 an id proves nothing, so the records are compared.
static void version_1_is_compared_by_its_records(void **unused)
{
    agg_manifest manifest;
    agg_shard_input in;
    agg_error error = {SHOAL_OK, 0, ""};
    bool is_fresh = false;
    uint8_t own[N_BATCHES][AGG_CLAIM];
    (void)unused;
    memcpy(own, ids, sizeof own);
    agg_generation g = {
        .recipe_hash = recipe.recipe->recipe_hash, .has_version_1 = true, .ids = own, .n_ids = 5};
    assert_ok(agg_manifest_make(&manifest, &error, &g));
    write_file(&manifest);
    assert_ok(agg_shard_input_open(&in, &error, &recipe, MANIFEST, 1, 1));
    agg_run run = run_of(0);
    run.version = 1;
    assert_ok(agg_shard_input_take(&in, &error, &run, "f", &is_fresh));
    assert_true(is_fresh);
    assert_ok(agg_shard_input_take(&in, &error, &run, "f", &is_fresh));
    assert_false(is_fresh);
    run.records = run_of(1).records;
    assert_err(agg_shard_input_take(&in, &error, &run, "f", &is_fresh), SHOAL_ERR_BATCH_ID);
    agg_shard_input_release(&in);
    agg_manifest_release(&manifest);
}

static agg_err read_copy(const uint8_t *bytes, size_t len)
{
    agg_error error;
    agg_manifest manifest;
    agg_bytes copy = {malloc(len + 1), len};
    assert_non_null(copy.data);
    memcpy(copy.data, bytes, len);
    agg_err err = agg_manifest_read(&manifest, &error, "test", &copy);
    free(copy.data);
    if (err == SHOAL_OK) agg_manifest_release(&manifest);
    return err;
}

static void put_name(uint8_t *bytes, size_t len)
{
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, bytes, len - 32);
    shoal_sha256_final(bytes + len - 32, &sha);
}

static void damage_is_refused(void **unused)
{
    agg_manifest first, second;
    (void)unused;
    make(&first, 0, 4, NULL, 0);
    make(&second, 0, 9, &first, 1);
    size_t len = second.file.len;
    uint8_t *bytes = malloc(len + 1);
    assert_non_null(bytes);
    memcpy(bytes, second.file.data, len);
    bytes[len] = 0;
    assert_ok(read_copy(bytes, len));
    assert_err(read_copy(bytes, len + 1), SHOAL_ERR_EXTRA);
    for (size_t n = 0; n < len; n++) assert_true(read_copy(bytes, n) != SHOAL_OK);
    for (size_t i = 0; i < len; i++) {
        bytes[i] ^= 4;
        assert_true(read_copy(bytes, len) != SHOAL_OK);
        bytes[i] ^= 4;
    }
    // With a name that fits, the numbers and the order are still checked.
    for (size_t at = 8; at < 28; at += 4) {
        memcpy(bytes, second.file.data, len);
        bytes[at + 3] = 0x7f;
        put_name(bytes, len);
        assert_true(read_copy(bytes, len) != SHOAL_OK);
    }
    memcpy(bytes, second.file.data, len);
    memcpy(bytes + 60 + 32, bytes + 60 + 32 + AGG_CLAIM, AGG_CLAIM);
    put_name(bytes, len);
    assert_err(read_copy(bytes, len), SHOAL_ERR_RANGE);
    free(bytes);
    agg_manifest_release(&first);
    agg_manifest_release(&second);
}

static int make_all(void **state)
{
    (void)state;
    sketch_recipe(&recipe, "cms", 2, 3, 9);
    records = make_records(&recipe, N_BATCHES * RECORDS, 0);
    for (uint32_t i = 0; i < N_BATCHES; i++) {
        uint8_t digest[32], number[4];
        shoal_sha256 sha;
        store32_le(number, i);
        shoal_sha256_init(&sha);
        shoal_sha256_update(&sha, number, 4);
        shoal_sha256_final(digest, &sha);
        memcpy(ids[i], digest, AGG_CLAIM);
    }
    return 0;
}

static int remove_all(void **state)
{
    (void)state;
    remove(MANIFEST);
    free(records);
    agg_recipe_release(&recipe);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sharding_gives_the_bytes_of_one_process),
        cmocka_unit_test(shards_are_ranges_of_ids),
        cmocka_unit_test(names_of_shards_are_read),
        cmocka_unit_test(generations_exclude_one_another),
        cmocka_unit_test(only_a_chain_of_manifests_merges),
        cmocka_unit_test(what_a_shard_does_not_list_is_refused),
        cmocka_unit_test(version_1_is_compared_by_its_records),
        cmocka_unit_test(damage_is_refused)};
    return cmocka_run_group_tests(tests, make_all, remove_all);
}
