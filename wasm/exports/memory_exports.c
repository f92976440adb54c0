// SPDX-License-Identifier: Apache-2.0
// Exports of every module, which all files with exports use: the start of JavaScript's memory, and
// errors as text. See exports.h.
#include "exports.h"

bool inside(uint32_t ptr, uint32_t len)
{
    uint64_t end = (uint64_t)__builtin_wasm_memory_size(0) * 65536u;
    return ptr >= (uint32_t)(uintptr_t)&__heap_base && (uint64_t)ptr + len <= end;
}

void put_words(uint32_t out, const uint32_t *words, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) store32_le(at(out) + 4 * i, words[i]);
}

EXPORT(heap_base) uint32_t export_heap_base(void)
{
    return (uint32_t)(uintptr_t)&__heap_base;
}

// Returns: static NUL-terminated text about an error number.
EXPORT(err_name) const char *export_err_name(uint32_t err)
{
    return shoal_err_name((shoal_err)err);
}

EXPORT(err_text) const char *export_err_text(uint32_t err)
{
    return shoal_err_text((shoal_err)err);
}
