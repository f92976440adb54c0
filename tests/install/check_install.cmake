# SPDX-License-Identifier: Apache-2.0
# Installs the core into one prefix, moves it to another, and builds and runs consumer.c against that both ways.
# EMULATOR runs a program of another machine.
function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT result STREQUAL "0")
        list(JOIN ARGN " " command)
        message(FATAL_ERROR "${command}: ${result}\n${output}")
    endif()
    set(output "${output}" PARENT_SCOPE)
endfunction()

# Runs a consumer and looks at what it says.
function(expect_consumer program)
    run(${EMULATOR} ${program})
    if(NOT output STREQUAL "range\n")
        message(FATAL_ERROR "${program} printed: ${output}")
    endif()
endfunction()

set(first ${WORK_DIR}/first)
set(prefix ${WORK_DIR}/prefix)
file(REMOVE_RECURSE ${first} ${prefix} ${WORK_DIR}/consumer ${WORK_DIR}/consumer_pc)
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --component core --prefix ${first})
file(RENAME ${first} ${prefix})

run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK_DIR}/consumer -G ${GENERATOR}
    -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_C_FLAGS=${C_FLAGS})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/consumer)
expect_consumer(${WORK_DIR}/consumer/consumer)

set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
run(pkg-config --modversion shoal-core)
if(NOT output STREQUAL "${VERSION}\n")
    message(FATAL_ERROR "shoal-core.pc says version ${output}")
endif()
run(pkg-config --cflags --libs shoal-core)
separate_arguments(from_pc UNIX_COMMAND "${output}")
separate_arguments(flags UNIX_COMMAND "${C_FLAGS}")
run(${C_COMPILER} ${flags} -std=c11 -o ${WORK_DIR}/consumer_pc ${CMAKE_CURRENT_LIST_DIR}/consumer/consumer.c ${from_pc})
expect_consumer(${WORK_DIR}/consumer_pc)
