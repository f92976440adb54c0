// SPDX-License-Identifier: Apache-2.0
// Noise of the two servers: what task files may ask for, what is claimed for it against the exact
// laws, and what is added to shares.
#include "agg_test.h"

#include <math.h>
#include <stdlib.h>

#include "dap_noise.h"
#include "sha256.h"

#define TASK(vdaf, noise)                                                                          \
    "{\"version\":\"dap-18\",\"info\":\"n\",\"leader\":\"https://l.example\",\"helper\":"          \
    "\"https://h.example\",\"time_precision_s\":60,\"min_batch_size\":9,\"vdaf\":{" vdaf           \
    "},\"noise\":{" noise "}}"
#define LAPLACE(epsilon) "\"type\":\"discrete-laplace\",\"epsilon\":" epsilon
#define GAUSSIAN(variance, delta)                                                                  \
    "\"type\":\"discrete-gaussian\",\"variance\":" variance ",\"delta\":\"" delta "\""
#define COUNT "\"type\":\"count\""
#define SUM "\"type\":\"sum\",\"max\":1000"
#define VECTOR "\"type\":\"sum-vec\",\"length\":4,\"max\":10"
#define HISTOGRAM "\"type\":\"histogram\",\"length\":50"
#define MULTIHOT "\"type\":\"multihot-count-vec\",\"length\":12,\"max_weight\":5"

static void load(agg_dap_task *t, const char *text)
{
    agg_error error = {SHOAL_OK, 0, ""};
    if (agg_dap_task_from_bytes(t, &error, "test", text, strlen(text)) != SHOAL_OK)
        fail_msg("%s", error.text);
}

static agg_dap_noise_claim claim_of(const char *text)
{
    agg_dap_task t;
    agg_dap_noise_claim claim;
    load(&t, text);
    agg_dap_noise_claim_of(&claim, &t);
    agg_dap_task_release(&t);
    return claim;
}

static void refuses(const char *text, const char *says)
{
    agg_dap_task t;
    agg_error error = {SHOAL_OK, 0, ""};
    assert_int_not_equal(agg_dap_task_from_bytes(&t, &error, "test", text, strlen(text)), SHOAL_OK);
    if (strstr(error.text, says) == NULL) fail_msg("\"%s\" does not say: %s", error.text, says);
}

static void wrong_noise_is_refused_by_its_field(void **state)
{
    (void)state;
    refuses(TASK(COUNT, ""), "noise.type is missing");
    refuses(TASK(COUNT, "\"type\":\"uniform\""),
            "noise.type must be discrete-laplace or discrete-gaussian");
    refuses(TASK(COUNT, LAPLACE("0.0009")), "noise.epsilon must be a number of 0.001 to 16");
    refuses(TASK(COUNT, LAPLACE("16.1")), "noise.epsilon must be a number of 0.001 to 16");
    refuses(TASK(COUNT, LAPLACE("1.0000001")), "noise.epsilon must be");
    refuses(TASK(COUNT, LAPLACE("\"1\"")), "noise.epsilon must be");
    refuses(TASK(COUNT, "\"type\":\"discrete-laplace\""), "noise.epsilon must be");
    refuses(TASK(COUNT, LAPLACE("1") ",\"variance\":4"), "noise.variance is not known");
    refuses(TASK(COUNT, GAUSSIAN("0", "1e-9")), "noise.variance must be a whole number of 1 to");
    refuses(TASK(COUNT, GAUSSIAN("1099511627777", "1e-9")), "noise.variance must be");
    refuses(TASK(COUNT, GAUSSIAN("4", "0.01")), "noise.delta must be a number of 1e-15 to 1e-3");
    refuses(TASK(COUNT, GAUSSIAN("4", "1e-9x")), "noise.delta must be");
    refuses(TASK(COUNT, GAUSSIAN("4", "nan")), "noise.delta must be");
    refuses(TASK(COUNT, "\"type\":\"discrete-gaussian\",\"variance\":4"), "noise.delta is missing");
    refuses(TASK("\"type\":\"sum\",\"max\":4294967297", LAPLACE("1")),
            "noise.type takes measurements that add at most 4294967296");
    refuses(TASK("\"type\":\"sum-vec\",\"length\":2,\"max\":2147483649", LAPLACE("1")),
            "noise.type takes measurements");
}

