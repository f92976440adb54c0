// SPDX-License-Identifier: Apache-2.0
// Where the files of a log lie, and what a bundle of entries looks like.
//
// `tile/<level>/<n>` has 256 hashes, `tile/entries/<n>` the entries below them, each behind its
// length in two bytes; `.p/<width>` is the part of one that is not full yet. <n> has three digits,
// behind "x" and three digits for every thousand: x001/x234/067.
// Source: c2sp.org/tlog-tiles.
#ifndef TLOG_TILE_H
#define TLOG_TILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tlog_tree.h"

#define AGG_TLOG_PATH_MAX 64
#define AGG_TLOG_ENTRIES (-1) // in place of a level

// Writes the path of a tile or a bundle, relative to the log's folder.
//   level: 0 .. AGG_TLOG_LEVELS - 1, or AGG_TLOG_ENTRIES
//   width: 1 .. 256; 256 is a full one
void agg_tlog_tile_path(char path[AGG_TLOG_PATH_MAX], int level, uint64_t index, unsigned width);

// Takes one entry off a bundle.
//   at: where it begins; moved behind it
// Returns: false if the bytes end before the entry does.
bool agg_tlog_bundle_take(const uint8_t **entry, size_t *entry_len, const uint8_t **at,
                          const uint8_t *end);

#endif
