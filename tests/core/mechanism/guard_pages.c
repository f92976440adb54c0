// SPDX-License-Identifier: Apache-2.0
// Parsers with their input flush against an unreadable page, at its end and at its start: a read of
// one byte too many is a crash. Native only.
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "batch.h"
#include "check.h"
#include "dap_messages.h"
#include "ledger.h"
#include "samples.h"

static uint8_t *page; // three pages; only the middle one may be touched
static size_t page_len;

static const uint8_t *at_end(const void *bytes, size_t len)
{
    return memcpy(page + 2 * page_len - len, bytes, len);
}

static const uint8_t *at_start(const void *bytes, size_t len)
{
    return memcpy(page + page_len, bytes, len);
}

static void records(const shoal_recipe *recipe, const char *text)
{
    static uint8_t record[4096];
    size_t len = strlen(text);
    for (size_t n = 0; n <= len; n++) {
        shoal_err expected = n == len ? SHOAL_OK : SHOAL_ERR_TRUNCATED;
        CHECK(shoal_record_from_text(record, recipe, (const char *)at_end(text, n), n, NULL) ==
              expected);
        CHECK(shoal_record_from_text(record, recipe, (const char *)at_start(text, n), n, NULL) ==
              expected);
    }
    CHECK(shoal_record_check(recipe, at_end(record, recipe->record_size)) == SHOAL_OK);
}

// A record of every sample that fits the page, as its randomizer makes it.
static void sampled_records(void)
{
    static char text[8192];
    static uint8_t record[4096];
    shoal_recipe recipe;
    shoal_permanent permanent = {{3}};
    uint8_t seed[32] = {4};
    shoal_rng rng;
    shoal_rng_init(&rng, seed);
    for (size_t i = 0; i < N_SAMPLED; i++)
        for (size_t s = 0; s < all_samples[i].n; s++) {
            const sample *one = &all_samples[i].samples[s];
            CHECK(sample_recipe(&recipe, all_samples[i].name, one) == SHOAL_OK);
            if (recipe.text_size >= page_len) continue;
            uint8_t *flush = page + 2 * page_len - recipe.record_size;
            CHECK(sample_randomize(flush, &recipe, one->value, &permanent, &rng) == SHOAL_OK);
            memcpy(record, flush, recipe.record_size);
            memset(text, 0, sizeof text);
            CHECK(shoal_record_to_text(text, recipe.text_size, &recipe, record) == SHOAL_OK);
            records(&recipe, text);
        }
}

static void batches(const shoal_recipe *recipe)
{
    uint8_t bytes[216] = {0}, salt[16] = {0};
    shoal_batch batch;
    size_t len = shoal_batch_size(recipe, 3);
    CHECK(len <= sizeof bytes && shoal_batch_seal(bytes, len, recipe, 3, 20780, salt) == SHOAL_OK);
    for (size_t n = 0; n <= len; n++) {
        shoal_err expected = n == len ? SHOAL_OK : SHOAL_ERR_TRUNCATED;
        CHECK(shoal_batch_open(&batch, at_end(bytes, n), n, recipe, NULL) == expected);
        CHECK(shoal_batch_open(&batch, at_start(bytes, n), n, recipe, NULL) == expected);
    }
}

static void ledgers(const shoal_recipe *recipe)
{
    uint8_t bytes[256];
    size_t len = 0;
    CHECK(shoal_ledger_init(bytes, sizeof bytes, &len, 1) == SHOAL_OK);
    CHECK(shoal_ledger_debit(bytes, &len, sizeof bytes, recipe, 2) == SHOAL_OK);
    for (size_t n = 0; n <= len; n++) {
        shoal_err expected = n == len ? SHOAL_ERR_BUDGET : SHOAL_ERR_LEDGER;
        CHECK(shoal_ledger_allows(at_end(bytes, n), n, recipe, 2) == expected);
        CHECK(shoal_ledger_allows(at_start(bytes, n), n, recipe, 2) == expected);
    }
}

// Written again into room that ends with the page, too.
static void dap(void)
{
    static uint8_t out[512];
    for (size_t i = 0; i < N_DAP_MESSAGES; i++) {
        const dap_message *m = &dap_messages[i];
        for (size_t n = 0; n <= m->len; n++) {
            shoal_dap_writer w = {out, sizeof out, 0, 0}, again = w;
            CHECK(m->again(&w, (shoal_bytes){at_end(m->bytes, n), n}) == dap_message_cut(m, n));
            CHECK(m->again(&again, (shoal_bytes){at_start(m->bytes, n), n}) ==
                  dap_message_cut(m, n));
            shoal_dap_writer flush = {page + 2 * page_len - n, n, 0, 0};
            CHECK(m->again(&flush, (shoal_bytes){m->bytes, m->len}) == SHOAL_OK);
            CHECK(flush.is_full == (n < m->len) && flush.len == m->len);
        }
    }
}

int main(void)
{
    shoal_recipe recipe;
    page_len = (size_t)sysconf(_SC_PAGESIZE);
    page = mmap(NULL, 3 * page_len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(page != MAP_FAILED &&
               mprotect(page + page_len, page_len, PROT_READ | PROT_WRITE) == 0))
        return check_summary();
    CHECK(sketch_recipe(&recipe, "cms", 2000000, 100, 20) == SHOAL_OK);
    records(&recipe, "07,ffff0f");
    batches(&recipe);
    ledgers(&recipe);
    sampled_records();
    dap();
    return check_summary();
}
