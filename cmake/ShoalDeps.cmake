# SPDX-License-Identifier: Apache-2.0
# The aggregator's libraries, as targets that mean the same in every build:
#   shoal_cjson      <cjson/cJSON.h>
#   shoal_utf8proc   <utf8proc.h>
#   shoal_libcrypto  <openssl/evp.h>, native only
#   shoal_compression  <zstd.h> and <zlib.h>, native only
#   shoal_arrow      <nanoarrow/nanoarrow_ipc.h>, native only, where scripts/fetch-packages.sh put it;
#                    without it --format arrow is refused
# Native builds use the system's libraries, by pkg-config. WASI builds link statically from the
# sources that scripts/fetch-sources.sh put into SHOAL_DEPS_DIR.
add_library(shoal_cjson INTERFACE)
add_library(shoal_utf8proc INTERFACE)

if(SHOAL_NATIVE)
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(libcjson REQUIRED IMPORTED_TARGET libcjson)
    pkg_check_modules(libutf8proc REQUIRED IMPORTED_TARGET libutf8proc)
    pkg_check_modules(libcrypto REQUIRED IMPORTED_TARGET libcrypto>=3)
    add_library(shoal_libcrypto INTERFACE)
    target_link_libraries(shoal_libcrypto INTERFACE PkgConfig::libcrypto)
    pkg_check_modules(libzstd REQUIRED IMPORTED_TARGET libzstd)
    pkg_check_modules(zlib REQUIRED IMPORTED_TARGET zlib)
    add_library(shoal_compression INTERFACE)
    target_link_libraries(shoal_compression INTERFACE PkgConfig::libzstd PkgConfig::zlib)
    target_link_libraries(shoal_cjson INTERFACE PkgConfig::libcjson)
    target_link_libraries(shoal_utf8proc INTERFACE PkgConfig::libutf8proc)

    set(nanoarrow ${SHOAL_DEPS_DIR}/nanoarrow)
    if(EXISTS ${nanoarrow}/VERSION)
        add_library(shoal_arrow STATIC ${nanoarrow}/src/nanoarrow.c ${nanoarrow}/src/nanoarrow_ipc.c
            ${nanoarrow}/src/flatcc.c)
        target_include_directories(shoal_arrow SYSTEM PUBLIC ${nanoarrow}/include)
        target_compile_features(shoal_arrow PRIVATE c_std_11)
        target_compile_options(shoal_arrow PRIVATE -w)
        set_target_properties(shoal_arrow PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
    else()
        message(STATUS "build/deps/nanoarrow is missing (scripts/fetch-packages.sh): --format arrow is refused")
    endif()
    return()
endif()

foreach(file cjson/cJSON.c utf8proc/utf8proc.c)
    if(NOT EXISTS ${SHOAL_DEPS_DIR}/${file})
        message(FATAL_ERROR "${SHOAL_DEPS_DIR}/${file} is missing: run scripts/fetch-sources.sh")
    endif()
endforeach()

# An installed libcjson has a folder cjson/ in its include path.
set(include_dir ${PROJECT_BINARY_DIR}/deps/include)
configure_file(${SHOAL_DEPS_DIR}/cjson/cJSON.h ${include_dir}/cjson/cJSON.h COPYONLY)
add_library(shoal_cjson_static STATIC ${SHOAL_DEPS_DIR}/cjson/cJSON.c)
target_compile_definitions(shoal_cjson_static PUBLIC CJSON_HIDE_SYMBOLS)
target_include_directories(shoal_cjson_static SYSTEM PUBLIC ${include_dir})
target_link_libraries(shoal_cjson INTERFACE shoal_cjson_static)

configure_file(${SHOAL_DEPS_DIR}/utf8proc/utf8proc.h ${include_dir}/utf8proc.h COPYONLY)
add_library(shoal_utf8proc_static STATIC ${SHOAL_DEPS_DIR}/utf8proc/utf8proc.c)
target_compile_definitions(shoal_utf8proc_static PUBLIC UTF8PROC_STATIC)
target_include_directories(shoal_utf8proc_static SYSTEM PUBLIC ${include_dir})
target_link_libraries(shoal_utf8proc INTERFACE shoal_utf8proc_static)
