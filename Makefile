# SPDX-License-Identifier: Apache-2.0
# A thin layer over CMake presets and npm: each target is a few commands that also work by hand.
#   make            everything: build/release/shoal, the page's module, the JavaScript packages
#   make demo       the whole way, from a page to a histogram (KEEP=1 leaves it open; SPLIT=1: two servers that see no record)
#   make playground a page that draws crowds and shows what would be seen of them, on loopback
#   make bench      what each step costs;  make bench-compare BASE=file: and what changed since a run that was kept
#   make bench-discover   how many words each way of discovery finds;  make bench-lengths: and of which lengths
#   make quick      under a minute: the format, the build and the tests of what you changed
#   make test       what must be green before a merge;  make test-long: the long settings, and fuzzing
#   make campaign   lists the checks that take hours;  make campaign NAME=fuzz: runs one, or goes on with it (docs/campaigns.md)
#   make release    packages, checksums and their signature, in build/release-files (docs/release.md)
#   make images     the deployment kit's images, without a daemon; as root
#   make sbom       what everything is made of, as CycloneDX JSON;  make audit: holes known in packages, or that nobody could be asked
#   make test-aarch64     64-bit ARM under an emulator;  test-armv7l, test-s390x: 32 bits, big-endian
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
# setup.sh puts a Node there where the system's is missing or older than 20.
export PATH := $(CURDIR)/build/tools/node/bin:$(PATH)
.PHONY: all setup native wasm js demo playground images quick test test-long bench bench-compare bench-discover bench-lengths fuzz campaign format check-format clean sbom release audit \
    test-native test-asan \
    test-tsan test-emscripten test-wasi test-accuracy test-types test-js test-aarch64 test-armv7l test-s390x

c_files = git ls-files --cached --others --exclude-standard -z '*.c' '*.h'
text_files = git ls-files --cached --others --exclude-standard -z '*.js' '*.mjs' '*.md'
# Those of tests/aggregator/serve run under ctest, against each native build's program.
js_tests = $(sort $(shell find wasm/test ui/test edge/test relay/test issuer/test web-demo/test aggregator/test create/test dev/test verify/test docs/playground/test scripts tests \
    -name '*.test.mjs' -not -path '*/node_modules/*' -not -path 'tests/aggregator/serve/*' 2>/dev/null))
say = @printf '\n== %s\n' '$@'

all: native wasm js

setup:
	@scripts/setup.sh

native: setup
	cmake --preset release
	cmake --build --preset release

wasm: setup
	cmake --preset emscripten
	cmake --build --preset emscripten

js: wasm
	npm run build --workspaces --if-present

# Only what it runs is built, not the native tests.
demo: setup
	cmake --preset release
	cmake --build --preset release --target shoal
	@$(MAKE) --no-print-directory js
	node scripts/demo.mjs

# The page and shoal in WebAssembly, which any static host can serve, too: docs/playground/dist.
playground: js
	node docs/playground/build.mjs --serve

# deploy/images/build.mjs --help says what it needs; IMAGES="edge relay" builds some.
images: all
	node deploy/images/build.mjs $(IMAGES)

# BASE=commit: files count as changed since that commit. The default is HEAD, or the merge base with main.
quick:
	@node scripts/quick.mjs $(BASE)

# setup brings the browsers of tests/browsers/, and there a missing one fails.
test: export SHOAL_BROWSERS = 1
test: export SHOAL_REQUIRE_BROWSERS = 1
# The stages of a test run, in order; each may be run alone. The JavaScript tests use the native and the wasm build.
test: setup
	@$(MAKE) --no-print-directory check-format
	@$(MAKE) --no-print-directory test-native
	@$(MAKE) --no-print-directory test-asan
	@$(MAKE) --no-print-directory test-tsan
	@$(MAKE) --no-print-directory test-emscripten
	@$(MAKE) --no-print-directory test-wasi
	@$(MAKE) --no-print-directory js
	@$(MAKE) --no-print-directory --output-sync=target -j2 test-accuracy test-types
	@$(MAKE) --no-print-directory test-js
	@printf '\n== all green\n'

test-long: export SHOAL_LONG = 1
test-long: test
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=10

test-native test-asan test-tsan test-emscripten test-wasi: test-%: setup
	$(say)
	cmake --preset $(preset)
	cmake --build --preset $(preset) $(if $(SHOAL_LONG),,--target all)
	ctest --preset $(preset) $(if $(SHOAL_LONG),--timeout 7200) $(ctest_options)
