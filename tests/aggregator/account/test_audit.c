// SPDX-License-Identifier: Apache-2.0
// The auditor: passes every mechanism at every epsilon, and refuses each kind of broken one. The
// broken ones are asymmetric one-hot with a fault planted in its descriptor or in its account: this
// program's own copies of the two take the place of the library's.
#include "agg_test.h"

#include <math.h>

#include "account.h"
#include "audit.h"
#include "part_recipe.h"

#define shoal_onehot_asymmetric_mechanism sound_onehot
#include "onehot_asymmetric.c"
#undef shoal_onehot_asymmetric_mechanism
#define agg_onehot_asymmetric_account sound_account
#include "onehot_asymmetric_account.c"
#undef agg_onehot_asymmetric_account

enum fault {
    SOUND = 0,
    LESS_NOISE,    // the randomizer flips less than its threshold says
    LOW_COIN,      // the threshold is that of a larger epsilon
    BLIND_FORMULA, // so it is, and the closed form repeats what was claimed
    UNSUMMED_LAW,  // the account's probabilities are no law
    TELLING_ORDER // a bit that has nothing to do with the item's own says which half of the list it
                  // is from
};
static enum fault fault;

static shoal_err faulty_prepare(shoal_part *part, const char **field)
{
    shoal_part other = *part;
    if (fault == LOW_COIN || fault == BLIND_FORMULA) other.eps_micro = part->eps_micro * 3 / 2;
    shoal_err err = sound_onehot.prepare(&other, field);
    other.eps_micro = part->eps_micro;
    *part = other;
    return err;
}

static void faulty_randomize(uint8_t *record, const shoal_part *part, uint64_t item,
                             const shoal_permanent *permanent, shoal_rng *rng)
{
    shoal_part other = *part;
    if (fault == LESS_NOISE) other.threshold /= 2;
    sound_onehot.randomize(record, &other, item, permanent, rng);
    if (fault == TELLING_ORDER) record[0] = (uint8_t)((record[0] & 0xfe) | (item >= part->m / 2));
}

static shoal_err sound_check(const shoal_part *part, const uint8_t *record)
{
    return sound_onehot.check(part, record);
}

static void sound_print(char *text, const shoal_part *part, const uint8_t *record)
{
    sound_onehot.print(text, part, record);
}

static shoal_err sound_parse(uint8_t *record, const shoal_part *part, const char *text,
                             size_t *position)
{
    return sound_onehot.parse(record, part, text, position);
}

static shoal_err faulty_epsilon(uint32_t *eps_micro, const shoal_part *part)
{
    *eps_micro = part->eps_micro;
    return fault == BLIND_FORMULA ? SHOAL_OK : sound_onehot.epsilon(eps_micro, part);
}

static bool sound_propose(shoal_part *part, const agg_wish *wish, uint32_t index)
{
    return sound_account.propose(part, wish, index);
}

static double sound_variance(const shoal_part *part, double n, double f, double squares)
{
    return sound_account.variance(part, n, f, squares);
}

static bool sound_tells_apart(const shoal_part *part, const uint8_t *record, uint64_t a, uint64_t b)
{
    return sound_account.tells_apart(part, record, a, b);
}

static uint64_t sound_n_outputs(const shoal_part *part)
{
    return sound_account.n_outputs(part);
}

static bool sound_output(uint8_t *record, const shoal_part *part, uint64_t index)
{
    return sound_account.output(record, part, index);
}

static double faulty_probability(const shoal_part *part, const uint8_t *record, uint64_t item)
{
    return sound_account.probability(part, record, item) * (fault == UNSUMMED_LAW ? 1.001 : 1);
}

const shoal_mechanism shoal_onehot_asymmetric_mechanism = {
    .id = shoal_onehot_asymmetric_id,
    .name = "onehot-asymmetric",
    .open = {0, 0},
    .closed = {SHOAL_TAKES_EPSILON | SHOAL_TAKES_LIST, 0},
    .number = {0, 0},
    .is_permanent = false,
    .prepare = faulty_prepare,
    .randomize = faulty_randomize,
    .check = sound_check,
    .print = sound_print,
    .parse = sound_parse,
    .epsilon = faulty_epsilon,
};

const agg_account agg_onehot_asymmetric_account = {
    .id = shoal_onehot_asymmetric_id,
    .propose = sound_propose,
    .variance = sound_variance,
    .tells_apart = sound_tells_apart,
    .n_outputs = sound_n_outputs,
    .output = sound_output,
    .probability = faulty_probability,
};

