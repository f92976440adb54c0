// SPDX-License-Identifier: Apache-2.0
// An answer of a DAP server, apart from HTTP: a message, an empty answer that tells the client to
// ask again, or a problem.
#ifndef DAP_ANSWER_H
#define DAP_ANSWER_H

#include <stdbool.h>

#include "agg_error.h"
#include "dap.h"
#include "dap_store.h"

typedef struct agg_dap_answer {
    unsigned status;                // HTTP status
    enum shoal_dap_message message; // type of the body
    uint8_t *body;                  // from malloc; NULL: the answer is empty
    size_t len;
    bool has_location;
    enum shoal_dap_resource resource; // the location's resource, with `id`
    uint8_t id[AGG_DAP_ID];
    unsigned retry_after_s; // 0: no header
    int problem;            // enum shoal_dap_problem, or AGG_DAP_NO_PROBLEM, AGG_DAP_OTHER_PROBLEM
    const char *problem_text; // static; the type of AGG_DAP_OTHER_PROBLEM, without its URN; NULL:
                              // about:blank
    const char *detail;       // static; explains the problem
} agg_dap_answer;
enum { AGG_DAP_NO_PROBLEM = -1, AGG_DAP_OTHER_PROBLEM = -2 };

void agg_dap_answer_release(agg_dap_answer *answer);

// Each of the functions below replaces the answer.
void agg_dap_answer_problem(agg_dap_answer *answer, unsigned status, int problem,
                            const char *detail);
// Answers for the server's own failure, which is printed to its log and not told to the client.
void agg_dap_answer_failed(agg_dap_answer *answer, const agg_error *error);
// Answers with a message and takes its body over.
void agg_dap_answer_body(agg_dap_answer *answer, unsigned status, enum shoal_dap_message message,
                         uint8_t *body, size_t len);
void agg_dap_answer_empty(agg_dap_answer *answer, unsigned status);
void agg_dap_answer_location(agg_dap_answer *answer, enum shoal_dap_resource resource,
                             const uint8_t id[AGG_DAP_ID]);

// Returns: the problem (enum shoal_dap_problem) for an error of a message's reader.
int agg_dap_problem_of(agg_err err);

// Allocates a writer's buffer.
//   size: bytes that the caller measured with an empty writer
// Returns: AGG_ERR_MEMORY.
agg_err agg_dap_writer_init(shoal_dap_writer *w, agg_error *error, size_t size) SHOAL_MUST_CHECK;

#endif
