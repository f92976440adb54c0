// SPDX-License-Identifier: Apache-2.0
// Two servers: what a report of 1,024 entries costs the device that shards it and the servers that
// verify it, without HPKE and without the network. Naive: the same with a gadget's call for every
// entry (chunk 1) in place of the chunk of the shortest proof.
#include <stdlib.h>
#include <string.h>

#include "agg_cpu.h"
#include "bench.h"
#include "prio_cpu.h"
#include "rng.h"
#include "split.h"

#define ENTRIES 1024u
#define REPORTS 20u

// All parties of one kind of report.
typedef struct party {
    shoal_prio3 prio3;
    uint64_t *measurement, *scratch;
    uint8_t *rand, *public_share, *shares[2], *states[2], *verifiers[2], *message, *output;
    size_t share_len;
} party;

typedef struct two_servers {
    party best, naive; // by the chunk
} two_servers;

static const uint8_t nonce[SHOAL_PRIO3_NONCE] = {1}, key[SHOAL_PRIO3_VERIFY_KEY] = {2};
static const shoal_prio3_bytes context = {(const uint8_t *)"bench", 5};

// The instruction set that a variant of the step names.
static void choose_cpu(party *p)
{
    uint32_t chosen = (uint32_t)agg_cpu_chosen(), best = shoal_prio_cpu_best();
    p->prio3.cpu = chosen < best ? chosen : best;
}

static void shard(party *p)
{
    choose_cpu(p);
    bench_check(shoal_prio3_shard(p->public_share, p->shares, &p->prio3, context, p->measurement,
                                  nonce, p->rand, p->scratch),
                "sharding");
}

static void verify_init(party *p, uint32_t id)
{
    choose_cpu(p);
    const shoal_prio3_report report = {nonce,
                                       {p->public_share, shoal_prio3_public_share_len(&p->prio3)},
                                       {p->shares[id], shoal_prio3_input_share_len(&p->prio3, id)}};
    bench_check(shoal_prio3_verify_init(p->states[id], p->verifiers[id], &p->prio3, key, context,
                                        id, &report, p->scratch),
                "verifying");
}

static void verify_next(party *p, uint32_t id)
{
    bench_check(shoal_prio3_verify_next(
                    p->output, &p->prio3, p->states[id],
                    (shoal_prio3_bytes){p->message, shoal_prio3_message_len(&p->prio3)}),
                "verifying");
    bench_keep(p->output[0]);
}

static void combine(party *p)
{
    const size_t len = shoal_prio3_verifier_share_len(&p->prio3);
    const shoal_prio3_bytes both[2] = {{p->verifiers[0], len}, {p->verifiers[1], len}};
    bench_check(shoal_prio3_combine(p->message, &p->prio3, context, both, p->scratch), "the proof");
}

static void lead(party *p)
{
    verify_init(p, 0);
    verify_next(p, 0);
}

static void help(party *p)
{
    verify_init(p, 1);
    combine(p);
    verify_next(p, 1);
}

static void open_party(party *p, const shoal_prio3_parameters *parameters, uint32_t chunk,
                       const uint64_t *measurement, size_t words)
{
    static const uint8_t seed[32] = "the benchmark's shares";
    shoal_prio3_parameters chunked = *parameters;
    shoal_rng rng;
    chunked.chunk = chunk;
    bench_check(shoal_prio3_init(&p->prio3, &chunked), "the parameters");
    p->measurement = bench_alloc(words, sizeof *measurement);
    memcpy(p->measurement, measurement, words * sizeof *measurement);
    p->scratch = bench_alloc(shoal_prio3_scratch_words(&p->prio3), sizeof *p->scratch);
    p->rand = bench_alloc(shoal_prio3_rand_len(&p->prio3), 1);
    p->public_share = bench_alloc(shoal_prio3_public_share_len(&p->prio3), 1);
    p->message = bench_alloc(shoal_prio3_message_len(&p->prio3), 1);
    p->output = bench_alloc(shoal_prio3_output_share_len(&p->prio3), 1);
    p->share_len = shoal_prio3_input_share_len(&p->prio3, 0);
    for (uint32_t i = 0; i < 2; i++) {
        p->shares[i] = bench_alloc(shoal_prio3_input_share_len(&p->prio3, i), 1);
        p->states[i] = bench_alloc(shoal_prio3_state_len(&p->prio3), 1);
        p->verifiers[i] = bench_alloc(shoal_prio3_verifier_share_len(&p->prio3), 1);
    }
    shoal_rng_init(&rng, seed);
    shoal_rng_bytes(&rng, p->rand, shoal_prio3_rand_len(&p->prio3));
    shard(p);
    verify_init(p, 0);
    verify_init(p, 1);
    combine(p);
}

