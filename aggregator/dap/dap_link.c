// SPDX-License-Identifier: Apache-2.0
// Replies of the helper; see dap_link.h.
#include "dap_link.h"

#include <stdlib.h>

void agg_dap_reply_release(agg_dap_reply *reply)
{
    free(reply->body);
    free(reply->location);
    *reply = (agg_dap_reply){0};
}

agg_err agg_dap_reply_fail(agg_error *error, const agg_dap_served *task, const agg_dap_reply *reply)
{
    const char *problem =
        reply->problem >= 0 ? shoal_dap_problem_name((enum shoal_dap_problem)reply->problem) : "";
    return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "task %s: the helper answered %u%s%s",
                    task->name, reply->status, *problem == '\0' ? "" : ", ", problem);
}
