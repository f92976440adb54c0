// SPDX-License-Identifier: Apache-2.0
// Sessions on a clock of the test: both ends of a session's life to the second, signing out, room
// for each reader apart; and the limit on failed sign-ins.
#include "agg_test.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "serve_session.h"
#include "sign_in_limit.h"

static serve_sessions *open_table(size_t n)
{
    agg_error error;
    serve_sessions *made = NULL;
    assert_ok(serve_sessions_open(&made, &error, n));
    return made;
}

static void a_session_ends_unused_and_ends_old(void **state)
{
    (void)state;
    char id[SERVE_SESSION_ID_MAX];
    serve_sessions *s = open_table(3);
    int64_t now = 1000;
    assert_true(serve_sessions_begin(s, id, 2, now));
    assert_int_equal(serve_sessions_find(s, id, now + SERVE_SESSION_IDLE_S - 1, false), 2);
    assert_int_equal(serve_sessions_find(s, id, now + SERVE_SESSION_IDLE_S, true),
                     SERVE_SESSION_NOBODY);
    assert_int_equal(serve_sessions_find(s, id, now, true), SERVE_SESSION_NOBODY); // it is gone

    assert_true(serve_sessions_begin(s, id, 0, now));
    int64_t end = now + SERVE_SESSION_LIFE_S;
    for (; now < end; now += SERVE_SESSION_IDLE_S - 1)
        assert_int_equal(serve_sessions_find(s, id, now, true), 0); // used all the time
    assert_int_equal(serve_sessions_find(s, id, end - 1, true), 0);
    assert_int_equal(serve_sessions_find(s, id, end, true), SERVE_SESSION_NOBODY);
    serve_sessions_close(s);
}

static void looking_is_not_using(void **state)
{
    (void)state;
    char id[SERVE_SESSION_ID_MAX];
    serve_sessions *s = open_table(1);
    assert_true(serve_sessions_begin(s, id, 0, 0));
    for (int64_t now = 0; now < SERVE_SESSION_IDLE_S; now += 2)
        assert_int_equal(serve_sessions_find(s, id, now, false), 0);
    assert_int_equal(serve_sessions_find(s, id, SERVE_SESSION_IDLE_S, false), SERVE_SESSION_NOBODY);
    serve_sessions_close(s);
}

static void ids_are_new_and_whole(void **state)
{
    (void)state;
    char ids[64][SERVE_SESSION_ID_MAX], other[SERVE_SESSION_ID_MAX];
    serve_sessions *s = open_table(64);
    for (size_t i = 0; i < 64; i++) {
        assert_true(serve_sessions_begin(s, ids[i], i, 0));
        assert_int_equal(strlen(ids[i]), 64);
        for (size_t k = 0; k < i; k++) assert_string_not_equal(ids[i], ids[k]);
    }
    for (size_t i = 0; i < 64; i++) {
        assert_int_equal(serve_sessions_find(s, ids[i], 1, true), i);
        memcpy(other, ids[i], sizeof other);
        other[63] = other[63] == '0' ? '1' : '0';
        assert_int_equal(serve_sessions_find(s, other, 1, true), SERVE_SESSION_NOBODY);
    }
    assert_int_equal(serve_sessions_find(s, "", 1, true), SERVE_SESSION_NOBODY);
    serve_sessions_end(s, ids[5]);
    assert_int_equal(serve_sessions_find(s, ids[5], 1, true), SERVE_SESSION_NOBODY);
    assert_int_equal(serve_sessions_find(s, ids[6], 1, true), 6);
    serve_sessions_end(s, "none");
    serve_sessions_close(s);
}

// One reader who signs in without end ends the least used of its own sessions, and nobody else's.
static void a_full_table_turns_on_its_own_reader(void **state)
{
    (void)state;
    char ids[SERVE_SESSIONS_EACH + 1][SERVE_SESSION_ID_MAX], other[SERVE_SESSION_ID_MAX];
    serve_sessions *s = open_table(2);
    assert_true(serve_sessions_begin(s, other, 1, 0));
    for (size_t i = 0; i < SERVE_SESSIONS_EACH; i++)
        assert_true(serve_sessions_begin(s, ids[i], 0, 10));
    assert_int_equal(serve_sessions_find(s, ids[0], 11, true), 0); // ids[1] is the oldest now
    assert_true(serve_sessions_begin(s, ids[SERVE_SESSIONS_EACH], 0, 12));
    assert_int_equal(serve_sessions_find(s, ids[1], 12, true), SERVE_SESSION_NOBODY);
    assert_int_equal(serve_sessions_find(s, ids[0], 12, true), 0);
    assert_int_equal(serve_sessions_find(s, ids[SERVE_SESSIONS_EACH], 12, true), 0);
    assert_int_equal(serve_sessions_find(s, other, 12, true), 1);
    serve_sessions_close(s);
}

static struct sockaddr_storage six(const char *text)
{
    struct sockaddr_storage out = {0};
    struct sockaddr_in6 address = {.sin6_family = AF_INET6};
    assert_int_equal(inet_pton(AF_INET6, text, &address.sin6_addr), 1);
    memcpy(&out, &address, sizeof address);
    return out;
}

static void failures_are_limited_and_forgiven(void **state)
{
    (void)state;
    static sign_in_limit limit;
    agg_error error;
    assert_ok(sign_in_limit_init(&limit, &error));
    struct sockaddr_storage a = six("2001:db8:0:1::1"), near = six("2001:db8:0:1:ffff::9");
    struct sockaddr_storage others[64];
    for (size_t i = 0; i < 64; i++) {
        char text[40];
        snprintf(text, sizeof text, "2001:db8:%zx:1::1", i + 1);
        others[i] = six(text);
    }
    int64_t now = 5000;
    for (int i = 0; i < SIGN_IN_FAILURES; i++) {
        assert_int_equal(sign_in_limit_wait(&limit, &a, now), 0);
        sign_in_limit_fail(&limit, &a, now);
    }
    assert_int_equal(sign_in_limit_wait(&limit, &a, now), SIGN_IN_FORGIVE_S);
    assert_int_equal(sign_in_limit_wait(&limit, &near, now), SIGN_IN_FORGIVE_S); // the same network
    size_t free_ones = 0; // 64 networks over 1024 counters: at most a few share the first one's
    for (size_t i = 0; i < 64; i++) free_ones += sign_in_limit_wait(&limit, &others[i], now) == 0;
    assert_true(free_ones >= 56);
    assert_int_equal(sign_in_limit_wait(&limit, &a, now + SIGN_IN_FORGIVE_S - 1), 1);
    assert_int_equal(sign_in_limit_wait(&limit, &a, now + SIGN_IN_FORGIVE_S), 0);
    sign_in_limit_fail(&limit, &a, now + SIGN_IN_FORGIVE_S);
    assert_int_equal(sign_in_limit_wait(&limit, &a, now + SIGN_IN_FORGIVE_S), SIGN_IN_FORGIVE_S);
    // After a long quiet time there is room for as many as at first, and for no more.
    now += 1000000;
    for (int i = 0; i < SIGN_IN_FAILURES; i++) sign_in_limit_fail(&limit, &a, now);
    assert_int_equal(sign_in_limit_wait(&limit, &a, now), SIGN_IN_FORGIVE_S);
    sign_in_limit_release(&limit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_ends_unused_and_ends_old),
        cmocka_unit_test(looking_is_not_using),
        cmocka_unit_test(ids_are_new_and_whole),
        cmocka_unit_test(a_full_table_turns_on_its_own_reader),
        cmocka_unit_test(failures_are_limited_and_forgiven),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
