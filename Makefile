# Each target is a plain go command or two. GO, TIMEOUT, FUZZTIME and ARGS can
# be set on the command line: make fuzz FUZZTIME=5m, make demo ARGS=--json.
GO       ?= go
TIMEOUT  ?= 300s
FUZZTIME ?= 20s
SCENARIOS ?= scenarios
SEEDS    ?= 1
ONLY     ?= *
ARGS     ?=

# The benchmarks' module has other multiplexers among its dependencies, which
# users of this one need not get. So have those of contrib, and tools, with the
# linter.
MODULES := . $(patsubst %/go.mod,%,$(wildcard bench/go.mod contrib/*/go.mod))
TOOL    := $(GO) tool -modfile=$(CURDIR)/tools/go.mod

.DEFAULT_GOAL := help
.PHONY: help test race accuracy lab rivals audit-study demo cast speedtest-accuracy speedtest-demo kernel-accuracy kernel-onesided kernel-split kernel-change kernel-cast scale soak bench compat idle libp2p tutorial page-test e2e metrics-reference fuzz alloc cover lint fmt vet vuln clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: ## all tests, with the race detector where it works, and how many ran
	@$(GO) run ./internal/testcount -timeout $(TIMEOUT) -unraced 'Alloc|Memory' -flags '$(ARGS)' $(MODULES)

race: ## the same, failing where the race detector does not work
	@$(GO) run ./internal/testcount -race on -timeout $(TIMEOUT) -flags '$(ARGS)' $(MODULES)

accuracy: ## how far predictions are from what fetches take, over simulated paths
	@$(GO) test ./internal/lab/accuracy -count=1 -timeout $(TIMEOUT) -run TestAccuracy -v $(ARGS) -args -whole

lab: build ## all scenarios in virtual time, a line each; SCENARIOS=DIR, SEEDS=5, ONLY='pacer*'
	@rm -f build/lab.json
	@(cd internal/lab/engine && $(GO) test -count=1 -timeout 90m -run '^TestLab$$' $(ARGS) -args \
		-lab.dir $(abspath $(SCENARIOS)) -lab.seeds $(SEEDS) -lab.only '$(ONLY)' -lab.out $(CURDIR)/build/lab.json); code=$$?; \
	if [ -f build/lab.json ]; then $(GO) run ./internal/lab/plots/labplots build/lab.json || exit 1; fi; exit $$code

rivals: SEEDS = 3
rivals: build ## Assay and what people use instead on the same scenarios; ARGS=-rivals.strict to fail where it is not best
	@cd internal/lab/rivals && $(GO) test -count=1 -timeout 180m -run '^TestRivals$$' $(ARGS) -args \
		-rivals.dir $(abspath $(SCENARIOS)) -rivals.seeds $(SEEDS) -rivals.only '$(ONLY)' -rivals.out $(CURDIR)/build/rivals.json

audit-study: build ## the audit against simulated populations, without packets (minutes)
	@$(GO) run ./internal/lab/auditstudy $(ARGS)

demo: ## two nodes fetch files from each other over a shaped path, and compare
	@$(GO) run ./cmd/demo-node pair $(ARGS)

cast: ## honest and bad peers, and the ranking that finds out which is which (a minute)
	@$(GO) run ./cmd/demo-node cast $(ARGS)

speedtest-accuracy: ## the speed test against 100 links of known rates, in virtual time
	@$(GO) test ./audit/speedtest -count=1 -timeout $(TIMEOUT) -run TestAccuracy -v $(ARGS) -args -whole

speedtest-demo: ## a speed test of peers whose true capacities are known (3 minutes)
	@$(GO) run ./cmd/demo-node speedtest demo $(ARGS)

kernel-accuracy: build ## predictions and round trips over kernel TCP on emulated paths (20 minutes; root)
	@$(GO) run ./internal/lab/kernellab accuracy $(ARGS)

kernel-onesided: build ## the same against unmodified hashicorp/yamux and libp2p/go-yamux (30 minutes; root)
	@$(GO) run ./internal/lab/kernellab onesided -lossless -most 200 $(ARGS)
	@cd bench && $(GO) run ./cmd/kernelpeers -lossless -most 200 -out ../build $(ARGS)

kernel-split: ## what splitting frames gains on kernel TCP, and whose a wait for our window is (root)
	@$(GO) run ./internal/lab/kernellab split $(ARGS)

kernel-change: ## how soon a path that changes is seen and ranked (root)
	@$(GO) run ./internal/lab/kernellab change $(ARGS)

kernel-cast: ## honest and bad peers over kernel TCP, 1,000 fetches (5 minutes; root)
	@$(GO) run ./cmd/demo-node/internal/kernelcast $(ARGS)

scale: ## 1,000 connections through the ranker, and the records of 10,000 peers (3 minutes)
	@$(GO) run ./internal/lab/scale $(ARGS)

soak: ## peers that come, go and misbehave at random, for an hour; ARGS='-length 2m' (root)
	@$(GO) run ./internal/lab/soak $(ARGS)

bench: build ## speed, wrapped over bare, beside other multiplexers (about 5 minutes)
	@cd bench && $(GO) run ./cmd/bench -json ../build/bench.json $(ARGS)

compat: ## yamux's own tests, bare and wrapped
	@cd bench && $(GO) run ./cmd/compat $(ARGS)

idle: ## what 10,000 idle connections cost
	@cd bench && $(GO) run ./cmd/idle $(ARGS)

libp2p: ## go-libp2p's own tests of a multiplexer, and two hosts that measure each other
	@cd contrib/libp2p && $(GO) run ../../internal/testcount -timeout $(TIMEOUT) -flags '$(ARGS)'
	@cd contrib/libp2p && $(GO) run ./example

tutorial: build ## do what docs/tutorial.md says, from the text itself
	@$(GO) run ./internal/tutorial docs/tutorial.md

e2e: build ## metrics, rules, alerts and dashboards against a real Prometheus, the live page in a browser (4 minutes)
	@$(GO) build -o build/demo-node ./cmd/demo-node
	@$(GO) run ./cmd/demo-node/internal/e2e $(ARGS)
	@[ -n "$(CHROMIUM)" ] || command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends chromium fonts-liberation >/dev/null 2>&1; } || \
		echo "no chromium, and it can be installed only as root with apt-get: what needs a browser is skipped"
	@if grep -q '^page-test:' Makefile; then $(MAKE) --no-print-directory page-test; fi

metrics-reference: ## write docs/metrics.md from what the collector says of itself
	@$(GO) generate ./metrics

page-test: build ## the live page in a real browser; screenshots and figures in build/page (minutes)
	@GO=$(GO) cmd/demo-node/internal/livepage/browser/run $(ARGS)

# On a busy machine Go's fuzzer may take the end of -fuzztime itself for a failure, without
# an input that fails: then the target runs again.
fuzz: build ## each fuzz target for FUZZTIME
	@$(GO) test -list '^Fuzz' ./... > build/fuzz.txt || { cat build/fuzz.txt; exit 1; }
	@awk '/^Fuzz/ { name[n++] = $$1 } /^ok/ { for (i = 0; i < n; i++) print $$2, name[i]; n = 0 }' build/fuzz.txt | \
	while read -r package target; do \
		echo "$$package $$target"; \
		for try in 1 2 3; do \
			{ $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$$package" < /dev/null 2>&1; echo $$? > build/fuzz.rc; } | tee build/fuzz.log; \
			[ "$$(cat build/fuzz.rc)" = 0 ] && break; \
			[ $$try -lt 3 ] && grep -q '^ *context deadline exceeded$$' build/fuzz.log && ! grep -q 'Failing input' build/fuzz.log || exit 1; \
		done; \
	done

alloc: ## the allocation and memory tests, which the race detector would spoil
	@$(GO) run ./internal/testcount -race off -timeout $(TIMEOUT) -flags '-count=1 -run=Alloc|Memory' $(MODULES)

cover: build ## test coverage, by package, and as build/cover.html
	@$(GO) test -timeout $(TIMEOUT) -cover -coverprofile build/cover.out ./...
	@$(GO) tool cover -html build/cover.out -o build/cover.html
	@$(GO) tool cover -func build/cover.out | tail -1

lint: ## golangci-lint, built at its first use (some minutes)
	@for module in $(MODULES); do \
		(cd $$module && $(TOOL) golangci-lint run ./...) || exit 1; \
	done

fmt: ## format the code as lint wants it
	@$(TOOL) golangci-lint fmt $(MODULES)

vet: ## go vet and gofmt
	@for module in $(MODULES); do (cd $$module && $(GO) vet ./...) || exit 1; done
	@files=$$(gofmt -l .); if [ -n "$$files" ]; then echo "not formatted, run gofmt -w:"; echo "$$files"; exit 1; fi

vuln: build ## known vulnerabilities in what we call (asks vuln.go.dev)
	@$(TOOL) govulncheck ./... > build/vuln.txt 2>&1; code=$$?; cat build/vuln.txt; \
	if grep -q 'fetching vulnerabilities' build/vuln.txt; then \
		echo "Nothing was checked: the database at https://vuln.go.dev cannot be reached from here."; \
	fi; exit $$code

build:
	@mkdir -p $@

clean: ## what the targets above have written
	rm -rf build
