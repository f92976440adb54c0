// SPDX-License-Identifier: Apache-2.0
// Writes rows; see table_write.h.
#include "table_write.h"

#include <errno.h>
#include <string.h>

#include "arrow_table.h"

agg_err agg_table_write(FILE *stream, agg_error *error, const agg_table *table, agg_format format)
{
    agg_err err = SHOAL_OK;
    if (format == AGG_NDJSON) agg_table_print_json_rows(stream, table, "", "", "\n");
    if (format == AGG_CSV) agg_table_print_csv(stream, table);
    if (format == AGG_ARROW) err = agg_arrow_print(stream, error, table);
    if (err != SHOAL_OK) return err;
    if (fflush(stream) == 0 && !ferror(stream)) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "cannot write the result: %s", strerror(errno));
}
