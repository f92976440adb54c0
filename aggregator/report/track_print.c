// SPDX-License-Identifier: Apache-2.0
// Prints series; see track_print.h.
#include "track_print.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "compound.h"
#include "print_text.h"
#include "recipe.h"
#include "table_write.h"
#include "track_table.h"

// ---- the run's figures ----

static const char *unit_name(const agg_track_law *law)
{
    return agg_track_is_heavy(law) ? "of a value's share" : "of the range";
}

// Returns: the threshold beyond which devices vote on a change at once.
static double highest(const agg_track_law *law)
{
    return (law->figures.levels + 1) * law->unit;
}

static void print_waits(FILE *stream, const agg_track_law *law)
{
    fprintf(stream, "\n%-33s is voted on\n",
            agg_track_is_heavy(law) ? "change of a value's share" : "change of a group's mean");
    if (highest(law) < 1)
        fprintf(stream, "more than %-23.4g at once\n", highest(law));
    else
        fprintf(stream,
                "%-33s at once: the highest threshold, %.4g, is beyond any change; more samples "
                "lower it\n",
                "none", highest(law));
    for (uint32_t i = law->figures.levels; i-- > 0;) {
        uint32_t wait = agg_track_wait(law, (int32_t)i);
        if ((i + 1) * law->unit >= 1) continue;
        fprintf(stream, "more than %-8.4g up to %-8.4g within %u epoch%s\n", (i + 1) * law->unit,
                fmin(1, (i + 2) * law->unit), wait, wait == 1 ? "" : "s");
    }
    fprintf(stream, "up to %-27.4g never\n", fmin(1, law->unit));
    fprintf(stream,
            "Changes are %s; a device's own samples blur a threshold by up to another %.4g.\n",
            unit_name(law), law->unit);
}

void agg_track_print_law(FILE *stream, const agg_track_law *law)
{
    const shoal_evolving *f = &law->figures;
    uint64_t n = law->plan.users, needed = agg_track_votes_needed(law, n);
    double share =
        ((double)needed / (double)n - law->vote_rare) / (law->vote_common - law->vote_rare);
    fprintf(stream, "votes               %u of epsilon %.6g; each counts twice\n", f->n_votes,
            law->a);
    fprintf(stream,
            "estimates           %u of epsilon %.6g, one for each update that is answered\n",
            f->n_estimates, law->b);
    fprintf(stream, "epsilon of the run  %.6g at most, of %.6g\n", law->cost, law->epsilon);
    fprintf(stream,
            "changes             room for %.0f; a change takes two votes and an estimate at most\n",
            law->changes);
    fprintf(stream,
            "update              if %s of %s reports say yes: %.3g %% of the devices vote\n",
            agg_whole(needed).text, agg_whole(n).text, 100 * share);
    fprintf(stream, "standard error      %.3g %s, of what an update measures\n", law->stderr_,
            unit_name(law));
    if (!isnan(law->bound))
        fprintf(stream,
                "Theorem 4.3         never further off than %.3g of the range: a loose bound\n",
                law->bound);
    print_waits(stream, law);
}

// ---- notes ----

static bool note_users(char *out, const agg_track *t)
{
    const uint64_t least = t->least, most = t->most;
    uint32_t users = t->law.plan.users;
    if (least == users && most == users) return false;
    snprintf(out, AGG_TRACK_NOTE_MAX,
             "epochs have %s to %s reports where the recipe states %s users: thresholds of "
             "votes are those of the reports; Assumption 4.2 is the recipe's",
             agg_whole(least).text, agg_whole(most).text, agg_whole(users).text);
    return true;
}

static bool note_frozen(char *out, const agg_track *t)
{
    if (agg_track_updates_left(t) > 0) return false;
    uint32_t of = t->updates[t->n_updates - 1].epoch;
    snprintf(out, AGG_TRACK_NOTE_MAX,
             "frozen since epoch %u: devices have answered all %u updates that their epsilon has "
             "room for; %u later update%s called and not answered",
             of, t->law.figures.n_estimates, t->n_called - (uint32_t)t->n_updates,
             t->n_called - t->n_updates == 1 ? " was" : "s were");
    return true;
}

static bool note_other(char *out, const agg_track *t)
{
    if (t->n_other == 0) return false;
    snprintf(out, AGG_TRACK_NOTE_MAX,
             "%u epoch%s: the next recipe decided otherwise than these votes do (reports that came "
             "later?); devices went by the recipe, and so does the series",
             t->n_other, t->n_other == 1 ? "" : "s");
    return true;
}

