// SPDX-License-Identifier: Apache-2.0
// Ids of batches and of names; see manifest_gather.h.
#include "manifest_gather.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agg_size.h"
#include "call_streams.h"
#include "field_text.h"
#include "period.h"
#include "reader.h"
#include "recipe.h"

#define LINE_MAX_BYTES 2048 // of a name; object stores allow 1024
#define DEPTH_MAX 16        // folders within one another
#define KEY_LEN 111u        // "<64>/<10>/<2>/<32>", without the ending

void agg_gathered_release(agg_gathered *gathered)
{
    free(gathered->ids);
    memset(gathered, 0, sizeof *gathered);
}

agg_err agg_manifest_check_recipe(agg_error *error, const agg_recipe *recipe)
{
    uint32_t aggregation = recipe->recipe->aggregation;
    if (aggregation == SHOAL_AGGREGATION_REPORTS) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_PRIVACY,
                    "recipe %s: its aggregation.protocol is \"%s\", which promises that no report "
                    "is stored; shards and manifests are for batches that a shared store keeps",
                    recipe->id, aggregation == SHOAL_AGGREGATION_SUM ? "sum" : "dap");
}

static agg_err add_id(agg_gathered *g, agg_error *error, const uint8_t id[AGG_CLAIM])
{
    void *ids = g->ids;
    agg_err err = agg_grow(&ids, &g->cap, g->n + 1, AGG_CLAIM, error);
    g->ids = ids;
    if (err == SHOAL_OK) memcpy(g->ids[g->n++], id, AGG_CLAIM);
    return err;
}

// ---- batches ----

typedef struct gathering {
    agg_gathered *gathered;
    const agg_recipe *recipe;
    const char *path; // of the file that is read
    bool allows_version_1;
} gathering;

static agg_err take_ids(void *context, agg_error *error, const agg_run *runs, uint32_t n_runs)
{
    gathering *in = context;
    char text[AGG_CLAIM_TEXT];
    agg_err err = SHOAL_OK;
    for (uint32_t i = 0; i < n_runs && err == SHOAL_OK; i++) {
        if (runs[i].batch_id == NULL)
            return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE,
                            "%s: holds lines; a manifest lists batches", in->path);
        if (runs[i].version == 1 && !in->allows_version_1)
            return agg_fail(error, SHOAL_ERR_VERSION, AGG_EXIT_USAGE,
                            "%s: batch %s is of version 1: its sender drew the id, which does not "
                            "prove its content (--allow-old lists it all the same)",
                            in->path, agg_claim_print(text, runs[i].batch_id));
        in->gathered->has_version_1 |= runs[i].version == 1;
        err = add_id(in->gathered, error, runs[i].batch_id);
    }
    return err;
}

static agg_err gather_file(gathering *in, agg_error *error, const char *path)
{
    char command[] = "manifest";
    agg_read_count count = {0, 0, 0, 0, 0};
    agg_reader reader = {
        .recipe = in->recipe, .sink = take_ids, .sink_context = in, .log_context = command};
    in->path = strcmp(path, "-") == 0 ? "standard input" : path;
    agg_err err = agg_reader_file(&count, error, &reader, path);
    if (err == SHOAL_OK && count.lines > 0)
        return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_USAGE,
                        "%s: holds lines; a manifest lists batches", in->path);
    return err;
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);
    return len > end_len && strcmp(text + len - end_len, end) == 0;
}

static bool is_batch_name(const char *name)
{
    return ends_with(name, ".batch") || ends_with(name, ".batch.zst") ||
           ends_with(name, ".batch.gz");
}

static bool is_folder(const char *path)
{
    struct stat about;
    return strcmp(path, "-") != 0 && stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static agg_err gather_folder(gathering *in, agg_error *error, const char *path, int depth);

static agg_err gather_entry(gathering *in, agg_error *error, const char *folder, const char *name,
                            int depth)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = agg_alloc(error, size, 1);
    if (path == NULL) return AGG_ERR_MEMORY;
    snprintf(path, size, "%s/%s", folder, name);
    agg_err err = SHOAL_OK;
    if (is_folder(path))
        err = gather_folder(in, error, path, depth + 1);
    else if (is_batch_name(name))
        err = gather_file(in, error, path);
    else
        in->gathered->n_other++;
    free(path);
    return err;
}

