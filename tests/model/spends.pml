/* SPDX-License-Identifier: Apache-2.0
 *
 * Model of reports that spend tokens: the tabs of one device take tokens, queue reports and post
 * them; the edge spends each token and forwards batches; somebody with one account posts copies.
 * Tabs and edge may stop between any two steps. docs/model.md says what is left out.
 *
 * A token is of a day and may be spent for VALID days from then on. A row of the queue is known by
 * its token, as a report's idempotency key follows from it. A set of tokens is a bit mask.
 *
 * Macros: DAYS, REPORTS, COPIES and STOPS set the size. BUG_... plants one bug; check.mjs lists them all. */

#ifndef DAYS
#define DAYS 2
#endif
#ifndef REPORTS
#define REPORTS 2 /* of the device */
#endif
#ifndef COPIES
#define COPIES 1 /* that somebody posts beside the device */
#endif
#ifndef STOPS
#define STOPS 1 /* of tabs and of the edge together */
#endif
#define TABS 2
#define VALID 2
#define KEPT VALID /* days after forwarding */

/* Tokens 0 and 1 are the device's, of day 0; 2 is its token of day 1; 3 is the copies' of day 0. */
#define TOKENS 4
#define COPIED 3
#define NO_TOKEN TOKENS
#define NO_REPORT REPORTS
#define NOBODY 7
#define DAY_OF(token) (token == 2)
#define BIT(i) (1 << (i))
#define IS_VALID(token) (clock < DAY_OF(token) + VALID)

#if REPORTS > 2
#define ANY(of) (of[0] || of[1] || of[2])
#else
#define ANY(of) (of[0] || of[1])
#endif

/* Nothing is left to happen. It says where processes end, which they need not. */
#define IS_OVER                                                                                    \
    (clock == DAYS && reports == REPORTS && !ANY(row) && !ANY(request) && !copies && !spent)

