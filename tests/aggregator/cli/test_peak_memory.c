// SPDX-License-Identifier: Apache-2.0
// What commands say they take of memory, against what the kernel says they took: runs the command
// that is named on the command line over small collections of each kind and compares.
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bytes.h"
#include "check.h"
#include "checksum.h"

#define ARGUMENTS_MAX 24

extern char **environ;

static const char *shoal;

// Runs shoal with standard error to the file `err`. Returns: its peak in KiB; 0, after a complaint,
// when it failed.
static long run(const char *line)
{
    char words[1024], *argv[ARGUMENTS_MAX] = {"shoal"};
    int n = 1, status = 0;
    pid_t child;
    posix_spawn_file_actions_t actions;
    struct rusage usage;
    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok(words, " "); word != NULL && n < ARGUMENTS_MAX - 1;
         word = strtok(NULL, " "))
        argv[n++] = word;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "out", 0x241,
                                     0600); // write, create, truncate
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "err", 0x241, 0600);
    int failed = posix_spawn(&child, shoal, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
        printf("shoal %s: failed or refused\n", line);
        return 0;
    }
    return usage.ru_maxrss;
}

// Returns: the MiB that the last command said it takes; 0 where it said nothing.
static long stated(void)
{
    char line[256];
    unsigned long mib = 0;
    FILE *err = fopen("err", "r");
    if (err == NULL) return 0;
    while (fgets(line, sizeof line, err) != NULL) {
        const char *at = strstr(line, "takes up to ");
        if (at != NULL) mib = strtoul(at + strlen("takes up to "), NULL, 10);
    }
    fclose(err);
    return (long)mib;
}

// The kernel's peak is at most 1.2 times what was said, and what was said no more than twice the
// peak: a bound that is never reached would say nothing.
static void check_peak(const char *line)
{
    long peak_kib = run(line), mib = stated();
    printf("%ld KiB of %ld MiB: shoal %s\n", peak_kib, mib, line);
    CHECK(peak_kib > 0 && mib > 0);
    CHECK((double)peak_kib <= 1.2 * 1024 * (double)mib);
    CHECK(1024 * (double)mib <= 2 * (double)peak_kib);
}

static void write_recipe(const char *mechanism, const char *parameters, const char *hash)
{
    FILE *recipe = fopen("recipe", "w");
    if (recipe == NULL) abort();
    fprintf(recipe,
            "{\"recipe\":\"peak\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\","
            "\"mechanism\":\"%s\","
            "\"parameters\":{%s},%s\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\"}",
            mechanism, parameters, hash);
    fclose(recipe);
}

// Words or indices, with a count each; the dictionary is the same file.
static void write_counts(const char *prefix, unsigned n)
{
    FILE *counts = fopen("counts", "w");
    if (counts == NULL) abort();
    for (unsigned i = 0; i < n; i++) fprintf(counts, "%s%u\t%u\n", prefix, i, 1 + n / (i + 1));
    fclose(counts);
}

static void collect(void)
{
    unlink("acc");
    CHECK(run("simulate --recipe recipe --counts counts --devices 2000 --seed 1 -o batch") > 0);
    CHECK(run("ingest --recipe recipe -o acc batch") > 0);
}

#define SEED "\"seed\":\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\","

