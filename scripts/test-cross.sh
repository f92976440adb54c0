#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds for another machine and runs its tests under qemu's user emulation: aarch64, armv7l (32
# bits) or s390x (big-endian). aarch64 runs all tests except those that measure the machine, in
# about an hour; the others run those of the core, the formats and the folds.
set -euo pipefail
cd "$(dirname "$0")/.."
processor=${1:?test-cross.sh PROCESSOR: aarch64, armv7l or s390x}
case $processor in
    aarch64) architecture=arm64 emulator=qemu-aarch64 ;;
    armv7l) architecture=armhf emulator=qemu-arm ;;
    s390x) architecture=s390x emulator=qemu-s390x ;;
    *) echo "test-cross: no such processor here: $processor" >&2; exit 2 ;;
esac
scripts/cross-sysroot.sh "$architecture"
cmake --preset "$processor"
cmake --build --preset "$processor"
ctest --preset "$processor"

# JavaScript starts the commands and the server through a program of this machine that runs them in
# qemu.
build=$PWD/build/$processor
mkdir -p "$build/emulated"
printf '#!/bin/sh\nexec %s -L %s %s "$@"\n' "$emulator" "$PWD/build/sysroot/$architecture" "$build/shoal" >"$build/emulated/shoal"
chmod +x "$build/emulated/shoal"
SHOAL_BIN=$build/emulated/shoal node --test tests/aggregator/cli/cli.test.mjs tests/aggregator/cli/recipe.test.mjs \
    tests/aggregator/cli/query.test.mjs tests/aggregator/serve/serve_http.test.mjs tests/aggregator/serve/serve_records.test.mjs
