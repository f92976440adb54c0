// SPDX-License-Identifier: Apache-2.0
// Chooses `send` of a new recipe; see recipe_send.h.
#include "recipe_send.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "call_streams.h"
#include "log.h"
#include "options.h"
#include "part_recipe.h"
#include "pick_advice.h"

#define ANSWER_MAX 80u
#define TRIES 3

// Asks once. Returns: whether there is an answer; it has no newline, and may be empty.
static bool ask(char answer[ANSWER_MAX], const char *question)
{
    fputs(question, stderr);
    fflush(stderr);
    if (fgets(answer, ANSWER_MAX, stdin) == NULL) {
        fputc('\n', stderr);
        return false;
    }
    answer[strcspn(answer, "\r\n")] = '\0';
    return true;
}

static bool is_terminal(void)
{
    return agg_call_current() == NULL && isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

static agg_err read_active(double *active, agg_error *error, const char *text)
{
    return cli_read_decimal(active, error, "active", text, 0.000001, 1);
}

// Asks for the share until there is one. An empty answer leaves it unknown.
static void ask_active(double *active)
{
    char answer[ANSWER_MAX];
    agg_error error;
    for (int i = 0; i < TRIES; i++) {
        if (!ask(answer, "In what share of visits does something happen that this recipe reports?\n"
                         "From 0 to 1, or nothing if you do not know: ") ||
            answer[0] == '\0' || read_active(active, &error, answer) == SHOAL_OK)
            return;
    }
}

// Returns: whether the site is one page, as the answer says; false without one.
static bool ask_pages(void)
{
    char answer[ANSWER_MAX];
    for (int i = 0; i < TRIES; i++) {
        if (!ask(answer,
                 "Is the site one page that stays open (a single-page app), or many pages?\n"
                 "one or many: "))
            return false;
        if (strcmp(answer, "one") == 0 || strcmp(answer, "many") == 0) break;
    }
    return strcmp(answer, "one") == 0;
}

static agg_err read_pages(bool *is_one, agg_error *error, const recipe_options *options)
{
    const char *pages = options->pages;
    *is_one = false;
    if (pages == NULL) {
        *is_one = is_terminal() && ask_pages();
        return SHOAL_OK;
    }
    *is_one = strcmp(pages, "one") == 0;
    if (*is_one || strcmp(pages, "many") == 0) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--pages is one or many");
}

static void say(const agg_pick_wish *wish, agg_pick_reason reason)
{
    char command[] = "recipe", sentence[AGG_PICK_SENTENCE_MAX], text[AGG_PICK_SENTENCE_MAX + 16];
    agg_pick_sentence(sentence, wish, reason);
    snprintf(text, sizeof text, "send.pick %s", sentence);
    agg_log_line(command, text);
}

agg_err recipe_send_choose(const char **send, agg_error *error, const recipe_options *options,
                           const shoal_recipe *recipe)
{
    agg_pick_wish wish = agg_pick_wish_of(recipe, 0);
    bool is_one = false;
    agg_err err = SHOAL_OK;
    *send = NULL;
    if (options->pages != NULL && options->active == NULL)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "--pages goes with --active");
    if (options->active != NULL && wish.is_own)
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "--active: queries, tries and runs choose what they report by themselves");
    if (options->active != NULL) err = read_active(&wish.active, error, options->active);
    // Where the answer would decide nothing, nothing is asked.
    if (options->active == NULL && agg_pick_advise(&wish) == AGG_PICK_UNKNOWN && is_terminal())
        ask_active(&wish.active);
    agg_pick_reason reason = agg_pick_advise(&wish);
    if (err == SHOAL_OK && agg_pick_is_uniform(reason)) err = read_pages(&is_one, error, options);
    if (err != SHOAL_OK) return err;
    if (agg_pick_is_uniform(reason)) *send = is_one ? AGG_SEND_VISIT : AGG_SEND_DAY;
    if (options->active != NULL || reason == AGG_PICK_UNKNOWN || wish.active > 0)
        say(&wish, reason);
    return SHOAL_OK;
}
