// SPDX-License-Identifier: Apache-2.0
// Answers, and their checks; see init_answers.h.
#include "init_answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "init_ask.h"
#include "init_choices.h"
#include "init_origin.h"
#include "json_walk.h"
#include "options.h"
#include "recipe_json.h"

#define EXPIRES_DAYS 180
#define VISITORS_MAX 1000000000u
#define FIELD_MAX 200u
#define SEED_MAX 200u
#define PACKAGES_MAX 400u

const char *const init_whats[] = {"words", "sites", "choices", "numbers", "new-words", NULL};
const char *const init_levels[] = {"high", "medium", "low", NULL};

// Epsilon of a report doubles from one level to the next. To find words that nobody listed, a
// report tells of a whole string and of a piece of it, which doubles it once more.
static const uint32_t epsilons[] = {1000000, 2000000, 4000000};

static agg_err refuse(agg_error *error, const char *text)
{
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "%s", text);
}

// Finds an answer by its name or by its number, from 1.
static agg_err read_name(size_t *position, agg_error *error, const char *const *names,
                         const char *text, const char *refused)
{
    for (size_t i = 0; names[i] != NULL; i++) {
        const char digit[] = {(char)('1' + i), '\0'};
        if (strcmp(names[i], text) != 0 && strcmp(digit, text) != 0) continue;
        *position = i;
        return SHOAL_OK;
    }
    return refuse(error, refused);
}

static agg_err take_what(void *context, agg_error *error, const char *text)
{
    init_answers *a = context;
    size_t what = 0;
    agg_err err = read_name(&what, error, init_whats, text,
                            "--what is words, sites, choices, numbers or new-words");
    a->what = (init_what)what;
    return err;
}

// People write 10,000 or 10_000, too.
static agg_err take_visitors(void *context, agg_error *error, const char *text)
{
    init_answers *a = context;
    char digits[32];
    size_t n = 0;
    for (const char *at = text; *at != '\0' && n + 1 < sizeof digits; at++)
        if (strchr(",_' ", *at) == NULL) digits[n++] = *at;
    digits[n] = '\0';
    return cli_read_whole(&a->visitors, error, "visitors", digits, 1, VISITORS_MAX);
}

static agg_err take_strict(void *context, agg_error *error, const char *text)
{
    init_answers *a = context;
    agg_err err = read_name(&a->level, error, init_levels, text, "--strict is high, medium or low");
    if (err != SHOAL_OK) return err;
    a->eps_micro = epsilons[a->level] * (a->what == INIT_NEW_WORDS ? 2 : 1);
    return SHOAL_OK;
}

// One of the three questions, and what goes without an answer.
typedef struct question {
    const char *name, *text, *initial;
    init_take *take;
} question;

static const question questions[] = {
    {"what",
     "What do you want to know?\n"
     "  1 words      which words people type in a field of your page\n"
     "  2 sites      which sites they follow links to\n"
     "  3 choices    which of a list they choose\n"
     "  4 numbers    a number, such as a rating: its mean, or how it spreads\n"
     "  5 new-words  words that nobody listed; this needs a large crowd\n"
     "Name or number",
     "words", take_what},
    {"visitors", "How many people visit your site on a day?", "10000", take_visitors},
    {"strict",
     "How strict shall the protection of each person be?\n"
     "  1 high    a guess about a person, 50:50 before a report, is right in 73 of 100 cases\n"
     "  2 medium  in 88 of 100 cases; fewer visitors suffice\n"
     "  3 low     in 98 of 100 cases; still fewer suffice\n"
     "Name or number",
     "medium", take_strict},
};

static agg_err take_question(init_answers *a, agg_error *error, const question *q,
                             const char *typed)
{
    if (typed != NULL) return q->take(a, error, typed);
    if (a->can_ask) return init_ask_until(error, q->text, q->initial, q->take, a);
    if (a->options->takes_defaults) return q->take(a, error, q->initial);
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                    "--%s is missing, and there is no terminal to ask on: state --what, --visitors "
                    "and --strict, or take %s, %s and %s by --yes",
                    q->name, questions[0].initial, questions[1].initial, questions[2].initial);
}

