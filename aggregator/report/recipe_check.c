// SPDX-License-Identifier: Apache-2.0
// Recipes in print; see recipe_check.h.
#include "recipe_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "account.h"
#include "central.h"
#include "compound.h"
#include "dictionary.h"
#include "epoch.h"
#include "event.h"
#include "item_label.h"
#include "log.h"
#include "print_text.h"
#include "rappor.h"
#include "rappor_ngram.h"
#include "report_json.h"
#include "sfp.h"
#include "split.h"
#include "text_rule.h"
#include "track_print.h"

static void print_parameters(const agg_recipe *recipe)
{
    const shoal_recipe *r = &recipe->recipe;
    const char *name = NULL;
    int64_t micro = 0;
    printf("mechanism           %s", shoal_recipe_mechanism_name(r));
    for (uint32_t i = 0; shoal_recipe_parameter(&name, &micro, r, i); i++)
        if (strcmp(name, "epsilon") != 0 && strcmp(name, "delta") != 0)
            printf(", %s=%.10g", name, (double)micro / 1e6);
    if (r->delta_exp > 0) printf(", delta=1e-%u", r->delta_exp);
    if (r->mechanism == shoal_sfp_id)
        printf(", oracle=%s", r->oracle == SHOAL_ORACLE_OLH ? "olh" : "cms");
    printf("\nrecord              %u byte%s in a batch, %zu in a JSON report\n", r->record_size,
           r->record_size == 1 ? "" : "s", agg_report_size(recipe));
}

static double drawn_epsilon(const shoal_part *part)
{
    uint32_t drawn = 0;
    return shoal_mechanism_by_id(part->mechanism)->epsilon(&drawn, part) == SHOAL_OK ? drawn / 1e6
                                                                                     : 0;
}

//   rows: of them at one position; 0 where the part knows no positions
static void print_part(const shoal_part *part, const char *label, const char *what, uint32_t rows)
{
    int is_cohorts = part->mechanism == shoal_rappor_id;
    printf("%-19s %s: %s, %u %s%s", label, what, shoal_mechanism_by_id(part->mechanism)->name,
           rows > 0 ? rows : part->k, is_cohorts ? "cohorts" : "rows",
           rows > 0 ? " a position" : "");
    printf(" of %u %s, epsilon %.8g (as drawn: %.8g), %u bytes\n", part->m,
           is_cohorts                        ? "bits"
           : part->mechanism == shoal_olh_id ? "answers"
                                             : "columns",
           part->eps_micro / 1e6, drawn_epsilon(part), part->record_size);
}

static void print_sfp(const shoal_recipe *r)
{
    printf("strings             of 1 to %u bytes; an empty or longer one is reported as none\n",
           r->length);
    printf("positions           %u of 2 bytes; a device draws one and sends it in the clear, as "
           "the row\n",
           shoal_sfp_positions(r));
    print_part(&r->parts[SHOAL_SFP_FRAGMENT], "part 1", "fragment", r->k_fragment);
    print_part(&r->parts[SHOAL_SFP_STRING], "part 2", "whole string", 0);
}

static void print_ngram(const shoal_recipe *r)
{
    char label[24];
    uint32_t positions = shoal_ngram_positions(r);
    printf("strings             cut to %u bytes; candidates are made of %u bytes of the alphabet\n",
           r->length, r->alphabet_len);
    printf("positions           %u of %u bytes; a device draws %u and sends them in the clear, "
           "with its cohort\n",
           positions, r->n_gram, r->grams);
    for (uint32_t i = 0; i < r->n_parts; i++) {
        int is_gram = i + 1 < r->n_parts;
        snprintf(label, sizeof label, "part %u", i + 1);
        print_part(&r->parts[i], label, is_gram ? "n-gram" : "whole string",
                   is_gram ? r->cohorts : 0);
    }
}

