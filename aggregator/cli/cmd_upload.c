// SPDX-License-Identifier: Apache-2.0
// shoal upload: splits reports or measurements into shares and sends them to two servers, as
// devices do.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_file.h"
#include "bytes.h"
#include "commands.h"
#include "dap_measurements.h"
#include "dap_noise.h"
#include "dap_upload.h"
#include "input_memory.h"
#include "log.h"
#include "memory_option.h"
#include "options.h"
#include "print_text.h"
#include "reader.h"
#include "record.h"

static const char help_text[] =
    "Usage: shoal upload --recipe R FILE...\n"
    "       shoal upload --task T --measurements FILE\n"
    "\n"
    "Splits reports into shares, seals one to each of two servers, and sends them to the leader. "
    "A\n"
    "FILE holds batches or NDJSON reports, as shoal simulate writes them; - is a pipe. "
    "Measurements\n"
    "of a task, one a line with commas between entries, are added up exactly, without local "
    "noise.\n"
    "\n"
    "  --recipe FILE        the collection's recipe, whose aggregation is dap\n"
    "  --task FILE          a task file, in place of a recipe\n"
    "  --measurements FILE  measurements of the task; - is a pipe\n"
    "  --leader-url URL     where the leader is reached, if not under the URL of the task\n"
    "  --helper-url URL     the same for the helper\n"
    "  --time SECONDS       the time that reports state, since 1970-01-01; default: now\n"
    "  --max-rejected SHARE exit with 4 if a larger share of the reports was not taken (default\n"
    "                       0.01)\n"
    "  --memory SIZE        take at most this much memory, such as 256M or 2G, with smaller\n"
    "                       requests if needed. Without it, large amounts are logged\n"
    "  --verbose            print what the parties of the task agree on\n";

typedef struct arguments {
    const char *recipe, *task, *measurements, *leader, *helper, *time, *max_rejected, *memory;
    bool verbose;
    double max_share;
    shoal_url leader_url, helper_url;
    int64_t time_s;
    uint64_t memory_limit; // bytes; 0: no limit
    uint32_t reports;      // the most reports of a request
    const command_words *files;
} arguments;

static agg_err read_url(shoal_url *url, agg_error *error, const char *name, const char *text)
{
    const char *why = "";
    if (text == NULL) return SHOAL_OK;
    agg_err err = shoal_url_set(url, text, strlen(text), &why);
    return err == SHOAL_OK ? err
                           : agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--%s %s", name, why);
}

static agg_err check_inputs(agg_error *error, const arguments *a)
{
    if ((a->recipe == NULL) == (a->task == NULL))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "give either --recipe or --task");
    if (a->task != NULL && (a->measurements == NULL || a->files->n > 0))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--task goes with --measurements, and with no other file");
    if (a->recipe != NULL && a->measurements != NULL)
        return agg_fail(
            error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
            "--measurements goes with --task, because a recipe's reports are randomized first");
    if (a->recipe != NULL && a->files->n == 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "no file to read; - is standard input");
    return SHOAL_OK;
}

static agg_err read_arguments(arguments *a, agg_error *error)
{
    uint64_t time_s = 0;
    a->max_share = 0.01;
    a->time_s = -1;
    agg_err err = check_inputs(error, a);
    if (err == SHOAL_OK) err = read_url(&a->leader_url, error, "leader-url", a->leader);
    if (err == SHOAL_OK) err = read_url(&a->helper_url, error, "helper-url", a->helper);
    if (err == SHOAL_OK && a->max_rejected != NULL)
        err = cli_read_decimal(&a->max_share, error, "max-rejected", a->max_rejected, 0, 1);
    if (err == SHOAL_OK && a->time != NULL) {
        err = cli_read_whole(&time_s, error, "time", a->time, 0, (uint64_t)1 << 40);
        a->time_s = (int64_t)time_s;
    }
    return err == SHOAL_OK ? cli_read_memory(&a->memory_limit, error, a->memory) : err;
}

