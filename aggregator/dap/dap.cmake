# SPDX-License-Identifier: Apache-2.0
# The room of two servers (draft-ietf-ppm-dap-18), native only: a library of what talks, seals and adds up, and the commands
# on top of it.
if(SHOAL_NATIVE)
    pkg_check_modules(libcurl REQUIRED IMPORTED_TARGET libcurl>=7.85)

    file(GLOB dap_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.c)
    add_library(shoal_dap STATIC ${dap_sources})
    target_include_directories(shoal_dap PUBLIC ${CMAKE_CURRENT_LIST_DIR})
    target_link_libraries(shoal_dap PUBLIC shoal_store shoal_http shoal_libcrypto
        PRIVATE PkgConfig::libcurl PkgConfig::microhttpd shoal_warnings)

    set(cli_folder ${CMAKE_CURRENT_LIST_DIR}/../cli)
    file(GLOB dap_commands CONFIGURE_DEPENDS ${cli_folder}/cmd_collect.c ${cli_folder}/cmd_dap_key.c ${cli_folder}/cmd_upload.c)
    target_sources(shoal PRIVATE ${dap_commands})
    target_compile_definitions(shoal PRIVATE SHOAL_WITH_DAP)
    target_link_libraries(shoal PRIVATE shoal_dap)
endif()
