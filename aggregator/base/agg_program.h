// SPDX-License-Identifier: Apache-2.0
// Runs a program that npm installed, in place of this one.
#ifndef AGG_PROGRAM_H
#define AGG_PROGRAM_H

// Becomes a program, which is looked for in node_modules/.bin, from this folder upwards, and then
// in PATH. One in node_modules must belong to this user or to root, as must its link.
//   argv: argc words, of which the first is replaced by the program's name
// Returns: only if that failed: an errno, ENOENT where there is no such program. Under WASI always
// ENOENT, since a module cannot start a program.
int agg_program_become(const char *program, int argc, char **argv);

#endif
