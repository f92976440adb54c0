# SPDX-License-Identifier: Apache-2.0
# Emscripten's own toolchain file, found through em-config, with programs as standalone WASI
# commands. Emscripten's node glue does not load on Node 18 and later, so one runner serves both
# WebAssembly builds.
find_program(EM_CONFIG em-config REQUIRED)
execute_process(COMMAND ${EM_CONFIG} EMSCRIPTEN_ROOT
    OUTPUT_VARIABLE emscripten_root OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(CMAKE_CROSSCOMPILING_EMULATOR node --no-warnings ${CMAKE_CURRENT_LIST_DIR}/wasi-run.mjs)
include(${emscripten_root}/cmake/Modules/Platform/Emscripten.cmake)
