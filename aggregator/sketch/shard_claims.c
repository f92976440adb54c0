// SPDX-License-Identifier: Apache-2.0
// Lists of counted shards; see shard_claims.h.
#include "shard_claims.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "bytes.h"
#include "field_text.h"

#define NAMED_MAX 5 // missing shards that an error names

uint32_t agg_shard_of(const uint8_t id[AGG_CLAIM], uint32_t n_shards)
{
    uint64_t high = 0, low = 0;
    for (int i = 0; i < 4; i++) high = high << 8 | id[i];
    for (int i = 4; i < 8; i++) low = low << 8 | id[i];
    return (uint32_t)((high * n_shards + (low * n_shards >> 32)) >> 32) + 1;
}

agg_err agg_shard_parse(uint32_t *shard, uint32_t *n_shards, agg_error *error, const char *text)
{
    uint32_t parts[2] = {0, 0};
    int part = 0;
    size_t n_digits = 0;
    for (const char *at = text; *at != '\0'; at++) {
        bool is_digit = *at >= '0' && *at <= '9';
        if (*at == '/' && part == 0 && n_digits > 0) {
            part = 1;
            n_digits = 0;
        } else if (is_digit && n_digits++ < 5) {
            parts[part] = 10 * parts[part] + (uint32_t)(*at - '0');
        } else {
            part = 2;
            break;
        }
    }
    if (part != 1 || n_digits == 0 || parts[0] < 1 || parts[0] > parts[1] ||
        parts[1] > AGG_SHARDS_MAX)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--shard: not i/N with i from 1 to N, and N at most %u: %s", AGG_SHARDS_MAX,
                        text);
    *shard = parts[0];
    *n_shards = parts[1];
    return SHOAL_OK;
}

static void release_claim(agg_shard_claim *claim)
{
    free(claim->earlier);
    free(claim->held);
    memset(claim, 0, sizeof *claim);
}

void agg_shard_claims_release(agg_shard_claims *claims)
{
    for (size_t i = 0; i < claims->n; i++) release_claim(&claims->list[i]);
    free(claims->list);
    memset(claims, 0, sizeof *claims);
}

bool agg_shard_claim_holds(const agg_shard_claim *claim, uint32_t shard)
{
    return (claim->held[(shard - 1) / 8] >> (shard - 1) % 8 & 1) != 0;
}

uint32_t agg_shard_claim_count(const agg_shard_claim *claim)
{
    uint32_t n = 0;
    for (uint32_t shard = 1; shard <= claim->n_shards; shard++)
        n += agg_shard_claim_holds(claim, shard);
    return n;
}

// Allocates the lists of a claim whose numbers are set.
static agg_err allocate(agg_shard_claim *claim, agg_error *error)
{
    claim->earlier = agg_alloc(error, claim->n_earlier, sizeof *claim->earlier);
    claim->held = agg_alloc(error, agg_shard_bits(claim->n_shards), 1);
    if (claim->earlier != NULL && claim->held != NULL) return SHOAL_OK;
    release_claim(claim);
    return AGG_ERR_MEMORY;
}

// Adds a copy of a claim at the end of a list.
static agg_err append(agg_shard_claims *claims, agg_error *error, const agg_shard_claim *from,
                      const uint8_t *held)
{
    agg_shard_claim made = *from;
    void *list = claims->list;
    agg_err err = agg_grow(&list, &claims->cap, claims->n + 1, sizeof *claims->list, error);
    claims->list = list;
    if (err == SHOAL_OK) err = allocate(&made, error);
    if (err != SHOAL_OK) return err;
    if (made.n_earlier > 0) memcpy(made.earlier, from->earlier, 32 * (size_t)made.n_earlier);
    if (held != NULL) memcpy(made.held, held, agg_shard_bits(made.n_shards));
    claims->list[claims->n++] = made;
    return SHOAL_OK;
}

agg_err agg_shard_claims_of(agg_shard_claims *claims, agg_error *error,
                            const agg_shard_claim *about, uint32_t shard)
{
    memset(claims, 0, sizeof *claims);
    agg_err err = append(claims, error, about, NULL);
    if (err != SHOAL_OK)
        agg_shard_claims_release(claims);
    else if (shard > 0)
        claims->list[0].held[(shard - 1) / 8] |= (uint8_t)(1u << (shard - 1) % 8);
    return err;
}

// ---- uniting ----

static int compare_names(const void *a, const void *b)
{
    return memcmp(a, b, 32);
}

static bool names(const agg_shard_claim *later, const agg_shard_claim *earlier)
{
    return later->n_earlier > 0 &&
           bsearch(earlier->manifest, later->earlier, later->n_earlier, 32, compare_names) != NULL;
}

