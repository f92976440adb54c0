// SPDX-License-Identifier: Apache-2.0
// A run over epochs; see static_run.h.
#include "static_run.h"

#include <math.h>
#include <string.h>

#include "page_text.h"
#include "print_text.h"
#include "recipe.h"
#include "track_print.h"
#include "trend_figure.h"

#define CONFIDENCE 0.95 // the default of shoal track

void agg_static_run_begin(agg_static_run *run)
{
    *run = (agg_static_run){0};
    agg_track_init(&run->track, CONFIDENCE);
}

agg_err agg_static_run_add(agg_static_run *run, agg_error *error, const agg_recipe *recipe,
                           const agg_accumulator *acc)
{
    char name[32];
    snprintf(name, sizeof name, "epoch %u", recipe->recipe->round_index);
    return agg_track_add(&run->track, error, name, recipe, acc);
}

agg_err agg_static_run_finish(agg_static_run *run, agg_error *error,
                              const agg_dictionary *dictionary, uint64_t most)
{
    if (run->track.n_rows == 0) return SHOAL_OK;
    agg_err err = agg_track_finish(&run->track, error);
    run->is_finished = err == SHOAL_OK;
    if (err != SHOAL_OK || !agg_track_is_heavy(&run->track.law) || run->track.n_updates == 0)
        return err;
    if (dictionary == NULL)
        run->why_no_items = "No dictionary is configured: there are no values to ask for";
    else if (agg_track_items_memory(&run->track, dictionary->n) > most)
        run->why_no_items = "The dictionary has more values than a page of a run tells; shoal "
                            "track tells them";
    if (run->why_no_items != NULL) return SHOAL_OK;
    err = agg_track_items_run(&run->items, error, &run->track, dictionary);
    run->has_items = err == SHOAL_OK;
    return err;
}

size_t agg_static_run_size(const agg_static_run *run)
{
    const agg_track *t = &run->track;
    size_t bytes = t->rows_cap * sizeof *t->rows + t->updates_cap * sizeof *t->updates;
    if (t->n_rows > 0 && agg_track_is_heavy(&t->law))
        bytes += t->n_updates * (size_t)t->law.plan.projection * sizeof(int32_t);
    if (run->has_items) bytes += (size_t)agg_track_items_memory(t, run->items.n);
    return bytes;
}

void agg_static_run_release(agg_static_run *run)
{
    if (run->has_items) agg_track_items_release(&run->items);
    agg_track_release(&run->track);
    *run = (agg_static_run){0};
}

// ---- what is said ----

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void put_facts(FILE *out, const agg_track *t)
{
    const uint32_t left = agg_track_updates_left(t);
    fprintf(out,
            "<ul class=\"facts\"><li><b>%zu</b> of %u epochs</li><li><b>\xce\xb5 = %g</b> for the "
            "whole run</li><li><b>%g\xe2\x80\xaf%%</b> intervals</li><li><b>%u</b> update%s</li>"
            "<li><b>%u</b> left</li></ul>\n",
            t->n_rows, t->law.plan.epochs, t->law.epsilon, 100 * t->confidence, t->n_called,
            plural(t->n_called), left);
}

static void put_notes(FILE *out, const agg_track *t)
{
    char note[AGG_TRACK_NOTE_MAX];
    fputs("<p class=\"note\">Fabricated reports are not tested for: devices of a run repeat "
          "answers.</p>\n",
          out);
    for (uint32_t i = 0; agg_track_note(note, t, i); i++) {
        fputs("<p class=\"note\">", out);
        note[0] = (char)(note[0] >= 'a' && note[0] <= 'z' ? note[0] - 'a' + 'A' : note[0]);
        agg_page_string(out, note);
        fputs(".</p>\n", out);
    }
}

static const char *what_of(const agg_track_row *row)
{
    if (row->is_update && row->is_frozen) return "update, not answered: frozen";
    if (row->is_update && row->is_pending) return "update, value to come";
    if (row->is_update) return "update";
    if (row->is_frozen) return "frozen";
    return row->of == 0 ? "no estimate yet" : "";
}

static int decimals_of(const agg_track *t)
{
    for (size_t i = 0; i < t->n_rows; i++)
        if (isfinite(t->rows[i].stderr_)) return agg_error_decimals(t->rows[i].stderr_);
    return 2;
}

static void put_value(FILE *out, const agg_track_row *row, int decimals)
{
    if (!isfinite(row->stderr_)) {
        fputs("<td>\xe2\x80\x93</td><td>\xe2\x80\x93</td>", out);
        return;
    }
    fputs("<td>", out);
    agg_page_number(out, row->value, decimals);
    fputs("</td><td>", out);
    agg_page_number(out, row->low, decimals);
    fputs(" to ", out);
    agg_page_number(out, row->high, decimals);
    fputs("</td>", out);
}