static void audit_natively(agg_audit *audit, const agg_recipe *recipe, const char *seed,
                           uint64_t trials, unsigned n_threads)
{
    agg_draws draws = {0};
    agg_error error = {SHOAL_OK, 0, ""};
    shoal_err err = agg_draws_add_usual(&draws, &error, recipe);
    agg_draws_native(&draws, seed, trials);
    if (err == SHOAL_OK) err = agg_audit_run(audit, &error, recipe, &draws, 0.999, n_threads);
    if (err != SHOAL_OK) fail_msg("%s", error.text);
    agg_draws_release(&draws);
}

static void audit_faulty(agg_audit *audit, enum fault planted, double epsilon)
{
    char text[1024];
    agg_recipe recipe;
    fault = planted;
    onehot_text(text, epsilon, "\"size\":12", "");
    read_recipe(&recipe, text);
    audit_natively(audit, &recipe, "faults", 40000, 2);
    agg_recipe_release(&recipe);
    fault = SOUND;
}

static int failed(const agg_audit *audit, const char *part)
{
    int n = 0;
    for (uint32_t i = 0; i < audit->n_failures; i++)
        n += strncmp(audit->failures[i], part, strlen(part)) == 0;
    return n;
}

static void every_answer_can_fail_alone(void **state)
{
    agg_audit audit;
    (void)state;
    audit_faulty(&audit, SOUND, 2);
    assert_int_equal(audit.n_failures, 0);
    assert_true(audit.exact <= 2 && audit.exact > 1.999999 && audit.law.is_whole);
    assert_true(fabs(audit.law.epsilon - 2) < 1e-6);
    // (1/2) / q: from "none" to an item its own bit goes from q to 1/2.
    assert_true(fabs(audit.law.deletion - log((exp(2) + 1) / 2)) < 1e-6);
    assert_true(audit.empirical_low > 1.8 && audit.empirical_low <= 2);

    audit_faulty(&audit, LOW_COIN, 2);
    assert_true(failed(&audit, "exact:") == 1 && failed(&audit, "enumerated:") == 1 &&
                failed(&audit, "empirical:") == 1);
    assert_true(fabs(audit.exact - 3) < 2e-6);

    audit_faulty(&audit, BLIND_FORMULA, 2);
    assert_true(failed(&audit, "exact:") == 0 && failed(&audit, "enumerated:") == 1 &&
                failed(&audit, "empirical:") == 1);
    assert_true(audit.exact <= 2 && fabs(audit.law.epsilon - 3) < 1e-6);

    // Twice the odds: ln 2 more. Only draws can tell.
    audit_faulty(&audit, LESS_NOISE, 2);
    assert_true(audit.n_failures == 1 && failed(&audit, "empirical:") == 1);
    assert_true(audit.empirical_low > 2.4 && audit.empirical_low < 2.8);

    audit_faulty(&audit, UNSUMMED_LAW, 2);
    assert_true(audit.n_failures == 1 && failed(&audit, "enumerated:") == 1);
    assert_true(fabs(audit.law.sum_error - 0.001) < 1e-6);

    // What no law of this mechanism speaks of must be learnt: of 40,000 draws 10,000 are left to
    // prove ln(10,000 / 11) or so.
    audit_faulty(&audit, TELLING_ORDER, 2);
    assert_true(audit.n_failures == 1 && failed(&audit, "empirical:") == 1);
    assert_true(!audit.event.is_law && audit.empirical_low > 6);
}

// A recipe of the account's first variant for these wishes, or 0.
static int recipe_of(agg_recipe *recipe, const agg_account *account, uint32_t size, int is_number,
                     uint32_t eps_micro)
{
    const agg_wish wish = {.eps_micro = eps_micro,
                           .size = size,
                           .is_number = is_number,
                           .n = 1000,
                           .squares = 2000,
                           .cells = 64};
    const agg_recipe_frame frame = {.id = "audit",
                                    .analysis = "a",
                                    .stream = "s",
                                    .value = is_number ? "number" : "item",
                                    .seed_hex = AGG_TEST_SEED,
                                    .low = "-1",
                                    .high = "3.5",
                                    .expires = "2030-01-01",
                                    .per_day = 1};
    shoal_part part;
    char *text = NULL;
    size_t len = 0;
    if (!account->propose(&part, &wish, 0)) return 0;
    FILE *stream = open_memstream(&text, &len);
    assert_non_null(stream);
    agg_part_recipe_print(stream, &part, &frame);
    fclose(stream);
    read_recipe(recipe, text);
    free(text);
    return 1;
}

