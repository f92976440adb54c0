// SPDX-License-Identifier: Apache-2.0
// Properties of Prio3, draft 18 and VDAF-08, whatever the messages: the same message twice gives
// the same answer, whatever was in the scratch; what is refused leaves zeros, or things as they
// were; what is accepted is canonical and can be gone on with. The first byte chooses the
// parameters, the second the step, the third where a pair of messages is cut.
#include "fuzz.h"
#include "rng.h"
#include "vdaf08.h"

enum { MOST = 1 << 12, MOST_WORDS = 1 << 10, MOST_SUMS = 16 };

typedef enum step { VERIFY_LEADER, VERIFY_HELPER, COMBINE, NEXT, ADD, UNSHARD, N_STEPS } step;

static const shoal_prio3_parameters cases[] = {
    {.circuit = SHOAL_CIRCUIT_COUNT, .shares = 2, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_SUM, .max = 3, .shares = 2, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_SUM_VEC, .length = 2, .max = 3, .chunk = 3, .shares = 2, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_SUM_VEC, .length = 2, .max = 1, .chunk = 1, .shares = 2, .proofs = 3},
    {.circuit = SHOAL_CIRCUIT_HISTOGRAM, .length = 4, .chunk = 2, .shares = 2, .proofs = 1},
    {.circuit = SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC,
     .length = 3,
     .max = 2,
     .chunk = 2,
     .shares = 2,
     .proofs = 1},
};
#define N_CASES (sizeof cases / sizeof cases[0])
#define N_CHOICES (2 * N_CASES - 1) // VDAF-08 has all but the last

static const uint8_t nonce[SHOAL_PRIO3_NONCE] = {6}, key[SHOAL_PRIO3_VERIFY_KEY] = {7};
static uint64_t scratch[MOST_WORDS];

static void open_case(shoal_prio3 *prio3, uint8_t choice)
{
    size_t at = choice % N_CHOICES;
    shoal_err err = at < N_CASES ? shoal_prio3_init(prio3, &cases[at])
                                 : shoal_vdaf08_init(prio3, &cases[at - N_CASES]);
    PROPERTY(err == SHOAL_OK && shoal_prio3_scratch_words(prio3) <= MOST_WORDS);
    PROPERTY(prio3->flp.output_len <= MOST_SUMS);
}

static int is_zero(const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (bytes[i] != 0) return 0;
    return 1;
}

static void verify(const shoal_prio3 *prio3, uint32_t id, shoal_prio3_bytes public_share,
                   shoal_prio3_bytes input_share)
{
    static uint8_t state[2][MOST], verifier_share[2][MOST], sum[MOST];
    const shoal_prio3_report report = {nonce, public_share, input_share};
    size_t state_len = shoal_prio3_state_len(prio3),
           share_len = shoal_prio3_verifier_share_len(prio3);
    size_t output_len = shoal_prio3_output_share_len(prio3);
    shoal_err err[2];
    for (int i = 0; i < 2; i++) {
        memset(scratch, i == 0 ? 0 : 0xa5, sizeof scratch);
        memset(state[i], 0x5a, state_len + 1);
        memset(verifier_share[i], 0x5a, share_len + 1);
        err[i] = shoal_prio3_verify_init(state[i], verifier_share[i], prio3, key,
                                         (shoal_prio3_bytes){NULL, 0}, id, &report, scratch);
        PROPERTY(state[i][state_len] == 0x5a && verifier_share[i][share_len] == 0x5a);
    }
    PROPERTY(err[0] == err[1]);
    PROPERTY(memcmp(state[0], state[1], state_len) == 0 &&
             memcmp(verifier_share[0], verifier_share[1], share_len) == 0);
    if (err[0] == SHOAL_ERR_RECORD)
        PROPERTY(is_zero(state[0], state_len) && is_zero(verifier_share[0], share_len));
    if (err[0] != SHOAL_OK) return;
    memset(sum, 0, output_len);
    PROPERTY(shoal_prio3_add(sum, prio3, (shoal_prio3_bytes){state[0], output_len}) == SHOAL_OK);
    PROPERTY(memcmp(sum, state[0], output_len) == 0);
}