static void estimates(void)
{
    write_counts("word", 20000);
    write_recipe("cms", "\"epsilon\":4,\"k\":16384,\"m\":1024", "\"hash\":\"poly1\"," SEED);
    collect();
    check_peak("estimate --recipe recipe --dictionary counts --memory 1G --threads 1 acc");
    check_peak("estimate --recipe recipe --dictionary counts --memory 1G --threads 2 acc");

    write_recipe("rappor",
                 "\"bits\":128,\"hashes\":2,\"cohorts\":64,\"p\":0.25,\"q\":0.75,\"f\":0.5",
                 "\"hash\":\"poly1\"," SEED);
    collect();
    check_peak("estimate --recipe recipe --dictionary counts --memory 1G acc");

    // Few words, so that testing for alarms takes more than the rows: a count each of 2^22 hash
    // rows, and a block of 2^22 columns.
    write_counts("word", 100);
    write_recipe("olh", "\"epsilon\":4,\"k\":4194304,\"g\":2", "\"hash\":\"poly1\"," SEED);
    collect();
    check_peak("estimate --recipe recipe --dictionary counts --memory 1G --threads 1 acc");
    write_counts("", 100);
    write_recipe("hadamard", "\"epsilon\":0.5,\"size\":4194304", "");
    collect();
    check_peak("estimate --recipe recipe --dictionary counts --memory 1G --threads 1 acc");

    write_counts("", 1 << 18);
    write_recipe("hcms", "\"epsilon\":4,\"k\":128,\"m\":16384,\"size\":262144",
                 "\"hash\":\"affine1\"," SEED);
    collect();
    check_peak("estimate --recipe recipe --memory 1G --top 10 --threads 2 acc");
    check_peak("estimate --recipe recipe --memory 1G --post norm-sub --format csv --threads 2 acc");

    unlink("sum");
    CHECK(run("simulate --recipe recipe --counts counts --devices 2000 --seed 2 -o batch") > 0);
    CHECK(run("ingest --recipe recipe -o sum batch") > 0);
    check_peak("compare --recipe recipe --memory 1G --top 10 --threads 2 acc sum");
}

// Batches into a sketch of 64 MiB: with the buffer that goes with it, with less, by threads; and
// one that scatters its records.
static void ingests(void)
{
    write_counts("word", 1000);
    write_recipe("cms", "\"epsilon\":4,\"k\":16384,\"m\":1024", "\"hash\":\"poly1\"," SEED);
    unlink("acc");
    CHECK(run("simulate --recipe recipe --counts counts --devices 200000 --seed 1 -o batch") > 0);
    check_peak("ingest --recipe recipe -o acc --memory 1G --threads 1 batch");
    unlink("acc");
    check_peak("ingest --recipe recipe -o acc --threads 2 batch");
    unlink("acc");
    check_peak("ingest --recipe recipe -o acc --memory 94M --threads 2 batch");
    CHECK(run("simulate --recipe recipe --counts counts --devices 200000 --seed 2 -o batch") > 0);
    check_peak("ingest --recipe recipe -o acc --append --memory 94M --threads 2 batch");
    unlink("sum");
    CHECK(run("simulate --recipe recipe --counts counts --devices 200000 --seed 3 -o batch") > 0);
    CHECK(run("ingest --recipe recipe -o sum batch") > 0);
    check_peak("merge --memory 1G -o sum acc sum");
    CHECK(run("merge --memory 100M -o sum acc sum") == 0);
    unlink("acc");
    CHECK(run("ingest --recipe recipe -o acc --memory 64M batch") == 0);
    CHECK(access("acc", F_OK) != 0);

    write_recipe("cms", "\"epsilon\":4,\"k\":4096,\"m\":1024",
                 "\"hash\":\"poly1\"," SEED); // planes
    CHECK(run("simulate --recipe recipe --counts counts --devices 200000 --seed 1 -o batch") > 0);
    check_peak("ingest --recipe recipe -o acc --memory 1G --threads 2 batch");
    unlink("acc");

    CHECK(run("simulate --recipe recipe --counts counts --devices 100000 --seed 1 --format ndjson "
              "-o batch") > 0);
    check_peak("ingest --recipe recipe -o acc --memory 1G --threads 1 batch");
    unlink("acc");
    check_peak("ingest --recipe recipe -o acc --memory 1G --threads 2 batch");
    unlink("acc");

    write_recipe("hcms", "\"epsilon\":4,\"k\":1024,\"m\":16384", "\"hash\":\"poly1\"," SEED);
    CHECK(run("simulate --recipe recipe --counts counts --devices 1000000 --seed 1 -o batch") > 0);
    check_peak("ingest --recipe recipe -o acc --memory 1G --threads 2 batch");
}

