// SPDX-License-Identifier: Apache-2.0
// The blanket's bound: against its definition for few reports, against the exact divergence of the
// shuffled reports of small mechanisms, against the variation-ratio bound where the two nearly
// meet.
#include "agg_test.h"

#include <math.h>

#include "blanket.h"
#include "variation_ratio.h"

static agg_error error;

// Returns: the law of generalized randomized response among s answers.
static agg_pair_law grr(double e0, double s)
{
    agg_pair_law law = {.n = 0};
    double lie = 1 / (exp(e0) + s - 1), truth = exp(e0) * lie, rest = (s - 2) * lie;
    agg_pair_add_both(&law, truth, lie, lie, lie);
    agg_pair_add(&law, rest, rest, rest, rest - lie + truth);
    return law;
}

// Returns: the product of `parts` such laws, each with its share of epsilon.
static agg_pair_law product(double e0, double s, int parts)
{
    agg_pair_law one = grr(e0 / parts, s), law = one;
    for (int p = 1; p < parts; p++) {
        agg_pair_law next = {.n = 0};
        for (size_t i = 0; i < law.n; i++)
            for (size_t j = 0; j < one.n; j++)
                agg_pair_add(&next, law.classes[i].own * one.classes[j].own,
                             law.classes[i].other * one.classes[j].other,
                             law.classes[i].least * one.classes[j].least,
                             law.classes[i].third * one.classes[j].third);
        law = next;
    }
    return law;
}

// Returns: E max(0, sum) over all sequences of n classes, value by value.
static double by_force(const agg_pair_law *law, double epsilon, int n, double sum, double mass)
{
    double all = 0, total = 0;
    if (n == 0) return mass * fmax(0, sum);
    for (size_t i = 0; i < law->n; i++) {
        const agg_pair_class *c = &law->classes[i];
        total += c->least;
        if (c->least > 0)
            all += by_force(law, epsilon, n - 1,
                            sum + (c->own - exp(epsilon) * c->other) / c->least, mass * c->least);
    }
    return all + by_force(law, epsilon, n - 1, sum, mass * (1 - total));
}

static agg_central central_of(const agg_crowd *crowd)
{
    agg_central central;
    assert_ok(agg_crowd_epsilon(&central, &error, crowd, AGG_BOUND_BLANKET, true));
    return central;
}

// Returns: the variation-ratio figure.
static double figure_of(const agg_crowd *crowd)
{
    const agg_three_classes classes =
        agg_variation_classes(crowd->local_epsilon, agg_pair_variation(crowd->pair));
    return agg_three_classes_epsilon(&classes, crowd).upper;
}

static void check_definition(const agg_pair_law *law, int n, double epsilon)
{
    double exact = by_force(law, epsilon, n, 0, 1) / n, ours = 0;
    assert_ok(agg_blanket_delta(&ours, &error, law, n, epsilon, 1e-15));
    if (!(ours >= exact * (1 - 1e-12) && ours <= exact * 1.02 + 1e-6))
        fail_msg("n %d, epsilon %g: %.12g, by force %.12g", n, epsilon, ours, exact);
}

static void agrees_with_the_definition(void **state)
{
    (void)state;
    for (double e0 = 0.5; e0 < 5; e0 += 1.3)
        for (double share = 0; share < 1; share += 0.19)
            for (int n = 1; n <= 7; n++) {
                agg_pair_law two = grr(e0, 2), five = grr(e0, 5), parts = product(e0, 3, 2);
                check_definition(&two, n, share * e0);
                check_definition(&five, n, share * e0);
                if (n <= 5) check_definition(&parts, n, share * e0);
            }
}

// Where a record's law under x and x' has the ratios e^eps0, 1 and e^-eps0 only, the two bounds
// assume nearly the same of the other reports.
static void meets_the_variation_ratio(void **state)
{
    static const double epsilons[] = {1, 2, 4}, reports[] = {3000, 1e5, 1e6, 1e9};
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 4; j++) {
            agg_pair_law law = grr(epsilons[i], 33);
            const agg_crowd crowd = {epsilons[i], reports[j], 1e-8, 1, &law};
            double other = figure_of(&crowd);
            agg_central central = central_of(&crowd);
            // Of this mechanism the figure is a lower bound, too.
            if (!(fabs(central.lower - other) < 2e-6 * other && central.upper > other * 0.999 &&
                  central.upper < other * 1.003))
                fail_msg("epsilon0 %g, n %g: %.6g .. %.6g, variation ratio %.6g", epsilons[i],
                         reports[j], central.lower, central.upper, other);
        }
}

