#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `make bench` builds what is measured, runs the native and the WebAssembly benchmark, prints one
# table of ratios and writes build/bench/bench.json. The previous run becomes build/bench/last.json,
# with which the table compares. Then it draws curves of the commands (build/bench/curves.svg,
# curves.json) with their peaks of memory, and measures the accuracy of every mechanism beside its
# formula.
#
# It fails if a step is more than 20 times off its aim, a command takes more than 1.2 times the
# memory that it announces, or a variance is more than 10 % off its formula. It takes about seven
# minutes after the builds. See docs/performance.md.
set -euo pipefail
cd "$(dirname "$0")/.."

build() {
    cmake --preset "$1" >/dev/null
    cmake --build --preset "$1" --target "$2" >/dev/null
}
export NODE_PATH=${NODE_PATH:-/usr/share/nodejs} # Debian's emscripten looks for its modules there
for target in shoal shoal_bench shoal_measured shoal_accuracy; do build release $target; done
build emscripten shoal_wasm

out=build/bench
mkdir -p $out
[ ! -e $out/bench.json ] || mv $out/bench.json $out/last.json

say() { printf 'bench: %s\n' "$*" >&2; }
say "native, one core"
build/release/shoal_bench >$out/lines
say "WebAssembly in Node"
node tests/bench/client.mjs >>$out/lines
node tests/bench/edge.mjs >>$out/lines
say "shoal serve under load"
node tests/bench/serve.mjs "$PWD/build/release/shoal" >>$out/lines
say "pages of a thousand collections"
SHOAL_BIN="$PWD/build/release/shoal" node tests/bench/pages.mjs >>$out/lines
say "a leader under load"
SHOAL_BIN="$PWD/build/release/shoal" node tests/bench/dap_uploads.mjs >>$out/lines

notes=$(node -e '
    const [compiler, emcc] = process.argv.slice(1);
    const [cpu] = require("os").cpus();
    const note = { date: new Date().toISOString().slice(0, 16) + "Z", cpu: cpu.model.trim(), cores: require("os").cpus().length,
                   load: require("os").loadavg()[0], compiler, emcc, node: process.version };
    process.stdout.write(JSON.stringify(note))' \
    "$("$(sed -n 's/^CMAKE_C_COMPILER:[^=]*=//p' build/release/CMakeCache.txt)" --version | head -1)" \
    "emcc $(emcc --version | sed -n '1s/.*) \([0-9.]*\).*/\1/p')")
node tests/bench/report.mjs $out/bench.json $out/last.json "$notes" <$out/lines
say "curves and memory, from files to files"
node tests/bench/curves.mjs build/release $out/curves.json $out/curves.svg "$notes"
say "accuracy of every mechanism, two cores"
build/release/shoal_accuracy | tee $out/accuracy
