# Everything a user or a developer types. Needs npm on the PATH; Node itself comes with the dependencies.
SHELL := bash
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

.PHONY: up test test-real check bench format openapi

# Another one of examples/: make up EXAMPLE=qdrant
EXAMPLE ?= orders

up: node_modules/.installed ## start the embedded cluster with the operators and an example in it, examples/orders unless told otherwise
	@./polder up -f examples/$(EXAMPLE)

test: node_modules/.installed ## type check, lint, format, import rules and every suite that needs no outside server
	@node tools/check.ts
	@vitest run --project unit

test-real: node_modules/.installed ## the suites against real systems, which it builds into the user's cache first
	@vitest run --project 'real*'

check: node_modules/.installed ## the static part of the tests alone
	@node tools/check.ts

bench: node_modules/.installed ## print the benchmark tables
	@node bench/runtime/run.ts
	@node bench/cluster/run.ts
	@node bench/engine/run.ts
	@node bench/dataflow/run.ts
	@node bench/qdrant/run.ts

format: node_modules/.installed ## rewrite files to the common format
	@biome check --write

openapi: node_modules/.installed ## write anew what is generated from a real API server and from Kubernetes' Go types
	@node tools/openapi/generate.ts
	@node tools/protobuf/generate.ts "$$(go env GOMODCACHE)"
	@biome check --write packages/kube packages/embedded

# Not `npm ci`: it refuses a lock file without the binaries of every other platform, which not every registry has. The mark
# is made last, so that an install that broke off is done again.
node_modules/.installed: package.json package-lock.json $(wildcard packages/*/package.json examples/*/package.json bench/package.json)
	@command -v npm > /dev/null || { echo "Polder needs npm (it brings its own Node with it). Install Node.js and npm, then run make again." >&2; exit 1; }
	@echo "Installing dependencies ..."
	@npm install --no-save --no-audit --no-fund --loglevel=error
	@touch $@
