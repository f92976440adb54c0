// SPDX-License-Identifier: Apache-2.0
// Answers; see dap_answer.h.
#include "dap_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"

void agg_dap_answer_release(agg_dap_answer *answer)
{
    free(answer->body);
    *answer = (agg_dap_answer){.problem = AGG_DAP_NO_PROBLEM};
}

void agg_dap_answer_problem(agg_dap_answer *answer, unsigned status, int problem,
                            const char *detail)
{
    agg_dap_answer_release(answer);
    answer->status = status;
    answer->problem = problem;
    answer->detail = detail;
}

void agg_dap_answer_failed(agg_dap_answer *answer, const agg_error *error)
{
    fprintf(stderr, "shoal: serve: %s\n", error->text);
    agg_dap_answer_problem(answer, 503, AGG_DAP_OTHER_PROBLEM,
                           "the server could not do this now; send it again");
    answer->retry_after_s = 10;
}

void agg_dap_answer_body(agg_dap_answer *answer, unsigned status, enum shoal_dap_message message,
                         uint8_t *body, size_t len)
{
    agg_dap_answer_release(answer);
    answer->status = status;
    answer->message = message;
    answer->body = body;
    answer->len = len;
}

void agg_dap_answer_empty(agg_dap_answer *answer, unsigned status)
{
    agg_dap_answer_release(answer);
    answer->status = status;
}

void agg_dap_answer_location(agg_dap_answer *answer, enum shoal_dap_resource resource,
                             const uint8_t id[AGG_DAP_ID])
{
    answer->has_location = true;
    answer->resource = resource;
    memcpy(answer->id, id, AGG_DAP_ID);
}

int agg_dap_problem_of(agg_err err)
{
    switch (err) {
    case SHOAL_ERR_ARGUMENT: return SHOAL_DAP_PROBLEM_INVALID_AGGREGATION_PARAMETER;
    case SHOAL_ERR_UNKNOWN_FIELD: return SHOAL_DAP_PROBLEM_UNSUPPORTED_EXTENSION;
    case SHOAL_ERR_DUPLICATE: return SHOAL_DAP_PROBLEM_INVALID_EXTENSION;
    default: return SHOAL_DAP_PROBLEM_INVALID_MESSAGE;
    }
}

agg_err agg_dap_writer_init(shoal_dap_writer *w, agg_error *error, size_t size)
{
    *w = (shoal_dap_writer){.at = agg_alloc(error, size, 1), .cap = size};
    return w->at == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
}
