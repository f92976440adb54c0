// SPDX-License-Identifier: Apache-2.0
// Task files and recipes of two servers: what is read, and every refusal by the name of its field.
#include "agg_test.h"
#include "recipe.h"

#include "dap_task.h"
#include "sha256.h"

#define HEAD                                                                                       \
    "\"info\":\"steps\",\"leader\":\"https://l.example/dap\",\"helper\":\"https://h.example\""
#define NUMBERS "\"time_precision_s\":3600,\"min_batch_size\":100"
#define HEX_ID "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define URL_ID "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
#define TASK_18(vdaf) "{\"version\":\"dap-18\"," HEAD "," NUMBERS ",\"vdaf\":{" vdaf "}}"
#define TASK_09(vdaf)                                                                              \
    "{\"version\":\"dap-09\",\"task_id\":\"" HEX_ID "\"," HEAD "," NUMBERS ",\"vdaf\":{" vdaf "}}"
#define SUM "\"type\":\"sum\",\"max\":1000"

static void load(agg_dap_task *t, const char *text)
{
    agg_error error = {SHOAL_OK, 0, ""};
    if (agg_dap_task_from_bytes(t, &error, "test", text, strlen(text)) != SHOAL_OK)
        fail_msg("%s", error.text);
}

static void assert_vdaf(const char *text, shoal_circuit circuit, uint32_t length, uint64_t max,
                        uint32_t chunk)
{
    agg_dap_task t;
    load(&t, text);
    assert_int_equal(t.task.vdaf.circuit, circuit);
    assert_int_equal(t.task.vdaf.length, length);
    assert_int_equal(t.task.vdaf.max, max);
    assert_int_equal(t.task.vdaf.chunk, chunk);
    assert_int_equal(t.task.vdaf.shares, 2);
    assert_int_equal(t.task.vdaf.proofs, 1);
    assert_true(t.is_exact && !t.has_recipe);
    agg_dap_task_release(&t);
}

static void every_vdaf_is_read(void **state)
{
    (void)state;
    assert_vdaf(TASK_18("\"type\":\"count\""), SHOAL_CIRCUIT_COUNT, 0, 0, 0);
    assert_vdaf(TASK_18(SUM), SHOAL_CIRCUIT_SUM, 0, 1000, 0);
    assert_vdaf(TASK_18("\"type\":\"sum\",\"max\":9007199254740991"), SHOAL_CIRCUIT_SUM, 0,
                9007199254740991, 0);
    assert_vdaf(TASK_18("\"type\":\"sum-vec\",\"length\":3,\"max\":200,\"chunk\":24"),
                SHOAL_CIRCUIT_SUM_VEC, 3, 200, 24);
    assert_vdaf(TASK_18("\"type\":\"histogram\",\"length\":64,\"chunk\":9"),
                SHOAL_CIRCUIT_HISTOGRAM, 64, 0, 9);
    assert_vdaf(
        TASK_18("\"type\":\"multihot-count-vec\",\"length\":64,\"max_weight\":64,\"chunk\":71"),
        SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC, 64, 64, 71);
    assert_vdaf(TASK_09("\"type\":\"count\""), SHOAL_CIRCUIT_COUNT, 0, 0, 0);
    assert_vdaf(TASK_09("\"type\":\"sum\",\"bits\":63"), SHOAL_CIRCUIT_SUM, 0, INT64_MAX, 0);
    assert_vdaf(TASK_09("\"type\":\"sum-vec\",\"length\":10,\"bits\":8,\"chunk\":9"),
                SHOAL_CIRCUIT_SUM_VEC, 10, 255, 9);
    assert_vdaf(TASK_09("\"type\":\"histogram\",\"length\":4,\"chunk\":2"), SHOAL_CIRCUIT_HISTOGRAM,
                4, 0, 2);
    // Without a chunk, the one of the shortest proof over what is encoded: here 3 times 8 elements,
    // 64, and 64 and 2 bits.
    assert_vdaf(TASK_18("\"type\":\"sum-vec\",\"length\":3,\"max\":200"), SHOAL_CIRCUIT_SUM_VEC, 3,
                200, shoal_flp_best_chunk(24));
    assert_vdaf(TASK_18("\"type\":\"histogram\",\"length\":64"), SHOAL_CIRCUIT_HISTOGRAM, 64, 0,
                shoal_flp_best_chunk(64));
    assert_vdaf(TASK_18("\"type\":\"multihot-count-vec\",\"length\":64,\"max_weight\":3"),
                SHOAL_CIRCUIT_MULTIHOT_COUNT_VEC, 64, 3, shoal_flp_best_chunk(66));
}

