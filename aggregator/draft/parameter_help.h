// SPDX-License-Identifier: Apache-2.0
// The part of the help of `shoal recipe new` that lists the parameters of mechanisms, from the rows
// of recipe_fields.def.
#ifndef PARAMETER_HELP_H
#define PARAMETER_HELP_H

// Prints an option for each parameter: the mechanisms that take it, what it is, range and default.
void parameter_help_print(void);

#endif
