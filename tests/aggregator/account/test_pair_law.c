// SPDX-License-Identifier: Apache-2.0
// Laws of pairs: every mechanism's, against the output law that its account enumerates.
//
// On small parts all records are listed. No two inputs are further apart than the stated pair, the
// stated blanket is nowhere above the least probability of a class, and probabilities add up to 1.
#include "agg_test.h"
#include "recipe.h"

#include <math.h>

#include "account.h"
#include "bytes.h"
#include "pair_law.h"

#define ITEMS_MAX 40u
#define OPEN ",\"hash\":\"poly1\",\"seed\":\"" AGG_TEST_SEED "\""

// `more` are further members, starting with a comma, or "".
static void prepare(agg_recipe *recipe, const char *mechanism, const char *parameters,
                    const char *more)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"recipe\":\"r\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"%s\","
             "\"mechanism\":\"%s\",\"parameters\":{%s},\"limit\":{\"per_day\":2},\"expires\":"
             "\"2030-01-01\"%s}",
             strstr(parameters, "\"low\"") != NULL ? "number" : "item", mechanism, parameters,
             more);
    read_recipe(recipe, text);
}

static uint64_t items_of(uint64_t items[ITEMS_MAX], const shoal_part *part)
{
    uint64_t n = 0;
    char text[16];
    if (part->domain == SHOAL_DOMAIN_NUMBER)
        for (; n <= 16; n++) items[n] = n * (SHOAL_NUMBER_ONE / 16);
    else if (part->domain == SHOAL_DOMAIN_CLOSED)
        for (; n < part->size && n < ITEMS_MAX - 1; n++) items[n] = n;
    else
        for (; n < 16; n++)
            items[n] = shoal_part_item(part, (const uint8_t *)text,
                                       (size_t)snprintf(text, sizeof text, "v%u", (unsigned)n));
    if (part->domain != SHOAL_DOMAIN_OPEN) items[n++] = SHOAL_ITEM_NONE;
    return n;
}

typedef struct sums {
    double variation; // the largest distance of two items' laws
    double blanket;   // the sum of each record's least probability
} sums;

static sums enumerate(const shoal_part *part)
{
    const agg_account *account = agg_account_of(part->mechanism);
    uint64_t items[ITEMS_MAX], n = items_of(items, part), outputs = account->n_outputs(part);
    static double distance[ITEMS_MAX][ITEMS_MAX];
    uint8_t record[64];
    double p[ITEMS_MAX];
    sums s = {0, 0};
    memset(distance, 0, sizeof distance);
    assert_true(outputs > 0 && part->record_size <= sizeof record);
    for (uint64_t o = 0; o < outputs; o++) {
        double least = 1;
        if (!account->output(record, part, o)) continue;
        for (uint64_t i = 0; i < n; i++) {
            p[i] = account->probability(part, record, items[i]);
            least = fmin(least, p[i]);
        }
        s.blanket += least;
        for (uint64_t i = 0; i < n; i++)
            for (uint64_t j = 0; j < n; j++) distance[i][j] += fmax(0, p[i] - p[j]);
    }
    for (uint64_t i = 0; i < n; i++)
        for (uint64_t j = 0; j < n; j++) s.variation = fmax(s.variation, distance[i][j]);
    return s;
}

static void check_part(const shoal_part *part, const char *name, bool is_apart)
{
    static agg_pair_law law;
    double own = 0, other = 0, least = 0, third = 0, variation = 0, ratio = 0;
    law.n = 0;
    assert_non_null(agg_account_of(part->mechanism)->pair);
    agg_account_of(part->mechanism)->pair(&law, part);
    for (size_t i = 0; i < law.n; i++) {
        const agg_pair_class *c = &law.classes[i];
        own += c->own;
        other += c->other;
        least += c->least;
        third += c->third;
        variation += fmax(0, c->own - c->other);
        if (c->other > 0) ratio = fmax(ratio, c->own / c->other);
        assert_true(c->least <= fmin(c->own, c->other) * (1 + 1e-12));
    }
    sums exact = enumerate(part);
    if (!(fabs(own - 1) < 1e-9 && fabs(other - 1) < 1e-9 && fabs(third - 1) < 1e-9))
        fail_msg("%s: sums %.12g %.12g %.12g", name, own, other, third);
    if (!(ratio <= exp(part->eps_micro / 1e6) * (1 + 1e-9)))
        fail_msg("%s: a ratio of %g", name, ratio);
    if (!(exact.variation <= variation * (1 + 1e-9)) ||
        (is_apart && exact.variation < variation * (1 - 1e-9)))
        fail_msg("%s: variation %.12g, enumerated %.12g", name, variation, exact.variation);
    if (!(least <= exact.blanket * (1 + 1e-9)))
        fail_msg("%s: blanket %.12g, enumerated %.12g", name, least, exact.blanket);
}

