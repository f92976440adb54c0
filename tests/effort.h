// SPDX-License-Identifier: Apache-2.0
// How much a test tries. `make test-long` tries more (SHOAL_LONG) than `make test`, and a
// sanitizer, under which the same code takes five to twenty times as long, less. Statistics that
// take longer than that are campaigns (SHOAL_CAMPAIGN, see scripts/campaign.mjs).
#ifndef EFFORT_H
#define EFFORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#if defined __has_feature
#if __has_feature(thread_sanitizer)
#define EFFORT_THREADS_ONLY true // what starts no thread shows it nothing
#endif
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define EFFORT_SANITIZED true
#endif
#endif
#ifndef EFFORT_THREADS_ONLY
#define EFFORT_THREADS_ONLY false
#endif
#ifdef EFFORT_SANITIZED
// For what a test compares with, a definition in a few plain loops: the sanitizer is there for the
// code under test.
#define REFERENCE __attribute__((no_sanitize("address", "undefined", "thread")))
#else
#define EFFORT_SANITIZED false
#define REFERENCE
#endif

static inline bool effort_is_long(void)
{
    return getenv("SHOAL_LONG") != NULL;
}

// True where a test of statistics is skipped: a sanitizer sees its code through other tests too,
// and runs it in make test-long.
static inline bool effort_is_small(void)
{
    return EFFORT_SANITIZED && !effort_is_long();
}

// Returns: how many times to try natively in a campaign; otherwise what the tier has.
static inline uint32_t effort_of_campaign(uint32_t campaign, uint32_t otherwise)
{
    return getenv("SHOAL_CAMPAIGN") != NULL && !EFFORT_SANITIZED ? campaign : otherwise;
}

// The seed of a campaign's step, or the test's own.
static inline uint64_t effort_seed(uint64_t own)
{
    const char *text = getenv("SHOAL_SEED");
    return text != NULL ? strtoull(text, NULL, 10) : own;
}

// Returns: how many times to try. `all` in make test-long, `some` in make test; a sanitizer has
// `some` in the former and `few` in the latter.
static inline uint32_t effort(uint32_t all, uint32_t some, uint32_t few)
{
    if (EFFORT_SANITIZED) return effort_is_long() ? some : few;
    return effort_is_long() ? all : some;
}

#endif