// Two parts of half the epsilon are hardly ever told apart by both at once. Only the blanket sees
// it.
static void is_tighter_for_several_parts(void **state)
{
    agg_pair_law law = product(4, 20, 2);
    const agg_crowd one = {4, 1e6, 1e-8, 1, &law}, both = {4, 1e6, 1e-8, 2, &law};
    (void)state;
    print_message("blanket %.6g, test %.6g, variation ratio %.6g\n", central_of(&one).upper,
                  central_of(&one).lower, figure_of(&one));
    assert_true(central_of(&one).upper < 0.6 * figure_of(&one));
    assert_true(central_of(&one).lower > 0.5 * central_of(&one).upper);
    assert_true(central_of(&both).upper > 2 * central_of(&one).upper &&
                central_of(&both).upper < 8);
}

static void needs_a_law(void **state)
{
    agg_pair_law law = {.n = 0};
    const agg_crowd unknown = {2, 1e5, 1e-8, 1, NULL}, crowd = {2, 1e5, 1e-8, 1, &law};
    bool kept = true;
    (void)state;
    assert_true(isnan(central_of(&unknown).upper));
    assert_true(isnan(central_of(&crowd).upper));
    assert_ok(agg_blanket_keeps(&kept, &error, &crowd, 1.9));
    assert_false(kept);
    agg_pair_add_both(&law, 0.9, 0.1, 0, 0.1); // what no other report can look like hides nobody
    assert_true(isnan(central_of(&crowd).upper));
    assert_ok(agg_blanket_keeps(&kept, &error, &crowd, 1.9));
    assert_false(kept);
}

// The inverse searches take the bound too: their answers keep the promise, and fewer reports do
// not.
static void inverts(void **state)
{
    agg_pair_law law = grr(3, 12);
    agg_crowd crowd = {3, 0, 1e-8, 1, &law};
    double n = 0, three = 0;
    bool kept = true;
    (void)state;
    assert_ok(agg_crowd_find_reports(&n, &error, &crowd, AGG_BOUND_BLANKET, 0.2));
    crowd.n = n;
    assert_ok(agg_blanket_keeps(&kept, &error, &crowd, 0.2));
    assert_true(kept);
    crowd.n = floor(n * 0.99);
    assert_ok(agg_blanket_keeps(&kept, &error, &crowd, 0.2));
    assert_false(kept);
    crowd.contributions = 3;
    assert_ok(agg_crowd_find_reports(&three, &error, &crowd, AGG_BOUND_BLANKET, 0.2));
    assert_true(three > 3 * n);
}

// ---- the exact divergence of shuffled reports ----

#define ANSWERS 4

// Adds up the shuffled law: counts[] of each answer, from devices `from` on with inputs `in`.
typedef struct shuffled {
    double law[2][8192]; // by a number that codes the counts
    double e0;
    int s;
} shuffled;

static void add_reports(shuffled *sh, double *out, const int *in, int n, int code, double mass)
{
    static const int weight[ANSWERS] = {1, 9, 81, 729};
    double lie = 1 / (exp(sh->e0) + sh->s - 1);
    if (n == 0) {
        out[code] += mass;
        return;
    }
    for (int y = 0; y < sh->s; y++)
        add_reports(sh, out, in + 1, n - 1, code + weight[y],
                    mass * (y == in[0] ? exp(sh->e0) : 1) * lie);
}

static double divergence(const double *p, const double *q, double epsilon)
{
    double sum = 0;
    for (int i = 0; i < 8192; i++) sum += fmax(0, p[i] - exp(epsilon) * q[i]);
    return sum;
}

static int n_above; // settings whose truth is above the variation-ratio figure

// For up to 8 devices: all inputs of the others, both directions. No bound is below the truth, the
// lower bound of three classes is not above it.
static void check_truth(int n, int s, double e0, double epsilon)
{
    static shuffled sh;
    agg_pair_law law = grr(e0, s);
    double worst = 0, blanket = 0;
    int combinations = 1;
    sh.e0 = e0;
    sh.s = s;
    for (int i = 1; i < n; i++) combinations *= s;
    for (int c = 0; c < combinations; c++) {
        int in[8] = {0};
        bool is_sorted = true;
        for (int i = 1, rest = c; i < n; i++, rest /= s) {
            in[i] = rest % s;
            is_sorted = is_sorted && (i == 1 || in[i] >= in[i - 1]);
        }
        if (!is_sorted) continue; // shuffled reports do not depend on the order
        memset(sh.law, 0, sizeof sh.law);
        for (int side = 0; side < 2; side++) {
            in[0] = side;
            add_reports(&sh, sh.law[side], in, n, 0, 1);
        }
        worst = fmax(worst, fmax(divergence(sh.law[0], sh.law[1], epsilon),
                                 divergence(sh.law[1], sh.law[0], epsilon)));
    }
    const agg_three_classes bound = agg_variation_classes(e0, law.classes[0].own -
                                                                  law.classes[0].other),
                            test = {law.classes[0].own, law.classes[0].other, law.classes[0].third};
    agg_central ratio = agg_three_classes_delta(&bound, n, epsilon, 1e-30),
                lower = agg_three_classes_delta(&test, n, epsilon, 1e-30);
    assert_ok(agg_blanket_delta(&blanket, &error, &law, n, epsilon, 1e-15));
    if (!(blanket >= worst * (1 - 1e-9)))
        fail_msg("n %d s %d: truth %.9g, blanket %.9g", n, s, worst, blanket);
    n_above += worst > ratio.upper * (1 + 1e-6);
    if (s > 2 && !(lower.lower <= worst * (1 + 1e-9)))
        fail_msg("n %d s %d: truth %.9g, lower bound %.9g", n, s, worst, lower.lower);
}