static void combine(const shoal_prio3 *prio3, const shoal_prio3_bytes *shares)
{
    uint8_t message[2][SHOAL_XOF_SEED + 1];
    size_t len = shoal_prio3_message_len(prio3);
    const shoal_prio3_bytes turned[2] = {shares[1], shares[0]};
    memset(message, 0x5a, sizeof message);
    shoal_err err =
        shoal_prio3_combine(message[0], prio3, (shoal_prio3_bytes){NULL, 0}, shares, scratch);
    memset(scratch, 0xa5, sizeof scratch);
    PROPERTY(shoal_prio3_combine(message[1], prio3, (shoal_prio3_bytes){NULL, 0}, shares,
                                 scratch) == err);
    PROPERTY(message[0][len] == 0x5a && memcmp(message[0], message[1], sizeof message[0]) == 0);
    // the proof is the sum's: the order matters for the joint randomness only
    PROPERTY((shoal_prio3_combine(message[1], prio3, (shoal_prio3_bytes){NULL, 0}, turned,
                                  scratch) == SHOAL_OK) == (err == SHOAL_OK));
}

static void next(const shoal_prio3 *prio3, shoal_prio3_bytes state, shoal_prio3_bytes message)
{
    uint8_t out[MOST_SUMS * 16];
    size_t output_len = shoal_prio3_output_share_len(prio3);
    if (state.len != shoal_prio3_state_len(prio3)) return; // it is the aggregator's own
    shoal_err err = shoal_prio3_verify_next(out, prio3, state.at, message);
    int is_same = message.len == state.len - output_len &&
                  (message.len == 0 || memcmp(state.at + output_len, message.at, message.len) == 0);
    PROPERTY((err == SHOAL_OK) == is_same);
    if (err == SHOAL_OK) PROPERTY(memcmp(out, state.at, output_len) == 0);
}

static void add(const shoal_prio3 *prio3, shoal_prio3_bytes a, shoal_prio3_bytes b)
{
    static uint8_t ab[MOST], ba[MOST];
    size_t len = shoal_prio3_output_share_len(prio3);
    if (a.len != len) return;
    memcpy(ab, a.at, len);
    shoal_err err = shoal_prio3_add(ab, prio3, b);
    if (err != SHOAL_OK) {
        PROPERTY(memcmp(ab, a.at, len) == 0);
        return;
    }
    memcpy(ba, b.at, len);
    PROPERTY(shoal_prio3_add(ba, prio3, a) == SHOAL_OK && memcmp(ab, ba, len) == 0);
}

