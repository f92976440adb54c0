// SPDX-License-Identifier: Apache-2.0
// The tables of fields as the module SHOAL_MODULE of WebAssembly carries them, in place of the
// library's, whose objects the linker then leaves out.
#ifndef MODULE_ROWS_H
#define MODULE_ROWS_H

#include "recipe_fields.c"

#undef SHOAL_FIELD
#undef SHOAL_OWN
#include "builder_setters.c"

#undef SHOAL_FIELD
#undef TABLE_LEN
#include "builder_encoding.c"

#undef SHOAL_CHOICE
#undef SHOAL_CHOICES
#undef SHOAL_NO_CHOICES
#undef SHOAL_PART
#undef SHOAL_NO_PART

#endif
