// SPDX-License-Identifier: Apache-2.0
// Property: a task file, or a recipe of two servers, either is refused with a text, or holds a task
// within its stated ranges, whose VDAF there is, whose configuration has room, and that can be
// printed.
#include <math.h>

#include "dap_noise.h"
#include "fuzz.h"
#include "vdaf08.h"

static void check_task(const shoal_dap_task *task)
{
    uint8_t bytes[SHOAL_DAP_CONFIGURATION_MAX];
    shoal_dap_writer w = {bytes, sizeof bytes, 0, 0};
    shoal_prio3 prio3;
    PROPERTY(task->version == SHOAL_DAP_18 || task->version == SHOAL_DAP_09);
    PROPERTY(task->info_len >= 1 && task->info_len <= SHOAL_NAME_MAX);
    PROPERTY(task->leader.len > 0 && task->helper.len > 0 &&
             !shoal_url_equal(&task->leader, &task->helper));
    PROPERTY(task->time_precision_s >= 1 && task->time_precision_s <= 31536000);
    PROPERTY(task->min_batch_size >= 1 && task->min_batch_size <= 1000000000 &&
             task->interval.start == 0);
    PROPERTY(task->vdaf.shares == 2 && task->vdaf.proofs == 1);
    if (task->version == SHOAL_DAP_18)
        PROPERTY(shoal_prio3_init(&prio3, &task->vdaf) == SHOAL_OK);
    else
        PROPERTY(shoal_vdaf08_init(&prio3, &task->vdaf) == SHOAL_OK);
    shoal_dap_put_task(&w, task);
    PROPERTY(!w.is_full && w.len <= sizeof bytes);
}

// Noise is of task files only, and what is claimed for it can be printed.
static void check_noise(const agg_dap_task *t)
{
    agg_dap_noise_claim claim;
    if (t->task.noise.kind == SHOAL_DAP_NOISE_NONE) return;
    PROPERTY(t->is_exact && t->task.noise.kind <= SHOAL_DAP_NOISE_GAUSSIAN);
    agg_dap_noise_claim_of(&claim, t);
    PROPERTY(isfinite(claim.epsilon) && claim.epsilon > 0);
    PROPERTY(claim.delta >= 0 && claim.delta <= 1e-3);
    PROPERTY(isfinite(claim.standard_error) && claim.standard_error >= 0 && claim.reach >= 0);
}

static void check_print(const agg_dap_task *t)
{
    static FILE *nowhere;
    if (nowhere == NULL) nowhere = fopen("/dev/null", "w");
    PROPERTY(nowhere != NULL);
    agg_dap_task_print(nowhere, t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    agg_dap_task t;
    agg_error error = {SHOAL_OK, 0, ""};
    if (agg_dap_task_from_bytes(&t, &error, "task", (const char *)data, len) != SHOAL_OK) {
        PROPERTY(error.code != SHOAL_OK && error.text[0] != '\0');
        return 0;
    }
    PROPERTY(t.has_recipe != t.is_exact);
    PROPERTY(strlen(t.id_text) == AGG_DAP_ID_TEXT - 1 && strlen(t.info) == t.task.info_len);
    PROPERTY((t.expires_day == UINT32_MAX) == (t.task.interval.duration == 0));
    check_task(&t.task);
    check_noise(&t);
    check_print(&t);
    agg_dap_task_release(&t);
    return 0;
}