// Checks two manifests that are to be counted together.
static agg_err check_apart(agg_error *error, const agg_shard_claim *a, const agg_shard_claim *b)
{
    char first[AGG_MANIFEST_TEXT], second[AGG_MANIFEST_TEXT];
    if (names(a, b) || names(b, a)) return SHOAL_OK;
    return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_RUNTIME,
                    "manifest %s and manifest %s may list the same batches: neither was made "
                    "--after the other",
                    agg_manifest_print(first, a->manifest),
                    agg_manifest_print(second, b->manifest));
}

// Adds the shards of a claim on the same manifest.
static agg_err add_shards(agg_shard_claim *into, agg_error *error, const agg_shard_claim *from)
{
    char text[AGG_MANIFEST_TEXT];
    agg_manifest_print(text, into->manifest);
    if ((into->n_shards == 1) != (from->n_shards == 1))
        return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_RUNTIME,
                        "one counts all of manifest %s, and the other shards of it", text);
    if (into->n_shards != from->n_shards)
        return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_RUNTIME,
                        "manifest %s is split into %u shards in one and into %u in the other", text,
                        into->n_shards, from->n_shards);
    for (uint32_t shard = 1; shard <= into->n_shards; shard++)
        if (agg_shard_claim_holds(into, shard) && agg_shard_claim_holds(from, shard))
            return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_RUNTIME,
                            "both count shard %u/%u of manifest %s", shard, into->n_shards, text);
    for (size_t i = 0; i < agg_shard_bits(into->n_shards); i++) into->held[i] |= from->held[i];
    if (agg_shard_claim_count(into) == into->n_shards) {
        into->n_shards = 1; // so that the split does not show in what is whole
        into->held[0] = 1;
    }
    return SHOAL_OK;
}

static agg_err unite(agg_shard_claims *sum, agg_error *error, const agg_shard_claims *a,
                     const agg_shard_claims *b)
{
    agg_err err = SHOAL_OK;
    for (size_t i = 0, j = 0; err == SHOAL_OK && (i < a->n || j < b->n);) {
        int order = i == a->n   ? 1
                    : j == b->n ? -1
                                : memcmp(a->list[i].manifest, b->list[j].manifest, 32);
        const agg_shard_claim *next = order <= 0 ? &a->list[i] : &b->list[j];
        err = append(sum, error, next, next->held);
        if (err == SHOAL_OK && order == 0)
            err = add_shards(&sum->list[sum->n - 1], error, &b->list[j]);
        i += order <= 0;
        j += order >= 0;
    }
    if (err == SHOAL_OK && sum->n > AGG_MANIFESTS_MAX)
        err = agg_fail(error, SHOAL_ERR_OVERFLOW, AGG_EXIT_RUNTIME,
                       "an accumulator counts at most %u manifests", AGG_MANIFESTS_MAX);
    return err;
}

agg_err agg_shard_claims_unite(agg_shard_claims *sum, agg_error *error, const agg_shard_claims *a,
                               const agg_shard_claims *b)
{
    memset(sum, 0, sizeof *sum);
    agg_err err = unite(sum, error, a, b);
    for (size_t i = 0; err == SHOAL_OK && i < a->n; i++)
        for (size_t j = 0; err == SHOAL_OK && j < b->n; j++)
            if (memcmp(a->list[i].manifest, b->list[j].manifest, 32) != 0)
                err = check_apart(error, &a->list[i], &b->list[j]);
    if (err != SHOAL_OK) agg_shard_claims_release(sum);
    return err;
}

static bool claims_equal(const agg_shard_claim *a, const agg_shard_claim *b)
{
    return memcmp(a->manifest, b->manifest, 32) == 0 && a->generation == b->generation &&
           a->n_shards == b->n_shards && a->n_earlier == b->n_earlier &&
           memcmp(a->held, b->held, agg_shard_bits(a->n_shards)) == 0 &&
           memcmp(a->earlier, b->earlier, 32 * (size_t)a->n_earlier) == 0;
}

bool agg_shard_claims_equal(const agg_shard_claims *a, const agg_shard_claims *b)
{
    if (a->n != b->n) return false;
    for (size_t i = 0; i < a->n; i++)
        if (!claims_equal(&a->list[i], &b->list[i])) return false;
    return true;
}

bool agg_shard_claims_hold(const agg_shard_claims *claims, const agg_shard_claims *one)
{
    const agg_shard_claim *wanted = &one->list[0];
    for (size_t i = 0; i < claims->n; i++) {
        const agg_shard_claim *claim = &claims->list[i];
        bool is_held = memcmp(claim->manifest, wanted->manifest, 32) == 0;
        if (is_held && claim->n_shards == 1) return true; // all of it
        is_held = is_held && claim->n_shards == wanted->n_shards;
        for (size_t j = 0; is_held && j < agg_shard_bits(claim->n_shards); j++)
            is_held = (wanted->held[j] & ~claim->held[j]) == 0;
        if (is_held) return true;
    }
    return false;
}

