// SPDX-License-Identifier: Apache-2.0
// The device's accountant of queries: its stored bytes, the checks that a query must pass, and the
// debit; see accountant.h.
#include "accountant.h"

#include <stdbool.h>

#include "accountant_composition.h"
#include "bytes.h"
#include "central.h"
#include "checksum.h"
#include "compound.h"
#include "probability.h"
#include "recipe.h"
#include "sha256.h"

static const uint8_t magic[8] = {'s', 'h', 'o', 'a', 'l', 'a', 'c', 'q'};
#define VERSION 1u
#define CHECKSUM_SIZE 8u
#define KEY_SIZE 16u
#define NONE UINT32_MAX
#define EPS_MAX ((uint64_t)SHOAL_EPS_MICRO_MAX)
#define DELTA_MAX SHOAL_GROUP_DELTA_MAX
#define KEYS (1 + SHOAL_ENCODED_MAX)

// ---- the stored bytes ----

typedef struct books {
    uint32_t charges, answers, created, newest;
} books;

// The sums of one charge; its key and its hash stay in the bytes.
typedef struct sums {
    uint32_t reports, round, version;
    uint64_t eps, local, squares, delta;
} sums;

static size_t charge_at(uint32_t index)
{
    return SHOAL_ACCOUNTANT_HEADER + (size_t)index * SHOAL_ACCOUNTANT_CHARGE;
}

static size_t answer_at(const books *b, uint32_t index)
{
    return charge_at(b->charges) + (size_t)index * SHOAL_ACCOUNTANT_ANSWER;
}

static size_t size_of(const books *b)
{
    return answer_at(b, b->answers) + CHECKSUM_SIZE;
}

static sums get_charge(const uint8_t *bytes, uint32_t index)
{
    const uint8_t *p = bytes + charge_at(index);
    return (sums){load32_le(p + 16), load32_le(p + 20), load32_le(p + 24), load64_le(p + 32),
                  load64_le(p + 40), load64_le(p + 48), load64_le(p + 56)};
}

static void put_charge(uint8_t *bytes, uint32_t index, const sums *s)
{
    uint8_t *p = bytes + charge_at(index);
    store32_le(p + 16, s->reports);
    store32_le(p + 20, s->round);
    store32_le(p + 24, s->version);
    store64_le(p + 32, s->eps);
    store64_le(p + 40, s->local);
    store64_le(p + 48, s->squares);
    store64_le(p + 56, s->delta);
}

// Checks that the charge's number of reports can have cost its sums. If so, no sum overflows even
// after one more query: 65,535 (16 10^6)^2 + (64 16 10^6)^2 < 2^63.95.
static bool is_possible(const uint8_t *bytes, uint32_t index)
{
    sums s = get_charge(bytes, index);
    uint64_t n = s.reports;
    return n >= 1 && n <= SHOAL_POLICY_REPORTS_MAX &&
           load32_le(bytes + charge_at(index) + 28) == 0 && s.eps <= n * EPS_MAX &&
           s.local <= n * EPS_MAX && s.squares <= n * EPS_MAX * EPS_MAX && s.delta <= n * DELTA_MAX;
}

static bool open_books(books *b, const uint8_t *bytes, size_t len)
{
    *b = (books){0, 0, 0, 0};
    if (len < size_of(b) || memcmp(bytes, magic, sizeof magic) != 0 ||
        load32_le(bytes + 8) != VERSION)
        return false;
    *b = (books){load32_le(bytes + 12), load32_le(bytes + 16), load32_le(bytes + 20),
                 load32_le(bytes + 24)};
    if (b->charges > SHOAL_ACCOUNTANT_CHARGES_MAX || b->answers > SHOAL_ACCOUNTANT_ANSWERS_MAX)
        return false;
    if (len != size_of(b) || b->newest < b->created || load32_le(bytes + 28) != 0) return false;
    for (uint32_t i = 0; i < b->charges; i++)
        if (!is_possible(bytes, i)) return false;
    for (uint32_t i = 0; i < b->answers; i++)
        if (load32_le(bytes + answer_at(b, i) + KEY_SIZE + 4) >= b->charges) return false;
    size_t body = len - CHECKSUM_SIZE;
    return load64_le(bytes + body) == shoal_checksum_of(bytes, body);
}

