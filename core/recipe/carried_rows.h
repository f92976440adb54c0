// SPDX-License-Identifier: Apache-2.0
// The rows of recipe_fields.def that a WebAssembly module carries. A module is compiled with
// SHOAL_MODULE set to its name. Each row or choice is marked `every`, `page`, `query` or `all` and
// wrapped in SHOAL_CARRIED(mark, ...), which expands to nothing where the module does not carry it.
// The linker then drops the functions that no carried row names. The header is private to the core.
#ifndef SHOAL_CARRIED_ROWS_H
#define SHOAL_CARRIED_ROWS_H

#ifndef SHOAL_MODULE
#define SHOAL_MODULE all // native builds carry every row
#endif

#define SHOAL_all_CARRIES_every(...) __VA_ARGS__
#define SHOAL_all_CARRIES_page(...) __VA_ARGS__
#define SHOAL_all_CARRIES_query(...) __VA_ARGS__
#define SHOAL_all_CARRIES_all(...) __VA_ARGS__

#define SHOAL_page_CARRIES_every(...) __VA_ARGS__
#define SHOAL_page_CARRIES_page(...) __VA_ARGS__
#define SHOAL_page_CARRIES_query(...)
#define SHOAL_page_CARRIES_all(...)

#define SHOAL_query_CARRIES_every(...) __VA_ARGS__
#define SHOAL_query_CARRIES_page(...)
#define SHOAL_query_CARRIES_query(...) __VA_ARGS__
#define SHOAL_query_CARRIES_all(...)

#define SHOAL_CARRIED_PASTE(module, mark, ...) SHOAL_##module##_CARRIES_##mark(__VA_ARGS__)
#define SHOAL_CARRIED_BY(module, mark, ...) SHOAL_CARRIED_PASTE(module, mark, __VA_ARGS__)
#define SHOAL_CARRIED(mark, ...) SHOAL_CARRIED_BY(SHOAL_MODULE, mark, __VA_ARGS__)

#endif
