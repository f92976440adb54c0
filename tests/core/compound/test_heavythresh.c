// SPDX-License-Identifier: Apache-2.0
// HEAVYTHRESH on the device: the loss of whole runs by enumeration at small w; the law of a record;
// the projection's signs, sums and fractions; a run as bytes against the same run as arrays; what
// is refused.
#include "heavythresh.h"

#include "chacha20.h"
#include "one_bit_mean.h"
#include "record.h"
#include "scripted_rng.h"
#include "test_runs.h"

#define ONE SHOAL_HEAVYTHRESH_ONE
#define W 64u

static const shoal_evolving_plan plan = {.eps_micro = 4000000,
                                         .users = 20000,
                                         .samples = 100000,
                                         .epochs = 64,
                                         .smallest_group = 20000,
                                         .groups = 1,
                                         .delta_exp = 6,
                                         .projection = W,
                                         .eps_estimate_micro = 500000};

// ---- privacy ----

#define ROWS 2u
#define VECTORS 7 // none, and six pairs of fractions

static const uint32_t vectors[VECTORS][ROWS] = {
    {0, 0}, {0, 0}, {ONE, ONE}, {0, ONE}, {ONE / 2, 0}, {ONE, ONE / 2}, {ONE / 2, ONE / 2}};

// The law of a device under a server and for the rows that it draws, which say nothing of the data:
// bit t - 1 of `rows`.
static run_law law_of(const shoal_evolving *run, uint32_t data, uint32_t server, uint32_t rows)
{
    run_law law = {0, {0}};
    shoal_epoch_ledger ledger = {0, 0, 0};
    uint32_t reference[ROWS] = {ONE / 2, ONE / 2}, previous[ROWS] = {ONE / 2, ONE / 2};
    uint64_t a = 0, b = 0, vote, sends;
    CHECK(shoal_threshold(&a, run->vote_micro, 1) == SHOAL_OK &&
          shoal_threshold(&b, run->estimate_micro, 1) == SHOAL_OK);
    for (uint32_t t = 1; t <= run->epochs + 1; t++, server /= 2, data /= VECTORS) {
        uint32_t is_update = t > 1 && server % 2;
        const uint32_t *now =
            t > run->epochs || data % VECTORS == 0 ? NULL : vectors[data % VECTORS];
        if (shoal_heavythresh_step(&vote, &sends, &ledger, reference, previous, run, ROWS, t,
                                   is_update, now) != SHOAL_EPOCH_ACCEPTED)
            continue;
        law_toss(&law, vote, a);
        law_toss(&law, 2 * (uint64_t)reference[rows >> (t - 1) & 1] & sends, b);
    }
    CHECK(2 * ledger.vote_micro + ledger.estimate_micro <= run->eps_micro);
    return law;
}

static double largest_of(const shoal_evolving *run)
{
    static run_law laws[2500];
    double largest = 0;
    uint32_t n_data = 1;
    for (uint32_t t = 0; t < run->epochs; t++) n_data *= VECTORS;
    for (uint32_t server = 0; server < 2u << run->epochs; server += 2) // digit 0 is about epoch 0
        for (uint32_t rows = 0; rows < 2u << run->epochs; rows += 2) {
            uint32_t n = 0;
            for (uint32_t data = 0; data < n_data; data++) {
                run_law law = law_of(run, data, server, rows);
                law_keep(laws, &n, sizeof laws / sizeof laws[0], &law);
            }
            largest = fmax(largest, largest_loss(laws, n, run->epochs == 2));
        }
    return largest;
}

static void whole_runs(void)
{
    const shoal_evolving runs[] = {
        make_run(2, 1000000, 250000, 500000, 15), // a vote, an estimate
        make_run(3, 1300000, 310000, 300000, 15), // a vote, two estimates
    };
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        const shoal_evolving *run = &runs[i];
        double loss = largest_of(run);
        double formula = 2 * run->n_votes * drawn(run->vote_micro) +
                         run->n_estimates * drawn(run->estimate_micro);
        if (!CHECK(fabs(loss - formula) < 1e-9))
            printf("run %zu: %.9f, not %.9f\n", i, loss, formula);
        CHECK(loss <= run->eps_micro / 1e6 + 1e-12);
    }
}

