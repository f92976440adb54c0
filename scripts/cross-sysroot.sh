#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Puts what the build and the tests for another machine need into build/sysroot/ARCHITECTURE (arm64,
# armhf, s390x: Debian's names): its C library and the aggregator's libraries. They are unpacked
# from Debian's packages and not installed, so this machine's packages and lists stay as they are.
# On this machine it installs a cross compiler and qemu-user, and says so. It skips what is there.
set -euo pipefail
cd "$(dirname "$0")/.."
architecture=${1:?cross-sysroot.sh ARCHITECTURE: arm64, armhf or s390x}
sysroot=$PWD/build/sysroot/$architecture
say() { printf 'cross-sysroot: %s\n' "$*" >&2; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

case $architecture in
    arm64) triplet=aarch64-linux-gnu ;;
    armhf) triplet=arm-linux-gnueabihf ;;
    s390x) triplet=s390x-linux-gnu ;;
    *) say "no such architecture here: $architecture"; exit 2 ;;
esac
if ! { [ -r /etc/os-release ] && (. /etc/os-release && [ "${ID:-}" = debian ] && [ "${VERSION_ID:-}" = 12 ]); }; then
    say "this is written for Debian 12; elsewhere unpack its $architecture packages into $sysroot by hand"
    exit 1
fi

missing=()
for name in "gcc-$triplet" qemu-user; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
done
if [ ${#missing[@]} -gt 0 ]; then
    say "installing ${missing[*]}"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 update >&2
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 install -y \
        --no-install-recommends "${missing[@]}" >&2
fi
[ ! -e "$sysroot/.complete" ] || exit 0

# The libraries of the native build (setup.sh), for the other architecture.
packages=(libc6-dev libcjson-dev libutf8proc-dev libmicrohttpd-dev libsqlite3-dev libssl-dev libzstd-dev zlib1g-dev libcurl4-openssl-dev libcmocka-dev)

# A package manager with its own empty state finds all packages that these need.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/sources"
: >"$work/status"
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
# Only the release of this machine's Debian lists is used, without its updates, because nothing that
# is unpacked here is shipped.
for file in /etc/apt/sources.list.d/*.sources; do
    [ -e "$file" ] || continue
    awk -v RS= -v ORS='\n\n' -v suite="$codename" '$0 ~ "Suites:[^\n]*[ \t]" suite "([ \t\n]|$)"' "$file" |
        sed "s/^Suites:.*/Suites: $codename/" >"$work/sources/${file##*/}"
done
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -e "$file" ] || continue
    sed -n "/^deb .*[ \t]$codename[ \t].*\bmain\b/p" "$file" >>"$work/sources/lines.list"
done
options=(-qq -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$work/sources" -o "Dir::State::lists=$work/lists"
    -o "Dir::Cache=$work/cache" -o "Dir::State::status=$work/status" -o "APT::Architecture=$architecture"
    -o "APT::Architectures=$architecture" -o APT::Sandbox::User=root)
say "unpacking ${packages[*]} of $architecture into $sysroot"
apt-get "${options[@]}" update
apt-get "${options[@]}" install -y --no-install-recommends --download-only "${packages[@]}" >/dev/null

rm -rf "$sysroot"
mkdir -p "$sysroot"
for file in "$work"/cache/archives/*.deb; do dpkg-deb -x "$file" "$sysroot"; done
# Absolute links would lead into this machine, so they become relative.
find "$sysroot" -type l -lname '/*' | while read -r link; do
    ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$sysroot$(readlink "$link")")" "$link"
done
touch "$sysroot/.complete"
