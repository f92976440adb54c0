/* SPDX-License-Identifier: Apache-2.0
 *
 * Model of how the store releases the reports of one collection. Batches arrive and are folded into
 * the open block. The block closes at a tick. Retention merges closed blocks. Questions are
 * answered. The server may be killed between any two steps. docs/model.md says what is left out.
 *
 * One process takes one step at a time, in every order that is possible. A step is a transaction of
 * the database or an operation on a file. A set of records is a bit mask. Each batch holds one
 * record, which is the hardest case for the minimum. File 0 stands for "no file".
 *
 * Macros: BATCHES, MINIMUM and CLOCKS set the size. SUM models recipes of aggregation "sum", whose
 * sums are in the database; the default is aggregation "reports". RECORDS lets files keep distinct
 * records, which are forgotten later. BUG_... plants one bug; check.mjs lists them all. */

#ifndef BATCHES
#define BATCHES 4
#endif
#ifndef MINIMUM
#define MINIMUM 2
#endif
#ifndef CLOCKS
#define CLOCKS 3 /* the clock shows one of the ticks 0 .. CLOCKS - 1 */
#endif
#ifndef TICKS_A_DAY
#define TICKS_A_DAY 1
#endif

#define FILES (BATCHES + 3)
#define BIT(i) (1 << (i))
#define DAY(t) ((t) / TICKS_A_DAY)
#define COUNT(s)                                                                                   \
    (((s) & 1) + (((s) >> 1) & 1) + (((s) >> 2) & 1) + (((s) >> 3) & 1) + (((s) >> 4) & 1) +       \
     (((s) >> 5) & 1) + (((s) >> 6) & 1) + (((s) >> 7) & 1))

#ifdef BUG_CLOSE_BELOW_MINIMUM
#define ENOUGH 1
#else
#define ENOUGH MINIMUM
#endif