static void close_party(party *p)
{
    for (uint32_t i = 0; i < 2; i++) {
        free(p->shares[i]);
        free(p->states[i]);
        free(p->verifiers[i]);
    }
    free(p->measurement);
    free(p->scratch);
    free(p->rand);
    free(p->public_share);
    free(p->message);
    free(p->output);
}

static void real_shard(void *context_of_step)
{
    two_servers *s = context_of_step;
    for (uint32_t i = 0; i < REPORTS; i++) shard(&s->best);
}

static void naive_shard(void *context_of_step)
{
    two_servers *s = context_of_step;
    shard(&s->naive);
}

static void real_lead(void *context_of_step)
{
    two_servers *s = context_of_step;
    for (uint32_t i = 0; i < REPORTS; i++) lead(&s->best);
}

static void naive_lead(void *context_of_step)
{
    two_servers *s = context_of_step;
    lead(&s->naive);
}

static void real_help(void *context_of_step)
{
    two_servers *s = context_of_step;
    for (uint32_t i = 0; i < REPORTS; i++) help(&s->best);
}

static void naive_help(void *context_of_step)
{
    two_servers *s = context_of_step;
    help(&s->naive);
}

static void read_share(void *context_of_step)
{
    two_servers *s = context_of_step;
    for (uint32_t i = 0; i < REPORTS; i++)
        bench_keep(bench_read(s->best.shares[0], s->best.share_len));
}

static void run(two_servers *s, const char *name, double aim_ns, void (*real)(void *),
                void (*naive)(void *))
{
    bench_run_variants(&(bench_step){name,
                                     "report",
                                     "a gadget's call an entry",
                                     aim_ns,
                                     0,
                                     {real, REPORTS},
                                     {naive, 1},
                                     {read_share, REPORTS},
                                     s});
}

// The split of a part of 1,024 entries, and a record's measurement.
static void open_servers(two_servers *s, uint32_t mechanism, uint32_t size)
{
    static uint64_t measurement[ENTRIES];
    static const uint8_t seed[32] = "the benchmark's record";
    uint8_t record[ENTRIES / 8] = {0};
    char text[2 * sizeof record];
    const char *why = "";
    shoal_split split;
    shoal_rng rng;
    shoal_part part = {.mechanism = mechanism,
                       .domain = SHOAL_DOMAIN_CLOSED,
                       .eps_micro = 4000000,
                       .k = 1,
                       .size = size};
    const shoal_mechanism *made = shoal_mechanism_by_id(mechanism);
    bench_check(shoal_part_prepare(&part, &why), "the part");
    bench_check(shoal_split_init(&split, &part, &why), "the split");
    if (split.prio3.length != ENTRIES || part.text_size > sizeof text)
        bench_die("the split has another length");
    shoal_rng_init(&rng, seed);
    made->randomize(record, &part, 7, NULL, &rng);
    made->print(text, &part, record);
    bench_check(shoal_split_text(measurement, &split, text, part.text_size), "the record");
    open_party(&s->best, &split.prio3, split.prio3.chunk, measurement, shoal_split_words(&split));
    open_party(&s->naive, &split.prio3, 1, measurement, shoal_split_words(&split));
}

void bench_prio3(void)
{
    two_servers s;
    open_servers(&s, shoal_grr_id, ENTRIES - 1); // and "none of the list"
    run(&s, "two servers: shard Histogram of 1,024, native", 1e6, real_shard, naive_shard);
    run(&s, "two servers: leader verifies Histogram of 1,024", 0.3e6, real_lead, naive_lead);
    run(&s, "two servers: helper verifies Histogram of 1,024", 0.4e6, real_help, naive_help);
    close_party(&s.best);
    close_party(&s.naive);
    open_servers(&s, shoal_onehot_asymmetric_id, ENTRIES);
    run(&s, "two servers: shard one-hot of 1,024, native", 1e6, real_shard, naive_shard);
    run(&s, "two servers: leader verifies one-hot of 1,024", 0.3e6, real_lead, naive_lead);
    run(&s, "two servers: helper verifies one-hot of 1,024", 0.4e6, real_help, naive_help);
    close_party(&s.best);
    close_party(&s.naive);
}
