// SPDX-License-Identifier: Apache-2.0
// Reading an audit log back: the newest lines of a day, page by page, through files and pieces of
// files; members as they were written, whatever their bytes; and what is still being written is
// left out.
#include "agg_test.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit_files.h"
#include "audit_read.h"

#define DAY_S ((int64_t)86400)
#define FIRST_DAY ((int64_t)20778) // 2026-11-21
static const char *const days[] = {"2026-11-21", "2026-11-22", "2026-11-23"};

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/shoal-audit-read-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    char path[512];
    DIR *listing = opendir(folder);
    for (struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        (void)unlink(path);
    }
    if (listing != NULL) closedir(listing);
    return rmdir(folder);
}

// A log that is written by hand, so that its moments are the test's own.
typedef struct writer {
    FILE *file;
    agg_audit_chain chain;
    unsigned number;
} writer;

static void next_file(writer *w, int day)
{
    char path[128], name[AGG_AUDIT_NAME_MAX], line[AGG_AUDIT_LINE_MAX];
    if (w->file != NULL) fclose(w->file);
    agg_audit_file_name(name, ++w->number);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    w->file = fopen(path, "wb");
    assert_non_null(w->file);
    size_t len = agg_audit_line_begin(line, &w->chain, (FIRST_DAY + day) * DAY_S, "");
    assert_int_equal(fwrite(line, 1, len, w->file), len);
}

static writer start(void)
{
    writer w = {.chain = {.next = 1}};
    next_file(&w, 0);
    return w;
}

// Adds a question of a day.
//   value: may be NULL
static void add(writer *w, int day, unsigned second, const char *who, const char *what,
                const char *value)
{
    char line[AGG_AUDIT_LINE_MAX];
    agg_audit_entry entry = {.who = who, .via = "bearer", .what = what, .status = 200};
    snprintf(entry.value, sizeof entry.value, "%s", value == NULL ? "" : value);
    size_t len = agg_audit_line_entry(line, &w->chain, (FIRST_DAY + day) * DAY_S + second, &entry);
    assert_int_equal(fwrite(line, 1, len, w->file), len);
}

static agg_audit_page read_page(agg_audit_find find)
{
    agg_audit_page page;
    agg_error error;
    if (agg_audit_page_read(&page, &error, folder, &find) != SHOAL_OK) fail_msg("%s", error.text);
    return page;
}

static void assert_member(const char *line, const char *name, const char *wanted)
{
    char text[AGG_AUDIT_BLOCKS_MAX];
    agg_audit_member(text, sizeof text, line, name);
    assert_string_equal(text, wanted);
}

static void the_newest_lines_of_a_day_come_first(void **state)
{
    (void)state;
    writer w = start();
    add(&w, 0, 9, "alice", "page", NULL);
    add(&w, 1, 1, "alice", "page", "cod");
    add(&w, 1, 2, "bob", "result", NULL);
    next_file(&w, 1); // a day goes on in the next file
    add(&w, 1, 3, "alice", "result", "eel");
    add(&w, 2, 4, "alice", "page", NULL);
    fclose(w.file);
    agg_audit_page page = read_page((agg_audit_find){.day = days[2]});
    assert_int_equal(page.n, 1);
    agg_audit_page_release(&page);
    page = read_page((agg_audit_find){.day = days[1]});
    assert_int_equal(page.n, 4);
    assert_member(page.lines[0], "value", "eel");
    assert_member(page.lines[1], "what", "begin");
    assert_member(page.lines[2], "who", "bob");
    assert_member(page.lines[3], "value", "cod");
    assert_false(page.is_more);
    agg_audit_page_release(&page);
}

static void filters_and_pages_leave_out(void **state)
{
    (void)state;
    writer w = start();
    for (unsigned i = 0; i < 250; i++) {
        char value[8];
        snprintf(value, sizeof value, "v%u", i);
        add(&w, 1, i, i % 2 == 0 ? "alice" : "bob", "page", value);
    }
    fclose(w.file);
    agg_audit_page page = read_page((agg_audit_find){.day = days[1]});
    assert_int_equal(page.n, AGG_AUDIT_PAGE_ROWS);
    assert_true(page.is_more);
    assert_member(page.lines[0], "value", "v249");
    assert_member(page.lines[99], "value", "v150");
    agg_audit_page_release(&page);
    page = read_page((agg_audit_find){.day = days[1], .skip = 200});
    assert_int_equal(page.n, 50);
    assert_false(page.is_more);
    assert_member(page.lines[49], "value", "v0");
    agg_audit_page_release(&page);
    page = read_page((agg_audit_find){.day = days[1], .skip = 150});
    assert_int_equal(page.n, AGG_AUDIT_PAGE_ROWS);
    assert_false(page.is_more); // the page ends with the day's first line
    agg_audit_page_release(&page);
    page = read_page((agg_audit_find){.day = days[1], .who = "bob", .skip = 100});
    assert_int_equal(page.n, 25); // pages count the filter's own lines alone
    assert_member(page.lines[0], "value", "v49");
    agg_audit_page_release(&page);
    page = read_page((agg_audit_find){.day = days[1], .who = "alice", .value = "v8"});
    assert_int_equal(page.n, 1);
    agg_audit_page_release(&page);
    page = read_page((agg_audit_find){.day = days[1], .who = "bob", .value = "v8"});
    assert_int_equal(page.n, 0);
    agg_audit_page_release(&page);
    page = read_page((agg_audit_find){.day = days[1], .what = "pag"});
    assert_int_equal(page.n, 0);
    agg_audit_page_release(&page);
}

