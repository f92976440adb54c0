// SPDX-License-Identifier: Apache-2.0
// Says what is doubtful about a joint result; see joint_doubts.h.
#include "joint_doubts.h"

#include <stdio.h>

typedef struct teller {
    void (*log)(void *context, const char *text);
    void *context;
} teller;

static void say_empty(const teller *t, const agg_joint_result *r, uint32_t axis, uint32_t category)
{
    char text[320];
    agg_text name = r->axes[axis].name, label = r->axes[axis].labels[category];
    if (r->marginals[axis][category].p * (double)r->n >= 0.5) return;
    snprintf(text, sizeof text,
             "variable %.*s: the category %.*s is empty: there are no rates given it",
             (int)name.len, name.bytes, (int)(label.len < 64 ? label.len : 64), label.bytes);
    t->log(t->context, text);
}

void agg_joint_doubts(const agg_joint_result *r, bool no_other, bool is_em_wald,
                      void (*log)(void *context, const char *text), void *context)
{
    const teller all = {log, context}, *t = &all;
    char text[320];
    if (!r->converged) t->log(t->context, "the estimate stopped before it converged");
    if (r->rank < r->n_free) {
        snprintf(text, sizeof text,
                 "the information matrix is singular: rank %zu of %zu. Where the reports do not "
                 "tell categories apart the error is infinite and nothing is known",
                 r->rank, r->n_free);
        t->log(t->context, text);
    }
    for (uint32_t i = 0; i < r->n_axes; i++)
        for (uint32_t j = 0; j < r->axes[i].n; j++) say_empty(t, r, i, j);
    if (no_other)
        t->log(t->context,
               "--no-other: what devices hold besides the named categories is counted among these, "
               "which biases them");
    if (is_em_wald)
        t->log(
            t->context,
            "--wald em: conservative near the boundary; it finds associations later than it could");
}
