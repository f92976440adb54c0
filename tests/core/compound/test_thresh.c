// SPDX-License-Identifier: Apache-2.0
// THRESH on the device: the loss of whole runs by enumeration of data, servers and transcripts
// against the formula of the papers' notes; who votes when, and what an estimate is of; servers
// that repeat, go back, skip, lie; the state as bytes, damaged at each of them; recipes.
#include "thresh.h"

#include "bytes.h"
#include "checksum.h"
#include "ledger.h"
#include "record.h"
#include "test_runs.h"

#define ONE SHOAL_NUMBER_ONE

static const shoal_evolving_plan plan = {.eps_micro = 4000000,
                                         .users = 100000,
                                         .samples = 100000,
                                         .epochs = 1000,
                                         .smallest_group = 100000,
                                         .groups = 1,
                                         .delta_exp = 6};

// ---- privacy ----

#define MEANS 6 // 0, 1/4, 1/2, 3/4, 1, none

static uint64_t mean_at(uint32_t i)
{
    return i == 5 ? SHOAL_ITEM_NONE : i * (ONE / 4);
}

// The law of a device whose mean of epoch t is digit t - 1 of `data`, under a server whose act
// about index t is digit t - 1 of `server`.
static run_law law_of(const shoal_evolving *run, uint32_t data, uint32_t server)
{
    run_law law = {0, {0}};
    shoal_thresh state;
    uint64_t a = 0, b = 0, items[2];
    CHECK(shoal_threshold(&a, run->vote_micro, 1) == SHOAL_OK &&
          shoal_threshold(&b, run->estimate_micro, 1) == SHOAL_OK);
    shoal_thresh_start(&state);
    for (uint32_t t = 1; t <= run->epochs + 1; t++, server /= 3, data /= MEANS) {
        uint32_t is_update = server % 3 == SERVER_UPDATES;
        if (server % 3 == SERVER_SKIPS) continue;
        if (shoal_thresh_step(items, &state, run, t, is_update, mean_at(data % MEANS)) !=
            SHOAL_EPOCH_ACCEPTED)
            continue;
        law_toss(&law, items[0], a);
        law_toss(&law, items[1], b);
        CHECK(4 * state.ledger.vote_micro <= run->eps_micro &&
              2 * state.ledger.estimate_micro <= run->eps_micro);
    }
    CHECK(2 * state.ledger.vote_micro + state.ledger.estimate_micro <= run->eps_micro);
    return law;
}

static uint32_t power_of(uint32_t base, uint32_t exponent)
{
    uint32_t product = 1;
    while (exponent-- > 0) product *= base;
    return product;
}

// Servers that skip nothing, where `is_full`; else all.
static double largest_of(const shoal_evolving *run, int is_full, int is_enumerated)
{
    static run_law laws[1300];
    double largest = 0;
    for (uint32_t server = 0; server < power_of(3, run->epochs + 1); server++) {
        uint32_t n = 0, rest = server, skips = 0;
        for (uint32_t t = 0; t <= run->epochs; t++, rest /= 3) skips += rest % 3 == SERVER_SKIPS;
        if (is_full && skips > 0) continue;
        for (uint32_t data = 0; data < power_of(MEANS, run->epochs); data++) {
            run_law law = law_of(run, data, server);
            law_keep(laws, &n, sizeof laws / sizeof laws[0], &law);
        }
        largest = fmax(largest, largest_loss(laws, n, is_enumerated));
    }
    return largest;
}

// The formula, reached: both caps bind, and the yes-votes of the two inputs fall in different
// epochs.
static void whole_runs(void)
{
    const shoal_evolving runs[] = {
        make_run(2, 1000000, 250000, 500000, 15),  // a vote, an estimate
        make_run(3, 1000000, 250000, 500000, 15),  //
        make_run(3, 1300000, 310000, 300000, 15),  // a vote, two estimates; neither divides epsilon
        make_run(4, 2000000, 250000, 500000, 15),  // two votes, two estimates: all of epsilon
        make_run(4, 2100000, 260000, 1050000, 15), // two votes, an estimate
        make_run(4, 1500000, 200000, 190000, 15),  // a vote, three estimates
    };
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        const shoal_evolving *run = &runs[i];
        double loss = largest_of(run, run->epochs == 4, run->epochs == 2);
        double formula = 2 * run->n_votes * drawn(run->vote_micro) +
                         run->n_estimates * drawn(run->estimate_micro);
        if (!CHECK(fabs(loss - formula) < 1e-9))
            printf("run %zu: %.9f, not %.9f\n", i, loss, formula);
        CHECK(loss <= run->eps_micro / 1e6 + 1e-12);
    }
}

