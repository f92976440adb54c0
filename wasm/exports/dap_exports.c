// SPDX-License-Identifier: Apache-2.0
// A report for two servers, made by a module of its own: shoal-dap.wasm. It makes a measurement
// from a record, splits it (Prio3) and writes the DAP messages around the shares. JavaScript does
// HPKE (dap.js), since browsers have it. See exports.h for the conventions.
//
// One instance serves one task, which is set once: from a recipe, or from its numbers if there is
// no local noise. The module wipes measurements, random bytes and scratch. The caller wipes the two
// shares once they are sealed.
// Source: draft-ietf-ppm-dap-18 section "Uploading Reports". Depends on core/wire/dap.h,
// core/split/split.h, core/prio/prio3.h.
#include "dap.h"
#include "exports.h"
#include "split.h"

#define KEY_LEN 32
#define TAG_LEN 16

enum { TASK_NONE = 0, TASK_OF_RECIPE, TASK_EXACT };

static uint32_t state; // one of the states above
static shoal_dap_task task;
static shoal_split split;
static shoal_prio3 prio3;
static const char *reason;

// Returns: static text about the last error of the task, or 0.
EXPORT(task_error) const char *export_task_error(void)
{
    return reason;
}

// Sets the task of a recipe, copied from the address that recipe_at() of its module returns.
//   recipe: at a multiple of 8
//   len: recipe_size() of that module; another length means other sources and is refused
EXPORT(task_of_recipe) uint32_t export_task_of_recipe(uint32_t recipe, uint32_t len)
{
    reason = NULL;
    if (state != TASK_NONE || len != sizeof(shoal_recipe) || recipe % 8 != 0 ||
        !inside(recipe, len))
        return SHOAL_ERR_ARGUMENT;
    const shoal_recipe *r = (const shoal_recipe *)(const void *)at(recipe);
    shoal_err err = shoal_dap_task_of(&task, r, &reason);
    // The module does not link recipe.c, so it reads the part itself.
    if (!err) err = shoal_split_init(&split, &r->parts[r->value_part], &reason);
    if (!err) err = shoal_prio3_init(&prio3, &task.vdaf);
    if (!err) state = TASK_OF_RECIPE;
    return err;
}

#define PRECISION_MAX 31536000u
#define BATCH_MAX 1000000000u

// Chooses the chunk length for a task file that states none: the one with the shortest proof.
static shoal_err choose_chunk(shoal_prio3_parameters *vdaf)
{
    shoal_flp flp;
    if (vdaf->chunk != 0) return SHOAL_OK;
    shoal_err err = shoal_flp_init(&flp, vdaf->circuit, vdaf->length, vdaf->max, 1);
    if (!err) vdaf->chunk = shoal_flp_best_chunk(flp.meas_len);
    return err;
}

// Reads info, leader and helper, which follow one another in the text.
static shoal_err read_parties(shoal_dap_task *t, const char *text, uint32_t info_len,
                              uint32_t leader_len, uint32_t helper_len)
{
    shoal_name name;
    shoal_err err = shoal_name_set(&name, text, info_len, &reason);
    if (!err) err = shoal_url_set(&t->leader, text + info_len, leader_len, &reason);
    if (!err) err = shoal_url_set(&t->helper, text + info_len + leader_len, helper_len, &reason);
    if (err) return err;
    t->info_len = name.len;
    memcpy(t->info, name.bytes, name.len);
    return shoal_url_equal(&t->leader, &t->helper) ? SHOAL_ERR_RANGE : SHOAL_OK;
}

