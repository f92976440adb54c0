// SPDX-License-Identifier: Apache-2.0
// The books; see books_page.h. Recipe ids are of an alphabet without markup, and everything else is
// numbers and the program's own texts, so only what is searched for is escaped.
#include "books_page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agg_size.h"
#include "guarantee_print.h"
#include "period.h"
#include "print_text.h"
#include "recipe.h"
#include "serve_order.h"
#include "serve_page.h"
#include "store_releases.h"
#include "verdict.h"
#include "verdict_text.h"

#define BOOKS "/books/recipes/"

enum { YEAR_DAYS = 365 };

// Returns: whether the person may see a collection's books. Who administers sees the same counts of
// closed blocks in /metrics.
static bool shows(const serve_request *r, size_t i)
{
    return (serve_request_role(r) & SERVE_ADMINISTERS) != 0 || serve_person_reads(r->person, i);
}

static void open_table(FILE *stream, const char *caption, const char *const *titles, size_t n)
{
    fprintf(stream,
            "<table class=\"log\" role=\"table\"><caption>%s</caption><thead role=\"rowgroup\"><tr "
            "role=\"row\">",
            caption);
    for (size_t i = 0; i < n; i++)
        fprintf(stream, "<th scope=\"col\" role=\"columnheader\">%s</th>", titles[i]);
    fputs("</tr></thead>\n<tbody role=\"rowgroup\">\n", stream);
}

static void open_sorted_table(FILE *stream, const char *caption, const agg_table_order *order,
                              const agg_table_column *columns, size_t n)
{
    fprintf(stream,
            "<table class=\"log sorted\" role=\"table\"><caption>%s</caption><thead "
            "role=\"rowgroup\"><tr role=\"row\">",
            caption);
    for (size_t i = 0; i < n; i++) agg_table_title(stream, order, &columns[i], true);
    fputs("</tr></thead>\n<tbody role=\"rowgroup\">\n", stream);
}

static void put_cell(FILE *stream, const char *title, const char *text)
{
    fprintf(stream, "<td role=\"cell\" data-label=\"%s\">%s</td>", title, text);
}

// A row of the list of collections, and the order that it is compared by.
typedef struct listed {
    const serve_collection *one;
    agg_release_sum released;
    int64_t tick;
    size_t place; // in the configuration
    const agg_table_order *order;
} listed;

static const agg_table_column list_columns[] = {{"collection", "Collection", NULL, false},
                                                {"blocks", "Blocks", NULL, true},
                                                {"reports", "Reports released", NULL, true},
                                                {"next", "Next tick", NULL, false}};

enum { LIST_COLUMNS = sizeof list_columns / sizeof *list_columns };

static bool list_sorts_by(const char *column)
{
    for (int c = 0; c < LIST_COLUMNS; c++)
        if (strcmp(list_columns[c].name, column) == 0) return true;
    return false;
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_listed(const void *first, const void *second)
{
    const listed *a = first, *b = second;
    int by = 0;
    if (agg_table_is_by(a->order, "collection")) by = strcmp(a->one->recipe.id, b->one->recipe.id);
    if (agg_table_is_by(a->order, "blocks")) by = ORDER(a->released.blocks, b->released.blocks);
    if (agg_table_is_by(a->order, "reports")) by = ORDER(a->released.records, b->released.records);
    if (agg_table_is_by(a->order, "next")) by = ORDER(a->tick, b->tick);
    by = agg_table_directed(a->order, by);
    return by != 0 ? by : ORDER(a->place, b->place);
}

static void put_listed(FILE *stream, const listed *row)
{
    char tick[SERVE_PAGE_TIME_MAX];
    serve_page_minute(tick, row->tick);
    fprintf(stream,
            "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\"><a href=\"" BOOKS
            "%s\">%s</a></th>",
            row->one->recipe.id, row->one->recipe.id);
    put_cell(stream, list_columns[1].title, agg_whole(row->released.blocks).text);
    put_cell(stream, list_columns[2].title, agg_whole(row->released.records).text);
    put_cell(stream, list_columns[3].title, tick);
    fputs("</tr>\n", stream);
}

// Fills in the rows that the person may see and searches for.
// Returns: how many there are.
static size_t fill_list(listed *rows, const serve_request *r, const agg_table_order *order,
                        const agg_release_sum *sums, size_t n_sums)
{
    const serve_collections *all = &r->set->collections;
    int64_t now = (int64_t)time(NULL);
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++) {
        const serve_collection *one = &all->list[i];
        if (!shows(r, i) || !agg_table_holds(order, one->recipe.id, strlen(one->recipe.id)))
            continue;
        rows[n++] = (listed){.one = one,
                             .released = agg_release_sum_of(sums, n_sums, one->number),
                             .tick = agg_tick_after(now, one->tick_s),
                             .place = i,
                             .order = order};
    }
    qsort(rows, n, sizeof *rows, compare_listed);
    return n;
}