/* A property that breaks ends the run. The replay of its trail prints the property. */
#define MUST(condition, property)                                                                  \
    if                                                                                             \
    :: condition                                                                                   \
    :: else -> printf("BROKEN: "); printf(#property); printf("\n"); assert(false)                  \
    fi

mtype = { IDLE, TAKE, ENQUEUE, WAIT, STORE, SECOND, ANSWER };

byte clock;
byte copies = COPIES;
byte stops = STOPS;

/* ---- the device ---- */

byte left = BIT(0) | BIT(1) | BIT(2);
byte reports;                  /* that were made */
byte row[REPORTS];            /* by report: 0, or 1 + the token of its row in the queue */
bool is_queued[REPORTS];      /* ghost: it was put into the queue */
byte paid_by[REPORTS];        /* ghost: its token */
byte flushing = NOBODY;        /* the tab that holds the lock of flushes */

/* ---- the network ---- */

/* A request of a report, by report: 0, or 1 + its token. It may arrive long after its tab is gone. */
byte request[REPORTS];
mtype = { ACCEPTED, REFUSED };
mtype answer[REPORTS];

/* ---- the edge, durable ---- */

byte spent;             /* tokens whose keys the store has */
byte open_n[TOKENS + 1]; /* reports of the open batch by their token */
byte open_of[REPORTS];  /* and by report */
byte opened;            /* the day on which the open batch was opened */
byte forwarded;         /* tokens of batches that were forwarded and whose keys are kept */
byte since[TOKENS];     /* from when a forwarded key is kept */

/* ---- ghosts: what the aggregator counted ---- */

byte counted_n[TOKENS + 1];
byte counted_of[REPORTS];

/* ---- variables of single steps, 0 between steps ---- */

byte i;

inline check()
{
    i = 0;
    do
    :: i < TOKENS -> MUST(counted_n[i] + open_n[i] < 2, no token counts twice); i++
    :: else -> break
    od;
    MUST(counted_n[NO_TOKEN] + open_n[NO_TOKEN] == 0, no report counts without a token);
    i = 0;
    do
    :: i < REPORTS ->
        MUST(counted_of[i] + open_of[i] < 2, no report counts twice);
        MUST(!is_queued[i] || row[i] || counted_of[i] + open_of[i] || !IS_VALID(paid_by[i]),
             no queued report is lost while its token is valid);
        i++
    :: else -> break
    od;
    i = 0
}

/* ---- tabs ---- */

/* The first token of today. */
inline find_token()
{
    token = 0;
    do
    :: token < COPIED && !((left & BIT(token)) && DAY_OF(token) == clock) -> token++
    :: else -> break
    od
}

/* Puts a row, which replaces the one of its key. */
inline put_row()
{
    i = 0;
    do
    :: i < REPORTS ->
        if
        :: row[i] == token + 1 -> row[i] = 0
        :: else
        fi;
        i++
    :: else -> break
    od;
    i = 0;
    printf("report %d is queued with token %d\n", reports, token);
    row[reports] = token + 1;
    is_queued[reports] = true;
    paid_by[reports] = token;
    reports++
}

inline stop_tab()
{
    if
    :: flushing == _pid -> flushing = NOBODY
    :: else
    fi;
    token = 0;
    which = 0;
    step = IDLE
}

/* A try sends the token of its row. */
inline send()
{
    flushing = _pid;
#ifdef BUG_TOKEN_OF_ITS_OWN_FOR_A_RETRY
    find_token();
    if
    :: request[which] == 0 && token < COPIED ->
        left = left & ~BIT(token);
        request[which] = token + 1
    :: else -> request[which] = row[which]
    fi;
    token = 0;
#else
    request[which] = row[which];
#endif
    answer[which] = 0;
    printf("tab %d posts report %d\n", _pid, which);
#ifdef BUG_ROW_DELETED_BEFORE_THE_ANSWER
    row[which] = 0;
#endif
    step = WAIT
}

active [TABS] proctype tab()
{
    mtype step = IDLE;
    byte token, which;

end:
    do
    :: d_step {
        step == IDLE && reports < REPORTS ->
        find_token();
        if
        :: token < COPIED -> printf("tab %d pays for a report\n", _pid); step = TAKE
        :: else
        fi;
        token = 0
    }
#ifdef BUG_TAKEN_WITHOUT_A_TRANSACTION
    :: d_step {
        step == TAKE ->
        find_token();
        if
        :: token < COPIED -> step = ENQUEUE
        :: else -> token = 0; step = IDLE
        fi
    }
    :: d_step {
        step == ENQUEUE ->
        if
        :: reports < REPORTS -> left = left & ~BIT(token); put_row()
        :: else
        fi;
        token = 0;
        step = IDLE;
        check()
    }
#else
    :: d_step {
        step == TAKE ->
        find_token();
        if
        :: token < COPIED && reports < REPORTS -> left = left & ~BIT(token); put_row()
        :: else -> printf("tab %d has no token\n", _pid)
        fi;
        token = 0;
        step = IDLE;
        check()
    }
#endif
    :: atomic {
        step == IDLE && flushing == NOBODY && ANY(row) ->
        if
        :: row[0] -> which = 0
        :: row[1] -> which = 1
#if REPORTS > 2
        :: row[2] -> which = 2
#endif
        fi;
        d_step { send(); check() }
    }
    :: d_step {
        step == WAIT && answer[which] ->
        printf("tab %d hears of report %d\n", _pid, which);
        row[which] = 0;
        answer[which] = 0;
        stop_tab();
        check()
    }
    :: d_step { step == WAIT -> printf("tab %d waits no longer\n", _pid); stop_tab() }
    :: d_step {
        step == TAKE && stops > 0 -> printf("tab %d stops\n", _pid); stops--; stop_tab()
    }
    :: step == IDLE && IS_OVER -> break
    od
}

/* ---- the edge ---- */

inline read_request()
{
#ifndef BUG_TOKEN_NOT_ASKED_FOR
    if
    :: token == NO_TOKEN -> reply = REFUSED
    :: token != NO_TOKEN && !IS_VALID(token) -> reply = REFUSED
    :: token != NO_TOKEN && IS_VALID(token) && (spent & BIT(token)) -> reply = ACCEPTED
    :: else -> reply = 0
    fi;
#else
    if
    :: spent & BIT(token) -> reply = ACCEPTED
    :: else -> reply = 0
    fi;
#endif
    if
    :: reply -> step = ANSWER
#ifdef BUG_ANSWERED_BEFORE_IT_IS_STORED
    :: else -> reply = ACCEPTED; step = ANSWER
#else
    :: else -> step = STORE
#endif
    fi
}

inline store_report()
{
    printf("the edge stores a report with token %d\n", token);
    if
    :: !(open_n[0] + open_n[1] + open_n[2] + open_n[3] + open_n[4]) -> opened = clock
    :: else
    fi;
    open_n[token]++;
    if
    :: which < REPORTS -> open_of[which]++
    :: else
    fi
}

inline store_key()
{
    if
    :: token < TOKENS -> spent = spent | BIT(token)
    :: else
    fi
}

inline answer_tab()
{
    if
    :: which < REPORTS && reply -> answer[which] = reply
    :: else
    fi
}

inline end_request()
{
    token = 0;
    which = 0;
    reply = 0;
    step = IDLE
}

inline forward()
{
    printf("the edge forwards its batch\n");
    i = 0;
    do
    :: i < TOKENS ->
        if
        :: open_n[i] ->
            forwarded = forwarded | BIT(i);
#ifdef BUG_KEYS_KEPT_FROM_THE_OPENING
            since[i] = opened
#else
            since[i] = clock
#endif
        :: else
        fi;
        counted_n[i] = counted_n[i] + open_n[i];
        open_n[i] = 0;
        i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < REPORTS -> counted_of[i] = counted_of[i] + open_of[i]; open_of[i] = 0; i++
    :: else -> break
    od;
    i = 0;
    opened = 0
}

/* Forgets the keys that are old enough. */
inline forget()
{
    i = 0;
    do
    :: i < TOKENS ->
        if
        :: (forwarded & BIT(i)) && clock >= since[i] + KEPT ->
            printf("the edge forgets token %d\n", i);
            forwarded = forwarded & ~BIT(i);
            spent = spent & ~BIT(i);
            since[i] = 0
        :: else
        fi;
        i++
    :: else -> break
    od;
    i = 0
}

active proctype edge()
{
    mtype step = IDLE, reply;
    byte token, which;

end:
    do
    :: atomic {
        step == IDLE && ANY(request) ->
        if
        :: request[0] -> which = 0
        :: request[1] -> which = 1
#if REPORTS > 2
        :: request[2] -> which = 2
#endif
        fi;
        d_step { token = request[which] - 1; request[which] = 0; read_request() }
    }
    /* A report of somebody's copies: each is another one. */
    :: atomic {
        step == IDLE && copies > 0 ->
        copies--;
        which = NO_REPORT;
        if
        :: token = COPIED; printf("a copy posts token %d\n", token)
        :: token = NO_TOKEN; printf("a copy posts without a token\n")
        fi;
        d_step { read_request() }
    }
#ifdef BUG_ANSWERED_BEFORE_IT_IS_STORED
    :: d_step { step == ANSWER -> answer_tab(); step = STORE; check() }
    :: d_step {
        step == STORE ->
        if
        :: token < TOKENS && IS_VALID(token) && !(spent & BIT(token)) -> store_report(); store_key()
        :: else
        fi;
        end_request();
        check()
    }
#else
#ifdef BUG_KEY_STORED_AFTER_THE_REPORT
    :: d_step { step == STORE -> store_report(); step = SECOND; check() }
    :: d_step { step == SECOND -> store_key(); reply = ACCEPTED; step = ANSWER; check() }
#else
#ifdef BUG_KEY_STORED_BEFORE_THE_REPORT
    :: d_step { step == STORE -> store_key(); step = SECOND; check() }
    :: d_step { step == SECOND -> store_report(); reply = ACCEPTED; step = ANSWER; check() }
#else
    :: d_step {
        step == STORE -> store_report(); store_key(); reply = ACCEPTED; step = ANSWER; check()
    }
#endif
#endif
    :: d_step { step == ANSWER -> answer_tab(); end_request(); check() }
#endif
    :: d_step {
        step == IDLE && (open_n[0] || open_n[1] || open_n[2] || open_n[3]) -> forward(); check()
    }
    :: d_step { step == IDLE && forwarded -> forget(); check() }
    :: d_step {
        step != IDLE && stops > 0 ->
        printf("the edge stops\n");
        stops--;
#ifdef BUG_SPENDS_FORGOTTEN_AT_A_RESTART
        spent = 0;
        forwarded = 0;
#endif
        end_request();
        check()
    }
    :: step == IDLE && IS_OVER -> break
    od
}

active proctype days()
{
end:
    do
    :: d_step { clock < DAYS -> clock++; printf("day %d\n", clock); check() }
    :: IS_OVER -> break
    od
}
