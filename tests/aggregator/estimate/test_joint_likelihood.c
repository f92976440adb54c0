// SPDX-License-Identifier: Apache-2.0
// Likelihoods of records: against the auditor's whole law of every mechanism, record by record;
// "Other" against the mixture that it stands for.
#include "agg_test.h"

#include <math.h>

#include "account.h"
#include "joint_likelihood.h"
#include "joint_marks.h"
#include "rappor.h"

enum { SIZE = 5, ITEMS_MAX = 8 };

typedef struct setting {
    const char *name;
    shoal_part part;
} setting;

static const setting settings[] = {
    {"grr",
     {.mechanism = shoal_grr_id,
      .domain = SHOAL_DOMAIN_CLOSED,
      .eps_micro = 1500000,
      .k = 1,
      .size = SIZE}},
    {"subset",
     {.mechanism = shoal_subset_id,
      .domain = SHOAL_DOMAIN_CLOSED,
      .eps_micro = 700000,
      .size = SIZE}},
    {"onehot-asymmetric",
     {.mechanism = shoal_onehot_asymmetric_id,
      .domain = SHOAL_DOMAIN_CLOSED,
      .eps_micro = 2000000,
      .k = 1,
      .size = SIZE}},
    {"onehot-symmetric",
     {.mechanism = shoal_onehot_symmetric_id,
      .domain = SHOAL_DOMAIN_CLOSED,
      .eps_micro = 2000000,
      .k = 1,
      .size = SIZE}},
    {"hadamard, one block",
     {.mechanism = shoal_hadamard_id,
      .domain = SHOAL_DOMAIN_CLOSED,
      .eps_micro = 1000000,
      .size = SIZE}},
    {"hadamard, four blocks",
     {.mechanism = shoal_hadamard_id,
      .domain = SHOAL_DOMAIN_CLOSED,
      .eps_micro = 2400000,
      .size = SIZE}},
    {"rappor of a list",
     {.mechanism = shoal_rappor_id,
      .domain = SHOAL_DOMAIN_CLOSED,
      .size = SIZE,
      .pqf_micro = {300000, 800000, 250000}}},
    {"rappor, one hash",
     {.mechanism = shoal_rappor_id,
      .domain = SHOAL_DOMAIN_OPEN,
      .hash = SHOAL_HASH_POLY1,
      .k = 3,
      .m = 8,
      .hashes = 1,
      .pqf_micro = {250000, 750000, 0}}},
    {"rappor, two hashes",
     {.mechanism = shoal_rappor_id,
      .domain = SHOAL_DOMAIN_OPEN,
      .hash = SHOAL_HASH_POLY1,
      .k = 3,
      .m = 9,
      .hashes = 2,
      .pqf_micro = {250000, 750000, 100000}}},
    {"rappor of rare ones",
     {.mechanism = shoal_rappor_id,
      .domain = SHOAL_DOMAIN_OPEN,
      .hash = SHOAL_HASH_POLY1,
      .k = 2,
      .m = 8,
      .hashes = 2,
      .pqf_micro = {10000, 900000, 0}}},
    {"cms",
     {.mechanism = shoal_cms_id,
      .domain = SHOAL_DOMAIN_OPEN,
      .hash = SHOAL_HASH_POLY1,
      .eps_micro = 2000000,
      .k = 4,
      .m = 7}},
    {"cms of a list",
     {.mechanism = shoal_cms_id,
      .domain = SHOAL_DOMAIN_CLOSED,
      .hash = SHOAL_HASH_AFFINE1,
      .eps_micro = 2000000,
      .k = 4,
      .m = 8,
      .size = SIZE}},
    {"hcms",
     {.mechanism = shoal_hcms_id,
      .domain = SHOAL_DOMAIN_OPEN,
      .hash = SHOAL_HASH_POLY1,
      .eps_micro = 1000000,
      .k = 4,
      .m = 8}},
    {"hcms of a list",
     {.mechanism = shoal_hcms_id,
      .domain = SHOAL_DOMAIN_CLOSED,
      .hash = SHOAL_HASH_AFFINE1,
      .eps_micro = 1000000,
      .k = 4,
      .m = 8,
      .size = SIZE}},
    {"olh",
     {.mechanism = shoal_olh_id,
      .domain = SHOAL_DOMAIN_OPEN,
      .hash = SHOAL_HASH_POLY1,
      .eps_micro = 1500000,
      .k = 6,
      .m = 4}},
    {"olh of a list",
     {.mechanism = shoal_olh_id,
      .domain = SHOAL_DOMAIN_CLOSED,
      .hash = SHOAL_HASH_AFFINE1,
      .eps_micro = 1500000,
      .k = 6,
      .m = 4,
      .size = SIZE}},
};

