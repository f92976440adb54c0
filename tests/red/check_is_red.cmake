# SPDX-License-Identifier: Apache-2.0
# Runs the program of red.c in each mode and looks at the exit code that a test runner would see.
#   cmake -DRED="PROGRAM;ARGUMENT;..." -P check_is_red.cmake

# expect(MODE CODE TEXT): CODE "trap" stands for any failure.
function(expect mode code text)
    execute_process(COMMAND ${RED} ${mode} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_QUIET)
    if(code STREQUAL "trap" AND NOT result STREQUAL "0")
        set(result trap)
    endif()
    if(NOT result STREQUAL code)
        message(FATAL_ERROR "red ${mode}: exit code ${result}, expected ${code}")
    endif()
    if(NOT output MATCHES "${text}")
        message(FATAL_ERROR "red ${mode}: expected \"${text}\", it printed:\n${output}")
    endif()
endfunction()

expect(pass 0 "1 passed, 0 failed")
expect(fail 1 "red\\.c:[0-9]+: failed: .*0 passed, 1 failed")
expect(none 1 "0 passed, 0 failed")
expect(trap trap "")
