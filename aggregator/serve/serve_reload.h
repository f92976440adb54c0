// SPDX-License-Identifier: Apache-2.0
// Reloading the configuration of a running server: on SIGHUP, and, if asked for, when the files
// that it names change.
//
// A reload loads everything anew, beside the set in force, and puts it in force whole. Where
// anything is wrong the set in force stays, and one line in the log says what is wrong and where.
#ifndef SERVE_RELOAD_H
#define SERVE_RELOAD_H

#include "serve_set.h"

// Reloads once, and logs how it went.
//   path: the configuration file
//   limit: bytes for data, 0: no limit
void serve_reload(serve_sets *sets, agg_store *store, const char *path, uint64_t limit);

// The files of a configuration, as they looked when they were last looked at.
typedef struct serve_watch serve_watch;

// Begins to watch the configuration file and every file that the set in force names.
agg_err serve_watch_open(serve_watch **watch, agg_error *error, serve_sets *sets,
                         const char *path) SHOAL_MUST_CHECK;
void serve_watch_close(serve_watch *watch); // watch may be NULL

// Looks at the files. A change counts once the files have looked alike twice, so that a file which
// is being written is left alone. A file may be replaced by renaming another one to its name.
// Returns: whether to reload. A change is told once.
//   watch: NULL where nothing is watched
bool serve_watch_look(serve_watch *watch);

// Watches the files of the set in force from now on. Call after every reload; look before it.
void serve_watch_renew(serve_watch *watch, serve_sets *sets);

#endif
