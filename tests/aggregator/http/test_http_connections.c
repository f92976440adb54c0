// SPDX-License-Identifier: Apache-2.0
// The table of connections, over pairs of sockets: who is displaced and who never is, deadlines,
// how many connections an address may hold, and which addresses are one.
#include "agg_test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http_connections.h"

enum { MAX = 16, SPARE = 2, ROOM = 1000 };

typedef struct client {
    int server, client; // the two ends
    agg_http_connection *connection;
} client;

static agg_http_connections *table;
static client clients[MAX];

static struct sockaddr_storage address_of(const char *text)
{
    struct sockaddr_storage out = {0};
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &four.sin_addr) == 1) {
        memcpy(&out, &four, sizeof four);
    } else {
        assert_int_equal(inet_pton(AF_INET6, text, &six.sin6_addr), 1);
        memcpy(&out, &six, sizeof six);
    }
    return out;
}

static void open_table(const agg_http_limits *limits)
{
    agg_error error;
    assert_int_equal(agg_http_connections_open(&table, &error, limits, MAX, ROOM, 1), SHOAL_OK);
}

static client come(const char *address)
{
    client c;
    int ends[2];
    struct sockaddr_storage from = address_of(address);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    c.server = ends[0];
    c.client = ends[1];
    c.connection = agg_http_connections_add(table, c.server, &from);
    assert_non_null(c.connection);
    usleep(2000); // whoever comes later is younger by the clock, too
    return c;
}

static void go(client *c)
{
    agg_http_connections_remove(table, c->connection);
    close(c->server);
    close(c->client);
    *c = (client){-1, -1, NULL};
}

// Returns: whether the server has ended the connection, within some milliseconds.
static bool is_ended(const client *c, int wait_ms)
{
    struct pollfd p = {.fd = c->client, .events = POLLIN};
    return poll(&p, 1, wait_ms) == 1 && (p.revents & (POLLHUP | POLLIN)) != 0;
}

static void close_all(size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (clients[i].connection != NULL) go(&clients[i]);
    agg_http_connections_close(table);
}

static void newcomers_displace_the_oldest_stranger(void **state)
{
    (void)state;
    const agg_http_limits limits = agg_http_limits_default();
    open_table(&limits);
    for (size_t i = 0; i < MAX - SPARE; i++) clients[i] = come("192.0.2.1");
    agg_http_connections_know(table, clients[0].connection);
    agg_http_connections_set(table, clients[1].connection, AGG_HTTP_HELD, 0);
    agg_http_connections_rest(table, clients[2].connection); // the youngest now
    for (size_t i = 0; i < MAX - SPARE; i++) assert_false(is_ended(&clients[i], 0));
    clients[MAX - 2] = come("192.0.2.2");
    assert_true(is_ended(&clients[3], 0));
    go(&clients[3]);
    clients[MAX - 1] = come("192.0.2.3");
    assert_true(is_ended(&clients[4], 0));
    for (size_t i = 0; i < MAX; i++)
        if (i != 3 && i != 4) assert_false(is_ended(&clients[i], 0));
    close_all(MAX);
}

// Who has a token stays, however many come; the places kept free are theirs, too.
static void who_is_known_is_never_displaced(void **state)
{
    (void)state;
    const agg_http_limits limits = agg_http_limits_default();
    open_table(&limits);
    for (size_t i = 0; i < MAX; i++) {
        clients[i] = come("192.0.2.1");
        agg_http_connections_know(table, clients[i].connection);
    }
    for (size_t i = 0; i < MAX; i++) assert_false(is_ended(&clients[i], 0));
    struct sockaddr_storage from = address_of("192.0.2.1");
    assert_null(agg_http_connections_add(table, -1, &from)); // full
    close_all(MAX);
}

static void bodies_near_their_room_displace_strangers(void **state)
{
    (void)state;
    const agg_http_limits limits = agg_http_limits_default();
    open_table(&limits);
    for (size_t i = 0; i < 5; i++) clients[i] = come("192.0.2.1");
    agg_http_connections_know(table, clients[0].connection);
    for (size_t i = 0; i < 3; i++) agg_http_connections_fill(table, clients[i].connection, 250);
    for (size_t i = 0; i < 5; i++) assert_false(is_ended(&clients[i], 0)); // three quarters
    agg_http_connections_fill(table, clients[3].connection, 250);
    assert_true(is_ended(&clients[1], 0)); // the oldest that is not known
    for (size_t i = 0; i < 5; i++) assert_true(i == 1 || !is_ended(&clients[i], 0));
    // One large body alone is nobody's trouble; nor does a body displace itself.
    for (size_t i = 0; i < 4; i++) agg_http_connections_fill(table, clients[i].connection, 0);
    agg_http_connections_fill(table, clients[4].connection, ROOM);
    for (size_t i = 0; i < 5; i++) assert_true(i == 1 || !is_ended(&clients[i], 0));
    close_all(5);
}

