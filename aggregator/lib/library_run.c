// SPDX-License-Identifier: Apache-2.0
// Runs commands in this process, with options as JSON; see shoal_aggregate.h.
//
// The options become the words of a command line, so a command reads them as it always does.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "commands.h"
#include "json_walk.h"
#include "library_call.h"

#define OPTIONS_MAX ((size_t)64 << 20) // bytes of the JSON of options
#define NAME_MAX_LEN 64u

static const cli_command *const rows[] = {&cmd_demo,    &cmd_recipe,  &cmd_policy,    &cmd_simulate,
                                          &cmd_ingest,  &cmd_merge,   &cmd_estimate,  &cmd_discover,
                                          &cmd_joint,   &cmd_track,   &cmd_retention, &cmd_funnel,
                                          &cmd_round,   &cmd_plan,    &cmd_audit,     &cmd_account,
                                          &cmd_compare, &cmd_changes, &cmd_report,    NULL};

const char *shoal_agg_command(size_t i)
{
    return i < sizeof rows / sizeof rows[0] - 1 ? rows[i]->name : NULL;
}

// ---- words ----

typedef struct word_list {
    char **texts; // n of them, each to be freed, and a NULL
    size_t n, cap;
} word_list;

static void release_words(word_list *words)
{
    for (size_t i = 0; i < words->n; i++) free(words->texts[i]);
    free(words->texts);
}

static agg_err add_word(word_list *words, agg_error *error, const char *before, const char *text)
{
    void *texts = words->texts;
    agg_err err = agg_grow(&texts, &words->cap, words->n + 2, sizeof *words->texts, error);
    words->texts = texts;
    if (err != SHOAL_OK) return err;
    size_t head = strlen(before), tail = strlen(text);
    char *word = agg_alloc(error, head + tail + 1, 1);
    if (word == NULL) return AGG_ERR_MEMORY;
    memcpy(word, before, head);
    memcpy(word + head, text, tail);
    words->texts[words->n++] = word;
    words->texts[words->n] = NULL;
    return SHOAL_OK;
}

// ---- options ----

static agg_err refuse(agg_error *error, const char *name, const char *why)
{
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "option %.64s: %s", name, why);
}

static bool is_name(const char *name)
{
    size_t len = strlen(name);
    return len > 0 && len <= NAME_MAX_LEN && name[0] != '-' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

// Prints a number in the fewest digits that read as the same number.
static void print_number(char out[32], double number)
{
    int digits = 1;
    do snprintf(out, 32, "%.*g", digits, number);
    while (++digits <= 17 && strtod(out, NULL) != number);
    if (number >= -9e15 && number <= 9e15 && number == (double)(int64_t)number)
        snprintf(out, 32, "%lld", (long long)number);
}

// Adds an option with one value: a text, a number or a boolean.
static agg_err add_option(word_list *words, agg_error *error, const char *name, const cJSON *value)
{
    char number[32];
    const char *text = number;
    if (cJSON_IsFalse(value)) return SHOAL_OK;
    if (cJSON_IsTrue(value)) return add_word(words, error, "--", name);
    if (cJSON_IsString(value))
        text = value->valuestring;
    else if (cJSON_IsNumber(value))
        print_number(number, value->valuedouble);
    else
        return refuse(error, name, "must be a text, a number or a boolean, or a list of them");
    agg_err err = add_word(words, error, "--", name);
    return err == SHOAL_OK ? add_word(words, error, "", text) : err;
}

static agg_err add_options(word_list *words, agg_error *error, const cJSON *object,
                           const char *format)
{
    const cJSON *member, *entry;
    agg_err err = SHOAL_OK;
    cJSON_ArrayForEach(member, object)
    {
        if (agg_json_came_before(object, member)) return refuse(error, member->string, "is twice");
        if (strcmp(member->string, "words") == 0) continue;
        if (!is_name(member->string)) return refuse(error, member->string, "is no option's name");
        if (format != NULL && strcmp(member->string, "format") == 0)
            return refuse(error, "format", "is given beside the options too");
        if (!cJSON_IsArray(member)) {
            err = add_option(words, error, member->string, member);
            if (err != SHOAL_OK) return err;
        }
        if (cJSON_IsArray(member)) cJSON_ArrayForEach(entry, member)
            {
                err = add_option(words, error, member->string, entry);
                if (err != SHOAL_OK) return err;
            }
    }
    if (format == NULL) return SHOAL_OK;
    err = add_word(words, error, "", "--format");
    return err == SHOAL_OK ? add_word(words, error, "", format) : err;
}

static agg_err add_plain_words(word_list *words, agg_error *error, const cJSON *object)
{
    const cJSON *entry, *list = cJSON_GetObjectItemCaseSensitive(object, "words");
    if (list == NULL) return SHOAL_OK;
    if (!cJSON_IsArray(list)) return refuse(error, "words", "must be a list of texts");
    agg_err err = add_word(words, error, "", "--");
    cJSON_ArrayForEach(entry, list)
    {
        if (err != SHOAL_OK) return err;
        if (!cJSON_IsString(entry)) return refuse(error, "words", "must be a list of texts");
        err = add_word(words, error, "", entry->valuestring);
    }
    return err;
}

static agg_err read_options(word_list *words, agg_error *error, const char *options,
                            const char *format)
{
    if (options == NULL) options = "{}";
    size_t len = strlen(options);
    if (len > OPTIONS_MAX)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "the options are too long");
    cJSON *object = agg_json_parse(error, options, len);
    if (object == NULL) {
        agg_error_prefix(error, "options");
        return agg_json_refusal(error);
    }
    agg_err err = SHOAL_OK;
    if (!cJSON_IsObject(object))
        err = agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "the options must be a JSON object");
    if (err == SHOAL_OK) err = add_options(words, error, object, format);
    if (err == SHOAL_OK) err = add_plain_words(words, error, object);
    cJSON_Delete(object);
    return err;
}

