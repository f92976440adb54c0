// SPDX-License-Identifier: Apache-2.0
// A program that fails on purpose, so that each build can show that a failure turns a test red.
//   red pass | fail | none | trap
#include <string.h>

#include "check.h"

int main(int argc, char **argv)
{
    const char *mode = argc == 2 ? argv[1] : "";
    if (strcmp(mode, "trap") == 0) __builtin_trap();
    if (strcmp(mode, "none") != 0) CHECK(strcmp(mode, "pass") == 0);
    return check_summary();
}