// Lines of any length lie across the borders of the pieces that are read at a time.
static void no_line_is_lost_between_pieces(void **state)
{
    (void)state;
    enum { LINES = 4000 };
    writer w = start();
    char value[AGG_AUDIT_TEXT_MAX];
    for (unsigned i = 0; i < LINES; i++) {
        snprintf(value, sizeof value, "%u-%.*s", i, (int)(i * 7 % 64),
                 "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01"
                 "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01"
                 "\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01"
                 "\x01\x01\x01\x01");
        add(&w, 1, i, "alice", "page", value);
    }
    assert_true(ftell(w.file) > 3 * (1 << 18)); // several pieces
    fclose(w.file);
    unsigned wanted = LINES;
    for (size_t skip = 0; skip < LINES; skip += AGG_AUDIT_PAGE_ROWS) {
        agg_audit_page page = read_page((agg_audit_find){.day = days[1], .skip = skip});
        assert_int_equal(page.n, AGG_AUDIT_PAGE_ROWS);
        for (size_t i = 0; i < page.n; i++) {
            agg_audit_member(value, sizeof value, page.lines[i], "value");
            assert_int_equal(strtoul(value, NULL, 10), --wanted);
        }
        agg_audit_page_release(&page);
    }
    assert_int_equal(wanted, 0);
}

static void members_are_read_as_they_were_written(void **state)
{
    (void)state;
    agg_audit_chain chain = {.next = 1};
    char line[AGG_AUDIT_LINE_MAX], text[AGG_AUDIT_TEXT_MAX], small[4];
    for (int first = 1; first < 256; first += 64) {
        agg_audit_entry entry = {.who = "alice", .via = "session", .what = "page", .top = 20};
        for (int i = 0; i < 64 && first + i < 256; i++) entry.value[i] = (char)(first + i);
        size_t len = agg_audit_line_entry(line, &chain, FIRST_DAY * DAY_S, &entry);
        line[len - 1] = '\0';
        agg_audit_member(text, sizeof text, line, "value");
        assert_string_equal(text, entry.value);
        assert_member(line, "top", "20");
        assert_member(line, "via", "session");
        assert_member(line, "status", "");
        agg_audit_member(small, sizeof small, line, "via"); // cut, with its NUL
        assert_string_equal(small, "ses");
    }
    // A text that looks like a member is none: its quotation marks are escaped.
    agg_audit_entry entry = {.who = "bob", .via = "bearer", .what = "result"};
    snprintf(entry.collection, sizeof entry.collection, "x\",\"value\":\"secret\",\"who\":\"eve");
    size_t len = agg_audit_line_entry(line, &chain, FIRST_DAY * DAY_S, &entry);
    line[len - 1] = '\0';
    assert_member(line, "value", "");
    assert_member(line, "who", "bob");
    assert_member(line, "collection", entry.collection);
}

static void what_is_being_written_is_left_out(void **state)
{
    (void)state;
    writer w = start();
    add(&w, 1, 1, "alice", "page", NULL);
    fputs("{\"seq\":3,\"time\":\"2026-11-22T10:00:00Z\",\"what\":\"pa", w.file);
    fclose(w.file);
    agg_audit_page page = read_page((agg_audit_find){.day = days[1]});
    assert_int_equal(page.n, 1);
    agg_audit_page_release(&page);
    page = read_page((agg_audit_find){.day = "2020-01-01"});
    assert_int_equal(page.n, 0);
    agg_audit_page_release(&page);
    agg_error error;
    assert_err(agg_audit_page_read(&page, &error, "/nowhere", &(agg_audit_find){.day = days[0]}),
               AGG_ERR_IO);
    agg_audit_page_release(&page);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(the_newest_lines_of_a_day_come_first),
        IN_FOLDER(filters_and_pages_leave_out),
        IN_FOLDER(no_line_is_lost_between_pieces),
        IN_FOLDER(what_is_being_written_is_left_out),
        cmocka_unit_test(members_are_read_as_they_were_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