// ---- running ----

// Adds the words of the command's name and finds its row.
static agg_err find(const cli_command **row, word_list *words, agg_error *error,
                    const char *command)
{
    char name[NAME_MAX_LEN + 1];
    size_t len = strcspn(command, " ");
    const char *action = command[len] != '\0' ? command + len + 1 : NULL;
    snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : 0), command);
    *row = command_find(rows, name);
    if (*row == NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "unknown command '%.64s'", command);
    agg_err err = add_word(words, error, "", name);
    return err == SHOAL_OK && action != NULL ? add_word(words, error, "", action) : err;
}

// Makes the error of a command that ended with an exit code.
static agg_err end(agg_error *error, const agg_call *call, int exit_code)
{
    if (exit_code == AGG_EXIT_OK) return SHOAL_OK;
    if (call->last.text[0] != '\0' && call->last.exit_code == exit_code) {
        *error = call->last;
        return error->code;
    }
    if (exit_code == AGG_EXIT_ALARM)
        return agg_fail(error, AGG_ERR_ALARM, exit_code, "the result raised an alarm");
    return agg_fail(error, SHOAL_AGG_VERDICT, exit_code,
                    "the result says no: what was printed "
                    "tells why");
}

static agg_err run_row(const shoal_agg_context *context, agg_error *error, const cli_command *row,
                       const word_list *words, shoal_agg_bytes *out)
{
    library_call call;
    char *data = NULL;
    size_t len = 0;
    if (words->n > INT32_MAX)
        return agg_fail(error, SHOAL_ERR_RANGE, AGG_EXIT_USAGE, "too many words");
    FILE *stream = open_memstream(&data, &len);
    if (stream == NULL) return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    agg_err err = library_enter(&call, error);
    if (err == SHOAL_OK) {
        call.call.out = stream;
        call.call.log = context != NULL ? context->log : NULL;
        call.call.log_context = context != NULL ? context->user : NULL;
        err = end(error, &call.call, command_run(row, (int)words->n, words->texts));
        library_leave(&call);
    }
    bool is_whole = ferror(stream) == 0;
    if ((fclose(stream) != 0 || !is_whole) && err == SHOAL_OK)
        err = agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "out of memory");
    if (len == 0) free(data);
    *out = (shoal_agg_bytes){len > 0 ? (uint8_t *)data : NULL, len};
    return err;
}

shoal_agg_code shoal_agg_run(const shoal_agg_context *context, const char *command,
                             const char *options, const char *format, shoal_agg_bytes *out,
                             shoal_agg_error *error)
{
    agg_error inner;
    word_list words = {.n = 0};
    const cli_command *row = NULL;
    if (command == NULL || out == NULL)
        return library_refuse(error, "a command and room for its output are needed");
    *out = (shoal_agg_bytes){NULL, 0};
    agg_err err = find(&row, &words, &inner, command);
    if (err == SHOAL_OK) err = read_options(&words, &inner, options, format);
    if (err == SHOAL_OK) err = run_row(context, &inner, row, &words, out);
    release_words(&words);
    return library_fail(error, err, &inner);
}

// ---- contexts ----

shoal_agg_code shoal_agg_context_new(shoal_agg_context **context, shoal_agg_error *error)
{
    agg_error inner;
    if (context == NULL) return library_refuse(error, "a context is needed");
    shoal_agg_context *made = agg_alloc(&inner, 1, sizeof *made);
    if (made == NULL) return library_fail(error, AGG_ERR_MEMORY, &inner);
    *context = made;
    return SHOAL_AGG_OK;
}

void shoal_agg_context_free(shoal_agg_context *context)
{
    free(context);
}

void shoal_agg_context_set_log(shoal_agg_context *context, shoal_agg_log log, void *user)
{
    if (context == NULL) return;
    context->log = log;
    context->user = user;
}
