// SPDX-License-Identifier: Apache-2.0
// Three ways to follow a mean, side by side; see track_compare.h.
#include "track_compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_file.h"
#include "agg_size.h"
#include "compound.h"
#include "estimate_print.h"
#include "log.h"
#include "memory_option.h"
#include "recipe.h"
#include "simulation.h"
#include "track_rivals.h"

#define N_METHODS 3u
#define N_ROWS 10u // of a table without --all

static const char *const method_names[N_METHODS] = {"thresh", "naive", "memoized"};

// A method up to an epoch.
typedef struct standing {
    double rms, largest, privacy;
} standing;

typedef struct comparison {
    const agg_recipe *recipe;
    const track_compare_options *options;
    uint64_t n_devices;
    uint32_t n_epochs;
    agg_track track;
    track_spent spent;
    track_rivals rivals;
    double *truth;
    uint32_t *changes;   // up to each epoch
    standing *standings; // N_METHODS an epoch
} comparison;

static agg_err take_epoch(void *context, agg_error *error, const agg_recipe *recipe,
                          const agg_accumulator *acc)
{
    return agg_track_add(context, error, "the simulation", recipe, acc);
}

static double value_of(const comparison *c, uint32_t method, uint32_t t)
{
    if (method == 1) return c->rivals.naive[t];
    return method == 0 ? c->track.rows[t].value : c->rivals.memoized[t];
}

static double privacy_of(const comparison *c, uint32_t method, uint32_t t)
{
    if (method == 1) return c->rivals.naive_epsilon * (t + 1);
    return method == 0 ? c->spent.privacy[t] : c->rivals.memoized_privacy[t];
}

static void stand(comparison *c)
{
    for (uint32_t m = 0; m < N_METHODS; m++) {
        double sum = 0, n = 0, largest = 0;
        for (uint32_t t = 0; t < c->n_epochs; t++) {
            double away = fabs(value_of(c, m, t) - c->truth[t]);
            if (!isnan(away)) {
                sum += away * away;
                n++;
                largest = fmax(largest, away);
            }
            c->standings[t * N_METHODS + m] =
                (standing){n > 0 ? sqrt(sum / n) : NAN, n > 0 ? largest : NAN, privacy_of(c, m, t)};
        }
    }
}

// Do both share out the same among the same values? A file may state every epoch, changed or not.
static int is_same_law(const epoch_counts *counts, const epoch_law *a, const epoch_law *b)
{
    const epoch_count *x = counts->entries + a->first, *y = counts->entries + b->first;
    if (a->n != b->n) return 0;
    for (size_t i = 0; i < a->n; i++)
        if (x[i].value != y[i].value || fabs((double)x[i].count / (double)a->total -
                                             (double)y[i].count / (double)b->total) > 1e-12)
            return 0;
    return 1;
}

// Epochs in which any group's law is another than before.
static void count_changes(comparison *c, const epoch_counts *counts)
{
    for (size_t i = 1; i < counts->n_laws; i++) {
        const epoch_law *law = &counts->laws[i];
        if (law->epoch > 1 && law->epoch <= c->n_epochs && !is_same_law(counts, law - 1, law))
            c->changes[law->epoch - 1] = 1;
    }
    for (uint32_t t = 1; t < c->n_epochs; t++) c->changes[t] += c->changes[t - 1];
}

static agg_err run_methods(comparison *c, agg_error *error, const epoch_counts *counts)
{
    const track_compare_options *o = c->options;
    char command[] = "track_rivals";
    agg_progress progress;
    track_simulation s = {.recipe = c->recipe,
                          .counts = counts,
                          .n_devices = c->n_devices,
                          .n_epochs = o->n_epochs,
                          .n_threads = o->n_threads,
                          .sink = take_epoch,
                          .sink_context = &c->track,
                          .progress = agg_progress_show,
                          .progress_context = &progress};
    // The rivals come after it, and their devices are smaller.
    agg_err err = cli_state_memory(error, command, track_simulation_memory(&s), o->memory_limit);
    if (err != SHOAL_OK) return err;
    agg_simulation_seed(s.seed, o->seed);
    agg_progress_start(&progress, command, "epochs", c->n_epochs);
    err = track_simulation_run(&c->spent, error, &s);
    agg_progress_end(&progress);
    if (err == SHOAL_OK) err = agg_track_finish(&c->track, error);
    if (err == SHOAL_OK) err = track_rivals_run(&c->rivals, error, &s);
    return err;
}

