// SPDX-License-Identifier: Apache-2.0
// Lets a program live on another day: time() says as many days more as SHOAL_TEST_DAYS has. Loaded
// before the C library, for tests whose blocks close on several days.
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

time_t time(time_t *into)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const char *days = getenv("SHOAL_TEST_DAYS");
    now.tv_sec += 86400 * (days ? strtol(days, NULL, 10) : 0);
    if (into) *into = now.tv_sec;
    return now.tv_sec;
}