static void unshard(const shoal_prio3 *prio3, const shoal_prio3_bytes *shares)
{
    uint64_t sums[2][MOST_SUMS] = {{0}};
    const shoal_prio3_bytes turned[2] = {shares[1], shares[0]};
    shoal_err err = shoal_prio3_unshard(sums[0], prio3, shares, scratch);
    shoal_err again = shoal_prio3_unshard(sums[1], prio3, turned, scratch);
    PROPERTY((err == SHOAL_OK) == (again == SHOAL_OK));
    if (err == SHOAL_OK) PROPERTY(memcmp(sums[0], sums[1], sizeof sums[0]) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    shoal_prio3 prio3;
    if (len < 3 || len > MOST) return 0;
    open_case(&prio3, data[0]);
    size_t cut = data[2] < len - 3 ? data[2] : len - 3;
    const shoal_prio3_bytes pair[2] = {{data + 3, cut}, {data + 3 + cut, len - 3 - cut}};
    switch ((step)(data[1] % N_STEPS)) {
    case VERIFY_LEADER: verify(&prio3, 0, pair[0], pair[1]); break;
    case VERIFY_HELPER: verify(&prio3, 1, pair[0], pair[1]); break;
    case COMBINE: combine(&prio3, pair); break;
    case NEXT: next(&prio3, pair[0], pair[1]); break;
    case ADD: add(&prio3, pair[0], pair[1]); break;
    case UNSHARD: unshard(&prio3, pair); break;
    case N_STEPS: break;
    }
    return 0;
}

// Two messages of an honest device and its aggregators, one after the other. Returns: bytes; 0
// where they do not fit.
static size_t put_pair(uint8_t *out, size_t cap, size_t index, shoal_prio3_bytes a,
                       shoal_prio3_bytes b)
{
    if (a.len > UINT8_MAX || a.len + b.len + 3 > cap) return 0;
    out[0] = (uint8_t)(index / N_STEPS);
    out[1] = (uint8_t)(index % N_STEPS);
    out[2] = (uint8_t)a.len;
    if (a.len > 0) memcpy(out + 3, a.at, a.len);
    if (b.len > 0) memcpy(out + 3 + a.len, b.at, b.len);
    return a.len + b.len + 3;
}

size_t fuzz_seed(uint8_t *out, size_t cap, size_t index)
{
    static uint8_t rand[MOST], public_share[MOST], shares[2][MOST], states[2][MOST],
        verifiers[2][MOST];
    uint8_t *const input_shares[2] = {shares[0], shares[1]};
    uint8_t message[SHOAL_XOF_SEED], seed[32] = {5};
    const uint64_t measurement[4] = {1, 1};
    shoal_prio3_bytes no_ctx = {NULL, 0}, verifier_shares[2], outputs[2];
    shoal_prio3 prio3;
    shoal_rng rng;
    if (index >= N_CHOICES * N_STEPS) return 0;
    open_case(&prio3, (uint8_t)(index / N_STEPS));
    shoal_rng_init(&rng, seed);
    shoal_rng_bytes(&rng, rand, shoal_prio3_rand_len(&prio3));
    PROPERTY(shoal_prio3_shard(public_share, input_shares, &prio3, no_ctx, measurement, nonce, rand,
                               scratch) == SHOAL_OK);
    const shoal_prio3_bytes public = {public_share, shoal_prio3_public_share_len(&prio3)};
    for (uint32_t i = 0; i < 2; i++) {
        const shoal_prio3_report report = {
            nonce, public, {shares[i], shoal_prio3_input_share_len(&prio3, i)}};
        PROPERTY(shoal_prio3_verify_init(states[i], verifiers[i], &prio3, key, no_ctx, i, &report,
                                         scratch) == SHOAL_OK);
        verifier_shares[i] =
            (shoal_prio3_bytes){verifiers[i], shoal_prio3_verifier_share_len(&prio3)};
        outputs[i] = (shoal_prio3_bytes){states[i], shoal_prio3_output_share_len(&prio3)};
    }
    PROPERTY(shoal_prio3_combine(message, &prio3, no_ctx, verifier_shares, scratch) == SHOAL_OK);
    const shoal_prio3_bytes pairs[N_STEPS][2] = {
        [VERIFY_LEADER] = {public, {shares[0], shoal_prio3_input_share_len(&prio3, 0)}},
        [VERIFY_HELPER] = {public, {shares[1], shoal_prio3_input_share_len(&prio3, 1)}},
        [COMBINE] = {verifier_shares[0], verifier_shares[1]},
        [NEXT] = {{states[0], shoal_prio3_state_len(&prio3)},
                  {message, shoal_prio3_message_len(&prio3)}},
        [ADD] = {outputs[0], outputs[1]},
        [UNSHARD] = {outputs[0], outputs[1]},
    };
    return put_pair(out, cap, index, pairs[index % N_STEPS][0], pairs[index % N_STEPS][1]);
}