static void what_the_parties_agree_on_is_read(void **state)
{
    agg_dap_task t;
    (void)state;
    load(&t, "{\"version\":\"dap-18\",\"task_id\":\"" URL_ID "\"," HEAD "," NUMBERS
             ",\"expires\":\"2027-01-31\",\"vdaf\":{" SUM "}}");
    assert_int_equal(t.task.version, SHOAL_DAP_18);
    assert_string_equal(t.info, "steps");
    assert_int_equal(t.task.info_len, 5);
    assert_int_equal(t.task.leader.len, 21);
    assert_memory_equal(t.task.leader.bytes, "https://l.example/dap", 21);
    assert_memory_equal(t.task.helper.bytes, "https://h.example", 17);
    assert_int_equal(t.task.time_precision_s, 3600);
    assert_int_equal(t.task.min_batch_size, 100);
    for (int i = 0; i < 32; i++) assert_int_equal(t.task.id[i], i);
    assert_string_equal(t.id_text, URL_ID);
    // 2027-01-31 is day 20849: 24 hours each, up to the end of the last.
    assert_int_equal(t.expires_day, 20849);
    assert_int_equal(t.task.interval.start, 0);
    assert_int_equal(t.task.interval.duration, 20850 * 24);
    agg_dap_task_release(&t);
    load(&t, TASK_09("\"type\":\"count\""));
    assert_int_equal(t.task.version, SHOAL_DAP_09);
    assert_string_equal(t.id_text, URL_ID);
    assert_int_equal(t.task.interval.duration, 0);
    assert_int_equal(t.expires_day, UINT32_MAX);
    agg_dap_task_release(&t);
}

// Units that do not divide a day: the last one holds the day's last moment.
static void a_task_ends_behind_its_last_day(void **state)
{
    agg_dap_task t;
    (void)state;
    load(&t, "{\"version\":\"dap-18\"," HEAD
             ",\"time_precision_s\":7000,\"min_batch_size\":1,\"expires\":\"1970-01-01\",\"vdaf\":"
             "{\"type\":\"count\"}}");
    assert_int_equal(t.task.interval.duration, 13); // 12 units are 84,000 s of 86,400
    agg_dap_task_release(&t);
}

static void an_id_follows_from_the_configuration(void **state)
{
    // info, leader, helper, time precision, smallest batch, time-interval batches, Prio3Count, no
    // extension
    static const char text[] =
        "shoal dap task\n\5steps\0\25https://l.example/dap\0\21https://h.example"
        "\0\0\0\0\0\0\16\20\0\0\0\0\0\0\0\144\1\0\0\0\0\0\1\0\0\0\0";
    agg_dap_task t, other;
    uint8_t wanted[32];
    shoal_sha256 sha;
    (void)state;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, (const uint8_t *)text, sizeof text - 1);
    shoal_sha256_final(wanted, &sha);
    load(&t, TASK_18("\"type\":\"count\""));
    assert_memory_equal(t.task.id, wanted, 32);
    load(&other, TASK_18(SUM));
    assert_memory_not_equal(other.task.id, wanted, 32);
    agg_dap_task_release(&t);
    agg_dap_task_release(&other);
}

#define RECIPE(aggregation)                                                                        \
    "{\"recipe\":\"colours\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\","              \
    "\"mechanism\":\"grr\","                                                                       \
    "\"parameters\":{\"epsilon\":2,\"size\":8},\"limit\":{\"per_day\":1},\"cohort\":{\"minimum\":" \
    "77},"                                                                                         \
    "\"expires\":\"2027-01-31\"" aggregation "}"