typedef struct attempt {
    uint32_t eps_micro;
    uint64_t trials[3]; // in make test, in make test-long, in a campaign
    double shares[3];   // of the exact epsilon, which so many draws must prove
} attempt;

// What n draws can prove. An event of probability p_b under b has n p_b +- sqrt(n p_b) hits, and
// the bounds lie 4.3 of these away (0.001 over 2 * 18 bounds): the loss is about 4.3 / sqrt(n p_b),
// p_b = c e^-epsilon. c is 1/10 or more in these recipes, where one-hot's own event, olh's and
// hadamard's are rarest: at epsilon 4 and 5,000 draws 4.3 / sqrt(9) of 4 in the worst case.
static const attempt attempts[] = {
    {500000, {10000, 200000, 1500000}, {0.5, 0.85, 0.95}},
    {1000000, {5000, 50000, 200000}, {0.6, 0.88, 0.95}},
    {2000000, {5000, 50000, 200000}, {0.7, 0.9, 0.95}},
    {4000000, {5000, 50000, 200000}, {0.7, 0.9, 0.95}},
    {8000000, {5000, 100000, 800000}, {0.6, 0.8, 0.95}},
    {12000000, {5000, 100000, 800000}, {0.4, 0.6, 0.8}},
};

// What a faulty randomizer must have too much, to be found: the claim, over the share.
static uint32_t tier(void)
{
    return effort_of_campaign(2, effort(1, 0, 0));
}

static void audit_claim(const agg_account *account, const agg_recipe *recipe, const attempt *e)
{
    const uint32_t now = tier();
    agg_audit audit;
    audit_natively(&audit, recipe, "claims", e->trials[now], 2);
    if (now > 0)
        print_message("%-18s %s claimed %g exact %.6f enumerated %.6f empirical %.4f\n",
                      shoal_mechanism_by_id(account->id)->name,
                      agg_recipe_is_closed(recipe) ? "closed" : "open  ", audit.claimed,
                      audit.exact, audit.law.epsilon, audit.empirical_low);
    for (uint32_t f = 0; f < audit.n_failures; f++)
        fail_msg("%s, %s", recipe->json, audit.failures[f]);
    assert_true(audit.exact <= audit.claimed && audit.claimed <= e->eps_micro / 1e6);
    // The closed form is the enumeration, rounded up to a micro-unit; a sample of strings may stay
    // below.
    if (audit.law.is_whole) assert_true(audit.law.epsilon > audit.exact - 2e-6);
    if (audit.empirical_low < e->shares[now] * audit.exact)
        fail_msg("%s: draws prove %g of %g only", recipe->json, audit.empirical_low, audit.exact);
}

// At confidence 0.999 a sound randomizer is refused once in a thousand choices of the seeds; these
// are fixed.
static void every_mechanism_keeps_its_claim(void **state)
{
    const agg_account *account = NULL;
    agg_recipe recipe;
    (void)state;
    for (uint32_t i = 0; (account = agg_account_at(i)) != NULL; i++) {
        int n = 0;
        for (int kind = 0; kind < 3; kind++)
            for (size_t e = 0; e < sizeof attempts / sizeof attempts[0]; e++) {
                if (effort_is_small() && e != 2) continue; // the same code at any epsilon
                if (!recipe_of(&recipe, account, kind == 0 ? 9 : 0, kind == 2,
                               attempts[e].eps_micro))
                    continue;
                audit_claim(account, &recipe, &attempts[e]);
                agg_recipe_release(&recipe);
                n++;
            }
        assert_true(n > 0);
    }
}

