// SPDX-License-Identifier: Apache-2.0
// Records as measurements: bounds of weights against laws that were added up coin by coin, and
// against the real randomizers; texts as strictly read as the mechanisms read them; every sample
// through Prio3; and devices that prove whatever they like about too much weight.
#include "split.h"

#include <math.h>

#include "prio3_parties.h"
#include "samples.h"
#include "scripted_rng.h"
#include "split_weight.h"

#define TWO_64 18446744073709551616.0
#define LIMIT (1.0 / SHOAL_SPLIT_REFUSALS)
#define COINS 1100

// law[w] = P(w ones of n coins of probability q and one of probability hot), one coin after the
// other.
static void add_coins(double *law, uint32_t n, double q, double hot)
{
    memset(law, 0, (n + 2) * sizeof *law);
    law[0] = 1;
    for (uint32_t coin = 0; coin <= n; coin++) {
        double p = coin == n ? hot : q;
        for (uint32_t w = coin + 1; w > 0; w--) law[w] = law[w] * (1 - p) + law[w - 1] * p;
        law[0] *= 1 - p;
    }
}

// The same for many coins, from the mode outwards: terms of the n coins alone.
static void scale_terms(double *terms, uint32_t n, double q)
{
    uint32_t mode = (uint32_t)((n + 1) * q);
    double sum = 1;
    terms[mode] = 1;
    for (uint32_t j = mode; j < n; j++)
        sum += terms[j + 1] = terms[j] * (n - j) / (j + 1) * (q / (1 - q));
    for (uint32_t j = mode; j > 0; j--)
        sum += terms[j - 1] = terms[j] * j / (n - j + 1) * ((1 - q) / q);
    for (uint32_t j = 0; j <= n; j++) terms[j] /= sum;
}

// What the returned bound must be: rounding of doubles is far below the 1e-10 that is allowed for
// it here. It is loose by at most n 2^-26 of the limit.
static void check_bound(const double *law, uint32_t n, uint32_t weight, uint64_t refusal)
{
    const double loose = (n + 1) * 1.5e-8;
    double above = 0;
    for (uint32_t w = n + 1; w > weight; w--) above += law[w];
    CHECK(weight <= n + 1);
    CHECK(above <= LIMIT * (1 + 1e-10));
    CHECK((double)refusal / TWO_64 >= above * (1 - 1e-10));
    CHECK((double)refusal / TWO_64 <= above + loose * LIMIT);
    CHECK((refusal == 0) == (weight == n + 1));
    CHECK(above + law[weight] > LIMIT * (1 - loose)); // one less would not do
}

static void check_coins(const double *law, uint32_t n, uint64_t threshold, uint64_t hot)
{
    uint64_t refusal = 1;
    uint32_t weight = shoal_split_weight(&refusal, n, threshold, hot);
    check_bound(law, n, weight, refusal);
}

static uint64_t threshold_of(double eps)
{
    return (uint64_t)(TWO_64 / (exp(eps) + 1));
}

static void check_tails(const double *eps, int n_eps)
{
    static const uint32_t coins[] = {1, 2, 3, 5, 7, 20, 63, 64, 127, 255, 700, 1023};
    static double law[COINS];
    for (size_t i = 0; i < sizeof coins / sizeof coins[0]; i++)
        for (int e = 0; e < n_eps; e++) {
            const uint64_t threshold = threshold_of(eps[e]),
                           hot[] = {(uint64_t)1 << 63, 0 - threshold};
            for (int h = 0; h < 2; h++) {
                add_coins(law, coins[i], (double)threshold / TWO_64, (double)hot[h] / TWO_64);
                check_coins(law, coins[i], threshold, hot[h]);
            }
        }
}