// Sets a task without local noise from the numbers and texts of its task file (docs/formats.md).
//   numbers: little-endian u64: time precision, minimum batch, duration of the interval from 0 (0:
//     any time), circuit, length, max, chunk (0: the file states none)
//   texts: info, leader and helper, one after the other
EXPORT(task_exact)
uint32_t export_task_exact(uint32_t numbers, uint32_t texts, uint32_t info_len, uint32_t leader_len,
                           uint32_t helper_len)
{
    reason = NULL;
    if (state != TASK_NONE || info_len > SHOAL_NAME_MAX || leader_len > SHOAL_URL_MAX ||
        helper_len > SHOAL_URL_MAX || !inside(numbers, 7 * 8) ||
        !inside(texts, info_len + leader_len + helper_len))
        return SHOAL_ERR_ARGUMENT;
    uint64_t n[7];
    for (uint32_t i = 0; i < 7; i++) n[i] = load64_le(at(numbers) + 8 * i);
    if (n[0] < 1 || n[0] > PRECISION_MAX || n[1] < 1 || n[1] > BATCH_MAX ||
        (n[3] | n[4] | n[6]) > UINT32_MAX)
        return SHOAL_ERR_RANGE;
    shoal_dap_task t = {.version = SHOAL_DAP_18,
                        .time_precision_s = n[0],
                        .min_batch_size = n[1],
                        .interval = {.duration = n[2]},
                        .vdaf = {.circuit = (shoal_circuit)n[3],
                                 .length = (uint32_t)n[4],
                                 .max = n[5],
                                 .chunk = (uint32_t)n[6],
                                 .shares = 2,
                                 .proofs = 1}};
    shoal_err err = read_parties(&t, (const char *)at(texts), info_len, leader_len, helper_len);
    if (!err) err = choose_chunk(&t.vdaf);
    if (!err) err = shoal_prio3_init(&prio3, &t.vdaf);
    if (err) return err;
    task = t;
    state = TASK_EXACT;
    return SHOAL_OK;
}

// Sets the id of a task without local noise, which the caller chooses or derives from its
// configuration.
EXPORT(task_set_id) uint32_t export_task_set_id(uint32_t id)
{
    if (state != TASK_EXACT || !inside(id, SHOAL_DAP_TASK_ID)) return SHOAL_ERR_ARGUMENT;
    memcpy(task.id, at(id), SHOAL_DAP_TASK_ID);
    return SHOAL_OK;
}

EXPORT(task_id) uint32_t export_task_id(uint32_t out)
{
    if (state == TASK_NONE || !inside(out, SHOAL_DAP_TASK_ID)) return SHOAL_ERR_ARGUMENT;
    memcpy(at(out), task.id, SHOAL_DAP_TASK_ID);
    return SHOAL_OK;
}

// Returns: length of the encoded task configuration, at most SHOAL_DAP_CONFIGURATION_MAX bytes.
EXPORT(task_configuration) int32_t export_task_configuration(uint32_t out)
{
    if (state == TASK_NONE || !inside(out, SHOAL_DAP_CONFIGURATION_MAX))
        return failed(SHOAL_ERR_ARGUMENT);
    shoal_dap_writer w = {.at = at(out), .cap = SHOAL_DAP_CONFIGURATION_MAX};
    shoal_dap_put_task(&w, &task);
    return length_or(w.is_full ? SHOAL_ERR_SPACE : SHOAL_OK, w.len);
}

static shoal_dap_metadata metadata_of(const uint8_t *id, uint64_t time)
{
    shoal_dap_metadata metadata = {.time = time};
    memcpy(metadata.id, id, SHOAL_DAP_REPORT_ID);
    return metadata;
}

static size_t public_len(void)
{
    return shoal_prio3_public_share_len(&prio3);
}

static shoal_bytes share_at(const uint8_t *share, uint32_t aggregator)
{
    return (shoal_bytes){.at = share, .len = shoal_prio3_input_share_len(&prio3, aggregator)};
}

static void put_aad(shoal_dap_writer *w, const shoal_dap_metadata *metadata,
                    const uint8_t *public_share)
{
    const shoal_bytes share = {.at = public_share, .len = public_len()};
    shoal_dap_put_input_share_aad(w, &task, metadata, share);
}

// The lengths in bytes of what shard() reads and writes. They come from a counting writer, so that
// only dap.h knows the layout.
typedef struct lengths {
    uint32_t measurement, rand, public_share, plaintexts[2], aad, work;
} lengths;

static uint32_t plaintext_len(uint32_t aggregator)
{
    shoal_dap_writer w = {.at = NULL};
    shoal_dap_put_input_share(&w, share_at(NULL, aggregator));
    return (uint32_t)w.len;
}

static uint32_t aad_len(void)
{
    static const uint8_t no_id[SHOAL_DAP_REPORT_ID];
    const shoal_dap_metadata metadata = metadata_of(no_id, 0);
    shoal_dap_writer w = {.at = NULL};
    put_aad(&w, &metadata, NULL);
    return (uint32_t)w.len;
}

