# Test, check and mend keyspacectl. `make` alone lists the targets.
#
# make verify and make fix are a pair: what verify finds in form (format, module
# files, generated docs, lint that can mend itself), fix mends.

GO ?= go
FUZZTIME ?= 5s
TESTFLAGS ?=
TESTTIMEOUT ?= 20m

GOLANGCI_LINT_VERSION := v2.15.0
GORELEASER_VERSION := v2.15.1

TOOLS := $(CURDIR)/.tools
GOLANGCI_LINT := $(TOOLS)/golangci-lint-$(GOLANGCI_LINT_VERSION)

.DEFAULT_GOAL := help
.PHONY: help
help: ## List the targets
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

.PHONY: test
test: redis ## Run all tests, on the embedded server and on a Redis of their own
	$(GO) test -timeout $(TESTTIMEOUT) $(TESTFLAGS) ./...

.PHONY: verify
verify: format-check vet lint tidy-check test-race fuzz ## Run every check and the tests with the race detector

.PHONY: fix
fix: $(GOLANGCI_LINT) ## Mend format, module files, generated docs and lint
	$(GO) mod tidy
	$(GOLANGCI_LINT) run --fix
	gofmt -w .
	$(GO) test . -run 'TestGeneratedDocs' -update

.PHONY: bench
bench: redis ## Run the benchmarks and time whole commands (by hand: figures, no checks)
	$(GO) test -run '^$$' -bench . ./...
	scripts/bench.sh

.PHONY: format-check
format-check:
	@found=$$(gofmt -l .); test -z "$$found" || { echo "gofmt would change: $$found; run make fix"; exit 1; }

.PHONY: vet
vet:
	$(GO) vet ./...

.PHONY: lint
lint: $(GOLANGCI_LINT) ## Run golangci-lint
	$(GOLANGCI_LINT) run

.PHONY: tidy-check
tidy-check:
	$(GO) mod tidy -diff

# What runs the program as a process, thousands of times, is left to make test:
# the real server where the embedded one runs the same code, and the scripts of
# commands that do one thing after the other.
ONE_THING := blob|config|connect|inspect|keyspace|output|tool|warm|opaque_(decode|delete|history|keys|put|read|txn)
NOT_WITH_RACE := ^TestScripts$$/^redis$$|^TestScripts$$/^embedded$$/^($(ONE_THING))(_|$$)|^TestDocs$$|^TestExamples$$|^TestConcurrent(Puts|CAS)$$/./^processes$$|^Test(ImportKilled|CopyEndsEarly|MigrateKilled)$$

.PHONY: test-race
test-race: redis
	$(GO) test -race -timeout $(TESTTIMEOUT) -skip '$(NOT_WITH_RACE)' $(TESTFLAGS) ./...

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME (5s)
	@FUZZTIME=$(FUZZTIME) scripts/fuzz.sh

.PHONY: release-check
release-check: ## Check .goreleaser.yaml (builds goreleaser, which takes minutes)
	$(GO) run github.com/goreleaser/goreleaser/v2@$(GORELEASER_VERSION) check

.PHONY: redis
redis:
	@scripts/ensure-redis.sh

# The linter is built once for each version; its module cache is Go's own.
$(GOLANGCI_LINT):
	GOBIN=$(TOOLS)/bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	mv $(TOOLS)/bin/golangci-lint $@
