// SPDX-License-Identifier: Apache-2.0
// Counting failed sign-ins; see sign_in_limit.h.
#include "sign_in_limit.h"

#include <unistd.h>

#include "http_network.h"

agg_err sign_in_limit_init(sign_in_limit *limit, agg_error *error)
{
    *limit = (sign_in_limit){.slots = {{0, 0}}};
    pthread_mutex_init(&limit->mutex, NULL);
    if (getentropy(limit->key, sizeof limit->key) == 0) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_RUNTIME, "the system has no random bytes");
}

void sign_in_limit_release(sign_in_limit *limit)
{
    pthread_mutex_destroy(&limit->mutex);
}

static size_t slot_of(const sign_in_limit *limit, const struct sockaddr_storage *address)
{
    return agg_http_network_hash(limit->key, address) % SIGN_IN_SLOTS;
}

// Takes back the failures that time has forgiven. Call with the mutex held.
static void forgive(sign_in_limit *limit, size_t i, int64_t now_s)
{
    int64_t steps = (now_s - limit->slots[i].since_s) / SIGN_IN_FORGIVE_S;
    if (steps <= 0) return;
    limit->slots[i].failures -=
        steps < limit->slots[i].failures ? (uint32_t)steps : limit->slots[i].failures;
    limit->slots[i].since_s += steps * SIGN_IN_FORGIVE_S;
}

unsigned sign_in_limit_wait(sign_in_limit *limit, const struct sockaddr_storage *address,
                            int64_t now_s)
{
    size_t i = slot_of(limit, address);
    pthread_mutex_lock(&limit->mutex);
    forgive(limit, i, now_s);
    unsigned wait = 0;
    if (limit->slots[i].failures >= SIGN_IN_FAILURES)
        wait = (unsigned)(limit->slots[i].since_s + SIGN_IN_FORGIVE_S - now_s);
    pthread_mutex_unlock(&limit->mutex);
    return wait;
}

void sign_in_limit_fail(sign_in_limit *limit, const struct sockaddr_storage *address, int64_t now_s)
{
    size_t i = slot_of(limit, address);
    pthread_mutex_lock(&limit->mutex);
    forgive(limit, i, now_s);
    if (limit->slots[i].failures == 0) limit->slots[i].since_s = now_s;
    if (limit->slots[i].failures < SIGN_IN_FAILURES) limit->slots[i].failures++;
    pthread_mutex_unlock(&limit->mutex);
}