static void print_trie(const shoal_recipe *r)
{
    printf("words               of %u characters at most; %u are known and not reported\n",
           r->depth - 1, r->known.count);
    printf("trie                pass %u of %u, %u prefixes kept at most\n", r->pass, r->passes,
           r->max_prefixes);
    printf("contributions       %u of a device, %s; each is a report of its own\n",
           r->contributions,
           r->sampler == SHOAL_SAMPLER_GREEDY ? "those of most of its words first"
                                              : "drawn from all of its cells alike");
}

// However many reports of one value a person sends: of permanent answers only.
static void print_variable_unlimited(const shoal_part *part)
{
    uint32_t unlimited = 0;
    if (part->mechanism == shoal_rappor_id && shoal_rappor_unlimited(&unlimited, part) == SHOAL_OK)
        printf(", of all reports of one value %.8g", unlimited / 1e6);
}

static void print_variable(const shoal_recipe *r, uint32_t i)
{
    static const char *const kinds[] = {"", "word", "host", "site", "item", "number"};
    const shoal_variable *variable = &r->variables[i];
    const shoal_part *part = &r->parts[i];
    printf("variable %-10.*s %s by %s, ", (int)variable->name.len, variable->name.bytes,
           kinds[variable->value], shoal_mechanism_by_id(part->mechanism)->name);
    if (part->domain == SHOAL_DOMAIN_OPEN)
        printf("any string");
    else if (variable->value == SHOAL_VALUE_NUMBER)
        printf("%u buckets from %.10g to %.10g", part->size, (double)variable->low_micro / 1e6,
               (double)variable->high_micro / 1e6);
    else
        printf("a list of %u", part->size);
    printf(", epsilon %.8g (as drawn: %.8g)", part->eps_micro / 1e6, drawn_epsilon(part));
    print_variable_unlimited(part);
    printf(", %u byte%s\n", part->record_size, part->record_size == 1 ? "" : "s");
}

static void print_joint(const shoal_recipe *r)
{
    for (uint32_t i = 0; i < r->n_variables; i++) print_variable(r, i);
}

static void print_records(const shoal_recipe *r)
{
    const shoal_compound *compound = shoal_compound_by_id(r->mechanism);
    if (compound == NULL || !compound->keeps_records) return;
    printf("records             kept %u day%s beyond their period, for what came together; then "
           "sums only\n",
           r->keep_days, r->keep_days == 1 ? "" : "s");
}

static void print_run(const shoal_recipe *r)
{
    agg_track_law law;
    shoal_evolving_plan plan = shoal_evolving_stated(r);
    agg_track_law_of(&law, &plan);
    printf("epoch               %u of %u%s\n", r->round_index, r->epochs,
           r->round_update ? "; the one before was an update, and its estimates are sent" : "");
    agg_track_print_law(stdout, &law);
}

// What only compounds have.
static void print_compound(const shoal_recipe *r)
{
    if (r->mechanism == shoal_joint_id) print_joint(r);
    print_records(r);
    if (r->mechanism == shoal_sfp_id) print_sfp(r);
    if (r->mechanism == shoal_rappor_ngram_id) print_ngram(r);
    if (r->mechanism == shoal_trie_id) print_trie(r);
    if (r->epochs > 0) print_run(r);
}

static void print_range(const shoal_recipe *r)
{
    double low = (double)r->low_micro / 1e6, high = (double)r->high_micro / 1e6;
    uint32_t size = r->parts[0].size;
    if (r->value != SHOAL_VALUE_NUMBER) return;
    if (r->parts[0].domain == SHOAL_DOMAIN_NUMBER) {
        printf("mean                of numbers from %.10g to %.10g; one outside counts as the "
               "nearer end\n",
               low, high);
        return;
    }
    char first[AGG_LABEL_MAX], last[AGG_LABEL_MAX];
    agg_bucket_print(first, r, 0);
    agg_bucket_print(last, r, size - 1);
    printf("buckets             %u of %.10g each, from %s to %s; a number outside counts in the "
           "nearer\n",
           size, (high - low) / size, first, last);
}

