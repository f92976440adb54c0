// SPDX-License-Identifier: Apache-2.0
// Streams of batches and NDJSON reports; see reader.h.
//
// Where there are threads, and all is in memory, they share a few MiB at a time: each reads the
// reports of its share of lines up to the first that is not, byte for byte, as the recipe's reports
// are (report_json.h), or checks its share of batches. What comes of it is given out in order, and
// the lines that were left are read one by one, as those of a pipe are. Where order does not matter
// a thread gives out itself what it has just checked and still has near, then takes the next share,
// and threads wait for each other less often.
#include "reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "batch.h"
#include "read_window.h"
#include "report_json.h"

#define RUN_MAX 4096u // records of NDJSON lines given to the sink at once by one thread
#define SHARED_BYTES ((size_t)12 << 20) // that threads share
#define GROUP_BYTES_MORE                                                                           \
    ((size_t)8 << 20) // the same, of batches that are so large that each thread would get none
#define SHARE_BYTES_MIN ((size_t)1 << 20) // of each
#define SHARE_BYTES_LAST                                                                           \
    ((size_t)1 << 19) // of lines that threads take one after another, when few are left

typedef struct reading {
    agg_read_count *count;
    agg_error *error;
    const agg_reader *reader;
    const char *name;
    agg_share share;          // NULL: runs are given out in order
    uint32_t span;            // records between which threads come together
    agg_lock guard;           // of what threads take one after another; there if `share` is
    unsigned n_threads;       // 1 where not all is in memory
    uint64_t n_batches, line; // of this stream, that were taken
    agg_read_window window;
} reading;

static size_t available(const reading *r)
{
    return agg_read_window_has(&r->window);
}

static agg_err fill(reading *r, size_t needed)
{
    uint64_t before = r->count->bytes;
    agg_err err = agg_read_window_fill(&r->window, r->error, &r->count->bytes, needed);
    if (err == AGG_ERR_IO) agg_error_prefix(r->error, "%s", r->name);
    if (r->reader->progress != NULL && r->count->bytes > before)
        r->reader->progress(r->reader->progress_context, r->count->bytes);
    return err;
}

// Lets go of what the window's start has passed.
static void pass(reading *r)
{
    uint64_t before = r->count->bytes;
    agg_read_window_pass(&r->window, &r->count->bytes);
    if (r->reader->progress != NULL && r->count->bytes > before)
        r->reader->progress(r->reader->progress_context, r->count->bytes);
}

// Gives runs out, the records of what the window's start has just passed.
static agg_err give(reading *r, const agg_run *runs, uint32_t n_runs)
{
    agg_err err =
        n_runs > 0 ? r->reader->sink(r->reader->sink_context, r->error, runs, n_runs) : SHOAL_OK;
    for (uint32_t i = 0; err == SHOAL_OK && i < n_runs; i++) r->count->records += runs[i].count;
    pass(r);
    return err;
}

// Tells the sink that the threads which gave out runs have come together.
static agg_err come_together(reading *r)
{
    const agg_run none = {NULL, NULL, 0};
    return r->reader->sink(r->reader->sink_context, r->error, &none, 0);
}

// What threads take one after another, and the first failure of giving it out.
typedef struct queue {
    reading *r;
    uint32_t n, next;
    uint32_t most; // that are taken at once
    agg_err err;
    agg_error error;
} queue;

// Takes the next, several at once as long as there are many: fewer and fewer, so that the threads
// end together.
//   *first, *end: what was taken
// Returns: 0 where there is none, or no use in one.
static int take_next(uint32_t *first, uint32_t *end, queue *q)
{
    agg_lock_take(&q->r->guard);
    uint32_t left = q->err == SHOAL_OK ? q->n - q->next : 0, some = left / 2 / q->r->n_threads;
    if (some > q->most) some = q->most;
    *first = q->next;
    q->next += some > 1 ? some : left > 0 ? 1 : 0;
    *end = q->next;
    agg_lock_leave(&q->r->guard);
    return *first < *end;
}

// Makes it the last that was taken.
static void stop_queue(queue *q)
{
    agg_lock_take(&q->r->guard);
    q->n = q->next;
    agg_lock_leave(&q->r->guard);
}

static agg_err give_share(queue *q, unsigned part, const agg_run *run)
{
    agg_error error = {SHOAL_OK, 0, ""};
    agg_err err = q->r->share(q->r->reader->sink_context, &error, part, run);
    if (err == SHOAL_OK) return SHOAL_OK;
    agg_lock_take(&q->r->guard);
    if (q->err == SHOAL_OK) q->error = error;
    if (q->err == SHOAL_OK) q->err = err;
    agg_lock_leave(&q->r->guard);
    return err;
}

