# SPDX-License-Identifier: Apache-2.0
# The two servers of draft-ietf-ppm-dap-18 and their clients, native only: a library, which tests and fuzzers link, and the
# commands.
if(SHOAL_NATIVE)
    pkg_check_modules(libcurl REQUIRED IMPORTED_TARGET libcurl>=7.85)

    shoal_server_room(dap)
    target_link_libraries(shoal_dap PUBLIC shoal_store shoal_http shoal_libcrypto
        PRIVATE PkgConfig::libcurl PkgConfig::microhttpd)

    target_sources(shoal PRIVATE cli/cmd_collect.c cli/cmd_dap_key.c cli/cmd_upload.c)
    target_compile_definitions(shoal PRIVATE SHOAL_WITH_DAP)
    target_link_libraries(shoal PRIVATE shoal_dap)
endif()