// Writes the header and the checksum around charges and answers that are in place.
// Returns: the length of all.
static size_t seal(uint8_t *bytes, const books *b)
{
    size_t len = size_of(b), body = len - CHECKSUM_SIZE;
    memcpy(bytes, magic, sizeof magic);
    store32_le(bytes + 8, VERSION);
    store32_le(bytes + 12, b->charges);
    store32_le(bytes + 16, b->answers);
    store32_le(bytes + 20, b->created);
    store32_le(bytes + 24, b->newest);
    store32_le(bytes + 28, 0);
    store64_le(bytes + body, shoal_checksum_of(bytes, body));
    return len;
}

shoal_err shoal_accountant_init(uint8_t *accountant, size_t cap, size_t *len, uint32_t day)
{
    books b = {0, 0, day, day};
    if (cap < size_of(&b)) return SHOAL_ERR_SPACE;
    *len = seal(accountant, &b);
    return SHOAL_OK;
}

static void hash_name(shoal_sha256 *sha, const shoal_name *name)
{
    shoal_sha256_update(sha, &name->len, 1);
    shoal_sha256_update(sha, (const uint8_t *)name->bytes, name->len);
}

// Finds the charge of a field, or of the whole analysis where the field has no length.
// Returns: its index, or NONE.
static uint32_t find_charge(uint8_t key[KEY_SIZE], const uint8_t *bytes, const books *b,
                            const shoal_name *analysis, const shoal_name *field)
{
    shoal_sha256 sha;
    uint8_t digest[32];
    shoal_sha256_init(&sha);
    hash_name(&sha, analysis);
    hash_name(&sha, field);
    shoal_sha256_final(digest, &sha);
    memcpy(key, digest, KEY_SIZE);
    for (uint32_t i = 0; i < b->charges; i++)
        if (memcmp(bytes + charge_at(i), key, KEY_SIZE) == 0) return i;
    return NONE;
}

// ---- composition ----

static uint64_t compose(const sums *s, const shoal_policy_analysis *analysis)
{
    return shoal_compose(s->eps, s->squares, s->reports, analysis);
}

// Returns: 10^-exponent in units of 1e-15.
static uint64_t delta_e15(uint32_t exponent)
{
    uint64_t delta = 1;
    for (; exponent < SHOAL_DELTA_EXP_MAX; exponent++) delta *= 10;
    return delta;
}

static uint64_t compose_delta(const sums *s, const shoal_policy_analysis *analysis)
{
    return s->delta + (analysis->slack_exp != 0 ? delta_e15(analysis->slack_exp) : 0);
}

// ---- the cost of one query ----

// Says whether a device answers only one round of the whole analysis.
static bool is_one_round(const shoal_recipe *recipe)
{
    const shoal_compound *compound = shoal_compound_by_id(recipe->mechanism);
    return compound != NULL && compound->is_one_round;
}

// Returns: the number of reports that one device sends.
static uint32_t reports_of(const shoal_recipe *recipe)
{
    return is_one_round(recipe) ? recipe->contributions : 1;
}

// Returns: the delta of all reports of one device. A module without compounds drops the call of
// shoal_group_delta, since its list of compounds is empty.
static uint64_t delta_of(const shoal_recipe *recipe)
{
    uint64_t delta = delta_e15(recipe->cohort_delta_exp);
    return is_one_round(recipe)
               ? shoal_group_delta(delta, reports_of(recipe), recipe->cohort_eps_micro)
               : delta;
}

// ---- checks ----