static void deadlines_end_connections(void **state)
{
    (void)state;
    agg_http_limits limits = agg_http_limits_default();
    limits.header_timeout_s = 1;
    open_table(&limits);
    for (size_t i = 0; i < 6; i++) clients[i] = come("192.0.2.1");
    agg_http_connections_know(table, clients[1].connection); // a deadline is everybody's
    agg_http_connections_set(table, clients[2].connection, AGG_HTTP_BODY, 60000);
    agg_http_connections_set(table, clients[3].connection, AGG_HTTP_HELD, 0);
    agg_http_connections_set(table, clients[4].connection, AGG_HTTP_ANSWER, 100);
    agg_http_connections_rest(table, clients[5].connection); // 2 s
    assert_true(is_ended(&clients[4], 900));
    assert_true(is_ended(&clients[0], 2000));
    assert_true(is_ended(&clients[1], 500));
    assert_false(is_ended(&clients[5], 300));
    assert_true(is_ended(&clients[5], 2000));
    assert_false(is_ended(&clients[2], 0));
    assert_false(is_ended(&clients[3], 0));
    close_all(6);
}

static void an_address_holds_so_many_connections(void **state)
{
    (void)state;
    agg_http_limits limits = agg_http_limits_default();
    limits.connections_per_address = 2;
    open_table(&limits);
    static const struct {
        const char *address;
        bool is_admitted;
    } cases[] = {
        {"2001:db8:1:2::9", false},     // the same network of 64 bits
        {"2001:db8:1:3::1", true},      // the next one
        {"::ffff:198.51.100.7", false}, // the same IPv4 address, mapped
        {"198.51.100.8", true},         // the next one
        {"127.0.0.1", true},            // unlimited by default,
        {"10.1.2.3", true},             // as are private ones
        {"::ffff:192.168.1.1", true},
        {"fd00::1", true},
    };
    clients[0] = come("2001:db8:1:2::1");
    clients[1] = come("2001:db8:1:2::2");
    clients[2] = come("198.51.100.7");
    clients[3] = come("198.51.100.7");
    clients[4] = come("127.0.0.1");
    clients[5] = come("127.0.0.1");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sockaddr_storage from = address_of(cases[i].address);
        assert_int_equal(agg_http_connections_admits(table, &from), cases[i].is_admitted);
    }
    struct sockaddr_storage from = address_of("198.51.100.7");
    agg_http_connections_know(table, clients[2].connection); // does not count any more
    assert_true(agg_http_connections_admits(table, &from));
    go(&clients[3]);
    clients[3] = come("198.51.100.7");
    assert_true(agg_http_connections_admits(table, &from));
    clients[6] = come("198.51.100.7");
    assert_false(agg_http_connections_admits(table, &from));
    close_all(7);
}

static void strangers_of_an_address_share_a_bucket(void **state)
{
    (void)state;
    agg_http_limits limits = agg_http_limits_default();
    limits.requests_per_s = 1;
    limits.requests_burst = 3;
    open_table(&limits);
    clients[0] = come("2001:db8:1:2::1");
    clients[1] = come("2001:db8:1:2::2");
    clients[2] = come("192.168.0.1");
    clients[3] = come("2001:db8:1:2::3");
    agg_http_connections_know(table, clients[3].connection);
    assert_int_equal(agg_http_connections_take(table, clients[0].connection), 0);
    agg_http_connections_charge(table, clients[0].connection, 2);
    assert_true(agg_http_connections_take(table, clients[1].connection) > 0);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(agg_http_connections_take(table, clients[2].connection), 0);
        assert_int_equal(agg_http_connections_take(table, clients[3].connection), 0);
    }
    close_all(4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newcomers_displace_the_oldest_stranger),
        cmocka_unit_test(who_is_known_is_never_displaced),
        cmocka_unit_test(bodies_near_their_room_displace_strangers),
        cmocka_unit_test(deadlines_end_connections),
        cmocka_unit_test(an_address_holds_so_many_connections),
        cmocka_unit_test(strangers_of_an_address_share_a_bucket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