// Where a run is too short for its caps, and where votes need more distance than there is, it costs
// less. Of one epoch: who votes differs from the middle, so that of two of which one votes the
// estimates are an end and the middle.
static void short_runs(void)
{
    const shoal_evolving one = make_run(1, 1000000, 250000, 500000, 15);
    CHECK(fabs(largest_of(&one, 0, 1) - drawn(250000) - log((1 + exp(drawn(500000))) / 2)) < 1e-9);
    const shoal_evolving distant = make_run(3, 1000000, 250000, 500000, 101);
    CHECK(fabs(largest_of(&distant, 0, 0) - drawn(500000)) < 1e-9);
}

// ---- votes and estimates ----

// Whether level i votes in epoch t of 8; level -1 never does.
static uint64_t vote_of(int level, uint32_t t)
{
    return level >= 0 && t % (1u << (3 - level)) == 0 ? ONE : 0;
}

// Tau_i votes in epochs that 2^(levels - i) divides: the highest that is exceeded, on either side;
// one that is only met does not count.
static void thresholds(void)
{
    const shoal_evolving run = make_run(8, 16000000, 10000, 10000, 10);
    for (int level = 0; level <= 3; level++)
        for (uint32_t t = 1; t <= 8; t++)
            for (uint64_t above = 0; above < 2; above++)
                for (int sign = 0; sign < 2; sign++) {
                    uint64_t distance = ((run.step * (uint64_t)(level + 1) + 65535) >> 16) + above,
                             items[2];
                    uint64_t mean = sign ? ONE / 2 - distance : ONE / 2 + distance;
                    shoal_thresh state = {{t - 1, 0, 0}, ONE / 2, 0};
                    CHECK(shoal_thresh_step(items, &state, &run, t, 0, mean) ==
                          SHOAL_EPOCH_ACCEPTED);
                    CHECK(items[0] == vote_of(above ? level : level - 1, t) && items[1] == 0);
                    CHECK(state.previous == mean && state.reference == ONE / 2 &&
                          state.ledger.epoch == t);
                    CHECK(state.ledger.vote_micro == (items[0] ? 10000u : 0));
                }
}

static void step_is(shoal_thresh *state, const shoal_evolving *run, uint32_t t, uint32_t is_update,
                    uint64_t mean, uint64_t vote, uint64_t estimate)
{
    uint64_t items[2] = {9, 9};
    CHECK(shoal_thresh_step(items, state, run, t, is_update, mean) == SHOAL_EPOCH_ACCEPTED);
    if (!CHECK(items[0] == vote && items[1] == estimate)) printf("epoch %u\n", t);
}

// A run of 8 epochs, by hand: 2 votes, 3 estimates.
static void a_run(void)
{
    const shoal_evolving run = make_run(8, 800000, 100000, 130000, 10);
    shoal_thresh state;
    shoal_thresh_start(&state);
    step_is(&state, &run, 1, 0, ONE / 2, 0, 0);
    step_is(&state, &run, 2, 0, 0, ONE, 0);             // 1/2 from the start: above all thresholds
    step_is(&state, &run, 3, 1, SHOAL_ITEM_NONE, 0, 0); // sends the 0 of epoch 2; no data now
    step_is(&state, &run, 4, 1, ONE, ONE, 0); // epoch 3 is what was known: 0 again. The last vote
    step_is(&state, &run, 5, 1, ONE / 4, 0, ONE); // three quarters from epoch 4: no votes left
    CHECK(state.reference == ONE && state.previous == ONE / 4);
    step_is(&state, &run, 6, 1, ONE, 0, 0); // no estimates left; the reference moves all the same
    CHECK(state.reference == ONE / 4);
    CHECK(state.ledger.vote_micro == 200000 && state.ledger.estimate_micro == 390000);
    step_is(&state, &run, 9, 1, ONE, 0, 0); // collects only
    CHECK(state.ledger.epoch == 9);
    state = (shoal_thresh){
        {2, 0, 0}, ONE / 2, ONE}; // what was known is far from the reference: no data, no vote
    step_is(&state, &run, 3, 0, SHOAL_ITEM_NONE, 0, 0);
    CHECK(state.previous == ONE);
}