static agg_err compare(comparison *c, agg_error *error, const epoch_counts *counts)
{
    c->truth = agg_alloc(error, c->n_epochs, sizeof *c->truth);
    c->changes = agg_alloc(error, c->n_epochs, sizeof *c->changes);
    c->standings = agg_alloc(error, (size_t)c->n_epochs * N_METHODS, sizeof *c->standings);
    if (c->truth == NULL || c->changes == NULL || c->standings == NULL) return AGG_ERR_MEMORY;
    agg_err err = run_methods(c, error, counts);
    if (err == SHOAL_OK)
        err = track_truth(c->truth, error, c->recipe, counts, c->n_devices, c->n_epochs);
    if (err != SHOAL_OK) return err;
    count_changes(c, counts);
    stand(c);
    return SHOAL_OK;
}

// ---- print ----

static int is_row(const comparison *c, uint32_t t)
{
    uint32_t n = c->n_epochs < N_ROWS ? c->n_epochs : N_ROWS;
    if (c->options->has_all_epochs) return 1;
    return (uint64_t)(t + 1) * n / c->n_epochs != (uint64_t)t * n / c->n_epochs;
}

static void print_table(FILE *stream, const comparison *c)
{
    const standing *end = &c->standings[(size_t)(c->n_epochs - 1) * N_METHODS];
    fprintf(stream,
            "%s: %llu simulated devices, epsilon %g for %u epochs; errors so far in the recipe's "
            "units\n\n",
            c->recipe->id, (unsigned long long)c->n_devices, c->track.law.epsilon,
            c->track.law.plan.epochs);
    fprintf(stream, "%17s", "");
    for (uint32_t m = 0; m < N_METHODS; m++) fprintf(stream, "  | %-29s", method_names[m]);
    fprintf(stream, "\n   epoch  changes");
    for (uint32_t m = 0; m < N_METHODS; m++)
        fprintf(stream, "  | %8s  %8s  %9s", "rms", "largest", "epsilon");
    fputc('\n', stream);
    for (uint32_t t = 0; t < c->n_epochs; t++) {
        if (!is_row(c, t)) continue;
        fprintf(stream, "%8u  %7u", t + 1, c->changes[t]);
        for (uint32_t m = 0; m < N_METHODS; m++) {
            const standing *s = &c->standings[t * N_METHODS + m];
            fprintf(stream, "  | %8.4f  %8.4f  %9.4f", s->rms, s->largest, s->privacy);
        }
        fputc('\n', stream);
    }
    fprintf(stream,
            "\nthresh    %u updates; epsilon is what the device that spent most has spent. %.3g of "
            "%u updates' "
            "estimates left\n",
            c->track.n_called, (double)agg_track_updates_left(&c->track),
            c->track.law.figures.n_estimates);
    fprintf(stream,
            "naive     epsilon %.6g in every epoch; its root mean square is %.3g times that of "
            "thresh\n",
            c->rivals.naive_epsilon, end[1].rms / end[0].rms);
    fprintf(
        stream,
        "memoized  epsilon is that of the responses sent, %.6g each. Beyond it no epsilon bounds "
        "what the times "
        "tell at "
        "which\n          a response changed: %.3g %% of the devices have shown such a change\n",
        c->track.law.epsilon / 2, 100 * c->rivals.memoized_seen[c->n_epochs - 1]);
}

static void print_number(FILE *stream, double x)
{
    if (isfinite(x))
        agg_print_number(stream, x);
    else
        fputs("null", stream);
}

