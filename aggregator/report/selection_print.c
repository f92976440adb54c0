// SPDX-License-Identifier: Apache-2.0
// Prints selections; see selection_print.h.
#include "selection_print.h"

#include "print_text.h"

void agg_selection_print_json(FILE *stream, const agg_selection *selection)
{
    fprintf(stream,
            "\"selection\":{\"selected\":%zu,\"of\":%zu,\"confidence\":", selection->n_selected,
            selection->n_all);
    agg_print_number(stream, selection->confidence);
    fputs("},", stream);
}

void agg_selection_print(FILE *stream, const agg_selection *selection, double confidence)
{
    char note[AGG_SELECTION_NOTE_MAX];
    if (agg_selection_note(note, selection, confidence)) fprintf(stream, "\n%s\n", note);
}