static agg_err run_queue(queue *q, unsigned n_threads, agg_work work, void *context)
{
    agg_parallel(n_threads < q->n ? n_threads : q->n, work, context);
    if (q->err != SHOAL_OK) *q->r->error = q->error;
    return q->err;
}

static size_t share_bytes(unsigned n_threads)
{
    size_t bytes = SHARED_BYTES / n_threads;
    return bytes > SHARE_BYTES_MIN ? bytes : SHARE_BYTES_MIN;
}

// ---- batches ----

static agg_err batch_failed(reading *r, agg_err err, uint32_t bad)
{
    char detail[32] = "";
    int exit_code = err == SHOAL_ERR_RECIPE_HASH ? AGG_EXIT_RUNTIME : AGG_EXIT_IO;
    if (bad != UINT32_MAX) snprintf(detail, sizeof detail, "record %u: ", bad + 1);
    return agg_fail(r->error, err, exit_code, "%s: batch %llu: %s%s", r->name,
                    (unsigned long long)(r->n_batches + 1), detail, shoal_err_text(err));
}

// A batch that is whole, and what checking it came to.
typedef struct opened {
    const uint8_t *bytes;
    shoal_batch batch;
    agg_err err;
    uint32_t bad;
} opened;

static void open_batch(opened *o, const shoal_recipe *recipe)
{
    o->bad = UINT32_MAX;
    o->err = shoal_batch_open(&o->batch, o->bytes, (size_t)o->batch.size, recipe, &o->bad);
}

// Passes the batches before the first that is refused, gives them out unless threads did, and tells
// of that one.
static agg_err give_batches(reading *r, const opened *batches, uint32_t n, int were_shared)
{
    agg_run runs[AGG_RUNS_MAX] = {{NULL, NULL, 0}};
    uint32_t n_good = 0;
    for (; n_good < n && batches[n_good].err == SHOAL_OK; n_good++) {
        const opened *o = &batches[n_good];
        runs[n_good] = (agg_run){o->batch.id, o->bytes + SHOAL_BATCH_HEADER, o->batch.count};
        r->window.start += (size_t)o->batch.size;
        if (were_shared) r->count->records += o->batch.count;
    }
    agg_err err = give(r, runs, were_shared ? 0 : n_good);
    if (err != SHOAL_OK) return err;
    r->n_batches += n_good;
    r->count->batches += n_good;
    return n_good < n ? batch_failed(r, batches[n_good].err, batches[n_good].bad) : SHOAL_OK;
}

static agg_err take_batch(reading *r)
{
    opened o;
    agg_err err = shoal_batch_peek(&o.batch, r->window.bytes + r->window.start, available(r));
    if (err != SHOAL_OK) return batch_failed(r, err, UINT32_MAX);
    err = fill(r, (size_t)o.batch.size);
    if (err != SHOAL_OK) return err;
    if (available(r) < o.batch.size) return batch_failed(r, SHOAL_ERR_TRUNCATED, UINT32_MAX);
    o.bytes = r->window.bytes + r->window.start;
    open_batch(&o, &r->reader->recipe->recipe);
    return give_batches(r, &o, 1, 0);
}

typedef struct batch_group {
    const shoal_recipe *recipe;
    opened batches[AGG_RUNS_MAX];
    uint32_t n;
    queue queue; // of them, where threads give them out
} batch_group;

static void open_part(void *context, unsigned part, unsigned n_parts)
{
    batch_group *group = context;
    for (uint32_t i = part; i < group->n; i += n_parts)
        open_batch(&group->batches[i], group->recipe);
}

// Opens batches and gives them out, up to the first that is refused: all before it were taken
// earlier.
static void share_part(void *context, unsigned part, unsigned n_parts)
{
    batch_group *group = context;
    const agg_read_window *w = &group->queue.r->window;
    (void)n_parts;
    for (uint32_t first, end; take_next(&first, &end, &group->queue);) {
        const opened *last = &group->batches[end - 1];
        for (opened *o = &group->batches[first]; o <= last; o++) {
            const agg_run run = {o->batch.id, o->bytes + SHOAL_BATCH_HEADER, o->batch.count};
            open_batch(o, group->recipe);
            if (o->err != SHOAL_OK) stop_queue(&group->queue);
            if (o->err != SHOAL_OK || give_share(&group->queue, part, &run) != SHOAL_OK) return;
        }
        // Dropping interrupts the other threads: seldom, then.
        agg_mapped_file_drop(&w->mapped, (size_t)(group->batches[first].bytes - w->bytes),
                             (size_t)(last->bytes - w->bytes) + (size_t)last->batch.size);
    }
}

