// SPDX-License-Identifier: Apache-2.0
// The picture of a trie's starts as they grew into words: a table with a column for each round, in
// which words that begin alike share the cells of their starts. It is text, so that it can be read
// aloud, searched and copied. See static_story.h.
#include <math.h>
#include <string.h>

#include "page_text.h"
#include "recipe.h"
#include "static_story.h"

#define SHADES 5

// What a leaf has in a column.
typedef struct piece {
    size_t size;  // bytes of the leaf's text; 0: nothing, the leaf has ended before
    size_t from;  // bytes that the columns before have
    bool is_word; // it ends here
    double share; // of the round's reports; below 0 where it is not known
} piece;

static piece piece_of(const agg_static_story *story, size_t i, size_t column)
{
    const agg_story_leaf *leaf = &story->leaves[i];
    const agg_story_round *round = &story->rounds[column];
    const shoal_encoded *field = &round->recipe->recipe->encoding.fields[0];
    const agg_text text = {leaf->text, leaf->len};
    size_t from = agg_characters_size(text, field->depth),
           size = agg_characters_size(text, field->depth + (field->step > 0 ? field->step : 1));
    if (from == SIZE_MAX || (leaf->is_open && size == SIZE_MAX)) return (piece){0};
    double share = leaf->counts[column] < 0 ? -1 : leaf->counts[column] / (double)round->n;
    bool is_word = size == SIZE_MAX;
    return (piece){is_word ? leaf->len : size, from, is_word, share};
}

// Returns: whether two leaves share the cell of a column.
static bool is_shared(const agg_static_story *story, size_t i, size_t j, size_t column)
{
    piece a = piece_of(story, i, column), b = piece_of(story, j, column);
    return a.size > 0 && !a.is_word && !b.is_word && a.size == b.size &&
           memcmp(story->leaves[i].text, story->leaves[j].text, a.size) == 0;
}

static double largest_share(const agg_static_story *story)
{
    double largest = 0;
    for (size_t i = 0; i < story->n_leaves; i++)
        for (size_t k = 0; k < story->n_columns; k++)
            largest = fmax(largest, piece_of(story, i, k).share);
    return largest;
}

static int shade_of(double share, double largest)
{
    if (share <= 0 || largest <= 0) return 0;
    return (int)fmin(SHADES, ceil(SHADES * sqrt(share / largest)));
}

static void put_text(FILE *out, const agg_story_leaf *leaf, const piece *p, bool is_open)
{
    fputs("<span>", out);
    agg_page_text(out, leaf->text, p->from);
    fputs("</span><b>", out);
    agg_page_text(out, leaf->text + p->from, p->size - p->from);
    fputs("</b>", out);
    if (!p->is_word) fputs("\xe2\x80\xa6", out);
    fputs("<small>", out);
    if (p->share >= 0) fprintf(out, "%.2g\xe2\x80\xaf%%", 100 * p->share);
    if (p->is_word) fputs(p->share >= 0 ? ", word" : "word", out);
    if (is_open) fputs(p->share >= 0 ? ", open" : "open", out);
    fputs("</small>", out);
}

static void put_cell(FILE *out, const agg_static_story *story, size_t i, size_t column,
                     double largest)
{
    const agg_story_leaf *leaf = &story->leaves[i];
    piece p = piece_of(story, i, column);
    size_t n_shared = 1;
    while (i + n_shared < story->n_leaves && is_shared(story, i, i + n_shared, column)) n_shared++;
    fprintf(out, "<td class=\"s%d%s\"", shade_of(p.share, largest), p.is_word ? " end" : "");
    if (n_shared > 1) fprintf(out, " rowspan=\"%zu\"", n_shared);
    fputs(" title=\"", out);
    agg_page_text(out, leaf->text, p.size);
    fputs("\">", out);
    put_text(out, leaf, &p, leaf->is_open && p.size == leaf->len);
    fputs("</td>", out);
}

static void put_leaf(FILE *out, const agg_static_story *story, size_t i, double largest)
{
    fputs("<tr>", out);
    for (size_t k = 0; k < story->n_columns; k++) {
        if (piece_of(story, i, k).size == 0) {
            fprintf(out, "<td class=\"rest\" colspan=\"%zu\"></td>", story->n_columns - k);
            break;
        }
        if (i == 0 || !is_shared(story, i - 1, i, k)) put_cell(out, story, i, k, largest);
    }
    fputs("</tr>\n", out);
}

void agg_story_tree_write(FILE *out, const agg_static_report *r, const agg_static_story *story)
{
    if (story->n_leaves == 0 || story->n_columns == 0) return;
    double largest = largest_share(story);
    fputs("<div class=\"grown\" tabindex=\"0\" role=\"region\" aria-label=\"How words grew", out);
    agg_page_of(out, r->among);
    fputs("\"><table class=\"tree\"><caption>How the largest words grew, with the share of each "
          "round\xe2\x80\x99s reports</caption><thead><tr>",
          out);
    for (size_t k = 0; k < story->n_columns; k++) {
        uint32_t index = story->rounds[k].recipe->recipe->round_index;
        fprintf(out, "<th scope=\"col\">Round %u</th>", index > 0 ? index : 1);
    }
    fputs("</tr></thead><tbody>\n", out);
    for (size_t i = 0; i < story->n_leaves; i++) put_leaf(out, story, i, largest);
    fputs("</tbody></table></div>\n", out);
    if (story->n_columns < story->n)
        fputs("<p class=\"note\">Later rounds are not in the picture.</p>\n", out);
}
