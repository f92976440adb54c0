// SPDX-License-Identifier: Apache-2.0
// Property: a counts file over time that is accepted has a law for every group from epoch 1 on,
// each of rising values whose counts add up; groups that share out all devices; and means between
// the smallest and the largest value.
#include "epoch_counts.h"
#include "fuzz.h"

static void check_law(const epoch_counts *c, const epoch_law *law)
{
    uint64_t total = 0;
    PROPERTY(law->n >= 1 && law->group < c->groups.n && law->epoch >= 1 &&
             law->epoch <= c->last_epoch);
    for (size_t i = law->first; i < law->first + law->n; i++) {
        PROPERTY(c->entries[i].value < c->values.n);
        PROPERTY(i == law->first || c->entries[i].value > c->entries[i - 1].value);
        total += c->entries[i].count;
    }
    PROPERTY(total == law->total && total >= 1 && total <= (uint64_t)1 << 53);
}

static void check_epoch(const epoch_counts *c, const double *numbers, uint32_t epoch)
{
    for (uint32_t g = 0; g < c->groups.n; g++) {
        const epoch_law *law = epoch_counts_law(c, g, epoch);
        PROPERTY(law->group == g && law->epoch <= epoch);
        PROPERTY(law + 1 == c->laws + c->n_laws || law[1].group != g || law[1].epoch > epoch);
    }
    double mean = epoch_counts_mean(c, numbers, epoch, 1000);
    PROPERTY(mean >= -1e-9 && mean <= (double)c->values.n + 1e-9);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    epoch_counts counts;
    agg_error error = {0};
    if (epoch_counts_parse(&counts, &error, "input", (const char *)data, len) != SHOAL_OK) {
        PROPERTY(error.text[0] != '\0');
        return 0;
    }
    double *numbers = malloc((counts.values.n + 1) * sizeof *numbers);
    PROPERTY(numbers != NULL);
    for (uint32_t i = 0; i < counts.values.n; i++) numbers[i] = i;
    for (size_t i = 0; i < counts.n_laws; i++) check_law(&counts, &counts.laws[i]);
    PROPERTY(epoch_counts_first_device(&counts, 0, 1000) == 0);
    for (uint32_t g = 0; g < counts.groups.n; g++)
        PROPERTY(epoch_counts_first_device(&counts, g, 1000) <=
                 epoch_counts_first_device(&counts, g + 1, 1000));
    PROPERTY(epoch_counts_first_device(&counts, counts.groups.n, 1000) == 1000);
    for (uint32_t epoch = 1; epoch <= counts.last_epoch && epoch < 20; epoch++)
        check_epoch(&counts, numbers, epoch);
    check_epoch(&counts, numbers, counts.last_epoch);
    free(numbers);
    epoch_counts_release(&counts);
    return 0;
}
