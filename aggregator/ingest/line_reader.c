// SPDX-License-Identifier: Apache-2.0
// NDJSON reports, line by line; see line_reader.h.
#include "line_reader.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "recipe.h"

agg_err agg_line_reader_init(agg_line_reader *lines, agg_reading *r)
{
    lines->r = r;
    lines->count = 0;
    lines->records = agg_alloc(r->error, AGG_LINE_RUN_MAX, r->reader->recipe->recipe->record_size);
    if (lines->records == NULL) return AGG_ERR_MEMORY;
    agg_report_frame_init(&lines->frame, r->reader->recipe, agg_cpu_chosen());
    return SHOAL_OK;
}

void agg_line_reader_release(agg_line_reader *lines)
{
    free(lines->records);
}

// Gives out the records that were read.
static agg_err give_run(agg_line_reader *lines)
{
    const agg_run one = {NULL, lines->records, lines->count, 0};
    agg_err err = agg_reading_give(lines->r, &one, lines->count > 0 ? 1 : 0);
    lines->count = 0;
    return err;
}

uint32_t agg_line_reader_framed(uint8_t *records, uint32_t room, const agg_report_frame *frame,
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

static void reject(agg_reading *r, agg_error *why)
{
    char text[sizeof why->text];
    r->count->rejected++;
    if (r->reader->log == NULL || r->count->rejected > AGG_LOG_LINES_MAX) return;
    agg_error_prefix(why, "%s: line %llu", r->name, (unsigned long long)r->line);
    memcpy(text, why->text, sizeof text);
    r->reader->log(r->reader->log_context, text);
}

static agg_err take_line(agg_line_reader *lines, const char *line, size_t len)
{
    agg_reading *r = lines->r;
    agg_error why;
    const agg_recipe *recipe = r->reader->recipe;
    if (len > 0 && line[len - 1] == '\r') len--;
    if (len == 0) return SHOAL_OK;
    r->count->lines++;
    uint8_t *record = lines->records + (size_t)lines->count * recipe->recipe->record_size;
    agg_err err = agg_report_parse(record, &why, recipe, line, len);
    if (err == AGG_ERR_MEMORY) // says nothing about the line
        return agg_fail(r->error, err, AGG_EXIT_RUNTIME, "%s: %s", r->name, why.text);
    if (err != SHOAL_OK)
        reject(r, &why);
    else
        lines->count++;
    return lines->count == AGG_LINE_RUN_MAX ? give_run(lines) : SHOAL_OK;
}

// Finds the next line; the last one may lack its newline. Returns: whether there is one.
static bool next_line(const agg_reading *r, size_t *len, bool *is_whole)
{
    const uint8_t *from = r->window.bytes + r->window.start;
    const uint8_t *newline = agg_reading_has(r) > 0 ? memchr(from, '\n', agg_reading_has(r)) : NULL;
    *is_whole = newline != NULL || r->window.is_over;
    *len = newline != NULL ? (size_t)(newline - from) : agg_reading_has(r);
    return agg_reading_has(r) > 0;
}

static void pass_line(agg_reading *r, size_t len)
{
    r->window.start += len + (len < agg_reading_has(r) ? 1 : 0);
}

// Skips an over-long line up to its newline, without storing it.
static agg_err skip_line(agg_reading *r)
{
    size_t len = 0;
    bool is_whole = false;
    for (;;) {
        r->window.start = r->window.end;
        agg_err err = agg_reading_fill(r, 1);
        if (err != SHOAL_OK || !next_line(r, &len, &is_whole)) return err;
        if (!is_whole) continue;
        pass_line(r, len);
        return SHOAL_OK;
    }
}

static agg_err refuse_long_line(agg_reading *r, size_t len, bool is_whole)
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

// Takes one line, of any content. *is_there: whether there was a line.
static agg_err take_any_line(agg_line_reader *lines, bool *is_there)
{
    agg_reading *r = lines->r;
    size_t len = 0;
    bool is_whole = false;
    agg_err err = SHOAL_OK;
    while (err == SHOAL_OK && (!next_line(r, &len, &is_whole) || !is_whole) && !r->window.is_over &&
           agg_reading_has(r) <= AGG_REPORT_LINE_MAX)
        err = agg_reading_fill(r, agg_reading_has(r) + 1);
    if (err != SHOAL_OK) return err;
    *is_there = next_line(r, &len, &is_whole);
    if (!*is_there) return SHOAL_OK;
    r->line++;
    if (!is_whole || len > AGG_REPORT_LINE_MAX) return refuse_long_line(r, len, is_whole);
    err = take_line(lines, (const char *)r->window.bytes + r->window.start, len);
    pass_line(r, len);
    return err;
}

agg_err agg_line_reader_run(agg_line_reader *lines, size_t limit)
{
    agg_reading *r = lines->r;
    agg_read_window *w = &r->window;
    size_t size = lines->frame.text.recipe->record_size;
    for (bool is_there = true; is_there && w->start < limit;) {
        const uint8_t *from = w->bytes + w->start, *at = from,
                      *end = w->bytes + (limit < w->end ? limit : w->end);
        uint32_t n =
            agg_line_reader_framed(lines->records + lines->count * size,
                                   AGG_LINE_RUN_MAX - lines->count, &lines->frame, &at, end);
        lines->count += n;
        r->count->lines += n;
        r->line += n;
        w->start += (size_t)(at - from);
        agg_err err = SHOAL_OK;
        if (lines->count == AGG_LINE_RUN_MAX)
            err = give_run(lines);
        else if (w->start < limit)
            err = take_any_line(lines, &is_there);
        if (err != SHOAL_OK) return err;
    }
    return give_run(lines);
}
