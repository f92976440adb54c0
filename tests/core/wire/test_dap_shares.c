// SPDX-License-Identifier: Apache-2.0
// What a device seals, from fixed randomness, by a digest: the same bytes on every build.
// wasm/test/bindings/dap.test.mjs holds the page's module, which is compiled for speed, to the same
// digests. A report under such a digest has been verified by two servers
// (tests/aggregator/dap/page.test.mjs).
#include <string.h>

#include "bytes.h"
#include "check.h"
#include "dap.h"
#include "sha256.h"

typedef struct sample {
    shoal_prio3_parameters vdaf;
    const char
        *digest; // SHA-256 of public share, associated data, the leader's plaintext, the helper's
} sample;

static const sample samples[] = {
    {{.circuit = SHOAL_CIRCUIT_COUNT},
     "46f04d11d4da45648db686d081d829303a05117ad1b8878257cfb66451390e99"},
    {{.circuit = SHOAL_CIRCUIT_SUM, .max = 1000},
     "ca0eaaf69d8b91aa12d81026337b70060c76c68b876b9d67efb4dbfa75043178"},
    {{.circuit = SHOAL_CIRCUIT_SUM_VEC, .length = 9, .max = 100, .chunk = 7},
     "8afc63f430d12c5e1173599a38495427139fe11a05fab1d501f75b95c03de5ab"},
    {{.circuit = SHOAL_CIRCUIT_HISTOGRAM, .length = 33, .chunk = 5},
     "c1966941255bbdb8750aa839b65e5131c6478504a1ac800bde7d9f6c8cdcc248"},
    {{.circuit = SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC, .length = 20, .max = 6, .chunk = 4},
     "285df4c7e6f59b2563efa8f1ac1f18cc99c6a0da4bcbb0e6b52785f8934a6d8c"},
};
#define N_SAMPLES (sizeof samples / sizeof samples[0])

static shoal_dap_task task_of(const shoal_prio3_parameters *vdaf)
{
    static const char leader[] = "https://leader.example/dap",
                      helper[] = "https://helper.example/dap";
    shoal_dap_task task = {.version = SHOAL_DAP_18,
                           .info_len = 6,
                           .info = "shares",
                           .time_precision_s = 3600,
                           .min_batch_size = 100};
    const char *why;
    CHECK(shoal_url_set(&task.leader, leader, sizeof leader - 1, &why) == SHOAL_OK);
    CHECK(shoal_url_set(&task.helper, helper, sizeof helper - 1, &why) == SHOAL_OK);
    task.vdaf = *vdaf;
    task.vdaf.shares = 2;
    task.vdaf.proofs = 1;
    for (uint32_t i = 0; i < sizeof task.id; i++) task.id[i] = (uint8_t)i;
    return task;
}

// 1 of a count or a sum, bucket 1 of a histogram; of a vector 1 at every fourth entry.
static void measure(uint64_t *measurement, const shoal_prio3_parameters *vdaf)
{
    measurement[0] = 1;
    for (uint32_t i = 0; i < vdaf->length; i++) measurement[i] = i % 4 == 0;
}

static void digest_of(char hex[65], const sample *s)
{
    static uint8_t shares[2][8192], public_share[64], rand[256], aad[1024];
    static uint64_t measurement[64], scratch[16384];
    const shoal_dap_task task = task_of(&s->vdaf);
    shoal_prio3 prio3;
    CHECK(shoal_prio3_init(&prio3, &task.vdaf) == SHOAL_OK);
    shoal_dap_metadata metadata = {.time = 500000};
    for (uint32_t i = 0; i < sizeof metadata.id; i++) metadata.id[i] = (uint8_t)(64 + i);
    for (uint32_t i = 0; i < sizeof rand; i++) rand[i] = (uint8_t)(7 * i + 1);
    measure(measurement, &task.vdaf);
    uint8_t context[SHOAL_DAP_CONTEXT_MAX];
    const shoal_bytes ctx = {context, shoal_dap_context(context, &task)};
    uint8_t *const at[2] = {shares[0], shares[1]};
    CHECK(shoal_prio3_input_share_len(&prio3, 0) <= sizeof shares[0]);
    CHECK(shoal_prio3_scratch_words(&prio3) <= sizeof scratch / sizeof *scratch);
    CHECK(shoal_prio3_shard(public_share, at, &prio3, ctx, measurement, metadata.id, rand,
                            scratch) == SHOAL_OK);

    shoal_sha256 sha;
    uint8_t hash[32], plaintext[8200];
    const shoal_bytes shared = {public_share, shoal_prio3_public_share_len(&prio3)};
    shoal_dap_writer w = {.at = aad, .cap = sizeof aad};
    shoal_dap_put_input_share_aad(&w, &task, &metadata, shared);
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, shared.at, shared.len);
    shoal_sha256_update(&sha, aad, w.len);
    for (uint32_t i = 0; i < 2; i++) {
        shoal_dap_writer p = {.at = plaintext, .cap = sizeof plaintext};
        shoal_dap_put_input_share(&p,
                                  (shoal_bytes){shares[i], shoal_prio3_input_share_len(&prio3, i)});
        CHECK(!p.is_full);
        shoal_sha256_update(&sha, plaintext, p.len);
    }
    shoal_sha256_final(hash, &sha);
    for (uint32_t i = 0; i < 32; i++) snprintf(hex + 2 * (size_t)i, 3, "%02x", hash[i]);
}

int main(void)
{
    for (size_t i = 0; i < N_SAMPLES; i++) {
        char hex[65];
        digest_of(hex, &samples[i]);
        if (!CHECK(strcmp(hex, samples[i].digest) == 0))
            printf("circuit %d: %s\n", (int)samples[i].vdaf.circuit, hex);
    }
    return check_summary();
}
