// SPDX-License-Identifier: Apache-2.0
// Looking for damage while the store goes on: what a fold or a put replaces between the listing and
// the reading is no damage, a check ends when it is told to, and what is damaged is counted and
// named.
#include "store_fixture.h"

#include <sys/stat.h>

enum { TODAY = 20000 };

typedef struct turns {
    agg_store *store;
    agg_recipe first, second, sum;
    int64_t numbers[3];
    uint32_t next; // number of the next batch
    unsigned calls, end_at;
    char told[1024];
    agg_error error;
    char folder[64];
} turns;

static void put(turns *t, int64_t collection, const shoal_recipe *recipe)
{
    agg_put kind;
    uint64_t n;
    fixture_batch batch = fixture_batch_make(recipe, t->next++);
    must(fixture_put(t->store, &kind, &t->error, collection, recipe, TODAY, &batch), &t->error);
    must(agg_store_fold(t->store, &n, &t->error, collection, recipe, 1), &t->error);
    free(batch.bytes);
}

// A second recipe of aggregation "reports".
static void other_recipe(agg_recipe *recipe, agg_error *error)
{
    char json[sizeof fixture_json];
    memcpy(json, fixture_json, sizeof json);
    memcpy(strstr(json, "store-test"), "store-more", 10);
    must(agg_recipe_from_bytes(recipe, error, "fixture", json, sizeof json - 1), error);
}

static void open_all(turns *t)
{
    *t = (turns){.end_at = UINT32_MAX};
    fixture_folder(t->folder);
    fixture_recipe(&t->first);
    other_recipe(&t->second, &t->error);
    fixture_sum_recipe(&t->sum);
    must(agg_store_open(&t->store, &t->error, t->folder), &t->error);
    const shoal_recipe *recipes[] = {t->first.recipe, t->second.recipe, t->sum.recipe};
    for (size_t i = 0; i < 3; i++) {
        must(agg_store_collection(t->store, &t->numbers[i], &t->error, recipes[i], TODAY),
             &t->error);
        put(t, t->numbers[i], recipes[i]);
    }
}

static void close_all(turns *t)
{
    agg_store_close(t->store);
    agg_recipe_release(&t->first);
    agg_recipe_release(&t->second);
    agg_recipe_release(&t->sum);
    fixture_remove(t->folder);
}

static void tell(void *context, const char *text)
{
    turns *t = context;
    strncat(t->told, text, sizeof t->told - strlen(t->told) - 1);
}

// At the first piece of the first file, replaces everything that is read after it.
static bool replace(void *context, size_t bytes)
{
    turns *t = context;
    t->calls += bytes > 0;
    if (t->calls == 1 && bytes > 0) {
        put(t, t->numbers[1], t->second.recipe);
        put(t, t->numbers[2], t->sum.recipe);
    }
    return t->calls < t->end_at;
}

static agg_store_found look(turns *t, const agg_pace *pace)
{
    agg_store_found found;
    t->told[0] = '\0';
    must(agg_store_check(t->store, &found, &t->error, (agg_store_told){tell, t}, pace), &t->error);
    return found;
}

static void what_is_replaced_meanwhile_is_no_damage(void **state)
{
    turns t;
    (void)state;
    open_all(&t);
    const agg_pace pace = {replace, &t};
    agg_store_found found = look(&t, &pace);
    assert_string_equal(t.told, "");
    assert_false(agg_store_found_damage(&found));
    assert_true(t.calls >= 1);
    t.calls = 2; // nothing is replaced any more
    found = look(&t, &pace);
    assert_false(agg_store_found_damage(&found));
    assert_int_equal(found.n_checked, 3);
    close_all(&t);
}

static void a_check_ends_when_it_is_told_to(void **state)
{
    turns t;
    (void)state;
    open_all(&t);
    t.calls = 5;
    t.end_at = 6;
    agg_store_found found = look(&t, &(agg_pace){replace, &t});
    assert_true(found.is_stopped);
    assert_int_equal(found.n_checked, 0);
    assert_false(agg_store_found_damage(&found));
    close_all(&t);
}

// Changes one byte of the file of a collection's open block.
static void flip(const turns *t, int64_t collection)
{
    char path[160];
    snprintf(path, sizeof path, "%s/accumulators/c%lld-b1-g1.acc", t->folder,
             (long long)collection);
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 300, SEEK_SET), 0);
    int byte = fgetc(file);
    assert_int_equal(fseek(file, 300, SEEK_SET), 0);
    assert_int_equal(fputc(byte ^ 1, file), byte ^ 1);
    assert_int_equal(fclose(file), 0);
}

static void what_is_damaged_is_counted_and_named(void **state)
{
    turns t;
    (void)state;
    open_all(&t);
    flip(&t, t.numbers[1]);
    agg_store_found found = look(&t, NULL);
    assert_int_equal(found.n_damaged, 1);
    assert_int_equal(found.n_checked, 3);
    assert_false(found.is_database_damaged);
    assert_non_null(strstr(t.told, "-b1-g1.acc is damaged: "));
    // A file that is gone, though its row names it, is damage too.
    char path[160];
    snprintf(path, sizeof path, "%s/accumulators/c%lld-b1-g1.acc", t.folder,
             (long long)t.numbers[1]);
    assert_int_equal(unlink(path), 0);
    found = look(&t, NULL);
    assert_int_equal(found.n_damaged, 1);
    close_all(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_replaced_meanwhile_is_no_damage),
        cmocka_unit_test(a_check_ends_when_it_is_told_to),
        cmocka_unit_test(what_is_damaged_is_counted_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
