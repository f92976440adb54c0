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

    target_sources(shoal PRIVATE cli/cmd_serve.c cli/cmd_audit_log.c cli/cmd_store.c)
    target_compile_definitions(shoal PRIVATE SHOAL_WITH_SERVE)
    target_link_libraries(shoal PRIVATE shoal_serve)
endif()