agg_shards_about agg_shard_claims_about(const agg_shard_claims *claims)
{
    agg_shards_about about = {0, 0};
    for (size_t i = 0; i < claims->n; i++) {
        about.n += claims->list[i].n_shards;
        about.missing += claims->list[i].n_shards - agg_shard_claim_count(&claims->list[i]);
    }
    return about;
}

agg_err agg_shard_claims_check_whole(const agg_shard_claims *claims, agg_error *error)
{
    char name[AGG_MANIFEST_TEXT], missing[16 * NAMED_MAX] = "";
    for (size_t i = 0; i < claims->n; i++) {
        const agg_shard_claim *claim = &claims->list[i];
        uint32_t n_missing = claim->n_shards - agg_shard_claim_count(claim), n_named = 0;
        if (n_missing == 0) continue;
        for (uint32_t shard = 1; n_named < NAMED_MAX && shard <= claim->n_shards; shard++) {
            size_t len = strlen(missing);
            if (agg_shard_claim_holds(claim, shard)) continue;
            snprintf(missing + len, sizeof missing - len, "%s%u", n_named > 0 ? ", " : "", shard);
            n_named++;
        }
        return agg_fail(error, AGG_ERR_INCOMPLETE, AGG_EXIT_RUNTIME,
                        "incomplete: of the %u shards of manifest %s, %u %s missing (%s%s)",
                        claim->n_shards, agg_manifest_print(name, claim->manifest), n_missing,
                        n_missing == 1 ? "is" : "are", missing, n_missing > n_named ? ", ..." : "");
    }
    return SHOAL_OK;
}

// ---- files ----

uint64_t agg_shard_claim_size(const agg_shard_claim *claim)
{
    return AGG_SHARD_CLAIM_HEAD + 32 * (uint64_t)claim->n_earlier + agg_shard_bits(claim->n_shards);
}

void agg_shard_claim_print_head(uint8_t bytes[AGG_SHARD_CLAIM_HEAD], const agg_shard_claim *claim)
{
    memcpy(bytes, claim->manifest, 32);
    store32_le(bytes + 32, claim->generation);
    store32_le(bytes + 36, claim->n_shards);
    store32_le(bytes + 40, claim->n_earlier);
}

agg_err agg_shard_claim_read_head(agg_shard_claim *claim, agg_error *error,
                                  const uint8_t bytes[AGG_SHARD_CLAIM_HEAD])
{
    *claim = (agg_shard_claim){.generation = load32_le(bytes + 32),
                               .n_shards = load32_le(bytes + 36),
                               .n_earlier = load32_le(bytes + 40)};
    memcpy(claim->manifest, bytes, 32);
    if (claim->generation < 1 || claim->generation > claim->n_earlier + 1 || claim->n_shards < 1 ||
        claim->n_shards > AGG_SHARDS_MAX || claim->n_earlier > AGG_EARLIER_MAX)
        return SHOAL_ERR_RANGE;
    return allocate(claim, error);
}

static bool is_sound(const agg_shard_claim *claim)
{
    uint32_t n_last = claim->n_shards % 8;
    for (uint32_t i = 1; i < claim->n_earlier; i++)
        if (memcmp(claim->earlier[i - 1], claim->earlier[i], 32) >= 0) return false;
    if (n_last > 0 && claim->held[claim->n_shards / 8] >> n_last != 0) return false;
    uint32_t n = agg_shard_claim_count(claim);
    return n > 0 && (n < claim->n_shards || n == 1);
}

agg_err agg_shard_claims_check_read(const agg_shard_claims *claims)
{
    for (size_t i = 0; i < claims->n; i++) {
        const agg_shard_claim *claim = &claims->list[i];
        if (!is_sound(claim)) return SHOAL_ERR_RANGE;
        if (i > 0 && memcmp(claims->list[i - 1].manifest, claim->manifest, 32) >= 0)
            return SHOAL_ERR_RANGE;
        for (size_t j = 0; j < i; j++)
            if (!names(claim, &claims->list[j]) && !names(&claims->list[j], claim))
                return SHOAL_ERR_RANGE;
    }
    return SHOAL_OK;
}

const char *agg_manifest_print(char text[AGG_MANIFEST_TEXT], const uint8_t name[32])
{
    *shoal_print_hex(text, name, 32) = '\0';
    return text;
}
