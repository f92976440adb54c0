// SPDX-License-Identifier: Apache-2.0
// Adding up the memory of leader and helper; see dap_memory.h.
#include "dap_memory.h"

#include "agg_parallel.h"
#include "agg_size.h"
#include "bytes.h"
#include "dap_helper.h"
#include "dap_http.h"
#include "dap_job.h"
#include "dap_leader.h"
#include "database.h"

#define STEPS 8            // between the usual amount and the least
#define JSON_OF_RECIPE 12u // bytes that a parsed recipe takes for each byte of its text

// Aggregate shares in memory while a batch is given out: its sum, the next bucket or the noise, the
// sealed share, the answer's two, and two copies.
#define SHARES_OF_BATCH 7u

// Aggregate shares in memory while a thread answers the collector: the answer's two, and the
// database's copy of them.
#define SHARES_OF_ASKER 4u

// Bytes over all tasks.
typedef struct sizes {
    uint64_t held;     // the tasks themselves
    uint64_t report;   // the longest encoded report
    uint64_t of_one;   // the largest report in a job
    uint64_t full_job; // the largest full job
    uint64_t output;   // the largest aggregate share
    uint64_t verifying;
    uint64_t opening; // buffers to open an uploaded share
} sizes;

static uint64_t more_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static size_t between(size_t least, size_t most, unsigned step)
{
    return most <= least ? least : least + (most - least) / STEPS * step;
}

unsigned agg_dap_verifiers(const agg_dap_config *config)
{
    unsigned cores = agg_parallel_cores();
    return cores < config->threads ? cores : config->threads;
}

static agg_err add_task(sizes *s, agg_error *error, const agg_dap_config *config,
                        const agg_dap_task *task)
{
    agg_dap_served served = {.number = 0};
    const agg_dap_party party = {.job_reports = config->job_reports, .job_len = AGG_DAP_JOB_LEN};
    const agg_dap_vdaf *vdaf = &served.vdaf;
    agg_err err = agg_dap_vdaf_init(&served.vdaf, error, &task->task, config->seed);
    if (err != SHOAL_OK) return err;
    bool is_leader = config->role == SHOAL_DAP_LEADER;
    uint64_t one =
        is_leader ? agg_dap_leader_report_bytes(vdaf) : agg_dap_helper_report_bytes(vdaf);
    uint64_t verifiers = agg_dap_verifiers(config);
    s->held += sizeof *task + sizeof served +
               (task->has_recipe ? JSON_OF_RECIPE * task->recipe.json_len : 0);
    s->report = more_of(s->report, agg_dap_report_len(vdaf));
    s->of_one = more_of(s->of_one, one);
    s->full_job = more_of(s->full_job,
                          is_leader ? agg_dap_job_full(&party, &served) * one : AGG_DAP_JOB_BYTES);
    s->output = more_of(s->output, agg_dap_output_len(vdaf));
    s->verifying =
        more_of(s->verifying, verifiers * (agg_dap_work_memory(vdaf) + agg_dap_state_len(vdaf)));
    s->opening = more_of(s->opening, agg_dap_work_memory_opening(vdaf));
    wipe(&served, sizeof served); // it has a verification key
    return SHOAL_OK;
}

// Returns: the memory of the HTTP threads while they answer.
static uint64_t answering_memory(const agg_dap_config *config, const sizes *s)
{
    uint64_t asker = SHARES_OF_ASKER * s->output;
    uint64_t uploading =
        AGG_DAP_UPLOADS_BYTES + more_of(s->opening, 2 * s->report); // a report as it is kept, and
                                                                    // the one that was there before
    if (config->role == SHOAL_DAP_LEADER) return config->threads * more_of(asker, uploading);
    return config->threads * asker + SHARES_OF_BATCH * s->output;
}

// Returns: the memory of the driver's thread.
static uint64_t driving_memory(const agg_dap_config *config, const sizes *s, uint64_t job_bytes)
{
    if (config->role != SHOAL_DAP_LEADER) return job_bytes + s->verifying;
    return AGG_HTTP_BYTES +
           more_of(job_bytes + s->verifying + s->output, SHARES_OF_BATCH * s->output);
}

static void plan_step(agg_dap_plan *plan, const agg_dap_config *config, const sizes *s,
                      unsigned step)
{
    size_t answer = (size_t)(2 * s->output + AGG_DAP_JOB_LEN / 8);
    agg_http_room usual = agg_http_room_usual(config->max_body, answer),
                  least = agg_http_room_least(config->max_body, answer);
    plan->room = (agg_http_room){(unsigned)between(least.connections, usual.connections, step),
                                 between(least.bodies, usual.bodies, step),
                                 between(least.answers, usual.answers, step)};
    plan->job_bytes = more_of(s->of_one, s->of_one + (s->full_job - s->of_one) / STEPS * step);
    plan->bytes = agg_http_listener_memory(&plan->room, config->threads + 1) + s->held +
                  AGG_DATABASE_BYTES + more_of(AGG_DAP_JOB_LEN, s->report) +
                  answering_memory(config, s) + driving_memory(config, s, plan->job_bytes);
}

agg_err agg_dap_memory_plan(agg_dap_plan *plan, agg_error *error, const agg_dap_config *config,
                            uint64_t limit)
{
    sizes s = {.held = 0};
    agg_err err = SHOAL_OK;
    for (size_t i = 0; err == SHOAL_OK && i < config->n_tasks; i++)
        err = add_task(&s, error, config, &config->tasks[i]);
    s.full_job = more_of(s.full_job, s.of_one);
    for (unsigned step = STEPS; err == SHOAL_OK; step--) {
        plan_step(plan, config, &s, step);
        if (limit == 0 || plan->bytes <= limit || step == 0) break;
    }
    return err;
}