// A device, a server and a collector with other noise have other tasks.
static void the_id_follows_from_the_noise(void **state)
{
    static const char *const texts[] = {TASK(COUNT, LAPLACE("1")), TASK(COUNT, LAPLACE("1.000001")),
                                        TASK(COUNT, GAUSSIAN("1000000", "1e-9")),
                                        TASK(COUNT, GAUSSIAN("1000001", "1e-9"))};
    enum { N = sizeof texts / sizeof *texts };
    char ids[N + 1][AGG_DAP_ID_TEXT];
    agg_dap_task t;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        load(&t, texts[i]);
        strcpy(ids[i], t.id_text);
        agg_dap_task_release(&t);
    }
    load(&t, "{\"version\":\"dap-18\",\"info\":\"n\",\"leader\":\"https://l.example\",\"helper\":"
             "\"https://h.example\",\"time_precision_s\":60,\"min_batch_size\":9,\"vdaf\":{" COUNT
             "}}");
    strcpy(ids[N], t.id_text);
    agg_dap_task_release(&t);
    // The bytes that docs/formats.md states: here Laplace, and 1,000,000 millionths.
    static const uint8_t noise[9] = {1, 0, 0, 0, 0, 0, 0x0f, 0x42, 0x40};
    uint8_t bytes[SHOAL_DAP_CONFIGURATION_MAX], digest[32];
    shoal_dap_writer w = {bytes, sizeof bytes, 0, 0};
    shoal_sha256 sha;
    load(&t, texts[0]);
    shoal_dap_put_task(&w, &t.task);
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, (const uint8_t *)"shoal dap task\n", 15);
    shoal_sha256_update(&sha, bytes, w.len);
    shoal_sha256_update(&sha, noise, sizeof noise);
    shoal_sha256_final(digest, &sha);
    assert_memory_equal(t.task.id, digest, sizeof digest);
    agg_dap_task_release(&t);
    for (size_t i = 0; i <= N; i++)
        for (size_t j = 0; j < i; j++) assert_string_not_equal(ids[i], ids[j]);
}

// ---- what is claimed ----

// Exchanging one report moves a histogram by 1 in two entries. Two draws of Laplace noise of scale
// 2/epsilon on each of them then have odds of e^epsilon at most, and reach them.
static void laplace_epsilon_is_the_stated_one(void **state)
{
    static const struct {
        const char *text;
        double moved; // L1, of the exchange of one report
    } tasks[] = {
        {TASK(COUNT, LAPLACE("0.5")), 1},
        {TASK(SUM, LAPLACE("0.5")), 1000},
        {TASK(VECTOR, LAPLACE("0.5")), 40},
        {TASK(HISTOGRAM, LAPLACE("0.5")), 2},
        {TASK(MULTIHOT, LAPLACE("0.5")), 10},
        {TASK("\"type\":\"multihot-count-vec\",\"length\":12,\"max_weight\":8", LAPLACE("0.5")),
         12}};
    (void)state;
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        agg_dap_noise_claim claim = claim_of(tasks[i].text);
        assert_string_equal(claim.type, "discrete-laplace");
        assert_true(claim.epsilon == 0.5 && claim.delta == 0);
        // The variance of one draw is 2 q/(1 - q)^2, and a sum has two.
        double q = exp(-0.5 / tasks[i].moved), variance = 2 * 2 * q / ((1 - q) * (1 - q));
        assert_true(fabs(claim.standard_error / sqrt(variance) - 1) < 1e-9);
    }
}

// Returns: the exact delta at `epsilon` of one entry that moves by d, under discrete Gaussian
// noise.
static double exact_delta(double variance, double d, double epsilon)
{
    double all = 0, excess = 0;
    int reach = (int)(12 * sqrt(variance)) + 50;
    for (int x = -reach; x <= reach; x++) all += exp(-(double)x * x / (2 * variance));
    for (int x = -reach; x <= reach; x++) {
        double here = exp(-(double)x * x / (2 * variance)) / all,
               there = exp(-(x - d) * (x - d) / (2 * variance)) / all;
        if (here > exp(epsilon) * there) excess += here - exp(epsilon) * there;
    }
    return excess;
}

