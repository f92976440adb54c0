# SPDX-License-Identifier: Apache-2.0
# The store, HTTP and the server, native only: libraries, which tests and fuzzers link, and the command.
if(SHOAL_NATIVE)
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(sqlite3 REQUIRED IMPORTED_TARGET sqlite3)
    pkg_check_modules(microhttpd REQUIRED IMPORTED_TARGET libmicrohttpd)

    # shoal_server_room(NAME) makes the library shoal_NAME from aggregator/NAME/*.c.
    function(shoal_server_room name)
        file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/aggregator/${name}/*.c)
        add_library(shoal_${name} STATIC ${sources})
        target_include_directories(shoal_${name} PUBLIC ${PROJECT_SOURCE_DIR}/aggregator/${name})
        target_link_libraries(shoal_${name} PUBLIC shoal_aggregator PRIVATE shoal_warnings)
    endfunction()

    shoal_server_room(store)
    target_link_libraries(shoal_store PUBLIC PkgConfig::sqlite3)
    # HTTP is common to `shoal serve` and to the servers of DAP.
    shoal_server_room(http)
    target_link_libraries(shoal_http PRIVATE PkgConfig::microhttpd)
    shoal_server_room(serve)
    target_link_libraries(shoal_serve PUBLIC shoal_store shoal_http PRIVATE PkgConfig::microhttpd)

    # The chart of the pages over time: a script that the server holds. Without node and the npm
    # packages, as where a distribution builds, the pages have no script and show the same as SVG.
    option(SHOAL_CHART "Put the chart of the pages over time into the server, if node and uPlot are here" ON)
    find_program(SHOAL_NODE node)
    set(chart ${PROJECT_SOURCE_DIR}/aggregator/chart)
    set(npm ${PROJECT_SOURCE_DIR}/node_modules)
    set(chart_needs ${npm}/uplot/package.json ${npm}/esbuild/package.json ${npm}/terser/package.json)
    set(chart_missing "")
    foreach(file IN LISTS chart_needs)
        if(NOT EXISTS ${file})
            list(APPEND chart_missing ${file})
        endif()
    endforeach()
    if(SHOAL_CHART AND SHOAL_NODE AND chart_missing STREQUAL "")
        file(GLOB chart_sources CONFIGURE_DEPENDS ${chart}/*.js ${chart}/*.css)
        set(chart_folder ${CMAKE_CURRENT_BINARY_DIR}/chart)
        add_custom_command(OUTPUT ${chart_folder}/chart_bundle.h
            COMMAND ${SHOAL_NODE} ${chart}/build.mjs ${chart_folder}
            DEPENDS ${chart_sources} ${chart}/build.mjs ${chart_needs}
            BYPRODUCTS ${chart_folder}/chart.js
            COMMENT "Bundling the chart of the pages over time")
        target_sources(shoal_serve PRIVATE ${chart_folder}/chart_bundle.h)
        target_include_directories(shoal_serve PRIVATE ${chart_folder})
        set_source_files_properties(${PROJECT_SOURCE_DIR}/aggregator/serve/serve_chart.c
            TARGET_DIRECTORY shoal_serve PROPERTIES COMPILE_DEFINITIONS SHOAL_WITH_CHART)
    else()
        message(STATUS "The server's pages over time have no chart: SHOAL_CHART is off, or node or npm packages are missing")
    endif()

    target_sources(shoal PRIVATE cli/cmd_serve.c cli/cmd_audit_log.c cli/cmd_store.c)
    target_compile_definitions(shoal PRIVATE SHOAL_WITH_SERVE)
    target_link_libraries(shoal PRIVATE shoal_serve)
endif()
