// SPDX-License-Identifier: Apache-2.0
// The files of a new installation, as templates. Each init_*.c file that ends in the name of a kind
// of file holds its texts; init_files.c lists them all.
#ifndef INIT_FILES_H
#define INIT_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "init_answers.h"
#include "init_template.h"

// What differs by what is counted. Texts are templates' values, so they hold no places.
typedef struct init_what_texts {
    const char *title;         // "Which words people type"
    const char *yours;         // what becomes a record: "each word that you finish below"
    const char *taken;         // for the privacy documents: what is taken from an event
    const char *unit;          // what a count is of: "word"
    const char *caveat;        // what to know before relying on it
    const char *const *body;   // of the page, HTML
    const char *const *script; // of the page, JavaScript
} init_what_texts;

extern const init_what_texts init_texts[]; // by init_what

// When a file is written.
typedef enum init_when { INIT_ALWAYS = 0, INIT_WITH_RELAY, INIT_WITH_DICTIONARY } init_when;

typedef struct init_file {
    const char *path; // may name {{id}}
    init_kind kind;
    const char *const *parts;
    init_when when;
    bool is_private;
} init_file;

extern const init_file init_files[]; // ended by a NULL path

// Folders, parents first; ended by a NULL path.
typedef struct init_dir {
    const char *path;
    init_when when;
    bool is_private;
} init_dir;

extern const init_dir init_dirs[];

extern const char *const init_page_html[], *const init_page_css[], *const init_page_js[],
                                                                       *const init_icon_svg[];
extern const char *const init_edge_json[], *const init_aggregator_json[], *const init_relay_json[];
extern const char *const init_compose_yaml[], *const init_caddyfile[];
extern const char *const init_package_json[], *const init_gitignore[];
extern const char *const init_readme[], *const init_readme_relay[], *const init_readme_nothing[];
extern const char *const init_impact[], *const init_record[];

// Returns: the list of words or sites to begin with, one a line; NULL where none is needed.
const char *init_dictionary(init_what what);

#endif
