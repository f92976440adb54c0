// SPDX-License-Identifier: Apache-2.0
// Names that recipes and policies give to collections, analyses, streams and fields. A name has 1
// to 64 bytes: [a-z0-9] first, then [a-z0-9._-]. Depends on nothing.
#ifndef SHOAL_NAME_H
#define SHOAL_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shoal_err.h"

#define SHOAL_NAME_MAX 64 // bytes

typedef struct shoal_name {
    uint8_t len;
    char bytes[SHOAL_NAME_MAX];
} shoal_name;

// Sets *name to text[0..len).
//   why: static sentence, written on error
// Returns: SHOAL_ERR_RANGE for a length outside 1 .. 64, SHOAL_ERR_TYPE for a character that names
// may not hold. *name is unchanged on error.
shoal_err shoal_name_set(shoal_name *name, const char *text, size_t len,
                         const char **why) SHOAL_MUST_CHECK;

// Returns: whether the two names are equal.
bool shoal_name_equal(const shoal_name *a, const shoal_name *b);

// Returns: whether the NUL-terminated text `own` equals text[0..len).
bool shoal_text_equal(const char *own, const char *text, size_t len);

#endif
