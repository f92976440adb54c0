// SPDX-License-Identifier: Apache-2.0
// Noise of the two servers; see dap_noise.h.
#include "dap_noise.h"

#include <math.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "bytes.h"
#include "discrete_noise.h"
#include "print_text.h"
#include "renyi.h"
#include "round_text.h"

#define MILLION 1e6
#define DELTA_MIN 1e-15
#define DELTA_MAX 1e-3
#define NORMAL_95 1.959964
#define NEVER 200 // standard deviations: neither noise reaches so far, by more than e^-280

static const char *const types[] = {"discrete-laplace", "discrete-gaussian", NULL};

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

// Returns: the entries that two measurements of a vector of zeros and ones can differ in.
static uint64_t differing(const shoal_prio3_parameters *vdaf)
{
    uint64_t ones = vdaf->circuit == SHOAL_CIRCUIT_HISTOGRAM ? 1 : vdaf->max;
    return vdaf->circuit == SHOAL_CIRCUIT_HISTOGRAM ? 2 : least_of(2 * ones, vdaf->length);
}

// Returns: the most that exchanging one report moves the sums by, in all entries together (L1).
// Numbers are below 2^63 and lengths below 2^21, so a product that overflows is above any limit.
static double moved(const shoal_prio3_parameters *vdaf)
{
    switch (vdaf->circuit) {
    case SHOAL_CIRCUIT_COUNT: return 1;
    case SHOAL_CIRCUIT_SUM: return (double)vdaf->max;
    case SHOAL_CIRCUIT_SUM_VEC: return (double)vdaf->max * vdaf->length;
    default: return (double)differing(vdaf);
    }
}

// Returns: the square of the most that it moves them by in Euclidean distance (L2).
static double moved_squared(const shoal_prio3_parameters *vdaf)
{
    switch (vdaf->circuit) {
    case SHOAL_CIRCUIT_COUNT: return 1;
    case SHOAL_CIRCUIT_SUM: return (double)vdaf->max * (double)vdaf->max;
    case SHOAL_CIRCUIT_SUM_VEC: return (double)vdaf->max * (double)vdaf->max * vdaf->length;
    default: return (double)differing(vdaf);
    }
}

// Makes the sampler of a task's noise.
static agg_err make_noise(shoal_noise *noise, const shoal_dap_task *task)
{
    double most = moved(&task->vdaf);
    if (task->noise.kind == SHOAL_DAP_NOISE_GAUSSIAN)
        return shoal_noise_gaussian(noise, task->noise.number);
    if (most > (double)SHOAL_NOISE_SENSITIVITY_MAX) return SHOAL_ERR_RANGE;
    return shoal_noise_laplace(noise, (uint64_t)most, (uint32_t)task->noise.number);
}

// ---- task files ----

static void read_laplace(agg_object *o, shoal_dap_noise *noise)
{
    const cJSON *json = agg_object_take(o, "epsilon");
    double micro = cJSON_IsNumber(json) ? json->valuedouble * MILLION : -1;
    if (o->err != SHOAL_OK) return;
    if (!(micro >= SHOAL_NOISE_EPS_MICRO_MIN && micro <= SHOAL_NOISE_EPS_MICRO_MAX) ||
        fabs(micro - round(micro)) > 1e-3) {
        (void)agg_object_refuse(o, SHOAL_ERR_RANGE, "epsilon",
                                "must be a number of 0.001 to 16 with at most six decimals");
        return;
    }
    *noise = (shoal_dap_noise){SHOAL_DAP_NOISE_LAPLACE, (uint64_t)llround(micro)};
}

