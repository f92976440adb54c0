// SPDX-License-Identifier: Apache-2.0
// Manifests; see manifest.h.
#include "manifest.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "bytes.h"
#include "sha256.h"

#define MAGIC "shoalman"
#define VERSION 1u
#define HAS_VERSION_1 1u // a flag
#define HEADER AGG_MANIFEST_HEADER

void agg_manifest_release(agg_manifest *manifest)
{
    free(manifest->file.data);
    memset(manifest, 0, sizeof *manifest);
}

static int compare_ids(const void *a, const void *b)
{
    return memcmp(a, b, AGG_CLAIM);
}

static int compare_names(const void *a, const void *b)
{
    return memcmp(a, b, 32);
}

size_t agg_manifest_find(const agg_manifest *manifest, const uint8_t id[AGG_CLAIM])
{
    const uint8_t(*found)[AGG_CLAIM] =
        bsearch(id, manifest->ids, manifest->n_ids, AGG_CLAIM, compare_ids);
    return found != NULL ? (size_t)(found - manifest->ids) : manifest->n_ids;
}

size_t agg_manifest_shard_start(const agg_manifest *manifest, uint32_t shard, uint32_t n_shards)
{
    size_t first = 0, end = manifest->n_ids;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (agg_shard_of(manifest->ids[middle], n_shards) < shard)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

static bool is_earlier(const agg_manifest *manifest, const uint8_t name[32])
{
    return manifest->n_earlier > 0 &&
           bsearch(name, manifest->earlier, manifest->n_earlier, 32, compare_names) != NULL;
}

// ---- reading ----

static void digest_of(uint8_t digest[32], const uint8_t *bytes, size_t len)
{
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, bytes, len);
    shoal_sha256_final(digest, &sha);
}

// Reads the numbers of the header, and where the lists begin.
static agg_err read_header(agg_manifest *m, const uint8_t *bytes, size_t len)
{
    if (len < sizeof MAGIC - 1) return SHOAL_ERR_TRUNCATED;
    if (memcmp(bytes, MAGIC, sizeof MAGIC - 1) != 0) return SHOAL_ERR_MAGIC;
    if (len < HEADER) return SHOAL_ERR_TRUNCATED;
    if (load32_le(bytes + 8) != VERSION) return SHOAL_ERR_VERSION;
    uint32_t flags = load32_le(bytes + 12);
    m->has_version_1 = flags == HAS_VERSION_1;
    m->generation = load32_le(bytes + 16);
    m->n_earlier = load32_le(bytes + 20);
    m->n_ids = load32_le(bytes + 24);
    memcpy(m->recipe_hash, bytes + 28, 32);
    if (flags > HAS_VERSION_1 || m->n_earlier > AGG_EARLIER_MAX || m->n_ids < 1 ||
        m->n_ids > AGG_MANIFEST_IDS_MAX || m->generation < 1 || m->generation > m->n_earlier + 1 ||
        (m->generation == 1) != (m->n_earlier == 0))
        return SHOAL_ERR_RANGE;
    m->earlier = (const uint8_t(*)[32])(bytes + HEADER);
    m->ids = (const uint8_t(*)[AGG_CLAIM])(bytes + HEADER + 32 * (size_t)m->n_earlier);
    return SHOAL_OK;
}

static agg_err check_lists(const agg_manifest *m)
{
    for (uint32_t i = 1; i < m->n_earlier; i++)
        if (memcmp(m->earlier[i - 1], m->earlier[i], 32) >= 0) return SHOAL_ERR_RANGE;
    for (uint32_t i = 1; i < m->n_ids; i++)
        if (memcmp(m->ids[i - 1], m->ids[i], AGG_CLAIM) >= 0) return SHOAL_ERR_RANGE;
    return SHOAL_OK;
}

static agg_err read_bytes(agg_manifest *m, const uint8_t *bytes, size_t len)
{
    agg_err err = read_header(m, bytes, len);
    if (err != SHOAL_OK) return err;
    size_t end = HEADER + 32 * (size_t)m->n_earlier + AGG_CLAIM * (size_t)m->n_ids;
    if (len < end + 32) return SHOAL_ERR_TRUNCATED;
    if (len > end + 32) return SHOAL_ERR_EXTRA;
    digest_of(m->name, bytes, end);
    if (memcmp(m->name, bytes + end, 32) != 0) return SHOAL_ERR_CHECKSUM;
    return check_lists(m);
}

