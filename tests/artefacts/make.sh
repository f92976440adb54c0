#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes the artefacts anew with the `shoal` on PATH: the recipes first, then the output of each line of commands.txt.
# The files in the tree were made by version 0.1.0, commit 0a6c34a, before the files moved into rooms. They are not
# made again: artefacts.test.mjs reads them with today's program. A new feature gets new lines and new files.
# Usage: make.sh FOLDER, a folder that does not exist yet.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir "${1:?make.sh FOLDER}"
cd "$1"

expires=2099-12-31

# recipe NAME OPTION...: a recipe from options, with the seed replaced by one made of the name.
recipe() {
    local name=$1 seed
    shift
    mkdir -p "$name"
    seed=$(printf %s "$name" | sha256sum | cut -c1-64)
    shoal recipe new --id "$name" --expires "$expires" "$@" | sed "s/[0-9a-f]\{64\}/$seed/g" >"$name/recipe.json"
}

printf 'cod\t400\nherring\t900\nperch\t100\npike\t50\ntrout\t300\n' >fish.tsv
printf 'cod\nherring\nperch\npike\ntrout\nwhale\n' >asked.txt
printf 'cod\nherring\nperch\npike\ntrout\n' >list.txt
printf 'herring\t900\nperch\t700\ntrout\t20\n' >list.tsv
printf 'cod\tnorth\t400\nherring\tsouth\t900\nperch\tsouth\t100\npike\tnorth\t50\ntrout\tsouth\t300\n' >tanks.tsv
printf '0\t300\n7\t500\n39\t100\n' >sizes.tsv
printf 'north\nsouth\n' >tanks.txt
printf '0\t200\n15.5\t100\n37.25\t500\n99\t30\n' >numbers.tsv

printf '1\t0\t1\n1\t1\t1\n3\t0\t1\n3\t1\t9\n' >thresh.tsv
printf '1\tcod\t5\n1\tpike\t2\n3\tcod\t1\n3\therring\t9\n' >heavythresh.tsv

recipe cms --mechanism cms --epsilon 4 --k 16 --m 64
recipe hcms --mechanism hcms --epsilon 4 --k 16 --m 64
recipe olh --mechanism olh --epsilon 2 --k 64 --g 8
recipe rappor --mechanism rappor --epsilon 8 --bits 16 --hashes 2 --cohorts 4
for mechanism in onehot-asymmetric onehot-symmetric grr subset hadamard; do
    recipe $mechanism --mechanism $mechanism --epsilon 2 --values list.txt
done
recipe one-bit-mean --mechanism one-bit-mean --epsilon 2 --low 0 --high 100
recipe loloha --mechanism loloha --epsilon 2 --epsilon-permanent 3 --g 4 --values list.txt
recipe piecewise --mechanism piecewise --epsilon 2 --low 0 --high 100
recipe buckets --mechanism grr --epsilon 3 --size 8 --low 0 --high 100
recipe sized --mechanism cms --epsilon 4 --k 8 --m 32 --size 40
recipe sfp-olh --mechanism sfp --epsilon 6 --epsilon-fragment 6 --k 64 --m 16 --k-fragment 64 --m-fragment 16 --length 4
recipe sfp-cms --mechanism sfp --oracle cms --epsilon 6 --epsilon-fragment 6 --k 16 --m 64 --k-fragment 16 \
    --m-fragment 32 --length 4
recipe rappor-ngram --mechanism rappor-ngram --epsilon 12 --bits 16 --hashes 2 --cohorts 2 --length 4 \
    --alphabet acdehiknoprtu
recipe trie --mechanism trie --epsilon 8 --devices 4000 --depth 4 --max-prefixes 100
recipe joint --variable kind=grr:2:list.txt --variable tank=:2:tanks.txt
recipe joint-words --variable word=rappor:6:bits=16:hashes=2:cohorts=2:f=0 --variable tank=grr:3:tanks.txt
recipe thresh --mechanism thresh --epsilon 16 --users 5000 --epochs 4 --samples 10000
recipe heavythresh --mechanism heavythresh --epsilon 16 --epsilon-estimate 2 --users 5000 --epochs 4 --samples 10000 \
    --projection 64