#define DAP                                                                                        \
    ",\"aggregation\":{\"protocol\":\"dap\",\"leader\":\"https://l.example\",\"helper\":\"https:/" \
    "/h.example\"}"

static void a_recipe_is_a_task(void **state)
{
    agg_dap_task t;
    (void)state;
    load(&t, RECIPE(DAP));
    assert_true(t.has_recipe && !t.is_exact);
    assert_memory_equal(t.task.id, t.recipe.recipe->recipe_hash, 32);
    assert_string_equal(t.info, "colours");
    assert_int_equal(t.task.min_batch_size, 77);
    assert_int_equal(t.task.vdaf.circuit, SHOAL_CIRCUIT_HISTOGRAM);
    assert_int_equal(t.task.vdaf.length, 9); // eight values, and "none of them"
    assert_int_equal(t.expires_day, 20849);
    agg_dap_task_release(&t);
}

static void what_is_wrong_is_named(void **state)
{
    static const struct {
        const char *text, *says;
    } files[] = {
        {"{", "is not JSON"},
        {"[]", "test"},
        {RECIPE(""), "aggregation.protocol is not dap"},
        {TASK_18("\"type\":\"count\",\"length\":3"), "vdaf.length is not known"},
        {TASK_18("\"type\":\"mean\""),
         "vdaf.type must be count, sum, sum-vec, histogram or multihot-count-vec"},
        {TASK_18("\"max\":3"), "vdaf.type is missing"},
        {TASK_18("\"type\":\"sum\""), "vdaf.max is missing"},
        {TASK_18("\"type\":\"sum\",\"bits\":3"), "vdaf.max is missing"},
        {TASK_18("\"type\":\"sum\",\"max\":0"),
         "vdaf.max must be a whole number of 1 to 9007199254740991"},
        {TASK_18("\"type\":\"sum\",\"max\":1e300"), "vdaf.max must be a whole number"},
        {TASK_18("\"type\":\"sum\",\"max\":\"3\""), "vdaf.max must be a whole number"},
        {TASK_18("\"type\":\"sum\",\"max\":3,\"max\":3"), "vdaf.max is given twice"},
        {TASK_18("\"type\":\"histogram\",\"length\":0"),
         "vdaf.length must be a whole number of 1 to 1048576"},
        {TASK_18("\"type\":\"histogram\",\"length\":1048577"),
         "vdaf.length must be a whole number of 1 to 1048576"},
        {TASK_18("\"type\":\"histogram\",\"length\":8,\"chunk\":9"),
         "vdaf.chunk must be a whole number of 1 to 8"},
        {TASK_18("\"type\":\"histogram\",\"length\":8,\"chunk\":0"),
         "vdaf.chunk must be a whole number of 1 to 8"},
        {TASK_18("\"type\":\"sum-vec\",\"length\":1048576,\"max\":3"),
         "vdaf.length times the bits of a number"},
        {TASK_18("\"type\":\"multihot-count-vec\",\"length\":8,\"max_weight\":9"),
         "vdaf.max_weight must be a whole number of 1 to 8"},
        {TASK_09("\"type\":\"sum\",\"max\":3"), "vdaf.bits is missing"},
        {TASK_09("\"type\":\"sum\",\"bits\":64"), "vdaf.bits must be a whole number of 1 to 63"},
        {TASK_09("\"type\":\"histogram\",\"length\":8"), "vdaf.chunk is missing"},
        {TASK_09("\"type\":\"multihot-count-vec\",\"length\":8,\"max_weight\":2,\"chunk\":3"),
         "vdaf.type is not one of dap-09"},
        {"{\"version\":\"dap-09\"," HEAD "," NUMBERS ",\"vdaf\":{\"type\":\"count\"}}",
         "task_id is missing"},
        {"{\"version\":\"dap-19\"," HEAD "," NUMBERS ",\"vdaf\":{\"type\":\"count\"}}",
         "version must be dap-18 or dap-09"},
        {"{" HEAD "," NUMBERS ",\"vdaf\":{\"type\":\"count\"}}", "version is missing"},
        {"{\"version\":\"dap-18\",\"task_id\":\"abc\"," HEAD "," NUMBERS
         ",\"vdaf\":{\"type\":\"count\"}}",
         "task_id must be 43 characters"},
        {"{\"version\":\"dap-18\",\"task_id\":\"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9\"," HEAD
         "," NUMBERS ",\"vdaf\":{\"type\":\"count\"}}",
         "task_id must be 43 characters"}, // the last two bits are behind the last byte
        {"{\"version\":\"dap-18\"," HEAD
         ",\"time_precision_s\":0,\"min_batch_size\":1,\"vdaf\":{\"type\":\"count\"}}",
         "time_precision_s must be a whole number of 1 to 31536000"},
        {"{\"version\":\"dap-18\"," HEAD
         ",\"time_precision_s\":1,\"min_batch_size\":0,\"vdaf\":{\"type\":\"count\"}}",
         "min_batch_size must be a whole number of 1 to 1000000000"},
        {"{\"version\":\"dap-18\"," HEAD "," NUMBERS
         ",\"expires\":\"2027-02-30\",\"vdaf\":{\"type\":\"count\"}}",
         "expires must be a day"},
        {"{\"version\":\"dap-18\",\"info\":\"s\",\"leader\":\"http://"
         "l.example\",\"helper\":\"https://"
         "h.example\"," NUMBERS ",\"vdaf\":{\"type\":\"count\"}}",
         "leader "},
        {"{\"version\":\"dap-18\",\"info\":\"s\",\"leader\":\"https://"
         "h.example\",\"helper\":\"https://"
         "h.example\"," NUMBERS ",\"vdaf\":{\"type\":\"count\"}}",
         "helper must be another server than the leader"},
        {"{\"version\":\"dap-18\",\"info\":\"S "
         "p\",\"leader\":\"https://l.example\",\"helper\":\"https://h.example\"," NUMBERS
         ",\"vdaf\":{\"type\":\"count\"}}",
         "info "},
        {"{\"version\":\"dap-18\"," HEAD "," NUMBERS ",\"vdaf\":[]}", "vdaf must be a JSON object"},
        {"{\"version\":\"dap-18\"," HEAD "," NUMBERS ",\"more\":1,\"vdaf\":{\"type\":\"count\"}}",
         "more is not known"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        agg_dap_task t;
        agg_error error = {SHOAL_OK, 0, ""};
        assert_int_not_equal(
            agg_dap_task_from_bytes(&t, &error, "test", files[i].text, strlen(files[i].text)),
            SHOAL_OK);
        if (strstr(error.text, files[i].says) == NULL)
            fail_msg("\"%s\" does not say: %s", error.text, files[i].says);
        assert_int_equal(strncmp(error.text, "test: ", 6), 0);
    }
}

static void a_task_is_printed_with_its_label(void **state)
{
    agg_dap_task t;
    char *text = NULL;
    size_t len = 0;
    (void)state;
    load(&t, "{\"version\":\"dap-18\",\"task_id\":\"" HEX_ID "\"," HEAD "," NUMBERS
             ",\"expires\":\"2027-01-31\",\"vdaf\":{\"type\":\"multihot-count-vec\",\"length\":64,"
             "\"max_weight\":3,"
             "\"chunk\":9}}");
    FILE *stream = open_memstream(&text, &len);
    assert_non_null(stream);
    agg_dap_task_print(stream, &t);
    fclose(stream);
    assert_string_equal(
        text,
        "task                steps " URL_ID " (dap-18)\n"
        "leader              https://l.example/dap\n"
        "helper              https://h.example\n"
        "batches             100 reports at least; times in units of 3600 s; last day 2027-01-31\n"
        "vdaf                Prio3 multihot-count-vec, 64 entries, at most 3 of them set, chunks "
        "of 9\n"
        "privacy             " AGG_DAP_EXACT_LABEL "\n");
    free(text);
    agg_dap_task_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_vdaf_is_read),
        cmocka_unit_test(what_the_parties_agree_on_is_read),
        cmocka_unit_test(a_task_ends_behind_its_last_day),
        cmocka_unit_test(an_id_follows_from_the_configuration),
        cmocka_unit_test(a_recipe_is_a_task),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(a_task_is_printed_with_its_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
