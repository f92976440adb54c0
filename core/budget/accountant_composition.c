// SPDX-License-Identifier: Apache-2.0
// Basic, advanced and Renyi composition in integers; see accountant_composition.h and accountant.h.
#include "accountant_composition.h"

#include "accountant.h"
#include "exponential.h"
#include "probability.h"

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

static uint64_t root_up(uint64_t x)
{
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit != 0; bit >>= 1)
        if ((root + bit) * (root + bit) <= x) root += bit;
    return root + (root * root < x);
}

#define LOG_10_BITS 19779055342u // ceil(2^33 ln 10)
#define LOG_10_NANO 2302585093u  // ceil(10^9 ln 10)

// Orders a, and floor(10^9 (ln(a)/(a-1) - ln(1-1/a))).
static const struct {
    uint32_t a, gain;
} orders[] = {{2, 1386294361}, {3, 954771252},  {4, 749780192},  {5, 625503029},  {6, 540673450},
              {7, 478469038},  {8, 430594470},  {9, 392436107},  {10, 361203303}, {12, 312911981},
              {14, 277112382}, {17, 237700455}, {20, 208963414}, {24, 180735867}, {28, 159782626},
              {34, 136712372}, {40, 119904460}, {48, 103419388}, {57, 89896921},  {68, 77792812},
              {81, 67353134},  {96, 58517070},  {114, 50723890}, {136, 43770143}, {162, 37791947},
              {193, 32604661}, {256, 25659693}, {340, 20140040}, {450, 15831037}, {600, 12347405},
              {800, 9617004},  {1024, 7752671}};

// Returns: rho + sqrt(4 rho ln(1/slack)) = q/2 + sqrt(2 q ln(1/slack)), q the sum of squares. The
// unit is a sixteenth of a micro-unit. 2 ln(1/slack) has 32 fractional bits, and q < 2^48 is split
// at 24 of its bits, so that each product is below 2^63.
static uint64_t compose_advanced(uint64_t q, uint32_t slack_exp)
{
    uint64_t log = slack_exp * (uint64_t)LOG_10_BITS, low = q & 0xffffff;
    uint64_t root = root_up(log * (q >> 24) + (log * low >> 24) + 1);
    return divide_up(divide_up(q, 125000) + root, 16);
}

// Computes in units of 1e-9; the terms stay below 2^58 + 2^36.
static uint64_t compose_renyi(uint64_t q, uint32_t slack_exp)
{
    uint64_t best = UINT64_MAX;
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        uint64_t a = orders[i].a;
        uint64_t eps = divide_up(q * a, 2000) + divide_up(slack_exp * (uint64_t)LOG_10_NANO, a - 1);
        eps = eps > orders[i].gain ? eps - orders[i].gain : 0;
        if (eps < best) best = eps;
    }
    return divide_up(best, 1000);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

// The smaller of several filters is itself a filter. Each rises with every query, and each allows
// queries up to a bound on its own sum, fixed beforehand. While basic holds, the loss never exceeds
// epsilon. Where another filter holds, its sum is within that bound, and the slack covers its
// failure.
uint64_t shoal_compose(uint64_t eps, uint64_t squares, uint64_t reports,
                       const shoal_policy_analysis *analysis)
{
    // such a sum is far above every budget and would overflow the integers below
    if (analysis->composition == SHOAL_COMPOSE_BASIC || reports == 0 || squares >> 48 != 0)
        return eps;
    eps = smaller(eps, compose_advanced(squares, analysis->slack_exp));
    if (analysis->composition == SHOAL_COMPOSE_ADVANCED) return eps;
    return smaller(eps, compose_renyi(squares, analysis->slack_exp));
}

uint64_t shoal_composed_epsilon(const shoal_policy_analysis *analysis, uint32_t reports,
                                uint32_t eps_micro)
{
    uint64_t eps = eps_micro;
    return shoal_compose(reports * eps, reports * (eps * eps), reports, analysis);
}

// 1 + e^eps + ... + e^((n - 1) eps) in units of 2^-20, high by less than n of them. n eps is at
// most SHOAL_EPS_MICRO_MAX.
static uint64_t sum_of_powers(uint32_t n, uint64_t eps)
{
    uint64_t sum = (uint64_t)1 << 20;
    for (uint32_t i = 1; i < n; i++)
        sum += ((shoal_exponential((uint32_t)(i * eps)) + 2) >> 20) + 1;
    return sum;
}

uint64_t shoal_group_delta(uint64_t delta, uint32_t n, uint64_t eps)
{
    if (n * eps > SHOAL_EPS_MICRO_MAX) return 2 * (uint64_t)SHOAL_GROUP_DELTA_MAX;
    uint64_t sum = sum_of_powers(n, eps), whole = sum >> 20, part = sum & 0xfffff;
    if (whole > SHOAL_GROUP_DELTA_MAX / delta) return 2 * (uint64_t)SHOAL_GROUP_DELTA_MAX;
    return delta * whole + divide_up(delta * part, (uint64_t)1 << 20);
}