// The state of judging one query.
typedef struct inquiry {
    const uint8_t *bytes;
    books b;
    const shoal_policy *policy;
    const shoal_policy_analysis *analysis;
    const shoal_recipe *recipe;
    uint32_t day;                 // of the host's clock
    uint32_t newest;              // the later of `day` and the newest stored day
    uint8_t keys[KEYS][KEY_SIZE]; // the analysis first, then each field of the encoding
    uint32_t at[KEYS];            // index of each key's charge, or NONE
    shoal_verdict *verdict;
} inquiry;

static sums sums_of(const inquiry *q, uint32_t i)
{
    return q->at[i] != NONE ? get_charge(q->bytes, q->at[i]) : (sums){0, 0, 0, 0, 0, 0, 0};
}

// Returns: the sums of a charge after this query.
static sums sums_after(const inquiry *q, uint32_t i)
{
    sums s = sums_of(q, i);
    uint32_t n = reports_of(q->recipe);
    uint64_t one = q->recipe->cohort_eps_micro, eps = n * one;
    s.reports += n;
    s.eps += eps;
    s.local += n * (uint64_t)q->verdict->local_eps_micro;
    s.squares += eps * eps;
    s.delta += delta_of(q->recipe);
    return s;
}

static const shoal_policy_budget *budget_of(const inquiry *q, uint32_t field)
{
    return &q->analysis->fields[shoal_policy_find_field(q->analysis,
                                                        &q->recipe->encoding.fields[field].field)];
}

// Finds the policy's entries for the query, and computes its real cost.
static shoal_refusal find(inquiry *q)
{
    static const shoal_name none = {0, {0}};
    const shoal_recipe *recipe = q->recipe;
    uint8_t any = 0;
    for (size_t i = 0; i < sizeof recipe->policy; i++) any |= recipe->policy[i];
    if (any == 0 || recipe->n_parts == 0) return SHOAL_REFUSED_NOT_QUERY;
    if (!q->policy->is_finished || memcmp(recipe->policy, q->policy->policy_hash, 32) != 0)
        return SHOAL_REFUSED_POLICY;
    uint32_t index = shoal_policy_find_analysis(q->policy, &recipe->analysis);
    if (index == NONE) return SHOAL_REFUSED_ANALYSIS;
    q->verdict->analysis = index;
    q->analysis = &q->policy->analyses[index];
    for (uint32_t i = 0; i <= recipe->encoding.n_fields; i++)
        q->at[i] = find_charge(q->keys[i], q->bytes, &q->b, &recipe->analysis,
                               i == 0 ? &none : &recipe->encoding.fields[i - 1].field);
    uint64_t honest = (uint64_t)recipe->cohort_minimum * q->analysis->honest_micro / 1000000;
    if (shoal_recipe_epsilon(&q->verdict->local_eps_micro, recipe) != SHOAL_OK ||
        shoal_central_epsilon(&q->verdict->central_eps_micro, q->verdict->local_eps_micro,
                              honest > 0 ? honest : 1, recipe->cohort_delta_exp) != SHOAL_OK)
        return SHOAL_REFUSED_AMPLIFICATION; // the claimed figure cannot be checked
    return SHOAL_ACCEPTED;
}

static bool was_answered(const inquiry *q)
{
    for (uint32_t i = 0; i < q->b.answers; i++)
        if (memcmp(q->bytes + answer_at(&q->b, i), q->recipe->query_hash, KEY_SIZE) == 0)
            return true;
    return false;
}

