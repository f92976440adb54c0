// SPDX-License-Identifier: Apache-2.0
// EM for tables of any number of variables; see joint_em.h.
#include "joint_em.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agg_parallel.h"
#include "agg_size.h"
#include "joint_order.h"

#define PIECES 64u           // pieces of the tuples; a fixed number fixes the order of all sums
#define PIECE_LEAST 1024u    // least number of tuples of a piece
#define SMALL_PRODUCT 1e-200 // a product of likelihoods below this is replaced by its logarithm
#define SMALL_FACTOR 1e-100
#define RUN 64u    // tuples that are processed together
#define LONGER 4.0 // growth of the longest extrapolation after one of that length has succeeded

typedef struct em {
    const agg_joint_data *data;
    size_t size[SHOAL_PARTS_MAX + 1]; // cells of the variables from v on
    size_t scratch;                   // numbers a thread needs
    unsigned n_pieces, n_threads;
    double *slopes;          // n_pieces * n_cells
    double *log_likelihoods; // n_pieces
    double *work;            // n_threads * scratch
    const double *p;         // where the map is evaluated
    double *slope;           // n_cells: g of joint_em.h
} em;

// One thread's tables. `mix[v]` is p, summed over the variables before v with the likelihoods of
// the current tuple. `slope[v]` is the gradient with respect to mix[v], summed over the tuples so
// far.
typedef struct levels {
    const double *row[SHOAL_PARTS_MAX];
    double *mix[SHOAL_PARTS_MAX], *slope[SHOAL_PARTS_MAX];
} levels;

// Computes out = sum over categories c of weight_c table_c.
static void contract(double *restrict out, const double *restrict table,
                     const double *restrict weight, uint32_t n, size_t size)
{
    for (size_t i = 0; i < size; i++) out[i] = weight[0] * table[i];
    for (uint32_t c = 1; c < n; c++)
        for (size_t i = 0; i < size; i++) out[i] += weight[c] * table[c * size + i];
}

// Adds weight_c in to each table_c, and clears `in`.
static void expand(double *restrict table, double *restrict in, const double *restrict weight,
                   uint32_t n, size_t size)
{
    for (uint32_t c = 0; c < n; c++)
        for (size_t i = 0; i < size; i++) table[c * size + i] += weight[c] * in[i];
    memset(in, 0, size * sizeof *in);
}

// Adds the slopes of the levels behind `changed` to the levels before them, down to the variable
// `changed`.
static void go_up(const em *m, levels *at, uint32_t changed)
{
    for (uint32_t v = m->data->n_variables - 1; v > changed; v--)
        expand(at->slope[v - 1], at->slope[v], at->row[v - 1], m->data->variables[v - 1].n,
               m->size[v]);
}

static void go_down(const em *m, levels *at, size_t tuple, uint32_t changed)
{
    uint32_t last = m->data->n_variables - 1;
    for (uint32_t v = changed; v <= last; v++) at->row[v] = agg_joint_data_row(m->data, tuple, v);
    for (uint32_t v = changed; v < last; v++)
        contract(at->mix[v + 1], at->mix[v], at->row[v], m->data->variables[v].n, m->size[v + 1]);
}

// Returns: the first variable whose row differs from that of the tuple before.
static uint32_t first_change(const agg_joint_data *data, size_t tuple)
{
    const uint32_t *here = data->tuples + tuple * data->n_variables,
                   *before = here - data->n_variables;
    uint32_t v = 0;
    while (v + 1 < data->n_variables && here[v] == before[v]) v++;
    return v;
}

// Returns: the end of the tuples from `first` on that differ in the last variable only, at most a
// run of them and not beyond `end`.
static size_t end_of_run(const agg_joint_data *data, size_t first, size_t end)
{
    uint32_t last = data->n_variables - 1;
    if (end - first > RUN) end = first + RUN;
    size_t k = first + 1;
    while (k < end && first_change(data, k) == last) k++;
    return k;
}

// A sum of logarithms of likelihoods, kept as one logarithm and a product, so that few logarithms
// are computed.
typedef struct log_product {
    double sum, product;
} log_product;