static void check_long_tails(const double *eps, int n_eps)
{
    static const uint32_t coins[] = {4095, 20000, SHOAL_SPLIT_COINS_MAX};
    static double terms[SHOAL_SPLIT_COINS_MAX + 1], law[SHOAL_SPLIT_COINS_MAX + 2];
    for (size_t i = 0; i < sizeof coins / sizeof coins[0]; i++)
        for (int e = 0; e < n_eps; e++) {
            const uint64_t threshold = threshold_of(eps[e]);
            const uint32_t n = coins[i];
            double hot = 1 - (double)threshold / TWO_64;
            scale_terms(terms, n, (double)threshold / TWO_64);
            for (uint32_t w = 0; w <= n + 1; w++)
                law[w] = (w <= n ? terms[w] * (1 - hot) : 0) + (w > 0 ? terms[w - 1] * hot : 0);
            check_coins(law, n, threshold, 0 - threshold);
        }
}

// The weights of all outputs of a randomizer of m bits, by forcing its coins of probability t/16 to
// every combination. Counts are in units of 1/(2 16^m): the fair coin of the asymmetric one is one
// of two, and the others do not draw it.
static void force_weights(uint64_t *law, const shoal_part *part, uint64_t item, uint64_t t,
                          int has_fair)
{
    memset(law, 0, (part->m + 1) * sizeof *law);
    for (uint64_t fair = 0; fair < 2; fair++)
        for (uint64_t ones = 0; ones < (uint64_t)1 << part->m; ones++) {
            uint8_t record[16] = {0};
            uint64_t chance = 1, weight = 0;
            shoal_rng rng;
            script(&rng, has_fair ? 1 : 0, ~ones); // a lane of zeros is below the threshold
            if (has_fair) script_word(&rng, 0, fair);
            shoal_mechanism_by_id(part->mechanism)->randomize(record, part, item, NULL, &rng);
            const uint8_t bits = record[part->record_size - 1]; // m <= 8
            for (uint32_t i = 0; i < part->m; i++) {
                chance *= ones >> i & 1 ? t : 16 - t;
                weight += bits >> i & 1;
            }
            law[weight] += chance;
        }
}

// The law that the bounds suppose, in the same units.
static void suppose_weights(uint64_t *law, uint32_t m, uint64_t t, int has_fair)
{
    memset(law, 0, (m + 1) * sizeof *law);
    law[0] = 2;
    for (uint32_t coin = 0; coin < m; coin++) {
        uint64_t p = coin + 1 < m ? t : has_fair ? 8 : 16 - t;
        for (uint32_t w = coin + 1; w > 0; w--) law[w] = law[w] * (16 - p) + law[w - 1] * p;
        law[0] *= 16 - p;
    }
}

static shoal_part bits_part(uint32_t mechanism, uint32_t m, uint32_t eps_micro)
{
    const int is_cms = mechanism == shoal_cms_id;
    const char *field = "";
    shoal_part part = {.mechanism = mechanism,
                       .domain = is_cms ? SHOAL_DOMAIN_OPEN : SHOAL_DOMAIN_CLOSED,
                       .hash = is_cms ? SHOAL_HASH_POLY1 : SHOAL_HASH_NONE,
                       .eps_micro = eps_micro,
                       .k = 1,
                       .m = is_cms ? m : 0,
                       .size = is_cms ? 0 : m,
                       .seed = {9}};
    CHECK(shoal_part_prepare(&part, &field) == SHOAL_OK);
    return part;
}

static const struct {
    uint32_t id;
    int has_fair;
} drawn[] = {{shoal_onehot_asymmetric_id, 1}, {shoal_onehot_symmetric_id, 0}, {shoal_cms_id, 0}};
#define N_DRAWN (sizeof drawn / sizeof drawn[0])

