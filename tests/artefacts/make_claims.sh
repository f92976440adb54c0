#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes the accumulators of claims/ with the `shoal` on PATH: what the lines of commands.txt that ingest make of the files
# of before/, and what those that merge make of these. The files in the tree are not made again; artefacts.test.mjs holds
# today's program to them.
# Usage: make_claims.sh FOLDER, a folder that does not exist yet.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir "${1:?make_claims.sh FOLDER}"
claims=$(cd "$1" && pwd)
grep -P '\t(ingest|merge) ' "$here/commands.txt" | while IFS=$'\t' read -r output arguments; do
    mkdir -p "$(dirname "$claims/$output")"
    read -ra words <<<"$arguments"
    if [ "${words[0]}" = ingest ]; then cd "$here/before"; else cd "$claims"; fi
    shoal "${words[@]}" </dev/null >"$claims/$output"
done
