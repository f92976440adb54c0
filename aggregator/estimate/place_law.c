// SPDX-License-Identifier: Apache-2.0
// Computes the worth of places and bits and their moments; see place_law.h.
//
// At position j a place is y with probability a/W in the window and b/G elsewhere, a = 1 - T/2^64
// and b = T/2^64. Hence
//
//     E[y | j] = s j + c,     s = a - b W/G
//     c = a (W - 1)/2 + (b/G) ((G + W)(G + W - 1)/2 - W (W - 1)/2)
//
// and (y - c)/(s G) is worth j/G on average, which is u. A bit is worth (bit - q)/(1 - 2q).
// E[y^2 | j] needs sums of squares: S(n) = 0^2 + ... + (n - 1)^2 = (n - 1) n (2 n - 1)/6. All these
// sums are below 2^27, so doubles hold them exactly.
#include "place_law.h"

#include <math.h>

#include "flip_chance.h"
#include "sum_law.h"

void agg_place_law_of(agg_place_law *law, const shoal_part *part, uint32_t steps)
{
    double w = part->k, g = steps, all = g + w, a = agg_common_side(part),
           b = agg_rare_probability(part), slope = a - b * w / g,
           mean = a * (w - 1) / 2 + b / g * (all * (all - 1) - w * (w - 1)) / 2;
    *law = (agg_place_law){
        .place = 1,
        .inside = a / w,
        .outside = b / g,
        .scale = 1 / (slope * g),
        .offset = -mean / (slope * g),
        .one = 1,
        .steps = steps,
        .width = part->k,
        .places = steps + part->k,
    };
}

double agg_place_worth(const agg_place_law *law, uint32_t answer)
{
    if (answer >= law->places) return answer > law->places ? law->one : law->zero;
    return law->scale * answer + law->offset;
}

// Returns: the probability of a place given a position.
static double place_given(const agg_place_law *law, uint32_t place, uint32_t position)
{
    return place - position < law->width ? law->inside : law->outside; // wraps where below
}

double agg_place_probability(const agg_place_law *law, uint32_t answer, double fraction)
{
    if (answer >= law->places) {
        double one = law->flip + (1 - 2 * law->flip) * fraction;
        return (1 - law->place) * (answer > law->places ? one : 1 - one);
    }
    double at = fraction * law->steps, below = floor(at), share = at - below;
    double sum = (1 - share) * place_given(law, answer, (uint32_t)below);
    if (share > 0) sum += share * place_given(law, answer, (uint32_t)below + 1);
    return law->place * sum;
}

static double squares_below(double n)
{
    return (n - 1) * n * (2 * n - 1) / 6;
}

// Returns: the mean square of one answer's worth at a position.
static double mean_square(const agg_place_law *law, double position)
{
    double w = law->width, all = law->places, x = law->scale, d = law->offset;
    double inside = squares_below(position + w) - squares_below(position);
    double square = law->inside * inside + law->outside * (squares_below(all) - inside);
    double mean = (position / law->steps - d) / x; // of the place, since its worth is unbiased
    double place = x * x * square + 2 * x * d * mean + d * d;
    double one = law->flip + (1 - 2 * law->flip) * position / law->steps;
    double bit = one * law->one * law->one + (1 - one) * law->zero * law->zero;
    return law->place * place + (1 - law->place) * bit;
}

double agg_place_variance(const agg_place_law *law, double fraction)
{
    double at = fraction * law->steps, below = floor(at), share = at - below;
    double square = (1 - share) * mean_square(law, below);
    if (share > 0) square += share * mean_square(law, below + 1);
    return square - fraction * fraction;
}
