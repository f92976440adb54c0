// SPDX-License-Identifier: Apache-2.0
// The flow of reports; see operations_flow.h. Every number is shown, also where it is 0.
#include "operations_flow.h"

#include <inttypes.h>
#include <sys/statvfs.h>
#include <time.h>

#include "period.h"
#include "print_text.h"
#include "serve_page.h"

enum { STEPS = 5, BOX_WIDTH = 132, BOX_PITCH = 162, BOX_HEIGHT = 64, NARROW_PITCH = 94 };

typedef struct step {
    const char *name, *unit, *meaning;
    uint64_t n;
    bool is_bad;
} step;

// Sums up the collections. Refused batches are counted in batches: nothing inside them is believed.
static void sum_up(step steps[STEPS], const serve_request *r, const agg_store_stats *stats)
{
    const serve_collections *all = &r->set->collections;
    steps[0] = (step){"Received", "reports", "In batches taken since this server started.", 0, 0};
    steps[1] = (step){"Refused", "batches",
                      "Since this server started. The reasons are in the last table.", 0, false};
    steps[2] = (step){"Waiting", "reports", "On the disk, folded within seconds.", 0, false};
    steps[3] = (step){"Folded", "reports", "In the sums, ever since the store began.", 0, false};
    steps[4] = (step){"Released", "reports", "In closed blocks, of which results are made.", 0, 0};
    for (int i = 0; i < REFUSAL_COUNT; i++) steps[1].n += atomic_load(&r->state->refused[i]);
    steps[1].is_bad = steps[1].n > 0;
    for (size_t i = 0; i < all->n; i++) {
        const serve_live *live = all->list[i].live;
        steps[0].n += atomic_load(&live->counters[COUNT_RECORDS_STORED]);
        steps[2].n += stats[i].waiting_records;
        steps[2].is_bad = steps[2].is_bad || atomic_load(&live->is_fold_failing);
        steps[3].n += stats[i].records;
        steps[4].n += stats[i].released;
    }
}

static void put_box(FILE *stream, const step *one, int x, int y)
{
    fprintf(stream,
            "<rect%s x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"8\"/><text x=\"%d\" "
            "y=\"%d\">%s</text><text class=\"b\" x=\"%d\" y=\"%d\">%s</text>\n<text class=\"s\" "
            "x=\"%d\" y=\"%d\">%s</text>\n",
            one->is_bad ? " class=\"look\"" : "", x, y, BOX_WIDTH, BOX_HEIGHT, x + 10, y + 19,
            one->name, x + 10, y + 40, agg_whole(one->n).text, x + 10, y + 57, one->unit);
}

static const int in_line[] = {0, 2, 3, 4}; // received, waiting, folded, released

static void open_picture(FILE *stream, const char *class, int width, int height)
{
    fprintf(stream,
            "<svg class=\"%s\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"The way of reports; "
            "the table below has the same numbers\">\n",
            class, width, height);
}

// Draws received, waiting, folded and released in one line, and refused, which leaves it, below.
static void put_wide(FILE *stream, const step steps[STEPS])
{
    open_picture(stream, "wide", 640, 172);
    for (int i = 0; i < STEPS - 1; i++) {
        int x = 2 + i * BOX_PITCH;
        put_box(stream, &steps[in_line[i]], x, 2);
        if (i == 0) continue;
        fprintf(stream, "<path d=\"M%d 34h26m-6-5l6 5-6 5\"/>\n", x - BOX_PITCH + BOX_WIDTH + 2);
    }
    fputs("<path d=\"M68 68v34m-5-6l5 6 5-6\"/>\n", stream);
    put_box(stream, &steps[1], 2, 104);
    fputs("</svg>\n", stream);
}

// The same for narrow screens: the line goes downwards, and refused stands beside it.
static void put_narrow(FILE *stream, const step steps[STEPS])
{
    open_picture(stream, "narrow", 300, 362);
    for (int i = 0; i < STEPS - 1; i++) {
        int y = 2 + i * NARROW_PITCH;
        put_box(stream, &steps[in_line[i]], 2, y);
        if (i == 0) continue;
        fprintf(stream, "<path d=\"M68 %dv26m-5-6l5 6 5-6\"/>\n",
                y - NARROW_PITCH + BOX_HEIGHT + 2);
    }
    fputs("<path d=\"M136 34h26m-6-5l6 5-6 5\"/>\n", stream);
    put_box(stream, &steps[1], 2 + BOX_PITCH, 2);
    fputs("</svg>\n", stream);
}

static void put_row(FILE *stream, const char *what, const char *figure, const char *meaning,
                    bool is_bad)
{
    fprintf(stream,
            "<tr role=\"row\"%s><th scope=\"row\" role=\"rowheader\">%s</th><td class=\"n\" "
            "role=\"cell\">%s</td><td role=\"cell\">%s</td></tr>\n",
            is_bad ? " class=\"look\"" : "", what, figure, meaning);
}

