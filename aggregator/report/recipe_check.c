// SPDX-License-Identifier: Apache-2.0
// Prints recipes; see recipe_check.h.
#include "recipe_check.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "account.h"
#include "call_streams.h"
#include "compound.h"
#include "compound_check.h"
#include "item_label.h"
#include "part_print.h"
#include "print_text.h"
#include "recipe.h"
#include "recipe_cost.h"
#include "recipe_warnings.h"
#include "report_json.h"
#include "split.h"
#include "track_print.h"

static void print_parameters(const agg_recipe *recipe)
{
    const shoal_recipe *r = recipe->recipe;
    const char *name = NULL;
    int64_t micro = 0;
    agg_print("mechanism           %s", shoal_recipe_mechanism_name(r));
    for (uint32_t i = 0; shoal_recipe_parameter(&name, &micro, r, i); i++)
        if (strcmp(name, "epsilon") != 0 && strcmp(name, "delta") != 0)
            agg_print(", %s=%.10g", name, (double)micro / 1e6);
    if (r->delta_exp > 0) agg_print(", delta=1e-%u", r->delta_exp);
    const shoal_compound *compound = shoal_compound_by_id(r->mechanism);
    if (compound != NULL && (compound->takes.needs | compound->takes.may) & SHOAL_TAKES_ORACLE)
        agg_print(", oracle=%s", shoal_mechanism_by_id(r->parts[0].mechanism)->name);
    agg_print("\nrecord              %u byte%s in a batch, %zu in a JSON report\n", r->record_size,
              r->record_size == 1 ? "" : "s", agg_report_size(recipe));
}

// The permanent answer bounds what any number of reports of one value reveal.
static void print_variable_unlimited(const shoal_part *part)
{
    const shoal_mechanism *mechanism = shoal_mechanism_by_id(part->mechanism);
    uint32_t unlimited = 0;
    if (mechanism->unlimited != NULL && mechanism->unlimited(&unlimited, part) == SHOAL_OK)
        agg_print(", of all reports of one value %.8g", unlimited / 1e6);
}

static void print_variable(const shoal_recipe *r, uint32_t i)
{
    static const char *const kinds[] = {"", "word", "host", "site", "item", "number"};
    const shoal_variable *variable = &r->variables[i];
    const shoal_part *part = &r->parts[i];
    agg_print("variable %-10.*s %s by %s, ", (int)variable->name.len, variable->name.bytes,
              kinds[variable->value], shoal_mechanism_by_id(part->mechanism)->name);
    if (part->domain == SHOAL_DOMAIN_OPEN)
        agg_print("any string");
    else if (variable->value == SHOAL_VALUE_NUMBER)
        agg_print("%u buckets from %.10g to %.10g", part->size, (double)variable->low_micro / 1e6,
                  (double)variable->high_micro / 1e6);
    else
        agg_print("a list of %u", part->size);
    agg_print(", epsilon %.8g (as drawn: %.8g)", part->eps_micro / 1e6,
              agg_part_drawn_epsilon(part));
    print_variable_unlimited(part);
    agg_print(", %u byte%s\n", part->record_size, part->record_size == 1 ? "" : "s");
}

static void print_joint(const shoal_recipe *r)
{
    for (uint32_t i = 0; i < r->n_variables; i++) print_variable(r, i);
}

static void print_records(const shoal_recipe *r)
{
    if (!shoal_recipe_keeps_records(r)) return;
    agg_print(
        "records             kept %u day%s after their block closed, for joint estimates; then "
        "sums only\n",
        r->keep_days, r->keep_days == 1 ? "" : "s");
}

static void print_run(const shoal_recipe *r)
{
    agg_track_law law;
    shoal_evolving_plan plan = shoal_evolving_stated(r);
    agg_track_law_of(&law, &plan);
    agg_print("epoch               %u of %u%s\n", r->round_index, r->epochs,
              r->round_update ? "; the one before was an update, and its estimates are sent" : "");
    agg_track_print_law(agg_out(), &law);
}

static void print_compound(const shoal_recipe *r)
{
    const agg_compound_check *check = agg_compound_check_of(r->mechanism);
    print_joint(r);
    print_records(r);
    if (check != NULL) check->print(r);
    if (r->epochs > 0) print_run(r);
}

static void print_range(const shoal_recipe *r)
{
    double low = (double)r->low_micro / 1e6, high = (double)r->high_micro / 1e6;
    uint32_t size = r->parts[0].size;
    if (r->value != SHOAL_VALUE_NUMBER) return;
    if (r->parts[0].domain == SHOAL_DOMAIN_NUMBER) {
        agg_print(
            "mean                of numbers from %.10g to %.10g; a number outside counts as the "
            "nearer end\n",
            low, high);
        return;
    }
    char first[AGG_LABEL_MAX], last[AGG_LABEL_MAX];
    agg_bucket_print(first, r, 0);
    agg_bucket_print(last, r, size - 1);
    agg_print("buckets             %u of %.10g each, from %s to %s; a number outside counts in the "
              "nearest\n",
              size, (high - low) / size, first, last);
}

