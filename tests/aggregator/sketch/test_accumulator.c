// SPDX-License-Identifier: Apache-2.0
// Accumulators: sums against their definition, merging, the file and its damage.
#include "agg_test.h"
#include "recipe.h"

#include "agg_file.h"

#include "bytes.h"
#include "folder.h"
#include "reader.h"
#include "reader_bytes.h"

typedef struct kind_of_recipe {
    const char *mechanism;
    unsigned k, m;
} kind_of_recipe;

static const kind_of_recipe kinds[] = {
    {"cms", 8, 50}, {"hcms", 8, 64}, {"onehot-asymmetric", 1, 50}};
#define N_KINDS (sizeof kinds / sizeof kinds[0])

static void recipe_of(agg_recipe *recipe, const kind_of_recipe *kind)
{
    char text[1024], size[32];
    if (kind->k > 1) {
        sketch_recipe(recipe, kind->mechanism, 2, kind->k, kind->m);
        return;
    }
    snprintf(size, sizeof size, "\"size\":%u", kind->m);
    onehot_text(text, 2, size, "");
    read_recipe(recipe, text);
}

static void sums_are_what_they_say(void **state)
{
    enum { COUNT = 700 };
    (void)state;
    for (size_t c = 0; c < N_KINDS; c++) {
        agg_recipe recipe;
        agg_accumulator acc;
        recipe_of(&recipe, &kinds[c]);
        uint8_t *records = make_records(&recipe, COUNT, 0);
        read_acc(&acc, &recipe, records, COUNT, 2);
        int32_t expected[8 * 64] = {0};
        uint32_t rows[8] = {0};
        for (uint32_t i = 0; i < COUNT; i++) {
            const uint8_t *r = records + i * recipe.recipe->record_size;
            uint32_t m = kinds[c].m;
            if (strcmp(kinds[c].mechanism, "hcms") == 0) {
                expected[load32_le(r) * m + (load32_le(r + 4) >> 1)] +=
                    (load32_le(r + 4) & 1) != 0 ? 1 : -1;
                continue;
            }
            int is_cms = kinds[c].k > 1;
            uint32_t j = is_cms ? load32_le(r) : 0;
            const uint8_t *bits = is_cms ? r + 4 : r;
            rows[j]++;
            for (uint32_t l = 0; l < m; l++) expected[j * m + l] += bits[l / 8] >> l % 8 & 1;
        }
        assert_int_equal(acc.n, COUNT);
        assert_memory_equal(acc.parts[0].cells.sums, expected,
                            acc.parts[0].n_cells * sizeof *expected);
        if (acc.parts[0].n_rows > 0) assert_memory_equal(acc.parts[0].rows, rows, sizeof rows);
        agg_accumulator_release(&acc);
        agg_recipe_release(&recipe);
        free(records);
    }
}

// Any cut of the records, any order of adding and merging, any number of threads: the same bytes.
static void order_and_shards_do_not_matter(void **state)
{
    enum { COUNT = 999 };
    (void)state;
    for (size_t c = 0; c < N_KINDS; c++) {
        agg_recipe recipe;
        agg_accumulator whole, left, right;
        agg_error error;
        recipe_of(&recipe, &kinds[c]);
        size_t size = recipe.recipe->record_size;
        uint8_t *records = make_records(&recipe, COUNT, 0);
        read_acc(&whole, &recipe, records, COUNT, 1);
        static const uint32_t cuts[] = {0, 1, 333, 998, 999};
        for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
            read_acc(&left, &recipe, records, cuts[i], 3);
            read_acc(&right, &recipe, records + cuts[i] * size, COUNT - cuts[i], 2);
            agg_accumulator *into = i % 2 == 0 ? &left : &right,
                            *from = i % 2 == 0 ? &right : &left;
            assert_ok(agg_accumulator_merge(into, &error, from));
            assert_same_acc(into, &whole);
            agg_accumulator_release(&left);
            agg_accumulator_release(&right);
        }
        // One by one, backwards, through a folder of seven records.
        agg_folder folder;
        assert_ok(agg_accumulator_init(&left, &error, recipe.recipe));
        assert_ok(agg_folder_init(&folder, &error, &left, 7 * size, 2));
        for (uint32_t i = COUNT; i-- > 0;)
            assert_ok(agg_folder_add(&folder, &error, records + i * size, 1));
        assert_ok(agg_folder_flush(&folder, &error));
        agg_folder_release(&folder);
        assert_same_acc(&left, &whole);
        agg_accumulator_release(&left);
        // All at once through a folder that is smaller.
        assert_ok(agg_accumulator_init(&left, &error, recipe.recipe));
        assert_ok(agg_folder_init(&folder, &error, &left, 100 * size, 1));
        assert_ok(agg_folder_add(&folder, &error, records, 50));
        assert_ok(agg_folder_add(&folder, &error, records + 50 * size, COUNT - 50));
        assert_ok(agg_folder_flush(&folder, &error));
        agg_folder_release(&folder);
        assert_same_acc(&left, &whole);
        agg_accumulator_release(&left);
        agg_accumulator_release(&whole);
        agg_recipe_release(&recipe);
        free(records);
    }
}

