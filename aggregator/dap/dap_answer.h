// SPDX-License-Identifier: Apache-2.0
// What a DAP server says to a request, apart from HTTP: a message, an empty answer that says to ask
// again, or a problem.
#ifndef DAP_ANSWER_H
#define DAP_ANSWER_H

#include <stdbool.h>

#include "agg_error.h"
#include "dap.h"
#include "dap_store.h"

typedef struct agg_dap_answer {
    unsigned status;                // of HTTP
    enum shoal_dap_message message; // what body is
    uint8_t *body;                  // from malloc, or NULL: an empty answer
    size_t len;
    bool has_location;
    enum shoal_dap_resource resource; // of the location, with id
    uint8_t id[AGG_DAP_ID];
    unsigned retry_after_s; // 0: none
    int problem;            // enum shoal_dap_problem, or AGG_DAP_NO_PROBLEM, AGG_DAP_OTHER_PROBLEM
    const char *problem_text; // static; the type of AGG_DAP_OTHER_PROBLEM, without its URN; NULL:
                              // about:blank
    const char *detail;       // static; of a problem
} agg_dap_answer;
enum { AGG_DAP_NO_PROBLEM = -1, AGG_DAP_OTHER_PROBLEM = -2 };

void agg_dap_answer_release(agg_dap_answer *answer);

// Each of these replaces what the answer was.
void agg_dap_answer_problem(agg_dap_answer *answer, unsigned status, int problem,
                            const char *detail);
// The server's own failure: told to its log, and not to the other party.
void agg_dap_answer_failed(agg_dap_answer *answer, const agg_error *error);
// Takes the body over.
void agg_dap_answer_body(agg_dap_answer *answer, unsigned status, enum shoal_dap_message message,
                         uint8_t *body, size_t len);
void agg_dap_answer_empty(agg_dap_answer *answer, unsigned status);
void agg_dap_answer_location(agg_dap_answer *answer, enum shoal_dap_resource resource,
                             const uint8_t id[AGG_DAP_ID]);

// The problem that a reader's refusal of a whole message is.
int agg_dap_problem_of(agg_err err);

// A writer over memory of its own: `size` bytes that the caller measured. Returns: SHOAL_OK or
// AGG_ERR_MEMORY.
agg_err agg_dap_writer_init(shoal_dap_writer *w, agg_error *error, size_t size) SHOAL_MUST_CHECK;

#endif
