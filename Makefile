# SPDX-License-Identifier: Apache-2.0
# Needs make and a Python of 3.10 or later; everything else goes into .venv. `make help` lists the targets.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help jaeger prometheus traceql test-backends dashboards setup demo status test test-oldest test-hooks test-crewai test-neighbours test-servers lint format catalogue pictures schema snapshots bench build clean

VENV := .venv
OLDEST := .venv-oldest
OLDEST_HTTPX := .venv-oldest-httpx
HOOKS := .venv-hooks
CREWAI := .venv-crewai
NEIGHBOURS := .venv-neighbours
JAEGER := .tools/jaeger
GO_AGENT := .tools/a2a-go-agent
JAVA_AGENTS := .tools/a2a-java-agents
LIBRARIES := tests/hooks/libraries
BIN := $(VENV)/bin
ARGS ?=

# The first of these that is a usable Python; `make setup PYTHON=…` chooses another.
USABLE := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.10 python; do \
	$$p -c '$(USABLE)' >/dev/null 2>&1 && { echo $$p; break; }; done)
# The oldest supported Python where there is one, since it is the one least tried.
OLDEST_PYTHON ?= $(shell python3.10 -c '$(USABLE)' >/dev/null 2>&1 && echo python3.10 || echo '$(PYTHON)')

define NO_PYTHON
otel-a2a needs Python 3.10 or later with the modules venv and ensurepip (on Debian and Ubuntu: python3-venv).
None was found as python3, python3.10 … python3.13 or python. Name one with: make PYTHON=/path/to/python
endef
export NO_PYTHON
FIND_PYTHON = "$(1)" -c '$(USABLE)' 2>/dev/null || { echo "$$NO_PYTHON" >&2; exit 1; }

help:  ## show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

setup: $(VENV)/.dev  ## make .venv with everything that the other targets need

demo: $(VENV)/.demo  ## show the violations of a redeployed agent; ARGS="--strictness raise" stops them
	@$(BIN)/otel-a2a demo $(ARGS)

status: $(VENV)/.demo  ## show the effective settings, clients and rules
	@# The set-up brings the exporter for OTLP over HTTP, and OpenTelemetry's own default is the one for gRPC.
	@OTEL_EXPORTER_OTLP_PROTOCOL=$${OTEL_EXPORTER_OTLP_PROTOCOL:-http/protobuf} $(BIN)/otel-a2a status $(ARGS)

test: $(VENV)/.dev  ## run the tests against the newest supported versions; ARGS="-k name" chooses some
	$(BIN)/python -m pytest $(ARGS)

test-oldest: $(OLDEST)/.test $(OLDEST_HTTPX)/.test  ## run the tests against the oldest supported versions
	$(OLDEST_HTTPX)/bin/python -m pytest $(ARGS) tests/clients/test_*.py tests/test_loading.py tests/test_instrumentor.py
	$(OLDEST)/bin/python -m pytest $(ARGS)

test-hooks: $(HOOKS)/.test  ## run the tests of the hooks with a2a-sdk 0.3 and python-a2a
	@# Warnings of those libraries are theirs.
	$(HOOKS)/bin/python -m pytest -W default $(LIBRARIES)/test_a2a_sdk_0_3.py $(LIBRARIES)/test_a2a_sdk_0_3_cards.py $(LIBRARIES)/test_python_a2a.py $(ARGS)

test-crewai: $(CREWAI)/.test  ## run the tests of the hook with crewAI, which takes minutes to install
	CREWAI_DISABLE_TELEMETRY=true $(CREWAI)/bin/python -m pytest -W default $(LIBRARIES)/test_crewai.py $(ARGS)

test-neighbours: $(NEIGHBOURS)/.test  ## run the tests beside the instrumentations of others
	$(NEIGHBOURS)/bin/python -m pytest tests/neighbours $(ARGS)

jaeger:  ## build the Jaeger of the tests into .tools; needs Go, and minutes the first time
	@if command -v go >/dev/null; then $(MAKE) --no-print-directory $(JAEGER); \
	else echo "There is no Go here to build Jaeger with: the tests that need Jaeger are skipped."; fi

prometheus:  ## make sure that there is a Prometheus, for the tests that need one
	@tools/prometheus.sh

traceql: tools/traceql/node_modules/.package-lock.json  ## install Grafana's grammar of TraceQL; needs npm

test-backends: $(VENV)/.dev jaeger prometheus traceql  ## run the tests against real backends; ARGS="-k prometheus" chooses some
	$(BIN)/python -m pytest tests/backends $(ARGS)

test-servers: $(VENV)/.dev tests/servers/js/node_modules/.package-lock.json $(GO_AGENT) $(JAVA_AGENTS)/.built  ## run the tests with servers in other languages
	$(BIN)/python -m pytest tests/servers $(ARGS)