static lengths measure(void)
{
    const shoal_flp *flp = &prio3.flp;
    bool is_vector =
        flp->circuit == SHOAL_CIRCUIT_SUM_VEC || flp->circuit == SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC;
    lengths l = {.measurement = 8 * (is_vector ? flp->length : 1),
                 .rand = (uint32_t)shoal_prio3_rand_len(&prio3),
                 .public_share = (uint32_t)public_len(),
                 .plaintexts = {plaintext_len(0), plaintext_len(1)},
                 .aad = aad_len()};
    size_t shares = share_at(NULL, 0).len + share_at(NULL, 1).len;
    l.work = l.measurement + (uint32_t)(8 * shoal_prio3_scratch_words(&prio3) + shares);
    return l;
}

// Writes, as little-endian u32: the lengths of a measurement, of shard()'s random bytes, public
// share, leader's and helper's plaintext, associated data and work; the time precision in seconds;
// the length of a measurement's vector.
#define INFO_WORDS 9u
EXPORT(task_info) uint32_t export_task_info(uint32_t out)
{
    if (state == TASK_NONE || !inside(out, INFO_WORDS * 4)) return SHOAL_ERR_ARGUMENT;
    const lengths l = measure();
    const uint32_t words[INFO_WORDS] = {
        l.measurement,   l.rand, l.public_share, l.plaintexts[0],
        l.plaintexts[1], l.aad,  l.work,         (uint32_t)task.time_precision_s,
        prio3.flp.length};
    put_words(out, words, INFO_WORDS);
    return SHOAL_OK;
}

// Makes the measurement of a record's text.
//   measurement: as long as task_info says, at a multiple of 8
//   text: len bytes
// Returns: RANGE for a record with more weight than the servers accept; it must not be sent.
EXPORT(measure_record)
uint32_t export_measure_record(uint32_t measurement, uint32_t text, uint32_t len)
{
    if (state != TASK_OF_RECIPE || measurement % 8 != 0 ||
        !inside(measurement, measure().measurement) || !inside(text, len))
        return SHOAL_ERR_ARGUMENT;
    return shoal_split_text((uint64_t *)(void *)at(measurement), &split, (const char *)at(text),
                            len);
}

static uint8_t *put_share(uint8_t *out, const uint8_t *share, uint32_t aggregator)
{
    shoal_dap_writer w = {.at = out, .cap = plaintext_len(aggregator)};
    shoal_dap_put_input_share(&w, share_at(share, aggregator));
    return out + w.len;
}

// Splits a measurement. Writes public share, associated data, leader's plaintext and helper's
// plaintext at out, one after the other.
//   work: begins with the measurement; at a multiple of 8; wiped
//   id: the report's id: 16 random bytes, never used before
//   time: in units of the task's time precision
//   rand: secret random bytes, wiped
// Returns: RANGE for a measurement that the task does not accept.
EXPORT(shard)
uint32_t export_shard(uint32_t out, uint32_t work, uint32_t id, int64_t time, uint32_t rand)
{
    if (state == TASK_NONE) return SHOAL_ERR_ARGUMENT;
    const lengths l = measure();
    if (work % 8 != 0 || time < 0 ||
        !inside(out, l.public_share + l.aad + l.plaintexts[0] + l.plaintexts[1]) ||
        !inside(work, l.work) || !inside(id, SHOAL_DAP_REPORT_ID) || !inside(rand, l.rand))
        return SHOAL_ERR_ARGUMENT;
    uint8_t context[SHOAL_DAP_CONTEXT_MAX];
    const shoal_bytes ctx = {.at = context, .len = shoal_dap_context(context, &task)};
    const shoal_dap_metadata metadata = metadata_of(at(id), (uint64_t)time);
    uint8_t *next = at(work) + l.work - share_at(NULL, 0).len - share_at(NULL, 1).len;
    uint8_t *const shares[2] = {next, next + share_at(NULL, 0).len};
    uint64_t *measurement = (uint64_t *)(void *)at(work);
    shoal_err err = shoal_prio3_shard(at(out), shares, &prio3, ctx, measurement, metadata.id,
                                      at(rand), measurement + l.measurement / 8);
    if (!err) {
        shoal_dap_writer w = {.at = at(out) + l.public_share, .cap = l.aad};
        put_aad(&w, &metadata, at(out));
        put_share(put_share(w.at + w.len, shares[0], 0), shares[1], 1);
    }
    wipe(at(work), l.work);
    wipe(at(rand), l.rand);
    return err;
}

