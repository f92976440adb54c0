// SPDX-License-Identifier: Apache-2.0
// Tables as Arrow; see arrow_table.h. nanoarrow makes the bytes.
#include "arrow_table.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "print_text.h"

#ifndef SHOAL_WITH_ARROW

agg_err agg_arrow_print(FILE *stream, agg_error *error, const agg_table *table)
{
    (void)stream;
    (void)table;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "this build of shoal writes no Arrow: use --format json or csv");
}

#else

#include <nanoarrow/nanoarrow.h>
#include <nanoarrow/nanoarrow_ipc.h>

// What a call holds. Members whose `release` is NULL are empty.
typedef struct arrow_writing {
    FILE *stream;
    const agg_table *table;
    struct ArrowSchema schema;
    struct ArrowArray array;
    struct ArrowArrayView view;
    struct ArrowIpcWriter writer;
    struct ArrowBuffer text; // of one cell
    bool has_failed;         // the stream, with errno in `reason`
    bool is_too_large;       // a whole number
    int reason;
} arrow_writing;

static agg_err fail(agg_error *error, const arrow_writing *w, ArrowErrorCode code)
{
    if (w->has_failed)
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the result: %s",
                        strerror(w->reason));
    if (w->is_too_large)
        return agg_fail(error, SHOAL_ERR_OVERFLOW, AGG_EXIT_RUNTIME,
                        "a number of the result is 2^63 or more: use --format json");
    if (code == ENOMEM) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_RUNTIME, "cannot make Arrow of the result: %s",
                    strerror(code));
}

// ---- the stream ----

static ArrowErrorCode write_bytes(struct ArrowIpcOutputStream *out, const void *bytes, int64_t len,
                                  int64_t *written, struct ArrowError *why)
{
    arrow_writing *w = out->private_data;
    (void)why;
    *written = (int64_t)fwrite(bytes, 1, (size_t)len, w->stream);
    if (*written == len) return NANOARROW_OK;
    w->has_failed = true;
    w->reason = errno;
    return EIO;
}

static void release_output(struct ArrowIpcOutputStream *out)
{
    out->release = NULL;
}

// ---- the schema ----

static enum ArrowType type_of(const agg_column *column)
{
    switch (column->kind) {
    case AGG_COLUMN_TEXT:
    case AGG_COLUMN_WORD: return NANOARROW_TYPE_STRING;
    case AGG_COLUMN_NUMBER: return NANOARROW_TYPE_DOUBLE;
    case AGG_COLUMN_WHOLE: return NANOARROW_TYPE_INT64;
    case AGG_COLUMN_FLAG: break;
    }
    return NANOARROW_TYPE_BOOL;
}

// Replaces what is no UTF-8, so that the text may stand in Arrow.
static ArrowErrorCode clean_text(struct ArrowBuffer *out, agg_text text)
{
    static const char replacement[] = "\xef\xbf\xbd";
    out->size_bytes = 0;
    for (size_t at = 0; at < text.len;) {
        size_t used = 0;
        bool is_good = agg_is_character(&used, text.bytes + at, text.len - at);
        NANOARROW_RETURN_NOT_OK(ArrowBufferAppend(out, is_good ? text.bytes + at : replacement,
                                                  is_good ? (int64_t)used : 3));
        at += used;
    }
    return NANOARROW_OK;
}

static ArrowErrorCode set_name(arrow_writing *w, struct ArrowSchema *schema,
                               const agg_column *column)
{
    struct ArrowBuffer whole;
    ArrowBufferInit(&whole);
    ArrowErrorCode code = NANOARROW_OK;
    if (column->group.len > 0) {
        code = ArrowBufferAppend(&whole, column->group.bytes, (int64_t)column->group.len);
        if (code == NANOARROW_OK) code = ArrowBufferAppendInt8(&whole, '.');
    }
    if (code == NANOARROW_OK) code = clean_text(&w->text, column->name);
    if (code == NANOARROW_OK) code = ArrowBufferAppend(&whole, w->text.data, w->text.size_bytes);
    if (code == NANOARROW_OK) code = ArrowBufferAppendInt8(&whole, 0);
    if (code == NANOARROW_OK) code = ArrowSchemaSetName(schema, (const char *)whole.data);
    ArrowBufferReset(&whole);
    return code;
}

static ArrowErrorCode add_metadata(struct ArrowBuffer *buffer, const char *name, const char *value)
{
    return ArrowMetadataBuilderAppend(buffer, ArrowCharView(name), ArrowCharView(value));
}

static ArrowErrorCode add_facts(struct ArrowBuffer *buffer, const agg_table *table)
{
    char rows[24];
    snprintf(rows, sizeof rows, "%zu", agg_table_count(table));
    for (size_t i = 0; i < table->n_facts; i++)
        NANOARROW_RETURN_NOT_OK(add_metadata(buffer, table->facts[i].name, table->facts[i].value));
    NANOARROW_RETURN_NOT_OK(add_metadata(buffer, "shoal", SHOAL_VERSION));
    return add_metadata(buffer, "rows", rows);
}

// Gives a schema the facts of the table, or, without a table, a unit.
static ArrowErrorCode set_metadata(struct ArrowSchema *schema, const agg_table *table,
                                   const char *unit)
{
    struct ArrowBuffer buffer;
    ArrowErrorCode code = ArrowMetadataBuilderInit(&buffer, NULL);
    if (code == NANOARROW_OK)
        code = table != NULL ? add_facts(&buffer, table) : add_metadata(&buffer, "unit", unit);
    if (code == NANOARROW_OK) code = ArrowSchemaSetMetadata(schema, (const char *)buffer.data);
    ArrowBufferReset(&buffer);
    return code;
}

