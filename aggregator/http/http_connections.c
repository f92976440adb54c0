// SPDX-License-Identifier: Apache-2.0
// The table of connections and the thread that keeps their deadlines; see http_connections.h.
//
// A connection ends by shutdown() of its socket: the thread that serves it sees the end as if the
// client had hung up. Its socket is closed only after it left the table, so the shutdown cannot
// meet another connection that has the same number.
#include "http_connections.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agg_size.h"
#include "bytes.h"
#include "http_buckets.h"

#define TURN_MS 250   // between two looks at open connections
#define QUIET_S 30    // between two looks while there is none
#define SPARE_PART 8  // one connection in so many is kept free for newcomers
#define BODIES_PART 4 // one byte in so many of the bodies' room is kept free

struct agg_http_connection {
    int fd;
    bool is_open, is_stranger, is_limited, is_cut, has_nul;
    agg_http_phase phase;
    uint64_t address; // a hash
    int64_t since_ms, deadline_ms;
    size_t body; // bytes
    agg_http_connection *next_free;
};

struct agg_http_connections {
    agg_http_limits limits;
    unsigned max, idle_s;
    size_t bodies;
    uint8_t key[32]; // of the hash of addresses
    atomic_ullong turned[AGG_HTTP_TURNED];
    agg_http_buckets buckets;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    // Guarded by the mutex:
    bool is_stopping;
    unsigned n_open, n_cut; // n_cut of the n_open have been shut down and are closing
    size_t n_slots;         // slots that were ever used
    agg_http_connection *first_free;
    agg_http_connection *list; // max slots
};

static const char *const turned_names[AGG_HTTP_TURNED] = {
    "late-headers", "late-body", "late-answer", "no-room", "address", "requests"};

uint64_t agg_http_connections_memory(unsigned max)
{
    return sizeof(agg_http_connections) + max * (uint64_t)sizeof(agg_http_connection);
}

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t now_ms(void)
{
    return now_us() / 1000;
}

// ---- ending connections: call with the mutex held ----

static void cut(agg_http_connections *table, agg_http_connection *one, agg_http_turned why)
{
    one->is_cut = true;
    table->n_cut++;
    atomic_fetch_add(&table->turned[why], 1);
    (void)shutdown(one->fd, SHUT_RDWR);
}

static agg_http_turned lateness(agg_http_phase phase)
{
    return phase == AGG_HTTP_HEADERS ? AGG_HTTP_LATE_HEADERS
           : phase == AGG_HTTP_BODY  ? AGG_HTTP_LATE_BODY
                                     : AGG_HTTP_LATE_ANSWER;
}

static void cut_late(agg_http_connections *table)
{
    int64_t now = now_ms();
    for (size_t i = 0; i < table->n_slots; i++) {
        agg_http_connection *one = &table->list[i];
        if (one->is_open && !one->is_cut && one->phase != AGG_HTTP_HELD && one->deadline_ms <= now)
            cut(table, one, lateness(one->phase));
    }
}

// Finds the stranger whose request began first.
//   except: is not found; may be NULL
//   min_body: bytes of its body, at least
static agg_http_connection *oldest_stranger(agg_http_connections *table,
                                            const agg_http_connection *except, size_t min_body)
{
    agg_http_connection *oldest = NULL;
    for (size_t i = 0; i < table->n_slots; i++) {
        agg_http_connection *one = &table->list[i];
        if (!one->is_open || !one->is_stranger || one->is_cut || one == except ||
            one->phase == AGG_HTTP_HELD || one->body < min_body)
            continue;
        if (oldest == NULL || one->since_ms < oldest->since_ms) oldest = one;
    }
    return oldest;
}

// Keeps some connections free, so that a newcomer who has a token can show it.
static void make_room(agg_http_connections *table, const agg_http_connection *newcomer)
{
    unsigned spare = table->max / SPARE_PART;
    while (table->n_open - table->n_cut + spare > table->max) {
        agg_http_connection *oldest = oldest_stranger(table, newcomer, 0);
        if (oldest == NULL) return;
        cut(table, oldest, AGG_HTTP_NO_ROOM);
    }
}

static size_t bytes_of_bodies(const agg_http_connections *table)
{
    size_t bytes = 0;
    for (size_t i = 0; i < table->n_slots; i++)
        if (table->list[i].is_open && !table->list[i].is_cut) bytes += table->list[i].body;
    return bytes;
}

// ---- the thread ----

static void rest(agg_http_connections *table)
{
    int64_t end_us =
        now_us() + (table->n_open > 0 ? TURN_MS * INT64_C(1000) : QUIET_S * INT64_C(1000000));
    const struct timespec until = {.tv_sec = (time_t)(end_us / 1000000),
                                   .tv_nsec = (long)(end_us % 1000000) * 1000};
    while (!table->is_stopping && now_us() < end_us)
        if (pthread_cond_timedwait(&table->wake, &table->mutex, &until) == 0 && table->n_open > 0)
            return; // the first connection has come
}