static void open_section(FILE *stream, const char *title)
{
    fprintf(stream, "<section><h2>%s</h2>\n", title);
}

static void open_table(FILE *stream, const char *title)
{
    fprintf(stream,
            "<table role=\"table\"><caption>%s</caption><thead role=\"rowgroup\"><tr role=\"row\">"
            "<th scope=\"col\" role=\"columnheader\">What</th><th scope=\"col\" "
            "role=\"columnheader\">How many</th><th scope=\"col\" role=\"columnheader\">What it "
            "means</th></tr></thead>\n<tbody role=\"rowgroup\">\n",
            title);
}

static uint64_t count_alarms(const serve_request *r)
{
    const serve_collections *all = &r->set->collections;
    uint64_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        for (int s = 0; s < SERVE_WATCHED; s++)
            for (int c = 0; c < AGG_ALARM_CODES; c++)
                n += atomic_load(&all->list[i].live->alarms[s][c]) == AGG_ALARM_RAISED;
    return n;
}

static uint64_t count_failing(const serve_request *r)
{
    const serve_collections *all = &r->set->collections;
    uint64_t n = 0;
    for (size_t i = 0; i < all->n; i++) n += atomic_load(&all->list[i].live->is_fold_failing);
    return n;
}

static void put_disk(FILE *stream, const serve_request *r)
{
    struct statvfs disk;
    if (statvfs(r->set->config.store, &disk) != 0) {
        put_row(stream, "Disk free", "unknown", "The store's disk could not be asked.", true);
        return;
    }
    double free_mb = (double)disk.f_bavail * (double)disk.f_frsize / 1e6;
    char figure[64];
    snprintf(figure, sizeof figure, "%s MB", agg_grouped(free_mb, 0).text);
    put_row(stream, "Disk free", figure,
            "Room that the store's disk has left. Without any, batches are answered 503 and wait "
            "at the edge.",
            (double)disk.f_bavail < 0.05 * (double)disk.f_blocks);
}

static int64_t next_tick(const serve_request *r, int64_t now)
{
    const serve_collections *all = &r->set->collections;
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < all->n; i++) {
        int64_t tick = agg_tick_after(now, all->list[i].tick_s);
        if (tick < next) next = tick;
    }
    return next;
}

static void put_state(FILE *stream, const serve_request *r)
{
    int64_t now = (int64_t)time(NULL);
    serve_reloads reloads = serve_sets_reloads(r->state->parts.sets);
    uint64_t alarms = count_alarms(r), failing = count_failing(r);
    bool is_damaged = agg_watch_is_damaged(r->state->parts.watch);
    char text[SERVE_PAGE_TIME_MAX], meaning[160];
    open_section(stream, "State");
    open_table(stream, "State");
    put_row(stream, "Store", is_damaged ? "damaged" : "sound",
            "What the last look for damage found.", is_damaged);
    put_row(stream, "Failing folds", agg_whole(failing).text,
            "Collections whose last fold failed; the server's standard error says why.",
            failing > 0);
    put_row(stream, "Alarms", agg_whole(alarms).text,
            "Tests of closed blocks that found what honest devices would not bring about. Results "
            "and /metrics name them.",
            alarms > 0);
    put_disk(stream, r);
    serve_page_minute(text, now);
    put_row(stream, "Clock", text, "The server's own. Compare it: blocks close by it.", false);
    if (r->set->collections.n > 0) {
        serve_page_minute(text, next_tick(r, now));
        put_row(stream, "Next tick", text, "The soonest of all collections.", false);
    }
    serve_page_minute(text, reloads.since_s);
    snprintf(
        meaning, sizeof meaning,
        "When it was loaded. Reloads since the start: %" PRIu64 " taken, %" PRIu64 " refused.%s",
        reloads.taken, reloads.refused,
        reloads.is_refused ? " The last one was refused: standard error names the field." : "");
    put_row(stream, "Configuration", text, meaning, reloads.is_refused);
    put_row(stream, "Lines of the audit log",
            agg_whole(agg_audit_log_lines(r->state->parts.audit)).text,
            "Keep this number elsewhere: missing lines show in it.", false);
    fputs("</tbody></table></section>\n", stream);
}

void operations_flow_put(FILE *stream, const serve_request *r, const agg_store_stats *stats)
{
    step steps[STEPS];
    sum_up(steps, r, stats);
    open_section(stream, "The way of reports");
    fputs("<figure>", stream);
    put_wide(stream, steps);
    put_narrow(stream, steps);
    fputs("</figure>\n", stream);
    open_table(stream, "The way of reports");
    for (int i = 0; i < STEPS; i++)
        put_row(stream, steps[i].name, agg_whole(steps[i].n).text, steps[i].meaning,
                steps[i].is_bad);
    fputs("</tbody></table></section>\n", stream);
    put_state(stream, r);
}