// One report costs h (p* against q*), any number of them 2h (f/2 against 1 - f/2).
static void a_permanent_answer_is_judged_on_its_own(void **state)
{
    static const char text[] =
        "{\"recipe\":\"r\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"word\",\"mechanism\":"
        "\"rappor\","
        "\"parameters\":{\"bits\":6,\"hashes\":2,\"cohorts\":1,\"p\":0.25,\"q\":0.75,\"f\":0.5},"
        "\"hash\":\"poly1\","
        "\"seed\":\"" AGG_TEST_SEED "\",\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\"}";
    double p_star = 0.25 + 0.25 * 0.5, q_star = 0.75 - 0.25 * 0.5;
    agg_recipe recipe;
    agg_audit audit;
    (void)state;
    read_recipe(&recipe, text);
    audit_natively(&audit, &recipe, "answers", 40000, 2);
    if (audit.n_failures > 0) fail_msg("%s", audit.failures[0]);
    assert_true(fabs(audit.exact - 2 * log(q_star * (1 - p_star) / (p_star * (1 - q_star)))) <
                2e-6);
    assert_true(fabs(audit.law.epsilon - audit.exact) <
                2e-6); // some two of the strings share no bit in some cohort
    assert_true(audit.is_permanent && fabs(audit.unlimited - 4 * log(3)) < 2e-6);
    assert_true(audit.answer.is_enumerated && fabs(audit.answer.epsilon - audit.unlimited) < 2e-6);
    assert_true(audit.empirical_low > 0.8 * audit.exact); // the usual strings are two that are told
                                                          // apart: "b" shares a bit with "a"
    agg_recipe_release(&recipe);
}

static void threads_change_nothing(void **state)
{
    agg_recipe recipe;
    agg_audit one, three;
    (void)state;
    sketch_recipe(&recipe, "cms", 2, 4, 8);
    audit_natively(&one, &recipe, "threads", 3001, 1);
    audit_natively(&three, &recipe, "threads", 3001, 3);
    assert_true(one.empirical_low == three.empirical_low && one.empirical_low > 0 &&
                one.n_events == three.n_events);
    assert_int_equal(one.event.hits[0], three.event.hits[0]);
    assert_true(one.law.epsilon == three.law.epsilon && !one.law.is_whole && one.law.n_items == 32);
    agg_recipe_release(&recipe);
}

// Draws as text, by a client that is given: what the auditor sees of a device that it does not
// know.
typedef void (*client)(FILE *stream, uint32_t item, shoal_rng *rng);

static uint8_t client_seed[32] = {21};

static void audit_client(agg_audit *audit, const char *recipe_text, client draw, uint32_t other,
                         unsigned trials, double confidence)
{
    char *bytes = NULL;
    size_t len = 0;
    agg_recipe recipe;
    agg_draws draws = {0};
    agg_error error = {SHOAL_OK, 0, ""};
    shoal_rng rng;
    shoal_rng_init(&rng, client_seed);
    FILE *stream = open_memstream(&bytes, &len);
    assert_non_null(stream);
    for (unsigned i = 0; i < trials; i++)
        for (uint32_t item = 0; item <= other; item += other) {
            fprintf(stream, "%u\t", item);
            draw(stream, item, &rng);
            fputc('\n', stream);
        }
    fclose(stream);
    read_recipe(&recipe, recipe_text);
    shoal_err err = agg_draws_parse(&draws, &error, &recipe, "draws", bytes, len);
    if (err == SHOAL_OK) err = agg_audit_run(audit, &error, &recipe, &draws, confidence, 2);
    if (err != SHOAL_OK) fail_msg("%s", error.text);
    audit->recipe = NULL;
    agg_draws_release(&draws);
    agg_recipe_release(&recipe);
    free(bytes);
}

static void draw_noise(FILE *stream, uint32_t item, shoal_rng *rng)
{
    (void)item;
    fprintf(stream, "%016llx", (unsigned long long)shoal_rng_u64(rng));
}

// Records that have nothing to do with the item: epsilon is 0, and a bound above it is wrong. At
// confidence 1/2 each of four bounds is 1.15 sigma of its share away, so that shares 2.3 / sqrt(2)
// sigma of their difference apart are wrong: 5 % for each of the two directions. 4 sigma of 100
// such runs more is 22. Without Bonferroni's division it is about 70, with shares in place of
// bounds nearly all.
static void what_is_proved_holds_as_often_as_is_said(void **state)
{
    char text[1024];
    unsigned wrong = 0;
    (void)state;
    onehot_text(text, 1, "\"size\":64", "");
    const uint32_t n_runs = effort(100, 100, 4);
    for (uint8_t run = 0; run < n_runs; run++) {
        agg_audit audit;
        client_seed[0] = run;
        audit_client(&audit, text, draw_noise, 1, 400, 0.5);
        assert_int_equal(audit.n_refused, 0);
        wrong += audit.empirical_low > 0;
    }
    client_seed[0] = 21;
    assert_true(wrong <= 22);
}