static bool note_pending(char *out, const agg_track *t)
{
    const agg_track_row *last = &t->rows[t->n_rows - 1];
    if (!last->is_pending || last->is_frozen) return false;
    snprintf(out, AGG_TRACK_NOTE_MAX,
             "epoch %u is an update: its value comes with the reports of epoch %u", last->epoch,
             last->epoch + 1);
    return true;
}

bool agg_track_note(char out[AGG_TRACK_NOTE_MAX], const agg_track *track, uint32_t i)
{
    static bool (*const notes[])(char *, const agg_track *) = {note_users, note_frozen, note_other,
                                                               note_pending};
    for (uint32_t k = 0; k < sizeof notes / sizeof notes[0]; k++)
        if (notes[k](out, track) && i-- == 0) return true;
    return false;
}

// ---- JSON ----

static void print_number(FILE *stream, const char *name, double x)
{
    fprintf(stream, "\"%s\":", name);
    if (isfinite(x))
        agg_print_number(stream, x);
    else
        fputs("null", stream);
}

static void print_flag(FILE *stream, const char *name, bool is_true)
{
    fprintf(stream, ",\"%s\":%s", name, is_true ? "true" : "false");
}

static void print_member(FILE *stream, const char *name, double x)
{
    fputc(',', stream);
    print_number(stream, name, x);
}

static void print_json_share(FILE *stream, const agg_text *value, const agg_track_share *s)
{
    fputs("{\"value\":", stream);
    agg_print_json_text(stream, value->bytes, value->len);
    print_member(stream, "share", s->share);
    print_member(stream, "stderr", s->stderr_);
    print_member(stream, "low", s->low);
    print_member(stream, "high", s->high);
    print_flag(stream, "detected", s->is_detected);
    print_member(stream, "change", s->change);
    print_member(stream, "change_stderr", s->change_error);
    print_flag(stream, "moved", s->has_moved);
    fputc('}', stream);
}

static size_t count_withheld(const agg_track_result *result)
{
    size_t n = 0;
    for (size_t u = 0; u < result->track->n_updates; u++)
        for (size_t i = 0; i < result->items->n; i++)
            n += (size_t)agg_track_is_withheld(result->items, u, i);
    return n;
}

static void print_json_items(FILE *stream, const agg_track_result *result)
{
    const agg_track_items *items = result->items;
    if (result->track->recipe.recipe->release_threshold > 0)
        fprintf(stream, ",\"withheld\":%zu", count_withheld(result));
    fputs(",\"items\":[", stream);
    for (size_t u = 0; u < result->track->n_updates; u++) {
        const agg_track_update *update = &result->track->updates[u];
        const char *separator = "";
        fprintf(stream, "%s\n{\"epoch\":%u,\"n\":%llu,\"rows\":[", u > 0 ? "," : "", update->epoch,
                (unsigned long long)update->n);
        for (size_t rank = 0; rank < items->n; rank++) {
            uint32_t i = items->order[rank];
            if (!agg_track_is_shown(result, u, rank)) continue;
            fprintf(stream, "%s\n", separator);
            print_json_share(stream, &items->dictionary->values[i],
                             agg_track_items_at(items, u, i));
            separator = ",";
        }
        fputs("]}", stream);
    }
    fputc(']', stream);
}

static void print_json_simulated(FILE *stream, const agg_track_simulated *s)
{
    if (s == NULL) return;
    fprintf(stream, ",\"simulation\":{\"devices\":%llu", (unsigned long long)s->devices);
    print_member(stream, "privacy_max", s->privacy_max);
    fputs(",\"votes_spent\":[", stream);
    for (size_t i = 0; i < s->n_epochs; i++) {
        if (i > 0) fputc(',', stream);
        agg_print_number(stream, s->votes_spent[i]);
    }
    fputs("]}", stream);
}

static void print_json_notes(FILE *stream, const agg_track *track)
{
    char note[AGG_TRACK_NOTE_MAX];
    fputs(",\"notes\":[", stream);
    for (uint32_t i = 0; agg_track_note(note, track, i); i++) {
        if (i > 0) fputc(',', stream);
        agg_print_json_text(stream, note, strlen(note));
    }
    fputc(']', stream);
}

