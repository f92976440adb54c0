// SPDX-License-Identifier: Apache-2.0
// shoal collect: a batch of two servers, as an accumulator or as exact sums.
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "commands.h"
#include "dap_accumulator.h"
#include "dap_moment.h"
#include "dap_noise.h"
#include "dap_sums_print.h"
#include "dap_token.h"
#include "guarantee.h"
#include "input_memory.h"
#include "log.h"
#include "memory_option.h"
#include "options.h"
#include "print_text.h"
#include "recipe.h"
#include "result_options.h"

static const char help_text[] =
    "Usage: shoal collect --recipe R --key FILE --token-file FILE --from T --to T -o ACC\n"
    "       shoal collect --task T --key FILE --token-file FILE --from T --to T [-o FILE]\n"
    "\n"
    "Asks the leader of two servers for a batch: all reports whose time lies in an interval. For "
    "a\n"
    "recipe the sums are its accumulator, for shoal estimate; for a task file they are exact "
    "sums,\n"
    "and are printed. A report is released once: the same interval may be asked for again, but "
    "one\n"
    "that overlaps it is refused (exit 3), as is one with fewer reports than the minimum.\n"
    "\n"
    "  --recipe FILE       the collection's recipe (JSON), whose aggregation is dap\n"
    "  --task FILE         or the task file (JSON) of exact sums\n"
    "  --key FILE          the collector's secret key, made by shoal dap-key\n"
    "  --token-file FILE   the token that the leader requires, on the first line\n"
    "  --from T            the first day, YYYY-MM-DD, or moment, YYYY-MM-DDTHH:MMZ or in seconds\n"
    "                      since 1970; a whole unit of the time precision\n"
    "  --to T              the last day, which is included, or moment, which is not\n"
    "  --wait S            for how many seconds to ask again if the batch is not ready; default 0\n"
    "  --leader-url URL    where the leader is, if not where the recipe or the task says\n"
    "  --honest SHARE      share of the reports assumed honest, 0.01 to 1, which the central\n"
    "                      guarantee needs\n"
    "  --format FORMAT     of exact sums: table (default), json, csv or arrow\n"
    "  --memory SIZE       take at most this much memory, such as 256M or 2G; refuse if that is\n"
    "                      not enough. Without it, large amounts are logged\n"
    "  -o, --output FILE   the accumulator, replaced if it exists; the sums: default standard\n"
    "                      output\n";

#define WAIT_MAX 604800u // a week

typedef struct arguments {
    const char *recipe, *task, *key, *token_file, *from, *to, *wait, *leader_url, *honest, *format,
        *output, *memory;
    uint64_t from_s, to_s, wait_s; // seconds since 1970; to_s is not included
    uint64_t memory_limit;         // bytes; 0: no limit
    double honest_share;           // 0 without --honest
    agg_format sums_format;
    shoal_url leader; // empty without --leader-url
} arguments;

// ---- options ----

static agg_err read_interval(arguments *a, agg_error *error)
{
    agg_err err = cli_need(error, "from", a->from);
    if (err == SHOAL_OK) err = cli_need(error, "to", a->to);
    if (err == SHOAL_OK) err = agg_dap_moment_read(&a->from_s, error, "from", a->from, false);
    if (err == SHOAL_OK) err = agg_dap_moment_read(&a->to_s, error, "to", a->to, true);
    if (err == SHOAL_OK && a->to_s <= a->from_s)
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                       "the interval is empty: --to must be after --from");
    return err;
}

static agg_err read_files(const arguments *a, agg_error *error)
{
    if ((a->recipe == NULL) == (a->task == NULL))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "one of --recipe and --task is needed");
    agg_err err = cli_need(error, "key", a->key);
    if (err == SHOAL_OK) err = cli_need(error, "token-file", a->token_file);
    if (err == SHOAL_OK && a->recipe != NULL) err = cli_need(error, "output", a->output);
    if (err == SHOAL_OK && a->recipe != NULL && a->format != NULL)
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                       "--format is for exact sums: with a recipe the output is an accumulator");
    return err;
}

