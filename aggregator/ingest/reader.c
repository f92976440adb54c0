// SPDX-License-Identifier: Apache-2.0
// Streams of batches and NDJSON reports; see reader.h.
#include "reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "batch.h"
#include "report_json.h"

#define CHUNK ((size_t)1 << 18)
#define RUN_MAX 4096u // records of NDJSON lines given to the sink at once

// Where bytes come from: a FILE, or memory.
typedef struct source {
    FILE *stream;
    const uint8_t *bytes;
    size_t left;
} source;

// The part of the stream that is in memory: bytes [start, end) of buffer.
typedef struct window {
    source from;
    uint8_t *buffer;
    size_t cap, start, end;
    int is_over;
} window;

typedef struct reading {
    agg_read_count *count;
    agg_error *error;
    const agg_reader *reader;
    const char *name;
    window window;
} reading;

static size_t source_read(source *from, uint8_t *out, size_t len)
{
    if (from->stream != NULL) return fread(out, 1, len, from->stream);
    if (len > from->left) len = from->left;
    if (len > 0) memcpy(out, from->bytes, len);
    from->bytes += len;
    from->left -= len;
    return len;
}

static size_t available(const window *w)
{
    return w->end - w->start;
}

// Reads until the window holds `needed` bytes or the stream is over. Memory grows with what came, not with what was announced.
static shoal_err fill(reading *r, size_t needed)
{
    window *w = &r->window;
    if (available(w) >= needed) return SHOAL_OK;
    if (w->start > 0 && needed > w->cap - w->start) {
        memmove(w->buffer, w->buffer + w->start, w->end - w->start);
        w->end -= w->start;
        w->start = 0;
    }
    while (available(w) < needed && !w->is_over) {
        void *buffer = w->buffer;
        shoal_err err = agg_grow(&buffer, &w->cap, w->end + (w->end == w->cap ? CHUNK : 0), 1, r->error);
        w->buffer = buffer;
        if (err != SHOAL_OK) return err;
        size_t got = source_read(&w->from, w->buffer + w->end, w->cap - w->end);
        w->is_over = got == 0;
        w->end += got;
        r->count->bytes += got;
        if (r->reader->progress != NULL) r->reader->progress(r->reader->progress_context, r->count->bytes);
    }
    if (w->from.stream != NULL && ferror(w->from.stream))
        return agg_fail(r->error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot read: %s", r->name, strerror(errno));
    return SHOAL_OK;
}

static shoal_err batch_failed(reading *r, shoal_err err, uint64_t number, const char *detail)
{
    int exit_code = err == SHOAL_ERR_RECIPE_HASH ? AGG_EXIT_RUNTIME : AGG_EXIT_IO;
    return agg_fail(r->error, err, exit_code, "%s: batch %llu: %s%s", r->name, (unsigned long long)number, detail,
                    shoal_err_text(err));
}

static shoal_err take_batch(reading *r, uint64_t number)
{
    window *w = &r->window;
    shoal_batch batch;
    uint32_t bad = UINT32_MAX;
    char detail[32] = "";
    shoal_err err = shoal_batch_peek(&batch, w->buffer + w->start, available(w));
    if (err != SHOAL_OK) return batch_failed(r, err, number, "");
    size_t size = (size_t)batch.size;
    err = fill(r, size);
    if (err != SHOAL_OK) return err;
    if (available(w) < size) return batch_failed(r, SHOAL_ERR_TRUNCATED, number, "");
    err = shoal_batch_open(&batch, w->buffer + w->start, size, &r->reader->recipe->recipe, &bad);
    if (bad != UINT32_MAX) snprintf(detail, sizeof detail, "record %u: ", bad + 1);
    if (err != SHOAL_OK) return batch_failed(r, err, number, detail);
    err = r->reader->sink(r->reader->sink_context, r->error, batch.id, w->buffer + w->start + SHOAL_BATCH_HEADER,
                          batch.count);
    if (err != SHOAL_OK) return err;
    w->start += size;
    r->count->batches++;
    r->count->records += batch.count;
    return SHOAL_OK;
}

static shoal_err read_batches(reading *r)
{
    for (uint64_t number = 1;; number++) {
        shoal_err err = fill(r, SHOAL_BATCH_HEADER);
        if (err != SHOAL_OK || available(&r->window) == 0) return err;
        err = take_batch(r, number);
        if (err != SHOAL_OK) return err;
    }
}

typedef struct record_run {
    uint8_t *records;
    uint32_t count;
} record_run;

static shoal_err give_run(reading *r, record_run *run)
{
    if (run->count == 0) return SHOAL_OK;
    shoal_err err = r->reader->sink(r->reader->sink_context, r->error, NULL, run->records, run->count);
    r->count->records += err == SHOAL_OK ? run->count : 0;
    run->count = 0;
    return err;
}

static void reject(reading *r, agg_error *why, uint64_t line)
{
    char text[sizeof why->text];
    r->count->rejected++;
    if (r->reader->talk == NULL || r->count->rejected > AGG_TALK_MAX) return;
    agg_error_prefix(why, "%s: line %llu", r->name, (unsigned long long)line);
    memcpy(text, why->text, sizeof text);
    r->reader->talk(r->reader->talk_context, text);
}

static shoal_err take_line(reading *r, record_run *run, const char *line, size_t len, uint64_t number)
{
    agg_error why;
    const agg_recipe *recipe = r->reader->recipe;
    if (len > 0 && line[len - 1] == '\r') len--;
    if (len == 0) return SHOAL_OK;
    r->count->lines++;
    uint8_t *record = run->records + (size_t)run->count * recipe->recipe.record_size;
    if (agg_report_parse(record, &why, recipe, line, len) != SHOAL_OK)
        reject(r, &why, number);
    else
        run->count++;
    return run->count == RUN_MAX ? give_run(r, run) : SHOAL_OK;
}

// Finds the next line; the last one may lack its newline. Returns 0 when there is none.
static int next_line(window *w, size_t *len, int *is_whole)
{
    uint8_t *from = w->buffer + w->start;
    uint8_t *newline = available(w) > 0 ? memchr(from, '\n', available(w)) : NULL;
    *is_whole = newline != NULL || w->is_over;
    *len = newline != NULL ? (size_t)(newline - from) : available(w);
    return available(w) > 0;
}

// Drops an over-long line up to its newline, without holding it.
static shoal_err skip_line(reading *r)
{
    window *w = &r->window;
    size_t len = 0;
    int is_whole = 0;
    for (;;) {
        w->start = w->end;
        shoal_err err = fill(r, 1);
        if (err != SHOAL_OK || !next_line(w, &len, &is_whole)) return err;
        if (!is_whole) continue;
        w->start += len + (len < available(w) ? 1 : 0);
        return SHOAL_OK;
    }
}

static shoal_err read_lines_into(reading *r, record_run *run)
{
    window *w = &r->window;
    size_t len = 0;
    int is_whole = 0;
    for (uint64_t number = 1;; number++) {
        shoal_err err = SHOAL_OK;
        while (err == SHOAL_OK && (!next_line(w, &len, &is_whole) || !is_whole) && !w->is_over &&
               available(w) <= AGG_REPORT_LINE_MAX)
            err = fill(r, available(w) + 1);
        if (err != SHOAL_OK) return err;
        if (!next_line(w, &len, &is_whole)) return give_run(r, run);
        if (!is_whole || len > AGG_REPORT_LINE_MAX) {
            agg_error why;
            r->count->lines++;
            agg_fail(&why, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME, "is longer than %zu bytes", AGG_REPORT_LINE_MAX);
            reject(r, &why, number);
            if (!is_whole) {
                err = skip_line(r);
                if (err != SHOAL_OK) return err;
                continue;
            }
        } else {
            err = take_line(r, run, (const char *)w->buffer + w->start, len, number);
            if (err != SHOAL_OK) return err;
        }
        w->start += len + (len < available(w) ? 1 : 0);
    }
}

static shoal_err read_lines(reading *r)
{
    record_run run = {agg_alloc(r->error, RUN_MAX, r->reader->recipe->recipe.record_size), 0};
    if (run.records == NULL) return AGG_ERR_MEMORY;
    shoal_err err = read_lines_into(r, &run);
    free(run.records);
    return err;
}

static shoal_err read_source(agg_read_count *count, agg_error *error, const agg_reader *reader, const char *name,
                             source from)
{
    shoal_batch head;
    reading r = {count, error, reader, name, {from, NULL, 0, 0, 0, 0}};
    shoal_err err = fill(&r, SHOAL_BATCH_HEADER);
    if (err == SHOAL_OK && available(&r.window) > 0) {
        shoal_err kind = shoal_batch_peek(&head, r.window.buffer, available(&r.window));
        err = kind == SHOAL_ERR_MAGIC ? read_lines(&r) : read_batches(&r);
    }
    free(r.window.buffer);
    return err;
}

shoal_err agg_reader_stream(agg_read_count *count, agg_error *error, const agg_reader *reader, const char *name,
                            FILE *stream)
{
    return read_source(count, error, reader, name, (source){stream, NULL, 0});
}

shoal_err agg_reader_bytes(agg_read_count *count, agg_error *error, const agg_reader *reader, const char *name,
                           const uint8_t *bytes, size_t len)
{
    return read_source(count, error, reader, name, (source){NULL, bytes, len});
}

shoal_err agg_reader_file(agg_read_count *count, agg_error *error, const agg_reader *reader, const char *path)
{
    if (strcmp(path, "-") == 0) return agg_reader_stream(count, error, reader, "standard input", stdin);
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot open: %s", path, strerror(errno));
    shoal_err err = agg_reader_stream(count, error, reader, path, stream);
    fclose(stream);
    return err;
}
