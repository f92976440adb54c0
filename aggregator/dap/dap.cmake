# SPDX-License-Identifier: Apache-2.0
# The room of two servers (draft-ietf-ppm-dap-18), native only: a library of what talks, seals and adds up, and the commands
# on top of it. What of it listens over HTTP uses the server's files, which are part of the command.
if(SHOAL_NATIVE)
    pkg_check_modules(libcurl REQUIRED IMPORTED_TARGET libcurl>=7.85)

    file(GLOB dap_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.c)
    add_library(shoal_dap STATIC ${dap_sources})
    target_include_directories(shoal_dap PUBLIC ${CMAKE_CURRENT_LIST_DIR})
    target_link_libraries(shoal_dap PUBLIC shoal_store shoal_libcrypto
        PRIVATE PkgConfig::libcurl PkgConfig::microhttpd shoal_warnings)

    foreach(command IN ITEMS collect dap_key upload)
        if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/cli/cmd_${command}.c)
            target_sources(shoal PRIVATE cli/cmd_${command}.c)
        endif()
    endforeach()
    target_compile_definitions(shoal PRIVATE SHOAL_WITH_DAP)
    target_link_libraries(shoal PRIVATE shoal_dap)
endif()
