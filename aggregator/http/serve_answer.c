// SPDX-License-Identifier: Apache-2.0
// Answers; see serve_answer.h.
#include "serve_answer.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "print_text.h"

void serve_answer_release(serve_answer *answer)
{
    free(answer->body);
    *answer = (serve_answer){0};
}

// A stream into an answer's body. The C library's own (open_memstream) copies what there is
// whenever it grows, and so takes three times as much at times.
typedef struct sink {
    serve_answer *answer;
    size_t cap;
} sink;

static ssize_t append(void *cookie, const char *bytes, size_t len)
{
    sink *to = cookie;
    void *body = to->answer->body;
    if (agg_grow(&body, &to->cap, to->answer->len + len, 1, NULL) != SHOAL_OK) return 0;
    to->answer->body = body;
    memcpy(to->answer->body + to->answer->len, bytes, len);
    to->answer->len += len;
    return (ssize_t)len;
}

static int end(void *cookie)
{
    free(cookie);
    return 0;
}

FILE *serve_answer_open(serve_answer *answer)
{
    static const cookie_io_functions_t functions = {.write = append, .close = end};
    serve_answer_release(answer);
    sink *to = calloc(1, sizeof *to);
    if (to == NULL) return NULL;
    to->answer = answer;
    FILE *stream = fopencookie(to, "w", functions);
    if (stream == NULL) free(to);
    return stream;
}

void serve_answer_close(serve_answer *answer, FILE *stream, unsigned status, const char *type)
{
    int failed = stream == NULL || ferror(stream);
    if (stream != NULL && fclose(stream) != 0) failed = 1;
    if (failed) {
        serve_answer_release(answer);
        answer->status = 500; // without a body: there is no memory for one
        return;
    }
    answer->status = status;
    answer->type = type;
}

void serve_answer_error(serve_answer *answer, unsigned status, const char *code, int number,
                        const char *message)
{
    FILE *stream = serve_answer_open(answer);
    if (stream != NULL) {
        fputs("{\"error\":{\"code\":", stream);
        agg_print_json_text(stream, code, strlen(code));
        fprintf(stream, ",\"number\":%d,\"message\":", number);
        agg_print_json_text(stream, message, strlen(message));
        fputs("}}\n", stream);
    }
    serve_answer_close(answer, stream, status, SERVE_TYPE_JSON);
}

void serve_answer_fail(serve_answer *answer, unsigned status, const agg_error *error)
{
    serve_answer_error(answer, status, agg_err_name(error->code), (int)error->code, error->text);
}
