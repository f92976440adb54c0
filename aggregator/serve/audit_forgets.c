// SPDX-License-Identifier: Apache-2.0
// Reading forgets out of an audit log; see audit_forgets.h. Times are compared as the log writes
// them: their order is that of their text.
#include "audit_forgets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agg_size.h"
#include "audit_check.h"
#include "audit_files.h"
#include "json_walk.h"

#define TIME_MAX 32

typedef struct reading {
    agg_audit_forgets *forgets;
    agg_error *error;
    size_t cap;
    char since[TIME_MAX];
    char first[TIME_MAX]; // time of the log's first line
} reading;

static const char *text_of(const cJSON *json, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));
    return text == NULL ? "" : text;
}

static agg_err add(reading *r, const char *id)
{
    void *grown = r->forgets->ids;
    agg_err err = agg_grow(&grown, &r->cap, r->forgets->n + 1, sizeof *r->forgets->ids, r->error);
    r->forgets->ids = grown;
    if (err != SHOAL_OK) return err;
    char *copy = strdup(id);
    if (copy == NULL) return agg_fail(r->error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    r->forgets->ids[r->forgets->n++] = copy;
    return SHOAL_OK;
}

// A piece of a line that a kill cut off is no JSON; the log notes it.
static agg_err read_line(reading *r, const char *line, size_t len)
{
    cJSON *json = agg_json_parse(NULL, line, len);
    const char *time = text_of(json, "time");
    agg_err err = SHOAL_OK;
    if (r->first[0] == '\0') snprintf(r->first, sizeof r->first, "%.31s", time);
    if (strcmp(text_of(json, "what"), "store-forget") == 0 && strcmp(time, r->since) >= 0)
        err = add(r, text_of(json, "collection"));
    cJSON_Delete(json);
    return err;
}

static agg_err read_file(reading *r, const char *folder, unsigned number)
{
    char name[AGG_AUDIT_NAME_MAX], path[AGG_AUDIT_PATH_MAX];
    uint8_t *bytes = NULL;
    size_t len = 0;
    agg_audit_file_name(name, number);
    int size = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (size < 0 || (size_t)size >= sizeof path)
        return agg_fail(r->error, AGG_ERR_IO, AGG_EXIT_IO, "%s: the path is too long", folder);
    agg_err err = agg_audit_file_read(&bytes, &len, r->error, path);
    for (size_t at = 0, end; err == SHOAL_OK && at < len; at = end + 1) {
        for (end = at; end < len && bytes[end] != '\n'; end++) {
        }
        err = read_line(r, (const char *)bytes + at, end - at);
    }
    free(bytes);
    return err;
}

agg_err agg_audit_find_forgets(agg_audit_forgets *forgets, agg_error *error, const char *folder,
                               int64_t since_s)
{
    reading r = {.forgets = forgets, .error = error};
    agg_audit_report report;
    unsigned first = 0, last = 0;
    struct tm utc;
    time_t seconds = (time_t)since_s;
    *forgets = (agg_audit_forgets){.n = 0};
    if (gmtime_r(&seconds, &utc) != NULL)
        strftime(r.since, sizeof r.since, "%Y-%m-%dT%H:%M:%SZ", &utc);
    agg_err err = agg_audit_check(&report, error, &folder, 1, NULL);
    if (err == SHOAL_OK) err = agg_audit_files_range(&first, &last, error, folder);
    for (unsigned number = first; err == SHOAL_OK && number <= last; number++)
        err = read_file(&r, folder, number);
    if (err != SHOAL_OK || report.before[0] == '\0' || strcmp(r.first, r.since) <= 0) return err;
    return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_IO,
                    "%s: begins at %s, after the backup of %s; add the older files of the log",
                    folder, r.first, r.since);
}

void agg_audit_forgets_release(agg_audit_forgets *forgets)
{
    for (size_t i = 0; i < forgets->n; i++) free(forgets->ids[i]);
    free(forgets->ids);
    *forgets = (agg_audit_forgets){.n = 0};
}
