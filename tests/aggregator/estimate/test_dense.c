// SPDX-License-Identifier: Apache-2.0
// Dense linear algebra against LAPACK's figures: a well-conditioned matrix, Hilbert's, Rosser's, a
// singular one, and properties on random ones.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> // needs those above it

#include "dense.h"

#define assert_ok(call) assert_int_equal((int)(call), (int)SHOAL_OK)

static void near(double is, double ought, double tolerance)
{
    if (!(fabs(is - ought) <= tolerance)) fail_msg("%.17g instead of %.17g", is, ought);
}

// All reference values: numpy 2.4 (cholesky, inv, solve, eigvalsh, pinv(rcond=1e-10,
// hermitian=True)) on OpenBLAS 0.3.31's LAPACK.
static const double small[16] = {4, 1, -2, 0.5, 1, 3, 0.25, -1, -2, 0.25, 5, 1, 0.5, -1, 1, 2};

static void agrees_with_lapack(void **state)
{
    static const double factor[16] = {2,
                                      0,
                                      0,
                                      0,
                                      0.5,
                                      1.6583123951777,
                                      0,
                                      0,
                                      -1,
                                      0.45226701686664544,
                                      1.94819263561244,
                                      0,
                                      0.25,
                                      -0.6784005252999682,
                                      0.7991089553260607,
                                      0.9158043485321627};
    static const double inverse[16] = {
        0.6104417670682731,  -0.41767068273092367, 0.37483266398929055, -0.5488621151271754,
        -0.4176706827309237, 0.7068273092369478,   -0.3266398929049532, 0.6211512717536815,
        0.3748326639892905,  -0.32663989290495316, 0.4640785363676931,  -0.48906738063364574,
        -0.5488621151271754, 0.6211512717536815,   -0.4890673806336458, 1.1923248549754575};
    static const double solution[4] = {-1.2958500669344042, 2.500669344042838, -0.8424810352521194,
                                       3.99553770638108};
    static const double eigenvalues[4] = {6.688851484401356, 3.6819368147263525, 3.1824542205251656,
                                          0.44675748034712837};
    double a[16], out[16], scratch[AGG_DENSE_BLOCK * 4], values[4], vectors[16];
    agg_error error;
    (void)state;
    memcpy(a, small, sizeof a);
    assert_true(agg_dense_cholesky(a, 4));
    for (int i = 0; i < 4; i++)
        for (int j = 0; j <= i; j++) near(a[4 * i + j], factor[4 * i + j], 1e-15);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++) near(a[4 * j + i], a[4 * i + j], 0);
    agg_dense_cholesky_inverse(out, scratch, a, 4);
    for (int i = 0; i < 16; i++) near(out[i], inverse[i], 1e-15);
    for (int i = 0; i < 4; i++)
        near(out[4 * i] + 2 * out[4 * i + 1] + 3 * out[4 * i + 2] + 4 * out[4 * i + 3], solution[i],
             4e-15);
    memcpy(a, small, sizeof a);
    assert_ok(agg_dense_eigen(values, vectors, a, &error, 4));
    for (int i = 0; i < 4; i++) near(values[i], eigenvalues[i], 4e-15);
    near(agg_dense_form(solution, small, solution, 4),
         solution[0] + 2 * solution[1] + 3 * solution[2] + 4 * solution[3], 1e-14);
}

// Rosser's matrix: a pair of equal eigenvalues, three close ones, nothing, and two of opposite
// signs. Exact ones beside LAPACK's.
static void takes_rossers_matrix_apart(void **state)
{
    static const double rosser[64] = {
        611,  196, -192, 407, -8,  -52,  -49, 29,   196, 899,  113, -192, -71,  -43, -8,   -44,
        -192, 113, 899,  196, 61,  49,   8,   52,   407, -192, 196, 611,  8,    44,  59,   -23,
        -8,   -71, 61,   8,   411, -599, 208, 208,  -52, -43,  49,  44,   -599, 411, 208,  208,
        -49,  -8,  8,    59,  208, 208,  99,  -911, 29,  -44,  52,  -23,  208,  208, -911, 99};
    static const double eigenvalues[8] = {
        1020.0490184299967,  1020.0, 1019.9019513592783, 1000.0, 1000.0,
        0.09804864072174153, 0,      -1020.0490184299964};
    double a[64], values[8], vectors[64];
    agg_error error;
    (void)state;
    memcpy(a, rosser, sizeof a);
    assert_ok(agg_dense_eigen(values, vectors, a, &error, 8));
    for (int i = 0; i < 8; i++) near(values[i], eigenvalues[i], 2e-12); // 1020 at 1e-15
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            double unit = 0;
            for (int k = 0; k < 8; k++) unit += vectors[8 * i + k] * vectors[8 * j + k];
            near(unit, i == j, 1e-14);
            near(agg_dense_form(vectors + 8 * i, rosser, vectors + 8 * j, 8),
                 i == j ? eigenvalues[i] : 0, 4e-12);
        }
}

