// SPDX-License-Identifier: Apache-2.0
// Records folded one by one and the sums of their measurements make the same accumulator, byte for
// byte, of every mechanism. Sums that no reports have are refused.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h> // needs those above it

#include "check.h"
#include "dap_accumulator.h"
#include "samples.h"

static char *bytes_of(size_t *len, const agg_accumulator *acc)
{
    char *bytes = NULL;
    agg_error error;
    FILE *stream = open_memstream(&bytes, len);
    assert_non_null(stream);
    assert_int_equal(agg_accumulator_write(stream, &error, acc), SHOAL_OK);
    fclose(stream);
    return bytes;
}

static void assert_same(const agg_accumulator *a, const agg_accumulator *b)
{
    size_t a_len = 0, b_len = 0;
    char *x = bytes_of(&a_len, a), *y = bytes_of(&b_len, b);
    assert_int_equal(a_len, b_len);
    assert_memory_equal(x, y, a_len);
    free(x);
    free(y);
}

// A few values, in turn: the sample's own, and of a list others and none.
static void draw(uint8_t *record, const shoal_recipe *recipe, const sample *s, uint32_t i,
                 shoal_rng *rng)
{
    shoal_permanent permanent;
    uint64_t item = i % 3 == 1 ? SHOAL_ITEM_NONE : 1;
    shoal_rng_bytes(rng, permanent.secret, sizeof permanent.secret);
    agg_err err = recipe->parts[0].domain == SHOAL_DOMAIN_CLOSED && i % 3 > 0
                      ? shoal_record_randomize(record, recipe, &item, 1, &permanent, rng)
                      : sample_randomize(record, recipe, s->value, &permanent, rng);
    assert_int_equal(err, SHOAL_OK);
}

static void add_to_sums(uint64_t *sums, const shoal_split *split, const uint64_t *measurement)
{
    if (split->prio3.circuit == SHOAL_CIRCUIT_HISTOGRAM) {
        sums[measurement[0]]++;
        return;
    }
    for (uint32_t i = 0; i < split->prio3.length; i++) sums[i] += measurement[i];
}

static void fold_both(const shoal_recipe *recipe, const shoal_split *split, const sample *s,
                      uint32_t n, shoal_rng *rng)
{
    agg_accumulator folded, summed;
    agg_error error = {SHOAL_OK, 0, ""};
    uint8_t *record = malloc(recipe->record_size);
    char *text = malloc(recipe->text_size);
    uint64_t *measurement = malloc(shoal_split_words(split) * sizeof *measurement);
    uint64_t *sums = calloc(split->prio3.length, sizeof *sums);
    assert_true(record != NULL && text != NULL && measurement != NULL && sums != NULL);
    assert_int_equal(agg_accumulator_init(&folded, &error, recipe), SHOAL_OK);
    for (uint32_t i = 0; i < n; i++) {
        draw(record, recipe, s, i, rng);
        assert_int_equal(shoal_record_to_text(text, recipe->text_size, recipe, record), SHOAL_OK);
        assert_int_equal(shoal_split_text(measurement, split, text, recipe->text_size), SHOAL_OK);
        assert_int_equal(agg_accumulator_add(&folded, &error, record, 1, 1), SHOAL_OK);
        add_to_sums(sums, split, measurement);
    }
    assert_int_equal(agg_accumulator_of_sums(&summed, &error, recipe, split, sums, n), SHOAL_OK);
    assert_same(&folded, &summed);
    agg_accumulator_release(&summed);
    agg_accumulator_release(&folded);
    free(record);
    free(text);
    free(measurement);
    free(sums);
}

// The next sample whose records are split, from *at on; 0 behind the last.
static int next_split(shoal_recipe *recipe, shoal_split *split, const sample **s, size_t *at)
{
    const char *why;
    for (sample_at next; (next = sample_number(*at)).sample != NULL;) {
        (*at)++;
        *s = next.sample;
        assert_int_equal(sample_recipe(recipe, next.mechanism, next.sample), SHOAL_OK);
        if (recipe->n_parts == 1 && recipe->n_variables == 0 &&
            shoal_mechanism_by_id(recipe->mechanism) != NULL &&
            shoal_split_init(split, &recipe->parts[0], &why) == SHOAL_OK)
            return 1;
    }
    return 0;
}

static void test_of_sums(void **state)
{
    const uint8_t seed[32] = {88};
    shoal_recipe *recipe = malloc(sizeof *recipe);
    shoal_split split;
    const sample *s = NULL;
    shoal_rng rng;
    unsigned seen = 0;
    (void)state;
    assert_non_null(recipe);
    shoal_rng_init(&rng, seed);
    for (size_t at = 0; next_split(recipe, &split, &s, &at);) {
        fold_both(recipe, &split, s, split.prio3.length < 5000 ? 60 : 6, &rng);
        fold_both(recipe, &split, s, 0, &rng);
        seen |= 1u << split.mechanism;
    }
#define SHOAL_MECHANISM(id, stem, name) assert_true(seen >> id & 1);
#include "mechanisms.def"
#undef SHOAL_MECHANISM
    free(recipe);
}

static void refuses(const shoal_recipe *recipe, const shoal_split *split, const uint64_t *sums,
                    uint64_t n, agg_err expected)
{
    agg_accumulator acc;
    agg_error error = {SHOAL_OK, 0, ""};
    agg_err err = agg_accumulator_of_sums(&acc, &error, recipe, split, sums, n);
    assert_int_equal(err, expected);
    if (err == SHOAL_OK) agg_accumulator_release(&acc);
}

// Sums at what n reports can have, and one beyond.
static void test_refusals(void **state)
{
    shoal_recipe *recipe = malloc(sizeof *recipe);
    shoal_split split;
    const sample *s = NULL;
    (void)state;
    assert_non_null(recipe);
    for (size_t at = 0; next_split(recipe, &split, &s, &at);) {
        const uint64_t n = 5, max = split.prio3.max;
        const int is_histogram = split.prio3.circuit == SHOAL_CIRCUIT_HISTOGRAM;
        uint64_t *sums = calloc(split.prio3.length, sizeof *sums);
        assert_non_null(sums);
        refuses(recipe, &split, sums, n, is_histogram ? SHOAL_ERR_RECORD : SHOAL_OK);
        sums[0] = n;
        refuses(recipe, &split, sums, n, SHOAL_OK);
        refuses(recipe, &split, sums, n - 1, SHOAL_ERR_RECORD);
        sums[0] = n + 1;
        refuses(recipe, &split, sums, n, SHOAL_ERR_RECORD);
        sums[0] = UINT64_MAX;
        refuses(recipe, &split, sums, n, SHOAL_ERR_RECORD);
        refuses(recipe, &split, sums, UINT64_MAX, SHOAL_ERR_OVERFLOW);
        for (uint32_t i = 0; i < split.prio3.length; i++)
            sums[i] = !is_histogram && i < max ? n : 0;
        refuses(recipe, &split, sums, n, is_histogram ? SHOAL_ERR_RECORD : SHOAL_OK);
        if (!is_histogram && max < split.prio3.length) {
            sums[max] = 1;
            refuses(recipe, &split, sums, n, SHOAL_ERR_RECORD);
        }
        free(sums);
    }
    free(recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_of_sums),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
