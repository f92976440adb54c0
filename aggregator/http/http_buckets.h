// SPDX-License-Identifier: Apache-2.0
// Token buckets of addresses: what an address that shows no token may ask for. Each IPv4 address
// and each IPv6 network of 64 bits has a bucket of its own, which starts full and fills at a steady
// rate.
//
// Privacy: no address is kept, and nothing is written anywhere. A bucket's name is a keyed hash
// (agg_http_network_hash) under a key drawn at the start. A bucket is forgotten once it is full
// again, which takes at most AGG_HTTP_FORGET_S.
// Memory: constant. When too many addresses ask at once, the fullest buckets are forgotten first,
// so that a crowd of addresses opens the limit instead of shutting honest senders out.
#ifndef HTTP_BUCKETS_H
#define HTTP_BUCKETS_H

#include <pthread.h>
#include <stdint.h>

enum {
    AGG_HTTP_BUCKET_WAYS = 8, // buckets among which a hash picks
    AGG_HTTP_BUCKETS = 4096,
    AGG_HTTP_DEBT_S = 300,     // most seconds for which a bucket may be overdrawn
    AGG_HTTP_FILL_S_MAX = 240, // most seconds in which an empty bucket fills
    AGG_HTTP_FORGET_S = AGG_HTTP_DEBT_S + AGG_HTTP_FILL_S_MAX
};

typedef struct agg_http_buckets {
    pthread_mutex_t mutex;
    int64_t step_us; // time in which one token comes in; 0: there is no limit
    int64_t fill_us; // time in which an empty bucket fills
    struct {
        uint64_t address; // a hash
        int64_t full_us;  // when the bucket is full
    } list[AGG_HTTP_BUCKETS];
} agg_http_buckets;

// Makes buckets.
//   rate: tokens a second; 0: no limit
//   burst: tokens of a full bucket, at most AGG_HTTP_FILL_S_MAX seconds' worth
void agg_http_buckets_init(agg_http_buckets *buckets, uint32_t rate, uint32_t burst);
void agg_http_buckets_release(agg_http_buckets *buckets);

// Takes a token, if there is one.
//   now_us: on a clock that does not go back
// Returns: 0, or the seconds after which there is one.
unsigned agg_http_buckets_take(agg_http_buckets *buckets, uint64_t address, int64_t now_us);

// Takes tokens for what an address has sent already. The bucket may be overdrawn.
void agg_http_buckets_charge(agg_http_buckets *buckets, uint64_t address, uint64_t tokens,
                             int64_t now_us);

// Forgets the buckets that are full.
// Returns: how many are left.
unsigned agg_http_buckets_forget(agg_http_buckets *buckets, int64_t now_us);

#endif