// Hilbert's matrices: condition 4.8e5 for five rows, 1.5e10 for eight.
static void keeps_its_digits_where_ill_conditioned(void **state)
{
    static const double eigenvalues[8] = {1.695938996921949,      0.29812521131693065,
                                          0.026212843578118913,   0.0014676881177417614,
                                          5.4369433697488384e-05, 1.2943320918799866e-06,
                                          1.7988737458080757e-08, 1.111539028751438e-10};
    static const double inverse[25] = {25,     -300,  1050,   -1400,   630,    -300,   4800,
                                       -18900, 26880, -12600, 1050,    -18900, 79380,  -117600,
                                       56700,  -1400, 26880,  -117600, 179200, -88200, 630,
                                       -12600, 56700, -88200, 44100};
    double five[25], eight[64], out[25], values[8], vectors[64];
    size_t rank;
    agg_error error;
    (void)state;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) {
            eight[8 * i + j] = 1.0 / (i + j + 1);
            if (i < 5 && j < 5) five[5 * i + j] = 1.0 / (i + j + 1);
        }
    assert_ok(agg_dense_pseudo_inverse(out, NULL, &rank, &error, five, 5));
    assert_int_equal(rank, 5);
    for (int i = 0; i < 25; i++)
        near(out[i] / inverse[i], 1, 5e-11); // 4.8e5 at 1e-16; LAPACK is off by 2e-12
    assert_ok(agg_dense_eigen(values, vectors, eight, &error, 8));
    for (int i = 0; i < 8; i++) near(values[i], eigenvalues[i], 1e-15);
}

// B B' of a 5 x 3 matrix, also in units of a million a row.
static void states_the_rank_of_singular_ones(void **state)
{
    static const double singular[25] = {5, 2,  1, 3, -2, 2, 2,  1,  2, 1,  1,  1, 14,
                                        4, -4, 3, 2, 4,  3, -1, -2, 1, -4, -1, 5};
    static const double eigenvalues[3] = {17.40312423743284, 7, 4.5968757625671515};
    static const double pseudo[25] = {0.09319515306122461,
                                      0.023628826530612247,
                                      -0.04050382653061228,
                                      0.03519132653061226,
                                      -0.040312499999999994,
                                      0.023628826530612247,
                                      0.05947066326530613,
                                      0.006154336734693892,
                                      0.04228316326530613,
                                      0.07343750000000003,
                                      -0.04050382653061229,
                                      0.006154336734693888,
                                      0.0744706632653061,
                                      0.006466836734693884,
                                      0.02593749999999998,
                                      0.03519132653061226,
                                      0.04228316326530613,
                                      0.006466836734693885,
                                      0.03665816326530613,
                                      0.03312500000000002,
                                      -0.040312499999999994,
                                      0.07343750000000003,
                                      0.02593749999999999,
                                      0.03312500000000003,
                                      0.1540625};
    double a[25], out[25], null_space[25], values[5], vectors[25];
    size_t rank;
    agg_error error;
    (void)state;
    for (double unit = 1e-9; unit < 1e10; unit *= 1e9) {
        for (int i = 0; i < 25; i++) a[i] = unit * singular[i];
        assert_ok(agg_dense_pseudo_inverse(out, null_space, &rank, &error, a, 5));
        assert_int_equal(rank, 3);
        for (int i = 0; i < 25; i++) near(out[i] * unit, pseudo[i], 1e-15);
        for (int v = 0; v < 2; v++) {
            double product[5] = {0}, squares = 0, across = 0;
            for (int i = 0; i < 25; i++) product[i / 5] += singular[i] * null_space[5 * v + i % 5];
            for (int k = 0; k < 5; k++) {
                near(product[k], 0, 1e-14);
                squares += null_space[5 * v + k] * null_space[5 * v + k];
                across += null_space[k] * null_space[5 + k];
            }
            near(squares, 1, 1e-14);
            near(across, 0, 1e-14);
        }
    }
    memcpy(a, singular, sizeof a);
    assert_false(agg_dense_cholesky(a, 5));
    memcpy(a, singular, sizeof a);
    assert_ok(agg_dense_eigen(values, vectors, a, &error, 5));
    for (int i = 0; i < 5; i++) near(values[i], i < 3 ? eigenvalues[i] : 0, 2e-14);
    memset(a, 0, sizeof a);
    assert_ok(agg_dense_pseudo_inverse(out, null_space, &rank, &error, a, 5));
    assert_int_equal(rank, 0);
    for (int i = 0; i < 25; i++) near(out[i], 0, 0);
    a[7] = NAN;
    assert_int_equal((int)agg_dense_pseudo_inverse(out, null_space, &rank, &error, a, 5),
                     (int)SHOAL_ERR_RANGE);
}