// Writes n batches of one record, which differ in their ids only.
static void write_batches(const char *path, uint32_t first, uint32_t n)
{
    uint8_t bytes[256];
    FILE *one = fopen("batch", "rb"), *many = fopen(path, "wb");
    if (one == NULL || many == NULL) abort();
    size_t len = fread(bytes, 1, sizeof bytes, one);
    for (uint32_t i = 0; i < n; i++) {
        store32_be(bytes + 56, (first + i) * 2654435761u);
        store64_le(bytes + len - 8, shoal_checksum_of(bytes, len - 8));
        if (fwrite(bytes, 1, len, many) != len) abort();
    }
    fclose(one);
    fclose(many);
}

// Claims take more than the sums of a small sketch.
static void claims(void)
{
    write_counts("word", 10);
    write_recipe("cms", "\"epsilon\":4,\"k\":16,\"m\":64", "\"hash\":\"poly1\"," SEED);
    CHECK(run("simulate --recipe recipe --counts counts --devices 1 --seed 1 --format batch-1 "
              "-o batch") > 0); // whose id is not its hash
    write_batches("many", 0, 500000);
    write_batches("others", 500000, 500000);
    unlink("acc");
    unlink("sum");
    check_peak("ingest --recipe recipe -o acc --memory 1G --threads 1 many");
    check_peak("ingest --recipe recipe -o sum --memory 1G --threads 1 others");
    check_peak("merge --memory 1G -o both acc sum");
    check_peak("ingest --recipe recipe -o acc --append --memory 1G --threads 1 others");
    write_batches("many", 1000000, 100000);
    CHECK(run("ingest --recipe recipe -o acc --append many") == 0); // more than a list holds
    unlink("acc");
    unlink("many");
    unlink("others");
    unlink("both");
}

// All fragments of every position, a copy for each thread.
static void discovers(void)
{
    write_counts("word", 100);
    write_recipe("sfp",
                 "\"epsilon\":2,\"epsilon_fragment\":6,\"k\":64,\"m\":1024,\"k_fragment\":1024,\"m_"
                 "fragment\":64,"
                 "\"length\":4",
                 "\"hash\":\"poly1\"," SEED);
    collect();
    check_peak("discover --recipe recipe --memory 1G --threads 1 acc");
    check_peak("discover --recipe recipe --memory 1G --threads 2 acc");
    CHECK(run("discover --recipe recipe --memory 100M --threads 1 acc") == 0);
}

// A round of a recipe whose one field is told by `field`. Its devices hold `counts`.
static void write_round(const char *mechanism, const char *parameters, void (*field)(FILE *),
                        const char *counts)
{
    FILE *recipe = fopen("recipe", "w"), *held = fopen("counts", "w");
    if (recipe == NULL || held == NULL) abort();
    fprintf(
        recipe,
        "{\"recipe\":\"peak-1\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"fields\","
        "\"mechanism\":\"%s\","
        "\"parameters\":{%s},\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\",\"encoding\":[",
        mechanism, parameters);
    field(recipe);
    fputs("]}", recipe);
    fputs(counts, held);
    fclose(recipe);
    fclose(held);
    unlink("acc");
    CHECK(run("simulate --recipe recipe --counts counts --devices 3000 --seed 1 -o batch") > 0);
    CHECK(run("ingest --recipe recipe -o acc batch") > 0);
}

// 1,000 tokens behind 1,000 prefixes: a million cells.
static void many_tokens(FILE *recipe)
{
    static const char *const names[] = {"prefixes", "tokens"};
    fputs("{\"field\":\"f\"", recipe);
    for (int list = 0; list < 2; list++) {
        fprintf(recipe, ",\"%s\":[", names[list]);
        for (int i = 0; i < 1000; i++) fprintf(recipe, "%s\"t%03d\"", i > 0 ? "," : "", i);
        fputc(']', recipe);
    }
    fputc('}', recipe);
}

