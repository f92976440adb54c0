// SPDX-License-Identifier: Apache-2.0
// Moments; see dap_moment.h.
#include "dap_moment.h"

#include <stdio.h>
#include <string.h>

#include "options.h"
#include "period.h"

#define DAY_S UINT64_C(86400)
#define SECONDS_MAX (UINT64_C(2932897) * DAY_S) // the end of the year 9999

// Reads "THH:MMZ".
// Returns: whether the text is exactly that.
static bool read_time_of_day(uint64_t *seconds, const char *text)
{
    char spelled[16];
    unsigned hour = 0, minute = 0;
    if (sscanf(text, "T%2u:%2uZ", &hour, &minute) != 2 || hour > 23 || minute > 59) return false;
    snprintf(spelled, sizeof spelled, "T%02u:%02uZ", hour, minute);
    *seconds = hour * 3600 + minute * 60;
    return strcmp(spelled, text) == 0;
}

agg_err agg_dap_moment_read(uint64_t *seconds, agg_error *error, const char *name, const char *text,
                            bool is_end)
{
    const size_t len = strlen(text);
    char day_text[11] = "";
    int32_t day;
    uint64_t time = is_end ? DAY_S : 0;
    if (len > 0 && strspn(text, "0123456789") == len)
        return cli_read_whole(seconds, error, name, text, 0, SECONDS_MAX);
    memcpy(day_text, text, len < 10 ? len : 10);
    if (!agg_day_parse(&day, day_text) || (len != 10 && !read_time_of_day(&time, text + 10)))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--%s is YYYY-MM-DD, YYYY-MM-DDTHH:MMZ or seconds since 1970", name);
    *seconds = (uint64_t)day * DAY_S + time;
    return SHOAL_OK;
}

void agg_dap_moment_print(char out[AGG_DAP_MOMENT_LEN], uint64_t seconds)
{
    char day[11];
    if (seconds >= SECONDS_MAX) seconds = SECONDS_MAX - 1;
    agg_day_print(day, (int32_t)(seconds / DAY_S));
    snprintf(out, AGG_DAP_MOMENT_LEN, "%sT%02u:%02uZ", day, (unsigned)(seconds % DAY_S / 3600),
             (unsigned)(seconds % 3600 / 60));
}