// The claim is never below the truth, and at most a fifth above it: the exact epsilon by bisection.
static void gaussian_epsilon_covers_the_exact_law(void **state)
{
    static const struct {
        const char *text;
        double variance, moved; // L2 of one exchange, all of it in one entry: the worst case
    } tasks[] = {{TASK(COUNT, GAUSSIAN("1", "1e-6")), 1, 1},
                 {TASK(COUNT, GAUSSIAN("30", "1e-9")), 30, 1},
                 {TASK(COUNT, GAUSSIAN("4000", "1e-9")), 4000, 1},
                 {TASK(SUM, GAUSSIAN("5000000", "1e-9")), 5000000, 1000}};
    (void)state;
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        agg_dap_noise_claim claim = claim_of(tasks[i].text);
        double low = 0, high = 100;
        for (int step = 0; step < 60; step++) {
            double middle = (low + high) / 2;
            if (exact_delta(tasks[i].variance, tasks[i].moved, middle) > claim.delta)
                low = middle;
            else
                high = middle;
        }
        assert_true(claim.epsilon >= high);
        assert_true(claim.epsilon <= 1.2 * high);
        assert_true(claim.standard_error == sqrt(2 * tasks[i].variance));
    }
    // Noise that is far too small has a huge epsilon, and a finite one, which results print.
    double huge = claim_of(TASK("\"type\":\"sum-vec\",\"length\":19000,\"max\":9007199254740991",
                                GAUSSIAN("1", "1e-9")))
                      .epsilon;
    assert_true(isfinite(huge) && huge > 1e30);
    // Vectors: d^2 is 4 * 10^2, 2 and 10, which gives the epsilon of a count of variance/d^2.
    double one = claim_of(TASK(COUNT, GAUSSIAN("50", "1e-9"))).epsilon;
    assert_true(claim_of(TASK(VECTOR, GAUSSIAN("20000", "1e-9"))).epsilon == one);
    assert_true(claim_of(TASK(HISTOGRAM, GAUSSIAN("100", "1e-9"))).epsilon == one);
    assert_true(claim_of(TASK(MULTIHOT, GAUSSIAN("500", "1e-9"))).epsilon == one);
}

// ---- what is added ----

#define DRAWS 4000

// Adds noise to shares of zeros and reads the sums of both servers' noise.
static void draw_sums(int64_t *sums, const char *text, agg_dap_noise_claim *claim)
{
    static const uint8_t seed[32] = {1};
    agg_dap_task t;
    agg_dap_vdaf vdaf;
    agg_error error;
    load(&t, text);
    agg_dap_noise_claim_of(claim, &t);
    assert_int_equal(agg_dap_vdaf_init(&vdaf, &error, &t.task, seed), SHOAL_OK);
    size_t len = agg_dap_output_len(&vdaf), n = vdaf.prio3.flp.output_len;
    uint8_t *shares[2] = {malloc(len), malloc(len)};
    uint64_t *scratch = malloc(shoal_prio3_scratch_words(&vdaf.prio3) * sizeof *scratch);
    int64_t *read = malloc(n * sizeof *read);
    for (size_t got = 0; got < DRAWS; got += n) {
        for (int i = 0; i < 2; i++) {
            memset(shares[i], 0, len);
            assert_int_equal(agg_dap_noise_add(shares[i], &error, &vdaf), SHOAL_OK);
        }
        const shoal_prio3_bytes both[2] = {{shares[0], len}, {shares[1], len}};
        assert_int_equal(shoal_prio3_unshard_centred(read, &vdaf.prio3, both, scratch), SHOAL_OK);
        assert_true(agg_dap_noise_is_possible(&t.task, read, n, 9));
        for (size_t i = 0; i < n && got + i < DRAWS; i++) sums[got + i] = read[i];
    }
    free(read);
    free(scratch);
    free(shares[0]);
    free(shares[1]);
    agg_dap_task_release(&t);
}