agg_err agg_manifest_read(agg_manifest *manifest, agg_error *error, const char *name,
                          agg_bytes *file)
{
    agg_manifest read = {.file = {NULL, 0}};
    memset(manifest, 0, sizeof *manifest);
    agg_err err = read_bytes(&read, file->data, file->len);
    if (err != SHOAL_OK)
        return agg_fail(error, err, AGG_EXIT_IO, "%s: manifest cannot be read: %s", name,
                        shoal_err_text((shoal_err)err));
    *manifest = read;
    manifest->file = *file;
    *file = (agg_bytes){NULL, 0};
    return SHOAL_OK;
}

agg_err agg_manifest_load(agg_manifest *manifest, agg_error *error, const char *path)
{
    agg_bytes file = {NULL, 0};
    memset(manifest, 0, sizeof *manifest);
    agg_err err = agg_file_read(&file, error, path, AGG_MANIFEST_FILE_MAX);
    if (err != SHOAL_OK) return err;
    err =
        agg_manifest_read(manifest, error, strcmp(path, "-") == 0 ? "standard input" : path, &file);
    free(file.data);
    return err;
}

// ---- several manifests ----

// Finds a batch that both list. Returns: NULL if there is none.
static const uint8_t *shared_id(const agg_manifest *a, const agg_manifest *b)
{
    for (size_t i = 0, j = 0; i < a->n_ids && j < b->n_ids;) {
        int order = memcmp(a->ids[i], b->ids[j], AGG_CLAIM);
        if (order == 0) return a->ids[i];
        i += order < 0;
        j += order > 0;
    }
    return NULL;
}

static agg_err check_two(agg_error *error, const agg_manifest *a, const char *a_name,
                         const agg_manifest *b, const char *b_name)
{
    char text[AGG_CLAIM_TEXT];
    if (memcmp(a->name, b->name, 32) == 0)
        return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_RUNTIME,
                        "%s and %s are the same manifest", a_name, b_name);
    if (memcmp(a->recipe_hash, b->recipe_hash, 32) != 0)
        return agg_fail(error, SHOAL_ERR_RECIPE_HASH, AGG_EXIT_RUNTIME,
                        "%s and %s are of different recipes", a_name, b_name);
    const uint8_t *shared = shared_id(a, b);
    if (shared != NULL)
        return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_RUNTIME,
                        "%s and %s both list batch %s", a_name, b_name,
                        agg_claim_print(text, shared));
    if (is_earlier(a, b->name) || is_earlier(b, a->name)) return SHOAL_OK;
    return agg_fail(error, SHOAL_ERR_MISSING_FIELD, AGG_EXIT_RUNTIME,
                    "neither of %s and %s was made --after the other, so their results cannot be "
                    "merged",
                    a_name, b_name);
}

agg_err agg_manifest_check_chain(agg_error *error, const agg_manifest *manifests,
                                 const char *const *names, size_t n)
{
    agg_err err = SHOAL_OK;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; err == SHOAL_OK && j < i; j++)
            err = check_two(error, &manifests[j], names[j], &manifests[i], names[i]);
    return err;
}

// ---- making ----

static bool is_given(const agg_generation *g, const uint8_t name[32])
{
    for (size_t i = 0; i < g->n_earlier; i++)
        if (memcmp(g->earlier[i].name, name, 32) == 0) return true;
    return false;
}