// The vote is about the largest difference of any coordinate, whatever its sign.
static void votes(void)
{
    const shoal_evolving run = make_run(2, 16000000, 10000, 10000, 10);
    uint32_t tau = (uint32_t)((run.step * 2 + 131071) >>
                              17); // tau_1, which votes in every epoch, in units of 2^-31
    for (uint32_t j = 0; j < W; j++)
        for (int above = 0; above < 2; above++)
            for (int sign = 0; sign < 2; sign++) {
                uint32_t reference[W], previous[W], now[W], before[W],
                    distance = above ? tau + 1 : tau - 1;
                shoal_epoch_ledger ledger = {0, 0, 0};
                uint64_t vote, sends;
                for (uint32_t i = 0; i < W; i++) {
                    reference[i] = previous[i] = ONE / 2;
                    now[i] = ONE / 2 + (i % 5) * (tau / 10);
                }
                now[j] = sign ? ONE / 2 - distance : ONE / 2 + distance;
                CHECK(shoal_heavythresh_step(&vote, &sends, &ledger, reference, previous, &run, W,
                                             1, 0, now) == SHOAL_EPOCH_ACCEPTED);
                CHECK(vote == (above ? SHOAL_NUMBER_ONE : 0) && sends == 0);
                CHECK(memcmp(previous, now, sizeof now) == 0 && reference[j] == ONE / 2);
                memcpy(before, now, sizeof now);
                now[0] = 5;
                const uint32_t *data = sign ? now : NULL;
                CHECK(shoal_heavythresh_step(&vote, &sends, &ledger, reference, previous, &run, W,
                                             2, 1, data) == SHOAL_EPOCH_ACCEPTED);
                CHECK(vote == (sign ? SHOAL_NUMBER_ONE : 0) && sends == UINT64_MAX);
                CHECK(memcmp(reference, before, sizeof now) == 0);
                CHECK(memcmp(previous, sign ? now : before, sizeof now) == 0);
            }
}

// A record: the vote's coin, a uniform row, the coin of that row's fraction, or that of nobody.
static void records(void)
{
    shoal_recipe recipe;
    uint32_t reference[W];
    CHECK(epoch_recipe(&recipe, &plan, 1, 0, NULL) == SHOAL_OK);
    for (uint32_t j = 0; j < W; j++) reference[j] = ONE / W * j;
    for (uint32_t row = 0; row < W; row++)
        for (uint32_t draw = 0; draw < W; draw++)
            for (uint64_t sends = 0; sends < 2; sends++) {
                uint8_t record[6] = {9, 9, 9, 9, 9, 9};
                shoal_rng rng;
                script(&rng, 5, 0);
                script_word(&rng, 0, (uint64_t)1 << 63);
                script_word(&rng, 1, UINT64_MAX); // no flip
                script_word(&rng, 2, row + W * (uint64_t)draw);
                script_word(&rng, 3, ((uint64_t)draw << 32) * (1u << 26)); // draw/64
                script_word(&rng, 4, UINT64_MAX);
                shoal_heavythresh_record(record, &recipe, draw % 2 ? SHOAL_NUMBER_ONE : 0,
                                         0 - sends, reference, &rng);
                CHECK(rng.used == 40 && shoal_record_check(&recipe, record) == SHOAL_OK);
                CHECK(record[0] == draw % 2 && record[1] == row && record[2] == 0 &&
                      record[3] == 0 && record[4] == 0);
                CHECK(record[5] == (sends && draw < row));
            }
}

// ---- projection ----

static int sign_of(const uint8_t *bits, uint32_t j)
{
    return bits[j / 8] >> (j % 8) & 1 ? 1 : -1;
}

// Signs are the key stream of the item's nonce: the start of it for a smaller w; balanced, and of
// any two items uncorrelated.
static void signs(void)
{
    static uint8_t all[40][8192], some[8192];
    uint32_t key[8], other_key[8];
    const uint8_t seed[32] = {1, 2, 3}, other[32] = {1, 2, 4};
    shoal_heavythresh_key(key, seed);
    shoal_heavythresh_key(other_key, other);
    for (uint64_t i = 0; i < 40; i++)
        shoal_heavythresh_signs(all[i], 65536, key, i << (i % 2 ? 58 : 0));
    for (uint32_t w = 64; w <= 65536; w *= 2) {
        memset(some, 0, sizeof some);
        shoal_heavythresh_signs(some, w, key, 7ull << 58);
        CHECK(memcmp(some, all[7], w / 8) == 0 && (w == 65536 || some[w / 8] == 0));
    }
    for (uint32_t block = 0; block < 128; block++) {
        uint8_t stream[64];
        const uint32_t tail[4] = {block, 0, 0, 7u << 26};
        shoal_chacha20_block(stream, key, tail);
        CHECK(memcmp(stream, all[7] + 64 * block, 64) == 0);
    }
    shoal_heavythresh_signs(some, 65536, other_key, 0);
    memcpy(all[1], some, sizeof some);
    for (int a = 0; a < 40; a++)
        for (int b = -1; b < a; b++) { // b = -1: against all ones
            int sum = 0;
            for (uint32_t j = 0; j < 65536; j++)
                sum += sign_of(all[a], j) * (b < 0 ? 1 : sign_of(all[b], j));
            CHECK(abs(sum) < 5 * 256); // 820 sums, sd 256: beyond 5 sd once in 2,000 keys
        }
}

