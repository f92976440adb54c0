// SPDX-License-Identifier: Apache-2.0
// Answers; see http_answer.h.
#include "http_answer.h"

#include <stdlib.h>
#include <string.h>

#include "agg_size.h"
#include "print_text.h"

void agg_http_answer_release(agg_http_answer *answer)
{
    free(answer->body);
    *answer = (agg_http_answer){0};
}

// A stream into an answer's body. open_memstream is not used because it copies the whole body
// whenever it grows, which takes three times the memory.
typedef struct sink {
    agg_http_answer *answer;
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

FILE *agg_http_answer_open(agg_http_answer *answer)
{
    static const cookie_io_functions_t functions = {.write = append, .close = end};
    agg_http_answer_release(answer);
    sink *to = calloc(1, sizeof *to);
    if (to == NULL) return NULL;
    to->answer = answer;
    FILE *stream = fopencookie(to, "w", functions);
    if (stream == NULL) free(to);
    return stream;
}

void agg_http_answer_close(agg_http_answer *answer, FILE *stream, unsigned status, const char *type)
{
    bool failed = stream == NULL || ferror(stream);
    if (stream != NULL && fclose(stream) != 0) failed = true;
    if (failed) {
        agg_http_answer_release(answer);
        answer->status = 500; // without a body, for which there is no memory
        return;
    }
    answer->status = status;
    answer->type = type;
}

void agg_http_answer_error(agg_http_answer *answer, unsigned status, const char *code, int number,
                           const char *message)
{
    FILE *stream = agg_http_answer_open(answer);
    if (stream != NULL) {
        fputs("{\"error\":{\"code\":", stream);
        agg_print_json_text(stream, code, strlen(code));
        fprintf(stream, ",\"number\":%d,\"message\":", number);
        agg_print_json_text(stream, message, strlen(message));
        fputs("}}\n", stream);
    }
    agg_http_answer_close(answer, stream, status, AGG_HTTP_TYPE_JSON);
}

void agg_http_answer_fail(agg_http_answer *answer, unsigned status, const agg_error *error)
{
    agg_http_answer_error(answer, status, agg_err_name(error->code), (int)error->code, error->text);
}