// Finds the next batches that are whole, for the threads to share: as much as they share of lines,
// one each if those are not too large. Where a thread has one at a time it may be many of such a
// size.
static void gather_batches(batch_group *group, const reading *r)
{
    size_t taken = 0, enough = share_bytes(r->n_threads) * r->n_threads,
           most = enough + GROUP_BYTES_MORE;
    uint64_t records = 0;
    for (group->n = 0; group->n < AGG_RUNS_MAX; group->n++) {
        int is_enough = r->share != NULL ? records >= r->span : taken >= enough;
        if (is_enough && group->n % r->n_threads == 0) return;
        opened *o = &group->batches[group->n];
        o->bytes = r->window.bytes + r->window.start + taken;
        agg_err err = shoal_batch_peek(&o->batch, o->bytes, available(r) - taken);
        if (err != SHOAL_OK || o->batch.size > available(r) - taken) return;
        if (r->share != NULL ? o->batch.size > most / r->n_threads
                             : group->n > 0 && taken + o->batch.size > most)
            return;
        taken += (size_t)o->batch.size;
        records += o->batch.count;
    }
}

static agg_err take_batches(reading *r)
{
    batch_group group = {.recipe = &r->reader->recipe->recipe, .queue = {.r = r}};
    gather_batches(&group, r);
    if (group.n < 2) return take_batch(r);
    if (r->share == NULL) {
        agg_parallel(r->n_threads < group.n ? r->n_threads : group.n, open_part, &group);
        return give_batches(r, group.batches, group.n, 0);
    }
    group.queue.n = group.n;
    group.queue.most = (uint32_t)(share_bytes(r->n_threads) / group.batches[0].batch.size);
    agg_err err = run_queue(&group.queue, r->n_threads, share_part, &group);
    if (err == SHOAL_OK) err = give_batches(r, group.batches, group.queue.n, 1);
    return err == SHOAL_OK ? come_together(r) : err;
}

static agg_err read_batches(reading *r)
{
    for (;;) {
        agg_err err = fill(r, SHOAL_BATCH_HEADER);
        if (err != SHOAL_OK || available(r) == 0) return err;
        err = r->n_threads > 1 ? take_batches(r) : take_batch(r);
        if (err != SHOAL_OK) return err;
    }
}

// ---- lines ----

// Records of lines that were taken one after another, on their way out.
typedef struct record_run {
    agg_report_frame frame;
    uint8_t *records;
    uint32_t count;
} record_run;

static agg_err give_run(reading *r, record_run *run)
{
    const agg_run one = {NULL, run->records, run->count};
    agg_err err = give(r, &one, run->count > 0 ? 1 : 0);
    run->count = 0;
    return err;
}

// Reads lines as long as they are the recipe's own reports. *at moves to the first that is not, or
// does not end before `end`. Returns: how many; `room` at most.
static uint32_t read_framed(uint8_t *records, uint32_t room, const agg_report_frame *frame,
                            const uint8_t **at, const uint8_t *end)
{
    uint32_t count = 0;
    size_t size = frame->text.recipe->record_size;
    if (frame->size >= AGG_REPORT_LINE_MAX) return 0; // no line may be that long
    while (count < room && (size_t)(end - *at) > frame->size) {
        const uint8_t *after = *at + frame->size;
        if (*after == '\r' && after + 1 < end) after++;
        if (*after != '\n' || !agg_report_read(records + count * size, frame, (const char *)*at))
            break;
        *at = after + 1;
        count++;
    }
    return count;
}

static void reject(reading *r, agg_error *why)
{
    char text[sizeof why->text];
    r->count->rejected++;
    if (r->reader->talk == NULL || r->count->rejected > AGG_LOG_LINES_MAX) return;
    agg_error_prefix(why, "%s: line %llu", r->name, (unsigned long long)r->line);
    memcpy(text, why->text, sizeof text);
    r->reader->talk(r->reader->talk_context, text);
}

