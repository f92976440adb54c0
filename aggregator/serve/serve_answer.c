// SPDX-License-Identifier: Apache-2.0
// Answers; see serve_answer.h.
#include "serve_answer.h"

#include <stdlib.h>
#include <string.h>

#include "estimate_print.h"

void serve_answer_release(serve_answer *answer)
{
    free(answer->body);
    *answer = (serve_answer){0};
}

FILE *serve_answer_open(serve_answer *answer)
{
    serve_answer_release(answer);
    return open_memstream(&answer->body, &answer->len);
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

void serve_answer_error(serve_answer *answer, unsigned status, const char *code, int number, const char *message)
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