static agg_err take_range(init_answers *a, agg_error *error, const char *low, const char *high)
{
    uint64_t buckets = 0;
    if (!agg_decimal_micro(&a->low_micro, low, strlen(low)) ||
        !agg_decimal_micro(&a->high_micro, high, strlen(high)))
        return refuse(error,
                      "--low and --high are decimal numbers such as 0 or -12.5: no exponent, "
                      "at most 9 digits before the point and 6 after");
    if (a->low_micro >= a->high_micro) return refuse(error, "--low must be below --high");
    agg_micro_print(a->low, a->low_micro);
    agg_micro_print(a->high, a->high_micro);
    if (a->options->buckets == NULL) return SHOAL_OK;
    agg_err err = cli_read_whole(&buckets, error, "buckets", a->options->buckets, 2, 1000);
    a->buckets = (uint32_t)buckets;
    return err;
}

static agg_err take_range_line(void *context, agg_error *error, const char *answer)
{
    char low[64], high[64], rest[2];
    if (sscanf(answer, "%63s %63s %1s", low, high, rest) != 2)
        return refuse(error, "two numbers, such as: 1 5");
    return take_range(context, error, low, high);
}

static agg_err take_numbers(init_answers *a, agg_error *error)
{
    const init_options *o = a->options;
    if ((o->low == NULL) != (o->high == NULL)) return refuse(error, "--low and --high go together");
    if (a->what != INIT_NUMBERS)
        return o->low == NULL && o->buckets == NULL
                   ? SHOAL_OK
                   : refuse(error, "--low, --high and --buckets go with --what numbers");
    if (o->low != NULL) return take_range(a, error, o->low, o->high);
    if (a->can_ask)
        return init_ask_until(error, "From which number to which?", "1 5", take_range_line, a);
    return take_range(a, error, "1", "5");
}

static agg_err take_choices_line(void *context, agg_error *error, const char *answer)
{
    init_answers *a = context;
    return init_choices_split(&a->values, error, answer);
}

static agg_err take_choices(init_answers *a, agg_error *error)
{
    const init_options *o = a->options;
    if (a->what != INIT_CHOICES)
        return o->values == NULL ? SHOAL_OK : refuse(error, "--values goes with --what choices");
    if (o->values != NULL) return init_choices_read(&a->values, error, o->values);
    if (a->can_ask)
        return init_ask_until(error, "Between what do they choose? Separate by commas",
                              "yes,no,not sure", take_choices_line, a);
    return init_choices_split(&a->values, error, "yes,no,not sure");
}

// Reads what the plan counts with.
static agg_err take_plan(init_answers *a, agg_error *error)
{
    static const char *const kinds[] = {"many", "one", NULL};
    const init_options *o = a->options;
    uint64_t days = 14;
    size_t pages = 0;
    agg_err err = SHOAL_OK;
    a->taking_part = 0.25;
    if (o->taking_part != NULL)
        err = cli_read_decimal(&a->taking_part, error, "taking-part", o->taking_part, 0.000001, 1);
    if (err == SHOAL_OK && o->days != NULL)
        err = cli_read_whole(&days, error, "days", o->days, 1, 365);
    if (err == SHOAL_OK && o->active != NULL)
        err = cli_read_decimal(&a->active, error, "active", o->active, 0.000001, 1);
    if (err == SHOAL_OK && o->pages != NULL)
        err = read_name(&pages, error, kinds, o->pages, "--pages is one or many");
    if (err == SHOAL_OK && o->pages != NULL && o->active == NULL)
        err = refuse(error, "--pages goes with --active");
    if (err == SHOAL_OK && o->active != NULL && a->what == INIT_NEW_WORDS)
        err = refuse(error, "--active goes with lists, strings and numbers, not with new-words");
    a->days = (uint32_t)days;
    a->is_one_page = pages == 1;
    return err;
}