static agg_err load_bytes(agg_accumulator *acc, agg_error *error, const char *bytes, size_t len)
{
    FILE *stream = tmpfile();
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, len, stream), len);
    rewind(stream);
    agg_err err = agg_accumulator_read(acc, error, "test", stream);
    fclose(stream);
    return err;
}

static void damage_is_refused(void **state)
{
    agg_recipe recipe;
    agg_accumulator acc, loaded;
    agg_error error;
    size_t len = 0;
    (void)state;
    sketch_recipe(&recipe, "cms", 2, 2, 9);
    uint8_t *records = make_records(&recipe, 20, 0);
    read_acc(&acc, &recipe, records, 20, 1);
    char *bytes = acc_bytes(&len, &acc);
    assert_ok(load_bytes(&loaded, &error, bytes, len));
    assert_same_acc(&loaded, &acc);
    agg_accumulator_release(&loaded);
    for (size_t cut = 0; cut < len; cut++) {
        assert_err(load_bytes(&loaded, &error, bytes, cut), SHOAL_ERR_TRUNCATED);
        assert_int_equal(error.exit_code, AGG_EXIT_IO);
    }
    for (size_t bit = 0; bit < 8 * len; bit++) {
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
        assert_int_not_equal((int)load_bytes(&loaded, &error, bytes, len), (int)SHOAL_OK);
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
    }
    bytes = realloc(bytes, len + 1);
    bytes[len] = 0;
    assert_err(load_bytes(&loaded, &error, bytes, len + 1), SHOAL_ERR_EXTRA);
    free(bytes);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
    free(records);
}

static void other_recipes_are_refused_by_name(void **state)
{
    agg_recipe recipe, other;
    agg_accumulator acc, wrong;
    agg_error error;
    char text[1024];
    (void)state;
    sketch_recipe(&recipe, "cms", 2, 4, 16);
    sketch_text(text, "other", "cms", 2, 4, 16, AGG_TEST_SEED, "");
    read_recipe(&other, text);
    uint8_t *records = make_records(&recipe, 5, 0);
    read_acc(&acc, &recipe, records, 5, 1);
    read_acc(&wrong, &other, records, 5, 1);
    assert_err(agg_accumulator_merge(&acc, &error, &wrong), SHOAL_ERR_RECIPE_HASH);
    assert_non_null(strstr(error.text, "recipe other"));
    assert_non_null(strstr(error.text, "not to test"));
    assert_int_equal(acc.n, 5);
    assert_err(agg_accumulator_check_recipe(&wrong, &error, recipe.recipe), SHOAL_ERR_RECIPE_HASH);
    assert_ok(agg_accumulator_check_recipe(&acc, &error, recipe.recipe));
    agg_accumulator_release(&acc);
    agg_accumulator_release(&wrong);
    agg_recipe_release(&recipe);
    agg_recipe_release(&other);
    free(records);
}

// A file with a recipe's hash and smaller sketches: what reads it by the recipe would read beyond
// them.
static void other_sketches_under_a_recipes_hash_are_refused(void **state)
{
    agg_recipe recipe, smaller;
    agg_accumulator acc;
    agg_error error;
    (void)state;
    sketch_recipe(&recipe, "cms", 2, 4, 16);
    static const struct {
        const char *mechanism;
        unsigned k, m;
    } others[] = {{"cms", 2, 16}, {"cms", 4, 8}, {"hcms", 4, 16}, {"cms", 4, 16}};
    for (size_t i = 0; i < 4; i++) {
        sketch_recipe(&smaller, others[i].mechanism, 2, others[i].k, others[i].m);
        assert_ok(agg_accumulator_init(&acc, &error, smaller.recipe));
        memcpy(acc.recipe_hash, recipe.recipe->recipe_hash, 32);
        if (i < 3) {
            assert_err(agg_accumulator_check_recipe(&acc, &error, recipe.recipe),
                       SHOAL_ERR_RECIPE_HASH);
            assert_non_null(strstr(error.text, "sketches"));
        } else {
            assert_ok(agg_accumulator_check_recipe(&acc, &error, recipe.recipe));
        }
        agg_accumulator_release(&acc);
        agg_recipe_release(&smaller);
    }
    agg_recipe_release(&recipe);
}

static void overflow_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    for (size_t c = 0; c < N_KINDS; c++) {
        agg_recipe recipe;
        agg_accumulator acc, more, copy;
        agg_error error;
        recipe_of(&recipe, &kinds[c]);
        uint64_t n_max = c == 1 ? INT32_MAX : UINT32_MAX;
        uint8_t *records = make_records(&recipe, 3, 0);
        read_acc(&acc, &recipe, records, 3, 1);
        read_acc(&copy, &recipe, records, 3, 1);
        read_acc(&more, &recipe, records, 3, 1);
        acc.n = copy.n = n_max - 2;
        assert_err(agg_accumulator_add(&acc, &error, records, 3, 1), SHOAL_ERR_OVERFLOW);
        assert_err(agg_accumulator_merge(&acc, &error, &more), SHOAL_ERR_OVERFLOW);
        assert_same_acc(&acc, &copy);
        assert_ok(agg_accumulator_add(&acc, &error, records, 2, 1));
        agg_accumulator_release(&acc);
        agg_accumulator_release(&copy);
        agg_accumulator_release(&more);
        agg_recipe_release(&recipe);
        free(records);
    }
}

