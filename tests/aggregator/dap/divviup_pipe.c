// SPDX-License-Identifier: Apache-2.0
// A leader and a helper of a DAP-09 task in one program, without HTTP or a store: one report a line
// on standard input, what it adds to the sums, or why it is refused, on standard output.
//
//     CIRCUIT LENGTH MAX CHUNK TASK_ID LEADER_SECRET HELPER_SECRET LEADER_CONFIG HELPER_CONFIG
//     REPORT
//
// CIRCUIT is shoal_circuit's number, bytes are hex digits. Answers: "sums 0 1 0", "refused by the
// leader: hpke_decrypt_error", "unreadable".
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dap_vdaf.h"
#include "recipe_json.h"

enum { MOST = 1 << 16 };

static char line[2 * MOST];
static const uint8_t seed[32] = {3};

static const char *take_word(void)
{
    const char *word = strtok(NULL, " \n");
    if (word != NULL) return word;
    fputs("divviup_pipe: a word is missing\n", stderr);
    exit(2);
}

static size_t take_hex(uint8_t *bytes, size_t cap)
{
    const char *word = take_word();
    size_t len = strlen(word) / 2;
    if (len <= cap && agg_unhex(bytes, len, word)) return len;
    fputs("divviup_pipe: a field is no hex, or too long\n", stderr);
    exit(2);
}

static uint64_t take_number(void)
{
    return strtoull(take_word(), NULL, 10);
}

static shoal_bytes written(const shoal_dap_writer *w)
{
    return (shoal_bytes){w->at, w->len};
}

// Both servers' shares of a report into its sums. Returns: 0, or the error, and then *who is who
// found it.
static uint32_t verify(uint64_t *sums, const char **who, const agg_dap_vdaf *vdaf,
                       const agg_dap_keys *keys, const shoal_dap_report *report)
{
    static uint8_t states[2][MOST], outputs[2][MOST], verifier_share[MOST], message[MOST],
        payload[MOST];
    agg_dap_work work;
    agg_error error = {0};
    shoal_dap_verify_init init = {
        report->metadata, report->public_share, report->helper, {NULL, 0}};
    shoal_dap_writer w = {payload, sizeof payload, 0, 0};
    if (agg_dap_work_init(&work, &error, vdaf) != SHOAL_OK) exit(1);
    *who = "leader";
    uint32_t refusal =
        agg_dap_leader_begin(states[0], verifier_share, &work, vdaf, &keys[0], report);
    if (refusal == 0) {
        *who = "helper";
        shoal_dap_put_initialize(
            &w, (shoal_bytes){verifier_share, shoal_prio3_verifier_share_len(&vdaf->prio3)});
        init.payload = written(&w);
        refusal =
            agg_dap_helper_verify(outputs[1], message, states[1], &work, vdaf, &keys[1], &init);
    }
    if (refusal == 0) {
        *who = "leader at last";
        w = (shoal_dap_writer){payload, sizeof payload, 0, 0};
        shoal_dap_put_finish(&w, (shoal_bytes){message, shoal_prio3_message_len(&vdaf->prio3)});
        refusal = agg_dap_leader_end(outputs[0], vdaf, states[0], written(&w));
    }
    const shoal_bytes shares[2] = {{outputs[0], agg_dap_output_len(vdaf)},
                                   {outputs[1], agg_dap_output_len(vdaf)}};
    if (refusal == 0 && shoal_prio3_unshard(sums, &vdaf->prio3, shares, work.scratch) != SHOAL_OK)
        exit(1);
    agg_dap_work_release(&work);
    return refusal;
}

static void answer(void)
{
    static uint8_t message[MOST];
    static uint64_t sums[MOST / 16];
    agg_dap_vdaf vdaf;
    agg_dap_keys keys[2] = {{.n = 1}, {.n = 1}};
    agg_error error = {0};
    shoal_dap_task task = {
        .version = SHOAL_DAP_09, .time_precision_s = 300, .vdaf = {.shares = 2, .proofs = 1}};
    shoal_dap_report report;
    const char *who;
    task.vdaf.circuit = (shoal_circuit)strtoul(line, NULL, 10);
    (void)strtok(line, " ");
    task.vdaf.length = (uint32_t)take_number();
    task.vdaf.max = take_number();
    task.vdaf.chunk = (uint32_t)take_number();
    take_hex(task.id, sizeof task.id);
    for (int i = 0; i < 2; i++) take_hex(keys[i].list[0].secret_key, 32);
    for (int i = 0; i < 2; i++) keys[i].list[0].id = (uint8_t)take_number();
    shoal_dap_reader r = {message, take_hex(message, sizeof message), 0};
    if (agg_dap_vdaf_init(&vdaf, &error, &task, seed) != SHOAL_OK) exit(1);
    if (vdaf.wire->read_report(&report, &r) != SHOAL_OK || !shoal_dap_is_at_end(&r)) {
        puts("unreadable");
        return;
    }
    uint32_t refusal = verify(sums, &who, &vdaf, keys, &report);
    if (refusal != 0) {
        printf("refused by the %s: %s\n", who, shoal_dap_report_error_name(refusal));
        return;
    }
    fputs("sums", stdout);
    for (uint32_t i = 0; i < vdaf.prio3.flp.output_len; i++)
        printf(" %llu", (unsigned long long)sums[i]);
    putchar('\n');
}

int main(void)
{
    while (fgets(line, sizeof line, stdin) != NULL) {
        answer();
        fflush(stdout);
    }
    return 0;
}
