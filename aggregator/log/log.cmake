# SPDX-License-Identifier: Apache-2.0
# The log of recipes, queries and key lists, native only: a library, which tests and fuzzers link, and the command.
if(SHOAL_NATIVE)
    shoal_server_room(log)
    target_link_libraries(shoal_log PUBLIC shoal_libcrypto)

    target_sources(shoal PRIVATE cli/cmd_log.c cli/cmd_log_check.c)
    target_compile_definitions(shoal PRIVATE SHOAL_WITH_LOG)
    target_link_libraries(shoal PRIVATE shoal_log)
endif()
