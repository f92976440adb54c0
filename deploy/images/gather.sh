#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Collects the files of an image, inside a Debian that is thrown away afterwards: programs, the libraries they load, and the notices of
# the Debian packages that these come from. So an image has no shell, no package manager and no file that nobody needs.
#   gather.sh ROOT FILE...     a FILE that is no program is copied as it is
set -eu
root=$1
shift

for folder in usr/bin usr/lib usr/lib64 etc/shoal tmp var/lib/shoal; do mkdir -p "$root/$folder"; done
for folder in bin lib lib64; do ln -s "usr/$folder" "$root/$folder"; done
chmod 1777 "$root/tmp"
chmod 700 "$root/var/lib/shoal"
chown 10001:10001 "$root/var/lib/shoal"
printf 'root:x:0:0:root:/:/none\nshoal:x:10001:10001:shoal:/var/lib/shoal:/none\n' >"$root/etc/passwd"
printf 'root:x:0:\nshoal:x:10001:\n' >"$root/etc/group"
printf 'hosts: files dns\n' >"$root/etc/nsswitch.conf"
cp /etc/os-release "$root/etc/os-release"

# The path as packages know it: /lib is a link to /usr/lib.
canonical() { printf '%s/%s\n' "$(readlink -f "$(dirname "$1")")" "$(basename "$1")"; }

# Copies a file, and of the package that it belongs to the notice and the entry that scanners read.
take() {
    path=$(canonical "$1")
    mkdir -p "$root$(dirname "$path")"
    cp -L "$path" "$root$path"
    package=$(dpkg -S "$path" "${path#/usr}" 2>/dev/null | head -n 1 | cut -d: -f1)
    [ -n "$package" ] || return 0
    [ ! -e "$root/var/lib/dpkg/status.d/$package" ] || return 0
    mkdir -p "$root/var/lib/dpkg/status.d" "$root/usr/share/doc/$package"
    dpkg-query -s "$package" >"$root/var/lib/dpkg/status.d/$package"
    cp -L "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/copyright"
    # Notices refer to the texts of common licences by their path.
    grep -o '/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]' "/usr/share/doc/$package/copyright" | sort -u |
        while read -r licence; do
            [ -e "$licence" ] || continue
            mkdir -p "$root/usr/share/common-licenses"
            cp -L "$licence" "$root$licence"
        done
}

for file in "$@"; do
    take "$file"
    libraries=$(ldd "$file" 2>/dev/null) || continue # no program, or one that loads nothing
    if printf '%s\n' "$libraries" | grep 'not found' >&2; then
        echo "gather.sh: $file needs a library that this Debian does not have: it was built for another system" >&2
        exit 1
    fi
    for library in $(printf '%s\n' "$libraries" | grep -o '/[^ ]*'); do take "$library"; done
done
# glibc loads this one by name when a thread ends.
for library in /lib/*-linux-gnu*/libgcc_s.so.1; do [ ! -e "$library" ] || take "$library"; done
find "$root" -exec touch -h -d @0 {} +
