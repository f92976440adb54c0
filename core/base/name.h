// SPDX-License-Identifier: Apache-2.0
// Names: what recipes and policies call collections, analyses, streams and fields.
// [a-z0-9] first, then [a-z0-9._-], 1 to 64 bytes. Depends on nothing.
#ifndef SHOAL_NAME_H
#define SHOAL_NAME_H

#include <stddef.h>
#include <stdint.h>

#include "shoal_err.h"

#define SHOAL_NAME_MAX 64 // bytes

typedef struct shoal_name {
    uint8_t len;
    char bytes[SHOAL_NAME_MAX];
} shoal_name;

// Sets a name.
//   why: static sentence, written on error
// Returns: RANGE for a length outside 1 .. 64, TYPE for a character that names do not hold; name
// unchanged then.
shoal_err shoal_name_set(shoal_name *name, const char *text, size_t len,
                         const char **why) SHOAL_MUST_CHECK;

// Returns: whether the two are the same name.
int shoal_name_equal(const shoal_name *a, const shoal_name *b);

// Returns: whether a static NUL-terminated text and `len` bytes are the same.
int shoal_text_equal(const char *own, const char *text, size_t len);

#endif