static agg_err take_line(reading *r, record_run *run, const char *line, size_t len)
{
    agg_error why;
    const agg_recipe *recipe = r->reader->recipe;
    if (len > 0 && line[len - 1] == '\r') len--;
    if (len == 0) return SHOAL_OK;
    r->count->lines++;
    uint8_t *record = run->records + (size_t)run->count * recipe->recipe.record_size;
    if (agg_report_parse(record, &why, recipe, line, len) != SHOAL_OK)
        reject(r, &why);
    else
        run->count++;
    return run->count == RUN_MAX ? give_run(r, run) : SHOAL_OK;
}

// Finds the next line; the last one may lack its newline. Returns 0 when there is none.
static int next_line(const reading *r, size_t *len, int *is_whole)
{
    const uint8_t *from = r->window.bytes + r->window.start;
    const uint8_t *newline = available(r) > 0 ? memchr(from, '\n', available(r)) : NULL;
    *is_whole = newline != NULL || r->window.is_over;
    *len = newline != NULL ? (size_t)(newline - from) : available(r);
    return available(r) > 0;
}

static void pass_line(reading *r, size_t len)
{
    r->window.start += len + (len < available(r) ? 1 : 0);
}

// Drops an over-long line up to its newline, without holding it.
static agg_err skip_line(reading *r)
{
    size_t len = 0;
    int is_whole = 0;
    for (;;) {
        r->window.start = r->window.end;
        agg_err err = fill(r, 1);
        if (err != SHOAL_OK || !next_line(r, &len, &is_whole)) return err;
        if (!is_whole) continue;
        pass_line(r, len);
        return SHOAL_OK;
    }
}

static agg_err refuse_long_line(reading *r, size_t len, int is_whole)
{
    agg_error why;
    r->count->lines++;
    agg_fail(&why, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME, "is longer than %zu bytes",
             AGG_REPORT_LINE_MAX);
    reject(r, &why);
    if (!is_whole) return skip_line(r);
    pass_line(r, len);
    return SHOAL_OK;
}

// Takes one line, whatever it holds. *is_there: whether there was one.
static agg_err take_any_line(reading *r, record_run *run, int *is_there)
{
    size_t len = 0;
    int is_whole = 0;
    agg_err err = SHOAL_OK;
    while (err == SHOAL_OK && (!next_line(r, &len, &is_whole) || !is_whole) && !r->window.is_over &&
           available(r) <= AGG_REPORT_LINE_MAX)
        err = fill(r, available(r) + 1);
    if (err != SHOAL_OK) return err;
    *is_there = next_line(r, &len, &is_whole);
    if (!*is_there) return SHOAL_OK;
    r->line++;
    if (!is_whole || len > AGG_REPORT_LINE_MAX) return refuse_long_line(r, len, is_whole);
    err = take_line(r, run, (const char *)r->window.bytes + r->window.start, len);
    pass_line(r, len);
    return err;
}

// Takes the lines that begin before `limit` (of the window; SIZE_MAX: all), and gives their records
// out.
static agg_err take_lines(reading *r, record_run *run, size_t limit)
{
    agg_read_window *w = &r->window;
    size_t size = run->frame.text.recipe->record_size;
    for (int is_there = 1; is_there && w->start < limit;) {
        const uint8_t *from = w->bytes + w->start, *at = from,
                      *end = w->bytes + (limit < w->end ? limit : w->end);
        uint32_t n = read_framed(run->records + run->count * size, RUN_MAX - run->count,
                                 &run->frame, &at, end);
        run->count += n;
        r->count->lines += n;
        r->line += n;
        w->start += (size_t)(at - from);
        agg_err err = SHOAL_OK;
        if (run->count == RUN_MAX)
            err = give_run(r, run);
        else if (w->start < limit)
            err = take_any_line(r, run, &is_there);
        if (err != SHOAL_OK) return err;
    }
    return give_run(r, run);
}

// Lines [start, end) of the window, of which a thread took those before `stop`.
typedef struct line_share {
    size_t start, stop, end;
    uint8_t *records;
    uint32_t count;
} line_share;

typedef struct line_shares {
    const agg_report_frame *frame;
    const agg_read_window *window;
    uint32_t room; // records of a share
    unsigned n;
    line_share at[AGG_THREADS_MAX];
    uint8_t *records; // `room` for each thread
    queue queue;      // of shares, where threads give them out
} line_shares;

static void read_share(line_shares *shares, line_share *share, uint8_t *records)
{
    const uint8_t *bytes = shares->window->bytes, *at = bytes + share->start;
    share->records = records;
    share->count = read_framed(records, shares->room, shares->frame, &at, bytes + share->end);
    share->stop = (size_t)(at - bytes);
    agg_mapped_file_drop(&shares->window->mapped, share->start,
                         share->stop); // what would take one thread long
}