static void projections(void)
{
    enum { N = 50 };
    static shoal_counted values[N];
    static uint32_t fractions[2048], again[2048];
    uint8_t bits[256], seed[32] = {9};
    uint32_t key[8];
    double expected[2048] = {0}, total = 0;
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    shoal_heavythresh_key(key, seed);
    for (uint32_t i = 0; i < N; i++) {
        values[i] = (shoal_counted){shoal_rng_u64(&rng), (uint32_t)shoal_rng_below(&rng, 1000)};
        total += values[i].count;
        shoal_heavythresh_signs(bits, 2048, key, values[i].item);
        for (uint32_t j = 0; j < 2048; j++)
            expected[j] += (sign_of(bits, j) > 0) * (double)values[i].count;
    }
    CHECK(shoal_heavythresh_project(fractions, 2048, key, values, N) == SHOAL_OK);
    for (uint32_t j = 0; j < 2048; j++)
        CHECK(fabs(fractions[j] - expected[j] / total * ONE) < 1.001);
    for (uint32_t i = 0; i < N; i++) values[i].count *= 30000; // the same histogram
    CHECK(shoal_heavythresh_project(again, 2048, key, values, N) == SHOAL_OK);
    for (uint32_t j = 0; j < 2048; j++) CHECK(fabs((double)fractions[j] - again[j]) < 2.001);
    values[0].count = SHOAL_HEAVYTHRESH_SAMPLES_MAX; // too many in all
    CHECK(shoal_heavythresh_project(again, 2048, key, values, N) == SHOAL_ERR_RANGE);
    values[0].count = 0;
    CHECK(shoal_heavythresh_project(again, 2048, key, values, 1) == SHOAL_ERR_RANGE);
}

// x/total of all totals at and near the ends, and of some in between: exact at both ends, never off
// by more than a unit.
static void fractions(void)
{
    const uint32_t totals[] = {1,
                               2,
                               3,
                               7,
                               1000,
                               65535,
                               100000,
                               1u << 30,
                               SHOAL_HEAVYTHRESH_SAMPLES_MAX - 1,
                               SHOAL_HEAVYTHRESH_SAMPLES_MAX};
    for (size_t i = 0; i < sizeof totals / sizeof totals[0]; i++) {
        uint32_t n = totals[i], x[W], u[W];
        for (uint32_t j = 0; j < W; j++)
            x[j] = j < W / 2 ? (j < n ? j : n) : n - (W - 1 - j < n ? W - 1 - j : n);
        shoal_heavythresh_fractions(u, x, W, n);
        CHECK(u[0] == 0 && u[W - 1] == ONE);
        for (uint32_t j = 0; j < W; j++)
            CHECK(fabs(u[j] - (double)x[j] / n * ONE) < 1.001 && u[j] <= ONE);
    }
}

// ---- bytes ----

static uint8_t bytes[1024];
static size_t bytes_len;

static shoal_epoch_refusal answer(uint8_t record[6], const shoal_recipe *recipe,
                                  const shoal_counted *values, uint32_t n, uint8_t first)
{
    static uint32_t scratch[3 * W];
    uint8_t seed[32] = {first};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    shoal_epoch_refusal refusal =
        shoal_heavythresh_answer(record, bytes, bytes_len, recipe, values, n, scratch, &rng);
    for (uint32_t i = 0; i < 3 * W; i++) CHECK(refusal != SHOAL_EPOCH_ACCEPTED || scratch[i] == 0);
    return refusal;
}

static void is_refused(const shoal_recipe *recipe, const shoal_counted *values, uint32_t n,
                       shoal_epoch_refusal refusal)
{
    uint8_t record[6] = {8, 8, 8, 8, 8, 8}, before[sizeof bytes];
    memcpy(before, bytes, sizeof bytes);
    CHECK(answer(record, recipe, values, n, 1) == refusal);
    CHECK(record[0] == 8 && record[5] == 8 && memcmp(before, bytes, sizeof bytes) == 0);
}

