// SPDX-License-Identifier: Apache-2.0
// Checks for test programs that run on every build: no setjmp, no threads, only printf.
//
//     CHECK(condition);              counts, and prints file, line and text of a failure
//     return check_summary();        at the end of main: "N passed, N failed", exit code 1 after a
//     failure or without any check
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

static unsigned long check_passed, check_failed;

#define CHECK(condition) check_count((condition) ? 1 : 0, __FILE__, __LINE__, #condition)

static inline int check_count(int is_ok, const char *file, int line, const char *text)
{
    if (is_ok) {
        check_passed++;
        return 1;
    }
    if (check_failed++ < 20) printf("%s:%d: failed: %s\n", file, line, text);
    return 0;
}

static inline int check_summary(void)
{
    printf("%lu passed, %lu failed\n", check_passed, check_failed);
    return check_failed > 0 || check_passed == 0;
}

#endif
