# SPDX-License-Identifier: Apache-2.0
# Functions that declare tests. Every test runs in tests/, so that its data files have the same
# relative path in every build, and inherits the environment (SHOAL_SHARED: extra vectors).

# The thread sanitizer's build has the tests that start threads, and no other programs.
string(FIND "${CMAKE_C_FLAGS}" "-fsanitize=thread" at)
if(at GREATER -1)
    set(SHOAL_THREAD_SANITIZER TRUE)
endif()

# Tests with these labels are run by make test-long alone (whole), or never. Their programs are not
# part of `all`, which is what make test builds.
set(SHOAL_LABELS_OF_LONG "")
if(SHOAL_THREAD_SANITIZER)
    set(SHOAL_LABELS_OF_LONG one_thread statistics simulation whole)
elseif(CMAKE_C_FLAGS MATCHES "-fsanitize")
    set(SHOAL_LABELS_OF_LONG statistics)
endif()
add_custom_target(long_tests)

# shoal_label(LABEL NAME...): labels the tests native.NAME; tests/aggregator/CMakeLists.txt says what
# each label means.
function(shoal_label label)
    foreach(name IN LISTS ARGN)
        if(TARGET test_${name})
            set_property(TEST native.${name} APPEND PROPERTY LABELS ${label})
            if(label IN_LIST SHOAL_LABELS_OF_LONG)
                set_target_properties(test_${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
                if(label STREQUAL whole)
                    add_dependencies(long_tests test_${name})
                endif()
            endif()
        endif()
    endforeach()
endfunction()

# shoal_core_test(NAME [ARGUMENT...]): tests/core/ROOM/test_NAME.c over check.h, in every build. It
# may read files below tests/.
function(shoal_core_test name)
    if(SHOAL_THREAD_SANITIZER)
        return() # the core starts no thread
    endif()
    file(GLOB source ${PROJECT_SOURCE_DIR}/tests/core/*/test_${name}.c)
    add_executable(test_${name} ${source})
    shoal_test_program(test_${name})
    add_test(NAME core.${name} COMMAND test_${name} ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/tests)
endfunction()

# shoal_native_test(NAME SOURCE...): a cmocka program in native builds, nothing in others. It links
# the core and, where built, the aggregator. Add more to target test_NAME.
function(shoal_native_test name)
    if(NOT SHOAL_NATIVE)
        return()
    endif()
    add_executable(test_${name} ${ARGN})
    shoal_test_program(test_${name})
    target_link_libraries(test_${name} PRIVATE $<TARGET_NAME_IF_EXISTS:shoal_aggregator> PkgConfig::cmocka)
    add_test(NAME native.${name} COMMAND test_${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/tests)
endfunction()

# Settings that all test programs share. The programs lie in tests/ of the build folder, apart from
# what is shipped.
function(shoal_test_program target)
    file(GLOB shoal_test_folders LIST_DIRECTORIES TRUE ${PROJECT_SOURCE_DIR}/tests/core/*)
    list(FILTER shoal_test_folders EXCLUDE REGEX "\\.[a-z]+$|/(samples|vectors)$")
    list(APPEND shoal_test_folders ${PROJECT_SOURCE_DIR}/tests/aggregator ${PROJECT_SOURCE_DIR}/tests/aggregator/store
        ${PROJECT_SOURCE_DIR}/tests/aggregator/estimate)
    set_target_properties(${target} PROPERTIES
        C_STANDARD 11
        C_STANDARD_REQUIRED ON
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    target_include_directories(${target} PRIVATE
        ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/tests/core ${shoal_test_folders} ${PROJECT_BINARY_DIR}/tests)
    target_link_libraries(${target} PRIVATE shoal_core shoal_warnings m)
    if(EMSCRIPTEN)
        set_target_properties(${target} PROPERTIES SUFFIX .wasm) # a standalone program, no glue
        target_link_libraries(${target} PRIVATE shoal_emscripten_open)
        # emcc knows only the WASI imports that its own library uses. A test with an import that the
        # runner lacks fails when it starts. With -O1 and 64-bit integers in imports emcc leaves the
        # linked program as it is; otherwise it optimises each test for longer than the test runs.
        target_link_options(${target} PRIVATE -sSTANDALONE_WASM -sALLOW_MEMORY_GROWTH
            -sERROR_ON_UNDEFINED_SYMBOLS=0 -sWARN_ON_UNDEFINED_SYMBOLS=0 -O1 -sWASM_BIGINT)
    endif()
    if(WASI)
        target_link_options(${target} PRIVATE -O0) # clang then does not call wasm-opt
    endif()
endfunction()

if(EMSCRIPTEN)
    add_library(shoal_emscripten_open OBJECT ${PROJECT_SOURCE_DIR}/tests/emscripten_open.c)
    target_link_libraries(shoal_emscripten_open PRIVATE shoal_warnings)
endif()

if(SHOAL_NATIVE)
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(cmocka REQUIRED IMPORTED_TARGET cmocka)
endif()
