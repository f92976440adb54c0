// SPDX-License-Identifier: Apache-2.0
// Base URLs of servers, as recipes state them: https, or http to the local machine. Depends on
// nothing.
#ifndef SHOAL_URL_H
#define SHOAL_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shoal_err.h"

#define SHOAL_URL_MAX 200 // bytes

typedef struct shoal_url {
    uint8_t len; // 0 if no URL is set
    char bytes[SHOAL_URL_MAX];
} shoal_url;

// Sets *url to text[0..len). A URL starts with "https://", "http://localhost", "http://127." or
// "http://[::1]". Printable ASCII follows, without space, quotes, angle brackets, backslash, '?',
// '#' and '@', and without a '/' at the end. The URL is not normalized: two parties agree byte for
// byte.
//   why: static sentence, written on error
// Returns: SHOAL_ERR_RANGE for a length above 200, SHOAL_ERR_TYPE for any other text that is no
// such URL. *url is unchanged on error.
shoal_err shoal_url_set(shoal_url *url, const char *text, size_t len,
                        const char **why) SHOAL_MUST_CHECK;

// Returns: whether the two URLs have the same bytes.
bool shoal_url_equal(const shoal_url *a, const shoal_url *b);

#endif