dashboards: $(VENV)/.dev  ## write the dashboards of exporters/grafana anew; needs Python 3.11
	$(BIN)/mypy --python-version 3.11 exporters/grafana/*.py
	PYTHONPATH=exporters $(BIN)/python -m grafana

compat: $(VENV)/.dev  ## run every client in an environment of its own and write docs/compatibility.md; ARGS="name …" chooses some
	$(BIN)/python -m tests.compat.run $(ARGS)
	$(BIN)/python -m tests.compat.report

lint: $(VENV)/.dev  ## check style, types and the arrows between the rooms
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

format: $(VENV)/.dev  ## rewrite the sources in the house's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

catalogue: $(VENV)/.dev  ## write policies/README.md from the rules and their guides
	$(BIN)/otel-a2a rules --format markdown > policies/README.md

snapshots: $(VENV)/.dev  ## write the snapshots of the tests anew; read the difference before you commit it
	$(BIN)/python -m pytest --update-snapshots tests/e2e/test_trace_snapshots.py tests/watch/test_watch_view.py

pictures: $(VENV)/.demo  ## write the pictures of the README, docs/*.svg, by running what they show
	$(BIN)/python tools/pictures.py

schema: $(VENV)/.dev  ## write docs/finding.schema.json from the model of a line
	$(BIN)/python -m otel_a2a_exporters.record > docs/finding.schema.json

bench: $(VENV)/.dev  ## measure what the plugin costs, as ratios
	$(BIN)/python benchmarks/overhead.py $(ARGS)

build: $(VENV)/.dev  ## build the wheel and the source distribution into dist/
	$(BIN)/python -m build --outdir dist .

clean:  ## remove what the other targets made
	rm -rf .compat $(VENV) $(OLDEST) $(OLDEST_HTTPX) $(HOOKS) $(CREWAI) $(NEIGHBOURS) .tools tools/traceql/node_modules tests/servers/js/node_modules dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: a set-up is repeated only when what it depends on has changed.

$(VENV)/.made:
	@$(call FIND_PYTHON,$(PYTHON))
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.demo: $(VENV)/.made pyproject.toml constraints/test.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints/test.txt -e '.[demo]'
	@touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml constraints/test.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints/test.txt -e '.[dev]'
	@touch $(VENV)/.demo $@

$(OLDEST)/.made $(OLDEST_HTTPX)/.made:
	@$(call FIND_PYTHON,$(OLDEST_PYTHON))
	$(OLDEST_PYTHON) -m venv --clear $(@D)
	@touch $@

$(OLDEST)/.test: $(OLDEST)/.made pyproject.toml constraints/oldest.txt
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints/oldest.txt -e '.[test]'
	@touch $@

$(OLDEST_HTTPX)/.test: $(OLDEST_HTTPX)/.made pyproject.toml constraints/oldest-httpx.txt
	$(OLDEST_HTTPX)/bin/python -m pip install --quiet --disable-pip-version-check -r constraints/oldest-httpx.txt -e .
	@touch $@

$(HOOKS)/.made $(CREWAI)/.made $(NEIGHBOURS)/.made:
	@$(call FIND_PYTHON,$(PYTHON))
	$(PYTHON) -m venv --clear $(@D)
	@touch $@

$(HOOKS)/.test: $(HOOKS)/.made pyproject.toml constraints/hooks.txt
	$(HOOKS)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints/hooks.txt -e . \
		'a2a-sdk[http-server,sqlite]' aiohttp flask httpx pytest pytest-asyncio requests uvicorn
	@# It asks for the packages of several model providers, which its client does not need.
	$(HOOKS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -c constraints/hooks.txt python-a2a
	@touch $@

tools/traceql/node_modules/.package-lock.json: tools/traceql/package.json tools/traceql/package-lock.json
	@if command -v npm >/dev/null; then cd tools/traceql && npm ci --silent --no-audit --no-fund && touch ../../$@; \
	else echo "npm is missing: TraceQL is not checked; the tests that do so are skipped, and fail where CI is set" >&2; fi

tests/servers/js/node_modules/.package-lock.json: tests/servers/js/package.json tests/servers/js/package-lock.json
	@if command -v npm >/dev/null; then cd $(<D) && npm ci --silent --no-audit --no-fund && touch ../../../$@; \
	else echo "npm is missing: the tests with a server in JavaScript are skipped" >&2; fi

$(GO_AGENT): tests/servers/go/main.go tests/servers/go/go.mod tests/servers/go/go.sum
	@if command -v go >/dev/null; then cd $(<D) && CGO_ENABLED=0 go build -buildvcs=false -trimpath -o ../../../$@ . && touch ../../../$@; \
	else echo "Go is missing: the tests with a server in Go are skipped" >&2; fi

$(JAVA_AGENTS)/.built: $(shell find tests/servers/java -type f)
	@if command -v mvn >/dev/null; then echo "building the agents in Java, which takes minutes the first time"; \
	mvn --quiet --batch-mode -f tests/servers/java -Dout="$(CURDIR)/$(JAVA_AGENTS)" package && touch $@; \
	else echo "Maven is missing: the tests with servers in Java are skipped" >&2; fi

$(CREWAI)/.test: $(CREWAI)/.made pyproject.toml constraints/crewai.txt
	$(CREWAI)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints/crewai.txt -e . \
		'crewai[a2a]' httpx pytest pytest-asyncio uvicorn
	@touch $@

$(NEIGHBOURS)/.test: $(NEIGHBOURS)/.made pyproject.toml constraints/neighbours.txt
	$(NEIGHBOURS)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints/neighbours.txt -e . \
		'a2a-sdk[http-server,grpc]' aiohttp grpcio httpx httpx-aiohttp logfire openinference-instrumentation \
		'google-adk[a2a] ; python_version >= "3.11"' 'openinference-instrumentation-google-adk ; python_version >= "3.11"' \
		opentelemetry-instrumentation-{aiohttp-client,grpc,httpx,requests} pytest pytest-asyncio requests uvicorn
	@touch $@

$(JAEGER): tools/jaeger/go.mod tools/jaeger/go.sum
	cd tools/jaeger && CGO_ENABLED=0 go build -buildvcs=false -trimpath -ldflags='-s -w' -o ../../$@ \
		github.com/jaegertracing/jaeger/cmd/jaeger
	@touch $@