static shoal_refusal check_time(inquiry *q)
{
    const shoal_recipe *recipe = q->recipe;
    sums s = sums_of(q, 0);
    uint32_t round = recipe->round_index;
    if (shoal_recipe_check_day(recipe, q->newest) != SHOAL_OK) return SHOAL_REFUSED_EXPIRED;
    if (q->day < (uint64_t)q->b.created + q->policy->fresh_days) return SHOAL_REFUSED_FRESH;
    if (was_answered(q)) return SHOAL_REFUSED_REPLAYED;
    if (is_one_round(recipe) && s.reports > 0) return SHOAL_REFUSED_ANSWERED;
    if (recipe->version < q->analysis->version || recipe->version < s.version)
        return SHOAL_REFUSED_DOWNGRADED;
    if (round <= 1) return SHOAL_ACCEPTED; // it has no round, or begins a new chain
    if (round <= s.round) return SHOAL_REFUSED_REORDERED;
    if (round == s.round + 1 &&
        memcmp(q->bytes + charge_at(q->at[0]) + 64, recipe->round_previous, KEY_SIZE) != 0)
        return SHOAL_REFUSED_REORDERED;
    return SHOAL_ACCEPTED;
}

static shoal_refusal check_fields(inquiry *q)
{
    const shoal_encoding *encoding = &q->recipe->encoding;
    const shoal_policy_stream *stream = &q->policy->streams[q->analysis->stream_index];
    for (uint32_t i = 0; i < encoding->n_fields; i++) {
        q->verdict->field = i;
        if (shoal_policy_find_field(q->analysis, &encoding->fields[i].field) == NONE)
            return SHOAL_REFUSED_FIELD;
    }
    for (uint32_t i = 0; i < encoding->n_fields; i++) {
        uint32_t at = 0;
        while (!shoal_name_equal(&stream->fields[at].field, &encoding->fields[i].field))
            at++; // shoal_policy_finish has checked that it is there
        q->verdict->field = i;
        if (stream->fields[at].scheme != encoding->fields[i].scheme) return SHOAL_REFUSED_SCHEME;
    }
    q->verdict->field = NONE;
    return SHOAL_ACCEPTED;
}

static shoal_refusal check_class(inquiry *q)
{
    const shoal_policy_analysis *a = q->analysis;
    const shoal_recipe *recipe = q->recipe;
    if (!shoal_name_equal(&recipe->stream, &a->stream)) return SHOAL_REFUSED_STREAM;
    shoal_refusal refusal = check_fields(q);
    if (refusal != SHOAL_ACCEPTED) return refusal;
    if (recipe->encoding.n_fields > a->query_fields) return SHOAL_REFUSED_COMBINATION;
    if (recipe->parts[0].size > a->query_size) return SHOAL_REFUSED_SIZE;
    if (!(a->mechanisms >> recipe->mechanism & 1)) return SHOAL_REFUSED_MECHANISM;
    for (uint32_t i = 0; i < recipe->n_splits; i++) {
        uint32_t at = 0;
        while (at < a->n_splits && !shoal_name_equal(&a->splits[at], &recipe->splits[i].field))
            at++;
        q->verdict->field = i;
        if (at == a->n_splits) return SHOAL_REFUSED_SPLIT;
    }
    q->verdict->field = NONE;
    return SHOAL_ACCEPTED;
}

static shoal_refusal check_analysis_budget(const inquiry *q)
{
    const shoal_policy_analysis *a = q->analysis;
    sums s = sums_after(q, 0);
    if (s.reports > a->budget.reports) return SHOAL_REFUSED_REPORTS;
    if (compose(&s, a) > a->budget.eps_micro) return SHOAL_REFUSED_EPSILON;
    return compose_delta(&s, a) > delta_e15(a->delta_exp) ? SHOAL_REFUSED_DELTA : SHOAL_ACCEPTED;
}

// Checks one field against its own budget (check 2).
static bool is_within(const inquiry *q, uint32_t field, shoal_refusal which)
{
    const shoal_policy_budget *budget = budget_of(q, field);
    if (which == SHOAL_REFUSED_LOCAL) return q->verdict->local_eps_micro <= budget->local_eps_micro;
    sums s = sums_after(q, field + 1);
    if (which == SHOAL_REFUSED_FIELD_REPORTS) return s.reports <= budget->reports;
    return compose(&s, q->analysis) <= budget->eps_micro;
}