enum { N_SETTINGS = sizeof settings / sizeof settings[0] };

static shoal_part part_of(const setting *s)
{
    shoal_part part = s->part;
    const char *field = NULL;
    for (int i = 0; i < 32; i++) part.seed[i] = (uint8_t)(17 * i + 3);
    if (shoal_part_prepare(&part, &field) != SHOAL_OK) fail_msg("%s: %s", s->name, field);
    return part;
}

// The values of the test's law: of a list its entries, else some fingerprints.
static uint64_t value(const shoal_part *part, uint32_t i)
{
    return part->domain == SHOAL_DOMAIN_CLOSED ? i : 0x9e3779b97f4a7c15u * (i + 1);
}

static double mixture(const shoal_part *part, const uint8_t *record, const double *shares)
{
    double sum = 0;
    for (uint32_t i = 0; i < SIZE; i++)
        sum +=
            shares[i] * agg_account_of(part->mechanism)->probability(part, record, value(part, i));
    return sum;
}

// Fills a sketch with what `n` reports of values with these shares add on average, to within half a
// report a cell.
static void expected_sketch(agg_sketch *sketch, const shoal_part *part, const double *shares,
                            double n)
{
    const agg_shape shape = {part->mechanism, part->k, part->m};
    const agg_account *account = agg_account_of(part->mechanism);
    const agg_sketch_kind *kind = agg_sketch_kind_of(part->mechanism);
    agg_sketch one;
    agg_error error;
    assert_ok(agg_sketch_init(sketch, &error, &shape));
    assert_ok(agg_sketch_init(&one, &error, &shape));
    double *cells = calloc((size_t)sketch->n_cells + 1, sizeof *cells),
           *rows = calloc((size_t)sketch->n_rows + 1, sizeof *rows);
    uint8_t record[256];
    assert_true(cells != NULL && rows != NULL && part->record_size <= sizeof record);
    for (uint64_t index = 0; index < account->n_outputs(part); index++) {
        if (!account->output(record, part, index)) continue;
        double p = mixture(part, record, shares);
        memset(one.cells.ones, 0, (size_t)one.n_cells * sizeof *one.cells.ones);
        if (one.rows != NULL) memset(one.rows, 0, (size_t)one.n_rows * sizeof *one.rows);
        assert_ok(kind->add(&one, &error, record, part->record_size, 1, 1));
        for (uint64_t i = 0; i < one.n_cells; i++)
            cells[i] += p * (kind->is_signed ? one.cells.sums[i] : (double)one.cells.ones[i]);
        for (uint64_t i = 0; one.rows != NULL && i < one.n_rows; i++) rows[i] += p * one.rows[i];
    }
    for (uint64_t i = 0; i < one.n_cells; i++) {
        if (kind->is_signed)
            sketch->cells.sums[i] = (int32_t)llround(n * cells[i]);
        else
            sketch->cells.ones[i] = (uint32_t)llround(n * cells[i]);
    }
    for (uint64_t i = 0; one.rows != NULL && i < one.n_rows; i++)
        sketch->rows[i] = (uint32_t)llround(n * rows[i]);
    agg_sketch_release(&one);
    free(cells);
    free(rows);
}

static void assert_close(const char *name, double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b))))
        fail_msg("%s: %.12g is not %.12g", name, a, b);
}

// Every record that a mechanism can send, under each of some items and under none of the list.
static void items_agree_with_the_whole_law(void **state)
{
    (void)state;
    for (int s = 0; s < N_SETTINGS; s++) {
        shoal_part part = part_of(&settings[s]);
        const agg_account *account = agg_account_of(part.mechanism);
        uint64_t items[] = {value(&part, 3), value(&part, 0), value(&part, 1), SHOAL_ITEM_NONE};
        uint32_t n = part.domain == SHOAL_DOMAIN_CLOSED ? 4 : 3;
        const agg_joint_categories categories = {0, n, items, NULL, 0};
        agg_joint_law *law = NULL;
        agg_error error;
        uint8_t record[256];
        assert_ok(agg_joint_law_make(&law, &error, &part, NULL, 0, &categories, 1));
        assert_true(account->n_outputs(&part) > 1);
        for (uint64_t index = 0; index < account->n_outputs(&part); index++) {
            double likelihood[ITEMS_MAX], exact[ITEMS_MAX], best = 0;
            if (!account->output(record, &part, index)) continue;
            agg_joint_law_weigh(likelihood, law, record);
            for (uint32_t i = 0; i < n; i++) {
                exact[i] = account->probability(&part, record, items[i]);
                best = fmax(best, exact[i]);
            }
            for (uint32_t i = 0; i < n; i++)
                assert_close(settings[s].name, likelihood[i], exact[i] / best, 1e-12);
        }
        agg_joint_law_free(law);
    }
}