// The largest log-ratio between an entry of a list and none of it, over all vectors of a list of
// two: the other entries' coins are the same with either, so that a longer list has the same ratio.
static double deletion_epsilon(const shoal_part *part)
{
    const agg_account *account = agg_account_of(part->mechanism);
    shoal_part two = *part;
    uint8_t record[8];
    const char *field;
    double most = 0;
    two.size = 2;
    if (shoal_part_prepare(&two, &field) != SHOAL_OK) return 0;
    for (uint64_t i = 0; i < account->n_outputs(&two); i++) {
        if (!account->output(record, &two, i)) continue;
        double ratio = log(account->probability(&two, record, 0) /
                           account->probability(&two, record, SHOAL_ITEM_NONE));
        if (fabs(ratio) > most) most = fabs(ratio);
    }
    return most;
}

static int is_onehot(const shoal_recipe *r)
{
    static const char head[] = "onehot-";
    return strncmp(shoal_recipe_mechanism_name(r), head, sizeof head - 1) == 0;
}

static void print_report_cost(const shoal_recipe *r)
{
    uint32_t drawn = 0;
    if (shoal_recipe_epsilon(&drawn, r) != SHOAL_OK) drawn = 0;
    printf("epsilon per report  %.8g (as drawn: %.8g)%s\n", r->cost_micro / 1e6, drawn / 1e6,
           r->n_variables > 0 ? ", all variables together"
           : r->n_parts > 1   ? ", all parts together"
                              : "");
    if (is_onehot(r))
        printf("deletion model      %.4g (a listed value against none of the list)\n",
               deletion_epsilon(&r->parts[0]));
}

// The permanent answer bounds what any number of reports of one value tell; those of another value
// cost anew.
static void print_unlimited(const shoal_recipe *r)
{
    uint32_t unlimited = 0;
    if (!shoal_recipe_is_permanent(r) || r->mechanism == shoal_joint_id)
        return; // of variables it is said one by one
    // Positions are drawn afresh for each report: sooner or later all of them are answered, and the
    // whole string.
    uint32_t answers = r->mechanism == shoal_rappor_ngram_id ? shoal_ngram_positions(r) + 1 : 1;
    if (shoal_rappor_unlimited(&unlimited, &r->parts[0]) == SHOAL_OK)
        printf("epsilon per value   %.8g (however many reports of it a person sends)\n",
               answers * (unlimited / 1e6));
    else
        printf("epsilon per value   no bound: the permanent answer keeps next to nothing back\n");
}

// Whether the central claim follows from the minimum cohort as devices compute it, and from which
// cohort on it does. Both calls take any recipe that was read: its cost, cohort and delta lie in
// their ranges.
static void print_claim(const shoal_recipe *r)
{
    uint32_t eps = 0;
    uint64_t n = 0;
    if (r->cohort_eps_micro == 0) return;
    if (shoal_central_epsilon(&eps, r->cost_micro, r->cohort_minimum, r->cohort_delta_exp) !=
        SHOAL_OK)
        return;
    printf("closed form         central epsilon %.8g: the claim %s", eps / 1e6,
           eps <= r->cohort_eps_micro ? "follows" : "does not follow");
    if (shoal_central_cohort(&n, r->cost_micro, r->cohort_eps_micro, r->cohort_delta_exp) ==
        SHOAL_OK)
        printf(" (it does from %llu report%s on)\n", (unsigned long long)n, n == 1 ? "" : "s");
    else
        printf(" (nor does it with 10^12 reports)\n");
}

static void print_cohort(const shoal_recipe *r)
{
    printf("minimum cohort      %u reports", r->cohort_minimum);
    if (r->cohort_eps_micro > 0)
        printf(", claims central epsilon %.8g at delta 1e-%u", r->cohort_eps_micro / 1e6,
               r->cohort_delta_exp);
    printf("\n");
    print_claim(r);
}