// ---- memory ----

static agg_dap_upload_settings settings_of(const arguments *a, const agg_dap_task *task)
{
    return (agg_dap_upload_settings){.task = task,
                                     .leader = a->leader != NULL ? &a->leader_url : NULL,
                                     .helper = a->helper != NULL ? &a->helper_url : NULL,
                                     .time_s = a->time_s,
                                     .reports = a->reports};
}

// Finds how many reports a request may have, fewer if --memory requires it; then logs the memory
// that all takes.
//   input: bytes of the input
static agg_err plan_memory(arguments *a, agg_error *error, const agg_dap_task *task, uint64_t input)
{
    char command[] = "upload";
    uint64_t bytes = 0;
    for (a->reports = AGG_DAP_UPLOAD_REPORTS;; a->reports -= (a->reports + 7) / 8) {
        const agg_dap_upload_settings settings = settings_of(a, task);
        agg_err err = agg_dap_upload_memory(&bytes, error, &settings);
        if (err != SHOAL_OK) return err;
        bytes += input;
        if (a->memory_limit == 0 || bytes + CLI_PROGRAM_BYTES <= a->memory_limit || a->reports == 1)
            break;
    }
    return cli_state_memory(error, command, bytes, a->memory_limit);
}

// ---- reports ----

typedef struct uploading {
    agg_dap_uploader *uploader;
    size_t record_size;
} uploading;

static agg_err take_records(void *context, agg_error *error, const agg_run *runs, uint32_t n_runs)
{
    uploading *up = context;
    agg_err err = SHOAL_OK;
    for (uint32_t r = 0; r < n_runs; r++)
        for (uint32_t i = 0; i < runs[r].count && err == SHOAL_OK; i++)
            err = agg_dap_upload_add_record(up->uploader, error,
                                            runs[r].records + i * up->record_size);
    return err;
}

static agg_err upload_files(agg_dap_uploader *uploader, agg_read_count *count, agg_error *error,
                            const arguments *a, const agg_recipe *recipe)
{
    char command[] = "upload";
    uploading up = {uploader, shoal_record_size(recipe->recipe)};
    agg_progress progress;
    agg_reader reader = {recipe,  take_records,      &up,       agg_log_line,
                         command, agg_progress_show, &progress, 1};
    agg_err err = SHOAL_OK;
    for (int i = 0; i < a->files->n && err == SHOAL_OK; i++) {
        agg_progress_start(&progress, command, "bytes", cli_file_bytes(a->files->texts[i]));
        err = agg_reader_file(count, error, &reader, a->files->texts[i]);
        agg_progress_end(&progress);
    }
    return err == SHOAL_OK ? agg_dap_upload_flush(uploader, error) : err;
}

// ---- measurements ----

#define MEASUREMENTS_MAX ((size_t)1 << 30)

// ---- the command ----

static agg_err tell(agg_error *error, const arguments *a, const agg_dap_upload_count *count,
                    const agg_read_count *read)
{
    uint64_t left = agg_dap_upload_print(count, read->rejected), all = left + count->accepted;
    if ((double)left <= a->max_share * (double)all) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_REJECTED, AGG_EXIT_REJECTED, "%s of %s reports were not taken",
                    agg_whole(left).text, agg_whole(all).text);
}

static agg_err upload(agg_error *error, const arguments *a, const agg_dap_task *task,
                      const agg_bytes *bytes)
{
    agg_read_count read = {0, 0, 0, 0, 0};
    agg_dap_uploader *uploader = NULL;
    const agg_dap_upload_settings settings = settings_of(a, task);
    agg_err err = agg_dap_uploader_open(&uploader, error, &settings);
    if (err != SHOAL_OK) return err;
    if (task->has_recipe)
        err = upload_files(uploader, &read, error, a, &task->recipe);
    else
        err = agg_dap_measurements_upload(bytes, uploader, error, task);
    // Reports that were accepted before an error stay accepted.
    if (err == SHOAL_OK)
        err = tell(error, a, agg_dap_upload_counts(uploader), &read);
    else
        (void)agg_dap_upload_print(agg_dap_upload_counts(uploader), read.rejected);
    agg_dap_uploader_close(uploader);
    return err;
}

