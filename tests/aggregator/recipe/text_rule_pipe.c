// SPDX-License-Identifier: Apache-2.0
// The text rule for another program (text_rule.test.mjs): one text a line on standard input, one
// answer a line on standard output, both as hex digits of UTF-8.
//
//     text_rule_pipe RECIPE      by the rule of that recipe, a file
//     text_rule_pipe assigned    the ranges of assigned characters, as "FIRST LAST" in hex
//
// A text that the rule refuses is answered with "-".
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "recipe_json.h"
#include "text_case.h"
#include "text_rule.h"

#define LINE_MAX_LEN ((size_t)1 << 16)

static void print_assigned(void)
{
    int32_t first = -1;
    for (int32_t point = 0; point <= 0x110000; point++) {
        int is_there = point < 0x110000 && utf8proc_category(point) != UTF8PROC_CATEGORY_CN &&
                       utf8proc_category(point) != UTF8PROC_CATEGORY_CS;
        if (is_there && first < 0) first = point;
        if (is_there || first < 0) continue;
        printf("%x %x\n", (unsigned)first, (unsigned)(point - 1));
        first = -1;
    }
}

static void answer(const shoal_recipe *recipe, const uint8_t *bytes, size_t len)
{
    char out[AGG_RULED_TEXT_MAX], hex[2 * AGG_RULED_TEXT_MAX + 1];
    size_t n = 0;
    if (!agg_text_apply(out, &n, recipe, (agg_text){(const char *)bytes, len})) {
        puts("-");
        return;
    }
    // What the rule gives is what it keeps.
    if (agg_text_rule_is_applied(recipe) && !agg_text_is_kept(recipe, out, n)) {
        puts("not kept");
        return;
    }
    agg_hex(hex, (const uint8_t *)out, n);
    puts(hex);
}

int main(int argc, char **argv)
{
    static char line[LINE_MAX_LEN];
    static uint8_t bytes[LINE_MAX_LEN / 2];
    agg_recipe recipe;
    agg_error error;
    if (argc == 2 && strcmp(argv[1], "assigned") == 0) {
        print_assigned();
        return 0;
    }
    if (argc != 2 || agg_recipe_from_file(&recipe, &error, argv[1]) != SHOAL_OK) return 2;
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        size_t len = strlen(line) / 2;
        if (!agg_unhex(bytes, len, line)) return 2;
        answer(recipe.recipe, bytes, len);
    }
    agg_recipe_release(&recipe);
    return 0;
}
