// SPDX-License-Identifier: Apache-2.0
// shoal simulate: devices drawn from a counts file, as batches or NDJSON reports.

#include "batch.h"
#include "commands.h"
#include "memory_option.h"
#include "options.h"
#include "period.h"
#include "recipe.h"
#include "result_options.h"
#include "simulate_devices.h"
#include "simulate_epochs.h"
#include "simulation.h"
#include "window_sizes.h"

static const char help_text[] =
    "Usage: shoal simulate --recipe R --counts FILE --devices N --seed S -o OUT\n"
    "       shoal simulate --recipe R --counts FILE --seed S -o FOLDER\n"
    "\n"
    "Draws N devices with replacement from a counts file and privatizes each as a real device\n"
    "would. The same recipe, counts, N and seed give the same bytes, whatever the number of\n"
    "threads. The second form simulates a run over epochs (thresh, heavythresh).\n"
    "\n"
    "  --recipe FILE      the collection's recipe (JSON)\n"
    "  --counts FILE      what devices have, one value<TAB>count a line:\n"
    "                       with an encoding an event as JSON, {\"phrase\":\"i "
    "went\",\"age\":34}<TAB>7;\n"
    "                       for a trie plain words are enough\n"
    "                       for a joint recipe a value of each variable: news<TAB>young<TAB>7\n"
    "                       for a run epoch<TAB>value<TAB>count, and a fourth column with the "
    "group\n"
    "                       if groups change independently; an epoch without lines repeats the\n"
    "                       one before it\n"
    "  --devices N        how many devices, 1 to 10^12; of a run its users by default\n"
    "  --epochs T         of a run: the first T epochs only\n"
    "  --seed TEXT        any text; rounds of queries with one seed meet the same people with the\n"
    "                     same events\n"
    "  --first I          number of the first device, default 0: devices I to I+N-1\n"
    "  --events K         events (words) of one device if the recipe has an encoding; default 1.\n"
    "                     Of windows: how many events an active one has, or several numbers with\n"
    "                     their weights, such as 1:5,2:3,10:1\n"
    "  -o, --output FILE  where the reports go; - is standard output; of a run a folder for its\n"
    "                     recipes and accumulators, which shoal track reads\n"
    "  --truth FILE       write value<TAB>count of what was really drawn: cells by their labels "
    "if\n"
    "                     the recipe has an encoding, contributions if it is a trie; under\n"
    "                     send.pick uniform the sum of the value's shares over the windows of the\n"
    "                     reports, and in a third column the crowd's average of that sum\n"
    "  --format FORMAT    batch (default), batch-1 (version 1, for an older aggregator) or ndjson\n"
    "  --sealed DATE      the day that batches say they were sealed on; default 2000-01-01\n"
    "  --threads T        default: all cores\n"
    "  --memory SIZE      take at most this much memory, such as 256M or 2G; refuse if that is "
    "not\n"
    "                     enough. Without it, large amounts are logged\n";

static const char help_windows[] =
    "\n"
    "A recipe of send.pick uniform reports events of windows. So does one of send.pick first with\n"
    "any of these options; with the same seed both meet the same people and the same windows.\n"
    "\n"
    "  --active SHARE      share of windows in which something happens; default 1\n"
    "  --days D            windows of a device, one a day; default 1\n"
    "  --openings FILE     value<TAB>count of a window's first event; default: as all others\n"
    "  --favourites SHARE  share of events that are the device's favourite; default 0\n"
    "  --gone CHANCE       that a visitor never returns after a window: what waits is not sent;\n"
    "                      default 0\n"
    "  --killed CHANCE     that a page is killed, and the window of its visit is not sent; "
    "default\n"
    "                      0\n";

typedef struct arguments {
    const char *recipe, *counts, *devices, *seed, *output, *truth, *format, *threads, *first,
        *events, *epochs, *memory, *active, *days, *openings, *favourites, *gone, *killed, *sealed;
    uint64_t n_devices, n_first, n_epochs, memory_limit; // 0: not given
    unsigned n_threads;
    uint32_t day; // 0: not given
    bool is_ndjson, is_batch_v1;
} arguments;