static void print_json_head(FILE *stream, const agg_track *t)
{
    const agg_track_law *law = &t->law;
    fprintf(stream, "{\"schema\":1,\"recipe\":\"%s\",\"run_hash\":\"%s\",\"mechanism\":\"%s\"",
            t->recipe.id, t->run_hex, shoal_recipe_mechanism_name(t->recipe.recipe));
    print_member(stream, "epsilon", law->epsilon);
    fprintf(stream, ",\"users\":%u,\"epochs\":%u", law->plan.users, law->plan.epochs);
    print_member(stream, "confidence", t->confidence);
    fprintf(stream, ",\"updates\":%u,\"updates_answered\":%zu,\"updates_left\":%u", t->n_called,
            t->n_updates, agg_track_updates_left(t));
    print_flag(stream, "frozen", agg_track_updates_left(t) == 0);
    print_member(stream, "bound", law->bound);
    print_member(stream, "stderr_at_worst", law->stderr_);
    print_member(stream, "voted_at_once", highest(law));
    print_member(stream, "never_voted", law->unit);
    print_json_notes(stream, t);
    fputs(",\"alarms\":\"not-measured\"", stream); // devices repeat answers by design
}

static void print_json(FILE *stream, const agg_track_result *result)
{
    agg_table rows;
    double rms = NAN, largest = NAN;
    print_json_head(stream, result->track);
    if (result->truth != NULL) {
        agg_track_error(&rms, &largest, result->track, result->truth);
        print_member(stream, "rms_error", rms);
        print_member(stream, "max_error", largest);
    }
    print_json_simulated(stream, result->simulated);
    if (result->items != NULL) print_json_items(stream, result);
    fputs(",\"rows\":[", stream);
    agg_track_table_of_epochs(&rows, result);
    agg_table_print_json_rows(stream, &rows, "\n", ",\n", "");
    fputs("\n]}\n", stream);
}

// ---- tables ----

static void print_cell(FILE *stream, double x, int decimals)
{
    if (isfinite(x))
        fprintf(stream, "  %10.*f", decimals, x);
    else
        fprintf(stream, "  %10s", "-");
}

static const char *what(const agg_track_row *row)
{
    if (row->is_update && row->is_frozen) return "  update, not answered: frozen";
    if (row->is_update && row->is_pending) return "  update, value to come";
    if (row->is_update) return "  update";
    if (row->is_frozen) return "  frozen";
    return row->of == 0 ? "  no estimate yet" : "";
}

static bool is_table_row(const agg_track_result *result, size_t i)
{
    size_t n = result->track->n_rows;
    return result->has_all_epochs || i == 0 || i + 1 == n || result->track->rows[i].is_update;
}

static void print_rows(FILE *stream, const agg_track_result *result)
{
    const agg_track *t = result->track;
    bool is_heavy = agg_track_is_heavy(&t->law);
    int decimals = 4;
    if (t->n_updates > 0 && !is_heavy)
        decimals = agg_error_decimals(t->rows[t->updates[0].epoch - 1].stderr_);
    fputs("   epoch", stream);
    if (!is_heavy) fprintf(stream, "  %10s  %10s  %10s  %10s", "value", "stderr", "low", "high");
    if (result->truth != NULL && !is_heavy) fprintf(stream, "  %10s", "truth");
    fprintf(stream, "  %10s  %10s\n", "yes votes", "needed");
    for (size_t i = 0; i < t->n_rows; i++) {
        const agg_track_row *row = &t->rows[i];
        const double values[] = {row->value, row->stderr_, row->low, row->high};
        if (!is_table_row(result, i)) continue;
        fprintf(stream, "%8u", row->epoch);
        for (size_t j = 0; j < 4 && !is_heavy; j++) print_cell(stream, values[j], decimals);
        if (result->truth != NULL && !is_heavy) print_cell(stream, result->truth[i], decimals);
        fprintf(stream, "  %8.3f %%  %8.3f %%%s\n", 100 * row->votes, 100 * row->needed, what(row));
    }
}

static size_t widest(const agg_track_items *items)
{
    size_t width = 5;
    for (size_t i = 0; i < items->n; i++) {
        size_t own = agg_terminal_width(items->dictionary->values[i].bytes,
                                        items->dictionary->values[i].len);
        if (own > width) width = own;
    }
    return width < AGG_TABLE_VALUE_MAX ? width : AGG_TABLE_VALUE_MAX;
}

