// SPDX-License-Identifier: Apache-2.0
// Predicts the results of one setting of one mechanism; see plan.h. No mechanism is named here.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "normal_law.h"
#include "plan.h"
#include "probability.h"
#include "sketch.h"

// Seconds of one core, as docs/performance.md measures them. Costs that depend on a record's length
// are taken to grow with it.
static const double parse_json_s = 100e-9; // an NDJSON report of a few hundred bytes, checked
static const double read_record_s = 14e-9; // a record of a batch, checked
static const double fold_record_s = 6e-9;  // one addition somewhere in a sketch
static const double fold_byte_s = 0.35e-9; // eight columns of a vector of bits
static const double look_up_s = 1.4e-9;    // one value in one row
static const double scatter_s = 4e-9; // one cell of a sketch, read for a transform of the domain
static const double transform_step_s = 2.1e-9; // one addition of that transform
static const double regress_s =
    1.5e-6; // one value in one cohort, where values are found by regression

// Limits of telling values apart by a regression on the bits of all cohorts. It needs several bits
// for each value that it adjusts the others for, of which there are 1000 at most
// (estimate/rappor_decode.c). It also needs enough cohorts, since it cannot separate values that
// share all their bits.
#define BITS_A_VALUE 8.0
#define ADJUSTED_MAX 1000.0
#define COHORTS_LEAST 8u