// Group privacy: of all of a person's contributions to one cohort, delta is that of one times 1 +
// e^eps + e^(2 eps) + ...
static void print_trie_person(const shoal_recipe *r)
{
    double eps = r->cohort_eps_micro / 1e6, powers = 0;
    for (uint32_t i = 0; i < r->contributions; i++) powers += exp(i * eps);
    printf("central, per person %.8g at delta %.3g: of all contributions as one group\n",
           r->contributions * eps, powers * pow(10, -(double)r->cohort_delta_exp));
}

// A device answers one round of an analysis, once.
static void print_trie_cost(const shoal_recipe *r)
{
    double each = r->cost_micro / 1e6;
    printf("epsilon per report  %.8g (as drawn: %.8g), item-level: of one contribution\n", each,
           drawn_epsilon(&r->parts[0]));
    printf("epsilon per person  %.8g, user-level: %u contribution%s to the one round that a device "
           "answers\n",
           each * r->contributions, r->contributions, r->contributions == 1 ? "" : "s");
    print_cohort(r);
    if (r->cohort_eps_micro > 0) print_trie_person(r);
}

static void print_cost(const shoal_recipe *r, uint32_t today)
{
    double each = r->cost_micro / 1e6;
    unsigned days = r->expires_day >= today ? r->expires_day - today + 1 : 0;
    if (r->mechanism == shoal_trie_id) {
        print_trie_cost(r);
        return;
    }
    if (r->epochs > 0) {
        printf("epsilon per person  %.8g, of all epochs together; debited once\n", each);
        print_cohort(r);
        return;
    }
    print_report_cost(r);
    if (r->version != 0) {
        printf("epsilon per person  %g (a query is answered once)\n", each);
        print_cohort(r);
        return;
    }
    printf("epsilon per day     %g (%u report%s)\n", each * r->per_day, r->per_day,
           r->per_day == 1 ? "" : "s");
    printf("epsilon per person  %g (%u days until it expires, every report sent)\n",
           each * r->per_day * days, days);
    print_unlimited(r);
    print_cohort(r);
}

static void print_characters(const shoal_encoded *field)
{
    uint32_t step = field->step > 0 ? field->step : 1;
    printf("field %-13.*s %u buckets: <none> and %u start%s of %u character%s, each before <end>, "
           "<oov> or the next",
           (int)field->field.len, field->field.bytes, field->size, field->prefixes.count,
           field->prefixes.count == 1 ? "" : "s", field->depth, field->depth == 1 ? "" : "s");
    if (step > 1) printf(" 1 to %u", step);
    printf(" of %u characters\n", field->tokens.count);
}

static void print_field(const agg_recipe *recipe, uint32_t i)
{
    char none[AGG_BUCKET_LABEL_MAX], first[AGG_BUCKET_LABEL_MAX], last[AGG_BUCKET_LABEL_MAX];
    const shoal_encoded *field = &recipe->recipe.encoding.fields[i];
    agg_recipe_bucket_label(first, sizeof first, recipe, i, 1);
    agg_recipe_bucket_label(last, sizeof last, recipe, i, field->size - 1);
    agg_recipe_bucket_label(none, sizeof none, recipe, i, 0);
    if (field->scheme == SHOAL_SCHEME_CHARACTERS) {
        print_characters(field);
        return;
    }
    printf("field %-13.*s %u buckets: %s", (int)field->field.len, field->field.bytes, field->size,
           none);
    if (field->scheme == SHOAL_SCHEME_TOKENS) {
        printf(" and %u prefix%s of %u token%s, each before %u tokens, <end> or <oov>\n",
               field->prefixes.count, field->prefixes.count == 1 ? "" : "es", field->depth,
               field->depth == 1 ? "" : "s", field->tokens.count);
        return;
    }
    fputs(", from ", stdout);
    agg_print_terminal_text(stdout, first, strlen(first));
    fputs(" to ", stdout);
    agg_print_terminal_text(stdout, last, strlen(last));
    putchar('\n');
}

