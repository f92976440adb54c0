// SPDX-License-Identifier: Apache-2.0
// Base URLs of servers, as recipes state them: https, or http to this machine itself. Depends on
// nothing.
#ifndef SHOAL_URL_H
#define SHOAL_URL_H

#include <stddef.h>
#include <stdint.h>

#include "shoal_err.h"

#define SHOAL_URL_MAX 200 // bytes

typedef struct shoal_url {
    uint8_t len; // 0 where there is none
    char bytes[SHOAL_URL_MAX];
} shoal_url;

// Sets a URL: "https://" or "http://localhost", "http://127." and "http://[::1]", then printable
// ASCII without space, quotes, angle brackets, backslash, '?', '#' and '@', and without a '/' at
// the end. Nothing is normalized: two parties agree byte for byte.
//   why: static sentence, written on error
// Returns: RANGE for a length above 200, TYPE for anything else that is no such URL; *url unchanged
// then.
shoal_err shoal_url_set(shoal_url *url, const char *text, size_t len,
                        const char **why) SHOAL_MUST_CHECK;

// Returns: whether the two are the same bytes.
int shoal_url_equal(const shoal_url *a, const shoal_url *b);

#endif