// Every value's weight has the supposed law, in whole numbers; "none of the list" of a one-hot
// encoding has less.
static void check_drawn_laws(void)
{
    uint64_t forced[9], supposed[9];
    for (size_t d = 0; d < N_DRAWN; d++)
        for (uint32_t m = 2; m <= 8; m++)
            for (uint64_t t = 1; t < 8; t += 3) {
                shoal_part part = bits_part(drawn[d].id, m, 4000000);
                part.threshold = t << 60;
                suppose_weights(supposed, m, t, drawn[d].has_fair);
                for (uint64_t item = 0; item < m; item++) {
                    force_weights(forced, &part, item, t, drawn[d].has_fair);
                    CHECK(memcmp(forced, supposed, (m + 1) * sizeof forced[0]) == 0);
                }
                if (part.size == 0) continue;
                force_weights(forced, &part, SHOAL_ITEM_NONE, t, drawn[d].has_fair);
                uint64_t above = 0, none_above = 0;
                for (uint32_t w = m; w > 0; w--) {
                    above += supposed[w];
                    none_above += forced[w];
                    CHECK(none_above < above);
                }
            }
}

// The bound of a mechanism's vector is that of the law its randomizer draws.
static void check_bounds_of_parts(void)
{
    static const uint32_t eps_micro[] = {10000, 1000000, 4000000, 16000000},
                          sizes[] = {2, 9, 64, 600};
    double law[COINS];
    for (size_t d = 0; d < N_DRAWN; d++)
        for (size_t e = 0; e < 4; e++)
            for (size_t i = 0; i < 4; i++) {
                const shoal_part part = bits_part(drawn[d].id, sizes[i], eps_micro[e]);
                const double q = (double)part.threshold / TWO_64;
                shoal_split split;
                const char *why;
                CHECK(shoal_split_init(&split, &part, &why) == SHOAL_OK);
                add_coins(law, sizes[i] - 1, q, drawn[d].has_fair ? 0.5 : 1 - q);
                check_bound(law, sizes[i] - 1, (uint32_t)split.prio3.max,
                            shoal_split_refusal(&split, &part));
            }
}

// Real thresholds and the real generator: weights of 20,000 records of each of two values and,
// beside the law, chi-square. With about ten degrees the mean is 10 and the standard deviation 4.5;
// 40 is one in 50,000.
static void check_drawn_weights(uint8_t seed)
{
    enum { N = 20000, M = 24 };
    uint8_t seed_bytes[32] = {seed}, record[16];
    double law[M + 2];
    shoal_rng rng;
    shoal_rng_init(&rng, seed_bytes);
    for (size_t d = 0; d < N_DRAWN; d++)
        for (uint64_t item = 0; item < M; item += M - 1) {
            const shoal_part part = bits_part(drawn[d].id, M, 2000000);
            double q = (double)part.threshold / TWO_64, chi = 0, expected = 0, seen = 0;
            uint32_t counts[M + 1] = {0};
            for (int i = 0; i < N; i++) {
                uint32_t weight = 0;
                shoal_mechanism_by_id(part.mechanism)->randomize(record, &part, item, NULL, &rng);
                for (uint32_t b = part.record_size - 3; b < part.record_size; b++)
                    for (int j = 0; j < 8; j++) weight += record[b] >> j & 1;
                counts[weight]++;
            }
            add_coins(law, M - 1, q, drawn[d].has_fair ? 0.5 : 1 - q);
            for (uint32_t w = 0; w <= M; w++) { // cells of at least 20 records
                expected += N * law[w];
                seen += counts[w];
                if (expected < 20 && w < M) continue;
                chi += (seen - expected) * (seen - expected) / (expected > 20 ? expected : 20);
                expected = seen = 0;
            }
            CHECK(chi < 40);
        }
}

typedef struct texts {
    shoal_recipe recipe;
    shoal_split split;
    uint8_t *record;
    char *text;
    uint64_t *measurement;
} texts;