// ---- servers ----

static void refused_servers(void)
{
    const shoal_evolving run = make_run(4, 2000000, 250000, 500000, 15);
    const shoal_thresh start = {{2, 250000, 0}, ONE / 4, ONE};
    const struct {
        uint32_t epoch, index, is_update;
        shoal_epoch_refusal refusal;
    } acts[] = {{2, 2, 0, SHOAL_EPOCH_ANSWERED}, {2, 2, 1, SHOAL_EPOCH_ANSWERED},
                {2, 1, 0, SHOAL_EPOCH_ANSWERED}, {2, 0, 0, SHOAL_EPOCH_ANSWERED},
                {0, 1, 1, SHOAL_EPOCH_FIRST},    {2, 5, 0, SHOAL_EPOCH_LATE},
                {2, 6, 0, SHOAL_EPOCH_LATE},     {2, 6, 1, SHOAL_EPOCH_LATE},
                {5, 5, 1, SHOAL_EPOCH_ANSWERED}, {5, 6, 1, SHOAL_EPOCH_LATE},
                {0, 0, 0, SHOAL_EPOCH_ANSWERED}, {2, UINT32_MAX, 1, SHOAL_EPOCH_LATE}};
    for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++) {
        shoal_thresh state = start;
        uint64_t items[2] = {7, 7};
        state.ledger.epoch = acts[i].epoch;
        CHECK(shoal_thresh_step(items, &state, &run, acts[i].index, acts[i].is_update, ONE) ==
              acts[i].refusal);
        CHECK(items[0] == 7 && items[1] == 7 && state.ledger.epoch == acts[i].epoch);
        CHECK(state.ledger.vote_micro == 250000 && state.ledger.estimate_micro == 0 &&
              state.reference == ONE / 4);
    }
    shoal_thresh state = start;
    uint64_t items[2];
    CHECK(shoal_thresh_step(items, &state, &run, 4, 0, ONE) ==
          SHOAL_EPOCH_ACCEPTED); // 3 is skipped
    for (uint32_t r = 0; r < SHOAL_EPOCH_REFUSALS; r++)
        for (uint32_t s = 0; s < r; s++) {
            CHECK(strcmp(shoal_epoch_refusal_name((shoal_epoch_refusal)r),
                         shoal_epoch_refusal_name((shoal_epoch_refusal)s)) != 0);
            CHECK(strcmp(shoal_epoch_refusal_text((shoal_epoch_refusal)r),
                         shoal_epoch_refusal_text((shoal_epoch_refusal)s)) != 0);
        }
    CHECK(strcmp(shoal_epoch_refusal_name(SHOAL_EPOCH_REFUSALS), "unknown") == 0);
}

// ---- bytes ----

static uint8_t bytes[512];
static size_t bytes_len;

static shoal_epoch_refusal answer(uint8_t record[2], const shoal_recipe *recipe, uint64_t mean,
                                  uint8_t first)
{
    uint8_t seed[32] = {first};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    return shoal_thresh_answer(record, bytes, bytes_len, recipe, mean, &rng);
}

// Answers a recipe that must be refused: record and state stay.
static void is_refused(const shoal_recipe *recipe, shoal_epoch_refusal refusal)
{
    uint8_t record[2] = {8, 8}, before[sizeof bytes];
    memcpy(before, bytes, sizeof bytes);
    CHECK(answer(record, recipe, ONE, 1) == refusal);
    CHECK(record[0] == 8 && record[1] == 8 && memcmp(before, bytes, sizeof bytes) == 0);
}

