#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Puts sources that other registries than Debian's have into build/deps/NAME, by exact version and
# SHA-256; skips what is there. Anything with another hash is refused. Without names: nanoarrow.
#   nanoarrow  from PyPI: the writer of Arrow, bundled by its own script, names under a prefix
#   duckdb     from crates.io: the header of DuckDB's C API for extensions
#   fetch-packages.sh [NAME]...
set -euo pipefail
cd "$(dirname "$0")/.."
deps=$PWD/build/deps

nanoarrow_version=0.9.0
nanoarrow_hash=1ce15bbed8532839347faa78824c5dbd3769bff60661003e34c6fba5dd881bd3
duckdb_version=1.20000.1
duckdb_hash=0140448c472968ee5cf5ba697435deebe558b366ef1e5c080d24d9696b600725

say() { printf 'fetch-packages: %s\n' "$*" >&2; }

# check FILE SHA256
check() {
    local found
    found=$(sha256sum "$1")
    [ "${found%% *}" = "$2" ] && return 0
    say "${1##*/} has another hash than this script states; it is not used"
    return 1
}

# pip prepares a package's metadata in an environment of its own when it fetches the source.
fetch_nanoarrow() {
    local archive=$work/nanoarrow-$nanoarrow_version.tar.gz source=$work/nanoarrow-$nanoarrow_version
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-binary nanoarrow \
        --dest "$work" "nanoarrow==$nanoarrow_version" >&2
    check "$archive" "$nanoarrow_hash"
    tar -xzf "$archive" -C "$work" --no-same-owner
    local root=$source/subprojects/arrow-nanoarrow flatcc
    flatcc=$(echo "$source"/subprojects/flatcc-*)
    mkdir "$root/thirdparty"
    ln -s "$flatcc" "$root/thirdparty/flatcc"
    python3 "$root/ci/scripts/bundle.py" --output-dir "$work/bundle" --with-ipc --with-flatcc \
        --symbol-namespace ShoalArrow >&2
    cp "$flatcc/LICENSE" "$work/bundle/LICENSE.flatcc"
    cp "$flatcc/NOTICE" "$work/bundle/NOTICE.flatcc"
    printf '%s\n' "${flatcc##*/flatcc-}" >"$work/bundle/VERSION.flatcc"
    printf '%s\n' "$nanoarrow_version" >"$work/bundle/VERSION"
    mv "$work/bundle" "$deps/nanoarrow"
}

# cargo keeps what it shows in its cache.
fetch_duckdb() {
    local archive inner=duckdb/src/include
    cargo info --quiet "libduckdb-sys@$duckdb_version" >/dev/null
    archive=$(ls "${CARGO_HOME:-$HOME/.cargo}"/registry/cache/*/"libduckdb-sys-$duckdb_version.crate" | head -n 1)
    check "$archive" "$duckdb_hash"
    tar -xzf "$archive" -C "$work" --no-same-owner
    local source=$work/libduckdb-sys-$duckdb_version
    mkdir "$work/duckdb"
    tar -xzf "$source/duckdb.tar.gz" -C "$work/duckdb" --no-same-owner --strip-components=3 \
        "$inner/duckdb.h" "$inner/duckdb_extension.h"
    cp "$source/LICENSE" "$work/duckdb/LICENSE"
    printf '%s\n' "$duckdb_version" >"$work/duckdb/VERSION"
    mv "$work/duckdb" "$deps/duckdb"
}

[ $# -gt 0 ] || set -- nanoarrow
for name in "$@"; do
    [ -d "$deps/$name" ] && continue
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mkdir -p "$deps"
    say "fetching $name"
    "fetch_$name"
    rm -rf "$work"
done
