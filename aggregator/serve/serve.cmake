# SPDX-License-Identifier: Apache-2.0
# The result page joins the aggregator on every build, so that a command can write one. The store and the server are native
# only: the store a library for its tests, the server part of the command.
target_sources(shoal_aggregator PRIVATE serve/result_page.c)
target_include_directories(shoal_aggregator PUBLIC serve)

if(SHOAL_NATIVE)
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(sqlite3 REQUIRED IMPORTED_TARGET sqlite3)
    pkg_check_modules(microhttpd REQUIRED IMPORTED_TARGET libmicrohttpd)

    add_library(shoal_store STATIC
        store/database.c
        store/period.c
        store/store.c
        store/store_fold.c
        store/store_sum.c)
    target_include_directories(shoal_store PUBLIC store)
    target_link_libraries(shoal_store PUBLIC shoal_aggregator PkgConfig::sqlite3 PRIVATE shoal_warnings)

    # HTTP, answers and secrets: what every server of ours is made of.
    add_library(shoal_http STATIC
        serve/serve_address.c
        serve/serve_answer.c
        serve/serve_listener.c
        serve/serve_secret.c
        serve/serve_stop.c)
    target_include_directories(shoal_http PUBLIC serve)
    target_link_libraries(shoal_http PUBLIC shoal_aggregator PRIVATE PkgConfig::microhttpd shoal_warnings)

    target_sources(shoal PRIVATE
        serve/cmd_serve.c
        serve/collection.c
        serve/serve_config.c
        serve/serve_fold.c
        serve/serve_http.c
        serve/serve_memory.c
        serve/serve_result.c
        serve/serve_route.c)
    target_compile_definitions(shoal PRIVATE SHOAL_WITH_SERVE)
    target_link_libraries(shoal PRIVATE shoal_store shoal_http)
endif()