static void put_epoch(FILE *out, const agg_track *t, size_t i, int decimals)
{
    const agg_track_row *row = &t->rows[i];
    fprintf(out, "<tr><th scope=\"row\">%u</th><td>%s</td>", row->epoch, what_of(row));
    if (!agg_track_is_heavy(&t->law)) put_value(out, row, decimals);
    fprintf(out, "<td>%.1f\xe2\x80\xaf%%</td><td>%.1f\xe2\x80\xaf%%</td><td>", 100 * row->votes,
            100 * row->needed);
    agg_page_count(out, (double)row->n);
    fputs("</td></tr>\n", out);
}

static void put_epoch_head(FILE *out, const agg_track *t, const char *caption)
{
    fprintf(out,
            "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table "
            "class=\"plain\"><caption>%s</caption><thead><tr><th scope=\"col\">epoch</th><th "
            "scope=\"col\">what came of it</th>%s<th scope=\"col\">yes votes</th><th "
            "scope=\"col\">needed</th><th scope=\"col\">reports</th></tr></thead><tbody>\n",
            caption, caption,
            agg_track_is_heavy(&t->law)
                ? ""
                : "<th scope=\"col\">value</th><th scope=\"col\">interval</th>");
}

// Writes the epochs in which something happened, and all of them behind a button.
static void put_epochs(FILE *out, const agg_track *t)
{
    const int decimals = decimals_of(t);
    size_t n = 0;
    put_epoch_head(out, t, "The first epoch, the last one, and every update");
    for (size_t i = 0; i < t->n_rows; i++) {
        if (i > 0 && i + 1 < t->n_rows && !t->rows[i].is_update) continue;
        put_epoch(out, t, i, decimals);
        n++;
    }
    fputs("</tbody></table></div>\n", out);
    if (n == t->n_rows) return;
    fputs("<details class=\"note\"><summary>Every epoch</summary>", out);
    put_epoch_head(out, t, "Every epoch");
    for (size_t i = 0; i < t->n_rows; i++) put_epoch(out, t, i, decimals);
    fputs("</tbody></table></div></details>\n", out);
}

#define WIDTH 1000.0 // units of the picture, which the page stretches to the room that it has
#define HEIGHT 100.0

static double y_of(const agg_scale *scale, double value)
{
    return HEIGHT * (scale->high - value) / (scale->high - scale->low);
}

// Draws what an update measured, with its band, over the epochs in which it stands. An epoch has a
// width, because its value is a step.
static void put_stretch(FILE *out, const agg_track *t, const agg_scale *scale, size_t from,
                        size_t to)
{
    const agg_track_row *row = &t->rows[from];
    const double x = WIDTH * (double)from / (double)t->n_rows,
                 end = WIDTH * (double)to / (double)t->n_rows;
    fprintf(out,
            "<rect class=\"band\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/><line "
            "class=\"line\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>",
            x, y_of(scale, row->high), end - x, y_of(scale, row->low) - y_of(scale, row->high), x,
            end, y_of(scale, row->value), y_of(scale, row->value));
}

// Marks the updates whose value is known. Dots are round, so they are not stretched.
static void put_marks(FILE *out, const agg_track *t, const agg_scale *scale)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        const agg_track_row *row = &t->rows[i];
        if (!row->is_update || !isfinite(row->stderr_) || row->of != row->epoch) continue;
        fprintf(out, "<circle class=\"dot\" cx=\"%.2f%%\" cy=\"%.2f%%\" r=\"3\"/>",
                100 * (double)i / (double)t->n_rows, 100 * y_of(scale, row->value) / HEIGHT);
    }
}

static bool find_scale(agg_scale *scale, const agg_track *t)
{
    bool has_any = false;
    for (size_t i = 0; i < t->n_rows; i++) {
        const agg_track_row *row = &t->rows[i];
        if (!isfinite(row->stderr_)) continue;
        if (!has_any) *scale = (agg_scale){row->low, row->high};
        has_any = true;
        agg_scale_hold(scale, row->low);
        agg_scale_hold(scale, row->high);
    }
    if (has_any) agg_scale_finish(scale);
    return has_any;
}