// Mean, standard error and reach are the claimed ones. Each run draws anew, so the tolerances are
// five standard deviations: about one run in 10^5 fails by chance. The kurtosis of a sum of two
// Laplace draws is 4.5, so the variance of 4,000 draws has a relative deviation of sqrt(3.5/4000).
static void sums_have_both_noises(void **state)
{
    static const char *const texts[] = {
        TASK(COUNT, LAPLACE("1")), TASK(HISTOGRAM, LAPLACE("0.5")), TASK(SUM, LAPLACE("2")),
        TASK(HISTOGRAM, GAUSSIAN("400", "1e-9")), TASK(VECTOR, GAUSSIAN("1000", "1e-9"))};
    (void)state;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        int64_t *sums = malloc(DRAWS * sizeof *sums);
        agg_dap_noise_claim claim;
        double total = 0, squares = 0, inside = 0, n = DRAWS;
        draw_sums(sums, texts[t], &claim);
        for (size_t i = 0; i < DRAWS; i++) {
            double x = (double)sums[i];
            total += x;
            squares += x * x;
            inside += fabs(x) <= (double)claim.reach;
        }
        double sd = claim.standard_error;
        assert_true(fabs(total / n) < 5 * sd / sqrt(n));
        assert_true(fabs(squares / n / (sd * sd) - 1) < 5 * sqrt(3.5 / n));
        // Whole numbers reach 95 % or a little more: at scale 1 the next smaller reach has 92 %.
        assert_true(inside / n > 0.95 - 5 * sqrt(0.95 * 0.05 / n) && inside / n < 0.985);
        free(sums);
    }
}

// A task without noise stays exact to the bit.
static void without_noise_nothing_is_added(void **state)
{
    static const uint8_t seed[32] = {1};
    agg_dap_task t;
    agg_dap_vdaf vdaf;
    agg_error error;
    uint8_t share[16] = {5}, before[16] = {5};
    char label[AGG_DAP_LABEL_MAX];
    (void)state;
    load(&t, "{\"version\":\"dap-18\",\"info\":\"n\",\"leader\":\"https://l.example\",\"helper\":"
             "\"https://h.example\",\"time_precision_s\":60,\"min_batch_size\":9,\"vdaf\":{" COUNT
             "}}");
    assert_int_equal(agg_dap_vdaf_init(&vdaf, &error, &t.task, seed), SHOAL_OK);
    assert_int_equal(agg_dap_noise_add(share, &error, &vdaf), SHOAL_OK);
    assert_memory_equal(share, before, sizeof share);
    agg_dap_noise_label(label, &t);
    assert_string_equal(label, AGG_DAP_EXACT_LABEL);
    agg_dap_task_release(&t);
}

static void labels_state_the_guarantee_and_its_condition(void **state)
{
    agg_dap_task t;
    char label[AGG_DAP_LABEL_MAX];
    (void)state;
    load(&t, TASK(HISTOGRAM, LAPLACE("0.5")));
    agg_dap_noise_label(label, &t);
    assert_string_equal(
        label, "noise of both servers; epsilon 0.5 of a report, if one of the two is honest");
    agg_dap_task_release(&t);
    load(&t, TASK(HISTOGRAM, GAUSSIAN("400", "1e-9")));
    agg_dap_noise_label(label, &t);
    agg_dap_noise_claim claim;
    agg_dap_noise_claim_of(&claim, &t);
    double stated = atof(strstr(label, "epsilon ") + 8);
    assert_true(stated >= claim.epsilon && stated < claim.epsilon + 2e-4); // rounded up
    assert_non_null(strstr(label, " and delta 1e-9 of a report, if one of the two is honest"));
    agg_dap_task_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_noise_is_refused_by_its_field),
        cmocka_unit_test(the_id_follows_from_the_noise),
        cmocka_unit_test(laplace_epsilon_is_the_stated_one),
        cmocka_unit_test(gaussian_epsilon_covers_the_exact_law),
        cmocka_unit_test(sums_have_both_noises),
        cmocka_unit_test(without_noise_nothing_is_added),
        cmocka_unit_test(labels_state_the_guarantee_and_its_condition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
