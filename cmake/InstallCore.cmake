# SPDX-License-Identifier: Apache-2.0
# Installs the core as component `core`: headers, library, find_package(shoal) files and shoal-core.pc.
# Included by core/CMakeLists.txt.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/shoal)

install(FILES ${SHOAL_CORE_PUBLIC_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/shoal COMPONENT core)
install(TARGETS shoal_core EXPORT shoal ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT core)
install(EXPORT shoal NAMESPACE shoal:: FILE shoal-targets.cmake DESTINATION ${package_dir} COMPONENT core)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/shoal-config.cmake.in
    ${PROJECT_BINARY_DIR}/shoal-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/shoal-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/shoal-config.cmake ${PROJECT_BINARY_DIR}/shoal-config-version.cmake
    DESTINATION ${package_dir} COMPONENT core)

# The .pc file finds the prefix from its own location, so that a prefix may be moved or given at
# install time.
file(RELATIVE_PATH pc_to_prefix
    ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/shoal-core.pc.in ${PROJECT_BINARY_DIR}/shoal-core.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/shoal-core.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT core)