static void print_items(FILE *stream, const agg_track_result *result)
{
    const agg_track_items *items = result->items;
    size_t width = widest(items);
    for (size_t u = 0; u < result->track->n_updates; u++) {
        fprintf(stream, "\nupdate of epoch %u\n", result->track->updates[u].epoch);
        agg_print_cell(stream, "value", 5, width);
        fprintf(stream, "  %10s  %10s  %10s  %10s  %10s\n", "share", "stderr", "low", "high",
                "change");
        for (size_t rank = 0; rank < items->n; rank++) {
            uint32_t i = items->order[rank];
            const agg_track_share *s = agg_track_items_at(items, u, i);
            const double values[] = {s->share, s->stderr_, s->low, s->high, s->change};
            if (!agg_track_is_shown(result, u, rank)) continue;
            agg_print_cell(stream, items->dictionary->values[i].bytes,
                           items->dictionary->values[i].len, width);
            for (size_t j = 0; j < 5; j++) print_cell(stream, values[j], 4);
            fputs(s->has_moved     ? "  moved\n"
                  : s->is_detected ? "\n"
                                   : "  not distinguishable from zero\n",
                  stream);
        }
    }
}

static void print_ends(FILE *stream, const agg_track_result *result)
{
    const agg_track *t = result->track;
    char note[AGG_TRACK_NOTE_MAX];
    double rms = NAN, largest = NAN;
    fprintf(stream, "\nupdates             %u; devices answered %zu and have %u left\n",
            t->n_called, t->n_updates, agg_track_updates_left(t));
    if (!isnan(t->law.bound))
        fprintf(stream,
                "Theorem 4.3         never further off than %.3g of the range: a loose bound\n",
                t->law.bound);
    if (highest(&t->law) < 1)
        fprintf(stream,
                "changes             above %.4g are voted on at once, up to %.4g never, those "
                "between within %u epochs\n",
                highest(&t->law), t->law.unit, agg_track_wait(&t->law, 0));
    else
        fprintf(stream,
                "changes             up to %.4g are never voted on, larger ones within up to %u "
                "epochs: none is voted on at once, since a\n                    device has few "
                "samples (shoal recipe check has the whole table)\n",
                t->law.unit, agg_track_wait(&t->law, 0));
    if (result->truth != NULL) {
        agg_track_error(&rms, &largest, t, result->truth);
        fprintf(stream, "against the truth   root mean square %.4g, at most %.4g\n", rms, largest);
    }
    if (result->simulated != NULL && result->simulated->n_epochs > 0)
        fprintf(stream,
                "simulation          %.4g %% of %s devices have no vote left; the most that one "
                "has spent is %.6g of epsilon %g\n",
                100 * result->simulated->votes_spent[result->simulated->n_epochs - 1],
                agg_whole(result->simulated->devices).text, result->simulated->privacy_max,
                t->law.epsilon);
    if (result->items != NULL && t->recipe.recipe->release_threshold > 0)
        fprintf(stream,
                "withheld            %zu shares of values below the release threshold of %s "
                "reports\n",
                count_withheld(result), agg_whole(t->recipe.recipe->release_threshold).text);
    for (uint32_t i = 0; agg_track_note(note, t, i); i++)
        fprintf(stream, "note                %s\n", note);
    fputs("alarms              not measured: devices of a run repeat answers\n", stream);
}

static void print_table(FILE *stream, const agg_track_result *result)
{
    const agg_track *t = result->track;
    const shoal_recipe *r = t->recipe.recipe;
    fprintf(stream,
            "%s: epochs 1 to %zu of %u, epsilon %g for the whole run, %g %% intervals of what "
            "updates measured\n",
            t->recipe.id, t->n_rows, t->law.plan.epochs, t->law.epsilon, 100 * t->confidence);
    if (!agg_track_is_heavy(&t->law))
        fprintf(stream, "mean of numbers from %.10g to %.10g\n", (double)r->low_micro / 1e6,
                (double)r->high_micro / 1e6);
    fputc('\n', stream);
    print_rows(stream, result);
    if (result->items != NULL) print_items(stream, result);
    print_ends(stream, result);
}

agg_err agg_track_print(FILE *stream, agg_error *error, const agg_track_result *result,
                        agg_track_format format)
{
    static const agg_format formats[] = {[AGG_TRACK_CSV] = AGG_CSV, [AGG_TRACK_ARROW] = AGG_ARROW};
    agg_table table;
    agg_track_table(&table, result);
    if (format == AGG_TRACK_TABLE) print_table(stream, result);
    if (format == AGG_TRACK_JSON) print_json(stream, result);
    if (format == AGG_TRACK_SVG) agg_track_svg(stream, result);
    return agg_table_write(stream, error, &table, formats[format]);
}