static agg_err take_names(init_answers *a, agg_error *error)
{
    const init_options *o = a->options;
    shoal_name name;
    const char *why = NULL;
    agg_err err = init_origin_read(a->site, error, "site",
                                   o->site != NULL ? o->site : "https://www.example.org");
    if (err != SHOAL_OK) return err;
    if (o->edge != NULL)
        err = init_origin_read(a->edge, error, "edge", o->edge);
    else
        err = init_origin_beside(a->edge, error, a->site, "edge");
    if (err == SHOAL_OK && o->relay != NULL)
        err = init_origin_read(a->relay, error, "relay", o->relay);
    if (err != SHOAL_OK) return err;
    if (strcmp(a->site, a->edge) == 0 || strcmp(a->edge, a->relay) == 0)
        return refuse(error, "--site, --edge and --relay need a host name each");
    if (o->id != NULL)
        snprintf(a->id, sizeof a->id, "%.*s", (int)sizeof a->id - 1, o->id);
    else
        snprintf(a->id, sizeof a->id, "%s-1", init_whats[a->what]);
    if (o->id != NULL && (strlen(o->id) > SHOAL_NAME_MAX ||
                          shoal_name_set(&name, o->id, strlen(o->id), &why) != SHOAL_OK))
        return refuse(error, "--id has 1 to 64 of a-z, 0-9, and . _ - after the first");
    if (strcmp(a->id, "shoal-probe") == 0 || strcmp(a->id, "probe") == 0)
        return refuse(error, "--id: this name is kept for the recipe that checks the installation");
    return SHOAL_OK;
}

static agg_err take_expires(init_answers *a, agg_error *error)
{
    const char *typed = a->options->expires;
    time_t last = time(NULL) + (time_t)86400 * EXPIRES_DAYS;
    struct tm day;
    if (typed == NULL) {
        if (gmtime_r(&last, &day) != NULL &&
            strftime(a->expires, sizeof a->expires, "%Y-%m-%d", &day) > 0)
            return SHOAL_OK;
        return agg_fail(error, AGG_ERR_IO, AGG_EXIT_RUNTIME, "the system gives no date");
    }
    size_t len = strlen(typed);
    if (len != 10 || strspn(typed, "0123456789-") != len)
        return refuse(error, "--expires is a day, such as 2027-06-30");
    memcpy(a->expires, typed, len + 1);
    return SHOAL_OK;
}

// Returns: whether a text can be written into a file: UTF-8 without control characters.
static bool is_plain(const char *text, size_t most)
{
    size_t len = strlen(text);
    if (len == 0 || len > most || !agg_utf8_is_valid(text, len)) return false;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) return false;
    return true;
}

static agg_err check_texts(agg_error *error, const init_options *o)
{
    if (o->field != NULL && !is_plain(o->field, FIELD_MAX))
        return refuse(error, "--field is a CSS selector of at most 200 bytes, such as textarea");
    if (o->seed != NULL && !is_plain(o->seed, SEED_MAX))
        return refuse(error, "--seed is a text of at most 200 bytes");
    if (o->packages == NULL) return SHOAL_OK;
    bool is_url = strncmp(o->packages, "https://", 8) == 0 ||
                  strncmp(o->packages, "http://127.0.0.1:", 17) == 0;
    if (strcmp(o->packages, INIT_REGISTRY) == 0) return SHOAL_OK;
    if (is_plain(o->packages, PACKAGES_MAX) && (is_url || o->packages[0] == '/')) return SHOAL_OK;
    return refuse(error, "--packages is a folder, from / on, an https URL, or " INIT_REGISTRY);
}

agg_err init_answers_take(init_answers *answers, agg_error *error, const init_options *options)
{
    init_answers *a = answers;
    const init_options *o = options;
    *a = (init_answers){.options = o};
    a->can_ask = o->asks || (!o->takes_defaults && init_ask_is_terminal());
    agg_err err = check_texts(error, o);
    if (err == SHOAL_OK) err = take_question(a, error, &questions[0], o->what);
    if (err == SHOAL_OK) err = take_plan(a, error);
    if (err == SHOAL_OK) err = take_numbers(a, error);
    if (err == SHOAL_OK) err = take_choices(a, error);
    if (err == SHOAL_OK) err = take_names(a, error);
    if (err == SHOAL_OK) err = take_expires(a, error);
    if (err == SHOAL_OK) err = take_question(a, error, &questions[1], o->visitors);
    if (err == SHOAL_OK) err = take_question(a, error, &questions[2], o->strict);
    return err;
}

void init_answers_release(init_answers *answers)
{
    agg_list_release(&answers->values);
}
