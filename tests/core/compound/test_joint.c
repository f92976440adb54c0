// SPDX-License-Identifier: Apache-2.0
// Joint recipes: what belongs to which variable and what is refused, which variable a refusal
// names, what the hash covers; and the whole law of a record of two variables, whose largest ratio
// is what the two together cost.
#include "joint.h"

#include <math.h>

#include "bytes.h"
#include "check.h"
#include "field_lines.h"
#include "record.h"

#define SEED_A KEY_A
#define SEED_B "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100"
#define HEAD "recipe=r\nanalysis=a\nstream=s\nlimit.per_day:1000000\nexpires=2030-01-01\n"
#define AGE "name=age\nvariables.0.value=item\nvariables.0.mechanism=grr\n"

static const char two[] =
    HEAD "variables.0.name=age\nvariables.0.value=item\nvariables.0.mechanism=grr\nvariables.0."
         "parameters.epsilon:1500000\n"
         "variables.0.parameters.values+young\nvariables.0.parameters.values+old\n"
         "variables.1.name=site\nvariables.1.value=site\nvariables.1.mechanism=cms\nvariables.1."
         "hash=poly1\n"
         "variables.1.seed=" SEED_A
         "\nvariables.1.parameters.epsilon:4000000\nvariables.1.parameters.k:8000000\n"
         "variables.1.parameters.m:16000000\n";

typedef struct text_case {
    const char *changes;
    shoal_err err;
    const char *field; // of the refusal
    uint32_t variable; // of the refusal: 1 + index
} text_case;

// `two` with the line of that path changed in its place, or left out; a line of a new path comes
// last.
static shoal_err changed(shoal_recipe *recipe, const char *change)
{
    static char text[4096];
    size_t path = strcspn(change, "=:+-"), len = 0;
    int is_new = 1, is_left_out = change[path] == '-';
    for (const char *line = two; *line != '\0'; line += strcspn(line, "\n") + 1) {
        int is_it = path > 0 && strcspn(line, "=:+-") == path && memcmp(line, change, path) == 0;
        if (!is_it)
            len += (size_t)snprintf(text + len, sizeof text - len, "%.*s\n",
                                    (int)strcspn(line, "\n"), line);
        else if (is_new && !is_left_out)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s\n", change);
        if (is_it) is_new = 0;
    }
    if (is_new) snprintf(text + len, sizeof text - len, "%s\n", change);
    return recipe_of(recipe, text, "", NULL);
}

static void run(const text_case *c)
{
    shoal_recipe recipe;
    shoal_err err = changed(&recipe, c->changes);
    if (!CHECK(err == c->err))
        fprintf(stderr, "%s: %d %s\n", c->changes, (int)err, shoal_err_name(err));
    if (err == SHOAL_OK) return;
    CHECK(recipe.n_parts == 0 && building.error_text != NULL);
    if (c->field != NULL)
        CHECK(building.error_field != NULL && strcmp(building.error_field, c->field) == 0);
    if (!CHECK(building.error_variable == c->variable))
        fprintf(stderr, "%s: variable %u\n", c->changes, building.error_variable);
}

static void parts(void)
{
    shoal_recipe r;
    CHECK(recipe_of(&r, two, "records.keep_days:7000000\n", NULL) == SHOAL_OK);
    CHECK(r.n_variables == 2 && r.n_parts == 2 && r.mechanism == shoal_joint_id &&
          r.value == SHOAL_VALUE_VARIABLES);
    CHECK(r.parts[0].mechanism == shoal_grr_id && r.parts[0].size == 2 &&
          r.variables[0].n_values == 2);
    CHECK(r.parts[1].mechanism == shoal_cms_id && r.parts[1].k == 8 &&
          r.parts[1].domain == SHOAL_DOMAIN_OPEN);
    CHECK(r.variables[0].value == SHOAL_VALUE_ITEM && r.variables[1].value == SHOAL_VALUE_SITE);
    CHECK(r.cost_micro == 5500000 && r.keep_days == 7);
    CHECK(r.record_size == r.parts[0].record_size + r.parts[1].record_size);
    CHECK(strcmp(shoal_recipe_mechanism_name(&r), "joint") == 0);
    const char *name;
    int64_t micro;
    CHECK(shoal_recipe_parameter(&name, &micro, &r, 0) && strcmp(name, "epsilon") == 0 &&
          micro == 5500000);
    CHECK(!shoal_recipe_parameter(&name, &micro, &r, 1));
}

