// SPDX-License-Identifier: Apache-2.0
// shoal manifest: the list of a generation's batches, by which machines share one collection.
#include "commands.h"
#include "manifest_files.h"

static const char help_text[] =
    "Usage: shoal manifest make --recipe R -o M [OPTION]... [FILE|FOLDER]...\n"
    "       shoal manifest check [--format table|json] M...\n"
    "       shoal manifest print [--ids] [--format table|json] M\n"
    "\n"
    "A manifest lists the batches of one generation of a collection. Machines fold them in shards\n"
    "(shoal ingest), and each batch counts once.\n";

static const char make_help[] =
    "Usage: shoal manifest make --recipe R -o M [OPTION]... [FILE|FOLDER]...\n"
    "\n"
    "Lists the batches of files, of folders, or of a list of names, less those that earlier\n"
    "manifests list. The same batches give the same bytes. A FOLDER is searched for NAME.batch,\n"
    "NAME.batch.zst and NAME.batch.gz. Each batch is opened, and its id checked against its hash.\n"
    "\n"
    "  --recipe FILE        the collection's recipe (JSON)\n"
    "  -o, --output M       the manifest to write; - is a pipe. One that exists is left as it is "
    "if\n"
    "                       it is the same, else that is an error\n"
    "  --after M            an earlier manifest, whose batches are left out; give all of them\n"
    "  --ids FILE           names of batches, one a line, which are not opened: ids, or keys of "
    "an\n"
    "                       object store; - is standard input\n"
    "  --allow-old          list batches of version 1 too; their ids do not prove their content\n";

static const char check_help[] =
    "Usage: shoal manifest check [--format table|json] M...\n"
    "\n"
    "Checks manifests: each by its hash and its order, and several of one recipe against one\n"
    "another. Two that list the same batch are an error. So are two of which neither was made\n"
    "--after the other.\n"
    "\n"
    "  --format FORMAT      table (default) or json\n";

static const char print_help[] = "Usage: shoal manifest print [--ids] [--format table|json] M\n"
                                 "\n"
                                 "Checks a manifest and prints what it says.\n"
                                 "\n"
                                 "  --ids                print the ids of the batches too\n"
                                 "  --format FORMAT      table (default) or json\n";

typedef struct arguments {
    const char *recipe, *output, *names, *format;
    command_values after;
    bool allow_old, ids;
} arguments;

static const char *const formats[] = {"table", "json", NULL};

static agg_err read_format(bool *is_json, agg_error *error, const char *text)
{
    size_t position = 0;
    agg_err err = command_read_name(&position, error, formats, text, "--format is table or json");
    *is_json = position == 1;
    return err;
}

static agg_err run_check(agg_error *error, void *context, const command_words *words)
{
    const arguments *a = context;
    bool is_json = false;
    agg_err err = read_format(&is_json, error, a->format);
    if (err != SHOAL_OK) return err;
    return agg_manifest_check_files(error, words->texts, (size_t)words->n, is_json);
}

static agg_err run_print(agg_error *error, void *context, const command_words *words)
{
    const arguments *a = context;
    bool is_json = false;
    agg_err err = read_format(&is_json, error, a->format);
    if (err != SHOAL_OK) return err;
    return agg_manifest_print_file(error, words->texts[0], a->ids, is_json);
}

static agg_err run_make(agg_error *error, void *context, const command_words *words)
{
    const arguments *a = context;
    const agg_manifest_options o = {.recipe = a->recipe,
                                    .output = a->output,
                                    .names = a->names,
                                    .allows_version_1 = a->allow_old,
                                    .after = a->after.texts,
                                    .n_after = a->after.n,
                                    .paths = words->texts,
                                    .n_paths = words->n};
    if (words->n == 0 && a->names == NULL)
        return command_refuse(error, "no batches: give files, folders or --ids FILE");
    return agg_manifest_make_file(error, &o);
}

#define MAKE_EXAMPLE "  shoal manifest make --recipe fish.json -o day1.man fish.batches\n"

static const command_option make_options[] = {REQUIRED_OPTION("recipe", recipe),
                                              REQUIRED_OUTPUT_OPTION(output),
                                              OPTION("after", after),
                                              OPTION("ids", names),
                                              OPTION("allow-old", allow_old),
                                              LAST_OPTION};
static const command_option check_options[] = {OPTION("format", format), LAST_OPTION};
static const command_option print_options[] = {OPTION("ids", ids), OPTION("format", format),
                                               LAST_OPTION};

static const cli_command make_action = {.name = "make",
                                        .summary = "list the batches of a generation",
                                        .help = make_help,
                                        .example = MAKE_EXAMPLE,
                                        .options = make_options,
                                        .arguments_size = sizeof(arguments),
                                        .most_words = COMMAND_WORDS_MAX,
                                        .run = run_make};

static const cli_command check_action = {.name = "check",
                                         .summary = "check manifests, also against one another",
                                         .help = check_help,
                                         .example =
                                             MAKE_EXAMPLE "  shoal manifest check day1.man\n",
                                         .options = check_options,
                                         .arguments_size = sizeof(arguments),
                                         .least_words = 1,
                                         .most_words = COMMAND_WORDS_MAX,
                                         .words_refused = "no manifest to check",
                                         .run = run_check};

static const cli_command print_action = {.name = "print",
                                         .summary = "print what a manifest says",
                                         .help = print_help,
                                         .example =
                                             MAKE_EXAMPLE "  shoal manifest print day1.man\n",
                                         .options = print_options,
                                         .arguments_size = sizeof(arguments),
                                         .least_words = 1,
                                         .most_words = 1,
                                         .words_refused = "one manifest is needed",
                                         .run = run_print};

static const cli_command *const actions[] = {&make_action, &check_action, &print_action, NULL};

const cli_command cmd_manifest = {.name = "manifest",
                                  .summary =
                                      "lists of batches, for machines that share a collection",
                                  .help = help_text,
                                  .example = MAKE_EXAMPLE "  shoal manifest check day1.man\n",
                                  .actions = actions};