// Writes the HPKE info string for what a client seals for a server.
//   role: enum shoal_dap_role
// Returns: its length, at most SHOAL_DAP_INFO_MAX.
EXPORT(share_info) int32_t export_share_info(uint32_t out, uint32_t role)
{
    if (state == TASK_NONE || !inside(out, SHOAL_DAP_INFO_MAX)) return failed(SHOAL_ERR_ARGUMENT);
    return (int32_t)shoal_dap_input_share_info(at(out), &task, (enum shoal_dap_role)role);
}

// Finds the key for sealing shares in a server's list. Writes the config's id, then its public key.
EXPORT(read_keys) uint32_t export_read_keys(uint32_t out, uint32_t list, uint32_t len)
{
    shoal_dap_hpke_config config;
    if (!inside(out, 1 + KEY_LEN) || !inside(list, len)) return SHOAL_ERR_ARGUMENT;
    const shoal_bytes bytes = {.at = at(list), .len = len};
    shoal_err err = shoal_dap_read_hpke_configs(&config, bytes);
    if (!err && config.public_key.len != KEY_LEN) err = SHOAL_ERR_RANGE;
    if (err) return err;
    at(out)[0] = config.id;
    memcpy(at(out) + 1, config.public_key.at, KEY_LEN);
    return SHOAL_OK;
}

// A sealed plaintext as JavaScript passes it: the config's id, the encapsulated key, the
// ciphertext. NULL stands for any bytes of that length.
static shoal_dap_ciphertext sealed_at(const uint8_t *sealed, uint32_t aggregator)
{
    shoal_dap_ciphertext c = {.enc = {.len = KEY_LEN},
                              .payload = {.len = plaintext_len(aggregator) + TAG_LEN}};
    if (sealed == NULL) return c;
    c.config_id = sealed[0];
    c.enc.at = sealed + 1;
    c.payload.at = c.enc.at + KEY_LEN;
    return c;
}

// Returns: bytes of an upload of one report, which are the same for all reports of a task.
EXPORT(report_length) int32_t export_report_length(void)
{
    if (state == TASK_NONE) return failed(SHOAL_ERR_ARGUMENT);
    const shoal_dap_report report = {.public_share = {.len = public_len()},
                                     .leader = sealed_at(NULL, 0),
                                     .helper = sealed_at(NULL, 1)};
    shoal_dap_writer w = {.at = NULL};
    shoal_dap_put_report(&w, &report);
    return (int32_t)w.len;
}

static void put_report(shoal_dap_writer *w, const uint8_t *id, uint64_t time, const uint8_t *parts)
{
    const lengths l = measure();
    const uint8_t *leader = parts + l.public_share,
                  *helper = leader + 1 + KEY_LEN + l.plaintexts[0] + TAG_LEN;
    const shoal_dap_report report = {.metadata = metadata_of(id, time),
                                     .public_share = {.at = parts, .len = l.public_share},
                                     .leader = sealed_at(leader, 0),
                                     .helper = sealed_at(helper, 1)};
    shoal_dap_put_report(w, &report);
}

// Writes a report: an upload request with one report.
//   parts: public share, then the sealed plaintexts for the leader and for the helper: config id,
//     encapsulated key, ciphertext
// Returns: its length.
EXPORT(report)
int32_t export_report(uint32_t out, uint32_t cap, uint32_t id, int64_t time, uint32_t parts)
{
    if (state == TASK_NONE || time < 0 || !inside(out, cap) || !inside(id, SHOAL_DAP_REPORT_ID))
        return failed(SHOAL_ERR_ARGUMENT);
    const lengths l = measure();
    if (!inside(parts,
                l.public_share + l.plaintexts[0] + l.plaintexts[1] + 2 * (1 + KEY_LEN + TAG_LEN)))
        return failed(SHOAL_ERR_ARGUMENT);
    shoal_dap_writer w = {.at = at(out), .cap = cap};
    put_report(&w, at(id), (uint64_t)time, at(parts));
    return length_or(w.is_full ? SHOAL_ERR_SPACE : SHOAL_OK, w.len);
}