// Every other draw, the first among them, is one that events are learnt from: these tell all, the
// others nothing.
static void draw_to_mislead(FILE *stream, uint32_t item, shoal_rng *rng)
{
    static unsigned n;
    unsigned draw = n++ / 2; // of its item
    (void)rng;
    fprintf(stream, "%s", draw % 2 == 1 ? "0ff0" : item == 0 ? "0f0f" : "f0f0");
}

static void what_was_learnt_from_does_not_count(void **state)
{
    char text[1024];
    agg_audit audit;
    (void)state;
    onehot_text(text, 1, "\"size\":16", "");
    audit_client(&audit, text, draw_to_mislead, 1, 2000, 0.999);
    assert_true(audit.n_events >
                2); // more than the mechanism's own, which bits 0 and 1 say nothing to
    assert_true(audit.n_failures == 0 && audit.empirical_low == 0);
}

#define SUBSET_S 101u // 100 values and "none"
#define SUBSET_D 13u  // ceil(101 / (e^2 + 1))

// Subset selection as a well-known library sends it: d of s, the true one first where it is in at
// all.
static void draw_ordered_subset(FILE *stream, uint32_t item, shoal_rng *rng)
{
    uint32_t others[SUBSET_S - 1], n = 0;
    double truth = SUBSET_D * exp(2) / (SUBSET_D * exp(2) + SUBSET_S - SUBSET_D);
    int is_in = shoal_rng_bernoulli(rng, (uint64_t)(truth * 0x1p64)) == 1;
    for (uint32_t i = 0; i < SUBSET_S; i++)
        if (i != item) others[n++] = i;
    if (is_in) fprintf(stream, "%03u", item);
    for (uint32_t i = 0; i < SUBSET_D - (uint32_t)is_in; i++) {
        uint32_t at = i + (uint32_t)shoal_rng_below(rng, n - i), index = others[at];
        others[at] = others[i];
        others[i] = index;
        fprintf(stream, "%s%03u", i == 0 && !is_in ? "" : ",", index);
    }
}

static void a_subset_in_order_of_drawing_is_refused(void **state)
{
    static const char text[] = "{\"recipe\":\"s\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":"
                               "\"item\",\"mechanism\":\"subset\","
                               "\"parameters\":{\"epsilon\":2,\"size\":100},\"limit\":{\"per_day\":"
                               "1},\"expires\":\"2030-01-01\"}";
    agg_audit audit;
    (void)state;
    audit_client(&audit, text, draw_ordered_subset, 57, 40000, 0.999);
    // Hardly one in 13! is ascending by chance.
    assert_true(failed(&audit, "records:") == 1 && audit.n_refused == 80000);
    // First is the true value with probability p = 0.52; another with (1 - p)/100 + p * 0: ln of
    // the ratio is 4.7, and far above 2.
    assert_true(failed(&audit, "empirical:") == 1 && audit.empirical_low > 4.2 &&
                audit.empirical_low < 4.7);
    assert_true(audit.exact <= 2);
}

// Basic RAPPOR whose authors spent epsilon once for each of two hash functions: each bit's odds are
// e^(epsilon/2), and there are four.
static void draw_two_hashes(FILE *stream, uint32_t item, shoal_rng *rng)
{
    uint32_t own = 3u << 2 * item, bits = 0;
    double p = 1 / (exp(1) + 1);
    for (uint32_t l = 0; l < 8; l++) {
        uint32_t flip = shoal_rng_bernoulli(rng, (uint64_t)(p * 0x1p64));
        bits |= ((own >> l & 1) ^ flip) << l;
    }
    fprintf(stream, "%02x", bits);
}

static void a_second_hash_that_is_not_paid_for_is_refused(void **state)
{
    char text[1024];
    agg_audit audit;
    (void)state;
    onehot_text(text, 2, "\"size\":8", "");
    audit_client(&audit, text, draw_two_hashes, 2, 100000, 0.999);
    assert_int_equal(audit.n_refused, 0); // each record might be any client's
    assert_true(audit.n_failures == 1 && failed(&audit, "empirical:") == 1);
    // Four bits of odds e: epsilon is really 4, and found by weighing marks.
    assert_true(audit.empirical_low > 3.6 && audit.empirical_low <= 4 && !audit.event.is_law);
}

extern int rappor_forgets_hashes; // forgetful_rappor.c