static void put_list(FILE *stream, const serve_request *r, const agg_table_order *order,
                     const listed *rows, size_t n)
{
    serve_page_begin(stream, r, "Books");
    fputs("<p>What was released of each collection. A collection's own page says what a person "
          "spends and what the sums promise.</p></header>\n<main>\n<section><h2>Releases</h2>\n",
          stream);
    agg_table_search(stream, order, "Names with");
    open_sorted_table(stream, "Releases", order, list_columns, LIST_COLUMNS);
    for (size_t i = 0; i < n; i++) put_listed(stream, &rows[i]);
    fputs("</tbody></table>\n", stream);
    if (n == 0)
        fputs(order->find[0] != '\0'
                  ? "<p>No collection that you may see has this in its name.</p>\n"
                  : "<p>There is no collection that you may see. Readers get collections in the "
                    "configuration, and a collection begins with its recipe there.</p>\n",
              stream);
    fputs("</section>\n</main></body></html>\n", stream);
}

static void refuse_store(serve_request *r, const agg_error *error, agg_err err)
{
    fprintf(stderr, "shoal: serve: books: %s\n", error->text);
    agg_http_answer_error(&r->x.answer, 503, agg_err_name(err), (int)err,
                          "the books could not be read");
}

static void close_page(serve_request *r, FILE *stream)
{
    agg_http_answer_close(&r->x.answer, stream, 200, AGG_HTTP_TYPE_HTML);
    serve_page_protect(&r->x.answer);
}

void books_page_answer(serve_request *r)
{
    agg_error error = {.text = "out of memory"};
    agg_release_sum *sums = NULL;
    agg_table_order order;
    size_t n_sums = 0;
    serve_order_read(&order, r, list_sorts_by);
    if (r->x.answer.status != 0) return;
    listed *rows = agg_alloc(&error, r->set->collections.n, sizeof *rows);
    agg_err err = rows == NULL
                      ? AGG_ERR_MEMORY
                      : agg_store_release_sums(r->state->parts.store, &sums, &n_sums, &error);
    if (err != SHOAL_OK) {
        refuse_store(r, &error, err);
    } else {
        size_t n = fill_list(rows, r, &order, sums, n_sums);
        FILE *stream = agg_http_answer_open(&r->x.answer);
        if (stream != NULL) put_list(stream, r, &order, rows, n);
        close_page(r, stream);
    }
    free(sums);
    free(rows);
}

static const agg_table_column block_columns[] = {{"block", "Block", NULL, true},
                                                 {"closed", "Closed on", NULL, true},
                                                 {"reports", "Reports", NULL, true},
                                                 {"merged", "Merged by retention", NULL, true}};

enum { BLOCK_COLUMNS = sizeof block_columns / sizeof *block_columns };

static bool blocks_sort_by(const char *column)
{
    for (int c = 0; c < BLOCK_COLUMNS; c++)
        if (strcmp(block_columns[c].name, column) == 0) return true;
    return false;
}

// A block and the order that it is compared by.
typedef struct ordered_block {
    const agg_release_row *row;
    uint64_t reports; // as the page says them: the order must not tell more
    const agg_table_order *order;
} ordered_block;