static uint8_t *records_of(const line_shares *shares, unsigned part)
{
    return shares->records + (size_t)part * shares->room * shares->frame->text.recipe->record_size;
}

static void read_own(void *context, unsigned part, unsigned n_parts)
{
    line_shares *shares = context;
    (void)n_parts;
    read_share(shares, &shares->at[part], records_of(shares, part));
}

// Reads shares and gives them out.
static void read_next(void *context, unsigned part, unsigned n_parts)
{
    line_shares *shares = context;
    (void)n_parts;
    for (uint32_t i, end; take_next(&i, &end, &shares->queue);) {
        read_share(shares, &shares->at[i], records_of(shares, part));
        const agg_run run = {NULL, shares->at[i].records, shares->at[i].count};
        if (run.count > 0 && give_share(&shares->queue, part, &run) != SHOAL_OK) return;
    }
}

// Returns: where the next share begins.
static size_t cut_share(line_shares *shares, const agg_read_window *w, size_t at, size_t most)
{
    line_share *share = &shares->at[shares->n];
    const uint8_t *newline =
        w->end - at > most ? memchr(w->bytes + at + most, '\n', w->end - at - most) : NULL;
    share->start = at;
    share->end = newline != NULL ? (size_t)(newline - w->bytes) + 1 : w->end;
    return share->end;
}

// Cuts what comes next where lines end.
static void cut_shares(line_shares *shares, const agg_read_window *w, unsigned n, size_t most)
{
    size_t at = w->start;
    for (shares->n = 0; shares->n < n && at < w->end; shares->n++)
        at = cut_share(shares, w, at, most);
}

// The same of about `left` bytes for the threads to take one after another: less and less each, so
// that they end together.
static void cut_span(line_shares *shares, const agg_read_window *w, unsigned n_threads, size_t left)
{
    size_t at = w->start, end = w->end - at < left ? w->end : at + left,
           most = share_bytes(n_threads);
    for (shares->n = 0; shares->n < AGG_THREADS_MAX && at < end;) {
        size_t some = (end - at) / 2 / n_threads;
        if (some < SHARE_BYTES_LAST) some = SHARE_BYTES_LAST;
        at = cut_share(shares, w, at, some < most ? some : most);
        shares->n++;
    }
}

// Gives out what the threads read, in order, unless they did; what they left of a share is read
// first.
static agg_err give_shares(reading *r, record_run *rest, const line_shares *shares)
{
    agg_run runs[AGG_RUNS_MAX];
    uint32_t n_runs = 0;
    for (unsigned i = 0; i < shares->n; i++) {
        const line_share *share = &shares->at[i];
        r->window.start = share->stop;
        r->line += share->count;
        r->count->lines += share->count;
        if (r->share != NULL)
            r->count->records += share->count;
        else if (share->count > 0)
            runs[n_runs++] = (agg_run){NULL, share->records, share->count};
        if (share->stop == share->end && i + 1 < shares->n && n_runs < AGG_RUNS_MAX) continue;
        agg_err err = give(r, runs, n_runs);
        if (err == SHOAL_OK) err = take_lines(r, rest, share->end);
        if (err != SHOAL_OK) return err;
        n_runs = 0;
    }
    return SHOAL_OK;
}

static agg_err take_shares(reading *r, record_run *rest, line_shares *shares)
{
    if (r->share == NULL) {
        cut_shares(shares, &r->window, r->n_threads, share_bytes(r->n_threads));
        agg_parallel(shares->n, read_own, shares);
        return give_shares(r, rest, shares);
    }
    size_t line = rest->frame.size + 1;
    cut_span(shares, &r->window, r->n_threads,
             r->span < SIZE_MAX / line ? r->span * line : SIZE_MAX);
    shares->queue = (queue){.r = r, .n = shares->n, .most = 1};
    agg_err err = run_queue(&shares->queue, r->n_threads, read_next, shares);
    if (err == SHOAL_OK) err = give_shares(r, rest, shares);
    return err == SHOAL_OK ? come_together(r) : err;
}

static agg_err take_shared_lines(reading *r, record_run *rest)
{
    line_shares shares = {.frame = &rest->frame, .window = &r->window};
    shares.room = (uint32_t)(share_bytes(r->n_threads) / (rest->frame.size + 1)) + 1;
    shares.records = agg_alloc(r->error, r->n_threads,
                               (size_t)rest->frame.text.recipe->record_size * shares.room);
    agg_err err = shares.records != NULL ? SHOAL_OK : AGG_ERR_MEMORY;
    while (err == SHOAL_OK && available(r) > 0) err = take_shares(r, rest, &shares);
    free(shares.records);
    return err;
}