// Every field obeys its own budget, so the query obeys the strictest of them.
static shoal_refusal check_field_budgets(inquiry *q)
{
    for (shoal_refusal which = SHOAL_REFUSED_LOCAL; which <= SHOAL_REFUSED_FIELD_EPSILON; which++)
        for (uint32_t i = 0; i < q->recipe->encoding.n_fields; i++) {
            q->verdict->field = i;
            if (!is_within(q, i, which)) return which;
        }
    q->verdict->field = NONE;
    return SHOAL_ACCEPTED;
}

static shoal_refusal check_cohort(const inquiry *q)
{
    if (q->recipe->cohort_minimum < q->analysis->cohort_minimum) return SHOAL_REFUSED_COHORT;
    return q->verdict->central_eps_micro > q->recipe->cohort_eps_micro ? SHOAL_REFUSED_AMPLIFICATION
                                                                       : SHOAL_ACCEPTED;
}

// The accountant remembers an answer for as long as its query could be replayed.
static bool is_live(const inquiry *q, const uint8_t *answer)
{
    return load32_le(answer + KEY_SIZE) >= q->newest;
}

static shoal_refusal check_room(const inquiry *q)
{
    uint32_t charges = q->b.charges, own = 0, live = 0;
    for (uint32_t i = 0; i <= q->recipe->encoding.n_fields; i++) charges += q->at[i] == NONE;
    for (uint32_t i = 0; i < q->b.answers; i++) {
        const uint8_t *answer = q->bytes + answer_at(&q->b, i);
        live += (uint32_t)is_live(q, answer);
        own += (uint32_t)(is_live(q, answer) && load32_le(answer + KEY_SIZE + 4) == q->at[0]);
    }
    return charges > SHOAL_ACCOUNTANT_CHARGES_MAX ||
                   own >= SHOAL_ACCOUNTANT_ANSWERS_MAX / q->policy->n_analyses ||
                   live >= SHOAL_ACCOUNTANT_ANSWERS_MAX
               ? SHOAL_REFUSED_STORAGE
               : SHOAL_ACCEPTED;
}

static shoal_refusal judge(inquiry *q, const uint8_t *bytes, size_t len)
{
    *q->verdict = (shoal_verdict){SHOAL_ACCEPTED, NONE, NONE, 0, 0};
    if (!open_books(&q->b, bytes, len)) return SHOAL_REFUSED_STORAGE;
    q->bytes = bytes;
    q->newest = q->day > q->b.newest ? q->day : q->b.newest;
    shoal_refusal refusal = find(q);
    if (refusal == SHOAL_ACCEPTED) refusal = check_time(q);
    if (refusal == SHOAL_ACCEPTED) refusal = check_class(q);
    if (refusal == SHOAL_ACCEPTED) refusal = check_analysis_budget(q);
    if (refusal == SHOAL_ACCEPTED) refusal = check_field_budgets(q);
    if (refusal == SHOAL_ACCEPTED) refusal = check_cohort(q);
    return refusal == SHOAL_ACCEPTED ? check_room(q) : refusal;
}

void shoal_query_check(shoal_verdict *verdict, const uint8_t *accountant, size_t len,
                       const shoal_policy *policy, const shoal_recipe *recipe, uint32_t day)
{
    inquiry q = {.policy = policy, .recipe = recipe, .day = day, .verdict = verdict};
    verdict->refusal = judge(&q, accountant, len);
}

// ---- debit ----

static void drop_old(uint8_t *bytes, inquiry *q)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < q->b.answers; i++) {
        const uint8_t *answer = bytes + answer_at(&q->b, i);
        if (is_live(q, answer))
            memmove(bytes + answer_at(&q->b, kept++), answer, SHOAL_ACCOUNTANT_ANSWER);
    }
    q->b.answers = kept;
}