static agg_err read_sealed(arguments *a, agg_error *error)
{
    int32_t day = 0;
    if (!agg_day_parse(&day, a->sealed) || day < 1 || (uint32_t)day > SHOAL_BATCH_DAY_MAX)
        return command_refuse(error, "--sealed is a day from 1970-01-02 to 2200-12-31");
    if (a->is_ndjson || a->is_batch_v1)
        return command_refuse(error, "--sealed goes with --format batch: only batches of version 2 "
                                     "have a day");
    a->day = (uint32_t)day;
    return SHOAL_OK;
}

static agg_err read_arguments(arguments *a, agg_error *error)
{
    static const char *const formats[] = {"batch", "ndjson", "batch-1", NULL};
    agg_err err = SHOAL_OK;
    if (a->devices != NULL)
        err = cli_read_whole(&a->n_devices, error, "devices", a->devices, 1, 1000000000000u);
    if (err == SHOAL_OK && a->first != NULL)
        err = cli_read_whole(&a->n_first, error, "first", a->first, 0, 1000000000000u);
    if (err == SHOAL_OK && a->epochs != NULL)
        err = cli_read_whole(&a->n_epochs, error, "epochs", a->epochs, 1, SHOAL_EPOCHS_MAX + 1);
    if (err == SHOAL_OK) err = cli_read_threads(&a->n_threads, error, a->threads);
    if (err == SHOAL_OK) err = cli_read_memory(&a->memory_limit, error, a->memory);
    size_t format = 0;
    if (err == SHOAL_OK)
        err = command_read_name(&format, error, formats, a->format,
                                "--format is batch, batch-1 or ndjson");
    a->is_ndjson = format == 1;
    a->is_batch_v1 = format == 2;
    return err == SHOAL_OK && a->sealed != NULL ? read_sealed(a, error) : err;
}

static bool states_windows(const arguments *a)
{
    return a->active != NULL || a->days != NULL || a->openings != NULL || a->favourites != NULL ||
           a->gone != NULL || a->killed != NULL;
}

// Simulates a run, whose devices live through all of its epochs.
static agg_err run_epochs(agg_error *error, const arguments *a, const agg_recipe *recipe)
{
    const simulate_epochs_options options = {.counts = a->counts,
                                             .seed = a->seed,
                                             .folder = a->output,
                                             .n_devices = a->n_devices,
                                             .n_epochs = (uint32_t)a->n_epochs,
                                             .n_threads = a->n_threads,
                                             .memory_limit = a->memory_limit};
    if (states_windows(a)) return command_refuse(error, "a run over epochs has no windows");
    if (a->first != NULL || a->events != NULL || a->truth != NULL || a->format != NULL ||
        a->sealed != NULL)
        return command_refuse(error, "--first, --events, --truth, --format and --sealed do not go "
                                     "with a run over epochs");
    return simulate_epochs(error, recipe, &options);
}

// ---- windows ----

// Reads a chance in millionths. `micro` keeps its value without the option.
static agg_err read_chance(uint32_t *micro, agg_error *error, const char *name, const char *text,
                           double low)
{
    double chance = 0;
    if (text == NULL) return SHOAL_OK;
    agg_err err = cli_read_decimal(&chance, error, name, text, low, 1);
    if (err == SHOAL_OK) *micro = (uint32_t)(chance * 1e6 + 0.5);
    return err;
}