static agg_err read_lines(reading *r)
{
    record_run run;
    run.count = 0;
    run.records = agg_alloc(r->error, RUN_MAX, r->reader->recipe->recipe.record_size);
    if (run.records == NULL) return AGG_ERR_MEMORY;
    agg_report_frame_init(&run.frame, r->reader->recipe, agg_cpu_chosen());
    int is_shared = r->n_threads > 1 && available(r) > SHARE_BYTES_MIN;
    agg_err err = is_shared ? take_shared_lines(r, &run) : take_lines(r, &run, SIZE_MAX);
    free(run.records);
    return err;
}

// ---- streams ----

static agg_err read_window(agg_read_count *count, agg_error *error, const agg_reader *reader,
                           agg_share share, uint32_t span, const char *name, agg_read_window window)
{
    shoal_batch head;
    unsigned n_threads = reader->n_threads < AGG_THREADS_MAX ? reader->n_threads : AGG_THREADS_MAX;
    reading r = {.count = count,
                 .error = error,
                 .reader = reader,
                 .name = name,
                 .n_threads = 1,
                 .window = window};
    if (window.stream == NULL && n_threads > 1) r.n_threads = n_threads;
    if (r.n_threads > 1 && share != NULL && agg_lock_init(&r.guard)) r.share = share;
    r.span = span > 0 ? span : 1;
    agg_err err = fill(&r, SHOAL_BATCH_HEADER);
    if (err == SHOAL_OK && available(&r) > 0) {
        agg_err kind = shoal_batch_peek(&head, r.window.bytes, available(&r));
        err = kind == SHOAL_ERR_MAGIC ? read_lines(&r) : read_batches(&r);
    }
    agg_read_window_release(&r.window);
    if (r.share != NULL) agg_lock_release(&r.guard);
    return err;
}

// What gather_batches takes of batches of one size.
static uint64_t group_bytes(uint64_t batch_bytes, unsigned n_threads)
{
    uint64_t enough = (uint64_t)share_bytes(n_threads) * n_threads,
             n = (enough - 1) / batch_bytes + 1;
    n = (n + n_threads - 1) / n_threads * n_threads;
    if (n * batch_bytes > enough + GROUP_BYTES_MORE) n = (enough + GROUP_BYTES_MORE) / batch_bytes;
    return n > 0 ? n * batch_bytes : batch_bytes;
}

uint64_t agg_reader_memory(const agg_recipe *recipe, unsigned n_threads, uint64_t batch_bytes)
{
    uint64_t size = recipe->recipe.record_size, share = n_threads > 1 ? share_bytes(n_threads) : 0;
    if (batch_bytes > 0)
        return SHARE_BYTES_MIN +
               (n_threads > 1 ? group_bytes(batch_bytes, n_threads) : batch_bytes);
    uint64_t room = share / (agg_report_size(recipe) + 1) + 1;
    return SHARE_BYTES_MIN + n_threads * share + (RUN_MAX + n_threads * room) * size;
}

agg_err agg_reader_stream(agg_read_count *count, agg_error *error, const agg_reader *reader,
                          const char *name, FILE *stream)
{
    agg_read_window window;
    agg_read_window_open(&window, stream, 0);
    return read_window(count, error, reader, NULL, 0, name, window);
}

agg_err agg_reader_bytes(agg_read_count *count, agg_error *error, const agg_reader *reader,
                         const char *name, const uint8_t *bytes, size_t len)
{
    agg_read_window window;
    agg_read_window_open_bytes(&window, bytes, len);
    return read_window(count, error, reader, NULL, 0, name, window);
}

agg_err agg_reader_file(agg_read_count *count, agg_error *error, const agg_reader *reader,
                        const char *path)
{
    return agg_reader_file_shared(count, error, reader, NULL, 0, path);
}

agg_err agg_reader_file_shared(agg_read_count *count, agg_error *error, const agg_reader *reader,
                               agg_share share, uint32_t span, const char *path)
{
    agg_read_window window;
    if (strcmp(path, "-") == 0)
        return agg_reader_stream(count, error, reader, "standard input", stdin);
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot open: %s", path,
                        strerror(errno));
    agg_read_window_open(&window, stream, 1);
    agg_err err = read_window(count, error, reader, share, span, path, window);
    fclose(stream);
    return err;
}