static void multiply_in(log_product *l, double s, uint32_t count)
{
    if (count > 1 || !(s > SMALL_FACTOR)) {
        l->sum += count * log(s);
        return;
    }
    l->product *= s;
    if (l->product > SMALL_PRODUCT) return;
    l->sum += log(l->product);
    l->product = 1;
}

// Four sums, so that an addition need not wait for the one before it.
static double dot(const double *restrict x, const double *restrict y, uint32_t n)
{
    double a = 0, b = 0, c = 0, d = 0;
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        a += x[i] * y[i];
        b += x[i + 1] * y[i + 1];
        c += x[i + 2] * y[i + 2];
        d += x[i + 3] * y[i + 3];
    }
    for (; i < n; i++) a += x[i] * y[i];
    return (a + c) + (b + d);
}

// Processes tuples that differ in the last variable only: computes their likelihoods under `mix`,
// and adds their gradients to `slope`.
static void walk_run(log_product *l, double *restrict slope, const double *restrict mix,
                     const agg_joint_data *data, size_t first, size_t n_tuples)
{
    uint32_t last = data->n_variables - 1, n = data->variables[last].n;
    const double *rows[RUN];
    double s[RUN];
    for (size_t i = 0; i < n_tuples; i++) {
        const double *row = rows[i] = agg_joint_data_row(data, first + i, last);
        s[i] = dot(row, mix, n);
    }
    for (size_t i = 0; i < n_tuples; i++) multiply_in(l, s[i], data->counts[first + i]);
    for (size_t i = 0; i < n_tuples; i++) s[i] = s[i] > 0 ? data->counts[first + i] / s[i] : 0;
    for (size_t i = 0; i < n_tuples; i++)
        for (uint32_t c = 0; c < n; c++) slope[c] += s[i] * rows[i][c];
}

static void walk_piece(em *m, levels *at, unsigned piece)
{
    const agg_joint_data *data = m->data;
    uint32_t last = data->n_variables - 1;
    size_t first = data->n_tuples * piece / m->n_pieces,
           end = data->n_tuples * (piece + 1) / m->n_pieces, stop;
    log_product l = {0, 1};
    at->mix[0] = (double *)(uintptr_t)m->p; // only read
    at->slope[0] = m->slopes + (size_t)piece * data->n_cells;
    memset(at->slope[0], 0, data->n_cells * sizeof *at->slope[0]);
    for (size_t k = first; k < end; k = stop) {
        uint32_t changed = k == first ? 0 : first_change(data, k);
        if (k > first) go_up(m, at, changed);
        go_down(m, at, k, changed);
        stop = end_of_run(data, k, end);
        walk_run(&l, at->slope[last], at->mix[last], data, k, stop - k);
    }
    if (end > first) go_up(m, at, 0);
    m->log_likelihoods[piece] = l.sum + log(l.product);
}

static void walk_some(void *context, unsigned part, unsigned n_parts)
{
    em *m = context;
    levels at = {{NULL}, {NULL}, {NULL}};
    double *free_work = m->work + part * m->scratch;
    memset(free_work, 0, m->scratch * sizeof *free_work);
    for (uint32_t v = 1; v < m->data->n_variables; v++) {
        at.mix[v] = free_work;
        at.slope[v] = free_work + m->size[v];
        free_work += 2 * m->size[v];
    }
    for (unsigned piece = part; piece < m->n_pieces; piece += n_parts) walk_piece(m, &at, piece);
}

// Computes m->slope at p.
// Returns: the log-likelihood there.
static double evaluate(em *m, const double *p)
{
    double sum = 0, n = (double)m->data->n;
    uint32_t n_cells = m->data->n_cells;
    m->p = p;
    agg_parallel(m->n_threads, walk_some, m);
    memset(m->slope, 0, n_cells * sizeof *m->slope);
    for (unsigned piece = 0; piece < m->n_pieces; piece++) {
        const double *slope = m->slopes + (size_t)piece * n_cells;
        for (uint32_t c = 0; c < n_cells; c++) m->slope[c] += slope[c];
        sum += m->log_likelihoods[piece];
    }
    for (uint32_t c = 0; c < n_cells; c++) m->slope[c] /= n;
    return sum;
}

