// SPDX-License-Identifier: Apache-2.0
// Questions and answers; see init_ask.h.
#include "init_ask.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool init_ask_is_terminal(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

// Reads past the end of a line that was too long.
static void drop_rest(void)
{
    int c;
    do c = getchar();
    while (c != '\n' && c != EOF);
}

agg_err init_ask(char answer[INIT_ANSWER_MAX], agg_error *error, const char *question,
                 const char *initial)
{
    fprintf(stderr, "\n%s [%s]: ", question, initial);
    fflush(stderr);
    if (fgets(answer, INIT_ANSWER_MAX, stdin) == NULL) {
        fputc('\n', stderr);
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE,
                        "the input ended before all questions were answered; nothing was written");
    }
    size_t len = strcspn(answer, "\r\n");
    if (answer[len] == '\0' && len + 1 == INIT_ANSWER_MAX) {
        drop_rest();
        return agg_fail(error, AGG_ERR_USAGE, AGG_EXIT_USAGE, "an answer has at most %u bytes",
                        INIT_ANSWER_MAX - 1);
    }
    answer[len] = '\0';
    while (len > 0 && answer[len - 1] == ' ') answer[--len] = '\0';
    if (len == 0) snprintf(answer, INIT_ANSWER_MAX, "%s", initial);
    return SHOAL_OK;
}

agg_err init_ask_until(agg_error *error, const char *question, const char *initial, init_take *take,
                       void *context)
{
    char answer[INIT_ANSWER_MAX];
    agg_err err = SHOAL_OK;
    for (int i = 0; i < INIT_TRIES; i++) {
        err = init_ask(answer, error, question, initial);
        if (err != SHOAL_OK) return err;
        err = take(context, error, answer);
        if (err == SHOAL_OK) return SHOAL_OK;
        fprintf(stderr, "  %s\n", error->text);
    }
    return err;
}
