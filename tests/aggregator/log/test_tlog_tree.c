// SPDX-License-Identifier: Apache-2.0
// The tree of a log: published figures, plain recursion over trees of all sizes, proofs that a
// verifier of RFC 9162 takes, notes and paths as the specifications print them.
#include "agg_test.h"

#include "sha256.h"
#include "tlog_note.h"
#include "tlog_tile.h"
#include "tlog_tree.h"

typedef uint8_t hash[AGG_TLOG_HASH];

// ---- the definition ----

static void node(hash out, const hash left, const hash right)
{
    static const uint8_t one = 1;
    shoal_sha256 sha;
    shoal_sha256_init(&sha);
    shoal_sha256_update(&sha, &one, 1);
    shoal_sha256_update(&sha, left, 32);
    shoal_sha256_update(&sha, right, 32);
    shoal_sha256_final(out, &sha);
}

// MTH of RFC 6962, section 2.1, over leaf hashes, by recursion.
static void definition(hash out, const hash *leaves, uint64_t n)
{
    hash left, right;
    uint64_t k = 1;
    if (n == 1) {
        memcpy(out, leaves[0], 32);
        return;
    }
    while (2 * k < n) k *= 2;
    definition(left, leaves, k);
    definition(right, leaves + k, n - k);
    node(out, left, right);
}

// Verifies an inclusion proof (RFC 9162, section 2.1.3.2).
static bool is_included(const hash leaf, uint64_t index, uint64_t size, hash *proof, size_t n,
                        const hash root)
{
    uint64_t fn = index, sn = size - 1;
    hash r;
    if (index >= size) return false;
    memcpy(r, leaf, 32);
    for (size_t i = 0; i < n; i++) {
        if (sn == 0) return false;
        if (fn % 2 == 1 || fn == sn) {
            node(r, proof[i], r);
            while (fn % 2 == 0 && fn != 0) fn /= 2, sn /= 2;
        } else {
            node(r, r, proof[i]);
        }
        fn /= 2, sn /= 2;
    }
    return sn == 0 && memcmp(r, root, 32) == 0;
}

// Verifies a consistency proof (RFC 9162, section 2.1.4.2).
static bool is_consistent(uint64_t first, uint64_t second, hash *proof, size_t n,
                          const hash first_root, const hash second_root)
{
    uint64_t fn = first - 1, sn = second - 1;
    size_t at = 0;
    hash fr, sr;
    bool is_power = (first & (first - 1)) == 0;
    memcpy(fr, is_power ? first_root : proof[at++], 32);
    memcpy(sr, fr, 32);
    while (fn % 2 == 1) fn /= 2, sn /= 2;
    for (; at < n; at++) {
        if (sn == 0) return false;
        if (fn % 2 == 1 || fn == sn) {
            node(fr, proof[at], fr);
            node(sr, proof[at], sr);
            while (fn % 2 == 0 && fn != 0) fn /= 2, sn /= 2;
        } else {
            node(sr, sr, proof[at]);
        }
        fn /= 2, sn /= 2;
    }
    return sn == 0 && memcmp(fr, first_root, 32) == 0 && memcmp(sr, second_root, 32) == 0;
}

static void from_hex(hash out, const char *hex)
{
    assert_true(agg_unhex(out, 32, hex));
}

static void append(agg_tlog_tree *tree, const void *entry, size_t len)
{
    hash leaf;
    agg_error error;
    agg_tlog_leaf(leaf, entry, len);
    assert_ok(agg_tlog_tree_append(tree, &error, leaf));
}

// ---- published figures, as in certificate-transparency's merkletree tests ----

#define H1 "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"
#define H2 "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e"
#define H3 "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4"
#define H4 "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b"
#define H5 "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0"
#define H6 "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"
#define H7 "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"
#define H8 "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
#define H9 "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a"

static const struct {
    const char *bytes;
    size_t len;
    const char *root; // of the entries up to this one
} published[] = {
    {"", 0, H8},
    {"\x00", 1, H7},
    {"\x10", 1, "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"},
    {"\x20\x21", 2, H6},
    {"\x30\x31", 2, "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4"},
    {"\x40\x41\x42\x43", 4, "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef"},
    {"\x50\x51\x52\x53\x54\x55\x56\x57", 8,
     "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c"},
    {"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f", 16,
     "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"},
};

static const struct {
    uint64_t index, size;
    size_t n;
    const char *proof[3];
} inclusions[] = {{0, 1, 0, {NULL}},
                  {0, 8, 3, {H1, H2, H3}},
                  {5, 8, 3, {H4, H5, H6}},
                  {2, 3, 1, {H7}},
                  {1, 5, 3, {H8, H2, H4}}};

static const struct {
    uint64_t before, size;
    size_t n;
    const char *proof[3];
} consistencies[] = {
    {1, 1, 0, {NULL}}, {1, 8, 3, {H1, H2, H3}}, {6, 8, 3, {H9, H5, H6}}, {2, 5, 2, {H2, H4}}};