static void is_never_below_the_truth(void **state)
{
    (void)state;
    for (int n = 1; n <= 8; n++)
        for (int s = 2; s <= ANSWERS; s++)
            for (double e0 = 0.5; e0 <= 3; e0 += 1.25)
                for (double share = 0.1; share < 1; share += 0.3)
                    if (s < 4 || n <= 6) check_truth(n, s, e0, share * e0);
    print_message("the variation-ratio figure is below the truth in %d settings\n", n_above);
}

// Two devices, three answers, epsilon 0.5: at epsilon 0.35 delta is 0.02845 where the other device
// has the same value. The variation-ratio figure says 0.01726, so it is no promise.
static void the_variation_ratio_is_no_promise(void **state)
{
    double lie = 1 / (exp(0.5) + 2), truth = exp(0.5) * lie, e = exp(0.35);
    double delta = truth * (truth - e * lie); // both say the value; no other outcome exceeds it
    const agg_three_classes classes = agg_variation_classes(0.5, truth - lie);
    (void)state;
    assert_true(fabs(delta - 0.02845) < 1e-5);
    assert_true(2 * truth * lie <= e * lie * (lie + truth)); // it and the third answer
    assert_true(agg_three_classes_delta(&classes, 2, 0.35, 1e-30).upper < 0.0173);
    agg_pair_law law = grr(0.5, 3);
    double blanket = 0;
    assert_ok(agg_blanket_delta(&blanket, &error, &law, 2, 0.35, 1e-15));
    assert_true(blanket >= delta && blanket < 1.01 * delta);
}

// ---- an attack ----

#define TRIALS 200000
#define CROWD 300

static uint64_t seed_of_attack = 0x9e3779b97f4a7c15;

static double uniform(void)
{
    seed_of_attack ^= seed_of_attack << 13;
    seed_of_attack ^= seed_of_attack >> 7;
    seed_of_attack ^= seed_of_attack << 17;
    return (double)(seed_of_attack >> 11) * 0x1p-53;
}

// Plays one game: the attacker sees how many of the crowd say x and how many say x', knows that all
// others have a third value, and scores by the difference, which orders outcomes as their
// likelihood ratio does where the counts are many.
static int score(double truth, double lie, bool is_x)
{
    int score = 0;
    for (int i = 0; i < CROWD; i++) {
        double at = uniform(), own = i == 0 ? is_x ? truth : lie : lie;
        double other = i == 0 ? is_x ? lie : truth : lie;
        score += at < own;
        score -= at >= own && at < own + other;
    }
    return score;
}

// No threshold tells the two worlds apart better than the bound allows, by more than five standard
// errors; and the best one is not far below it, so the game is worth playing.
static void an_attack_does_not_beat_it(void **state)
{
    static const double epsilons[] = {0.1, 0.3, 0.6};
    static int counts[2][2 * CROWD + 1];
    agg_pair_law law = grr(3, 8);
    double truth = law.classes[0].own, lie = law.classes[0].other;
    (void)state;
    memset(counts, 0, sizeof counts);
    for (int i = 0; i < TRIALS; i++)
        for (int world = 0; world < 2; world++) counts[world][CROWD + score(truth, lie, world)]++;
    for (size_t e = 0; e < 3; e++) {
        double best = 0, slack = 0, tails[2] = {0, 0}, bound = 0, ratio = exp(epsilons[e]);
        for (int t = 2 * CROWD; t >= 0; t--) {
            for (int world = 0; world < 2; world++)
                tails[world] += counts[world][t] / (double)TRIALS;
            double gain = tails[1] - ratio * tails[0];
            if (gain < best) continue;
            best = gain;
            slack = sqrt((tails[1] + ratio * ratio * tails[0]) / TRIALS);
        }
        assert_ok(agg_blanket_delta(&bound, &error, &law, CROWD, epsilons[e], 1e-12));
        print_message("epsilon %g: attack %.5f, bound %.5f\n", epsilons[e], best, bound);
        assert_true(best <= bound + 5 * slack);
        assert_true(best >= 0.8 * bound - 5 * slack);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_definition),
        cmocka_unit_test(meets_the_variation_ratio),
        cmocka_unit_test(is_tighter_for_several_parts),
        cmocka_unit_test(needs_a_law),
        cmocka_unit_test(inverts),
        cmocka_unit_test(is_never_below_the_truth),
        cmocka_unit_test(the_variation_ratio_is_no_promise),
        cmocka_unit_test(an_attack_does_not_beat_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
