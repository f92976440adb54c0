// SPDX-License-Identifier: Apache-2.0
// A limit on failed sign-ins, in constant space. Each address, or each IPv6 network of 64 bits, may
// fail SIGN_IN_FAILURES times at once, and once more every SIGN_IN_FORGIVE_S.
//
// Privacy: no address is kept. A keyed hash of it, under a key drawn at the start, picks one of
// SIGN_IN_SLOTS counters. Addresses that share a counter share a limit.
#ifndef SIGN_IN_LIMIT_H
#define SIGN_IN_LIMIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "agg_error.h"

enum { SIGN_IN_FAILURES = 10, SIGN_IN_FORGIVE_S = 10, SIGN_IN_SLOTS = 1024 };

typedef struct sign_in_limit {
    pthread_mutex_t mutex;
    uint8_t key[32];
    struct {
        uint32_t failures;
        int64_t since_s; // when the oldest of them is forgiven next, less SIGN_IN_FORGIVE_S
    } slots[SIGN_IN_SLOTS];
} sign_in_limit;

// Draws the key. Returns: AGG_ERR_IO if the system has no random bytes.
agg_err sign_in_limit_init(sign_in_limit *limit, agg_error *error) SHOAL_MUST_CHECK;
void sign_in_limit_release(sign_in_limit *limit);

// Returns: the seconds after which the address may try again; 0: now.
//   now_s: on a clock that does not go back
unsigned sign_in_limit_wait(sign_in_limit *limit, const struct sockaddr_storage *address,
                            int64_t now_s);

// Counts a failure of the address.
void sign_in_limit_fail(sign_in_limit *limit, const struct sockaddr_storage *address,
                        int64_t now_s);

#endif
