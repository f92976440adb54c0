// SPDX-License-Identifier: Apache-2.0
// The report of a check; see check_report.h.
#include "check_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "print_text.h"

agg_err agg_check_report_open(agg_check_report *report, agg_error *error)
{
    *report = (agg_check_report){0};
    report->entries = agg_alloc(error, AGG_CHECK_ENTRIES_MAX, sizeof *report->entries);
    return report->entries == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
}

void agg_check_report_close(agg_check_report *report)
{
    free(report->entries);
    *report = (agg_check_report){0};
}

AGG_PRINTF(4, 0)
static void add(agg_check_report *report, agg_check_kind kind, const char *mend, const char *format,
                va_list list)
{
    if (kind == AGG_CHECK_PROBLEM) report->n_problems++;
    if (report->n == AGG_CHECK_ENTRIES_MAX) {
        report->n_left_out++;
        return;
    }
    agg_check_entry *entry = &report->entries[report->n++];
    entry->kind = kind;
    entry->mend = mend;
    vsnprintf(entry->what, sizeof entry->what, format, list);
}

void agg_check_right(agg_check_report *report, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    add(report, AGG_CHECK_RIGHT, NULL, format, list);
    va_end(list);
}

void agg_check_note(agg_check_report *report, const char *mend, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    add(report, AGG_CHECK_NOTE, mend, format, list);
    va_end(list);
}

void agg_check_problem(agg_check_report *report, const char *mend, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    add(report, AGG_CHECK_PROBLEM, mend, format, list);
    va_end(list);
}

static void put_text(FILE *stream, const char *text)
{
    agg_print_terminal_text(stream, text, strlen(text));
}

static void print_lines(const agg_check_report *report, const char *program, const char *file)
{
    for (size_t i = 0; i < report->n; i++) {
        const agg_check_entry *one = &report->entries[i];
        if (one->kind == AGG_CHECK_RIGHT) continue;
        fprintf(stderr, "%s: %s", program, one->kind == AGG_CHECK_NOTE ? "note: " : "");
        put_text(stderr, one->what);
        fputs("\n  mend: ", stderr);
        put_text(stderr, one->mend);
        fputc('\n', stderr);
    }
    if (report->n_left_out > 0) fprintf(stderr, "%s: and %zu more\n", program, report->n_left_out);
    fprintf(stdout, "%s: %s: ", program, file);
    if (report->n_problems > 0)
        fprintf(stdout, "%zu problem%s", report->n_problems, report->n_problems == 1 ? "" : "s");
    else
        fputs("as it should be", stdout);
    const char *separator = report->n_problems > 0 ? "; right: " : ": ";
    for (size_t i = 0; i < report->n; i++) {
        if (report->entries[i].kind != AGG_CHECK_RIGHT) continue;
        fputs(separator, stdout);
        put_text(stdout, report->entries[i].what);
        separator = ", ";
    }
    fputc('\n', stdout);
}

static void put_json_member(const char *name, const char *text)
{
    printf("\"%s\":", name);
    agg_print_json_text(stdout, text, strlen(text));
}

static void print_json_list(const agg_check_report *report, agg_check_kind kind)
{
    const char *separator = "";
    for (size_t i = 0; i < report->n; i++) {
        const agg_check_entry *one = &report->entries[i];
        if (one->kind != kind) continue;
        fputs(separator, stdout);
        separator = ",";
        if (kind == AGG_CHECK_RIGHT) {
            agg_print_json_text(stdout, one->what, strlen(one->what));
            continue;
        }
        fputc('{', stdout);
        put_json_member("what", one->what);
        fputc(',', stdout);
        put_json_member("mend", one->mend);
        fputc('}', stdout);
    }
}

void agg_check_report_print(const agg_check_report *report, const char *program, const char *file,
                            bool is_json)
{
    if (!is_json) {
        print_lines(report, program, file);
        return;
    }
    fputs("{\"schema\":1,", stdout);
    put_json_member("program", program);
    fputc(',', stdout);
    put_json_member("file", file);
    printf(",\"ok\":%s,\"right\":[", report->n_problems == 0 ? "true" : "false");
    print_json_list(report, AGG_CHECK_RIGHT);
    fputs("],\"notes\":[", stdout);
    print_json_list(report, AGG_CHECK_NOTE);
    fputs("],\"problems\":[", stdout);
    print_json_list(report, AGG_CHECK_PROBLEM);
    printf("],\"left_out\":%zu}\n", report->n_left_out);
}
