// SPDX-License-Identifier: Apache-2.0
// Opening streams, and choosing among the three readers; see reader.h.
#include "reader.h"

#include <errno.h>
#include <string.h>

#include "batch.h"
#include "batch_reader.h"
#include "call_streams.h"
#include "record.h"
#include "shared_lines.h"

static agg_err read_lines(agg_reading *r)
{
    agg_line_reader lines;
    agg_err err = agg_line_reader_init(&lines, r);
    if (err != SHOAL_OK) return err;
    bool is_shared = r->n_threads > 1 && agg_reading_has(r) > AGG_SHARE_BYTES_MIN;
    err = is_shared ? agg_shared_lines_run(r, &lines) : agg_line_reader_run(&lines, SIZE_MAX);
    agg_line_reader_release(&lines);
    return err;
}

agg_err agg_reader_window(agg_read_count *count, agg_error *error, const agg_reader *reader,
                          const char *name, agg_share share, uint32_t span, agg_read_window *window)
{
    shoal_batch head;
    unsigned n_threads = reader->n_threads < AGG_THREADS_MAX ? reader->n_threads : AGG_THREADS_MAX;
    agg_reading r = {.count = count,
                     .error = error,
                     .reader = reader,
                     .name = name,
                     .n_threads = 1,
                     .window = *window};
    if (window->stream == NULL && n_threads > 1) r.n_threads = n_threads;
    if (r.n_threads > 1 && share != NULL && agg_lock_init(&r.guard)) r.share = share;
    r.span = span > 0 ? span : 1;
    agg_err err = agg_reading_fill(&r, SHOAL_BATCH_HEADER_V1);
    if (err == SHOAL_OK && agg_reading_has(&r) > 0) {
        agg_err kind = shoal_batch_peek(&head, r.window.bytes, agg_reading_has(&r));
        if (kind != SHOAL_ERR_MAGIC)
            err = agg_batch_reader_run(&r);
        else if (r.window.expander == NULL)
            err = read_lines(&r);
        else
            err = agg_fail(error, SHOAL_ERR_TYPE, AGG_EXIT_IO,
                           "%s: holds no batches; only batches may be compressed", name);
    }
    agg_read_window_release(&r.window);
    if (r.share != NULL) agg_lock_release(&r.guard);
    return err;
}

uint64_t agg_reader_memory(const agg_recipe *recipe, unsigned n_threads, uint64_t batch_bytes)
{
    uint64_t share = n_threads > 1 ? agg_share_bytes(n_threads) : 0,
             records = AGG_LINE_RUN_MAX * (uint64_t)shoal_record_size(recipe->recipe);
    if (batch_bytes > 0)
        return AGG_SHARE_BYTES_MIN +
               (n_threads > 1 ? agg_batch_reader_bytes(batch_bytes, n_threads) : batch_bytes);
    if (n_threads > 1) records += agg_shared_lines_memory(recipe, n_threads);
    return AGG_SHARE_BYTES_MIN + n_threads * share + records;
}

agg_err agg_reader_stream(agg_read_count *count, agg_error *error, const agg_reader *reader,
                          const char *name, FILE *stream)
{
    agg_read_window window;
    agg_read_window_open(&window, stream, false);
    return agg_reader_window(count, error, reader, name, NULL, 0, &window);
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
    if (strcmp(path, "-") == 0) {
        FILE *in = agg_in(error);
        return in != NULL ? agg_reader_stream(count, error, reader, "standard input", in)
                          : AGG_ERR_USAGE;
    }
    FILE *stream = fopen(path, "rb");
    if (stream == NULL)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "%s: cannot open: %s", path,
                        strerror(errno));
    agg_read_window_open(&window, stream, true);
    agg_err err = agg_reader_window(count, error, reader, path, share, span, &window);
    fclose(stream);
    return err;
}