// P(record | Other) of bits that several hash functions set: each bit for itself.
static double product_of_bits(const shoal_part *part, const uint8_t *record, const double *shares)
{
    uint64_t p_star = 0, q_star = 0;
    double product = 1.0 / part->k;
    shoal_rappor_effective(&p_star, &q_star, part);
    for (uint32_t l = 0; l < part->m; l++) {
        // The chance of a 1 given the record's cohort, by its law over the two records that differ
        // in this bit alone, all others 0.
        uint8_t zero[16] = {0}, one[16] = {0};
        double of_one = 0;
        memcpy(zero, record, 4);
        for (uint32_t i = 0; i < SIZE; i++) {
            memcpy(one, zero, sizeof one);
            one[4 + l / 8] = (uint8_t)(1u << l % 8);
            const agg_account *account = agg_account_of(part->mechanism);
            double with = account->probability(part, one, value(part, i)),
                   without = account->probability(part, zero, value(part, i));
            of_one += shares[i] * with / (with + without);
        }
        product *= record[4 + l / 8] >> l % 8 & 1 ? of_one : 1 - of_one;
    }
    return product;
}

// The three laws of a record, divided by the largest, summed over all records that the estimate
// does not tell apart from it.
typedef struct kind_of_record {
    double likelihood[3], exact[3];
} kind_of_record;

static int is_alike(const double *a, const double *b)
{
    for (int i = 0; i < 3; i++)
        if (fabs(a[i] - b[i]) > 1e-9) return 0;
    return 1;
}

// Sums as a billion reports make them on average: then what is estimated of Other is the law of its
// values. Columns that no category has may be left out of a record: the law is that of all records
// with one likelihood row.
static void other_is_what_is_left(void **state)
{
    static const double all[SIZE] = {0.3, 0.25, 0.2, 0.15, 0.1},
                        left[SIZE] = {0, 0, 0.2 / 0.45, 0.15 / 0.45, 0.1 / 0.45};
    const double n = 1e9;
    (void)state;
    for (int s = 0; s < N_SETTINGS; s++) {
        shoal_part part = part_of(&settings[s]);
        const agg_account *account = agg_account_of(part.mechanism);
        const uint64_t items[] = {value(&part, 0), value(&part, 1)};
        const agg_joint_categories categories = {0, 2, items, all, 1};
        kind_of_record *kinds = calloc(account->n_outputs(&part), sizeof *kinds);
        size_t n_kinds = 0;
        agg_joint_law *law = NULL;
        agg_sketch sketch;
        agg_error error;
        uint8_t record[256];
        assert_non_null(kinds);
        expected_sketch(&sketch, &part, all, n);
        assert_ok(agg_joint_law_make(&law, &error, &part, &sketch, (uint64_t)n, &categories, 1));
        for (uint64_t index = 0; index < account->n_outputs(&part); index++) {
            double likelihood[3];
            size_t k = 0;
            if (!account->output(record, &part, index)) continue;
            agg_joint_law_weigh(likelihood, law, record);
            while (k < n_kinds && !is_alike(kinds[k].likelihood, likelihood)) k++;
            if (k == n_kinds) memcpy(kinds[n_kinds++].likelihood, likelihood, sizeof likelihood);
            for (uint32_t i = 0; i < 2; i++)
                kinds[k].exact[i] += account->probability(&part, record, items[i]);
            kinds[k].exact[2] += part.hashes > 1 ? product_of_bits(&part, record, left)
                                                 : mixture(&part, record, left);
        }
        assert_true(n_kinds > 2);
        for (size_t k = 0; k < n_kinds; k++) {
            const double *exact = kinds[k].exact;
            double best = fmax(exact[0], fmax(exact[1], exact[2]));
            // Rounded cells; of hashed rows a trust that falls short of 1 by a thousand times the
            // noise of a billion reports over what their columns differ by. Bits that coins hardly
            // ever set keep more of that, of which nine stand in a record. What the columns of a
            // transform share alike is right on average over rows of many columns, not in these of
            // few.
            int is_hashed = part.hash != SHOAL_HASH_NONE;
            double tolerance = part.pqf_micro[0] == 10000 || part.mechanism == shoal_hcms_id ? 1e-2
                               : is_hashed                                                   ? 1e-3
                                                                                             : 1e-5;
            for (uint32_t i = 0; i < 3; i++)
                assert_close(settings[s].name, kinds[k].likelihood[i], exact[i] / best, tolerance);
        }
        agg_joint_law_free(law);
        agg_sketch_release(&sketch);
        free(kinds);
    }
}