static agg_err read_arguments(arguments *a, agg_error *error)
{
    static const char *const formats[] = {"table", "json", "csv", "arrow", NULL};
    static const agg_format formats_of[] = {AGG_TABLE, AGG_JSON, AGG_CSV, AGG_ARROW};
    size_t format = 0;
    const char *why = "";
    agg_err err = read_files(a, error);
    if (err == SHOAL_OK) err = read_interval(a, error);
    if (err == SHOAL_OK && a->wait != NULL)
        err = cli_read_whole(&a->wait_s, error, "wait", a->wait, 0, WAIT_MAX);
    if (err == SHOAL_OK && a->honest != NULL)
        err = cli_read_decimal(&a->honest_share, error, "honest", a->honest, AGG_HONEST_MIN, 1);
    if (err == SHOAL_OK) err = cli_read_memory(&a->memory_limit, error, a->memory);
    if (err == SHOAL_OK)
        err = command_read_name(&format, error, formats, a->format,
                                "--format is table, json, csv or arrow");
    a->sums_format = formats_of[format];
    if (err == SHOAL_OK && a->leader_url != NULL &&
        shoal_url_set(&a->leader, a->leader_url, strlen(a->leader_url), &why) != SHOAL_OK)
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--leader-url: %s", why);
    return err;
}

// ---- what is said and printed ----

static agg_err print_sums(FILE *stream, agg_error *error, const void *result, agg_format format)
{
    return agg_dap_sums_print(stream, error, result, format);
}

static void say_batch(const agg_dap_result *b)
{
    char command[] = "collect", text[128];
    snprintf(text, sizeof text, "%s reports, from %s to %s", agg_whole(b->collected.n_reports).text,
             b->from, b->to);
    agg_log_line(command, text);
}

static void say_waiting(void *context, uint32_t seconds)
{
    char text[64];
    snprintf(text, sizeof text, "not ready; asking again in %u s", seconds);
    agg_log_line(context, text);
}

// ---- what becomes of a batch ----

static agg_err write_accumulator(agg_error *error, const arguments *a, const agg_dap_result *b,
                                 const shoal_dap_interval *query)
{
    char command[] = "collect";
    agg_accumulator acc;
    agg_guarantee guarantee;
    // Batches do not overlap, so a report is in this one only, and nobody can ask for a part of it.
    const agg_release release = {b->collected.n_reports, a->honest_share, 1};
    agg_err err = agg_guarantee_run(&guarantee, error, b->task->recipe.recipe,
                                    b->collected.n_reports, &release);
    if (err == SHOAL_OK) err = agg_dap_accumulator_of(&acc, error, b->task, &b->collected, query);
    if (err != SHOAL_OK) return err;
    err = agg_accumulator_save(&acc, error, a->output);
    agg_accumulator_release(&acc);
    if (err != SHOAL_OK) return err;
    say_batch(b);
    cli_say_guarantee(command, &guarantee, NULL, AGG_CSV);
    return SHOAL_OK;
}

static agg_err write_sums(agg_error *error, const arguments *a, const agg_dap_result *b)
{
    char command[] = "collect", label[AGG_DAP_LABEL_MAX];
    agg_dap_noise_label(label, b->task);
    agg_err err = cli_result_write(error, a->output, print_sums, b, a->sums_format);
    if (err != SHOAL_OK || a->sums_format < AGG_CSV) return err;
    say_batch(b);
    agg_log_line(command, label);
    return SHOAL_OK;
}

// Writes the query in the task's units; refuses an interval that is not a whole number of them.
static agg_err find_query(shoal_dap_interval *query, agg_error *error, const arguments *a,
                          const shoal_dap_task *task)
{
    const uint64_t unit = task->time_precision_s;
    if (a->from_s % unit != 0 || a->to_s % unit != 0)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--from and --to must be whole units of the time precision: multiples of "
                        "%llu s since 1970",
                        (unsigned long long)unit);
    *query = (shoal_dap_interval){a->from_s / unit, (a->to_s - a->from_s) / unit};
    return SHOAL_OK;
}

