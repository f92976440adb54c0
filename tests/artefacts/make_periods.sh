#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes a store by period with the `shoal` on PATH, which must be version 0.1.0: one day that is folded, a batch that
# waits since the server was killed, and a sum that was not released. The day becomes 2026-11-20, so that it is over.
# Usage: make_periods.sh FOLDER, a folder that does not exist yet.
set -euo pipefail
mkdir "${1:?make_periods.sh FOLDER}"
cd "$1"

recipe() { # NAME PROTOCOL
    cat >"$1.json" <<END
{"recipe": "$1", "analysis": "tests", "stream": "typed-words", "value": "word", "mechanism": "cms",
 "parameters": {"epsilon": 4, "k": 16, "m": 64}, "hash": "poly1", "seed": "$(printf '5a%.0s' {1..32})",
 "limit": {"per_day": 1}, "batch": {"minimum": 100}, "cohort": {"minimum": 300},
 "aggregation": {"protocol": "$2"}, "expires": "2099-01-31"}
END
}
recipe reports reports
recipe sums sum
printf 'cod\t5\nherring\t3\n' >fish.tsv
for name in reports sums; do
    for batch in first second; do
        shoal simulate --recipe $name.json --counts fish.tsv --devices 400 --seed $batch -o $name-$batch.batch
    done
done
cat >config.json <<'END'
{"listen": "127.0.0.1:0", "store": "data", "fold_interval_s": 3600, "batch_secret_file": "secret",
 "recipes": ["reports.json", "sums.json"], "dictionaries": {"reports": "fish.tsv", "sums": "fish.tsv"}}
END
echo a-secret-of-the-artefacts >secret

start() {
    shoal serve --config config.json 2>log &
    server=$!
    until url=$(sed -n 's/.*listening on \(http:[^ ]*\)\/.*/\1/p' log) && [ -n "$url" ]; do sleep 0.1; done
    sleep 1 # the first fold is over
}
post() {
    curl -fsS -H "authorization: Bearer $(cat secret)" -H 'content-type: application/octet-stream' \
        --data-binary @"$1" "$url/v1/batches"
}
start
post reports-first.batch
kill $server # folds what waits
wait $server
start
for batch in reports-second sums-first sums-second; do post $batch.batch; done
kill -9 $server
wait $server || true
rm log data/lock

accumulator=$(echo data/accumulators/*)
mv "$accumulator" "$(sed 's/-d[0-9]*-/-d20777-/' <<<"$accumulator")"
sqlite3 data/shoal.db 'UPDATE accumulators SET start = 20777; UPDATE waiting SET start = 20777; UPDATE sums SET start = 20777;'
