// SPDX-License-Identifier: Apache-2.0
// shoal_alarm_power: how often a result has an alarm, against the share of its reports that were
// fabricated.
//
//     shoal_alarm_power [RUNS [REPORTS]]
//
// Every line is mechanism, attack, share of fabricated reports, and the share of RUNS collections
// of REPORTS reports with an alarm, tab-separated. Honest devices hold words by Zipf's law. The
// share 0 shows the false alarms.
#include <stdio.h>
#include <stdlib.h>

#include "alarm_crowd.h"
#include "record.h"

static const double shares[] = {0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5};
#define SHARES (sizeof shares / sizeof shares[0])

static void add(agg_accumulator *acc, const uint8_t *records, uint32_t n)
{
    agg_error error;
    if (agg_accumulator_add(acc, &error, records, n, 1) != SHOAL_OK) abort();
}

// Counts the alarms of one collection for every share of one attack.
static void attack_once(uint32_t raised[SHARES], agg_accumulator *acc, const agg_recipe *recipe,
                        const uint8_t *honest, const uint8_t *forged, uint32_t n)
{
    for (size_t s = 0; s < SHARES; s++) {
        agg_alarms alarms;
        uint32_t n_forged = (uint32_t)(shares[s] * n);
        crowd_clear(acc);
        add(acc, honest, n - n_forged);
        add(acc, forged, n_forged);
        crowd_alarms(&alarms, recipe, acc);
        raised[s] += alarms.n_raised > 0;
    }
}

static void measure(const crowd_setting *setting, uint32_t runs, uint32_t n)
{
    static const uint8_t seed[32] = {31};
    uint32_t raised[CROWD_ATTACKS][SHARES] = {{0}};
    agg_recipe recipe;
    agg_accumulator acc;
    agg_error error;
    crowd_recipe(&recipe, setting);
    size_t size = shoal_record_size(recipe.recipe);
    uint8_t *honest = malloc(n * size), *forged = malloc(n * size);
    if (honest == NULL || forged == NULL ||
        agg_accumulator_init(&acc, &error, recipe.recipe) != SHOAL_OK)
        abort();
    for (uint32_t run = 0; run < runs; run++) {
        shoal_rng rng;
        shoal_rng_init_stream(&rng, seed, run);
        crowd_honest(honest, n, &recipe, CROWD_ZIPF, &rng);
        for (int attack = 0; attack < CROWD_ATTACKS; attack++) {
            crowd_forged(forged, n / 2, &recipe, (crowd_attack)attack, &rng);
            attack_once(raised[attack], &acc, &recipe, honest, forged, n);
        }
    }
    for (int attack = 0; attack < CROWD_ATTACKS; attack++)
        for (size_t s = 0; s < SHARES; s++)
            printf("%s\t%s\t%g\t%g\n", setting->name, crowd_attack_names[attack], shares[s],
                   (double)raised[attack][s] / runs);
    fflush(stdout);
    agg_accumulator_release(&acc);
    agg_recipe_release(&recipe);
    free(honest);
    free(forged);
}

int main(int argc, char **argv)
{
    uint32_t runs = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 20,
             n = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 10000;
    for (size_t s = 0; s < crowd_n_large; s++) measure(&crowd_large[s], runs, n);
    return 0;
}