static void print_json(FILE *stream, const comparison *c)
{
    const char *separator = "";
    fprintf(stream, "{\"schema\":1,\"recipe\":\"%s\",\"devices\":%llu,\"epochs\":%u,\"epsilon\":",
            c->recipe->id, (unsigned long long)c->n_devices, c->n_epochs);
    agg_print_number(stream, c->track.law.epsilon);
    fprintf(stream, ",\"updates\":%u,\"memoized_seen\":", c->track.n_called);
    agg_print_number(stream, c->rivals.memoized_seen[c->n_epochs - 1]);
    fputs(",\"rows\":[", stream);
    for (uint32_t t = 0; t < c->n_epochs; t++) {
        if (!is_row(c, t)) continue;
        fprintf(stream, "%s\n{\"epoch\":%u,\"changes\":%u", separator, t + 1, c->changes[t]);
        for (uint32_t m = 0; m < N_METHODS; m++) {
            const standing *s = &c->standings[t * N_METHODS + m];
            fprintf(stream, ",\"%s\":{\"rms_error\":", method_names[m]);
            print_number(stream, s->rms);
            fputs(",\"max_error\":", stream);
            print_number(stream, s->largest);
            fputs(",\"privacy\":", stream);
            print_number(stream, s->privacy);
            fputc('}', stream);
        }
        fputc('}', stream);
        separator = ",";
    }
    fputs("\n]}\n", stream);
}

static void print_csv(FILE *stream, const comparison *c)
{
    fputs("epoch,changes,method,rms_error,max_error,privacy\n", stream);
    for (uint32_t t = 0; t < c->n_epochs; t++)
        for (uint32_t m = 0; m < N_METHODS && is_row(c, t); m++) {
            const standing *s = &c->standings[t * N_METHODS + m];
            fprintf(stream, "%u,%u,%s,%.9g,%.9g,%.9g\n", t + 1, c->changes[t], method_names[m],
                    s->rms, s->largest, s->privacy);
        }
}

static agg_err print(FILE *stream, agg_error *error, const comparison *c)
{
    switch (c->options->format) {
    case AGG_TRACK_JSON: print_json(stream, c); break;
    case AGG_TRACK_CSV: print_csv(stream, c); break;
    case AGG_TRACK_TABLE:
    case AGG_TRACK_SVG:
    case AGG_TRACK_ARROW: print_table(stream, c); break; // no option asks for these two
    }
    if (fflush(stream) == 0 && !ferror(stream)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the result");
}

static agg_err write(agg_error *error, const char *output, const comparison *c)
{
    agg_file file;
    if (output == NULL || strcmp(output, "-") == 0) return print(stdout, error, c);
    agg_err err = agg_file_create(&file, error, output);
    if (err != SHOAL_OK) return err;
    err = print(file.stream, error, c);
    if (err == SHOAL_OK) return agg_file_commit(&file, error);
    agg_file_abandon(&file);
    return err;
}

static agg_err run(agg_error *error, const track_compare_options *options, const agg_recipe *recipe,
                   const epoch_counts *counts)
{
    const shoal_recipe *r = recipe->recipe;
    comparison c = {.recipe = recipe, .options = options};
    c.n_devices = options->n_devices > 0 ? options->n_devices : r->users;
    c.n_epochs =
        options->n_epochs > 0 && options->n_epochs < r->epochs ? options->n_epochs : r->epochs;
    agg_track_init(&c.track, 0.95);
    agg_err err = compare(&c, error, counts);
    if (err == SHOAL_OK) err = write(error, options->output, &c);
    agg_track_release(&c.track);
    track_spent_release(&c.spent);
    track_rivals_release(&c.rivals);
    free(c.truth);
    free(c.changes);
    free(c.standings);
    return err;
}

agg_err track_compare(agg_error *error, const track_compare_options *options)
{
    agg_recipe recipe;
    epoch_counts counts;
    agg_err err = agg_recipe_from_file(&recipe, error, options->recipe);
    if (err != SHOAL_OK) return err;
    if (recipe.recipe->mechanism != shoal_thresh_id)
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                       "%s: not of a mean: a recipe of thresh is needed", options->recipe);
    if (err == SHOAL_OK) err = epoch_counts_load(&counts, error, options->counts);
    if (err == SHOAL_OK) {
        err = run(error, options, &recipe, &counts);
        epoch_counts_release(&counts);
    }
    agg_recipe_release(&recipe);
    return err;
}