static int compare_blocks(const void *first, const void *second)
{
    const ordered_block *x = first, *y = second;
    const agg_release_row *a = x->row, *b = y->row;
    int by = 0;
    if (agg_table_is_by(x->order, "block")) by = ORDER(a->last_number, b->last_number);
    if (agg_table_is_by(x->order, "closed")) by = ORDER(a->last_day, b->last_day);
    if (agg_table_is_by(x->order, "reports")) by = ORDER(x->reports, y->reports);
    if (agg_table_is_by(x->order, "merged"))
        by = (a->first_number != a->last_number) - (b->first_number != b->last_number);
    by = agg_table_directed(x->order, by);
    return by != 0 ? by : ORDER(b->last_number, a->last_number); // the newest first
}

static void put_block(FILE *stream, const serve_collection *one, const agg_release_row *row)
{
    char text[64], first[11], last[11];
    bool is_merged = row->first_number != row->last_number;
    uint32_t minimum = one->recipe.recipe->cohort_minimum;
    snprintf(text, sizeof text, is_merged ? "%" PRId64 " to %" PRId64 : "%" PRId64,
             row->first_number, row->last_number);
    fprintf(stream, "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\">%s</th>", text);
    agg_day_print(first, row->first_day);
    agg_day_print(last, row->last_day);
    snprintf(text, sizeof text, row->first_day == row->last_day ? "%s" : "%s to %s", first, last);
    put_cell(stream, block_columns[1].title, text);
    // No result is made below the cohort, so its size is not told either.
    if (row->records < minimum)
        snprintf(text, sizeof text, "fewer than %s", agg_whole(minimum).text);
    else
        snprintf(text, sizeof text, "%s", agg_whole(row->records).text);
    put_cell(stream, block_columns[2].title, text);
    put_cell(stream, block_columns[3].title, is_merged ? "yes" : "no");
    fputs("</tr>\n", stream);
}

static void put_block_table(FILE *stream, const serve_collection *one, const agg_table_order *order,
                            const agg_release_row *rows, size_t n)
{
    uint32_t minimum = one->recipe.recipe->cohort_minimum;
    ordered_block *list = agg_alloc(NULL, n, sizeof *list);
    open_sorted_table(stream, "Releases", order, block_columns, BLOCK_COLUMNS);
    for (size_t i = 0; list != NULL && i < n; i++)
        list[i] = (ordered_block){&rows[i],
                                  rows[i].records < minimum ? minimum - 1 : rows[i].records, order};
    if (list != NULL) qsort(list, n, sizeof *list, compare_blocks);
    for (size_t i = 0; list != NULL && i < n; i++) put_block(stream, one, list[i].row);
    fputs("</tbody></table>\n", stream);
    if (list == NULL) fputs("<p>The blocks could not be listed: out of memory.</p>\n", stream);
    free(list);
}

// A server that answers for all days together tells no single block's size or day.
static void put_blocks(FILE *stream, const serve_request *r, const serve_collection *one,
                       const agg_table_order *order, const agg_release_row *rows, size_t n)
{
    char tick[SERVE_PAGE_TIME_MAX];
    serve_page_minute(tick, agg_tick_after((int64_t)time(NULL), one->tick_s));
    fprintf(stream,
            "<section><h2>Releases</h2>\n<p>Next tick: %s. A block closes at a tick, once "
            "it holds %s reports.</p>\n",
            tick, agg_whole(one->recipe.recipe->block_minimum).text);
    if (n == 0) {
        fputs("<p>Nothing is released yet.</p>\n", stream);
    } else if (r->set->config.period == AGG_PERIOD_ALL) {
        fprintf(stream,
                "<p>Closed blocks: %zu. This server answers for all days together (its period is "
                "all), so single blocks are not listed.</p>\n",
                n);
    } else {
        put_block_table(stream, one, order, rows, n);
    }
    fputs("</section>\n", stream);
}

static void put_spent(FILE *stream, const char *what, const shoal_verdict *verdict)
{
    char text[AGG_VERDICT_TEXT_MAX], epsilon[64];
    snprintf(epsilon, sizeof epsilon, "%.10g", (double)verdict->eps_micro / 1e6);
    fprintf(stream,
            "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\">%s</th><td class=\"n\" "
            "role=\"cell\" data-label=\"Epsilon\">%s</td><td role=\"cell\" data-label=\"In "
            "words\">",
            what, epsilon);
    serve_page_text(stream, agg_verdict_text(text, verdict));
    fputs("</td></tr>\n", stream);
}