static void read_gaussian(double *delta, agg_object *o, shoal_dap_noise *noise)
{
    uint64_t variance = 0;
    if (!agg_object_whole(&variance, o, "variance", 1, SHOAL_NOISE_VARIANCE_MAX, AGG_REQUIRED))
        return;
    const char *text = agg_object_string(o, "delta", AGG_REQUIRED);
    if (text == NULL) return;
    char *end = NULL;
    *delta = strtod(text, &end);
    if (strspn(text, "0123456789.eE-") != strlen(text) || *end != '\0' ||
        !(*delta >= DELTA_MIN && *delta <= DELTA_MAX))
        (void)agg_object_refuse(o, SHOAL_ERR_RANGE, "delta",
                                "must be a number of 1e-15 to 1e-3 as a text, such as \"1e-9\"");
    *noise = (shoal_dap_noise){SHOAL_DAP_NOISE_GAUSSIAN, variance};
}

void agg_dap_noise_read(double *delta, agg_object *task_object, shoal_dap_task *task)
{
    const cJSON *json = agg_object_take(task_object, "noise");
    agg_object o;
    shoal_noise noise;
    *delta = 0;
    if (json == NULL || task_object->err != SHOAL_OK) return;
    agg_object_begin(&o, task_object->error, json, "noise.", "noise");
    int type = agg_object_word(&o, "type", types, AGG_REQUIRED);
    if (type == 0) read_laplace(&o, &task->noise);
    if (type == 1) read_gaussian(delta, &o, &task->noise);
    if (o.err == SHOAL_OK && make_noise(&noise, task) != SHOAL_OK)
        (void)agg_object_refuse(&o, SHOAL_ERR_RANGE, "type",
                                "takes measurements that add at most 4294967296 in all entries");
    task_object->err = agg_object_end(&o);
}

// ---- what it promises ----

// Returns: epsilon at delta of rho-concentrated privacy. Every order gives a bound; the best one is
// near 1 + sqrt(ln(1/delta)/rho). Orders stay away from 1, where a huge rho would put them.
static double epsilon_of(double rho, double delta)
{
    agg_renyi_curve curve;
    double best = fmax(sqrt(-log(delta) / rho), 1e-3);
    for (int i = 0; i < AGG_RENYI_ORDERS; i++) {
        double order = 1 + best * exp2((i - AGG_RENYI_ORDERS / 2) / 20.0);
        curve.order[i] = order;
        curve.rho[i] = order * rho;
    }
    return agg_renyi_epsilon(&curve, delta);
}

// Returns: P(|x + y| > reach) for two draws of discrete Laplace noise, with q = e^(-1/scale). The
// sum is k with probability ((1 - q)/(1 + q))^2 q^|k| (|k| + (1 + q^2)/(1 - q^2)).
static double laplace_beyond(double q, double reach)
{
    double from = reach + 1, c = (1 + q * q) / ((1 - q) * (1 + q));
    return 2 * pow((1 - q) / (1 + q), 2) * pow(q, from) *
           ((from + c) / (1 - q) + q / ((1 - q) * (1 - q)));
}

static int64_t laplace_reach(double q, double sd)
{
    double low = -1, high = 10 * sd + 10; // beyond low it is too likely, beyond high it is not
    while (high - low > 1) {
        double middle = floor((low + high) / 2);
        if (laplace_beyond(q, middle) <= 0.05)
            high = middle;
        else
            low = middle;
    }
    return (int64_t)high;
}

void agg_dap_noise_claim_of(agg_dap_noise_claim *claim, const agg_dap_task *task)
{
    const shoal_dap_noise *noise = &task->task.noise;
    const shoal_prio3_parameters *vdaf = &task->task.vdaf;
    *claim = (agg_dap_noise_claim){.type = types[noise->kind - 1], .delta = task->delta};
    if (noise->kind == SHOAL_DAP_NOISE_GAUSSIAN) {
        double rho = moved_squared(vdaf) / (2 * (double)noise->number);
        claim->epsilon = epsilon_of(rho, task->delta);
        claim->standard_error = sqrt(2 * (double)noise->number);
        claim->reach = (int64_t)ceil(NORMAL_95 * claim->standard_error);
        return;
    }
    claim->epsilon = (double)noise->number / MILLION;
    double rate = claim->epsilon / moved(vdaf); // of the law's decay: 1/scale
    claim->standard_error = 1 / sinh(rate / 2); // sqrt of twice 2 q/(1 - q)^2
    claim->reach = laplace_reach(exp(-rate), claim->standard_error);
}