static void print_split(const agg_recipe *recipe, uint32_t i)
{
    const shoal_split_field *split = &recipe->recipe.splits[i];
    printf("split by            %.*s:", (int)split->field.len, split->field.bytes);
    for (uint32_t j = 0; j < recipe->splits[i].n; j++)
        printf(" %.*s,", (int)recipe->splits[i].texts[j].len, recipe->splits[i].texts[j].bytes);
    printf(" other; each a collection with its own minimum\n");
}

// What the two servers verify of a record.
static void print_shares(const shoal_recipe *r)
{
    shoal_split split;
    const char *why = "";
    if (shoal_split_init(&split, &r->parts[0], &why) != SHOAL_OK) return;
    int is_one = split.prio3.circuit == SHOAL_CIRCUIT_HISTOGRAM;
    printf("shares              of a vector of %u entries, %s %llu of them set\n",
           split.prio3.length, is_one ? "exactly" : "at most",
           is_one ? 1ull : (unsigned long long)split.prio3.max);
    double refusal = ldexp((double)shoal_split_refusal(&split, &r->parts[0]), -64);
    if (refusal > 0)
        printf("too heavy           one record in %.3g million at most; it is not sent\n",
               1e-6 / refusal);
}

// Who adds up, where it is not one aggregator that stores reports.
static void print_aggregation(const shoal_recipe *r)
{
    if (r->aggregation == SHOAL_AGGREGATION_SUM)
        printf("aggregation         only sums are stored\n");
    if (r->aggregation != SHOAL_AGGREGATION_DAP) return;
    printf("aggregation         dap: shares to two servers; times of reports in units of %u s\n",
           r->time_precision_s);
    printf("leader              %.*s\n", (int)r->leader.len, r->leader.bytes);
    printf("helper              %.*s\n", (int)r->helper.len, r->helper.bytes);
    print_shares(r);
}

// What only queries have.
static void print_query(const agg_recipe *recipe)
{
    const shoal_recipe *r = &recipe->recipe;
    char hex[65];
    if (r->encoding.n_fields == 0) return;
    for (uint32_t i = 0; i < r->encoding.n_fields; i++) print_field(recipe, i);
    printf("cells               %u\n", r->parts[0].size);
    for (uint32_t i = 0; i < r->n_splits; i++) print_split(recipe, i);
    if (r->version == 0) return;
    agg_hex(hex, r->policy, sizeof r->policy);
    printf("query               version %u, under the policy %.8s...", r->version, hex);
    if (r->round_index > 0) printf(", round %u", r->round_index);
    agg_hex(hex, r->query_hash, sizeof r->query_hash);
    printf("\nquery hash          %s\n", hex);
}

// Entries of a variable's list that the text rule changes.
static void warn_of_variables(const agg_recipe *recipe)
{
    char text[160];
    for (uint32_t i = 0; i < recipe->recipe.n_variables; i++) {
        const agg_list *values = &recipe->variables[i];
        if (recipe->recipe.variables[i].value == SHOAL_VALUE_ITEM) continue;
        for (uint32_t j = 0; j < values->n; j++) {
            if (agg_text_is_kept(&recipe->recipe, values->texts[j].bytes, values->texts[j].len))
                continue;
            snprintf(text, sizeof text,
                     "entry %u of variables[%u].parameters.values: the text rule changes it, so no "
                     "device reports it",
                     j + 1, i);
            agg_log_line("recipe", text);
        }
    }
}

static void warn_of_values(const agg_recipe *recipe)
{
    char text[160];
    if (recipe->recipe.value == SHOAL_VALUE_ITEM)
        return; // the client matches these as they are written
    for (uint32_t i = 0; i < recipe->values.n; i++) {
        if (agg_text_is_kept(&recipe->recipe, recipe->values.texts[i].bytes,
                             recipe->values.texts[i].len))
            continue;
        snprintf(text, sizeof text,
                 "entry %u of parameters.values: the text rule changes it, so no device reports it",
                 i + 1);
        agg_log_line("recipe", text);
    }
}

