// SPDX-License-Identifier: Apache-2.0
// The table of sessions; see serve_session.h. Every look-up walks the whole table: it is small, and
// the walk takes the same time for every id.
#include "serve_session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agg_size.h"
#include "bytes.h"
#include "field_text.h"
#include "http_secret.h"

typedef struct session {
    agg_http_secret id; // its digest; n is 0 in a free slot
    int64_t began_s, used_s;
} session;

struct serve_sessions {
    pthread_mutex_t mutex;
    size_t n_people;
    atomic_uint n_owners;
    session *list; // SERVE_SESSIONS_EACH for each reader, one after the other
};

agg_err serve_sessions_open(serve_sessions **sessions, agg_error *error, size_t n_people)
{
    serve_sessions *made = agg_alloc(error, 1, sizeof *made);
    if (made == NULL) return AGG_ERR_MEMORY;
    made->n_people = n_people;
    atomic_store(&made->n_owners, 1);
    made->list = agg_alloc(error, n_people * SERVE_SESSIONS_EACH, sizeof *made->list);
    if (made->list == NULL) {
        free(made);
        return AGG_ERR_MEMORY;
    }
    pthread_mutex_init(&made->mutex, NULL);
    *sessions = made;
    return SHOAL_OK;
}

serve_sessions *serve_sessions_share(serve_sessions *sessions)
{
    atomic_fetch_add(&sessions->n_owners, 1);
    return sessions;
}

void serve_sessions_close(serve_sessions *sessions)
{
    if (sessions == NULL || atomic_fetch_sub(&sessions->n_owners, 1) > 1) return;
    wipe(sessions->list, sessions->n_people * SERVE_SESSIONS_EACH * sizeof *sessions->list);
    pthread_mutex_destroy(&sessions->mutex);
    free(sessions->list);
    free(sessions);
}

static bool is_over(const session *s, int64_t now_s)
{
    return s->id.n == 0 || now_s - s->used_s >= SERVE_SESSION_IDLE_S ||
           now_s - s->began_s >= SERVE_SESSION_LIFE_S;
}

// Returns: a slot of the reader that is free or over, or the one that was used least recently.
static session *slot_of(serve_sessions *sessions, size_t person, int64_t now_s)
{
    session *own = &sessions->list[person * SERVE_SESSIONS_EACH], *oldest = own;
    for (size_t i = 0; i < SERVE_SESSIONS_EACH; i++) {
        if (is_over(&own[i], now_s)) return &own[i];
        if (own[i].used_s < oldest->used_s) oldest = &own[i];
    }
    return oldest;
}

bool serve_sessions_begin(serve_sessions *sessions, char id[SERVE_SESSION_ID_MAX], size_t person,
                          int64_t now_s)
{
    uint8_t random[32];
    session made = {.id = {.n = 1}, .began_s = now_s, .used_s = now_s};
    if (getentropy(random, sizeof random) != 0) return false;
    *shoal_print_hex(id, random, sizeof random) = '\0';
    wipe(random, sizeof random);
    agg_http_secret_digest(made.id.digests[0], id, strlen(id));
    pthread_mutex_lock(&sessions->mutex);
    *slot_of(sessions, person, now_s) = made;
    pthread_mutex_unlock(&sessions->mutex);
    return true;
}

// Returns: the position of a session in the table, or SERVE_SESSION_NOBODY. Call with the mutex
// held.
static size_t position_of(const serve_sessions *sessions, const char *id)
{
    uint8_t digest[32];
    size_t found = SERVE_SESSION_NOBODY;
    agg_http_secret_digest(digest, id, strlen(id));
    for (size_t i = 0; i < sessions->n_people * SERVE_SESSIONS_EACH; i++) {
        if (agg_http_secret_has(&sessions->list[i].id, digest)) found = i;
    }
    return found;
}

size_t serve_sessions_find(serve_sessions *sessions, const char *id, int64_t now_s, bool is_use)
{
    pthread_mutex_lock(&sessions->mutex);
    size_t at = position_of(sessions, id), person = SERVE_SESSION_NOBODY;
    if (at != SERVE_SESSION_NOBODY && is_over(&sessions->list[at], now_s)) {
        sessions->list[at] = (session){0};
    } else if (at != SERVE_SESSION_NOBODY) {
        if (is_use) sessions->list[at].used_s = now_s;
        person = at / SERVE_SESSIONS_EACH;
    }
    pthread_mutex_unlock(&sessions->mutex);
    return person;
}

void serve_sessions_end(serve_sessions *sessions, const char *id)
{
    pthread_mutex_lock(&sessions->mutex);
    size_t at = position_of(sessions, id);
    if (at != SERVE_SESSION_NOBODY) sessions->list[at] = (session){0};
    pthread_mutex_unlock(&sessions->mutex);
}

uint64_t serve_sessions_memory(size_t n_people)
{
    return sizeof(serve_sessions) + n_people * (uint64_t)SERVE_SESSIONS_EACH * sizeof(session);
}