static void *keep_deadlines(void *context)
{
    agg_http_connections *table = context;
    int64_t next_us = 0;
    pthread_mutex_lock(&table->mutex);
    while (!table->is_stopping) {
        cut_late(table);
        if (now_us() >= next_us) {
            (void)agg_http_buckets_forget(&table->buckets, now_us());
            next_us = now_us() + QUIET_S * INT64_C(1000000);
        }
        rest(table);
    }
    pthread_mutex_unlock(&table->mutex);
    return NULL;
}

static agg_err start_thread(agg_http_connections *table, agg_error *error)
{
    pthread_condattr_t attributes;
    pthread_mutex_init(&table->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&table->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    agg_http_buckets_init(&table->buckets, table->limits.requests_per_s,
                          table->limits.requests_burst);
    if (pthread_create(&table->thread, NULL, keep_deadlines, table) == 0) return SHOAL_OK;
    return agg_fail(error, AGG_ERR_MEMORY, AGG_EXIT_RUNTIME, "cannot start a thread");
}

agg_err agg_http_connections_open(agg_http_connections **table, agg_error *error,
                                  const agg_http_limits *limits, unsigned max, size_t bodies,
                                  unsigned idle_s)
{
    agg_http_connections *made = agg_alloc(error, 1, sizeof *made);
    if (made == NULL) return AGG_ERR_MEMORY;
    made->limits = *limits;
    made->max = max;
    made->bodies = bodies;
    made->idle_s = idle_s;
    made->list = agg_alloc(error, max, sizeof *made->list);
    agg_err err = made->list == NULL ? AGG_ERR_MEMORY : SHOAL_OK;
    if (err == SHOAL_OK && getentropy(made->key, sizeof made->key) != 0)
        err = agg_fail(error, AGG_ERR_IO, AGG_EXIT_RUNTIME, "the system has no random bytes");
    if (err == SHOAL_OK) err = start_thread(made, error);
    if (err != SHOAL_OK) {
        free(made->list);
        free(made);
        return err;
    }
    *table = made;
    return SHOAL_OK;
}

void agg_http_connections_close(agg_http_connections *table)
{
    if (table == NULL) return;
    pthread_mutex_lock(&table->mutex);
    table->is_stopping = true;
    pthread_cond_signal(&table->wake);
    pthread_mutex_unlock(&table->mutex);
    pthread_join(table->thread, NULL);
    pthread_cond_destroy(&table->wake);
    pthread_mutex_destroy(&table->mutex);
    agg_http_buckets_release(&table->buckets);
    wipe(table->key, sizeof table->key);
    free(table->list);
    free(table);
}

// ---- connections ----

bool agg_http_connections_admits(agg_http_connections *table,
                                 const struct sockaddr_storage *address)
{
    unsigned most = table->limits.connections_per_address, n = 0;
    if (most == 0 || !agg_http_limits_apply(&table->limits, address)) return true;
    uint64_t hash = agg_http_network_hash(table->key, address);
    pthread_mutex_lock(&table->mutex);
    for (size_t i = 0; i < table->n_slots; i++) {
        const agg_http_connection *one = &table->list[i];
        n += one->is_open && !one->is_cut && one->is_stranger && one->address == hash;
    }
    pthread_mutex_unlock(&table->mutex);
    if (n < most) return true;
    atomic_fetch_add(&table->turned[AGG_HTTP_ADDRESS], 1);
    return false;
}

agg_http_connection *agg_http_connections_add(agg_http_connections *table, int fd,
                                              const struct sockaddr_storage *address)
{
    bool is_limited = agg_http_limits_apply(&table->limits, address);
    uint64_t hash = is_limited ? agg_http_network_hash(table->key, address) : 0;
    int64_t now = now_ms();
    pthread_mutex_lock(&table->mutex);
    agg_http_connection *made = table->first_free;
    if (made != NULL)
        table->first_free = made->next_free;
    else if (table->n_slots < table->max)
        made = &table->list[table->n_slots++];
    if (made != NULL) {
        *made = (agg_http_connection){.fd = fd,
                                      .is_open = true,
                                      .is_stranger = true,
                                      .is_limited = is_limited,
                                      .phase = AGG_HTTP_HEADERS,
                                      .address = hash,
                                      .since_ms = now,
                                      .deadline_ms =
                                          now + table->limits.header_timeout_s * INT64_C(1000)};
        if (table->n_open++ == 0) pthread_cond_signal(&table->wake);
        make_room(table, made);
    }
    pthread_mutex_unlock(&table->mutex);
    return made;
}

void agg_http_connections_remove(agg_http_connections *table, agg_http_connection *connection)
{
    if (connection == NULL) return;
    pthread_mutex_lock(&table->mutex);
    table->n_open--;
    table->n_cut -= connection->is_cut;
    *connection = (agg_http_connection){.next_free = table->first_free};
    table->first_free = connection;
    pthread_mutex_unlock(&table->mutex);
}

void agg_http_connections_set(agg_http_connections *table, agg_http_connection *connection,
                              agg_http_phase phase, int64_t timeout_ms)
{
    if (connection == NULL) return;
    int64_t now = now_ms();
    pthread_mutex_lock(&table->mutex);
    connection->phase = phase;
    connection->deadline_ms = now + timeout_ms;
    pthread_mutex_unlock(&table->mutex);
}

void agg_http_connections_rest(agg_http_connections *table, agg_http_connection *connection)
{
    if (connection == NULL) return;
    int64_t now = now_ms();
    pthread_mutex_lock(&table->mutex);
    connection->phase = AGG_HTTP_HEADERS;
    connection->since_ms = now;
    connection->deadline_ms =
        now + (table->idle_s + (int64_t)table->limits.header_timeout_s) * 1000;
    connection->body = 0;
    pthread_mutex_unlock(&table->mutex);
}

void agg_http_connections_know(agg_http_connections *table, agg_http_connection *connection)
{
    if (connection == NULL) return;
    pthread_mutex_lock(&table->mutex);
    connection->is_stranger = false;
    pthread_mutex_unlock(&table->mutex);
}

void agg_http_connections_fill(agg_http_connections *table, agg_http_connection *connection,
                               size_t bytes)
{
    if (connection == NULL) return;
    pthread_mutex_lock(&table->mutex);
    bool has_grown = bytes > connection->body;
    connection->body = bytes;
    size_t most = table->bodies - table->bodies / BODIES_PART;
    for (size_t held = has_grown ? bytes_of_bodies(table) : 0; held > most;) {
        agg_http_connection *oldest = oldest_stranger(table, connection, 1);
        if (oldest == NULL) break;
        held -= oldest->body;
        cut(table, oldest, AGG_HTTP_NO_ROOM);
    }
    pthread_mutex_unlock(&table->mutex);
}

void agg_http_connections_mark_nul(agg_http_connections *table, agg_http_connection *connection)
{
    if (connection == NULL) return;
    pthread_mutex_lock(&table->mutex);
    connection->has_nul = true;
    pthread_mutex_unlock(&table->mutex);
}

bool agg_http_connections_take_nul(agg_http_connections *table, agg_http_connection *connection)
{
    if (connection == NULL) return false;
    pthread_mutex_lock(&table->mutex);
    bool has_nul = connection->has_nul;
    connection->has_nul = false;
    pthread_mutex_unlock(&table->mutex);
    return has_nul;
}

// ---- requests ----

// Returns: whether the connection is a stranger's whose address has limits of its own.
static bool has_bucket(agg_http_connections *table, agg_http_connection *connection,
                       uint64_t *address)
{
    if (connection == NULL) return false;
    pthread_mutex_lock(&table->mutex);
    bool has = connection->is_stranger && connection->is_limited;
    *address = connection->address;
    pthread_mutex_unlock(&table->mutex);
    return has;
}

unsigned agg_http_connections_take(agg_http_connections *table, agg_http_connection *connection)
{
    uint64_t address;
    if (!has_bucket(table, connection, &address)) return 0;
    unsigned wait_s = agg_http_buckets_take(&table->buckets, address, now_us());
    if (wait_s > 0) atomic_fetch_add(&table->turned[AGG_HTTP_REQUESTS], 1);
    return wait_s;
}

void agg_http_connections_charge(agg_http_connections *table, agg_http_connection *connection,
                                 uint64_t requests)
{
    uint64_t address;
    if (has_bucket(table, connection, &address))
        agg_http_buckets_charge(&table->buckets, address, requests, now_us());
}

void agg_http_connections_print_turned(FILE *stream, const agg_http_connections *table,
                                       const char *prefix)
{
    fprintf(stream,
            "# HELP %s_strangers_turned_away_total Connections and requests of senders without a "
            "token that were ended or refused since the start.\n"
            "# TYPE %s_strangers_turned_away_total counter\n",
            prefix, prefix);
    for (int i = 0; i < AGG_HTTP_TURNED; i++)
        fprintf(stream, "%s_strangers_turned_away_total{reason=\"%s\"} %llu\n", prefix,
                turned_names[i], (unsigned long long)atomic_load(&table->turned[i]));
}