// Ten thousand reports a row tell the columns of Other's few values apart, by a hundred times their
// noise; but not so well that estimating them from the same reports does no harm. Other's law is
// then still that of a random value, which no report at all leaves it.
static void other_is_not_estimated_from_its_own_reports(void **state)
{
    static const double all[SIZE] = {0.3, 0.25, 0.2, 0.15, 0.1};
    int n_hashed = 0;
    (void)state;
    for (int s = 0; s < N_SETTINGS; s++) {
        shoal_part part = part_of(&settings[s]);
        const agg_account *account = agg_account_of(part.mechanism);
        const agg_shape shape = {part.mechanism, part.k, part.m};
        const uint64_t items[] = {value(&part, 0), value(&part, 1)};
        const agg_joint_categories categories = {0, 2, items, all, 1};
        const double n = 1e4 * part.k;
        agg_joint_law *law = NULL, *blind = NULL;
        agg_sketch sketch, empty;
        agg_error error;
        uint8_t record[256];
        if (part.hash == SHOAL_HASH_NONE) continue;
        n_hashed++;
        expected_sketch(&sketch, &part, all, n);
        assert_ok(agg_sketch_init(&empty, &error, &shape));
        assert_ok(agg_joint_law_make(&law, &error, &part, &sketch, (uint64_t)n, &categories, 1));
        assert_ok(agg_joint_law_make(&blind, &error, &part, &empty, 0, &categories, 1));
        for (uint64_t index = 0; index < account->n_outputs(&part); index++) {
            double with[3], without[3];
            if (!account->output(record, &part, index)) continue;
            agg_joint_law_weigh(with, law, record);
            agg_joint_law_weigh(without, blind, record);
            for (uint32_t i = 0; i < 3; i++)
                assert_close(settings[s].name, with[i], without[i], 1e-12);
        }
        agg_joint_law_free(law);
        agg_joint_law_free(blind);
        agg_sketch_release(&sketch);
        agg_sketch_release(&empty);
    }
    assert_true(n_hashed > 2);
}

// Where the categories are the whole list, Other is "none of the list", and its law is known.
static void other_of_a_whole_list_is_none(void **state)
{
    static const uint64_t items[] = {0, 1, 2, 3, 4, SHOAL_ITEM_NONE};
    (void)state;
    for (int s = 0; s < N_SETTINGS; s++) {
        shoal_part part = part_of(&settings[s]);
        const agg_account *account = agg_account_of(part.mechanism);
        const agg_joint_categories other = {0, SIZE, items, NULL, 1},
                                   none = {0, SIZE + 1, items, NULL, 0};
        agg_joint_law *with_other = NULL, *with_none = NULL;
        agg_error error;
        uint8_t record[256];
        if (part.domain != SHOAL_DOMAIN_CLOSED) continue;
        assert_ok(agg_joint_law_make(&with_other, &error, &part, NULL, 0, &other, 1));
        assert_ok(agg_joint_law_make(&with_none, &error, &part, NULL, 0, &none, 1));
        for (uint64_t index = 0; index < account->n_outputs(&part); index++) {
            double a[SIZE + 1], b[SIZE + 1];
            if (!account->output(record, &part, index)) continue;
            agg_joint_law_weigh(a, with_other, record);
            agg_joint_law_weigh(b, with_none, record);
            assert_memory_equal(a, b, sizeof a);
        }
        agg_joint_law_free(with_other);
        agg_joint_law_free(with_none);
    }
}

// Fills a sketch with a million reports a row of values that are all alike.
static void flat_sketch(agg_sketch *sketch, const shoal_part *part)
{
    const agg_shape shape = {part->mechanism, part->k, part->m};
    agg_joint_coins coins;
    agg_error error;
    double prior =
        1 - pow(1 - 1.0 / part->m, part->mechanism == shoal_rappor_id ? part->hashes : 1);
    agg_joint_marks_of(part->mechanism)->set_coins(&coins, part);
    assert_ok(agg_sketch_init(sketch, &error, &shape));
    for (uint64_t i = 0; i < sketch->n_cells; i++)
        sketch->cells.ones[i] =
            (uint32_t)llround(1e6 * (coins.other + (coins.own - coins.other) * prior));
    for (uint64_t i = 0; sketch->rows != NULL && i < sketch->n_rows; i++) sketch->rows[i] = 1000000;
}