// Inserts a new charge before the answers.
static void add_charge(uint8_t *bytes, inquiry *q, uint32_t i)
{
    if (q->at[i] != NONE) return;
    uint8_t *at = bytes + charge_at(q->b.charges);
    memmove(at + SHOAL_ACCOUNTANT_CHARGE, at, (size_t)q->b.answers * SHOAL_ACCOUNTANT_ANSWER);
    memset(at, 0, SHOAL_ACCOUNTANT_CHARGE);
    memcpy(at, q->keys[i], KEY_SIZE);
    q->at[i] = q->b.charges++;
}

static void add_answer(uint8_t *bytes, inquiry *q)
{
    uint8_t *at = bytes + answer_at(&q->b, q->b.answers++);
    memcpy(at, q->recipe->query_hash, KEY_SIZE);
    store32_le(at + KEY_SIZE, q->recipe->expires_day);
    store32_le(at + KEY_SIZE + 4, q->at[0]);
}

static void write_debit(uint8_t *bytes, inquiry *q)
{
    const shoal_recipe *recipe = q->recipe;
    drop_old(bytes, q);
    for (uint32_t i = 0; i <= recipe->encoding.n_fields; i++) {
        sums s = sums_after(q, i);
        if (i == 0) s.version = recipe->version;
        if (i == 0 && recipe->round_index != 0) s.round = recipe->round_index;
        add_charge(bytes, q, i);
        put_charge(bytes, q->at[i], &s);
    }
    if (recipe->round_index != 0)
        memcpy(bytes + charge_at(q->at[0]) + 64, recipe->query_hash, KEY_SIZE);
    add_answer(bytes, q);
    q->b.newest = q->newest;
}

// Returns: the length of the bytes after the debit.
static size_t size_after(const inquiry *q)
{
    books b = q->b;
    for (uint32_t i = 0; i < q->b.answers; i++)
        b.answers -= !is_live(q, q->bytes + answer_at(&q->b, i));
    for (uint32_t i = 0; i <= q->recipe->encoding.n_fields; i++) b.charges += q->at[i] == NONE;
    b.answers++;
    return size_of(&b);
}

void shoal_query_debit(shoal_verdict *verdict, uint8_t *accountant, size_t *len, size_t cap,
                       const shoal_policy *policy, const shoal_recipe *recipe, uint32_t day)
{
    inquiry q = {.policy = policy, .recipe = recipe, .day = day, .verdict = verdict};
    shoal_refusal refusal = judge(&q, accountant, *len);
    if (refusal == SHOAL_ACCEPTED && size_after(&q) > cap) refusal = SHOAL_REFUSED_STORAGE;
    verdict->refusal = refusal;
    if (refusal != SHOAL_ACCEPTED) return;
    write_debit(accountant, &q);
    *len = seal(accountant, &q.b);
}

shoal_err shoal_accountant_charge(shoal_charge *charge, const uint8_t *accountant, size_t len,
                                  const shoal_policy *policy, uint32_t analysis, uint32_t field)
{
    static const shoal_name none = {0, {0}};
    uint8_t key[KEY_SIZE];
    books b;
    if (!open_books(&b, accountant, len)) return SHOAL_ERR_LEDGER;
    if (!policy->is_finished || analysis >= policy->n_analyses) return SHOAL_ERR_ARGUMENT;
    const shoal_policy_analysis *a = &policy->analyses[analysis];
    if (field != NONE && field >= a->n_fields) return SHOAL_ERR_ARGUMENT;
    *charge = (shoal_charge){0, 0, 0, 0};
    uint32_t at = find_charge(key, accountant, &b, &a->analysis,
                              field == NONE ? &none : &a->fields[field].field);
    if (at == NONE) return SHOAL_OK;
    sums s = get_charge(accountant, at);
    *charge = (shoal_charge){s.reports, compose(&s, a), compose_delta(&s, a), s.local};
    return SHOAL_OK;
}
