#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fills build/release-libraries/lib with the shared libraries that shoal-linux-x64 carries beside the
# program. curl and libmicrohttpd are built small from Debian's sources: the packaged ones load some
# twenty libraries each. The others are Debian's own files. Skips what is there.
#   native-libraries.sh PROGRAM   the program whose libraries are wanted
set -euo pipefail
program=$(realpath "$1")
cd "$(dirname "$0")/../.."
out=$PWD/build/release-libraries
say() { printf 'native-libraries: %s\n' "$*" >&2; }

# Two releases that are made at once would build in one folder.
mkdir -p "$out"
exec 9>"$out/lock"
flock 9

scripts/fetch-sources.sh curl libmicrohttpd
version() { sed -n '1s/.*(\(.*\)).*/\1/p' "build/deps/$1/debian/changelog"; }

# build NAME LIBRARY OPTION...: configures and makes build/deps/NAME outside its folder.
build() {
    local name=$1 library=$2 stamp work
    shift 2
    work=$out/build/$name
    stamp="$(version "$name") $(sha256sum <scripts/release/native-libraries.sh)"
    [ "$(cat "$out/$name.stamp" 2>/dev/null)" != "$stamp" ] || return 0
    say "building $name $(version "$name")"
    rm -rf "$work" "$out/$name.stamp"
    mkdir -p "$work" "$out/lib"
    (
        cd "$work"
        CFLAGS="-O2 -g0 -fstack-protector-strong -D_FORTIFY_SOURCE=2 -ffile-prefix-map=$PWD=. -ffile-prefix-map=$OLDPWD=." \
            LDFLAGS="-Wl,-z,relro -Wl,-z,now" "$OLDPWD/build/deps/$name/configure" --quiet --disable-static --enable-shared \
            --disable-dependency-tracking --disable-maintainer-mode --prefix=/usr --sysconfdir=/etc "$@"
        # The program was linked with Debian's library, whose symbols have this version.
        [ ! -e lib/libcurl.vers ] || sed -i 's/^CURL_OPENSSL_3/CURL_OPENSSL_4/' lib/libcurl.vers
        make -s -j2 -C "${library%%:*}" >/dev/null
    ) >"$out/$name.log" 2>&1 || { tail -20 "$out/$name.log" >&2; exit 1; }
    cp -L "$work/${library##*:}" "$out/lib/"
    echo "$stamp" >"$out/$name.stamp"
}
build libmicrohttpd src/microhttpd:src/microhttpd/.libs/libmicrohttpd.so.12 --disable-https --disable-bauth --disable-dauth \
    --disable-postprocessor --disable-examples --disable-doc --disable-curl
build curl lib:lib/.libs/libcurl.so.4 --with-openssl --enable-versioned-symbols --with-ca-fallback \
    --with-ca-bundle=/etc/ssl/certs/ca-certificates.crt --enable-http --enable-threaded-resolver --disable-ftp --disable-file \
    --disable-ldap --disable-ldaps --disable-rtsp --disable-dict --disable-telnet --disable-tftp --disable-pop3 --disable-imap \
    --disable-smb --disable-smtp --disable-gopher --disable-mqtt --disable-manual --disable-ntlm --disable-unix-sockets \
    --disable-cookies --disable-alt-svc --disable-hsts --disable-websockets --without-zlib --without-brotli --without-zstd \
    --without-libpsl --without-libidn2 --without-nghttp2 --without-librtmp --without-libssh2 --without-gssapi --without-ldap

# What the program and those two load besides, without the C library, as the system has it.
for library in libsqlite3.so.0 libcjson.so.1 libutf8proc.so.2 libssl.so.3 libcrypto.so.3 libzstd.so.1 libz.so.1; do
    path=$({ ldd "$program"; ldd "$out/lib/libcurl.so.4"; } | sed -n "s|^\s*$library => \(\S*\) .*|\1|p" | head -1)
    [ -n "$path" ] || { say "$library: not loaded by $program"; exit 1; }
    cmp -s "$path" "$out/lib/$library" || cp -L "$path" "$out/lib/$library"
done
