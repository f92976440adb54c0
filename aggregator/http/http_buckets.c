// SPDX-License-Identifier: Apache-2.0
// Token buckets; see http_buckets.h. A bucket is the time at which it is full: taking a token moves
// that time by one step. So a bucket that nobody uses fills without being touched.
#include "http_buckets.h"

#include <stddef.h>
#include <string.h>

#define SECOND_US INT64_C(1000000)

void agg_http_buckets_init(agg_http_buckets *buckets, uint32_t rate, uint32_t burst)
{
    memset(buckets, 0, sizeof *buckets);
    pthread_mutex_init(&buckets->mutex, NULL);
    if (rate == 0) return;
    buckets->step_us = SECOND_US / rate > 0 ? SECOND_US / rate : 1;
    buckets->fill_us = burst * buckets->step_us;
    if (buckets->fill_us > AGG_HTTP_FILL_S_MAX * SECOND_US)
        buckets->fill_us = AGG_HTTP_FILL_S_MAX * SECOND_US;
    if (buckets->fill_us < buckets->step_us) buckets->fill_us = buckets->step_us;
}

void agg_http_buckets_release(agg_http_buckets *buckets)
{
    pthread_mutex_destroy(&buckets->mutex);
    memset(buckets, 0, sizeof *buckets);
}

// Finds the bucket of an address, or gives it the fullest one of its ways. Call with the mutex
// held. Returns: the time at which the bucket is full, at least now.
static int64_t *find(agg_http_buckets *buckets, uint64_t address, int64_t now_us)
{
    size_t first = address % (AGG_HTTP_BUCKETS / AGG_HTTP_BUCKET_WAYS) * AGG_HTTP_BUCKET_WAYS,
           fullest = first, found = AGG_HTTP_BUCKETS;
    for (size_t i = first; i < first + AGG_HTTP_BUCKET_WAYS; i++) {
        if (buckets->list[i].address == address) found = i;
        if (buckets->list[i].full_us < buckets->list[fullest].full_us) fullest = i;
    }
    if (found == AGG_HTTP_BUCKETS) {
        found = fullest;
        buckets->list[found].address = address;
        buckets->list[found].full_us = now_us;
    }
    if (buckets->list[found].full_us < now_us) buckets->list[found].full_us = now_us;
    return &buckets->list[found].full_us;
}

unsigned agg_http_buckets_take(agg_http_buckets *buckets, uint64_t address, int64_t now_us)
{
    if (buckets->step_us == 0) return 0;
    pthread_mutex_lock(&buckets->mutex);
    int64_t *full_us = find(buckets, address, now_us);
    int64_t wait_us = *full_us + buckets->step_us - now_us - buckets->fill_us;
    if (wait_us <= 0) *full_us += buckets->step_us;
    pthread_mutex_unlock(&buckets->mutex);
    return wait_us <= 0 ? 0 : (unsigned)((wait_us + SECOND_US - 1) / SECOND_US);
}

void agg_http_buckets_charge(agg_http_buckets *buckets, uint64_t address, uint64_t tokens,
                             int64_t now_us)
{
    const int64_t most_us = buckets->fill_us + AGG_HTTP_DEBT_S * SECOND_US;
    if (buckets->step_us == 0 || tokens == 0) return;
    pthread_mutex_lock(&buckets->mutex);
    int64_t *full_us = find(buckets, address, now_us);
    if (tokens >= (uint64_t)(most_us / buckets->step_us))
        *full_us = now_us + most_us;
    else
        *full_us += (int64_t)tokens * buckets->step_us;
    if (*full_us > now_us + most_us) *full_us = now_us + most_us;
    pthread_mutex_unlock(&buckets->mutex);
}

unsigned agg_http_buckets_forget(agg_http_buckets *buckets, int64_t now_us)
{
    unsigned n_left = 0;
    pthread_mutex_lock(&buckets->mutex);
    for (size_t i = 0; i < AGG_HTTP_BUCKETS; i++) {
        if (buckets->list[i].full_us > now_us) {
            n_left++;
        } else {
            buckets->list[i].address = 0;
            buckets->list[i].full_us = 0;
        }
    }
    pthread_mutex_unlock(&buckets->mutex);
    return n_left;
}