// Returns: 0 where the sample's records are not split.
static int open_texts(texts *t, sample_at at)
{
    const char *why = NULL;
    CHECK(sample_recipe(&t->recipe, at.mechanism, at.sample) == SHOAL_OK);
    if (t->recipe.n_parts != 1 ||
        shoal_mechanism_by_name(at.mechanism, strlen(at.mechanism)) == NULL)
        return 0;
    const shoal_part *part = &t->recipe.parts[0];
    const uint64_t cells = (uint64_t)part->k * part->m;
    shoal_err err = shoal_split_init(&t->split, part, &why);
    if (err != SHOAL_OK) {
        CHECK(err == SHOAL_ERR_RANGE && why != NULL &&
              2 * cells + part->k > SHOAL_SPLIT_LENGTH_MAX);
        return 0;
    }
    CHECK(t->split.prio3.length <= SHOAL_SPLIT_LENGTH_MAX &&
          t->split.text_size == t->recipe.text_size);
    CHECK(t->split.idle + (t->split.cells << t->split.is_signed) + t->split.rows ==
          t->split.prio3.length);
    t->record = malloc(t->recipe.record_size);
    t->text = malloc(t->recipe.text_size);
    t->measurement = malloc(shoal_split_words(&t->split) * sizeof *t->measurement);
    return 1;
}

static void close_texts(texts *t)
{
    free(t->record);
    free(t->text);
    free(t->measurement);
}

static void draw_text(texts *t, const sample *s, shoal_rng *rng)
{
    shoal_permanent permanent;
    uint8_t secret[32];
    shoal_rng_bytes(rng, secret, sizeof secret);
    memcpy(permanent.secret, secret, sizeof secret);
    CHECK(sample_randomize(t->record, &t->recipe, s->value, &permanent, rng) == SHOAL_OK);
    CHECK(shoal_record_to_text(t->text, t->recipe.text_size, &t->recipe, t->record) == SHOAL_OK);
}

// The verdict about a text is the mechanism's. A refused one leaves zeros.
static void check_verdict(texts *t, size_t len)
{
    int is_record = shoal_record_from_text(t->record, &t->recipe, t->text, len, NULL) == SHOAL_OK;
    shoal_err err = shoal_split_text(t->measurement, &t->split, t->text, len);
    CHECK(err == SHOAL_OK || err == (is_record ? SHOAL_ERR_RANGE : SHOAL_ERR_RECORD));
    CHECK(is_record || err != SHOAL_OK);
    if (err == SHOAL_OK) return;
    for (size_t i = 0; i < shoal_split_words(&t->split); i++) CHECK(t->measurement[i] == 0);
}

// Every character of a record's first hundred and its last ten made something else, and every wrong
// length near its own.
static void check_texts(texts *t, const sample *s, shoal_rng *rng)
{
    static const char others[] = "0123456789abfgA,;+ -\n";
    draw_text(t, s, rng);
    const uint32_t len = t->recipe.text_size;
    check_verdict(t, len);
    for (uint32_t i = 0; i < len; i++) {
        if (i > 100 && i + 10 < len) continue;
        const char kept = t->text[i];
        for (size_t c = 0; c < sizeof others; c++) {
            t->text[i] = others[c];
            check_verdict(t, len);
        }
        t->text[i] = kept;
    }
    CHECK(shoal_split_text(t->measurement, &t->split, t->text, len - 1) == SHOAL_ERR_RECORD);
    CHECK(shoal_split_text(t->measurement, &t->split, t->text, 0) == SHOAL_ERR_RECORD);
}

static void check_samples(shoal_rng *rng)
{
    unsigned seen = 0;
    for (size_t i = 0; sample_number(i).sample != NULL; i++) {
        texts t;
        if (!open_texts(&t, sample_number(i))) continue;
        if (t.split.prio3.length <= 5000) check_texts(&t, sample_number(i).sample, rng);
        seen |= 1u << t.split.mechanism;
        close_texts(&t);
    }
#define SHOAL_MECHANISM(id, stem, name) CHECK(seen >> id & 1);
#include "mechanisms.def"
#undef SHOAL_MECHANISM
}