// Reports that are noise about values of which each came once, over so many rows that few share
// one: a row's own sums are the reports themselves, and trusting them would make each of them look
// like Other. Its law is then that of a value of any column.
static void rows_of_few_reports_are_not_believed(void **state)
{
    enum { N = 3000 };
    static const setting wide[] = {{"cms",
                                    {.mechanism = shoal_cms_id,
                                     .domain = SHOAL_DOMAIN_OPEN,
                                     .hash = SHOAL_HASH_POLY1,
                                     .eps_micro = 2000000,
                                     .k = 4096,
                                     .m = 64}},
                                   {"olh",
                                    {.mechanism = shoal_olh_id,
                                     .domain = SHOAL_DOMAIN_OPEN,
                                     .hash = SHOAL_HASH_POLY1,
                                     .eps_micro = 2000000,
                                     .k = 4096,
                                     .m = 8}},
                                   {"hcms",
                                    {.mechanism = shoal_hcms_id,
                                     .domain = SHOAL_DOMAIN_OPEN,
                                     .hash = SHOAL_HASH_POLY1,
                                     .eps_micro = 2000000,
                                     .k = 4096,
                                     .m = 64}},
                                   {"rappor",
                                    {.mechanism = shoal_rappor_id,
                                     .domain = SHOAL_DOMAIN_OPEN,
                                     .hash = SHOAL_HASH_POLY1,
                                     .k = 1024,
                                     .m = 64,
                                     .hashes = 2,
                                     .pqf_micro = {250000, 750000, 0}}}};
    (void)state;
    for (int s = 0; s < 4; s++) {
        static const uint8_t seed[32] = {3};
        shoal_part part = part_of(&wide[s]);
        const agg_shape shape = {part.mechanism, part.k, part.m};
        const uint64_t items[] = {1, 2};
        const double shares[] = {0, 0};
        const agg_joint_categories categories = {0, 2, items, shares, 1};
        const agg_account *account = agg_account_of(part.mechanism);
        agg_joint_law *law = NULL, *flat = NULL;
        agg_sketch sketch, of_flat;
        agg_error error;
        shoal_rng rng;
        double sum = 0, squares = 0;
        uint8_t *records = calloc(N, part.record_size);
        assert_non_null(records);
        shoal_rng_init(&rng, seed);
        for (size_t i = 0; i < N; i++) {
            shoal_permanent permanent;
            for (int b = 0; b < 32; b++) permanent.secret[b] = (uint8_t)shoal_rng_u64(&rng);
            shoal_mechanism_by_id(part.mechanism)
                ->randomize(records + i * part.record_size, &part, shoal_rng_u64(&rng), &permanent,
                            &rng);
        }
        assert_ok(agg_sketch_init(&sketch, &error, &shape));
        assert_ok(agg_sketch_kind_of(part.mechanism)
                      ->add(&sketch, &error, records, part.record_size, N, 1));
        assert_ok(agg_joint_law_make(&law, &error, &part, &sketch, N, &categories, 1));
        if (part.mechanism != shoal_hcms_id) {
            flat_sketch(&of_flat, &part);
            assert_ok(agg_joint_law_make(&flat, &error, &part, &of_flat, part.k * (uint64_t)1000000,
                                         &categories, 1));
        }
        for (size_t i = 0; i < N; i++) {
            const uint8_t *record = records + i * part.record_size;
            double likelihood[3], reference[3] = {account->probability(&part, record, 1), 0, 0};
            agg_joint_law_weigh(likelihood, law, record);
            // How much more likely Other is made than values that are all alike are, or, of the one
            // mechanism of which the whole record counts, than 200 values at random; their mean is
            // within a tenth or so of all values'.
            for (uint64_t x = 0; x < 200; x++)
                reference[2] += account->probability(&part, record, 1000 + x) / 200;
            if (flat != NULL) agg_joint_law_weigh(reference, flat, record);
            double excess = log(likelihood[2] / likelihood[0] * reference[0] / reference[2]);
            sum += excess;
            squares += excess * excess;
        }
        if (!(fabs(sum / N) < 0.03 && squares / N < 0.03))
            fail_msg("%s: %g, %g", wide[s].name, sum / N, squares / N);
        agg_joint_law_free(law);
        agg_joint_law_free(flat);
        agg_sketch_release(&sketch);
        if (flat != NULL) agg_sketch_release(&of_flat);
        free(records);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_agree_with_the_whole_law), cmocka_unit_test(other_is_what_is_left),
        cmocka_unit_test(other_is_not_estimated_from_its_own_reports),
        cmocka_unit_test(other_of_a_whole_list_is_none),
        cmocka_unit_test(rows_of_few_reports_are_not_believed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