// Prints what a person spends who sends all that the recipe allows. A year ends with the recipe, so
// it is the recipe's life as of the last 365 of its days, or of those that are left.
static void put_costs(FILE *stream, const shoal_recipe *recipe)
{
    static const char *const titles[] = {"Of one person", "Epsilon", "In words"};
    uint32_t today = (uint32_t)(time(NULL) / 86400), year = today;
    shoal_promise promise;
    if (recipe->expires_day > today + YEAR_DAYS - 1) year = recipe->expires_day - (YEAR_DAYS - 1);
    shoal_promise_of(&promise, recipe, year);
    fputs("<section><h2>What a person spends</h2>\n<p>Epsilon of the reports themselves: it holds "
          "against everybody, and it is the most that the recipe allows.</p>\n",
          stream);
    open_table(stream, "What a person spends", titles, sizeof titles / sizeof *titles);
    put_spent(stream, "A report", &promise.report);
    put_spent(stream, "A window", &promise.window);
    put_spent(stream, "A year", &promise.life);
    fputs("</tbody></table>\n<p>A window is a day, or all reports where they are paid for once. A "
          "year ends earlier where the recipe expires.</p></section>\n",
          stream);
}

// Finds a collection's guarantee at its smallest block, made once: whoever comes first publishes
// it.
static const agg_guarantee *promise_of(serve_collection *one)
{
    agg_error error = {.text = ""};
    agg_guarantee *made = NULL, *known = atomic_load(&one->guarantee);
    if (known != NULL) return known;
    const shoal_recipe *recipe = one->recipe.recipe;
    const agg_release release = {.block = recipe->block_minimum, .honest = one->honest, .days = 1};
    made = agg_alloc(&error, 1, sizeof *made);
    if (made == NULL) return NULL;
    if (agg_guarantee_run(made, &error, recipe, recipe->block_minimum, &release) != SHOAL_OK) {
        free(made);
        return NULL;
    }
    if (atomic_compare_exchange_strong(&one->guarantee, &known, made)) return made;
    free(made);
    return known;
}

static void put_promises(FILE *stream, const agg_guarantee *guarantee)
{
    char line[AGG_GUARANTEE_LINE_MAX];
    fputs("<section><h2>What the sums promise</h2>\n<p>At the smallest block that may close.</p>\n"
          "<ul>\n",
          stream);
    if (guarantee == NULL) fputs("<li>It could not be computed: out of memory.</li>\n", stream);
    for (size_t i = 0; guarantee != NULL && agg_guarantee_line(line, guarantee, i); i++) {
        fputs("<li>", stream);
        serve_page_text(stream, line);
        fputs("</li>\n", stream);
    }
    fputs("</ul></section>\n", stream);
}

static serve_collection *find(const serve_request *r, const char *id)
{
    const serve_collections *all = &r->set->collections;
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->list[i].recipe.id, id) == 0 && shows(r, i)) return &all->list[i];
    return NULL;
}

void books_page_answer_one(serve_request *r, const char *id)
{
    serve_collection *one = find(r, id);
    agg_release_row *rows = NULL;
    size_t n = 0;
    agg_error error = {.text = "out of memory"};
    agg_table_order order;
    serve_order_read(&order, r, blocks_sort_by);
    if (r->x.answer.status != 0) return;
    if (one == NULL) {
        agg_http_answer_error(&r->x.answer, 404, "not-found", 404, "no recipe has this id");
        return;
    }
    agg_err err = agg_store_releases(r->state->parts.store, &rows, &n, &error, one->number);
    if (err != SHOAL_OK) {
        refuse_store(r, &error, err);
    } else {
        FILE *stream = agg_http_answer_open(&r->x.answer);
        if (stream != NULL) {
            serve_page_begin(stream, r, "Books of a collection");
            fprintf(stream, "<p>%s</p></header>\n<main>\n", one->recipe.id);
            put_blocks(stream, r, one, &order, rows, n);
            put_costs(stream, one->recipe.recipe);
            put_promises(stream, promise_of(one));
            fputs("</main></body></html>\n", stream);
        }
        close_page(r, stream);
    }
    free(rows);
}