// Entries of an encoding that the text rule changes: no device has them. Of a prefix each token
// counts.
static void warn_of_list(const agg_recipe *recipe, uint32_t field, const char *name,
                         const agg_list *list)
{
    char text[160];
    int is_tokens = strcmp(name, "values") != 0;
    for (uint32_t i = 0; i < list->n; i++) {
        if (agg_entry_is_kept(&recipe->recipe, list->texts[i], is_tokens)) continue;
        snprintf(text, sizeof text,
                 "entry %u of encoding[%u].%s: the text rule changes it%s, so no device reports it",
                 i + 1, field, name, is_tokens ? " or cuts it" : "");
        agg_log_line("recipe", text);
    }
}

// Words of a trie are taken by the text rule: what it makes of no word is found by no device.
static void warn_of_words(const agg_recipe *recipe)
{
    char text[160];
    shoal_recipe any_length = recipe->recipe;
    const agg_list *characters = &recipe->lists[0][SHOAL_LIST_CHARACTERS], *known = &recipe->known;
    any_length.text_min = 0;
    any_length.text_max = UINT32_MAX;
    if (recipe->recipe.mechanism != shoal_trie_id) return;
    for (uint32_t i = 0; i < characters->n; i++) {
        if (agg_text_is_kept(&any_length, characters->texts[i].bytes, characters->texts[i].len))
            continue;
        snprintf(
            text, sizeof text,
            "entry %u of encoding[0].characters: the text rule changes it, so no device reports it",
            i + 1);
        agg_log_line("recipe", text);
    }
    for (uint32_t i = 0; i < known->n; i++) {
        if (agg_text_is_kept(&recipe->recipe, known->texts[i].bytes, known->texts[i].len)) continue;
        snprintf(text, sizeof text,
                 "entry %u of parameters.known: the text rule changes it, so no device has it",
                 i + 1);
        agg_log_line("recipe", text);
    }
    if (recipe->recipe.text_max + 1 < recipe->recipe.depth) // which counts the end
        agg_log_line(
            "recipe",
            "text.max is below the longest word of parameters.depth: no device has words so long");
}

static void warn_of_encoding(const agg_recipe *recipe)
{
    static const char *const names[] = {"values", "prefixes", "tokens"};
    for (uint32_t i = 0; i < recipe->recipe.encoding.n_fields; i++)
        for (uint32_t j = 0; j < 3; j++) warn_of_list(recipe, i, names[j], &recipe->lists[i][j]);
}

// Epochs that no device answers (core/compound/epoch.h).
static void warn_of_round(const shoal_recipe *r)
{
    const shoal_epoch_books none = {0, 0, 0};
    shoal_evolving run = shoal_evolving_of(r);
    shoal_epoch_refusal refusal = shoal_epoch_check(&none, &run, r->round_index, r->round_update);
    char text[160];
    if (refusal == SHOAL_EPOCH_ACCEPTED) return;
    snprintf(text, sizeof text, "no device answers this recipe: %s",
             r->round_index == 0 ? "it states no round" : shoal_epoch_refusal_text(refusal));
    agg_log_line("recipe", text);
}

void recipe_check_print(const agg_recipe *recipe, uint32_t today)
{
    printf("recipe              %s\nhash                %s\n", recipe->id, recipe->hash_hex);
    print_parameters(recipe);
    print_range(&recipe->recipe);
    print_compound(&recipe->recipe);
    print_aggregation(&recipe->recipe);
    print_query(recipe);
    print_cost(&recipe->recipe, today);
    warn_of_values(recipe);
    warn_of_variables(recipe);
    warn_of_encoding(recipe);
    warn_of_words(recipe);
    if (recipe->recipe.epochs > 0) warn_of_round(&recipe->recipe);
    if (shoal_recipe_check_day(&recipe->recipe, today) != SHOAL_OK)
        agg_log_line("recipe", "the recipe has expired: devices send nothing");
}