// ---- the maximum ----

typedef struct climb {
    em *m;
    const agg_joint_em_options *options;
    agg_joint_em_result *result;
    uint32_t n_cells;
    double *p;               // the current point
    double *one, *two, *far; // after one step of EM, after two, and extrapolated
    double longest;          // the longest extrapolation that is allowed
} climb;

// Computes next = F(p), one step of EM.
// Returns: the log-likelihood at p.
static double map(const climb *c, double *next, const double *p)
{
    double log_likelihood = evaluate(c->m, p), largest = 0;
    for (uint32_t i = 0; i < c->n_cells; i++) {
        largest = fmax(largest, c->m->slope[i]);
        next[i] = p[i] * c->m->slope[i];
    }
    c->result->iterations++;
    c->result->gap = largest - 1;
    c->result->log_likelihood = log_likelihood;
    return log_likelihood;
}

static bool has_settled(const climb *c, const double *p, const double *next)
{
    double most = 0;
    for (uint32_t i = 0; i < c->n_cells; i++) most = fmax(most, fabs(next[i] - p[i]));
    return most < c->options->change;
}

// Returns: the length of scheme S3, at least 1: how much further than its first step a geometric
// series of EM's steps would lead.
static double step_length(const climb *c)
{
    double steps = 0, turns = 0;
    for (uint32_t i = 0; i < c->n_cells; i++) {
        double step = c->one[i] - c->p[i], turn = c->two[i] - c->one[i] - step;
        steps += step * step;
        turns += turn * turn;
    }
    return turns > 0 ? fmin(fmax(sqrt(steps / turns), 1), c->longest) : 1;
}

// Extrapolates. Cells stay above zero, because EM could never raise them again.
static void extrapolate(const climb *c, double length)
{
    double sum = 0;
    for (uint32_t i = 0; i < c->n_cells; i++) {
        double step = c->one[i] - c->p[i], turn = c->two[i] - c->one[i] - step;
        c->far[i] = fmax(c->p[i] + length * (2 * step + length * turn), c->two[i] / 10);
        sum += c->far[i];
    }
    for (uint32_t i = 0; i < c->n_cells; i++) c->far[i] /= sum;
}

static void swap(double **a, double **b)
{
    double *keep = *a;
    *a = *b;
    *b = keep;
}

// Moves one step of EM beyond the extrapolated point, if that point is at least as likely as the
// one after one step of EM; else moves to the point after two steps.
static void leap(climb *c, double likelihood_of_one)
{
    double length = step_length(c);
    bool is_longest = !(length < c->longest), is_better = false;
    if (length > 1) {
        extrapolate(c, length);
        is_better = map(c, c->one, c->far) >= likelihood_of_one;
    }
    if (is_longest && (is_better || length <= 1)) c->longest *= LONGER;
    if (is_longest && !is_better && length > 1) c->longest = fmax(1, c->longest / 2);
    swap(&c->p, is_better ? &c->one : &c->two);
}

// Iterates until a rule or the number of evaluations ends it.
// Returns: whether a rule ended it; the result is then that at c->p.
static bool climb_up(climb *c)
{
    const agg_joint_em_options *o = c->options;
    double before = -HUGE_VAL, n = (double)c->m->data->n;
    uint32_t evaluations = o->is_plain ? 1 : 3; // of the map in one step
    while (c->result->iterations + evaluations < o->iterations_max) {
        double here = map(c, c->one, c->p);
        if (has_settled(c, c->p, c->one)) return true;
        if (o->gain > 0 && here - before < o->gain * n) return true;
        before = here;
        if (o->is_plain) {
            swap(&c->p, &c->one);
            continue;
        }
        double likelihood_of_one = map(c, c->two, c->one);
        if (has_settled(c, c->one, c->two)) {
            swap(&c->p, &c->one);
            return true;
        }
        leap(c, likelihood_of_one);
    }
    map(c, c->one, c->p);
    return false;
}

