// SPDX-License-Identifier: Apache-2.0
// Fingerprints of inputs: the same for the same bytes however they come, and another for others.
#include "agg_test.h"

#include "input_print.h"

#define LEN (((size_t)3 << 20) + 5000) // bytes of the largest input
#define PATH "/tmp/shoal-test-input-print"

static uint8_t *bytes;

static void claim_of(uint8_t id[AGG_CLAIM], size_t len, size_t step)
{
    agg_input_print print;
    agg_input_print_init(&print);
    for (size_t at = 0; at < len; at += step)
        agg_input_print_update(&print, bytes + at, len - at < step ? len - at : step);
    assert_int_equal(print.len, len);
    agg_input_print_claim(id, &print);
}

static void claim_of_file(uint8_t id[AGG_CLAIM], size_t len)
{
    agg_input_print print;
    agg_error error = {SHOAL_OK, 0, ""};
    bool has_lines = false;
    FILE *stream = fopen(PATH, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, len, stream), len);
    fclose(stream);
    assert_ok(agg_input_print_of_file(&print, &has_lines, &error, PATH));
    assert_int_equal(has_lines, len > 0);
    assert_int_equal(print.len, len);
    agg_input_print_claim(id, &print);
    remove(PATH);
}

static void pieces_and_files_are_alike(void **state)
{
    static const size_t lens[] = {0,      1,       4095,    262143,  262144,  262145,
                                  999999, 1048576, 1048577, 1052672, 1052673, LEN};
    static const size_t steps[] = {LEN, 4096, 65536 + 7, 262144, 1 << 20};
    uint8_t seen[sizeof lens / sizeof lens[0]][AGG_CLAIM], id[AGG_CLAIM];
    (void)state;
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        claim_of(seen[i], lens[i], 1237);
        for (size_t j = 0; j < sizeof steps / sizeof steps[0]; j++) {
            claim_of(id, lens[i], steps[j]);
            assert_memory_equal(id, seen[i], AGG_CLAIM);
        }
        claim_of_file(id, lens[i]);
        assert_memory_equal(id, seen[i], AGG_CLAIM);
        for (size_t j = 0; j < i; j++) assert_memory_not_equal(seen[i], seen[j], AGG_CLAIM);
    }
}

// The first 256 KiB and 4 KiB at each MiB count; what lies between does not.
static void the_bytes_that_count_are_those_stated(void **state)
{
    typedef struct place {
        size_t at;
        bool counts;
    } place;
    static const place places[] = {
        {0, true},        {1000, true},           {262143, true},  {262144, false},
        {1048575, false}, {1048576, true},        {1052671, true}, {1052672, false},
        {2097152, true},  {(3 << 20) - 1, false}, {3 << 20, true}, {LEN - 1, false}};
    uint8_t plain[AGG_CLAIM], id[AGG_CLAIM];
    (void)state;
    claim_of(plain, LEN, LEN);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        bytes[places[i].at] ^= 1;
        claim_of(id, LEN, LEN);
        bytes[places[i].at] ^= 1;
        if ((memcmp(id, plain, AGG_CLAIM) != 0) != places[i].counts)
            fail_msg("byte %zu", places[i].at);
    }
}

static void batches_have_no_print(void **state)
{
    agg_input_print print;
    agg_error error = {SHOAL_OK, 0, ""};
    bool has_lines = true;
    FILE *stream = fopen(PATH, "wb");
    (void)state;
    assert_non_null(stream);
    fputs("shoalbat and more", stream);
    fclose(stream);
    assert_ok(agg_input_print_of_file(&print, &has_lines, &error, PATH));
    assert_false(has_lines);
    remove(PATH);
    assert_err(agg_input_print_of_file(&print, &has_lines, &error, PATH), AGG_ERR_IO);
}

static int make_bytes(void **state)
{
    uint32_t x = 1;
    (void)state;
    bytes = malloc(LEN);
    if (bytes == NULL) return -1;
    for (size_t i = 0; i < LEN; i++) {
        x = x * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(x >> 24);
    }
    return 0;
}

static int free_bytes(void **state)
{
    (void)state;
    free(bytes);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pieces_and_files_are_alike),
                                       cmocka_unit_test(the_bytes_that_count_are_those_stated),
                                       cmocka_unit_test(batches_have_no_print)};
    return cmocka_run_group_tests(tests, make_bytes, free_bytes);
}