// Four characters behind each of 16 starts: seven million cells.
static void many_starts(FILE *recipe)
{
    fputs(
        "{\"field\":\"word\",\"step\":4,\"characters\":\"abcdefghijklmnopqrstuvwxyz\",\"starts\":[",
        recipe);
    for (int i = 0; i < 16; i++) fprintf(recipe, "%s\"%c\"", i > 0 ? "," : "", 'a' + i);
    fputs("]}", recipe);
}

static void rounds(void)
{
    write_round("hadamard", "\"epsilon\":8", many_tokens,
                "{\"f\":\"t001 t002\"}\t9\n{\"f\":\"t003 t004\"}\t1\n");
    check_peak("round next --recipe recipe --memory 1G --threads 2 -o next acc");
    CHECK(run("round next --recipe recipe --memory 60M -o none acc") == 0);
    CHECK(access("none", F_OK) != 0);
    write_round("trie",
                "\"epsilon\":12,\"contributions\":1,\"sampler\":\"random\",\"depth\":10,\"max_"
                "prefixes\":10000",
                many_starts, "abcdefgh\t5\nbacked\t1\n");
    check_peak("discover --recipe recipe --memory 1G --threads 2 acc");
    CHECK(run("discover --recipe recipe --memory 60M acc") == 0);
    check_peak("round next --recipe recipe --memory 1G --threads 2 -o next acc");
    unlink("next");
}

// A file of many values, and batches of large records.
static void simulations(void)
{
    write_counts("word", 1 << 20);
    write_recipe("cms", "\"epsilon\":4,\"k\":1024,\"m\":1024", "\"hash\":\"poly1\"," SEED);
    check_peak(
        "simulate --recipe recipe --counts counts --devices 1000 --seed 1 --memory 1G -o batch");
    check_peak(
        "simulate --recipe recipe --counts counts --devices 70000 --seed 1 -o batch --truth sum");
    CHECK(run("simulate --recipe recipe --counts counts --devices 1000 --seed 1 --memory 60M -o "
              "none") == 0);
    CHECK(access("none", F_OK) != 0);
}

// What has no --memory and may take much: texts that an audit learns from, counts that a plan is
// made for.
static void others(void)
{
    write_recipe("onehot-symmetric", "\"epsilon\":4,\"size\":16384", "");
    check_peak("audit --recipe recipe --trials 12000 --threads 2");
    write_counts("word", 1 << 20);
    check_peak("plan --devices 1000000 --counts counts --epsilon 4");

    FILE *recipe = fopen("recipe", "w"); // as large as a recipe may be
    if (recipe == NULL) abort();
    fputs("{\"recipe\":\"peak\",\"analysis\":\"a\",\"stream\":\"s\",\"value\":\"item\","
          "\"mechanism\":\"grr\","
          "\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\",\"parameters\":{\"epsilon\":4,"
          "\"values\":[\"x\"",
          recipe);
    for (int i = 0; i < 130000; i++) fprintf(recipe, ",\"%x\"", i);
    fputs("]}}", recipe);
    fclose(recipe);
    long kib = run("recipe check recipe");
    CHECK(kib > 0 && kib < 1024 * 64);
}

// All of a collection in one process: with few values, and with many.
static void demos(void)
{
    check_peak("demo --devices 1000000 --memory 1G --threads 1");
    write_counts("word", 1 << 18);
    check_peak("demo --counts counts --devices 50000 --memory 1G --threads 2");
    CHECK(run("demo --memory 12M") == 0);
}

