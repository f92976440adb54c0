// SPDX-License-Identifier: Apache-2.0
// Questions about results; see serve_job.h.
#include "serve_job.h"

#include <stdio.h>
#include <string.h>

void serve_job_note_blocks(serve_job *job, const serve_collection *collection,
                           const agg_released *released)
{
    char one[SHOAL_NAME_MAX + 64];
    size_t len = strlen(job->blocks), room = sizeof job->blocks - len;
    if (released->n == 0) return;
    int n = snprintf(one, sizeof one, "%s%s %lld-%lld", len == 0 ? "" : ", ", collection->recipe.id,
                     (long long)released->first_number, (long long)released->last_number);
    if ((size_t)n + sizeof ", ..." <= room)
        memcpy(job->blocks + len, one, (size_t)n + 1);
    else if (room >= sizeof ", ...")
        memcpy(job->blocks + len, ", ...", sizeof ", ...");
}

const char *serve_job_type(agg_format format)
{
    switch (format) {
    case AGG_CSV: return AGG_HTTP_TYPE_CSV;
    case AGG_NDJSON: return AGG_HTTP_TYPE_NDJSON;
    case AGG_ARROW: return AGG_HTTP_TYPE_ARROW;
    default: return AGG_HTTP_TYPE_JSON;
    }
}

void serve_job_answer_stopping(serve_job *job)
{
    agg_http_answer_error(&job->answer, 503, "stopping", 503, "the server is stopping");
    job->answer.retry_after_s = 5;
}