test-native: preset = release
# Under SHOAL_LONG the limit of time ends a test that hangs, not one on a busy machine.
# The labels are in tests/aggregator/CMakeLists.txt; threads are in the aggregator and the servers only.
test-asan: ctest_options = -LE '^statistics$$'
test-tsan: ctest_options = -E '^(core|fuzz|install)\.' -LE '^(one_thread|statistics|simulation$(if $(SHOAL_LONG),,|whole))$$'
test-asan test-tsan test-emscripten test-wasi: preset = $*

# Other machines, emulated; they install a cross compiler and qemu. Not part of a test run.
test-aarch64 test-armv7l test-s390x: test-%: setup
	$(say)
	scripts/test-cross.sh $*

# What estimates, intervals, plans and rounds promise, through the commands; a few settings, or all under SHOAL_LONG; ngrams take
# six minutes of a processor for all, which the campaign `statistics` has.
test-accuracy: native
	$(say)
	node tests/aggregator/accuracy/accuracy.mjs $(if $(SHOAL_LONG),--long)
	node tests/aggregator/accuracy/plan_accuracy.mjs $(if $(SHOAL_LONG),--long)
	node tests/aggregator/accuracy/refinement.mjs $(if $(SHOAL_LONG),--long)
	node tests/aggregator/accuracy/ngrams.mjs

test-types: setup
	$(say)
	npm run check
	npm run check --workspaces --if-present

test-js: setup
	$(say)
	node tests/run_js.mjs $(js_tests)

bench: setup
	scripts/bench.sh

# What changed since a saved run: make bench-compare BASE=file. NOW is the last run, and made when there is none.
NOW ?= build/bench/bench.json
bench-compare:
	@test -n "$(BASE)" || { echo "make bench-compare BASE=file: a bench.json that was kept" >&2; exit 2; }
	@test -e "$(NOW)" || scripts/bench.sh
	node tests/bench/compare.mjs $(BASE) $(NOW)

# Goes on where a run before it ended; see the script for what it takes. Half an hour when nothing is kept.
bench-discover: native
	node scripts/bench-discover.mjs

bench-lengths: native
	node scripts/bench-lengths.mjs

# Each libFuzzer program for FUZZ_SECONDS, from its corpus; what it finds that is new goes to build/fuzz/corpus.
FUZZ_SECONDS ?= 60
fuzz: setup
	cmake --preset fuzz
	cmake --build --preset fuzz
	@for program in build/fuzz/tests/fuzz_*; do \
	    name=$${program##*/fuzz_}; \
	    printf '\n== fuzz %s\n' "$$name"; \
	    mkdir -p "build/fuzz/corpus/$$name"; \
	    "$$program" -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 -verbosity=0 \
	        -artifact_prefix="build/fuzz/$$name-" "build/fuzz/corpus/$$name" "tests/fuzz/corpus/$$name"; \
	done

# NAME= lists them. MINUTES=30: so long, SEED=2, ONLY=part: of it, FRESH=1: forgets the run before.
campaign: setup
	node scripts/campaign.mjs $(NAME) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED)) \
	    $(if $(ONLY),--only '$(ONLY)') $(if $(FRESH),--fresh)

# Code and Markdown are wrapped at 100 columns; .prettierignore says what prettier leaves alone.
check-format: setup
	$(say)
	$(c_files) | xargs -0 -P2 -n200 clang-format-14 --dry-run -Werror
	$(text_files) | xargs -0 npx prettier --check --log-level warn

format: setup
	$(c_files) | xargs -0 clang-format-14 -i
	$(text_files) | xargs -0 npx prettier --write --log-level warn

# build/sbom.cdx.json
sbom: setup
	node scripts/sbom.mjs

# Signed with the key of SHOAL_RELEASE_KEY; RELEASE_FLAGS go to the script.
release: all
	node scripts/release/make.mjs $(RELEASE_FLAGS)

# Ends with 0: clean; 1: findings; 5: could not run. make itself says 2 for both of the latter, after the outcome in words.
audit:
	@node scripts/audit.mjs

clean:
	rm -rf build wasm/dist ui/dist edge/dist web-demo/dist aggregator/dist docs/playground/dist