/* A property that breaks ends the run. The replay of its trail prints the property. */
#define MUST(condition, property)                                                                  \
    if                                                                                             \
    :: condition                                                                                   \
    :: else -> printf("BROKEN: "); printf(#property); printf("\n"); assert(false)                  \
    fi

typedef File {
    bool there;
    bool synced;
    byte records
};

typedef Block {
    byte file;
    byte first, last; /* days on which it closed; several after a merge */
    byte closed       /* ghost: the records that it had when it closed */
};

/* What the folding thread does next. */
mtype = { IDLE, WRITE, SYNC, COMMIT, REMOVE, CLOSE };

/* ---- what a crash leaves: the database and the files ---- */

byte known;               /* ids of batches, kept for ever */
byte waiting;             /* batches that wait for a fold */
byte open_file;           /* the open block's accumulator */
byte tick;                /* the last tick that was noted */
byte n_blocks;
Block block[BATCHES + 1]; /* closed blocks, in the order of their closing */
File file[FILES + 1];

/* ---- what a crash takes: the server's memory ---- */

bool is_up = true;
byte stored;         /* 1 + the batch that is stored and not yet acknowledged */
mtype step = IDLE;
bool is_merge;       /* the thread merges blocks; else it folds */
bool is_alone;       /* it writes one closed block anew, without the distinct records */
byte taken;          /* batches that the fold took */
byte now;            /* the clock when the fold began */
byte made;           /* the file that the thread writes */
byte merged;         /* the block that it writes anew, or the first of the two that it merges */
bool is_reading;     /* a question holds the lock that keeps files from being removed */
short asked;         /* the files that the question reads */

/* ---- the world ---- */

byte clock;
byte sent;           /* batches 0 .. sent - 1 were sent at least once */

/* ---- ghosts, which only properties read ---- */

byte acknowledged;
byte forgotten;      /* records of a collection that its operator forgot */
bool was_forgotten;
byte remembered;     /* any one earlier answer; at first that of no records */

/* ---- variables of single steps, 0 between steps ---- */

byte i, j, answer, records, from, to;

#define OPEN_RECORDS (open_file == 0 -> 0 : file[open_file].records)

/* Properties of what is stored. */
inline check_store()
{
    MUST(!open_file || file[open_file].there, every file that the database names is there);
    records = waiting;
    MUST(!(records & OPEN_RECORDS), nothing counts twice);
    records = records | OPEN_RECORDS;
    i = 0;
    do
    :: i < n_blocks ->
        MUST(file[block[i].file].there, every file that the database names is there);
        MUST(file[block[i].file].records == block[i].closed, a closed block never changes);
        MUST(!(records & block[i].closed), nothing counts twice);
        MUST(i == 0 || block[i - 1].last <= block[i].first, the days of blocks never go back);
        records = records | block[i].closed;
        i++
    :: else -> break
    od;
    MUST(!(acknowledged & ~(records | forgotten)), nothing acknowledged is lost);
    i = 0;
    records = 0
}

/* ---- the folding thread ---- */

inline end_turn()
{
    step = IDLE;
    is_merge = false;
    is_alone = false;
    taken = 0;
    now = 0;
    made = 0;
    merged = 0
}

/* A turn folds what waits, and then closes the block if a tick has passed. It reads the clock once,
 * before the fold. */
inline begin_turn()
{
    taken = waiting;
    now = clock;
    step = (taken -> WRITE : CLOSE)
}

/* Takes the first name that no file has. */
inline name_file()
{
    made = 1;
    do
    :: file[made].there -> made++
    :: else -> break
    od
}

#ifdef BUG_LATE_INTO_CLOSED
#define IS_LATE (n_blocks > 0 && block[n_blocks - 1].last >= DAY(now))
#else
#define IS_LATE false
#endif

/* Puts what the open block's next file holds into `records`. */
inline add_waiting()
{
    i = (IS_LATE -> block[n_blocks - 1].file : open_file);
    if
    :: i -> records = file[i].records
    :: else -> records = 0
    fi;
    i = 0;
    MUST(!(records & taken), nothing counts twice);
    records = records | taken
}

/* Puts what a merged block's file holds into `records`. */
inline add_blocks()
{
    if
    :: is_alone -> records = 0
    :: else -> records = file[block[merged + 1].file].records
    fi;
#ifdef BUG_RETENTION_SPLITS
    records = records & -records; /* an edge of the calendar cuts the second block */
#endif
    records = records | file[block[merged].file].records
}

inline write_file()
{
    name_file();
    if
    :: is_merge -> add_blocks()
    :: else -> add_waiting()
    fi;
    file[made].there = true;
    file[made].records = records;
    records = 0;
#ifdef BUG_DELETE_BEFORE_NAMING
    waiting = waiting & ~taken;
#endif
#ifdef BUG_COMMIT_BEFORE_SYNC
    step = COMMIT
#else
    step = SYNC
#endif
}

inline sync_file()
{
    file[made].synced = true;
#ifdef BUG_COMMIT_BEFORE_SYNC
    step = REMOVE
#else
    step = COMMIT
#endif
}

/* One transaction: names the new file, and deletes the batches that are in it. */
inline commit_fold()
{
    if
    :: IS_LATE -> block[n_blocks - 1].file = made
    :: else -> open_file = made
    fi;
    waiting = waiting & ~taken
}

inline drop_block(number)
{
    i = number;
    do
    :: i < n_blocks ->
        block[i].file = block[i + 1].file;
        block[i].first = block[i + 1].first;
        block[i].last = block[i + 1].last;
        block[i].closed = block[i + 1].closed;
        i++
    :: else -> break
    od;
    n_blocks--;
    i = 0
}

/* One transaction: the two blocks become one, whose days are those of both. */
inline commit_merge()
{
    block[merged].file = made;
#ifdef BUG_RETENTION_SPLITS
    records = file[made].records & ~block[merged].closed;
    file[block[merged + 1].file].records = file[block[merged + 1].file].records & ~records;
    block[merged].closed = block[merged].closed | records;
    block[merged + 1].closed = block[merged + 1].closed & ~records;
    records = 0
#else
    block[merged].last = block[merged + 1].last;
    block[merged].closed = block[merged].closed | block[merged + 1].closed;
    drop_block(merged + 1)
#endif
}

inline commit()
{
    if
    :: is_alone -> block[merged].file = made
    :: is_merge && !is_alone -> commit_merge()
    :: else -> commit_fold()
    fi;
#ifdef BUG_COMMIT_BEFORE_SYNC
    step = SYNC
#else
    step = REMOVE
#endif
}

/* Removes every file that the database does not name. */
inline remove_unnamed()
{
    j = 1;
    do
    :: j <= FILES ->
        i = 0;
        do
        :: i < n_blocks && block[i].file != j -> i++
        :: else -> break
        od;
        if
        :: i == n_blocks && open_file != j ->
            file[j].there = false;
            file[j].synced = false;
            file[j].records = 0
        :: else
        fi;
        j++
    :: else -> break
    od;
    i = 0;
    j = 0
}

/* Where no tick can be due, there is nothing to close. */
inline after_remove()
{
    if
    :: taken && !is_merge -> step = CLOSE; taken = 0; made = 0
    :: else -> end_turn()
    fi
}

inline close_block()
{
    printf("  block %d closes on day %d with %d records\n", n_blocks, DAY(now),
           COUNT(OPEN_RECORDS));
    block[n_blocks].file = open_file;
    block[n_blocks].closed = OPEN_RECORDS;
    block[n_blocks].last = DAY(now);
#ifndef BUG_DAY_OF_A_CLOCK_SET_BACK
    if
    :: n_blocks > 0 && block[n_blocks - 1].last > DAY(now) ->
        block[n_blocks].last = block[n_blocks - 1].last
    :: else
    fi;
#endif
    block[n_blocks].first = block[n_blocks].last;
    n_blocks++;
    open_file = 0
}

/* One transaction: notes the tick, and closes the open block if the tick is a later one and the
 * block has enough. After a clock was set back, the tick is only noted. */
inline close_at_tick()
{
    if
    :: now > tick && COUNT(OPEN_RECORDS) >= ENOUGH -> close_block()
    :: else
    fi;
#ifdef BUG_TICK_NEVER_GOES_BACK
    if
    :: now > tick -> tick = now
    :: else
    fi;
#else
    tick = now;
#endif
    end_turn()
}

/* ---- batches ---- */

/* The open block's sum is in the database, so it changes with the transaction. */
inline add_to_sum(batch)
{
    if
    :: open_file
    :: else ->
        name_file();
        open_file = made;
        made = 0;
        file[open_file].there = true;
        file[open_file].synced = true
    fi;
    MUST(!(file[open_file].records & BIT(batch)), nothing counts twice);
    file[open_file].records = file[open_file].records | BIT(batch)
}

/* A batch of a known id changes nothing and is acknowledged. Any other is stored with its id, in
 * one transaction, and acknowledged afterwards. */
inline put(batch)
{
    if
    :: known & BIT(batch) -> acknowledged = acknowledged | BIT(batch)
    :: else ->
#ifndef BUG_ID_AFTER_BATCH
        known = known | BIT(batch);
#endif
#ifdef SUM
        add_to_sum(batch);
#else
        MUST(!(waiting & BIT(batch)), nothing counts twice);
        waiting = waiting | BIT(batch);
#endif
        stored = batch + 1
    fi
}

inline acknowledge()
{
    known = known | BIT(stored - 1);
    acknowledged = acknowledged | BIT(stored - 1);
    stored = 0
}

/* ---- questions ---- */

/* Finds the files of the closed blocks that belong to a span of days. A block that the span cuts is
 * taken whole, and the answer states the longer span. */
inline find_blocks()
{
    i = 0;
    do
    :: i < n_blocks ->
        if
        :: from <= block[i].last && block[i].first <= to -> asked = asked | BIT(block[i].file)
        :: else
        fi;
        i++
    :: else -> break
    od;
#ifdef BUG_ANSWER_OPEN
    if
    :: open_file && DAY(clock) <= to -> asked = asked | BIT(open_file)
    :: else
    fi;
#endif
    i = 0;
    from = 0;
    to = 0;
    is_reading = true
}

inline read_files()
{
    i = 1;
    do
    :: i <= FILES ->
        if
        :: asked & BIT(i) ->
            MUST(file[i].there, every file that a question reads is there);
            MUST(!(answer & file[i].records), nothing counts twice);
            answer = answer | file[i].records
        :: else
        fi;
        i++
    :: else -> break
    od;
    i = 0
}

/* Any earlier answer may be the one that is remembered, so this compares every two answers. */
inline answer_question()
{
    read_files();
    printf("an answer of %d records, after one of %d\n", COUNT(answer), COUNT(remembered));
    records = answer ^ remembered;
    MUST(!records || COUNT(records) >= MINIMUM, two answers differ by nothing or by the minimum);
    records = 0;
    asked = 0;
    is_reading = false
}

/* ---- crash ---- */

inline lose_memory()
{
    end_turn();
    is_up = false;
    stored = 0;
    is_reading = false;
    asked = 0
}

/* Where the power fails, a file that was not synced is lost. */
inline lose_unsynced()
{
    i = 1;
    do
    :: i <= FILES ->
        if
        :: file[i].there && !file[i].synced -> file[i].there = false; file[i].records = 0
        :: else
        fi;
        i++
    :: else -> break
    od;
    i = 0
}

inline open_store()
{
#ifdef BUG_CRASH_TAKEN_AS_DONE
    /* The newest file counts as folded, although no transaction named it. */
    i = 1;
    do
    :: i <= FILES ->
        if
        :: waiting && file[i].there && file[i].records == (OPEN_RECORDS | waiting) -> open_file = i
        :: else
        fi;
        i++
    :: else -> break
    od;
#endif
    remove_unnamed();
    is_up = true
}

/* ---- the operator ---- */

/* One transaction: the whole collection goes. Its ids stay, so that no batch counts anew. */
inline forget()
{
    forgotten = forgotten | waiting | OPEN_RECORDS;
    do
    :: n_blocks > 0 ->
        forgotten = forgotten | block[0].closed;
        drop_block(0)
    :: else -> break
    od;
    open_file = 0;
    waiting = 0;
#ifdef BUG_FORGET_IDS
    known = 0;
#endif
    was_forgotten = true;
    step = REMOVE
}

/* ---- liveness ---- */

inline finish_turn()
{
    do
#ifndef SUM
    :: step == WRITE -> write_file()
    :: step == SYNC -> sync_file()
    :: step == COMMIT -> commit()
#endif
    :: step == REMOVE -> remove_unnamed(); after_remove()
    :: step == CLOSE -> close_at_tick()
    :: step == IDLE -> break
    od
}

/* Wherever the server is idle, its turns at the next two ticks close a block that has enough. It
 * takes two where the clock was set back: the first tick is only noted. */
inline two_ticks()
{
    printf("the clock goes on for two ticks, and nothing else happens\n");
    clock++;
    begin_turn();
    finish_turn();
    clock++;
    begin_turn();
    finish_turn();
    MUST(!waiting && COUNT(OPEN_RECORDS) < MINIMUM, a block that has enough closes within two ticks)
}

/* ---- the steps ---- */

active proctype collection()
{
    do
    /* A new batch arrives, or one that was sent before. */
    :: d_step {
        is_up && !stored && sent < BATCHES ->
        printf("batch %d arrives\n", sent);
        put(sent);
        sent++;
        check_store()
    }
    :: atomic {
        is_up && !stored && sent > 0 ->
        select(j : 0 .. sent - 1);
        printf("batch %d arrives again\n", j);
        d_step {
            put(j);
            j = 0;
            check_store()
        }
    }
    :: d_step {
        stored ->
        printf("batch %d is acknowledged\n", stored - 1);
        acknowledge();
        check_store()
    }

    /* The folding thread. */
    :: d_step {
        is_up && step == IDLE && (waiting || clock != tick) ->
        printf("a turn begins at tick %d\n", clock);
        begin_turn()
    }
#ifndef SUM
    :: d_step { step == WRITE -> printf("  a new file is written\n"); write_file() }
    :: d_step { step == SYNC -> printf("  the new file is synced\n"); sync_file() }
    :: d_step { step == COMMIT -> printf("  the new file is named\n"); commit(); check_store() }
#endif
    :: d_step {
#ifdef BUG_REMOVE_WITHOUT_LOCK
        step == REMOVE ->
#else
        step == REMOVE && !is_reading ->
#endif
        printf("  files that have no name in the database are removed\n");
        remove_unnamed();
        after_remove()
    }
    :: d_step { step == CLOSE -> printf("  tick %d is noted\n", now); close_at_tick(); check_store() }

    /* Retention merges two neighbours: any two, at any time, so that every schedule is covered. */
    :: atomic {
        is_up && step == IDLE && n_blocks > 1 ->
        select(j : 0 .. n_blocks - 2);
        printf("retention merges blocks %d and %d\n", j, j + 1);
        d_step {
            merged = j;
            is_merge = true;
            j = 0;
#ifdef SUM
            write_file();
            sync_file();
            commit();
            check_store()
#else
            step = WRITE
#endif
        }
    }
#ifdef RECORDS
    /* The distinct records of a closed block are forgotten; its sums stay as they are. */
    :: atomic {
        is_up && step == IDLE && n_blocks > 0 ->
        select(j : 0 .. n_blocks - 1);
        printf("the records of block %d are forgotten\n", j);
        d_step {
            merged = j;
            is_merge = true;
            is_alone = true;
            j = 0;
            step = WRITE
        }
    }
#endif

    /* Once, which keeps the state space small. */
    :: d_step {
        is_up && step == IDLE && n_blocks > 0 && !was_forgotten ->
        printf("the operator forgets the collection\n");
        forget();
        check_store()
    }

    /* A question asks for a span of days. Its files are read after its rows. */
    :: atomic {
        is_up && !is_reading ->
        select(from : 0 .. DAY(CLOCKS - 1));
        select(to : from .. DAY(CLOCKS - 1));
        printf("a question about days %d to %d\n", from, to);
        d_step { find_blocks() }
    }
    :: atomic {
        is_reading ->
        d_step { answer_question() }
        if
        :: answer = 0
        :: remembered = answer; answer = 0
        fi
    }

    /* The clock goes on, by one tick or by several, or is set back. */
    :: atomic {
        select(j : 0 .. CLOCKS - 1);
        printf("the clock shows tick %d\n", j);
        clock = j;
        j = 0
    }

    /* The process is killed, or the power fails. */
    :: d_step { is_up -> printf("the server is killed\n"); lose_memory() }
    :: d_step { is_up -> printf("the power fails\n"); lose_memory(); lose_unsynced() }
    :: d_step { !is_up -> printf("the server starts\n"); open_store(); check_store() }

    :: d_step { is_up && step == IDLE && !is_reading -> two_ticks() } -> break
    od
}