// Draws the value over the epochs, with a gap where none is known.
static void put_series(FILE *out, const agg_track *t)
{
    agg_scale scale = {0, 0};
    if (!find_scale(&scale, t)) return;
    fprintf(out,
            "<figure><figcaption><b>The value</b><span>scale from %.4g to %.4g</span></figcaption>"
            "\n<div class=\"trend\" role=\"img\" aria-label=\"The value over %zu epochs, in steps "
            "from update to update, from %.4g to %.4g, with the band of its intervals\"><svg "
            "aria-hidden=\"true\" viewBox=\"0 0 %.0f %.0f\" preserveAspectRatio=\"none\">",
            scale.low, scale.high, t->n_rows, scale.low, scale.high, WIDTH, HEIGHT);
    for (size_t i = 0; i < t->n_rows;) {
        const size_t from = i;
        while (i < t->n_rows && t->rows[i].of == t->rows[from].of &&
               isfinite(t->rows[i].stderr_) == isfinite(t->rows[from].stderr_))
            i++;
        if (isfinite(t->rows[from].stderr_)) put_stretch(out, t, &scale, from, i);
    }
    fputs("</svg><svg aria-hidden=\"true\">", out);
    put_marks(out, t, &scale);
    fprintf(
        out,
        "</svg></div><p class=\"ends\"><span>epoch 1</span><span>epoch %zu</span></p></figure>\n"
        "<p class=\"note\">Dots are updates. It is a mean of numbers from %.10g to %.10g.</p>\n",
        t->n_rows, (double)t->recipe.recipe->low_micro / 1e6,
        (double)t->recipe.recipe->high_micro / 1e6);
}

// ---- shares of strings ----

static void put_share(FILE *out, double share)
{
    agg_page_number(out, 100 * share, 2);
    fputs("\xe2\x80\xaf%", out);
}

static void put_item(FILE *out, const agg_static_run *run, size_t update, uint32_t i)
{
    const agg_text *value = &run->items.dictionary->values[i];
    const agg_track_share *s = agg_track_items_at(&run->items, update, i);
    fprintf(out, "<tr%s><th scope=\"row\" title=\"", s->is_detected ? "" : " class=\"mute\"");
    agg_page_text(out, value->bytes, value->len);
    fputs("\">", out);
    agg_page_text(out, value->bytes, value->len);
    fputs("</th><td>", out);
    put_share(out, s->share);
    fputs("</td><td>", out);
    put_share(out, s->low);
    fputs(" to ", out);
    put_share(out, s->high);
    fputs("</td><td>", out);
    if (isfinite(s->change))
        put_share(out, s->change);
    else
        fputs("\xe2\x80\x93", out);
    fprintf(out, "</td><td>%s</td></tr>\n", s->has_moved ? "moved" : "");
}

static void put_update(FILE *out, const agg_static_run *run, size_t u, size_t top)
{
    const agg_track_items *items = &run->items;
    const uint32_t epoch = run->track.updates[u].epoch;
    size_t n_withheld = 0, n_shown = 0;
    fprintf(out,
            "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Update of epoch %u\">"
            "<table class=\"plain\"><caption>Update of epoch %u, of %s reports</caption><thead><tr>"
            "<th scope=\"col\">value</th><th scope=\"col\">share</th><th scope=\"col\">interval"
            "</th><th scope=\"col\">change</th><th scope=\"col\">since the update before</th></tr>"
            "</thead><tbody>\n",
            epoch, epoch, agg_whole(run->track.updates[u].n).text);
    for (size_t rank = 0; rank < items->n; rank++) {
        const uint32_t i = items->order[rank];
        if (agg_track_is_withheld(items, u, i)) {
            n_withheld++;
        } else if (top == 0 || n_shown < top ||
                   (n_shown < 2 * top && agg_track_items_at(items, u, i)->has_moved)) {
            put_item(out, run, u, i);
            n_shown++;
        }
    }
    fputs("</tbody></table></div>\n", out);
    fprintf(out, "<p class=\"note\">%zu of %zu values shown", n_shown, items->n);
    if (n_withheld > 0) fprintf(out, "; %zu below the release threshold are withheld", n_withheld);
    fputs(".</p>\n", out);
}

void agg_static_run_write(FILE *out, const agg_static_run *run, size_t top)
{
    const agg_track *t = &run->track;
    if (!run->is_finished) return;
    fputs("<section><h2>How the run went</h2>\n", out);
    put_facts(out, t);
    fputs("<p class=\"said\">In each epoch devices vote on whether their own value has changed. An "
          "epoch with enough yes votes is an update: the reports of the next epoch carry what it "
          "measured, and that stands until the next update. The interval is of what the update "
          "measured, and holds for no later change.</p>\n",
          out);
    if (!agg_track_is_heavy(&t->law)) put_series(out, t);
    put_epochs(out, t);
    for (size_t u = 0; run->has_items && u < t->n_updates; u++) put_update(out, run, u, top);
    if (run->why_no_items != NULL) fprintf(out, "<p class=\"note\">%s.</p>\n", run->why_no_items);
    put_notes(out, t);
    fputs("</section>\n", out);
}