// Checks that every manifest that an earlier one names is given too: its batches are to be left out
// as well.
static agg_err check_earlier(agg_error *error, const agg_generation *g)
{
    char text[AGG_MANIFEST_TEXT], other[AGG_MANIFEST_TEXT];
    if (g->n_earlier > AGG_EARLIER_MAX)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                        "a manifest names at most %u earlier ones", AGG_EARLIER_MAX);
    for (size_t i = 0; i < g->n_earlier; i++) {
        const agg_manifest *m = &g->earlier[i];
        agg_manifest_print(other, m->name);
        if (memcmp(m->recipe_hash, g->recipe_hash, 32) != 0)
            return agg_fail(error, SHOAL_ERR_RECIPE_HASH, AGG_EXIT_RUNTIME,
                            "the earlier manifest %s is of another recipe", other);
        for (size_t j = 0; j < i; j++)
            if (memcmp(m->name, g->earlier[j].name, 32) == 0)
                return agg_fail(error, SHOAL_ERR_DUPLICATE, AGG_EXIT_RUNTIME,
                                "the earlier manifest %s is given twice", other);
        for (uint32_t j = 0; j < m->n_earlier; j++)
            if (!is_given(g, m->earlier[j]))
                return agg_fail(error, SHOAL_ERR_MISSING_FIELD, AGG_EXIT_RUNTIME,
                                "the earlier manifest %s was made after %s, which is not given: "
                                "give all earlier ones with --after",
                                other, agg_manifest_print(text, m->earlier[j]));
    }
    return SHOAL_OK;
}

// Sorts the ids, and drops those that come again and those that an earlier manifest lists.
static void keep_new(agg_generation *g)
{
    size_t n = 0;
    uint8_t last[AGG_CLAIM];
    qsort(g->ids, g->n_ids, AGG_CLAIM, compare_ids);
    for (size_t i = 0; i < g->n_ids; i++) {
        bool is_known = false;
        if (i > 0 && memcmp(last, g->ids[i], AGG_CLAIM) == 0) {
            g->n_repeated++;
            continue;
        }
        memcpy(last, g->ids[i], AGG_CLAIM);
        for (size_t j = 0; j < g->n_earlier && !is_known; j++)
            is_known = agg_manifest_find(&g->earlier[j], g->ids[i]) < g->earlier[j].n_ids;
        g->n_known += is_known;
        if (!is_known) memmove(g->ids[n++], g->ids[i], AGG_CLAIM);
    }
    g->n_ids = n;
}

static void write_bytes(uint8_t *bytes, const agg_generation *g)
{
    uint32_t generation = 0;
    uint8_t *names = bytes + HEADER, *end = names + 32 * g->n_earlier;
    for (size_t i = 0; i < g->n_earlier; i++) {
        if (g->earlier[i].generation > generation) generation = g->earlier[i].generation;
        memcpy(names + 32 * i, g->earlier[i].name, 32);
    }
    if (g->n_earlier > 0) qsort(names, g->n_earlier, 32, compare_names);
    memcpy(bytes, MAGIC, sizeof MAGIC - 1);
    store32_le(bytes + 8, VERSION);
    store32_le(bytes + 12, g->has_version_1 ? HAS_VERSION_1 : 0);
    store32_le(bytes + 16, generation + 1);
    store32_le(bytes + 20, (uint32_t)g->n_earlier);
    store32_le(bytes + 24, (uint32_t)g->n_ids);
    memcpy(bytes + 28, g->recipe_hash, 32);
    memcpy(end, g->ids, AGG_CLAIM * g->n_ids);
    end += AGG_CLAIM * g->n_ids;
    digest_of(end, bytes, (size_t)(end - bytes));
}

agg_err agg_manifest_make(agg_manifest *manifest, agg_error *error, agg_generation *g)
{
    memset(manifest, 0, sizeof *manifest);
    g->n_repeated = g->n_known = 0;
    agg_err err = check_earlier(error, g);
    if (err != SHOAL_OK) return err;
    if (g->n_ids > 0) keep_new(g);
    if (g->n_ids == 0)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                        "there is no batch that no earlier manifest lists; nothing was written");
    if (g->n_ids > AGG_MANIFEST_IDS_MAX)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME,
                        "a manifest lists at most %u batches, and these are %zu",
                        AGG_MANIFEST_IDS_MAX, g->n_ids);
    agg_bytes file = {.len = HEADER + 32 * g->n_earlier + AGG_CLAIM * g->n_ids + 32};
    file.data = agg_alloc(error, file.len, 1);
    if (file.data == NULL) return AGG_ERR_MEMORY;
    write_bytes(file.data, g);
    err = agg_manifest_read(manifest, error, "a new manifest", &file);
    free(file.data);
    return err;
}
