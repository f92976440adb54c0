/* SPDX-License-Identifier: Apache-2.0
 *
 * Model of commands that write accumulators: `ingest`, `ingest --append`, `ingest --append
 * --skip-held` and `merge`. Several run at once, over the same files and the same batches, and may
 * be killed between any two steps and run again. docs/model.md says what is left out.
 *
 * Each process runs one command after the other. A step is one call of the operating system, or one
 * read of a whole accumulator: a rename replaces it as a whole. A set of batches is a bit mask. The
 * lock of a file is a lock on the inode of a lock file beside it. Inode 0 stands for "none".
 *
 * Macros: BATCHES, COMMANDS and KILLS set the size. BUG_... plants one bug; check.mjs lists them
 * all. */

#ifndef BATCHES
#define BATCHES 2
#endif
#ifndef COMMANDS
#define COMMANDS 3 /* of all processes together */
#endif
#ifndef KILLS
#define KILLS 1
#endif
#define PROCESSES 2
#define FILES 3

#define BIT(i) (1 << (i))
#define ALL (BIT(BATCHES) - 1)

/* A property that breaks ends the run. The replay of its trail prints the property. */
#define MUST(condition, property)                                                                  \
    if                                                                                             \
    :: condition                                                                                   \
    :: else -> printf("BROKEN: "); printf(#property); printf("\n"); assert(false)                  \
    fi

/* An accumulator. `once` and `twice` are what its sums hold, which no command can see. */
typedef Accumulator {
    bool there;
    bool is_complete; /* its claims list everything that it counts */
    byte claims;
    byte once;        /* batches that it counts at least once */
    byte twice        /* ghost: batches that it counts more than once */
};

mtype = { INGEST, APPEND, SKIP_HELD, MERGE };
mtype = { IDLE, OPEN, LOCK, CHECK, READ, READ_SECOND, TRUNCATE, RENAME, UNLINK, CLOSE };

Accumulator file[FILES];
byte expected[FILES];    /* ghost: batches of commands that succeeded since the file was replaced */
byte lock_file[FILES];   /* the inode of the lock file beside each accumulator */
byte opened[PROCESSES];  /* the inode that a process has open */
bool holds[PROCESSES];   /* the process holds the lock of that inode */
byte commands = COMMANDS;
byte kills = KILLS;
bool is_ready;

/* ---- variables of single steps, 0 between steps ---- */

byte i;

#define OTHER (1 - _pid)

inline copy(into, from)
{
    into.there = from.there;
    into.is_complete = from.is_complete;
    into.claims = from.claims;
    into.once = from.once;
    into.twice = from.twice
}

inline make_empty(acc)
{
    acc.there = false;
    acc.is_complete = true;
    acc.claims = 0;
    acc.once = 0;
    acc.twice = 0
}

/* Properties of every accumulator. */
inline check_files()
{
    i = 0;
    do
    :: i < FILES ->
        MUST(!(expected[i] & ~file[i].once), nothing that a command counted is lost);
        MUST(!file[i].is_complete || !file[i].twice,
             nothing counts twice unless a warning was given);
        MUST(!file[i].is_complete || file[i].claims == file[i].once,
             an accumulator claims exactly what it counts);
        i++
    :: else -> break
    od;
    i = 0
}

/* ---- the lock ---- */

/* Opens the lock file, which is made if it is not there. */
inline open_lock()
{
    if
    :: lock_file[target] -> i = lock_file[target]
    :: else ->
        i = 1;
        do
        :: i == lock_file[0] || i == lock_file[1] || i == lock_file[2] || i == opened[OTHER] -> i++
        :: else -> break
        od;
        lock_file[target] = i
    fi;
    opened[_pid] = i;
    i = 0;
    step = LOCK
}

/* Another process may have removed the lock file that was waited for. */
inline check_lock()
{
    if
#ifdef BUG_LOCK_NOT_CHECKED
    :: true -> step = READ
#else
    :: lock_file[target] == opened[_pid] -> step = READ
    :: else -> holds[_pid] = false; opened[_pid] = 0; step = OPEN
#endif
    fi
}

inline end_command()
{
    make_empty(sum);
    holds[_pid] = false;
    opened[_pid] = 0;
    target = 0;
    first = 0;
    second = 0;
    set = 0;
    what = 0;
    step = IDLE
}

/* ---- the commands ---- */

#ifdef BUG_WRITE_IN_PLACE
#define WRITES TRUNCATE
#else
#define WRITES RENAME
#endif

#ifdef BUG_UNLOCK_BEFORE_UNLINK
#define RELEASES CLOSE
#else
#define RELEASES UNLINK
#endif

inline refuse()
{
    printf("process %d refuses and writes nothing\n", _pid);
    step = RELEASES
}

inline add_batches()
{
    sum.there = true;
    sum.twice = sum.twice | (sum.once & set);
    sum.once = sum.once | set;
    sum.claims = sum.claims | set;
    step = WRITES
}

inline read_target()
{
    if
    :: file[target].there -> copy(sum, file[target])
    :: else
    fi;
    if
    :: what == INGEST && sum.there -> refuse()
    :: what == SKIP_HELD -> set = set & ~sum.claims; add_batches()
#ifndef BUG_APPEND_WITHOUT_CHECK
    :: what == APPEND && (sum.claims & set) -> refuse()
#endif
    :: else -> add_batches()
    fi
}

inline read_first()
{
    if
    :: file[first].there -> copy(sum, file[first]); step = READ_SECOND
    :: else -> refuse()
    fi
}

inline read_second()
{
    if
    :: !file[second].there -> refuse()
#ifndef BUG_MERGE_WITHOUT_CHECK
    :: file[second].there && (sum.claims & file[second].claims) -> refuse()
#endif
    :: else ->
        sum.twice = sum.twice | file[second].twice | (sum.once & file[second].once);
        sum.once = sum.once | file[second].once;
#ifndef BUG_CLAIMS_NOT_UNITED
        sum.claims = sum.claims | file[second].claims;
#endif
#ifdef BUG_OLD_TAKEN_AS_CLAIMED
        sum.is_complete = true;
#else
        sum.is_complete = sum.is_complete && file[second].is_complete;
#endif
        step = WRITES
    fi
}

/* The new accumulator was written beside the old one and synced; nobody reads it there. */
inline replace()
{
    printf("process %d replaces file %d\n", _pid, target);
    copy(file[target], sum);
    if
    :: what == MERGE && target != first && target != second -> expected[target] = sum.once
    :: what == MERGE && (target == first || target == second) ->
        expected[target] = expected[target] | sum.once
    :: else -> expected[target] = expected[target] | set
    fi;
    step = RELEASES
}

/* ---- the steps ---- */

#ifdef BUG_APPEND_WITHOUT_LOCK
#define FIRST_STEP READ
#else
#define FIRST_STEP OPEN
#endif

active [PROCESSES] proctype process()
{
    mtype what, step = IDLE;
    byte target, first, second, set;
    Accumulator sum;

    d_step { make_empty(sum) }
    do
    :: atomic {
        step == IDLE && is_ready && commands > 0 ->
        commands--;
        if
        :: what = INGEST; printf("process %d: ingest", _pid)
        :: what = APPEND; printf("process %d: ingest --append", _pid)
        :: what = SKIP_HELD; printf("process %d: ingest --append --skip-held", _pid)
        :: what = MERGE; printf("process %d: merge", _pid)
        fi;
        select(target : 0 .. FILES - 1);
        printf(" -o file %d", target);
        if
        :: what == MERGE ->
            select(first : 0 .. FILES - 2);
            select(second : first + 1 .. FILES - 1);
            printf(" files %d and %d\n", first, second)
        :: else ->
            select(set : 1 .. ALL);
            printf(" batches as the bits of %d\n", set)
        fi;
        step = FIRST_STEP
    }

#ifdef BUG_LOCK_SURVIVES_A_KILL
    :: d_step { step == OPEN && !lock_file[target] -> lock_file[target] = 1; step = READ }
#else
    :: d_step { step == OPEN -> open_lock() }
#endif
    :: d_step {
        step == LOCK && !(holds[OTHER] && opened[OTHER] == opened[_pid]) ->
        holds[_pid] = true;
        step = CHECK
    }
    :: d_step { step == CHECK -> check_lock() }
    :: d_step { step == READ && what != MERGE -> read_target() }
    :: d_step { step == READ && what == MERGE -> read_first() }
    :: d_step { step == READ_SECOND -> read_second() }
#ifdef BUG_WRITE_IN_PLACE
    :: d_step { step == TRUNCATE -> make_empty(file[target]); step = RENAME }
#endif
    :: d_step { step == RENAME -> replace(); check_files() }
#ifdef BUG_UNLOCK_BEFORE_UNLINK
    :: d_step { step == CLOSE -> holds[_pid] = false; opened[_pid] = 0; step = UNLINK }
    :: d_step { step == UNLINK -> lock_file[target] = 0; end_command() }
#else
    :: d_step { step == UNLINK -> lock_file[target] = 0; step = CLOSE }
    :: d_step { step == CLOSE -> end_command() }
#endif

    :: d_step {
        step != IDLE && kills > 0 ->
        printf("process %d is killed\n", _pid);
        kills--;
        end_command();
        check_files()
    }
    :: step == IDLE && commands == 0 -> break
    od
}

/* File 0 is an accumulator of an older version: it counts batch 0 and claims nothing. */
init
{
    d_step {
        file[0].there = true;
        file[0].once = BIT(0);
        expected[0] = BIT(0);
        is_ready = true
    }
}
