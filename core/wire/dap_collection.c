// SPDX-License-Identifier: Apache-2.0
// The messages that request and return the sums of a DAP task, in batches by time
// (draft-ietf-ppm-dap-18 section "Collecting Results"); see dap.h.
#include "dap_private.h"

#include <stdbool.h>

// Writes Query and BatchSelector: the mode, and an interval with a length prefix.
static void put_batch(shoal_dap_writer *w, const shoal_dap_interval *interval)
{
    shoal_dap_put_number(w, DAP_TIME_INTERVAL, 1);
    shoal_dap_put_number(w, DAP_INTERVAL, 2);
    shoal_dap_put_interval(w, interval);
}

static shoal_dap_interval take_batch(shoal_dap_parser *p)
{
    uint64_t mode = shoal_dap_take_number(p, 1);
    shoal_dap_parser config = shoal_dap_parse_bytes(shoal_dap_take_opaque(p, 2, 0));
    if (mode != DAP_TIME_INTERVAL) shoal_dap_fail(p, SHOAL_ERR_TYPE);
    shoal_dap_interval interval = shoal_dap_take_interval(&config);
    shoal_dap_take_end(&config);
    if (config.err != SHOAL_OK) shoal_dap_fail(p, config.err);
    return interval;
}

void shoal_dap_put_collection_req(shoal_dap_writer *w, const shoal_dap_interval *query)
{
    put_batch(w, query);
    shoal_dap_put_number(w, 0, 4); // aggregation parameter
    shoal_dap_put_number(w, 0, 2); // extensions
}

static shoal_dap_interval take_collection_req(shoal_dap_parser *p)
{
    bool is_ordered;
    shoal_dap_interval query = take_batch(p);
    shoal_bytes parameter = shoal_dap_take_opaque(p, 4, 0);
    shoal_bytes extensions = shoal_dap_take_extensions(p, &is_ordered);
    if (parameter.len > 0) shoal_dap_fail(p, SHOAL_ERR_ARGUMENT);
    if (!is_ordered) shoal_dap_fail(p, SHOAL_ERR_DUPLICATE);
    if (extensions.len > 0) shoal_dap_fail(p, SHOAL_ERR_UNKNOWN_FIELD);
    return query;
}

shoal_err shoal_dap_read_collection_req(shoal_dap_interval *query, shoal_dap_reader *r)
{
    shoal_dap_parser p = shoal_dap_parse(r);
    shoal_dap_interval taken = take_collection_req(&p);
    if (p.err != SHOAL_OK) return p.err;
    *query = taken;
    *r = p.at;
    return SHOAL_OK;
}

void shoal_dap_put_collection_resp(shoal_dap_writer *w, const shoal_dap_collection_resp *resp)
{
    shoal_dap_put_number(w, resp->report_count, 8);
    shoal_dap_put_interval(w, &resp->interval);
    shoal_dap_put_ciphertext(w, &resp->leader);
    shoal_dap_put_ciphertext(w, &resp->helper);
}

shoal_err shoal_dap_read_collection_resp(shoal_dap_collection_resp *resp, shoal_bytes message)
{
    shoal_dap_parser p = shoal_dap_parse_bytes(message);
    shoal_dap_collection_resp taken;
    taken.report_count = shoal_dap_take_number(&p, 8);
    taken.interval = shoal_dap_take_interval(&p);
    taken.leader = shoal_dap_take_ciphertext(&p);
    taken.helper = shoal_dap_take_ciphertext(&p);
    shoal_dap_take_end(&p);
    if (p.err != SHOAL_OK) return p.err;
    *resp = taken;
    return SHOAL_OK;
}

void shoal_dap_put_aggregate_share_req(shoal_dap_writer *w,
                                       const shoal_dap_aggregate_share_req *req)
{
    shoal_dap_put(w, req->collection_req.at, req->collection_req.len);
    put_batch(w, &req->batch);
    shoal_dap_put_number(w, req->report_count, 8);
    shoal_dap_put(w, req->checksum, sizeof req->checksum);
}

shoal_err shoal_dap_read_aggregate_share_req(shoal_dap_aggregate_share_req *req,
                                             shoal_bytes message)
{
    shoal_dap_parser p = shoal_dap_parse_bytes(message);
    shoal_dap_aggregate_share_req taken;
    taken.query = take_collection_req(&p);
    taken.collection_req = (shoal_bytes){message.at, p.at.position};
    taken.batch = take_batch(&p);
    taken.report_count = shoal_dap_take_number(&p, 8);
    shoal_dap_take_copy(taken.checksum, &p, sizeof taken.checksum);
    shoal_dap_take_end(&p);
    if (p.err != SHOAL_OK) return p.err;
    *req = taken;
    return SHOAL_OK;
}

void shoal_dap_put_aggregate_share_aad(shoal_dap_writer *w, const shoal_dap_task *task,
                                       shoal_bytes collection_req)
{
    shoal_dap_put(w, task->id, sizeof task->id);
    shoal_dap_put_task(w, task);
    shoal_dap_put(w, collection_req.at, collection_req.len);
}