static agg_err run_recipe(agg_error *error, arguments *a, const agg_dap_task *task)
{
    if (!task->has_recipe)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "%s is a task file: give it with --task", a->recipe);
    agg_err err = plan_memory(a, error, task,
                              cli_reader_memory(a->files->texts, a->files->n, &task->recipe, 1));
    return err == SHOAL_OK ? upload(error, a, task, NULL) : err;
}

// Reads all measurements. The size of a pipe is known only afterwards, so no more is read than
// --memory allows.
static agg_err read_measurements(agg_bytes *bytes, agg_error *error, arguments *a,
                                 const agg_dap_task *task)
{
    uint64_t size = cli_file_bytes(a->measurements), most = MEASUREMENTS_MAX;
    agg_err err = plan_memory(a, error, task, size);
    if (err != SHOAL_OK) return err;
    if (a->memory_limit > 0 && a->memory_limit < most) most = a->memory_limit;
    err = agg_file_read(bytes, error, a->measurements, (size_t)most);
    if (err != SHOAL_OK || size > 0) return err;
    err = plan_memory(a, error, task, bytes->len);
    if (err == SHOAL_OK) return SHOAL_OK;
    wipe(bytes->data, bytes->len);
    free(bytes->data);
    return err;
}

static void say_label(char *command, const agg_dap_task *task)
{
    char label[AGG_DAP_LABEL_MAX];
    agg_dap_noise_label(label, task);
    agg_log_line(command, label);
}

static agg_err run_task(agg_error *error, arguments *a, const agg_dap_task *task)
{
    agg_bytes bytes;
    char command[] = "upload";
    if (task->has_recipe)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "%s is a recipe: give it with --recipe", a->task);
    agg_err err = read_measurements(&bytes, error, a, task);
    if (err != SHOAL_OK) return err;
    err = agg_dap_measurements_check(&bytes, error, task);
    if (err != SHOAL_OK)
        agg_error_prefix(error, "%s", a->measurements);
    else
        say_label(command, task);
    if (err == SHOAL_OK) err = upload(error, a, task, &bytes);
    wipe(bytes.data, bytes.len);
    free(bytes.data);
    return err;
}

static agg_err run_any(agg_error *error, arguments *a)
{
    agg_dap_task task;
    agg_err err = agg_dap_task_load(&task, error, a->recipe != NULL ? a->recipe : a->task);
    if (err != SHOAL_OK) return err;
    if (a->verbose) agg_dap_task_print(stderr, &task);
    err = a->recipe != NULL ? run_recipe(error, a, &task) : run_task(error, a, &task);
    agg_dap_task_release(&task);
    return err;
}

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    arguments *a = context;
    a->files = words;
    agg_err err = read_arguments(a, error);
    return err == SHOAL_OK ? run_any(error, a) : err;
}

static const command_option options[] = {OPTION("recipe", recipe),
                                         OPTION("task", task),
                                         OPTION("measurements", measurements),
                                         OPTION("leader-url", leader),
                                         OPTION("helper-url", helper),
                                         OPTION("time", time),
                                         OPTION("max-rejected", max_rejected),
                                         OPTION("memory", memory),
                                         OPTION("verbose", verbose),
                                         LAST_OPTION};

const cli_command cmd_upload = {.name = "upload",
                                .summary =
                                    "send reports to two servers in sealed shares, as devices do",
                                .help = help_text,
                                .example = "  shoal upload --recipe shares.json shares.batches\n",
                                .options = options,
                                .arguments_size = sizeof(arguments),
                                .most_words = COMMAND_WORDS_MAX,
                                .run = run};
