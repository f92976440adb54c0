// SPDX-License-Identifier: Apache-2.0
// Which rows of recipe_fields.def a module of WebAssembly carries. A module is compiled with
// SHOAL_MODULE set to its name; a row or a choice marked `every`, `page`, `query` or `all` is then
// wrapped in SHOAL_CARRIED(mark, ...), which leaves nothing of what the module does not carry. The
// linker leaves out the functions that no carried row names. Private to the core.
#ifndef SHOAL_CARRIED_ROWS_H
#define SHOAL_CARRIED_ROWS_H

#ifndef SHOAL_MODULE
#define SHOAL_MODULE all // native builds too
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