static void refused(void)
{
    static const text_case cases[] = {
        {"", SHOAL_OK, NULL, 0},
        {"mechanism=grr", SHOAL_ERR_UNKNOWN_FIELD, NULL, 0},
        {"value=word", SHOAL_ERR_UNKNOWN_FIELD, NULL, 0},
        {"parameters.epsilon:1000000", SHOAL_ERR_UNKNOWN_FIELD, NULL, 0},
        {"seed=" SEED_B, SHOAL_ERR_UNKNOWN_FIELD, NULL, 0},
        {"+young", SHOAL_ERR_UNKNOWN_FIELD, "parameters.values", 0},
        {"variables.0.name-", SHOAL_ERR_MISSING_FIELD, "name", 1},
        {"variables.1.name-", SHOAL_ERR_MISSING_FIELD, "name", 2},
        {"variables.1.value-", SHOAL_ERR_MISSING_FIELD, "value", 2},
        {"variables.1.mechanism-", SHOAL_ERR_MISSING_FIELD, "mechanism", 2},
        {"variables.1.seed-", SHOAL_ERR_MISSING_FIELD, "seed", 2},
        {"variables.1.parameters.k-", SHOAL_ERR_MISSING_FIELD, "parameters.k", 2},
        {"variables.0.parameters.values-", SHOAL_ERR_MISSING_FIELD, "parameters.values", 1},
        {"variables.0.parameters.epsilon:1", SHOAL_ERR_RANGE, "parameters.epsilon", 1},
        {"variables.1.parameters.g:2000000", SHOAL_ERR_UNKNOWN_FIELD, "parameters.g", 2},
        {"variables.1.parameters.keep_days:2000000", SHOAL_ERR_UNKNOWN_FIELD, NULL, 2},
        {"variables.1.limit.per_day:1000000", SHOAL_ERR_UNKNOWN_FIELD, NULL, 0},
        {"variables.1.encoding.0.field=a", SHOAL_ERR_UNKNOWN_FIELD, NULL, 0},
        {"variables.1.parameters.alphabet=ab", SHOAL_ERR_UNKNOWN_FIELD, NULL, 0},
        {"variables.1.name=age", SHOAL_ERR_DUPLICATE, "name", 2},
        {"variables.1.mechanism=sfp", SHOAL_ERR_MECHANISM, "mechanism", 2},
        {"variables.1.mechanism=one-bit-mean", SHOAL_ERR_MECHANISM, "mechanism", 2},
        {"variables.1.value=fields", SHOAL_ERR_RANGE, "value", 2},
        {"variables.3.name=c", SHOAL_ERR_RANGE, "variables", 0},
        {"variables.2.name=c", SHOAL_ERR_MISSING_FIELD, "value", 3},
        {"round.update:1000000", SHOAL_ERR_UNKNOWN_FIELD, "round.update", 0},
        {"records.keep_days:366000000", SHOAL_ERR_RANGE, "records.keep_days", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) run(&cases[i]);
}

// Fields in another order, or of a recipe without variables.
static void misplaced(void)
{
    static const char one[] =
        HEAD "variables.0." AGE
             "variables.0.parameters.epsilon:1000000\nvariables.0.parameters.size:2000000\n";
    static const char back[] =
        HEAD "variables.0." AGE
             "variables.0.parameters.epsilon:1000000\nvariables.0.parameters.size:2000000\n"
             "variables.1.name=b\nvariables.0.hash=poly1\n";
    static const char late[] = HEAD "mechanism=grr\nvariables.0.name=a\n";
    static const char none[] = HEAD "value=item\nmechanism=joint\n";
    static const char seeds[] = HEAD
        "variables.0.name=a\nvariables.0.value=word\nvariables.0.mechanism=hcms\nvariables.0.hash="
        "poly1\nvariables.0.seed=" SEED_A
        "\nvariables.0.parameters.epsilon:4000000\nvariables.0.parameters.k:"
        "8000000\nvariables.0.parameters.m:16000000\n"
        "variables.1.name=b\nvariables.1.value=word\nvariables.1.mechanism=cms\nvariables.1.hash="
        "poly1\nvariables."
        "1.seed=" SEED_A
        "\nvariables.1.parameters.epsilon:4000000\nvariables.1.parameters.k:8000000\nvariables.1."
        "parameters.m:16000000\n";
    static const char kept[] =
        HEAD "value=item\nmechanism=grr\nparameters.epsilon:1000000\nparameters.size:3000000\n"
             "records.keep_days:3000000\n";
    shoal_recipe r;
    CHECK(recipe_of(&r, one, "", NULL) == SHOAL_ERR_RANGE && building.error_variable == 0);
    CHECK(recipe_of(&r, back, "", NULL) == SHOAL_ERR_RANGE);
    CHECK(recipe_of(&r, late, "", NULL) == SHOAL_ERR_UNKNOWN_FIELD);
    CHECK(recipe_of(&r, none, "", NULL) == SHOAL_ERR_MISSING_FIELD);
    CHECK(recipe_of(&r, seeds, "", NULL) == SHOAL_ERR_DUPLICATE && building.error_variable == 2);
    CHECK(recipe_of(&r, seeds, "variables.1.seed=" SEED_B "\n", NULL) == SHOAL_OK);
    CHECK(recipe_of(&r, kept, "", NULL) == SHOAL_ERR_UNKNOWN_FIELD);
}

// Every change of a variable changes the hash; what is at its default does not.
static void hashes(void)
{
    static const char *const changes[] = {
        "variables.0.name=old",
        "variables.0.value=word",
        "variables.0.parameters.epsilon:1400000",
        "variables.1.value=host",
        ("variables.1.seed=" SEED_B),
        "variables.1.parameters.k:9000000",
        "variables.1.parameters.m:32000000",
        "variables.1.mechanism=hcms",
        "records.keep_days:1000000",
    };
    uint8_t seen[10][32];
    shoal_recipe r;
    CHECK(changed(&r, "records.keep_days:30000000") == SHOAL_OK);
    memcpy(seen[9], r.recipe_hash, 32);
    CHECK(recipe_of(&r, two, "", NULL) == SHOAL_OK && memcmp(seen[9], r.recipe_hash, 32) == 0);
    for (size_t i = 0; i < 9; i++) {
        CHECK(changed(&r, changes[i]) == SHOAL_OK);
        memcpy(seen[i], r.recipe_hash, 32);
        CHECK(memcmp(seen[i], seen[9], 32) != 0);
        for (size_t j = 0; j < i; j++) CHECK(memcmp(seen[i], seen[j], 32) != 0);
    }
}

// The law of each part of two one-hots is the product of its bits' coins; drawn records must follow
// the product of the two, and the largest ratio over pairs of events is exp of the sum.
static double bit_law(const shoal_part *part, uint32_t item, uint32_t bits)
{
    double lie = (double)part->threshold / 18446744073709551616.0, p = 1;
    for (uint32_t i = 0; i < part->size; i++) {
        double one = i == item ? 0.5 : lie; // onehot-asymmetric: truth is a fair coin
        p *= bits >> i & 1 ? one : 1 - one;
    }
    return p;
}

static void law(void)
{
    static const char text[] =
        HEAD "variables.0.name=a\nvariables.0.value=item\nvariables.0.mechanism=onehot-"
             "asymmetric\nvariables.0.parameters.epsilon:1000000\n"
             "variables.0.parameters.size:2000000\nvariables.1.name=b\nvariables.1.value="
             "item\nvariables.1.mechanism=onehot-asymmetric\n"
             "variables.1.parameters.epsilon:500000\nvariables.1.parameters.size:3000000\n";
    enum { DRAWS = 400000 };
    static uint32_t counts[32];
    uint8_t seed[32] = {7}, record[2];
    double worst = 0;
    shoal_recipe r;
    shoal_rng rng;
    CHECK(recipe_of(&r, text, "", NULL) == SHOAL_OK && r.record_size == 2);
    for (uint32_t event = 0; event < 36; event++) {
        for (uint32_t out = 0; out < 32; out++) {
            double p = bit_law(&r.parts[0], event / 6 / 3, out & 3) *
                       bit_law(&r.parts[1], event / 6 % 3, out >> 2);
            double q = bit_law(&r.parts[0], event % 6 / 3, out & 3) *
                       bit_law(&r.parts[1], event % 6 % 3, out >> 2);
            if (log(p / q) > worst) worst = log(p / q);
        }
    }
    CHECK(worst <= 1.5 + 1e-12 && worst > 1.5 - 1e-9);
    shoal_rng_init(&rng, seed);
    for (uint32_t i = 0; i < DRAWS; i++) {
        uint64_t items[2] = {1, 2};
        CHECK(shoal_record_randomize(record, &r, items, 2, NULL, &rng) == SHOAL_OK);
        counts[record[0] | record[1] << 2]++;
    }
    // Each of 32 counts is binomial: within 5 standard deviations of its law.
    for (uint32_t out = 0; out < 32; out++) {
        double p = bit_law(&r.parts[0], 1, out & 3) * bit_law(&r.parts[1], 2, out >> 2);
        CHECK(fabs(counts[out] - DRAWS * p) < 5 * sqrt(DRAWS * p * (1 - p)));
    }
}

int main(void)
{
    parts();
    refused();
    misplaced();
    hashes();
    law();
    return check_summary();
}