static void published_trees(agg_tlog_tree *tree)
{
    hash root, want;
    agg_tlog_tree_root(root, tree, 0);
    from_hex(want, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_memory_equal(root, want, 32);
    for (size_t i = 0; i < 8; i++) {
        append(tree, published[i].bytes, published[i].len);
        agg_tlog_tree_root(root, tree, i + 1);
        from_hex(want, published[i].root);
        assert_memory_equal(root, want, 32);
    }
}

static void published_figures(void **state)
{
    agg_tlog_tree tree = {.n = {0}};
    hash proof[AGG_TLOG_PROOF_MAX], want, first, second;
    (void)state;
    published_trees(&tree);
    for (size_t i = 0; i < sizeof inclusions / sizeof inclusions[0]; i++) {
        size_t n = agg_tlog_tree_inclusion(proof, &tree, inclusions[i].index, inclusions[i].size);
        assert_int_equal(n, inclusions[i].n);
        for (size_t j = 0; j < n; j++) {
            from_hex(want, inclusions[i].proof[j]);
            assert_memory_equal(proof[j], want, 32);
        }
    }
    // The published proofs of consistency hold between the roots that we make, and with one bit
    // changed they do not.
    for (size_t i = 0; i < sizeof consistencies / sizeof consistencies[0]; i++) {
        for (size_t j = 0; j < consistencies[i].n; j++)
            from_hex(proof[j], consistencies[i].proof[j]);
        uint64_t before = consistencies[i].before, size = consistencies[i].size;
        agg_tlog_tree_root(first, &tree, before);
        agg_tlog_tree_root(second, &tree, size);
        assert_true(is_consistent(before, size, proof, consistencies[i].n, first, second));
        first[7] ^= 1;
        assert_false(is_consistent(before, size, proof, consistencies[i].n, first, second));
    }
    agg_tlog_tree_release(&tree);
}

// ---- all sizes ----

// Checks every root below `size` against the definition, and proofs of some entries.
static void check_sizes(const hash *leaves, const agg_tlog_tree *tree, uint64_t from, uint64_t to)
{
    hash root, want, proof[AGG_TLOG_PROOF_MAX];
    for (uint64_t size = from; size <= to; size++) {
        agg_tlog_tree_root(root, tree, size);
        definition(want, leaves, size);
        assert_memory_equal(root, want, 32);
        for (uint64_t i = 0; i < size; i += 1 + size / 7) {
            size_t n = agg_tlog_tree_inclusion(proof, tree, i, size);
            assert_true(is_included(leaves[i], i, size, proof, n, root));
            assert_false(is_included(leaves[i], i + 1, size, proof, n, root));
        }
    }
}

static void all_sizes(void **state)
{
    const uint64_t most = effort_is_long() ? 65793 : 600;
    hash *leaves = calloc((size_t)most, sizeof *leaves);
    agg_tlog_tree tree = {.n = {0}};
    (void)state;
    assert_non_null(leaves);
    for (uint64_t i = 0; i < most; i++) {
        agg_tlog_leaf(leaves[i], (const uint8_t *)&i, sizeof i);
        append(&tree, &i, sizeof i);
        assert_int_equal(tree.n[1], (i + 1) / 256);
        assert_int_equal(tree.n[2], (i + 1) / 65536);
    }
    check_sizes((const hash *)leaves, &tree, 1, 600);
    if (most > 600) check_sizes((const hash *)leaves, &tree, 65534, 65538);
    agg_tlog_tree_release(&tree);
    free(leaves);
}

// ---- notes and paths ----

static void paths(void **state)
{
    char path[AGG_TLOG_PATH_MAX];
    (void)state;
    agg_tlog_tile_path(path, 0, 0, 256);
    assert_string_equal(path, "tile/0/000");
    agg_tlog_tile_path(path, 2, 1234067, 256);
    assert_string_equal(path, "tile/2/x001/x234/067");
    agg_tlog_tile_path(path, AGG_TLOG_ENTRIES, 1000, 255);
    assert_string_equal(path, "tile/entries/x001/000.p/255");
    agg_tlog_tile_path(path, 1, 999, 1);
    assert_string_equal(path, "tile/1/999.p/1");
}

// The note of Go's golang.org/x/mod/sumdb/note, whose key and signature are published.
static void published_note(void **state)
{
    static const char verifier[] =
        "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
    static const char note[] =
        "If you think cryptography is the answer to your problem,\n"
        "then you don't know what your problem is.\n"
        "\n"
        "\xe2\x80\x94 PeterNeumann "
        "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBw"
        "JnAM=\n";
    char changed[sizeof note], printed[AGG_TLOG_VERIFIER_MAX];
    agg_error error;
    agg_tlog_key key;
    (void)state;
    assert_ok(agg_tlog_key_read(&key, &error, verifier));
    agg_tlog_key_print(printed, &key);
    assert_string_equal(printed, verifier);
    assert_ok(agg_tlog_note_verify(&error, &key, note, sizeof note - 1));
    memcpy(changed, note, sizeof note);
    changed[3] ^= 1;
    assert_err(agg_tlog_note_verify(&error, &key, changed, sizeof note - 1), AGG_ERR_SIGNATURE);
    assert_int_equal(error.exit_code, AGG_EXIT_PRIVACY);
}

static void verifier_keys(void **state)
{
    static const char *const bad[] = {
        "",
        "PeterNeumann",
        "PeterNeumann+c74f20a3",
        "PeterNeumann+c74f20a4+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "peterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "PeterNeumann+c74f20a3+BRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "PeterNeumann+C74F20A3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "Peter Neumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10T=",
    };
    agg_tlog_key key;
    agg_error error;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_err(agg_tlog_key_read(&key, &error, bad[i]), AGG_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_figures),
        cmocka_unit_test(all_sizes),
        cmocka_unit_test(paths),
        cmocka_unit_test(published_note),
        cmocka_unit_test(verifier_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
