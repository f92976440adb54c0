// SPDX-License-Identifier: Apache-2.0
// Exports for an edge worker, which reads records and makes and reads batches. See exports.h.
#include "batch.h"
#include "exports.h"

static uint32_t error_position;

// Returns: the position where record_from_text stopped reading when it last failed.
EXPORT(err_position) uint32_t export_err_position(void)
{
    return error_position;
}

EXPORT(record_from_text)
uint32_t export_record_from_text(uint32_t record, uint32_t handle, uint32_t text, uint32_t len)
{
    const shoal_recipe *r = ready_recipe(handle);
    if (!r || !inside(text, len) || !inside(record, r->record_size)) return SHOAL_ERR_ARGUMENT;
    size_t position = 0;
    shoal_err err = shoal_record_from_text(at(record), r, (const char *)at(text), len, &position);
    error_position = (uint32_t)position;
    return err;
}

// Reads the record of a report that consists, byte for byte, of head, the record's text and tail,
// len bytes in all. Head and tail lie one after the other at frame. Any other report is an error
// and leaves the record undefined; the caller's parser then says what is wrong.
EXPORT(record_from_report)
uint32_t export_record_from_report(uint32_t record, uint32_t handle, uint32_t report, uint32_t len,
                                   uint32_t frame, uint32_t head_len, uint32_t tail_len)
{
    const shoal_recipe *r = ready_recipe(handle);
    if (!r || len != (uint64_t)head_len + r->text_size + tail_len) return SHOAL_ERR_ARGUMENT;
    if (!inside(report, len) || !inside(record, r->record_size) ||
        !inside(frame, head_len + tail_len))
        return SHOAL_ERR_ARGUMENT;
    if (memcmp(at(report), at(frame), head_len) ||
        memcmp(at(report + len - tail_len), at(frame + head_len), tail_len))
        return SHOAL_ERR_TYPE;
    return shoal_record_from_text(at(record), r, (const char *)at(report + head_len), r->text_size,
                                  NULL);
}

EXPORT(record_check) uint32_t export_record_check(uint32_t handle, uint32_t record)
{
    const shoal_recipe *r = ready_recipe(handle);
    if (!r || !inside(record, r->record_size)) return SHOAL_ERR_ARGUMENT;
    return shoal_record_check(r, at(record));
}

// Returns: length of a batch of `count` records.
//   day: on which version 2 is sealed; 0 stands for version 1
EXPORT(batch_size) int32_t export_batch_size(uint32_t handle, uint32_t count, uint32_t day)
{
    const shoal_recipe *r = ready_recipe(handle);
    if (!r) return failed(SHOAL_ERR_ARGUMENT);
    size_t size = day ? shoal_batch_size(r, count) : shoal_batch_size_v1(r, count);
    return size ? (int32_t)size : failed(SHOAL_ERR_RANGE);
}

// Seals a batch around the records that lie at bytes + SHOAL_BATCH_HEADER, or of version 1 at
// bytes + SHOAL_BATCH_HEADER_V1.
//   salt: 16 random bytes; in version 1 the batch's id
EXPORT(batch_seal)
uint32_t export_batch_seal(uint32_t bytes, uint32_t len, uint32_t handle, uint32_t count,
                           uint32_t salt, uint32_t day)
{
    const shoal_recipe *r = ready_recipe(handle);
    if (!r || !inside(bytes, len) || !inside(salt, 16)) return SHOAL_ERR_ARGUMENT;
    return day ? shoal_batch_seal(at(bytes), len, r, count, day, at(salt))
               : shoal_batch_seal_v1(at(bytes), len, r, count, at(salt));
}

// Checks a batch. Returns: its number of records.
EXPORT(batch_open) int32_t export_batch_open(uint32_t bytes, uint32_t len, uint32_t handle)
{
    const shoal_recipe *r = ready_recipe(handle);
    if (!r || !inside(bytes, len)) return failed(SHOAL_ERR_ARGUMENT);
    shoal_batch batch;
    shoal_err err = shoal_batch_open(&batch, at(bytes), len, r, NULL);
    return err ? failed(err) : (int32_t)batch.count;
}