// The bytes live through a run as the struct does, and give the records that its items give.
static void as_bytes(void)
{
    shoal_recipe recipe, before;
    shoal_thresh state;
    shoal_run_spent spent;
    shoal_thresh_start(&state);
    CHECK(epoch_recipe(&recipe, &plan, 1, 0, NULL) == SHOAL_OK);
    CHECK(shoal_run_init(bytes, shoal_run_size(&recipe) - 1, &bytes_len, &recipe) ==
          SHOAL_ERR_SPACE);
    CHECK(shoal_run_init(bytes, sizeof bytes, &bytes_len, &recipe) == SHOAL_OK && bytes_len == 120);
    for (uint32_t t = 1; t <= 30; t++) {
        uint32_t is_update = t % 3 == 2 && t > 2;
        uint64_t mean = t % 7 == 5 ? SHOAL_ITEM_NONE : t % 2 * (ONE / 3) + t * 1000003, items[2];
        uint8_t record[2], expected[2], seed[32] = {(uint8_t)t};
        shoal_rng rng;
        CHECK(epoch_recipe(&recipe, &plan, t, is_update, t > 1 ? &before : NULL) == SHOAL_OK);
        shoal_evolving run = shoal_evolving_of(&recipe);
        CHECK(shoal_thresh_step(items, &state, &run, t, is_update, mean) == SHOAL_EPOCH_ACCEPTED);
        shoal_rng_init(&rng, seed);
        CHECK(shoal_record_randomize(expected, &recipe, items, 2, NULL, &rng) == SHOAL_OK);
        CHECK(answer(record, &recipe, mean, (uint8_t)t) == SHOAL_EPOCH_ACCEPTED &&
              memcmp(record, expected, 2) == 0);
        CHECK(shoal_run_spent_of(&spent, bytes, bytes_len, &recipe) == SHOAL_OK &&
              spent.epoch == t);
        CHECK(spent.eps_micro == 2 * state.ledger.vote_micro + state.ledger.estimate_micro &&
              spent.eps_micro <= 4000000);
        is_refused(&recipe, SHOAL_EPOCH_ANSWERED);
        before = recipe;
    }
    CHECK(spent.n_votes > 5 && spent.n_votes <= 11 && spent.n_estimates == 9);
}

static void other_recipes(void)
{
    shoal_recipe recipe, before;
    shoal_evolving_plan other = plan;
    uint8_t record[2];
    CHECK(epoch_recipe(&before, &plan, 1, 0, NULL) == SHOAL_OK);
    CHECK(shoal_run_init(bytes, sizeof bytes, &bytes_len, &before) == SHOAL_OK);
    CHECK(epoch_recipe(&recipe, &plan, 1001, 0, NULL) == SHOAL_OK);
    is_refused(&recipe, SHOAL_EPOCH_LATE);
    CHECK(epoch_recipe(&recipe, &plan, 1002, 1, NULL) == SHOAL_OK);
    is_refused(&recipe, SHOAL_EPOCH_LATE);
    CHECK(epoch_recipe(&recipe, &plan, 1, 1, NULL) == SHOAL_OK);
    is_refused(&recipe, SHOAL_EPOCH_FIRST);
    other.eps_micro++;
    CHECK(epoch_recipe(&recipe, &other, 1, 0, NULL) == SHOAL_OK);
    is_refused(&recipe, SHOAL_EPOCH_RUN);
    CHECK(answer(record, &before, ONE + 1, 1) == SHOAL_EPOCH_NOT_TRACKED);
    CHECK(answer(record, &before, 0, 1) == SHOAL_EPOCH_ACCEPTED);
    CHECK(epoch_recipe(&recipe, &plan, 2, 0, NULL) == SHOAL_OK); // another epoch 1 before it
    is_refused(&recipe, SHOAL_EPOCH_FOLLOWS);
    CHECK(epoch_recipe(&recipe, &plan, 3, 1, NULL) == SHOAL_OK); // the device was away in epoch 2
    CHECK(answer(record, &recipe, 0, 1) == SHOAL_EPOCH_ACCEPTED);
    CHECK(set_plan(&plan) == SHOAL_OK && finish_recipe(&recipe) == SHOAL_OK);
    is_refused(&recipe, SHOAL_EPOCH_NOT_TRACKED); // no round
    CHECK(onehot_recipe(&recipe, 1000000, 9) == SHOAL_OK && shoal_run_size(&recipe) == 0);
    is_refused(&recipe, SHOAL_EPOCH_NOT_TRACKED);
    CHECK(shoal_run_init(bytes, sizeof bytes, &bytes_len, &recipe) == SHOAL_ERR_ARGUMENT);
}

