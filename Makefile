# The tasks of this project. They need only Go, git, make and bash.

SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := build

PREFIX         ?= /usr/local
PROGRAM_PREFIX ?=
FUZZTIME       ?= 60s
LANES          ?= 1
KILLS          ?= 2000
CUTS           ?= 3000
CRAWL_KILLS    ?= 100
SIGNALS        ?= 300
CLUSTERS       ?= 200
ROUNDS         ?= 1000
SEED           ?= 1
COUNT          ?= 10
OLD            ?= old.txt
NEW            ?= new.txt
F              ?= Fuzz
P              ?= ./...
B              ?= .

GO     ?= go
TOOL   := $(GO) tool -modfile=internal/tools/go.mod
SHELLS := $(filter-out %.go,$(wildcard scripts/*)) .ci/run

# The race detector needs cgo, and cgo a C compiler.
CC_FOUND := $(shell command -v $$($(GO) env CC) 2>/dev/null)
RACE     := $(if $(CC_FOUND),-race,)

.PHONY: help
help: ## print this list
	@echo 'usage: make [target] [VARIABLE=value]'; echo
	@sed -nE 's/^([a-z-]+):.*## (.*)/  \1\t\2/p' Makefile | expand -t 16

##@ Every day

.PHONY: build all
all: build
# Without cgo the commands need no shared library, and start faster.
build: ## the commands, into bin/ (the default)
	CGO_ENABLED=0 $(GO) build -o bin/ ./cmd/...

.PHONY: demo
demo: build ## crawl the documentation of the Go tree, on loopback, in 20 seconds
	scripts/demo

.PHONY: test test-long race
# Without cgo, as the commands are built, and without the analyses of vet.
test: build ## the short tests
	CGO_ENABLED=0 $(GO) test -vet=off -short -timeout=15m -shuffle=on ./...
test-long: build ## all tests
	$(GO) test -timeout=60m -shuffle=on $$($(GO) list ./... | grep -v '/cmd/internal/fetch$$')
	$(GO) test -timeout=60m -shuffle=on ./cmd/internal/fetch # alone, because it measures time and memory
# The race detector multiplies the time of tests, so race uses it only for packages that start
# goroutines, lock or use atomics. By default it delays the exit of every command by a second.
CONCURRENT := grep -rlE '^\s*go [a-z.]+\(|\.Go\(|sync\.(RW)?Mutex|"sync/atomic"' cmd internal --include='*.go'
race: ## the short tests with the race detector, where there are goroutines
	GORACE=atexit_sleep_ms=0 $(GO) test $(RACE) -short -timeout=15m -shuffle=on \
		$$($(CONCURRENT) | xargs -n1 dirname | sort -u | grep -vE '^internal/(bench|interop)' | sed 's|^|./|')

.PHONY: golden
golden: ## rewrite what the tests expect, and show the difference
	$(GO) test $$(grep -rlE 'flag.Bool\("update"|scripttest.Run' --include='*_test.go' . | xargs -n1 dirname | sort -u) -update
	git diff --stat

##@ Checks: before every commit, and in .ci/run

.PHONY: check fmt vet tidy fix lint shell cross
check: fmt vet tidy fix lint shell test ## fmt vet tidy fix lint shell test
.PHONY: check-long
check-long: cross race test-long test-browser ## cross race test-long test-browser
fmt: ## check that gofmt -s changes nothing
	@files=$$(git ls-files --cached --others --exclude-standard '*.go' | xargs gofmt -s -l); \
	if [ -n "$$files" ]; then echo "gofmt -s -w would change:"; echo "$$files"; exit 1; fi
vet: ## go vet
	$(GO) vet ./...
tidy: ## check that go mod tidy changes nothing
	$(GO) mod tidy -diff
fix: ## check that go fix (the modernizers) changes nothing
	$(GO) fix -diff ./...
lint: ## staticcheck with all checks
	$(TOOL) staticcheck -checks all ./...
shell: ## shfmt, and shellcheck if it is installed
	$(TOOL) shfmt -d $(SHELLS)
	@if command -v shellcheck >/dev/null; then shellcheck $(SHELLS); else echo 'shellcheck is not installed: skipped'; fi
# The host's own system is part of vet.
cross: ## go vet for linux, darwin and windows on amd64 and arm64
	@host=$$($(GO) env GOHOSTOS)/$$($(GO) env GOHOSTARCH); \
	for os in linux darwin windows; do for arch in amd64 arm64; do \
		[ "$$os/$$arch" != "$$host" ] || continue; \
		echo "GOOS=$$os GOARCH=$$arch $(GO) vet ./..."; \
		GOOS=$$os GOARCH=$$arch CGO_ENABLED=0 $(GO) vet ./...; \
	done; done

##@ Occasionally

.PHONY: test-browser
test-browser: ## test render, reports and serve in Chromium, and archives in it with npm's replaywebpage
	scripts/test-browser

.PHONY: interop
interop: ## compare fetch and warc with curl, wget, Chromium, gowarc, warcio.js and js-wacz
	scripts/interop

.PHONY: crash
TERSE := grep -Ev '^=== |^ +--- PASS'
crash: build ## frontier killed KILLS (2000) times, its power cut CUTS (3000) times, crawls of all strategies killed CRAWL_KILLS (100) times each, crawls sent SIGNALS (300), CLUSTERS (200) crawls on several nodes disturbed, ROUNDS (1000) pairs of commits, crawls on one to five nodes
	$(GO) test -v -count=1 -timeout=2h -run='^TestPowerCuts$$' ./internal/frontier -cuts=$(CUTS) -seed=$(SEED) | $(TERSE)
	$(GO) test -v -count=1 -timeout=2h -run='^TestKilledAtAnyMoment$$' ./cmd/internal/frontier -kills=$(KILLS) -seed=$(SEED) | $(TERSE)
	$(GO) test -v -count=1 -timeout=6h -parallel=2 -run='^TestACrawlKilledAtRandomFetchesTheSame$$' ./e2e -kills=$(CRAWL_KILLS) -seed=$(SEED) -strategies=all | $(TERSE)
	$(GO) test -v -count=1 -timeout=2h -run='^TestACrawlInterruptedAtRandomFetchesTheSame$$' ./e2e -signals=$(SIGNALS) -seed=$(SEED) | $(TERSE)
	$(GO) test -v -count=1 -timeout=6h -run='^TestADisturbedClusterFetchesTheSame$$' ./e2e -clusters=$(CLUSTERS) -seed=$(SEED) | $(TERSE)
	$(GO) test -v -count=1 -timeout=6h -run='^TestTheNumberOfNodesDoesNotMatter$$' ./e2e -node-counts | $(TERSE)
	$(GO) test -v -count=1 -timeout=2h -run='^TestOneOfTwoCommitsCounts$$' ./internal/exchange -rounds=$(ROUNDS) | $(TERSE)

.PHONY: supervised
supervised: build ## a live crawl of 30 hosts under runit for FOR (2h), killed, its disk full, a host down
	$(GO) test -v -count=1 -timeout=24h -run='^TestASupervisedCrawlLosesNothing$$' ./e2e -supervised=$(or $(FOR),2h) -seed=$(SEED)

.PHONY: million
million: build ## crawl a planted web of a million pages (PAGES on HOSTS) for hours, killed at each tenth; measures every process
	scripts/million $(or $(PAGES),1000000) $(or $(HOSTS),200000)

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (60s), LANES (1) at a time; F=Name P=./dir/ selects
	@grep -rnoE '^func $(F)[A-Za-z0-9_]*\(f \*testing\.F' --include='*_test.go' . | \
	sed -E 's|^(.*)/[^/]*:[0-9]+:func ([A-Za-z0-9_]+).*|\1 \2|' | sort -u | while read -r dir name; do \
		case "$(P)" in ./...|"$$dir"|"$$dir/") echo "$$dir $$name" ;; esac; \
	done | xargs -r -P $(LANES) -L 1 bash -o pipefail -c \
		'$(GO) test -run="^$$" -fuzz="^$$1\$$" -fuzztime=$(FUZZTIME) "$$0" </dev/null 2>&1 | sed "s|^|$$1: |"'

.PHONY: bench bench-peers benchstat
bench: ## the benchmarks COUNT (10) times, to stdout; B=pattern P=./dir/ selects
	@$(GO) test -run='^$$' -bench='$(B)' -count=$(COUNT) $(P)
bench-peers: ## commands and frontier beside other programs COUNT (10) times: runs/bench.txt and doc/results/speed.md
	mkdir -p runs
	scripts/bench $(COUNT) >runs/bench.txt
	scripts/bench page <runs/bench.txt >doc/results/speed.md
benchstat: ## compare OLD (old.txt) and NEW (new.txt)
	@$(TOOL) benchstat $(OLD) $(NEW)

.PHONY: charsets languages translations
charsets: translations ## compare how charsets are recognized with Chromium and gogs/chardet, on Debian's translations, to stdout
	@cd internal/bench && $(GO) run ./charsets -chromium '$(or $(SPOOR_CHROMIUM),chromium)' ../../runs/translations
languages: translations ## compare how languages are detected with whatlanggo and lingua, on the same, to stdout
	@cd internal/bench && $(GO) run ./languages ../../runs/translations
translations: # downloaded from Debian once
	@cd internal/bench && $(GO) run ./translations ../../runs/translations

.PHONY: results
results: build ## write the tables in doc/results, which takes hours; FROM=DIR: from comparisons that are done; PARTS='k e' selects
	scripts/results $(if $(FROM),-from '$(FROM)') $(PARTS)
.PHONY: papers
papers: build ## the five papers in their own set-up, by their own measures and by labels: doc/results/papers.md, in about half an hour; FROM=DIR as of results
	scripts/results $(if $(FROM),-from '$(FROM)') papers

##@ Installing and releasing

.PHONY: man install uninstall deb release
export GO PROGRAM_PREFIX
man: build ## manual pages and completions, into dist/share
	rm -rf dist/share
	scripts/package share dist/share
install: build ## commands, manual pages and completions, into PREFIX; PROGRAM_PREFIX=spoor- names them spoor-fetch, …; FORCE=1 overwrites files of others
	scripts/package install '$(DESTDIR)$(PREFIX)'
uninstall: ## remove what install has put into PREFIX and nobody has changed
	scripts/package uninstall '$(DESTDIR)$(PREFIX)'
deb: build ## a Debian package in dist/, with the prefix spoor-
	scripts/package deb
release: build ## archives for linux, darwin and windows, and SHA256SUMS, in dist/; TARGETS=linux/arm64 selects
	TARGETS='$(TARGETS)' scripts/package release

.PHONY: clean
clean: ## remove bin/ and dist/
	rm -rf bin dist
