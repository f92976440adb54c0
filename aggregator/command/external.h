// SPDX-License-Identifier: Apache-2.0
// Commands that are programs of their own: `shoal verify` runs shoal-verify, as git runs git-name.
// They are npm packages, because they drive a browser and the services of Node.
#ifndef EXTERNAL_H
#define EXTERNAL_H

#include <stdbool.h>
#include <stdio.h>

// Returns: whether a command's name is that of an external program.
bool external_is(const char *name);

// Lists the external commands, below the others of the overview.
void external_list(FILE *stream);

// Runs the program "shoal-NAME" in place of this one: from node_modules/.bin of the working
// directory or of a folder above it, else from PATH.
//   argv: argc words, the first of which is the name, and NULL
// Returns: an exit code, only where the program could not be run
int external_run(const char *name, int argc, char **argv);

#endif
