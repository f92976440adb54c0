// SPDX-License-Identifier: Apache-2.0
// The HTTP client against a server of canned answers on loopback: what it sends, what it takes,
// what it refuses.
#include "agg_test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dap_http.h"

// Answers `n` requests with one text each; `asked` is what came.
typedef struct canned {
    int listener;
    unsigned port;
    const char *answer;
    size_t answer_len;
    int n, silent;
    char asked[8192];
    pthread_t thread;
} canned;

// A request ends where its headers end, or Content-Length bytes behind.
static int is_whole(const char *text, size_t len)
{
    const char *end = strstr(text, "\r\n\r\n"), *length = strstr(text, "Content-Length: ");
    if (end == NULL) return 0;
    size_t body = length == NULL ? 0 : strtoul(length + 16, NULL, 10);
    return len >= (size_t)(end + 4 - text) + body;
}

static void answer_one(canned *c, int fd)
{
    size_t len = 0;
    memset(c->asked, 0, sizeof c->asked);
    while (len + 1 < sizeof c->asked && !is_whole(c->asked, len)) {
        ssize_t got = recv(fd, c->asked + len, sizeof c->asked - len - 1, 0);
        if (got <= 0) return;
        len += (size_t)got;
    }
    if (!c->silent) (void)!send(fd, c->answer, c->answer_len, MSG_NOSIGNAL);
    if (c->silent) (void)!recv(fd, c->asked, 1, 0); // until the client gives up
}

static void *serve(void *context)
{
    canned *c = context;
    for (int i = 0; i < c->n; i++) {
        int fd = accept(c->listener, NULL, NULL);
        if (fd < 0) break;
        answer_one(c, fd);
        close(fd);
    }
    return NULL;
}

static void start(canned *c, const char *answer)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    memset(c, 0, sizeof *c);
    c->answer = answer;
    c->answer_len = strlen(answer);
    c->n = 1;
    c->listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(c->listener >= 0);
    assert_int_equal(bind(c->listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(c->listener, 4), 0);
    assert_int_equal(getsockname(c->listener, (struct sockaddr *)&address, &size), 0);
    c->port = ntohs(address.sin_port);
}

static void stop(canned *c)
{
    pthread_join(c->thread, NULL);
    close(c->listener);
}

// Starts the thread, sends, and waits for its end. `url` gets the port put in.
static agg_err ask(canned *c, agg_http_response *r, agg_error *error, agg_http_request q,
                   const char *path)
{
    char url[256];
    snprintf(url, sizeof url, "http://127.0.0.1:%u%s", c->port, path);
    q.url = url;
    if (q.method == NULL) q.method = "GET";
    assert_int_equal(pthread_create(&c->thread, NULL, serve, c), 0);
    agg_err err = agg_http_fetch(r, error, &q);
    stop(c);
    return err;
}

static void a_post_carries_body_type_and_token_and_no_more(void **state)
{
    canned c;
    agg_http_response r;
    (void)state;
    start(&c, "HTTP/1.1 201 Created\r\nContent-Length: 5\r\ncontent-type: application/ppm-dap; "
              "Message=report \r\n"
              "Location: /dap/jobs/1\r\nretry-after: 7\r\nCache-Control: public, "
              "max-age=90\r\n\r\nhello");
    const agg_http_request q = {.method = "POST",
                                .content_type = "application/x",
                                .body = {(const uint8_t *)"ab\0cd", 5},
                                .bearer = "token-0123456789"};
    assert_ok(ask(&c, &r, NULL, q, "/dap/jobs"));
    assert_int_equal(r.status, 201);
    assert_int_equal(r.body_len, 5);
    assert_string_equal((const char *)r.body, "hello");
    assert_int_equal(r.retry_after_s, 7);
    assert_int_equal(r.max_age_s, 90);
    assert_true(agg_http_is_media(&r, "application/ppm-dap;message=report"));
    assert_false(agg_http_is_media(&r, "application/ppm-dap;message=reports"));
    assert_false(agg_http_is_media(&r, "application/ppm-dap"));
    char location[64];
    snprintf(location, sizeof location, "http://127.0.0.1:%u/dap/jobs/1", c.port);
    assert_string_equal(r.location, location);
    agg_http_response_release(&r);

    assert_memory_equal(c.asked, "POST /dap/jobs HTTP/1.1\r\n", 25);
    assert_non_null(strstr(c.asked, "\r\nContent-Type: application/x\r\n"));
    assert_non_null(strstr(c.asked, "\r\nAuthorization: Bearer token-0123456789\r\n"));
    assert_memory_equal(strstr(c.asked, "\r\n\r\n") + 4, "ab\0cd", 5);
    assert_null(strstr(c.asked, "User-Agent"));
    assert_null(strstr(c.asked, "Expect"));
}

