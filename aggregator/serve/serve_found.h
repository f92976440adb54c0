// SPDX-License-Identifier: Apache-2.0
// ?view=found: words that nobody listed, of a recipe whose mechanism finds them at once, with how
// they were found and since which blocks. It is what `shoal discover` says; words of the dictionary
// are known.
#ifndef SERVE_FOUND_H
#define SERVE_FOUND_H

#include "serve_view.h"

extern const serve_view_kind serve_found_view;

#endif