# A question in rounds under a policy, the recipe of a split collection, and one that was signed once (its key is not kept).
mkdir policy query split signed
cat >policy/policy.json <<'END'
{"policy": "keyboard", "keys": ["d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"],
 "streams": [{"stream": "typed-phrases", "retention_days": 14,
              "fields": [{"field": "age", "type": "number"}, {"field": "phrase", "type": "tokens"}, {"field": "locale", "type": "text"}]}],
 "analyses": [{"analysis": "keyboard", "stream": "typed-phrases", "mechanisms": ["subset", "hadamard"],
               "budget": {"epsilon": 1.5, "delta": "1e-8", "reports": 3}, "cohort": {"minimum": 1000, "honest": 0.9},
               "split_by": ["locale"],
               "fields": [{"field": "phrase", "local_epsilon": 4, "epsilon": 1.5, "reports": 3}]}]}
END
cat >query/recipe.json <<'END'
{"recipe": "query", "analysis": "keyboard", "stream": "typed-phrases", "value": "fields",
 "encoding": [{"field": "age", "boundaries": [20, 30, 40]},
              {"field": "phrase", "prefixes": [""], "tokens": ["i", "you", "went", "got"]}],
 "mechanism": "subset", "parameters": {"epsilon": 4}, "limit": {"per_day": 1},
 "cohort": {"minimum": 1000, "epsilon": 0.5, "delta": "1e-9"}, "policy": "END_OF_POLICY", "version": 3,
 "round": {"index": 1}, "aggregation": {"protocol": "sum"}, "expires": "2099-01-31"}
END
sed -i "s/END_OF_POLICY/$(shoal policy hash policy/policy.json | cut -c1-64)/" query/recipe.json
printf '%s\t%s\n' '{"phrase":"i went home","age":24}' 60 '{"phrase":"you got a","age":33}' 30 '{"phrase":"you","age":10}' 10 \
    >query/events.tsv
cp "$here/../aggregator/golden/signed.json" signed/recipe.json
printf 'cod\t5\nherring\t3\n' >signed/counts.tsv
sed 's/"recipe": "query"/"recipe": "split"/; s/"policy"/"split_by": [{"field": "locale", "values": ["de", "en"]}], "policy"/' \
    query/recipe.json >split/recipe.json
shoal recipe part split/recipe.json de >split/part.json

# A line of commands.txt is a file and the arguments that print it; of a folder, @ stands for its name.
grep -v '^#' "$here/commands.txt" | while IFS=$'\t' read -r output arguments; do
    mkdir -p "$(dirname "$output")"
    read -ra words <<<"${arguments//@/$output}"
    case $output in
        */) shoal "${words[@]}" </dev/null ;;
        *) shoal "${words[@]}" </dev/null >"$output" ;;
    esac || { echo "make.sh: shoal $arguments" >&2; exit 1; }
done

# A store of the server with two batches in it, and what the server answers from it.
mkdir store
cat >store/config.json <<'END'
{"listen": "127.0.0.1:0", "store": "data", "period": "all", "fold_interval_s": 0.05, "batch_secret_file": "secret",
 "recipes": ["../cms/recipe.json", "../query/recipe.json"], "dictionaries": {"cms": "../asked.txt"}}
END
echo a-secret-of-the-artefacts >store/secret
shoal serve --config store/config.json 2>store/log &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
until url=$(sed -n 's/.*listening on \(http:[^ ]*\)\/.*/\1/p' store/log) && [ -n "$url" ]; do sleep 0.1; done
for name in cms query; do
    curl -fsS -H "authorization: Bearer $(cat store/secret)" -H 'content-type: application/octet-stream' \
        --data-binary @$name/reports.batch "$url/v1/batches"
    until curl -fsS "$url/v1/results/$name" >store/$name.json; do sleep 0.1; done
    [ $name = cms ] || curl -fsS "$url/v1/sums/$name" >store/$name.acc
done
kill $server
wait $server
trap - EXIT
rm store/log