// The depth is limited, so that a link that leads to its own folder ends.
static agg_err gather_folder(gathering *in, agg_error *error, const char *path, int depth)
{
    agg_err err = SHOAL_OK;
    DIR *folder = depth < DEPTH_MAX ? opendir(path) : NULL;
    if (depth >= DEPTH_MAX) errno = ELOOP;
    if (folder == NULL)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot open: %s", path,
                        strerror(errno));
    for (const struct dirent *entry; err == SHOAL_OK && (entry = readdir(folder)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            err = gather_entry(in, error, path, entry->d_name, depth);
    closedir(folder);
    return err;
}

agg_err agg_gather_path(agg_gathered *gathered, agg_error *error, const agg_recipe *recipe,
                        const char *path, bool allows_version_1)
{
    gathering in = {gathered, recipe, path, allows_version_1};
    return is_folder(path) ? gather_folder(&in, error, path, 0) : gather_file(&in, error, path);
}

// ---- names ----

static bool read_id(uint8_t id[AGG_CLAIM], const char *text, size_t len)
{
    return len == 2 * AGG_CLAIM && shoal_parse_hex(id, AGG_CLAIM, &text) == SHOAL_OK;
}

// Reads the part of a key that follows the recipe's hash.
static bool read_key_end(uint8_t id[AGG_CLAIM], const char *text)
{
    char day[11];
    int32_t number = 0;
    memcpy(day, text + 65, 10);
    day[10] = '\0';
    return text[64] == '/' && text[75] == '/' && text[78] == '/' && agg_day_parse(&number, day) &&
           memcmp(text + 76, text + 79, 2) == 0 && read_id(id, text + 79, 2 * AGG_CLAIM);
}

// Reads a name. *is_other: whether it is the key of another recipe.
static bool read_name(uint8_t id[AGG_CLAIM], bool *is_other, const agg_recipe *recipe,
                      const char *text)
{
    static const char *const endings[] = {".batch", ".batch.zst", ".batch.gz"};
    size_t len = strlen(text), key = 0;
    *is_other = false;
    if (read_id(id, text, len)) return true;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (ends_with(text, endings[i])) key = len - strlen(endings[i]);
    if (key < KEY_LEN || !read_key_end(id, text + key - KEY_LEN)) return false;
    const char *hash = text + key - KEY_LEN;
    if (hash > text && hash[-1] != '/') return false;
    *is_other = memcmp(hash, recipe->hash_hex, 64) != 0;
    return true;
}

static agg_err take_line(agg_gathered *g, agg_error *error, const agg_recipe *recipe,
                         const char *name, uint64_t number, char *line)
{
    uint8_t id[AGG_CLAIM];
    bool is_other = false;
    size_t len = strlen(line);
    bool is_whole = len > 0 && line[len - 1] == '\n';
    if (is_whole) line[--len] = '\0';
    if (len > 0 && line[len - 1] == '\r') line[--len] = '\0';
    if (len == 0 && is_whole) return SHOAL_OK;
    if ((!is_whole && len >= LINE_MAX_BYTES - 1) || !read_name(id, &is_other, recipe, line))
        return agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_IO,
                        "%s: line %llu: neither an id of 32 hex digits nor the key of a batch",
                        name, (unsigned long long)number);
    if (is_other)
        return agg_fail(error, SHOAL_ERR_RECIPE_HASH, AGG_EXIT_RUNTIME,
                        "%s: line %llu: the key of a batch of another recipe than %s", name,
                        (unsigned long long)number, recipe->id);
    return add_id(g, error, id);
}

agg_err agg_gather_names(agg_gathered *gathered, agg_error *error, const agg_recipe *recipe,
                         const char *path)
{
    char line[LINE_MAX_BYTES];
    bool is_input = strcmp(path, "-") == 0;
    const char *name = is_input ? "standard input" : path;
    FILE *stream = is_input ? agg_in(error) : fopen(path, "r");
    agg_err err = SHOAL_OK;
    if (stream == NULL && is_input) return AGG_ERR_USAGE;
    if (stream == NULL)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot open: %s", path,
                        strerror(errno));
    for (uint64_t n = 1; err == SHOAL_OK && fgets(line, sizeof line, stream) != NULL; n++)
        err = take_line(gathered, error, recipe, name, n, line);
    if (err == SHOAL_OK && ferror(stream))
        err =
            agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot read: %s", name, strerror(errno));
    if (!is_input) fclose(stream);
    return err;
}