static void print_characters(const shoal_encoded *field)
{
    uint32_t step = field->step > 0 ? field->step : 1;
    agg_print(
        "field %-13.*s %u buckets: <none> and %u start%s of %u character%s, each before <end>, "
        "<oov> or the next",
        (int)field->field.len, field->field.bytes, field->size, field->prefixes.count,
        field->prefixes.count == 1 ? "" : "s", field->depth, field->depth == 1 ? "" : "s");
    if (step > 1) agg_print(" 1 to %u", step);
    agg_print(" of %u characters\n", field->tokens.count);
}

static void print_field(const agg_recipe *recipe, uint32_t i)
{
    char none[AGG_BUCKET_LABEL_MAX], first[AGG_BUCKET_LABEL_MAX], last[AGG_BUCKET_LABEL_MAX];
    const shoal_encoded *field = &recipe->recipe->encoding.fields[i];
    agg_recipe_bucket_label(first, sizeof first, recipe, i, 1);
    agg_recipe_bucket_label(last, sizeof last, recipe, i, field->size - 1);
    agg_recipe_bucket_label(none, sizeof none, recipe, i, 0);
    if (field->scheme == SHOAL_SCHEME_CHARACTERS) {
        print_characters(field);
        return;
    }
    agg_print("field %-13.*s %u buckets: %s", (int)field->field.len, field->field.bytes,
              field->size, none);
    if (field->scheme == SHOAL_SCHEME_TOKENS) {
        agg_print(" and %u prefix%s of %u token%s, each before %u tokens, <end> or <oov>\n",
                  field->prefixes.count, field->prefixes.count == 1 ? "" : "es", field->depth,
                  field->depth == 1 ? "" : "s", field->tokens.count);
        return;
    }
    fputs(", from ", agg_out());
    agg_print_terminal_text(agg_out(), first, strlen(first));
    fputs(" to ", agg_out());
    agg_print_terminal_text(agg_out(), last, strlen(last));
    fputc('\n', agg_out());
}

static void print_split(const agg_recipe *recipe, uint32_t i)
{
    const shoal_split_field *split = &recipe->recipe->splits[i];
    agg_print("split by            %.*s:", (int)split->field.len, split->field.bytes);
    for (uint32_t j = 0; j < recipe->splits[i].n; j++)
        agg_print(" %.*s,", (int)recipe->splits[i].texts[j].len, recipe->splits[i].texts[j].bytes);
    agg_print(" other; each a collection with its own minimum\n");
}

// Prints what the two servers verify of a record.
static void print_shares(const shoal_recipe *r)
{
    shoal_split split;
    const char *why = "";
    if (shoal_split_init(&split, &r->parts[0], &why) != SHOAL_OK) return;
    bool is_one = split.prio3.circuit == SHOAL_CIRCUIT_HISTOGRAM;
    agg_print("shares              of a vector of %u entries, %s %llu of them set\n",
              split.prio3.length, is_one ? "exactly" : "at most",
              is_one ? 1ull : (unsigned long long)split.prio3.max);
    double refusal = ldexp((double)shoal_split_refusal(&split, &r->parts[0]), -64);
    if (refusal > 0)
        agg_print("too heavy           one record in %.3g million at most; it is not sent\n",
                  1e-6 / refusal);
}

// Prints who adds up the records, unless one aggregator stores reports.
static void print_aggregation(const shoal_recipe *r)
{
    if (r->aggregation == SHOAL_AGGREGATION_SUM)
        agg_print("aggregation         only sums are stored\n");
    if (r->aggregation != SHOAL_AGGREGATION_DAP) return;
    agg_print("aggregation         dap: shares to two servers; times of reports in units of %u s\n",
              r->time_precision_s);
    agg_print("leader              %.*s\n", (int)r->leader.len, r->leader.bytes);
    agg_print("helper              %.*s\n", (int)r->helper.len, r->helper.bytes);
    print_shares(r);
}

// Prints the encoding and, of a query, its policy and hash.
static void print_query(const agg_recipe *recipe)
{
    const shoal_recipe *r = recipe->recipe;
    char hex[65];
    if (r->encoding.n_fields == 0) return;
    for (uint32_t i = 0; i < r->encoding.n_fields; i++) print_field(recipe, i);
    agg_print("cells               %u\n", r->parts[0].size);
    for (uint32_t i = 0; i < r->n_splits; i++) print_split(recipe, i);
    if (r->version == 0) return;
    agg_hex(hex, r->policy, sizeof r->policy);
    agg_print("query               version %u, under the policy %.8s...", r->version, hex);
    if (r->round_index > 0) agg_print(", round %u", r->round_index);
    agg_hex(hex, r->query_hash, sizeof r->query_hash);
    agg_print("\nquery hash          %s\n", hex);
}

void recipe_check_print(const agg_recipe *recipe, uint32_t today)
{
    agg_print("recipe              %s\nhash                %s\n", recipe->id, recipe->hash_hex);
    print_parameters(recipe);
    print_range(recipe->recipe);
    print_compound(recipe->recipe);
    print_aggregation(recipe->recipe);
    print_query(recipe);
    recipe_cost_print(recipe->recipe, today);
    recipe_warnings_log(recipe, today);
}
