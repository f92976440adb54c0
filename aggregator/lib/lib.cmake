# SPDX-License-Identifier: Apache-2.0
# libshoal_aggregate, native only: shared, with a version script, and static. Installed as component `aggregate`.
if(SHOAL_NATIVE)
    set(folder ${PROJECT_SOURCE_DIR}/aggregator/lib)
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c)
    add_library(shoal_aggregate_calls OBJECT ${sources})
    target_include_directories(shoal_aggregate_calls PUBLIC ${folder})
    target_compile_definitions(shoal_aggregate_calls PRIVATE SHOAL_VERSION="${PROJECT_VERSION}")
    target_link_libraries(shoal_aggregate_calls PUBLIC shoal_cli PRIVATE shoal_warnings)
    set_target_properties(shoal_aggregate_calls PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)

    add_library(shoal_aggregate SHARED $<TARGET_OBJECTS:shoal_aggregate_calls>)
    target_link_libraries(shoal_aggregate PRIVATE shoal_cli)
    target_link_options(shoal_aggregate PRIVATE
        -Wl,--version-script=${folder}/shoal_aggregate.map -Wl,--no-undefined-version -Wl,-z,relro,-z,now)
    if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
        target_link_options(shoal_aggregate PRIVATE -Wl,--no-undefined)
    endif()
    # The number of the SONAME moves when a symbol or a struct changes, which tests/aggregator/lib holds.
    set_target_properties(shoal_aggregate PROPERTIES
        LINKER_LANGUAGE C
        VERSION 0.${PROJECT_VERSION}
        SOVERSION 0
        EXPORT_NAME aggregate
        LINK_DEPENDS ${folder}/shoal_aggregate.map)
    target_include_directories(shoal_aggregate INTERFACE
        $<BUILD_INTERFACE:${folder}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

    # One archive with everything of ours in it.
    set(arrow_objects)
    if(TARGET shoal_arrow)
        set(arrow_objects $<TARGET_OBJECTS:shoal_arrow>)
    endif()
    add_library(shoal_aggregate_static STATIC $<TARGET_OBJECTS:shoal_aggregate_calls>
        $<TARGET_OBJECTS:shoal_cli> $<TARGET_OBJECTS:shoal_aggregator> $<TARGET_OBJECTS:shoal_core>
        ${arrow_objects})
    set_target_properties(shoal_aggregate_static PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME shoal_aggregate)

    if(SHOAL_INSTALL)
        include(GNUInstallDirs)
        include(CMakePackageConfigHelpers)
        set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/shoal-aggregate)
        install(FILES ${folder}/shoal_aggregate.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT aggregate)
        install(TARGETS shoal_aggregate EXPORT shoal-aggregate
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT aggregate)
        install(TARGETS shoal_aggregate_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT aggregate)
        install(EXPORT shoal-aggregate NAMESPACE shoal:: FILE shoal-aggregate-targets.cmake
            DESTINATION ${package_dir} COMPONENT aggregate)
        configure_package_config_file(${folder}/shoal-aggregate-config.cmake.in
            ${PROJECT_BINARY_DIR}/shoal-aggregate-config.cmake INSTALL_DESTINATION ${package_dir})
        write_basic_package_version_file(${PROJECT_BINARY_DIR}/shoal-aggregate-config-version.cmake
            VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
        install(FILES ${PROJECT_BINARY_DIR}/shoal-aggregate-config.cmake
            ${PROJECT_BINARY_DIR}/shoal-aggregate-config-version.cmake DESTINATION ${package_dir} COMPONENT aggregate)
        file(RELATIVE_PATH aggregate_pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
        string(REGEX REPLACE "/$" "" aggregate_pc_to_prefix "${aggregate_pc_to_prefix}")
        configure_file(${folder}/shoal-aggregate.pc.in ${PROJECT_BINARY_DIR}/shoal-aggregate.pc @ONLY)
        install(FILES ${PROJECT_BINARY_DIR}/shoal-aggregate.pc
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT aggregate)
    endif()
endif()