// A few records of a small part through both servers: the sums are those of the measurements.
static void check_prio3(texts *t, const sample *s, shoal_rng *rng)
{
    parties p;
    uint64_t truth[300] = {0}, sums[300];
    open_parties(&p, shoal_prio3_init, t->split.prio3, 2, rng);
    const size_t len = shoal_prio3_output_share_len(&p.prio3);
    uint8_t *aggregates[2] = {calloc(1, len), calloc(1, len)};
    for (int report = 0; report < 3; report++) {
        draw_text(t, s, rng);
        CHECK(shoal_split_text(p.measurement, &t->split, t->text, t->recipe.text_size) == SHOAL_OK);
        add_measurement(truth, &p);
        shoal_rng_bytes(rng, p.rand, shoal_prio3_rand_len(&p.prio3));
        CHECK(shard(&p) == SHOAL_OK && verify(&p) == SHOAL_OK);
        for (uint32_t i = 0; i < 2; i++) {
            CHECK(verify_next(&p, i) == SHOAL_OK);
            CHECK(shoal_prio3_add(aggregates[i], &p.prio3, (shoal_prio3_bytes){p.output, len}) ==
                  SHOAL_OK);
        }
    }
    const shoal_prio3_bytes both[2] = {{aggregates[0], len}, {aggregates[1], len}};
    CHECK(shoal_prio3_unshard(sums, &p.prio3, both, p.scratch) == SHOAL_OK);
    CHECK(memcmp(sums, truth, p.prio3.flp.output_len * sizeof sums[0]) == 0);
    free(aggregates[0]);
    free(aggregates[1]);
    close_parties(&p);
}

static void check_sums_of_samples(shoal_rng *rng)
{
    unsigned seen = 0;
    for (size_t i = 0; sample_number(i).sample != NULL; i++) {
        texts t;
        if (!open_texts(&t, sample_number(i))) continue;
        if (t.split.prio3.length <= 300) {
            check_prio3(&t, sample_number(i).sample, rng);
            seen |= 1u << t.split.mechanism;
        }
        close_texts(&t);
    }
#define SHOAL_MECHANISM(id, stem, name) CHECK(seen >> id & 1);
#include "mechanisms.def"
#undef SHOAL_MECHANISM
}

// A device that follows no rule: it proves that all elements of its encoding are zeros and ones,
// and chooses them freely. A proof of SumVec is built as those of Histogram and MultihotCountVec
// are, but for what is derived under the circuit's number.
static shoal_err send_bits(const shoal_split *split, const uint64_t *bits, shoal_rng *rng)
{
    parties device, servers;
    open_parties(&servers, shoal_prio3_init, split->prio3, 2, rng);
    const shoal_flp *flp = &servers.prio3.flp;
    const shoal_prio3_parameters free_choice = {.circuit = SHOAL_CIRCUIT_SUM_VEC,
                                                .length = flp->meas_len,
                                                .max = 1,
                                                .chunk = flp->chunk,
                                                .proofs = 1};
    open_parties(&device, shoal_prio3_init, free_choice, 2, rng);
    device.prio3.algorithm = servers.prio3.algorithm;
    memcpy(device.measurement, bits, flp->meas_len * sizeof *bits);
    CHECK(shard(&device) == SHOAL_OK);
    memcpy(servers.nonce, device.nonce, sizeof servers.nonce);
    memcpy(servers.public_share, device.public_share, shoal_prio3_public_share_len(&servers.prio3));
    for (uint32_t i = 0; i < 2; i++) {
        const size_t len = shoal_prio3_input_share_len(&servers.prio3, i);
        CHECK(shoal_prio3_input_share_len(&device.prio3, i) == len);
        memcpy(servers.input_shares[i], device.input_shares[i], len);
    }
    shoal_err err = verify(&servers);
    close_parties(&device);
    close_parties(&servers);
    return err;
}

static void check_hostile_histogram(shoal_rng *rng)
{
    shoal_split split;
    const char *why;
    shoal_part part = {.mechanism = shoal_grr_id,
                       .domain = SHOAL_DOMAIN_CLOSED,
                       .eps_micro = 1000000,
                       .k = 1,
                       .size = 9};
    uint64_t bits[10] = {0};
    CHECK(shoal_part_prepare(&part, &why) == SHOAL_OK &&
          shoal_split_init(&split, &part, &why) == SHOAL_OK);
    CHECK(split.prio3.circuit == SHOAL_CIRCUIT_HISTOGRAM && split.prio3.length == 10);
    CHECK(send_bits(&split, bits, rng) == SHOAL_ERR_RECORD);
    bits[3] = 1;
    CHECK(send_bits(&split, bits, rng) == SHOAL_OK); // the rest of such a share is in order
    bits[7] = 1;
    CHECK(send_bits(&split, bits, rng) == SHOAL_ERR_RECORD);
}