static agg_err read_windows(agg_windows *w, agg_error *error, const arguments *a)
{
    uint64_t days = 1;
    *w = (agg_windows){.active_micro = 1000000};
    agg_err err = read_chance(&w->active_micro, error, "active", a->active, 0.000001);
    if (err == SHOAL_OK)
        err = read_chance(&w->favourite_micro, error, "favourites", a->favourites, 0);
    if (err == SHOAL_OK) err = read_chance(&w->gone_micro, error, "gone", a->gone, 0);
    if (err == SHOAL_OK) err = read_chance(&w->killed_micro, error, "killed", a->killed, 0);
    if (err == SHOAL_OK && a->days != NULL)
        err = cli_read_whole(&days, error, "days", a->days, 1, AGG_WINDOW_RECORDS_MAX);
    if (err == SHOAL_OK) err = agg_windows_read_sizes(w, error, a->events);
    w->days = (uint32_t)days;
    return err;
}

static agg_err run_devices(agg_error *error, const arguments *a, const agg_recipe *recipe)
{
    agg_windows windows;
    bool has_windows = recipe->recipe->pick == SHOAL_PICK_UNIFORM || states_windows(a);
    uint64_t n_events = 1;
    simulate_devices_options options = {.counts = a->counts,
                                        .seed = a->seed,
                                        .output = a->output,
                                        .truth = a->truth,
                                        .openings = a->openings,
                                        .windows = has_windows ? &windows : NULL,
                                        .n_devices = a->n_devices,
                                        .first = a->n_first,
                                        .is_ndjson = a->is_ndjson,
                                        .is_batch_v1 = a->is_batch_v1,
                                        .day = a->day,
                                        .n_threads = a->n_threads,
                                        .memory_limit = a->memory_limit};
    if (a->epochs != NULL)
        return command_refuse(error, "--epochs goes with recipes of thresh and heavythresh");
    if (a->events != NULL && recipe->recipe->encoding.n_fields == 0 && !has_windows)
        return command_refuse(
            error, "--events goes with recipes that have an encoding, or with windows (--active)");
    agg_err err = cli_need(error, "devices", a->devices);
    if (err == SHOAL_OK && has_windows) err = read_windows(&windows, error, a);
    if (err == SHOAL_OK && a->events != NULL && !has_windows)
        err = cli_read_whole(&n_events, error, "events", a->events, 1, AGG_EVENTS_MAX);
    options.n_events = (uint32_t)n_events;
    return err == SHOAL_OK ? simulate_devices(error, recipe, &options) : err;
}

static agg_err run(agg_error *error, void *context, const command_words *words)
{
    arguments *a = context;
    agg_recipe recipe;
    (void)words;
    agg_err err = read_arguments(a, error);
    if (err == SHOAL_OK) err = agg_recipe_from_file(&recipe, error, a->recipe);
    if (err != SHOAL_OK) return err;
    err =
        recipe.recipe->epochs > 0 ? run_epochs(error, a, &recipe) : run_devices(error, a, &recipe);
    agg_recipe_release(&recipe);
    return err;
}

static const command_option options[] = {REQUIRED_OPTION("recipe", recipe),
                                         REQUIRED_OPTION("counts", counts),
                                         OPTION("devices", devices),
                                         REQUIRED_OPTION("seed", seed),
                                         REQUIRED_OUTPUT_OPTION(output),
                                         OPTION("truth", truth),
                                         OPTION("format", format),
                                         OPTION("threads", threads),
                                         OPTION("first", first),
                                         OPTION("events", events),
                                         OPTION("epochs", epochs),
                                         OPTION("memory", memory),
                                         OPTION("active", active),
                                         OPTION("days", days),
                                         OPTION("openings", openings),
                                         OPTION("favourites", favourites),
                                         OPTION("gone", gone),
                                         OPTION("killed", killed),
                                         OPTION("sealed", sealed),
                                         LAST_OPTION};

const cli_command cmd_simulate = {
    .name = "simulate",
    .summary = "draw devices from value<TAB>count lines and privatize them",
    .help = help_text,
    .more_help = help_windows,
    .example = "  shoal simulate --recipe fish.json --counts fish.tsv --devices 5000 --seed 1 \\\n"
               "      -o fish.batches\n",
    .options = options,
    .arguments_size = sizeof(arguments),
    .run = run};