static ArrowErrorCode make_column(arrow_writing *w, struct ArrowSchema *schema,
                                  const agg_column *column)
{
    NANOARROW_RETURN_NOT_OK(ArrowSchemaSetType(schema, type_of(column)));
    NANOARROW_RETURN_NOT_OK(set_name(w, schema, column));
    if (!column->may_be_missing) schema->flags &= ~(int64_t)ARROW_FLAG_NULLABLE;
    return column->unit == NULL ? NANOARROW_OK : set_metadata(schema, NULL, column->unit);
}

static ArrowErrorCode make_schema(arrow_writing *w)
{
    const agg_table *t = w->table;
    ArrowSchemaInit(&w->schema);
    NANOARROW_RETURN_NOT_OK(ArrowSchemaSetTypeStruct(&w->schema, (int64_t)t->n_columns));
    for (size_t j = 0; j < t->n_columns; j++)
        NANOARROW_RETURN_NOT_OK(make_column(w, w->schema.children[j], &t->columns[j]));
    return set_metadata(&w->schema, t, NULL);
}

// ---- the rows ----

static ArrowErrorCode append_cell(arrow_writing *w, struct ArrowArray *to, const agg_column *column,
                                  const agg_cell *cell)
{
    if (cell->is_missing) return ArrowArrayAppendNull(to, 1);
    switch (column->kind) {
    case AGG_COLUMN_TEXT:
    case AGG_COLUMN_WORD: {
        NANOARROW_RETURN_NOT_OK(clean_text(&w->text, cell->text));
        const struct ArrowStringView text = {(const char *)w->text.data, w->text.size_bytes};
        return ArrowArrayAppendString(to, text);
    }
    case AGG_COLUMN_NUMBER: return ArrowArrayAppendDouble(to, cell->number);
    case AGG_COLUMN_WHOLE:
        w->is_too_large = cell->whole > INT64_MAX;
        return w->is_too_large ? EOVERFLOW : ArrowArrayAppendUInt(to, cell->whole);
    case AGG_COLUMN_FLAG: break;
    }
    return ArrowArrayAppendInt(to, cell->flag);
}

// Reads rows from *row on into the array, at most a batch of them. Moves *row behind them.
static ArrowErrorCode read_rows(arrow_writing *w, size_t *row)
{
    agg_cell cells[AGG_TABLE_COLUMNS_MAX];
    NANOARROW_RETURN_NOT_OK(ArrowArrayStartAppending(&w->array));
    while (*row < w->table->n_rows && w->array.length < (int64_t)AGG_ARROW_BATCH) {
        if (!agg_table_read(cells, w->table, (*row)++)) continue;
        for (size_t j = 0; j < w->table->n_columns; j++)
            NANOARROW_RETURN_NOT_OK(
                append_cell(w, w->array.children[j], &w->table->columns[j], &cells[j]));
        NANOARROW_RETURN_NOT_OK(ArrowArrayFinishElement(&w->array));
    }
    return ArrowArrayFinishBuildingDefault(&w->array, NULL);
}

static ArrowErrorCode write_batch(arrow_writing *w, size_t *row)
{
    ArrowErrorCode code = ArrowArrayInitFromSchema(&w->array, &w->schema, NULL);
    if (code == NANOARROW_OK) code = read_rows(w, row);
    if (code == NANOARROW_OK) code = ArrowArrayViewSetArray(&w->view, &w->array, NULL);
    if (code == NANOARROW_OK && w->array.length > 0)
        code = ArrowIpcWriterWriteArrayView(&w->writer, &w->view, NULL);
    if (w->array.release != NULL) ArrowArrayRelease(&w->array);
    return code;
}

static ArrowErrorCode write_all(arrow_writing *w)
{
    struct ArrowIpcOutputStream out = {write_bytes, release_output, w};
    NANOARROW_RETURN_NOT_OK(make_schema(w));
    NANOARROW_RETURN_NOT_OK(ArrowArrayViewInitFromSchema(&w->view, &w->schema, NULL));
    NANOARROW_RETURN_NOT_OK(ArrowIpcWriterInit(&w->writer, &out));
    NANOARROW_RETURN_NOT_OK(ArrowIpcWriterWriteSchema(&w->writer, &w->schema, NULL));
    for (size_t row = 0; row < w->table->n_rows;) NANOARROW_RETURN_NOT_OK(write_batch(w, &row));
    return ArrowIpcWriterWriteArrayView(&w->writer, NULL, NULL);
}

// Returns: whether the stream is a terminal. A stream in memory has no descriptor.
static bool is_terminal(FILE *stream)
{
    int fd = fileno(stream);
    return fd >= 0 && isatty(fd) == 1;
}

agg_err agg_arrow_print(FILE *stream, agg_error *error, const agg_table *table)
{
    arrow_writing w = {.stream = stream, .table = table};
    if (is_terminal(stream))
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "Arrow is binary and is not written to a terminal: name a file with "
                        "--output, or pipe it to a program");
    ArrowBufferInit(&w.text);
    ArrowErrorCode code = write_all(&w);
    if (w.writer.private_data != NULL) ArrowIpcWriterReset(&w.writer);
    ArrowArrayViewReset(&w.view);
    if (w.schema.release != NULL) ArrowSchemaRelease(&w.schema);
    ArrowBufferReset(&w.text);
    return code == NANOARROW_OK ? SHOAL_OK : fail(error, &w, code);
}

#endif
