// SPDX-License-Identifier: Apache-2.0
// Reads and writes the numbers of drafts; see draft_numbers.h.
#include "draft_numbers.h"

#include <stdio.h>

#include "options.h"

#define DEVICES_DEFAULT 1000000u
#define DEVICES_MAX 4000000000u
#define EPSILON_DEFAULT 4.0

agg_err draft_read_whole(uint64_t *number, agg_error *error, const char *name, const char *text,
                         uint64_t initial, uint64_t low, uint64_t high)
{
    *number = initial;
    return text == NULL ? SHOAL_OK : cli_read_whole(number, error, name, text, low, high);
}

agg_err draft_read_epsilon(double *epsilon, agg_error *error, const char *text)
{
    *epsilon = EPSILON_DEFAULT;
    return text == NULL ? SHOAL_OK : cli_read_decimal(epsilon, error, "epsilon", text, 0.01, 16);
}

agg_err draft_read_devices(double *devices, agg_error *error, const char *text)
{
    uint64_t number = 0;
    agg_err err =
        draft_read_whole(&number, error, "devices", text, DEVICES_DEFAULT, 1, DEVICES_MAX);
    *devices = (double)number;
    return err;
}

void draft_put_micro(char out[24], uint32_t micro)
{
    int len = snprintf(out, 24, "%u.%06u", micro / 1000000, micro % 1000000);
    while (out[len - 1] == '0') len--;
    out[len - (out[len - 1] == '.')] = '\0';
}

void draft_put_whole(char out[16], uint32_t number)
{
    snprintf(out, 16, "%u", number);
}