static bool is_identifiable(const agg_joint_data *data)
{
    for (uint32_t v = 0; v < data->n_variables; v++)
        if (data->variables[v].twins[0] != data->variables[v].twins[1]) return false;
    return data->n > 0;
}

static unsigned count_pieces(size_t n_tuples)
{
    size_t pieces = n_tuples / PIECE_LEAST + 1;
    return pieces < PIECES ? (unsigned)pieces : PIECES;
}

static agg_err start(em *m, agg_error *error, const agg_joint_data *data, unsigned n_threads)
{
    memset(m, 0, sizeof *m);
    m->data = data;
    m->size[data->n_variables] = 1;
    for (uint32_t v = data->n_variables; v-- > 0;)
        m->size[v] = m->size[v + 1] * data->variables[v].n;
    for (uint32_t v = 1; v < data->n_variables; v++) m->scratch += 2 * m->size[v];
    m->n_pieces = count_pieces(data->n_tuples);
    m->n_threads = n_threads < 1 ? 1 : n_threads < m->n_pieces ? n_threads : m->n_pieces;
    m->slopes = agg_alloc(error, (size_t)m->n_pieces * data->n_cells, sizeof *m->slopes);
    m->log_likelihoods = agg_alloc(error, m->n_pieces, sizeof *m->log_likelihoods);
    m->work = agg_alloc(error, m->n_threads * m->scratch, sizeof *m->work);
    m->slope = agg_alloc(error, data->n_cells, sizeof *m->slope);
    bool is_there =
        m->slopes != NULL && m->log_likelihoods != NULL && m->work != NULL && m->slope != NULL;
    return is_there ? SHOAL_OK : AGG_ERR_MEMORY;
}

static void release(em *m)
{
    free(m->slopes);
    free(m->log_likelihoods);
    free(m->work);
    free(m->slope);
}

static agg_err check(agg_error *error, const agg_joint_data *data,
                     const agg_joint_em_options *options)
{
    bool has_rule = options->gain > 0 || options->change > 0;
    bool is_given =
        data->n_variables > 0 && data->n_cells > 0 && data->n_cells <= AGG_JOINT_CELLS_MAX;
    if (is_given && has_rule && options->iterations_max > 0) return SHOAL_OK;
    return agg_fail_core(error, SHOAL_ERR_RANGE, AGG_EXIT_RUNTIME);
}

agg_joint_em_options agg_joint_em_defaults(void)
{
    return (agg_joint_em_options){1e-10, 0, 10000, 0, 1};
}

// Estimates from data in an order of their own.
static agg_err estimate(double *p, agg_joint_em_result *result, agg_error *error,
                        const agg_joint_order *order, const agg_joint_em_options *options)
{
    em m;
    const agg_joint_data *data = &order->data;
    size_t n = data->n_cells;
    double *work = agg_alloc(error, 4 * n, sizeof *work);
    agg_err err = start(&m, error, data, options->n_threads);
    if (work == NULL) err = AGG_ERR_MEMORY;
    if (err == SHOAL_OK) {
        climb c = {&m,       options,      result,       data->n_cells, work,
                   work + n, work + 2 * n, work + 3 * n, LONGER};
        for (size_t i = 0; i < n; i++) c.p[i] = 1 / (double)n;
        if (data->n > 0) result->has_converged = climb_up(&c);
        agg_joint_order_back(p, c.p, order);
    }
    release(&m);
    free(work);
    return err;
}

agg_err agg_joint_em(double *p, agg_joint_em_result *result, agg_error *error,
                     const agg_joint_data *data, const agg_joint_em_options *options)
{
    agg_joint_order order;
    agg_joint_em_result own = {0, 0, 0, data->n == 0, is_identifiable(data)};
    agg_err err = check(error, data, options);
    if (err == SHOAL_OK) err = agg_joint_order_make(&order, error, data);
    if (err != SHOAL_OK) return err;
    err = estimate(p, &own, error, &order, options);
    if (err == SHOAL_OK) *result = own;
    agg_joint_order_release(&order);
    return err;
}
