# SPDX-License-Identifier: Apache-2.0
# The extension of DuckDB, native only, where scripts/fetch-packages.sh put the header of its C API. The target shoal_duckdb is
# built on request only.
if(SHOAL_NATIVE AND EXISTS ${SHOAL_DEPS_DIR}/duckdb/VERSION)
    add_library(shoal_duckdb MODULE EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/aggregator/sql/shoal_duckdb.c
        ${PROJECT_SOURCE_DIR}/aggregator/sql/report_order.c
        $<TARGET_OBJECTS:shoal_aggregate_calls>)
    target_include_directories(shoal_duckdb SYSTEM PRIVATE ${SHOAL_DEPS_DIR}/duckdb)
    target_include_directories(shoal_duckdb PRIVATE ${PROJECT_SOURCE_DIR}/aggregator/lib)
    target_link_libraries(shoal_duckdb PRIVATE shoal_cli shoal_warnings)
    target_link_options(shoal_duckdb PRIVATE -Wl,--exclude-libs,ALL -Wl,-z,relro,-z,now)
    set_target_properties(shoal_duckdb PROPERTIES LINKER_LANGUAGE C C_VISIBILITY_PRESET hidden PREFIX "")
    add_custom_command(TARGET shoal_duckdb POST_BUILD
        COMMAND node ${PROJECT_SOURCE_DIR}/aggregator/sql/duckdb_footer.mjs $<TARGET_FILE:shoal_duckdb>
            ${PROJECT_BINARY_DIR}/shoal.duckdb_extension ${PROJECT_VERSION} ${CMAKE_SYSTEM_PROCESSOR}
        VERBATIM)
endif()