static void as_bytes(void)
{
    shoal_recipe recipe, before;
    shoal_epoch_ledger ledger = {0, 0, 0};
    uint32_t reference[W], previous[W], now[W], key[8], n_votes = 0;
    shoal_run_spent spent;
    for (uint32_t j = 0; j < W; j++) reference[j] = previous[j] = ONE / 2;
    CHECK(epoch_recipe(&recipe, &plan, 1, 0, NULL) == SHOAL_OK);
    CHECK(shoal_run_init(bytes, sizeof bytes, &bytes_len, &recipe) == SHOAL_OK &&
          bytes_len == 96 + 8 * W + 8);
    shoal_heavythresh_key(key, recipe.seed);
    for (uint32_t t = 1; t <= 20; t++) {
        uint32_t is_update = t % 4 == 3, n = t % 6 == 0 ? 0 : 3;
        const shoal_counted values[3] = {{1000 + t % 5, 70}, {77, 40}, {99ull << 40, 3 * t}};
        uint64_t vote, sends;
        uint8_t record[6], expected[6], seed[32] = {(uint8_t)t};
        shoal_rng rng;
        CHECK(epoch_recipe(&recipe, &plan, t, is_update, t > 1 ? &before : NULL) == SHOAL_OK);
        shoal_evolving run = shoal_evolving_of(&recipe);
        if (n > 0) CHECK(shoal_heavythresh_project(now, W, key, values, n) == SHOAL_OK);
        CHECK(shoal_heavythresh_step(&vote, &sends, &ledger, reference, previous, &run, W, t,
                                     is_update, n > 0 ? now : NULL) == SHOAL_EPOCH_ACCEPTED);
        n_votes += vote != 0;
        shoal_rng_init(&rng, seed);
        shoal_heavythresh_record(expected, &recipe, vote, sends, reference, &rng);
        CHECK(answer(record, &recipe, values, n, (uint8_t)t) == SHOAL_EPOCH_ACCEPTED &&
              memcmp(record, expected, 6) == 0);
        CHECK(shoal_run_spent_of(&spent, bytes, bytes_len, &recipe) == SHOAL_OK &&
              spent.epoch == t);
        CHECK(spent.n_votes == n_votes &&
              spent.eps_micro == 2 * ledger.vote_micro + ledger.estimate_micro);
        is_refused(&recipe, values, n, SHOAL_EPOCH_ANSWERED);
        before = recipe;
    }
    CHECK(n_votes > 2 && n_votes <= 5 && spent.n_estimates == 4);
}

static void refusals(void)
{
    shoal_recipe recipe, next;
    shoal_evolving_plan other = plan;
    const shoal_counted values[2] = {{5, 1}, {6, 0}};
    uint8_t record[6];
    CHECK(epoch_recipe(&recipe, &plan, 1, 0, NULL) == SHOAL_OK);
    CHECK(shoal_run_init(bytes, sizeof bytes, &bytes_len, &recipe) == SHOAL_OK);
    is_refused(&recipe, values + 1, 1, SHOAL_EPOCH_NOT_TRACKED); // a histogram of nothing
    CHECK(answer(record, &recipe, values, 2, 1) == SHOAL_EPOCH_ACCEPTED);
    CHECK(epoch_recipe(&next, &plan, 2, 1, &recipe) == SHOAL_OK);
    for (size_t i = 0; i < bytes_len; i++) {
        bytes[i] ^= 64;
        is_refused(&next, values, 2, SHOAL_EPOCH_STATE);
        bytes[i] ^= 64;
    }
    other.projection = 2 * W; // bytes of another length
    CHECK(epoch_recipe(&next, &other, 2, 1, &recipe) == SHOAL_OK);
    is_refused(&next, values, 2, SHOAL_EPOCH_STATE);
    other.projection = W;
    other.eps_estimate_micro++;
    CHECK(epoch_recipe(&next, &other, 2, 1, &recipe) == SHOAL_OK);
    is_refused(&next, values, 2, SHOAL_EPOCH_RUN);
    CHECK(recipe.record_size == 6 && recipe.text_size == 6 && recipe.cost_micro == 4000000 &&
          recipe.parts[1].k == W);
    char text[6];
    uint8_t back[6];
    CHECK(shoal_record_to_text(text, sizeof text, &recipe, record) == SHOAL_OK && text[1] == ';' &&
          text[4] == ',');
    CHECK(shoal_record_from_text(back, &recipe, text, 6, NULL) == SHOAL_OK &&
          memcmp(back, record, 6) == 0);
    other.projection = 65;
    CHECK(epoch_recipe(&next, &other, 1, 0, NULL) == SHOAL_ERR_RANGE);
    CHECK(strcmp(building.error_field, "parameters.projection") == 0);
}

int main(void)
{
    whole_runs();
    votes();
    records();
    signs();
    projections();
    fractions();
    as_bytes();
    refusals();
    return check_summary();
}
