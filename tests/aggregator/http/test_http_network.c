// SPDX-License-Identifier: Apache-2.0
// Ranges of addresses: exact edges, both families, mapped addresses, and texts that are refused.
#include "agg_test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "http_network.h"

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

static bool holds(const char *range, const char *text)
{
    agg_http_network network;
    struct sockaddr_storage address = address_of(text);
    assert_true(agg_http_network_read(&network, range));
    return agg_http_network_holds(&network, &address);
}

static void ranges_hold_their_addresses_and_no_others(void **state)
{
    (void)state;
    assert_true(holds("127.0.0.1/32", "127.0.0.1"));
    assert_false(holds("127.0.0.1/32", "127.0.0.0"));
    assert_false(holds("127.0.0.1/32", "127.0.0.2"));
    assert_true(holds("10.128.0.0/9", "10.128.0.0"));
    assert_true(holds("10.128.0.0/9", "10.255.255.255"));
    assert_false(holds("10.128.0.0/9", "10.127.255.255"));
    assert_false(holds("10.128.0.0/9", "11.128.0.0"));
    assert_true(holds("128.0.0.0/1", "255.255.255.255"));
    assert_false(holds("128.0.0.0/1", "127.255.255.255"));
    assert_true(holds("::1/128", "::1"));
    assert_false(holds("::1/128", "::2"));
    assert_true(holds("2001:db8::/33", "2001:db8:7fff::1"));
    assert_false(holds("2001:db8::/33", "2001:db8:8000::1"));
    // One machine, in whichever form the socket gives it; and never by a range of the other family.
    assert_true(holds("192.0.2.0/24", "::ffff:192.0.2.9"));
    assert_false(holds("192.0.2.0/24", "::192.0.2.9"));
    assert_false(holds("8000::/1", "127.0.0.1"));
}

static void other_texts_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "127.0.0.1",
                                      "127.0.0.1/",
                                      "127.0.0.1/33",
                                      "127.0.0.1/-1",
                                      "127.0.0.1/ 8",
                                      "127.0.0.1/08a",
                                      "0.0.0.0/0",
                                      "::/0",
                                      "::1/129",
                                      "::1/1280",
                                      "127.0.0.1/8",
                                      "11.0.0.0/7",
                                      "localhost/32",
                                      "proxy.example/32",
                                      "127.1/32",
                                      "/32"};
    agg_http_network network;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (agg_http_network_read(&network, bad[i])) fail_msg("%s was read", bad[i]);
}

static void an_address_of_no_family_is_in_no_range(void **state)
{
    (void)state;
    agg_http_network network;
    struct sockaddr_storage none = {.ss_family = AF_UNIX};
    assert_true(agg_http_network_read(&network, "::/1"));
    assert_false(agg_http_network_holds(&network, &none));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_hold_their_addresses_and_no_others),
        cmocka_unit_test(other_texts_are_refused),
        cmocka_unit_test(an_address_of_no_family_is_in_no_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