static void statuses_are_the_callers_to_read(void **state)
{
    static const char *const answers[] = {
        "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 500 Oh: no\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\nContent-Type: x/y\r\n\r\nHTTP/1.1 202 "
        "Accepted\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: http://elsewhere.example/\r\nContent-Length: "
        "0\r\n\r\n", // not followed
    };
    static const unsigned statuses[] = {404, 500, 202, 302};
    (void)state;
    for (int i = 0; i < 4; i++) {
        canned c;
        agg_http_response r;
        start(&c, answers[i]);
        assert_ok(ask(&c, &r, NULL, (agg_http_request){.method = NULL}, "/"));
        assert_int_equal(r.status, statuses[i]);
        assert_int_equal(r.body_len, 0);
        assert_string_equal(r.media_type, "");
        assert_string_equal(r.location, "");
        agg_http_response_release(&r);
        assert_null(strstr(c.asked, "Content-Type"));
        assert_null(strstr(c.asked, "Authorization"));
    }
}

static void a_location_stays_on_its_server(void **state)
{
    static const char *const locations[] = {
        "http://elsewhere.example/x", "//elsewhere.example/x",          "https://127.0.0.1/x",
        "http://127.0.0.1:1/x",       "http://user@elsewhere.example/", "file:///etc/x"};
    (void)state;
    for (size_t i = 0; i < sizeof locations / sizeof locations[0]; i++) {
        char answer[256];
        canned c;
        agg_http_response r;
        agg_error error = {SHOAL_OK, 0, ""};
        snprintf(answer, sizeof answer,
                 "HTTP/1.1 201 Created\r\nContent-Length: 0\r\nLocation: %s\r\n\r\n", locations[i]);
        start(&c, answer);
        assert_err(ask(&c, &r, &error, (agg_http_request){.method = "POST"}, "/"), SHOAL_ERR_TYPE);
        assert_null(r.body);
    }
}

