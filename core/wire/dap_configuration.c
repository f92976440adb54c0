// SPDX-License-Identifier: Apache-2.0
// The configuration of a DAP task, which all parties bind into every ciphertext
// (draft-ietf-ppm-dap-18 sections "Task Configuration" and "VDAF Configuration Encodings"); see
// dap.h.
#include "dap_private.h"

enum { TASK_INTERVAL = 1 }; // TaskExtensionType

static shoal_bytes url_bytes(const shoal_url *url)
{
    return (shoal_bytes){(const uint8_t *)url->bytes, url->len};
}

static void put_vdaf(shoal_dap_writer *w, const shoal_prio3_parameters *vdaf)
{
    switch (vdaf->circuit) {
    case SHOAL_CIRCUIT_COUNT: break;
    case SHOAL_CIRCUIT_SUM: shoal_dap_put_number(w, vdaf->max, 8); break;
    case SHOAL_CIRCUIT_SUM_VEC:
        shoal_dap_put_number(w, vdaf->length, 4);
        shoal_dap_put_number(w, vdaf->max, 8);
        shoal_dap_put_number(w, vdaf->chunk, 4);
        break;
    case SHOAL_CIRCUIT_HISTOGRAM:
        shoal_dap_put_number(w, vdaf->length, 4);
        shoal_dap_put_number(w, vdaf->chunk, 4);
        break;
    case SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC:
        shoal_dap_put_number(w, vdaf->length, 4);
        shoal_dap_put_number(w, vdaf->chunk, 4);
        shoal_dap_put_number(w, vdaf->max, 8);
        break;
    }
}

void shoal_dap_put_task(shoal_dap_writer *w, const shoal_dap_task *task)
{
    uint8_t vdaf[16];
    shoal_dap_writer config = {vdaf, sizeof vdaf, 0, 0};
    put_vdaf(&config, &task->vdaf);
    shoal_dap_put_opaque(w, (shoal_bytes){task->info, task->info_len}, 1);
    shoal_dap_put_opaque(w, url_bytes(&task->leader), 2);
    shoal_dap_put_opaque(w, url_bytes(&task->helper), 2);
    shoal_dap_put_number(w, task->time_precision_s, 8);
    shoal_dap_put_number(w, task->min_batch_size, 8);
    shoal_dap_put_number(w, DAP_TIME_INTERVAL, 1);
    shoal_dap_put_number(w, 0, 2); // batch_config is empty
    shoal_dap_put_number(w, (uint64_t)task->vdaf.circuit, 4);
    shoal_dap_put_opaque(w, (shoal_bytes){vdaf, config.len}, 2);
    if (task->interval.duration == 0) { // no extensions
        shoal_dap_put_number(w, 0, 2);
        return;
    }
    shoal_dap_put_number(w, 4 + DAP_INTERVAL, 2);
    shoal_dap_put_number(w, TASK_INTERVAL, 2);
    shoal_dap_put_number(w, DAP_INTERVAL, 2);
    shoal_dap_put_interval(w, &task->interval);
}

void shoal_dap_put_noise(shoal_dap_writer *w, const shoal_dap_task *task)
{
    if (task->noise.kind == SHOAL_DAP_NOISE_NONE) return;
    shoal_dap_put_number(w, task->noise.kind, 1);
    shoal_dap_put_number(w, task->noise.number, 8);
}

static void put_text(shoal_dap_writer *w, const char *text)
{
    shoal_dap_put(w, text, text_len(text));
}

size_t shoal_dap_context(uint8_t context[SHOAL_DAP_CONTEXT_MAX], const shoal_dap_task *task)
{
    shoal_dap_writer w = {context, SHOAL_DAP_CONTEXT_MAX, 0, 0};
    put_text(&w, SHOAL_DAP_TAG);
    shoal_dap_put(&w, task->id, sizeof task->id);
    return w.len;
}

static size_t put_info(uint8_t info[SHOAL_DAP_INFO_MAX], const char *what, enum shoal_dap_role from,
                       enum shoal_dap_role to)
{
    shoal_dap_writer w = {info, SHOAL_DAP_INFO_MAX, 0, 0};
    put_text(&w, what);
    shoal_dap_put_number(&w, (uint64_t)from, 1);
    shoal_dap_put_number(&w, (uint64_t)to, 1);
    return w.len;
}

size_t shoal_dap_input_share_info(uint8_t info[SHOAL_DAP_INFO_MAX], const shoal_dap_task *task,
                                  enum shoal_dap_role to)
{
    (void)task; // draft 18 for every task
    return put_info(info, SHOAL_DAP_TAG " input share", SHOAL_DAP_CLIENT, to);
}

size_t shoal_dap_aggregate_share_info(uint8_t info[SHOAL_DAP_INFO_MAX], const shoal_dap_task *task,
                                      enum shoal_dap_role from)
{
    (void)task;
    return put_info(info, SHOAL_DAP_TAG " aggregate share", from, SHOAL_DAP_COLLECTOR);
}
