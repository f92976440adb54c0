#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Puts the distribution's own sources of the named packages, with its security patches, into
# build/deps/NAME; skips what is there. Without names: cJSON and utf8proc, for the WASI build. The
# archives that a source was unpacked from stay in build/deps/archives/NAME. The machine's package
# lists stay as they are. Elsewhere than on Debian: unpack cJSON (1.7.15 or later) and utf8proc (2.8
# or later) into those folders.
#   fetch-sources.sh [NAME]...
set -euo pipefail
cd "$(dirname "$0")/.."
deps=$PWD/build/deps

[ $# -gt 0 ] || set -- cjson utf8proc
wanted=()
for name in "$@"; do
    [ -d "$deps/$name" ] || wanted+=("$name")
done
[ ${#wanted[@]} -gt 0 ] || exit 0

say() { printf 'fetch-sources: %s\n' "$*" >&2; }
if ! command -v apt-get >/dev/null; then
    say "no apt-get here: unpack the sources of ${wanted[*]} into $deps/<name> by hand"
    exit 1
fi

# Turns this machine's Debian sources into sources of source packages: stanzas (.sources) or lines
# (.list).
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/src" "$work/sources" "$deps/archives"
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
for file in /etc/apt/sources.list.d/*.sources; do
    [ -e "$file" ] && grep -q "^Suites:.*\b$codename" "$file" || continue
    sed 's/^Types:.*/Types: deb-src/' "$file" >"$work/sources/${file##*/}"
done
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -e "$file" ] || continue
    sed -n "s/^deb \(.*\b$codename\b.*\bmain\b.*\)/deb-src \1/p" "$file" >>"$work/sources/lines.list"
done

options=(-qq -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$work/sources" -o "Dir::State::lists=$work/lists"
    -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=root)
say "fetching ${wanted[*]}"
apt-get "${options[@]}" update
for name in "${wanted[@]}"; do
    mkdir "$work/src/$name"
    (cd "$work/src/$name" && apt-get "${options[@]}" source "$name" >/dev/null)
    mv "$work/src/$name"/*/ "$deps/$name"
    rm -rf "$deps/archives/$name"
    mv "$work/src/$name" "$deps/archives/$name"
done