// One thread sums what it writes; of two one writes, in larger pieces, and one sums: the same file.
// It is of several pieces either way, and of enough bytes that the disk begins before the end.
static void saved_by_two_threads(void **state)
{
    static const char *const paths[] = {"/tmp/shoal-test-save-1", "/tmp/shoal-test-save-2"};
    agg_recipe recipe;
    agg_accumulator acc;
    agg_error error;
    agg_bytes files[2];
    (void)state;
    sketch_recipe(&recipe, "cms", 2, 2100, 1024);
    assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
    for (uint64_t i = 0; i < acc.parts[0].n_cells; i++)
        acc.parts[0].cells.ones[i] = (uint32_t)(i * 2654435761u);
    for (unsigned i = 0; i < 2; i++) {
        assert_ok(agg_accumulator_save_by(&acc, &error, paths[i], i + 1));
        assert_ok(agg_file_read(&files[i], &error, paths[i], (size_t)1 << 24));
        remove(paths[i]);
    }
    assert_true(files[0].len == agg_accumulator_size(&acc) && files[0].len > (size_t)8 << 20);
    assert_int_equal(files[1].len, files[0].len);
    assert_memory_equal(files[1].data, files[0].data, files[0].len);
    free(files[0].data);
    free(files[1].data);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
}

static agg_err add_run(void *context, agg_error *error, const agg_run *runs, uint32_t n_runs)
{
    agg_err err = SHOAL_OK;
    for (uint32_t i = 0; i < n_runs && err == SHOAL_OK; i++)
        err = agg_accumulator_add(context, error, runs[i].records, runs[i].count, 1);
    return err;
}

// Files of version 1, for ever: recipe and reports give exactly these bytes, and the bytes load to
// the same sums.
static void golden_files_stay(void **state)
{
    static const char *const names[] = {"cms", "hcms", "onehot"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char path[64];
        agg_recipe recipe;
        agg_accumulator acc, loaded;
        agg_error error;
        size_t len = 0, golden_len = 0, own_len = 0;
        snprintf(path, sizeof path, "aggregator/golden/%s.json", names[i]);
        assert_ok(agg_recipe_from_file(&recipe, &error, path));
        snprintf(path, sizeof path, "aggregator/golden/%s.ndjson", names[i]);
        char *reports = read_test_file(&len, path);
        snprintf(path, sizeof path, "aggregator/golden/%s.acc", names[i]);
        char *golden = read_test_file(&golden_len, path);
        assert_ok(agg_accumulator_init(&acc, &error, recipe.recipe));
        agg_reader reader = {&recipe, add_run, &acc, NULL, NULL, NULL, NULL, 1};
        agg_read_count count = {0, 0, 0, 0, 0};
        assert_ok(reader_bytes(&count, &error, &reader, "reports", (const uint8_t *)reports, len));
        assert_int_equal(count.rejected, 0);
        char *own = acc_bytes(&own_len, &acc);
        assert_int_equal(own_len, golden_len);
        assert_memory_equal(own, golden, own_len);
        assert_ok(agg_accumulator_load(&loaded, &error, path));
        assert_same_acc(&loaded, &acc);
        agg_accumulator_release(&acc);
        agg_accumulator_release(&loaded);
        agg_recipe_release(&recipe);
        free(reports);
        free(golden);
        free(own);
    }
}

static void impossible_sketches_are_refused(void **state)
{
    static const agg_shape shapes[] = {{1, 0, 16},
                                       {1, 4, 1},
                                       {1, 1u << 20, 1u << 16},
                                       {2, 4, 48},
                                       {2, 1u << 20, 1024},
                                       {3, 2, 16},
                                       {3, 1, 1u << 17},
                                       {4, 2, 16},
                                       {4, 1, 1u << 17},
                                       {5, 2, 16},
                                       {5, 1, 2},
                                       {5, 1, (1u << 24) + 2},
                                       {6, 0, 16},
                                       {6, 16, 16},
                                       {6, 4097, 16384},
                                       {7, 3, 16},
                                       {7, 4, 3},
                                       {7, 1, 1},
                                       {7, 1u << 12, 1u << 13},
                                       {UINT32_MAX, 1, 16}};
    agg_sketch sketch;
    agg_error error;
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        assert_int_not_equal((int)agg_sketch_init(&sketch, &error, &shapes[i]), (int)SHOAL_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_what_they_say),
        cmocka_unit_test(order_and_shards_do_not_matter),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(other_recipes_are_refused_by_name),
        cmocka_unit_test(other_sketches_under_a_recipes_hash_are_refused),
        cmocka_unit_test(overflow_is_refused_and_changes_nothing),
        cmocka_unit_test(saved_by_two_threads),
        cmocka_unit_test(golden_files_stay),
        cmocka_unit_test(impossible_sketches_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
