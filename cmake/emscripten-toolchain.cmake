# SPDX-License-Identifier: Apache-2.0
# Emscripten's own toolchain file, found through em-config, with programs as standalone WASI
# commands. Emscripten's node glue does not load on Node 18 and later, so one runner serves both
# WebAssembly builds.
find_program(EM_CONFIG em-config REQUIRED)
execute_process(COMMAND ${EM_CONFIG} EMSCRIPTEN_ROOT
    OUTPUT_VARIABLE emscripten_root OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(CMAKE_CROSSCOMPILING_EMULATOR node --no-warnings ${CMAKE_CURRENT_LIST_DIR}/wasi-run.mjs)
include(${emscripten_root}/cmake/Modules/Platform/Emscripten.cmake)

# emcc spends most of the time of a small file in starting Python. It compiles by calling clang with
# fixed flags, so the build calls clang itself, and emcc links.
if(NOT DEFINED SHOAL_EMSCRIPTEN_COMPILE)
    set(probe ${CMAKE_BINARY_DIR}/emscripten-probe)
    file(WRITE ${probe}.c "int shoal_probe(void);\n")
    execute_process(COMMAND ${CMAKE_C_COMPILER} -v -c ${probe}.c -o ${probe}.o ERROR_VARIABLE called RESULT_VARIABLE failed)
    execute_process(COMMAND ${CMAKE_C_COMPILER} --cflags OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT failed AND flags AND called MATCHES "\"([^\"]*clang[^\"]*)\" ")
        set(command "${CMAKE_MATCH_1} ${flags} <DEFINES> <INCLUDES> <FLAGS> -o <OBJECT> -c <SOURCE>")
    endif()
    set(SHOAL_EMSCRIPTEN_COMPILE "${command}" CACHE INTERNAL "How an object is compiled; empty: by emcc")
endif()
if(SHOAL_EMSCRIPTEN_COMPILE)
    set(CMAKE_C_COMPILE_OBJECT ${SHOAL_EMSCRIPTEN_COMPILE})
endif()
