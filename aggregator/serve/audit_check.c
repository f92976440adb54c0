// SPDX-License-Identifier: Apache-2.0
// Checking files and folders; see audit_check.h.
#include "audit_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "audit_files.h"

typedef struct check {
    agg_audit_report *report;
    agg_error *error;
    const uint8_t *wanted;
    agg_audit_chain chain;
} check;

static agg_err check_file(check *c, const char *path)
{
    uint8_t *bytes;
    size_t len;
    agg_audit_scan scan;
    agg_audit_report *report = c->report;
    if (report->tail > 0)
        return agg_fail(c->error, SHOAL_ERR_CHECKSUM, AGG_EXIT_RUNTIME,
                        "%s: the file before it ends in a piece of a line that nothing notes",
                        path);
    agg_err err = agg_audit_file_read(&bytes, &len, c->error, path);
    if (err != SHOAL_OK) return err;
    err = agg_audit_chain_scan(&c->chain, &scan, c->error, path, bytes, len, c->wanted);
    free(bytes);
    if (err != SHOAL_OK) return err;
    if (report->files++ == 0) snprintf(report->before, sizeof report->before, "%s", scan.before);
    if (report->is_found) {
        report->lines_after += scan.lines;
    } else if (scan.is_found) {
        report->is_found = true;
        report->found_line = scan.found;
        report->lines_after = scan.lines - scan.found_lines;
        snprintf(report->found_file, sizeof report->found_file, "%s", path);
    }
    report->lines += scan.lines;
    report->torn += scan.torn;
    report->tail = scan.tail;
    memcpy(report->head, c->chain.head, sizeof report->head);
    return SHOAL_OK;
}

static agg_err check_folder(check *c, const char *folder)
{
    unsigned first, last;
    char name[AGG_AUDIT_NAME_MAX], path[AGG_AUDIT_PATH_MAX];
    agg_err err = agg_audit_files_range(&first, &last, c->error, folder);
    if (err == SHOAL_OK && last == 0)
        return agg_fail(c->error, AGG_ERR_IO, AGG_EXIT_IO, "%s: no file of an audit log", folder);
    for (unsigned number = first; err == SHOAL_OK && number <= last; number++) {
        agg_audit_file_name(name, number);
        int len = snprintf(path, sizeof path, "%s/%s", folder, name);
        if (len < 0 || (size_t)len >= sizeof path)
            return agg_fail(c->error, AGG_ERR_IO, AGG_EXIT_IO, "%s: the path is too long", folder);
        err = check_file(c, path);
    }
    return err;
}

agg_err agg_audit_check(agg_audit_report *report, agg_error *error, const char *const *paths,
                        size_t n, const uint8_t *wanted)
{
    check c = {.report = report, .error = error, .wanted = wanted};
    agg_err err = SHOAL_OK;
    *report = (agg_audit_report){0};
    for (size_t i = 0; err == SHOAL_OK && i < n; i++) {
        struct stat about;
        bool is_folder = stat(paths[i], &about) == 0 && S_ISDIR(about.st_mode);
        err = is_folder ? check_folder(&c, paths[i]) : check_file(&c, paths[i]);
    }
    return err;
}