// One bit too many, whatever weight is claimed beside them; and one that is in order.
static void check_hostile_multihot(const shoal_part *part, shoal_rng *rng)
{
    shoal_split split;
    const char *why;
    uint64_t bits[128] = {0};
    CHECK(shoal_split_init(&split, part, &why) == SHOAL_OK &&
          split.prio3.max + 1 < split.prio3.length);
    uint32_t n_bits = 0, accepted = 0, claim_accepted = 0;
    while (split.prio3.max >> n_bits > 0) n_bits++;
    for (uint64_t i = 0; i < split.prio3.max; i++) bits[i] = 1;
    for (int is_over = 0; is_over < 2; is_over++) {
        for (uint32_t claim = 0; claim < 1u << n_bits; claim++) {
            for (uint32_t i = 0; i < n_bits; i++) bits[split.prio3.length + i] = claim >> i & 1;
            if (send_bits(&split, bits, rng) != SHOAL_OK) continue;
            accepted++;
            claim_accepted = claim;
            CHECK(!is_over);
        }
        bits[split.prio3.max] = 1;
    }
    CHECK(accepted == 1 && claim_accepted == (1u << n_bits) - 1);
}

// A record of an honest device with too many bits is not sharded. At epsilon 16 three of seven
// others have to flip, by luck of 1e-9.
static void check_too_much_weight(void)
{
    shoal_split split;
    const char *why;
    uint64_t measurement[8];
    const shoal_part part = bits_part(shoal_onehot_symmetric_id, 8, 16000000);
    CHECK(shoal_split_init(&split, &part, &why) == SHOAL_OK && split.prio3.max == 3);
    CHECK(shoal_split_refusal(&split, &part) > 0 &&
          shoal_split_refusal(&split, &part) <= UINT64_MAX / SHOAL_SPLIT_REFUSALS);
    CHECK(shoal_split_text(measurement, &split, "83", 2) == SHOAL_OK && measurement[0] == 1 &&
          measurement[7] == 1);
    CHECK(shoal_split_text(measurement, &split, "87", 2) == SHOAL_ERR_RANGE);
}

// Bounds that are stated in documents, worked out by R's pbinom.
static void check_known_bounds(void)
{
    uint64_t refusal;
    CHECK(shoal_split_weight(&refusal, 1023, threshold_of(4), (uint64_t)1 << 63) == 42);
    CHECK(shoal_split_weight(&refusal, 1023, threshold_of(2), 0 - threshold_of(2)) == 175);
}

int main(void)
{
    static const double eps[] = {0.005, 0.01, 0.5, 1, 1.386, 2, 3, 4, 6, 8, 12, 16};
    const uint8_t seed[32] = {17};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    check_tails(eps, (int)(sizeof eps / sizeof eps[0]));
    check_long_tails(eps, (int)(sizeof eps / sizeof eps[0]));
    double fresh[4];
    for (int i = 0; i < 4; i++)
        fresh[i] = 0.005 + (double)shoal_rng_below(&rng, 1000000) / 1000000 * 12;
    check_tails(fresh, 4);
    check_known_bounds();
    check_drawn_laws();
    check_bounds_of_parts();
    check_drawn_weights(1);
    check_samples(&rng);
    check_sums_of_samples(&rng);
    check_hostile_histogram(&rng);
    const shoal_part bits = bits_part(shoal_onehot_asymmetric_id, 20, 6000000),
                     cms = bits_part(shoal_cms_id, 64, 4000000);
    check_hostile_multihot(&bits, &rng);
    check_hostile_multihot(&cms, &rng);
    check_too_much_weight();
    return check_summary();
}