// Two variables, whose records are kept: few that differ in what they say of the categories, and
// many.
static void write_joint(const char *first, const char *second, const char *simulate)
{
    FILE *recipe = fopen("recipe", "w"), *counts = fopen("counts", "w");
    if (recipe == NULL || counts == NULL) abort();
    fprintf(recipe,
            "{\"recipe\":\"peak\",\"analysis\":\"a\",\"stream\":\"s\",\"variables\":[{\"name\":"
            "\"x\",%s},"
            "{\"name\":\"y\",%s}],\"limit\":{\"per_day\":1},\"expires\":\"2030-01-01\"}",
            first, second);
    for (int i = 0; i < 20; i++) fprintf(counts, "%d\t%d\t%d\n", i % 10, i / 10, 1 + 100 / (1 + i));
    fclose(recipe);
    fclose(counts);
    unlink("acc");
    CHECK(run(simulate) > 0);
    CHECK(run("ingest --recipe recipe -o acc batch") > 0);
}

#define RAPPOR(seed)                                                                               \
    "\"value\":\"item\",\"mechanism\":\"rappor\",\"parameters\":{\"bits\":32,\"hashes\":2,"        \
    "\"cohorts\":8,\"p\":0.25,"                                                                    \
    "\"q\":0.75,\"f\":0},\"hash\":\"poly1\",\"seed\":\"" seed                                      \
    "112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\""
#define GRR "\"value\":\"item\",\"mechanism\":\"grr\",\"parameters\":{\"epsilon\":2,\"size\":2}"

static void joints(void)
{
    write_joint(RAPPOR("00"), RAPPOR("01"),
                "simulate --recipe recipe --counts counts --devices 600000 --seed 1 -o batch");
    write_counts("", 4);
    check_peak("joint --recipe recipe --memory 1G --categories x=counts --categories y=counts acc");
    CHECK(
        run("joint --recipe recipe --memory 30M --categories x=counts --categories y=counts acc") ==
        0);
    write_joint(RAPPOR("00"), GRR,
                "simulate --recipe recipe --counts counts --devices 60000 --seed 1 -o batch");
    write_counts("", 20);
    check_peak("joint --recipe recipe --memory 1G --categories x=counts --top 20 acc");
    CHECK(run("joint --recipe recipe --memory 9M --done acc") == 0);
    check_peak("joint --recipe recipe --memory 1G --done acc");
}

// Devices that live through epochs: all of them lie in memory.
static void runs(void)
{
    unlink("recipe");
    FILE *counts = fopen("counts", "w");
    if (counts == NULL) abort();
    fputs("1\t0\t1\n1\t1\t1\n2\t1\t9\n", counts);
    fclose(counts);
    CHECK(run("recipe new --id t --mechanism thresh --epsilon 16 --epochs 12 --samples 1000 "
              "--users 200000 --groups 1 "
              "--expires 2099-12-31 -o recipe") > 0);
    check_peak("simulate --recipe recipe --counts counts --seed 1 --epochs 1 --memory 1G -o run");
    CHECK(run("track --memory 2M run") == 0);
    for (int i = 0; i < 3; i++)
        unlink((const char *[]){"run/0001.recipe.json", "run/0001.acc", "run/simulation.json"}[i]);
    rmdir("run");
}

// Nothing is read where the limit is less.
static void refusal(void)
{
    CHECK(run("estimate --recipe recipe --memory 1G acc") > 0);
    CHECK(run("estimate --recipe recipe --memory 30M acc") == 0);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/shoal-peak-XXXXXX";
    if (argc != 2) return 2;
    shoal = argv[1];
    if (mkdtemp(folder) == NULL || chdir(folder) != 0) return 2;
    ingests();
    claims();
    estimates();
    refusal();
    discovers();
    rounds();
    simulations();
    others();
    demos();
    joints();
    runs();
    for (int i = 0; i < 7; i++)
        unlink((const char *[]){"recipe", "counts", "batch", "acc", "sum", "out", "err"}[i]);
    if (chdir("/") == 0) rmdir(folder);
    return check_summary();
}
