// SPDX-License-Identifier: Apache-2.0
// Ranges of addresses; see http_network.h.
#include "http_network.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "sha256.h"

enum { MAPPED_BITS = 96, ADDRESS_MAX = 64 };

static void map_four(uint8_t bytes[16], const void *four)
{
    memset(bytes, 0, 10);
    bytes[10] = bytes[11] = 0xff;
    memcpy(bytes + 12, four, 4);
}

// Reads the digits behind the slash.
static bool read_prefix(unsigned *prefix, const char *text, unsigned most)
{
    size_t len = strspn(text, "0123456789");
    if (len == 0 || len > 3 || text[len] != '\0') return false;
    *prefix = (unsigned)strtoul(text, NULL, 10);
    return *prefix >= 1 && *prefix <= most;
}

// Returns: whether the first `bits` bits of two addresses are the same.
static bool is_same_prefix(const uint8_t a[16], const uint8_t b[16], unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;
    if (memcmp(a, b, whole) != 0) return false;
    return rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0;
}

// Returns: whether all bits behind the prefix are zero.
static bool is_clean(const agg_http_network *network)
{
    for (unsigned bit = network->prefix; bit < 128; bit++) {
        if (network->bytes[bit / 8] >> (7 - bit % 8) & 1) return false;
    }
    return true;
}

bool agg_http_network_read(agg_http_network *network, const char *text)
{
    char host[ADDRESS_MAX];
    struct in_addr four;
    agg_http_network made = {.prefix = 0};
    const char *slash = strchr(text, '/');
    size_t len = slash == NULL ? 0 : (size_t)(slash - text);
    if (len == 0 || len >= sizeof host) return false;
    memcpy(host, text, len);
    host[len] = '\0';
    if (inet_pton(AF_INET, host, &four) == 1) {
        if (!read_prefix(&made.prefix, slash + 1, 32)) return false;
        map_four(made.bytes, &four);
        made.prefix += MAPPED_BITS;
    } else if (inet_pton(AF_INET6, host, made.bytes) != 1 ||
               !read_prefix(&made.prefix, slash + 1, 128)) {
        return false;
    }
    if (!is_clean(&made)) return false;
    *network = made;
    return true;
}

bool agg_http_network_bytes(uint8_t bytes[16], const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET6) {
        struct sockaddr_in6 six;
        memcpy(&six, address, sizeof six);
        memcpy(bytes, &six.sin6_addr, 16);
        return true;
    }
    if (address->ss_family != AF_INET) return false;
    struct sockaddr_in four;
    memcpy(&four, address, sizeof four);
    map_four(bytes, &four.sin_addr);
    return true;
}

bool agg_http_network_holds(const agg_http_network *network, const struct sockaddr_storage *address)
{
    uint8_t bytes[16];
    return agg_http_network_bytes(bytes, address) &&
           is_same_prefix(bytes, network->bytes, network->prefix);
}

uint64_t agg_http_network_hash(const uint8_t key[32], const struct sockaddr_storage *address)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    uint8_t bytes[16] = {0}, digest[32];
    shoal_sha256 sha;
    (void)agg_http_network_bytes(bytes, address);
    bool is_four = memcmp(bytes, mapped, sizeof mapped) == 0;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, key, 32);
    shoal_sha256_update(&sha, bytes, is_four ? sizeof bytes : 8);
    shoal_sha256_final(digest, &sha);
    return load64_le(digest);
}