static void agrees_with_enumerated_laws(void **state)
{
    static const char *const epsilons[] = {"0.3", "1", "2.5", "4", "7"};
    static const struct {
        const char *mechanism, *parameters;
        bool is_apart; // some pair of the items is the stated one
        const char *more;
    } cases[] = {
        {"grr", "\"size\":2", true, ""},
        {"grr", "\"size\":9", true, ""},
        {"subset", "\"size\":3", true, ""},
        {"subset", "\"size\":12", true, ""},
        {"hadamard", "\"size\":30", true, ""},
        {"onehot-symmetric", "\"size\":7", true, ""},
        {"onehot-asymmetric", "\"size\":7", true, ""},
        {"olh", "\"k\":2,\"g\":16", true, OPEN},
        {"olh", "\"k\":64,\"g\":4", false, OPEN},
        {"cms", "\"k\":4,\"m\":8", true, OPEN},
        {"hcms", "\"k\":2,\"m\":64", true, OPEN},
        {"one-bit-mean", "\"low\":0,\"high\":10", true, ""},
        {"piecewise", "\"low\":0,\"high\":10", true, ""},
        {"square-wave", "\"low\":0,\"high\":10", true, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t e = 0; e < 5; e++) {
            agg_recipe recipe;
            char parameters[128];
            snprintf(parameters, sizeof parameters, "\"epsilon\":%s,%s", epsilons[e],
                     cases[i].parameters);
            prepare(&recipe, cases[i].mechanism, parameters, cases[i].more);
            check_part(&recipe.recipe->parts[0], cases[i].mechanism, cases[i].is_apart);
            agg_recipe_release(&recipe);
        }
}

// Several hashes give more than four classes.
static void knows_rappor(void **state)
{
    agg_recipe recipe;
    (void)state;
    for (int h = 1; h <= 3; h++) {
        char parameters[128];
        snprintf(parameters, sizeof parameters,
                 "\"cohorts\":2,\"bits\":8,\"hashes\":%d,\"p\":0.4,\"q\":0.65,\"f\":0.2", h);
        prepare(&recipe, "rappor", parameters, OPEN);
        check_part(&recipe.recipe->parts[0], "rappor", h < 3);
        agg_recipe_release(&recipe);
    }
}

enum { LOLOHA = 19 }; // its row of mechanisms.def

// A new mechanism without a law of pairs is not an error. Of today's only loloha has none: reports
// of one device share coins, and no central epsilon is stated for it.
static void every_mechanism_has_one(void **state)
{
    (void)state;
    for (uint32_t i = 0; agg_account_at(i) != NULL; i++)
        if ((agg_account_at(i)->pair == NULL) != (agg_account_at(i)->id == LOLOHA))
            fail_msg("mechanism %u", agg_account_at(i)->id);
}

static double variation_of(agg_pair_law *law, const shoal_recipe *recipe)
{
    double own = 0, other = 0, third = 0;
    agg_pair_law_of(law, recipe);
    for (size_t i = 0; i < law->n; i++) {
        own += law->classes[i].own;
        other += law->classes[i].other;
        third += law->classes[i].third;
    }
    assert_true(fabs(own - 1) < 1e-9 && fabs(other - 1) < 1e-9 && fabs(third - 1) < 1e-9);
    return agg_pair_variation(law);
}

// Independent parts multiply.
static void multiplies_parts(void **state)
{
    static agg_pair_law law;
    agg_recipe recipe;
    (void)state;
    prepare(&recipe, "grr", "\"epsilon\":2,\"size\":9", "");
    assert_true(fabs(variation_of(&law, recipe.recipe) - (exp(2) - 1) / (exp(2) + 9)) < 1e-6);
    assert_int_equal(law.n, 3);
    agg_recipe_release(&recipe);
    prepare(&recipe, "sfp",
            "\"epsilon\":2.5,\"epsilon_fragment\":3.5,\"k\":1024,\"m\":16,\"k_fragment\":1024,"
            "\"m_fragment\":32,\"length\":10,\"oracle\":\"olh\"",
            OPEN);
    double several = variation_of(&law, recipe.recipe);
    assert_true(recipe.recipe->n_parts > 1);
    assert_true(law.n == 9 && several > 0.5 && several < 1);
    agg_recipe_release(&recipe);
}

// The stated epsilon of a run covers all of its reports, so its parts' laws are not that of one.
static void is_unknown_where_epsilon_is_not_the_parts(void **state)
{
    static agg_pair_law law;
    agg_recipe recipe;
    (void)state;
    prepare(&recipe, "grr", "\"epsilon\":2,\"size\":9", "");
    fields_of(&recipe)->cost_micro++;
    agg_pair_law_of(&law, recipe.recipe);
    assert_true(law.n == 0 && agg_pair_variation(&law) == 0);
    agg_recipe_release(&recipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_enumerated_laws),
        cmocka_unit_test(knows_rappor),
        cmocka_unit_test(every_mechanism_has_one),
        cmocka_unit_test(multiplies_parts),
        cmocka_unit_test(is_unknown_where_epsilon_is_not_the_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