// Two hashes, each bit of odds e^(claim / 2): claimed 2, really 4; claimed 7, really 14.
static void rappor_that_forgets_its_hashes_is_refused(void **state)
{
    static const double claims[] = {2, 7};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char text[1024];
        agg_recipe recipe;
        agg_audit audit;
        snprintf(text, sizeof text,
                 "{\"recipe\":\"r\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"word\","
                 "\"mechanism\":\"rappor\","
                 "\"parameters\":{\"bits\":8,\"hashes\":2,\"cohorts\":1,\"p\":0,\"q\":1,\"f\":%.6f}"
                 ",\"hash\":\"poly1\","
                 "\"seed\":\"" AGG_TEST_SEED
                 "\",\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\"}",
                 2 / (exp(claims[i] / 2) + 1));
        rappor_forgets_hashes = 1;
        read_recipe(&recipe, text);
        audit_natively(&audit, &recipe, "hashes", 60000, 2);
        rappor_forgets_hashes = 0;
        assert_true(fabs(audit.claimed - claims[i]) < 0.01 && audit.exact <= audit.claimed);
        assert_true(failed(&audit, "exact:") == 0 && failed(&audit, "enumerated:") == 1);
        assert_true(fabs(audit.law.epsilon - 2 * audit.claimed) < 1e-5);
        // 60,000 draws prove ln(60,000 / 8) at most, enough against both.
        assert_int_equal(failed(&audit, "empirical:"), 1);
        assert_true(audit.empirical_low > 3.5);
        agg_recipe_release(&recipe);
    }
}

static void draws_that_cannot_be_read_are_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"0\t00\n0\t00\n", "two items"},
        {"0\t00\n1\t00\n", "fewer than two"},
        {"0\t00\n1 00\n", "line 2: a tab"},
        {"0\t00\n12\t00\n", "line 2: the item"},
        {"", "two items"},
    };
    char text[1024], bytes[64];
    agg_recipe recipe;
    agg_error error;
    (void)state;
    onehot_text(text, 2, "\"size\":8", "");
    read_recipe(&recipe, text);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        agg_draws draws = {0};
        strcpy(bytes, cases[i].text);
        assert_err(agg_draws_parse(&draws, &error, &recipe, "draws", bytes, strlen(bytes)),
                   AGG_ERR_USAGE);
        if (strstr(error.text, cases[i].says) == NULL) fail_msg("%s", error.text);
        agg_draws_release(&draws);
    }
    agg_recipe_release(&recipe);
}

static void marks_are_seen(void **state)
{
    agg_marked marked;
    agg_mark mark;
    char words[256], all[2048] = "";
    (void)state;
    agg_marked_read(&marked, (agg_text){"07,03;a", 7});
    assert_int_equal(marked.n_fields, 3);
    for (uint32_t i = 0;; i++) {
        int found = agg_marked_list(&mark, &marked, i);
        if (found == 0) break;
        if (found == 2) continue;
        assert_true(agg_marked_has(&marked, &mark));
        agg_mark_describe(words, sizeof words, &mark);
        strcat(strcat(all, words), "\n");
    }
    assert_string_equal(all, "the record has 7 characters\nthe record is 07,03;a\n"
                             "field 1 is 07\na field is 07\nfield 1 is larger than field 2\n"
                             "field 2 is 03\na field is 03\n"
                             "field 3 is a\na field is a\n");
    for (uint32_t bit = 0; bit < 28; bit++) {
        static const uint32_t digits[] = {0, 7, 0, 0, 3, 0, 10}; // separators are no digits
        mark = (agg_mark){AGG_MARK_BIT, bit, 0, ""};
        assert_int_equal(agg_marked_has(&marked, &mark), digits[bit / 4] >> bit % 4 & 1);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_are_seen),
        cmocka_unit_test(every_answer_can_fail_alone),
        cmocka_unit_test(every_mechanism_keeps_its_claim),
        cmocka_unit_test(a_permanent_answer_is_judged_on_its_own),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(what_is_proved_holds_as_often_as_is_said),
        cmocka_unit_test(what_was_learnt_from_does_not_count),
        cmocka_unit_test(a_subset_in_order_of_drawing_is_refused),
        cmocka_unit_test(a_second_hash_that_is_not_paid_for_is_refused),
        cmocka_unit_test(rappor_that_forgets_its_hashes_is_refused),
        cmocka_unit_test(draws_that_cannot_be_read_are_refused),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