static void damaged_bytes(void)
{
    shoal_recipe recipe, next;
    uint8_t record[2];
    shoal_run_spent spent;
    CHECK(epoch_recipe(&recipe, &plan, 1, 0, NULL) == SHOAL_OK);
    CHECK(shoal_run_init(bytes, sizeof bytes, &bytes_len, &recipe) == SHOAL_OK);
    CHECK(answer(record, &recipe, ONE, 3) == SHOAL_EPOCH_ACCEPTED);
    CHECK(epoch_recipe(&next, &plan, 2, 1, &recipe) == SHOAL_OK);
    for (size_t i = 0; i < bytes_len; i++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] ^= (uint8_t)(1 << bit);
            is_refused(&next, SHOAL_EPOCH_STATE);
            CHECK(shoal_run_spent_of(&spent, bytes, bytes_len, &next) == SHOAL_ERR_LEDGER);
            bytes[i] ^= (uint8_t)(1 << bit);
        }
    for (size_t at = 16; at <= 24;
         at += 4) { // sealed, but of a ledger that cannot be: index, c_V, c_E
        uint8_t kept[512];
        memcpy(kept, bytes, sizeof kept);
        store32_le(bytes + at, at == 16 ? 1002 : at == 20 ? 1000001 : 2000001);
        store64_le(bytes + bytes_len - 8, shoal_checksum_of(bytes, bytes_len - 8));
        is_refused(&next, SHOAL_EPOCH_STATE);
        store32_le(bytes + at, at == 16 ? 1001 : at == 20 ? 1000000 : 2000000);
        store64_le(bytes + bytes_len - 8, shoal_checksum_of(bytes, bytes_len - 8));
        CHECK(shoal_run_spent_of(&spent, bytes, bytes_len, &next) == SHOAL_OK);
        memcpy(bytes, kept, sizeof kept);
    }
    size_t len = bytes_len;
    for (bytes_len = 0; bytes_len < len; bytes_len++) is_refused(&next, SHOAL_EPOCH_STATE);
    bytes_len = len + 1;
    is_refused(&next, SHOAL_EPOCH_STATE);
    bytes_len = len;
    CHECK(answer(record, &next, ONE, 3) == SHOAL_EPOCH_ACCEPTED);
}

static void recipes(void)
{
    shoal_recipe recipe, next;
    shoal_evolving_plan small = plan;
    CHECK(epoch_recipe(&recipe, &plan, 1, 0, NULL) == SHOAL_OK &&
          epoch_recipe(&next, &plan, 2, 1, &recipe) == SHOAL_OK);
    CHECK(memcmp(recipe.run_hash, next.run_hash, 32) == 0 &&
          memcmp(recipe.recipe_hash, next.recipe_hash, 32) != 0);
    CHECK(recipe.cost_micro == 4000000 && recipe.n_parts == 2 && recipe.record_size == 2 &&
          recipe.text_size == 3);
    CHECK(recipe.parts[0].eps_micro == 89056 && recipe.parts[1].eps_micro == 178739 &&
          recipe.value_part == 1);
    // The ledger is debited once, for all reports of the run.
    static uint8_t ledger[SHOAL_LEDGER_SIZE_MAX]; // more than the stack of WebAssembly holds
    size_t ledger_len = 0;
    shoal_ledger_sum sum;
    uint32_t day = recipe.expires_day;
    CHECK(shoal_ledger_init(ledger, sizeof ledger, &ledger_len, day - 1) == SHOAL_OK);
    CHECK(shoal_ledger_debit(ledger, &ledger_len, sizeof ledger, &recipe, day) == SHOAL_OK);
    CHECK(shoal_ledger_spent(&sum, ledger, ledger_len, &recipe, day, day) == SHOAL_OK);
    CHECK(sum.count == 1 && sum.eps_micro == 4000000);
    small.smallest_group = 11849;
    CHECK(epoch_recipe(&recipe, &small, 1, 0, NULL) == SHOAL_ERR_RANGE);
    CHECK(strcmp(building.error_field, "parameters.smallest_group") == 0);
    small.smallest_group = 11850; // a is just below 1: epsilon 4 has a vote
    CHECK(epoch_recipe(&recipe, &small, 1, 0, NULL) == SHOAL_OK &&
          recipe.parts[0].eps_micro > 999000);
    CHECK(set_plan(&plan) == SHOAL_OK && set_int("parameters.projection", 64) == SHOAL_OK);
    CHECK(finish_recipe(&recipe) == SHOAL_ERR_UNKNOWN_FIELD);
    CHECK(start_any_recipe("thresh", "item") == SHOAL_OK &&
          set_micro("parameters.epsilon", 4000000) == SHOAL_OK);
    CHECK(finish_recipe(&recipe) != SHOAL_OK);
}

int main(void)
{
    whole_runs();
    short_runs();
    thresholds();
    a_run();
    refused_servers();
    as_bytes();
    other_recipes();
    damaged_bytes();
    recipes();
    return check_summary();
}