void agg_plan_parameters(const shoal_part *part,
                         void (*visit)(void *context, const char *name, uint64_t micro),
                         void *context)
{
    const shoal_takes *own =
        shoal_mechanism_takes(shoal_mechanism_by_id(part->mechanism), part->domain);
    const uint64_t one = 1000000;
    const struct {
        uint32_t flag;
        const char *name;
        uint64_t micro;
    } all[] = {
        {SHOAL_TAKES_EPSILON, "epsilon", part->eps_micro},
        {SHOAL_TAKES_PERMANENT, "epsilon_permanent", part->eps_permanent_micro},
        {SHOAL_TAKES_K, "k", part->k * one},
        {SHOAL_TAKES_M, "m", part->m * one},
        {SHOAL_TAKES_LIST, "size", part->size * one},
        {SHOAL_TAKES_G, "g", part->m * one},
        {SHOAL_TAKES_BITS, "bits", part->m * one},
        {SHOAL_TAKES_HASHES, "hashes", part->hashes * one},
        {SHOAL_TAKES_COHORTS, "cohorts", part->k * one},
        {SHOAL_TAKES_PQF, "p", part->pqf_micro[0]},
        {SHOAL_TAKES_PQF, "q", part->pqf_micro[1]},
        {SHOAL_TAKES_PQF, "f", part->pqf_micro[2]},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if ((own->needs | own->may) & all[i].flag) visit(context, all[i].name, all[i].micro);
}

int agg_plan_micro_text(char out[32], int64_t micro)
{
    uint64_t size = micro < 0 ? 0 - (uint64_t)micro : (uint64_t)micro;
    int len = snprintf(out, 32, "%s%" PRIu64 ".%06u", micro < 0 ? "-" : "", size / 1000000,
                       (unsigned)(size % 1000000));
    while (out[len - 1] == '0') len--;
    if (out[len - 1] == '.') len--;
    out[len] = '\0';
    return len;
}

// Adds the length of `"name":number,`.
static void add_size(void *context, const char *name, uint64_t micro)
{
    char text[32];
    double *size = context;
    *size += (double)(strlen(name) + 4) + agg_plan_micro_text(text, (int64_t)micro);
}

// Returns: the size of a report as ingest/report_json.c prints it.
static double report_size(const agg_plan_wish *wish, const shoal_part *part)
{
    static const char rest[] =
        "{\"key\":\"\",\"recipe_hash\":\"\",\"parameters\":{},\"records\":[\"\"]}";
    double size =
        sizeof rest - 1 + 64 - 1; // a hash has 64 digits; there is one comma less than parameters
    agg_plan_parameters(part, add_size, &size);
    if (wish->low != NULL)
        size += (double)(sizeof "\"low\":,\"high\":," - 1 + strlen(wish->low) + strlen(wish->high));
    return size + (double)strlen(wish->id) + part->text_size;
}

static double sketch_cells(const shoal_part *part)
{
    return (agg_sketch_kind_of(part->mechanism)->is_one_row ? 1.0 : part->k) * part->m;
}

static double memory_of(const shoal_part *part)
{
    return 4 * (sketch_cells(part) + (agg_sketch_kind_of(part->mechanism)->has_rows ? part->k : 0));
}

static bool is_regression(const shoal_part *part)
{
    const shoal_takes *own =
        shoal_mechanism_takes(shoal_mechanism_by_id(part->mechanism), part->domain);
    return part->domain == SHOAL_DOMAIN_OPEN && own->needs & SHOAL_TAKES_COHORTS;
}

// Returns: the seconds of an estimate. Open strings are looked up one by one in every row; for a
// list the whole domain may be transformed instead.
static double estimate_time(const shoal_part *part, double asked)
{
    if (is_regression(part)) return asked * part->k * part->hashes * regress_s;
    double one_by_one = asked * look_up_s * (part->hash != SHOAL_HASH_NONE ? part->k : 1);
    if (part->hash != SHOAL_HASH_AFFINE1) return one_by_one + sketch_cells(part) * look_up_s;
    double bits = ceil(log2(part->size));
    return fmin(one_by_one, sketch_cells(part) * scatter_s + exp2(bits) * bits * transform_step_s);
}

static double variance_of(const agg_plan_wish *wish, const shoal_part *part, double f)
{
    double n = agg_plan_reports(wish), held = n * agg_plan_active(wish), p = f / n;
    double coins =
        agg_account_of(part->mechanism)->variance(part, n, f, held * held * wish->law.squares);
    if (!wish->is_uniform) return coins;
    bool is_mean = part->domain == SHOAL_DOMAIN_NUMBER; // window_picks.h has both
    return coins + (is_mean ? (wish->per_day - 1) * p * (1 - p) / n : wish->per_day * f * (1 - p));
}

// Returns: how many standard errors the bound of `detected` is when `rank` values are detected.
static double bound_of(const agg_plan_wish *wish, double rank)
{
    double alpha = 1 - wish->confidence;
    if (wish->multiple == AGG_BONFERRONI) alpha /= wish->asked;
    if (wish->multiple == AGG_BH) alpha *= fmin(rank, wish->asked) / wish->asked;
    return -agg_normal_quantile(alpha);
}

// Returns: the least count that is told from zero when `rank` values are. It is never less than one
// report, however small the error.
static double least_count(const agg_plan_wish *wish, double rank, double error)
{
    return fmax(1, bound_of(wish, rank) * error);
}

// Returns: how many values of the law are detected. By Benjamini and Hochberg this is the largest
// rank whose own count passes its own bound. The loop starts at the weakest bound and moves to the
// bound of as many ranks as pass it. No step leaves out a rank that passes, so the loop stops at
// the largest such rank.
static double count_detected(const agg_plan_wish *wish, double error)
{
    double n = agg_plan_reports(wish) * agg_plan_active(wish), rank = wish->asked, passing = rank;
    do {
        rank = passing;
        passing = fmin(rank, agg_value_law_above(&wish->law, least_count(wish, rank, error) / n));
    } while (wish->multiple == AGG_BH && passing < rank && passing > 0);
    return passing;
}

// Returns: the count x whose estimate passes the bound with a probability of `confidence`: x - z
// s(x) is at the bound; infinite if that is beyond all reports.
static double sure_count(const agg_plan_wish *wish, const shoal_part *part, double bound)
{
    double n = agg_plan_reports(wish), z = -agg_normal_quantile(1 - wish->confidence),
           count = bound;
    for (int i = 0; i < 50; i++) count = fmin(n, bound + z * sqrt(variance_of(wish, part, count)));
    return bound + z * sqrt(variance_of(wish, part, count)) > n ? INFINITY : count;
}

static void judge_counts(agg_plan_candidate *out, const agg_plan_wish *wish, const shoal_part *part)
{
    double held = agg_plan_reports(wish) * agg_plan_active(wish);
    out->error = sqrt(variance_of(wish, part, 0));
    out->error_largest = sqrt(variance_of(wish, part, held * agg_value_law_share(&wish->law, 0)));
    out->n_detectable = count_detected(wish, out->error);
    double bound = least_count(wish, fmax(out->n_detectable, 1), out->error);
    out->smallest = bound / held;
    out->sure = sure_count(wish, part, bound) / held;
}

void agg_plan_judge(agg_plan_candidate *out, const agg_plan_wish *wish, const shoal_part *part)
{
    double n = agg_plan_reports(wish);
    memset(out, 0, sizeof *out);
    out->part = *part;
    out->mechanism = shoal_mechanism_by_id(part->mechanism);
    if (part->domain == SHOAL_DOMAIN_NUMBER)
        out->error = out->error_largest = sqrt(variance_of(wish, part, n / 2));
    else
        judge_counts(out, wish, part);
    out->report_bytes = report_size(wish, part);
    out->record_bytes = part->record_size;
    out->day_bytes = n / wish->days * out->report_bytes;
    out->memory = memory_of(part);
    out->fold_s = n * (read_record_s + fold_record_s + fold_byte_s * out->record_bytes);
    out->fold_json_s = out->fold_s + n * (parse_json_s - read_record_s);
    out->estimate_s = estimate_time(part, part->domain == SHOAL_DOMAIN_NUMBER ? 1 : wish->asked);
}

// Checks the limits other than report and memory.
bool agg_plan_is_possible(const agg_plan_candidate *c, const agg_plan_wish *wish)
{
    if (c->part.eps_micro > wish->eps_micro || !isfinite(c->error)) return false;
    if (is_regression(&c->part) &&
        (sketch_cells(&c->part) < BITS_A_VALUE * fmin(wish->asked, ADJUSTED_MAX) ||
         c->part.k < COHORTS_LEAST))
        return false;
    return agg_plan_reports(wish) <= (double)agg_sketch_kind_of(c->part.mechanism)->n_max;
}

bool agg_plan_keeps_limits(const agg_plan_candidate *c, const agg_plan_wish *wish)
{
    if (wish->report_bytes > 0 && c->report_bytes > wish->report_bytes) return false;
    if (wish->memory > 0 && c->memory > wish->memory) return false;
    return agg_plan_is_possible(c, wish);
}