// The sums stay in memory while the accumulator is made from them.
static agg_err state_memory(agg_error *error, const arguments *a, const agg_dap_task *task)
{
    char command[] = "collect";
    uint64_t bytes = 0;
    agg_err err = agg_dap_collect_memory(&bytes, error, task);
    if (err != SHOAL_OK) return err;
    if (task->has_recipe) bytes += cli_accumulator_memory(NULL, task->recipe.recipe);
    return cli_state_memory(error, command, bytes, a->memory_limit);
}

static agg_err collect_task(agg_error *error, const arguments *a, const agg_dap_task *task,
                            const agg_hpke_key *key, const char *token)
{
    char command[] = "collect";
    agg_dap_result b = {.task = task};
    agg_dap_collector collector = {.task = task,
                                   .key = key,
                                   .leader = a->leader.len > 0 ? &a->leader : NULL,
                                   .token = token,
                                   .wait_s = (uint32_t)a->wait_s,
                                   .waits = say_waiting,
                                   .context = command};
    agg_err err = find_query(&collector.query, error, a, &task->task);
    if (err == SHOAL_OK) err = agg_dap_collect(&b.collected, error, &collector);
    if (err != SHOAL_OK) return err;
    agg_dap_result_name_interval(&b);
    err = task->has_recipe ? write_accumulator(error, a, &b, &collector.query)
                           : write_sums(error, a, &b);
    agg_dap_collected_release(&b.collected);
    return err;
}

static agg_err load_key(agg_hpke_key *key, agg_error *error, const char *path)
{
    agg_err err = agg_hpke_key_load(key, error, path);
    if (err != SHOAL_OK || key->has_secret) return err;
    return agg_fail(error, SHOAL_ERR_MISSING_FIELD, AGG_EXIT_USAGE,
                    "%s: holds only the public half of a key", path);
}

static agg_err collect(agg_error *error, const arguments *a)
{
    agg_dap_task task;
    agg_hpke_key key;
    char token[AGG_DAP_TOKEN_MAX + 1] = "";
    agg_err err = agg_dap_task_load(&task, error, a->recipe != NULL ? a->recipe : a->task);
    if (err != SHOAL_OK) return err;
    memset(&key, 0, sizeof key);
    if (task.has_recipe != (a->recipe != NULL))
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s",
                       a->recipe != NULL ? "--recipe: the file is a task; give it with --task"
                                         : "--task: the file is a recipe; give it with --recipe");
    if (err == SHOAL_OK) err = state_memory(error, a, &task);
    if (err == SHOAL_OK) err = load_key(&key, error, a->key);
    if (err == SHOAL_OK) err = agg_dap_token_load(token, error, a->token_file);
    if (err == SHOAL_OK) err = collect_task(error, a, &task, &key, token);
    agg_hpke_key_wipe(&key);
    wipe(token, sizeof token);
    agg_dap_task_release(&task);
    return err;
}

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    arguments *a = context;
    (void)words;
    agg_err err = read_arguments(a, error);
    return err == SHOAL_OK ? collect(error, a) : err;
}

static const command_option options[] = {OPTION("recipe", recipe),
                                         OPTION("task", task),
                                         OPTION("key", key),
                                         OPTION("token-file", token_file),
                                         OPTION("from", from),
                                         OPTION("to", to),
                                         OPTION("wait", wait),
                                         OPTION("leader-url", leader_url),
                                         OPTION("honest", honest),
                                         OPTION("format", format),
                                         OUTPUT_OPTION(output),
                                         OPTION("memory", memory),
                                         LAST_OPTION};

const cli_command cmd_collect = {
    .name = "collect",
    .summary = "a batch of two servers: an accumulator, or exact sums",
    .help = help_text,
    .example = "  shoal collect --recipe shares.json --key collector.key --token-file token \\\n"
               "      --from 2026-11-21 --to 2026-11-21 --wait 60 -o shares.acc\n",
    .options = options,
    .arguments_size = sizeof(arguments),
    .run = run};