void agg_dap_noise_label(char label[AGG_DAP_LABEL_MAX], const agg_dap_task *task)
{
    agg_dap_noise_claim claim;
    char delta[AGG_ROUND_TEXT_MAX];
    if (task->task.noise.kind == SHOAL_DAP_NOISE_NONE) {
        snprintf(label, AGG_DAP_LABEL_MAX, "%s", AGG_DAP_EXACT_LABEL);
        return;
    }
    agg_dap_noise_claim_of(&claim, task);
    double up = ceil(claim.epsilon * 1e4 - 1e-6) / 1e4;
    bool has_delta = claim.delta > 0;
    snprintf(label, AGG_DAP_LABEL_MAX,
             "noise of both servers; epsilon %.6g%s%s of a report, if one of the two is honest", up,
             has_delta ? " and delta " : "", has_delta ? agg_delta_text(delta, claim.delta) : "");
}

void agg_dap_noise_print_label(FILE *stream, const agg_dap_task *task)
{
    char label[AGG_DAP_LABEL_MAX];
    agg_dap_noise_label(label, task);
    if (task->task.noise.kind == SHOAL_DAP_NOISE_NONE)
        agg_print_alert(stream, label);
    else
        fputs(label, stream);
}

// ---- servers and collector ----

agg_err agg_dap_noise_add(uint8_t *share, agg_error *error, const agg_dap_vdaf *vdaf)
{
    const size_t n = vdaf->prio3.flp.output_len;
    shoal_noise noise;
    shoal_rng rng;
    uint8_t seed[32];
    if (vdaf->task.noise.kind == SHOAL_DAP_NOISE_NONE) return SHOAL_OK;
    agg_err err = make_noise(&noise, &vdaf->task);
    if (err != SHOAL_OK) return agg_fail_core(error, err, AGG_EXIT_RUNTIME);
    int64_t *drawn = agg_alloc(error, n, sizeof *drawn);
    if (drawn == NULL) return AGG_ERR_MEMORY;
    if (RAND_bytes(seed, sizeof seed) != 1) {
        free(drawn);
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_IO, "the system gives no randomness for noise");
    }
    shoal_rng_init(&rng, seed);
    for (size_t i = 0; i < n; i++) drawn[i] = shoal_noise_draw(&rng, &noise);
    err = shoal_prio3_add_noise(share, &vdaf->prio3, drawn);
    shoal_rng_wipe(&rng);
    wipe(seed, sizeof seed);
    wipe(drawn, n * sizeof *drawn);
    free(drawn);
    return err == SHOAL_OK ? SHOAL_OK : agg_fail_core(error, err, AGG_EXIT_RUNTIME);
}

bool agg_dap_noise_is_possible(const shoal_dap_task *task, const int64_t *sums, size_t n_sums,
                               uint64_t n)
{
    const shoal_prio3_parameters *vdaf = &task->vdaf;
    const bool is_number =
        vdaf->circuit == SHOAL_CIRCUIT_SUM || vdaf->circuit == SHOAL_CIRCUIT_SUM_VEC;
    double most = (double)n * (is_number ? (double)vdaf->max : 1);
    double sd = task->noise.kind == SHOAL_DAP_NOISE_GAUSSIAN
                    ? sqrt((double)task->noise.number)
                    : moved(vdaf) * MILLION / (double)task->noise.number + 1;
    for (size_t i = 0; i < n_sums; i++) {
        double sum = (double)sums[i];
        if (sum < -NEVER * sd || sum > most + NEVER * sd) return false;
    }
    return true;
}