// Returns: sum - x y, rounded twice, as on every machine.
static double less_product(double sum, double x, double y)
{
    volatile double product = x * y;
    return sum - product;
}

// The textbook's factor, element by element.
static void naive_cholesky(double *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (size_t k = 0; k < j; k++) sum = less_product(sum, a[i * n + k], a[j * n + k]);
            a[i * n + j] = j < i ? sum / a[j * n + j] : sqrt(sum);
        }
}

// Blocks and vectors change no bit, whatever the remainders.
static void factors_are_those_of_the_textbook(void **state)
{
    enum { N = 67 };
    static const char *const cpus[] = {"portable", "avx2", "avx512"};
    static double whole[N * N], factor[N * N], a[N * N];
    (void)state;
    for (size_t n = 1; n <= N; n++) {
        for (size_t i = 0; i < n * n; i++) whole[i] = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                double apart = (double)(i > j ? i - j : j - i);
                whole[i * n + j] =
                    (i == j ? 3 : 0) + exp(-apart / 7) * (1 + 0.01 * (double)(i * j));
            }
        memcpy(factor, whole, sizeof factor);
        naive_cholesky(factor, n);
        for (size_t c = 0; c < sizeof cpus / sizeof cpus[0]; c++) {
            double x[N], y[N];
            setenv("SHOAL_CPU", cpus[c], 1);
            memcpy(a, whole, sizeof a);
            assert_true(agg_dense_cholesky(a, n));
            for (size_t i = 0; i < n * n; i++)
                near(a[i], factor[i / n >= i % n ? i : i % n * n + i / n], 0);
            for (size_t i = 0; i < n; i++) {
                x[i] = y[i] = sin((double)i + 1);
                for (size_t k = 0; k < i; k++) y[i] = less_product(y[i], factor[i * n + k], y[k]);
                y[i] /= factor[i * n + i];
            }
            agg_dense_forward(x, a, n);
            for (size_t i = 0; i < n; i++) near(x[i], y[i], 0);
            agg_dense_backward(x, a, n);
            for (size_t i = 0; i < n; i++) {
                double sum = -sin((double)i + 1);
                for (size_t k = 0; k < n; k++) sum += whole[i * n + k] * x[k];
                near(sum, 0, 1e-12);
            }
        }
        unsetenv("SHOAL_CPU");
        // The last pivot is held against its own diagonal element, as every other is.
        whole[n * n - 1] -= factor[n * n - 1] * factor[n * n - 1] * (1 - 1e-12);
        assert_true(agg_dense_cholesky(whole, n) == (n == 1));
    }
}

// A = B B' with B of n x r uniform numbers: A A^- A = A, whatever the rank, and the full inverse
// where r >= n.
static void inverts_random_matrices(void **state)
{
    enum { N = 60 };
    static double b[N * N], a[N * N], inverse[N * N], product[N * N];
    uint64_t seed = 1;
    (void)state;
    for (size_t r = 7; r <= N; r += 53) {
        size_t rank;
        agg_error error;
        for (size_t i = 0; i < N * N; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            b[i] = (double)(seed >> 11) * 0x1p-52 - 1;
        }
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++) {
                a[i * N + j] = 0;
                for (size_t k = 0; k < r; k++) a[i * N + j] += b[i * N + k] * b[j * N + k];
            }
        assert_ok(agg_dense_pseudo_inverse(inverse, NULL, &rank, &error, a, N));
        assert_int_equal(rank, r);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++) {
                product[i * N + j] = 0;
                for (size_t k = 0; k < N; k++)
                    product[i * N + j] += a[i * N + k] * inverse[k * N + j];
            }
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++) {
                double whole = 0;
                for (size_t k = 0; k < N; k++) whole += product[i * N + k] * a[k * N + j];
                near(whole, a[i * N + j],
                     1e-10); // condition below 1e5 for r = 60, elements of about 20
                if (r == N) near(product[i * N + j], i == j, 1e-9);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_lapack),
                                       cmocka_unit_test(takes_rossers_matrix_apart),
                                       cmocka_unit_test(keeps_its_digits_where_ill_conditioned),
                                       cmocka_unit_test(states_the_rank_of_singular_ones),
                                       cmocka_unit_test(factors_are_those_of_the_textbook),
                                       cmocka_unit_test(inverts_random_matrices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
