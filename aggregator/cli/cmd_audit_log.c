// SPDX-License-Identifier: Apache-2.0
// shoal audit-log: checks the audit log of a server.
#include <inttypes.h>
#include <stdio.h>

#include "audit_check.h"
#include "commands.h"

static const char help_text[] =
    "Usage: shoal audit-log verify [--head HASH] FILE...\n"
    "\n"
    "shoal serve keeps a log of who asked what, in a chain of hashes. This command checks it.\n";

static const char verify_help[] =
    "Usage: shoal audit-log verify [--head HASH] FILE...\n"
    "\n"
    "Checks every line of the files, given in their order; a folder stands for the numbered files\n"
    "in it. Prints how many lines there are and the last hash, and fails at the first line that\n"
    "was changed, removed, added or moved.\n"
    "\n"
    "The chain has no key. Whoever can write the files can write them anew, or cut off their end.\n"
    "Only a hash that is kept elsewhere shows that: keep the one that this command prints.\n"
    "\n"
    "  --head HASH   a last hash that was kept: fails unless a line of the log has it\n";

typedef struct arguments {
    const char *head;
} arguments;

static void print(const agg_audit_report *report, bool has_head)
{
    char hash[65];
    agg_audit_hash_print(hash, report->head);
    printf("%" PRIu64 " lines in %" PRIu64 " file%s: the chain holds\n", report->lines,
           report->files, report->files == 1 ? "" : "s");
    if (report->before[0] != '\0')
        printf("The log begins before these files, in %s.\n", report->before);
    if (report->torn > 0)
        printf("%" PRIu64 " write%s cut off by a stop of the server, and noted.\n", report->torn,
               report->torn == 1 ? " was" : "s were");
    if (report->tail > 0)
        printf("The last %zu bytes are a write that was cut off or is under way.\n", report->tail);
    if (has_head)
        printf("The kept head is line %" PRIu64 " of %s; %" PRIu64 " lines follow it.\n",
               report->found_line, report->found_file, report->lines_after);
    printf("head: %s\n", hash);
}

static agg_err run_verify(agg_error *error, void *context, const command_words *words)
{
    const arguments *a = context;
    uint8_t wanted[32];
    agg_audit_report report;
    if (a->head != NULL && !agg_audit_hash_parse(wanted, a->head))
        return command_refuse(error, "--head takes 64 lower-case hex digits");
    agg_err err = agg_audit_check(&report, error, words->texts, (size_t)words->n,
                                  a->head == NULL ? NULL : wanted);
    if (err != SHOAL_OK) return err;
    if (a->head != NULL && !report.is_found)
        return agg_fail(error, SHOAL_ERR_CHECKSUM, AGG_EXIT_RUNTIME,
                        "no line has the kept head: the end of the log is missing, or the log was "
                        "written anew");
    print(&report, a->head != NULL);
    return SHOAL_OK;
}

static const command_option options[] = {OPTION("head", head), LAST_OPTION};

static const cli_command verify = {.name = "verify",
                                   .summary = "check that no line was changed or removed",
                                   .help = verify_help,
                                   .example = "  shoal audit-log verify store/audit\n",
                                   .options = options,
                                   .arguments_size = sizeof(arguments),
                                   .least_words = 1,
                                   .most_words = COMMAND_WORDS_MAX,
                                   .words_refused = "no file to check",
                                   .run = run_verify};

static const cli_command *const actions[] = {&verify, NULL};

const cli_command cmd_audit_log = {.name = "audit-log",
                                   .summary = "who asked a server what: verify",
                                   .help = help_text,
                                   .example = "  shoal audit-log verify store/audit\n",
                                   .actions = actions};
