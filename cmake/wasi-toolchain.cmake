# SPDX-License-Identifier: Apache-2.0
# Clang with Debian's wasi-libc. Give this file by an absolute path. WASI_LLVM_VERSION selects
# another clang.
# On other systems set WASI_SYSROOT to a WASI SDK's sysroot.
set(CMAKE_SYSTEM_NAME WASI)
set(CMAKE_SYSTEM_VERSION 1)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR}) # holds Platform/WASI.cmake

if(NOT DEFINED WASI_LLVM_VERSION)
    set(WASI_LLVM_VERSION 14)
endif()
if(NOT DEFINED WASI_SYSROOT)
    set(WASI_SYSROOT /usr)
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES WASI_LLVM_VERSION WASI_SYSROOT)

find_program(WASI_CLANG NAMES clang-${WASI_LLVM_VERSION} clang REQUIRED)
find_program(WASI_AR NAMES llvm-ar-${WASI_LLVM_VERSION} llvm-ar REQUIRED)
find_program(WASI_RANLIB NAMES llvm-ranlib-${WASI_LLVM_VERSION} llvm-ranlib REQUIRED)
set(CMAKE_C_COMPILER ${WASI_CLANG})
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_AR ${WASI_AR})
set(CMAKE_RANLIB ${WASI_RANLIB})
set(CMAKE_SYSROOT ${WASI_SYSROOT})
set(CMAKE_EXECUTABLE_SUFFIX .wasm)
# -s is not used because it drops the feature section. If clang finds wasm-opt it runs it, and
# wasm-opt then refuses SIMD.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--strip-debug")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR node --no-warnings ${CMAKE_CURRENT_LIST_DIR}/wasi-run.mjs)
