#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the build, the tests and the demo need and do not find: Debian packages, two library
# sources for the WASI build, npm packages. It prints nothing if nothing is missing. It installs
# only on Debian 12; elsewhere it says what to install.
set -euo pipefail
cd "$(dirname "$0")/.."

# The Debian 12 packages, with their purpose.
packages=(
    gcc libc6-dev make cmake ninja-build pkg-config                        # the native build
    clang-14 clang-format-14 llvm-14 libclang-rt-14-dev valgrind           # sanitizers, format, taint check
    libcjson-dev libutf8proc-dev libmicrohttpd-dev libsqlite3-dev libssl-dev libcurl4-openssl-dev libzstd-dev zlib1g-dev # the aggregator's libraries
    libcmocka-dev                                                          # its tests
    lld-14 wasi-libc libclang-rt-14-dev-wasm32 dpkg-dev patch              # the WASI build
    emscripten binaryen                                                    # the page's module
    chromium curl openssl                                                  # browser tests, the demo
    groff-base                                                             # checks that the man pages render
    spin                                                                   # checks the models of the store and of claims
)
# `make test` drives pages in two more browsers; nothing else needs them.
[ -z "${SHOAL_BROWSERS:-}${SHOAL_LONG:-}" ] || packages+=(firefox-esr webkit2gtk-driver xvfb)
# The same requirements as commands, for systems whose packages have other names.
commands=(gcc make cmake ninja pkg-config clang-14 clang-format-14 llvm-ar-14 valgrind emcc em-config curl spin)

say() { printf 'setup: %s\n' "$*" >&2; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

is_debian_12() {
    [ -r /etc/os-release ] && (. /etc/os-release && [ "${ID:-}" = debian ] && [ "${VERSION_ID:-}" = 12 ])
}

# install_packages NAME...
install_packages() {
    local name missing=()
    for name in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    say "installing ${missing[*]}"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 update >&2
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 install -y \
        --no-install-recommends "${missing[@]}" >&2
}

tell_other_system() {
    local name missing=()
    for name in "${commands[@]}"; do
        command -v "$name" >/dev/null || missing+=("$name")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    say "this is not Debian 12, so nothing is installed by itself. Missing commands: ${missing[*]}"
    say "needed are CMake 3.25, Ninja, GCC, clang 14 with its sanitizers and clang-format, lld, valgrind, pkg-config,"
    say "cJSON, utf8proc, libmicrohttpd, SQLite, OpenSSL 3, libcurl, zstd, zlib and cmocka with headers, wasi-libc with compiler-rt for wasm32,"
    say "Emscripten 3.1.6 or later, Chromium, curl, Spin 6.5. On Debian 12 their packages are:"
    say "${packages[*]}"
    exit 1
}

# Whether a Node that is new enough, and npm, are on the path.
has_node() {
    local major
    major=$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null) && [ "$major" -ge 20 ] 2>/dev/null &&
        command -v npm >/dev/null
}

# Brings Node where the system has none that is new enough: Debian 12 has 18. The Makefile has the folder in
# front of the path; the system's own is asked for without it.
provide_node() {
    local tools=$PWD/build/tools/node
    PATH=${PATH//"$tools/bin:"/}
    if has_node; then
        rm -rf "$tools"
        return 0
    fi
    if is_debian_12 && ! command -v npm >/dev/null && [ ! -x "$tools/bin/npm" ]; then install_packages npm; fi
    scripts/bring-node.sh "$tools" || {
        say "Node 20 or later with npm is needed (Debian 12 brings 18): https://nodejs.org/en/download"
        exit 1
    }
    PATH=$tools/bin:$PATH
}

# npm ci runs again whenever a package file has changed. It refuses a lock file that does not fit.
install_npm_packages() {
    local stamp=node_modules/.shoal-stamp files=(package-lock.json package.json */package.json docs/playground/package.json)
    cat "${files[@]}" | cmp -s - "$stamp" && return 0
    say "npm ci"
    npm ci --ignore-scripts --no-progress >&2
    cat "${files[@]}" >"$stamp"
}

if is_debian_12; then install_packages "${packages[@]}"; else tell_other_system; fi
# fetch-packages.sh asks pip. A machine may have a Python of its own in front of Debian's.
if is_debian_12 && ! python3 -m pip --version >/dev/null 2>&1; then install_packages python3-pip; fi
provide_node
scripts/fetch-sources.sh
scripts/fetch-packages.sh
install_npm_packages