static void a_body_above_the_cap_is_refused(void **state)
{
    canned c;
    agg_http_response r;
    agg_error error = {SHOAL_OK, 0, ""};
    (void)state;
    start(&c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789");
    assert_ok(ask(&c, &r, &error, (agg_http_request){.max_body = 10}, "/"));
    assert_int_equal(r.body_len, 10);
    agg_http_response_release(&r);
    start(&c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789");
    assert_err(ask(&c, &r, &error, (agg_http_request){.max_body = 9}, "/"), SHOAL_ERR_RANGE);
    // Without a stated length, too.
    start(&c, "HTTP/1.1 200 OK\r\n\r\n0123456789");
    assert_err(ask(&c, &r, &error, (agg_http_request){.max_body = 9}, "/"), SHOAL_ERR_RANGE);
    assert_null(r.body);
}

static void no_whole_answer_is_an_error(void **state)
{
    canned c;
    agg_http_response r;
    agg_error error = {SHOAL_OK, 0, ""};
    (void)state;
    start(&c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123");
    assert_err(ask(&c, &r, &error, (agg_http_request){.bearer = "token-0123456789"}, "/x"),
               AGG_ERR_IO);
    assert_int_equal(error.exit_code, AGG_EXIT_IO);
    assert_non_null(strstr(error.text, "/x"));
    assert_null(strstr(error.text, "token"));
    start(&c, "");
    assert_err(ask(&c, &r, &error, (agg_http_request){.method = NULL}, "/"), AGG_ERR_IO);
    start(&c, "");
    c.silent = 1;
    assert_err(ask(&c, &r, &error, (agg_http_request){.timeout_s = 1}, "/"), AGG_ERR_IO);
    assert_err(agg_http_fetch(&r, &error,
                              &(agg_http_request){.method = "GET", .url = "file:///etc/hostname"}),
               AGG_ERR_IO);
    assert_err(agg_http_fetch(&r, &error,
                              &(agg_http_request){.method = "GET", .url = "http://127.0.0.1:1/"}),
               AGG_ERR_IO);
}

// Plain HTTP goes to this machine and not to whatever the environment names.
static void no_proxy_sees_what_is_for_this_machine(void **state)
{
    canned c;
    agg_http_response r;
    (void)state;
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("all_proxy", "http://127.0.0.1:1", 1);
    start(&c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    assert_ok(ask(&c, &r, NULL, (agg_http_request){.method = NULL}, "/"));
    unsetenv("http_proxy");
    unsetenv("all_proxy");
    agg_http_response_release(&r);
}

static void a_client_asks_again_and_forgets_the_request_before(void **state)
{
    canned c;
    agg_http_response r;
    (void)state;
    agg_http_client *client = agg_http_client_new();
    assert_non_null(client);
    const agg_http_request first = {.client = client,
                                    .method = "PUT",
                                    .content_type = "a/b",
                                    .body = {(const uint8_t *)"x", 1},
                                    .bearer = "secret"};
    start(&c, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nLocation: /y\r\n\r\n1");
    assert_ok(ask(&c, &r, NULL, first, "/"));
    agg_http_response_release(&r);
    assert_memory_equal(c.asked, "PUT ", 4);
    start(&c, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2");
    assert_ok(ask(&c, &r, NULL, (agg_http_request){.client = client}, "/"));
    assert_string_equal((const char *)r.body, "2");
    assert_string_equal(r.location, "");
    agg_http_response_release(&r);
    assert_memory_equal(c.asked, "GET ", 4);
    assert_null(strstr(c.asked, "secret"));
    assert_null(strstr(c.asked, "Content-"));
    agg_http_client_free(client);
}

static void problems_are_read(void **state)
{
    static const struct {
        const char *type, *body, *says;
        int problem;
    } cases[] = {
        {"application/problem+json",
         "{\"type\":\"urn:ietf:params:ppm:dap:error:batchOverlap\",\"detail\":\"days 1 to 3\"}",
         "status 400, batchOverlap: days 1 to 3", SHOAL_DAP_PROBLEM_BATCH_OVERLAP},
        {"application/problem+json",
         "{\"type\":\"urn:ietf:params:ppm:dap:error:none\",\"title\":\"Odd\"}", "status 400, Odd",
         -1},
        {"application/problem+json", "{", "status 400", -1},
        {"application/problem+json", "{\"type\":5}", "status 400", -1},
        {"text/html", "{\"type\":\"urn:ietf:params:ppm:dap:error:batchOverlap\"}", "status 400",
         -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[AGG_HTTP_PROBLEM_MAX], body[256];
        int problem = 99;
        agg_http_response r = {.status = 400};
        snprintf(r.media_type, sizeof r.media_type, "%s", cases[i].type);
        snprintf(body, sizeof body, "%s", cases[i].body);
        r.body = (uint8_t *)body;
        r.body_len = strlen(body);
        agg_http_problem(text, &problem, &r);
        assert_string_equal(text, cases[i].says);
        assert_int_equal(problem, cases[i].problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_post_carries_body_type_and_token_and_no_more),
        cmocka_unit_test(statuses_are_the_callers_to_read),
        cmocka_unit_test(a_location_stays_on_its_server),
        cmocka_unit_test(a_body_above_the_cap_is_refused),
        cmocka_unit_test(no_whole_answer_is_an_error),
        cmocka_unit_test(no_proxy_sees_what_is_for_this_machine),
        cmocka_unit_test(a_client_asks_again_and_forgets_the_request_before),
        cmocka_unit_test(problems_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
