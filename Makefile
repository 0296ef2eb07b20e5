# What a fresh machine needs: Python 3.11+, make, git and the package index that pip is set up for.
PYTHON ?= python3
# A machine that forbids bytecode makes each start of poolsmith, and each worker of the tests, twice as slow.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
STAMP := $(VENV)/.ready
RULES := generator/poolsmith/data/rules.json
FACTS := $(wildcard generator/poolsmith/data/*.yaml generator/poolsmith/data/*/*.yaml) $(wildcard generator/poolsmith/core/sources/*.py)
PYTEST = PATH="$(CURDIR)/.tools:$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest -q -n auto --dist worksteal
PIP := install --quiet --disable-pip-version-check

.PHONY: run test test-near test-real test-deep e2e lint lint-types lint-rest check bench fuzz mutate audit sbom docs docs-of-rules docs-of-fields docs-of-releases picture lock tools engines clean help

help:
	@echo "make run        generate and check the sample fleet"
	@echo "make test       a sample of every kind of proof, in minutes: before each commit"
	@echo "make test-near  the tests near what has changed since main, in seconds (BASE=commit for another base)"
	@echo "make test-real  what needs a control plane or many runs of a real tool (make tools)"
	@echo "make test-deep  everything, with full counts"
	@echo "make e2e        the sample fleet on a real control plane with the operator itself (docs/e2e.md)"
	@echo "make lint       linters, types, floors"
	@echo "make bench      the table of budgets, measured"
	@echo "make fuzz       random input for every reader, for FUZZ_SECONDS (60)"
	@echo "make mutate     which of PLACES (80) small faults the tests notice, chosen by SEED (1): hours"
	@echo "make audit      known vulnerabilities in the locks (needs a network)"
	@echo "make picture    docs/images, from the report of a change to the sample fleet (needs chromium)"
	@echo "make sbom       the bill of materials, as CycloneDX"
	@echo "make engines    the real Flux and Argo CD for the tests of make test-deep (needs Go, redis-server; ten minutes)"
	@echo "make tools      kustomize, helm, kubeconform, the API server and its CEL for the tests that use them (needs Go)"

run: $(STAMP)
	@$(BIN)/poolsmith run

# With CIRCLE=both what `make test-real` does in the same run: what .ci/run asks for.
CIRCLE ?= test
test: $(STAMP)
	@$(PYTEST) --circle $(CIRCLE)

# What is near a change: tests/tools/near_map.py. Less than twenty seconds; what it leaves, it names.
test-near: $(STAMP)
	@PATH="$(CURDIR)/.tools:$(CURDIR)/$(BIN):$$PATH" PYTHONPATH=generator:tests $(BIN)/python -m tools.near --base "$(BASE)"

# What needs a control plane, or many runs of a real tool; without the tools it is skipped, and the run says so.
test-real: $(STAMP)
	@$(PYTEST) --circle real

test-deep: $(STAMP)
	@$(PYTEST) --circle deep

# Needs POOLSMITH_OPERATOR_BINARIES and POOLSMITH_CHARTS; the table of docs/e2e.md is written to .tools/e2e.md.
e2e: $(STAMP)
	@rm -f .tools/e2e.md
	@PATH="$(CURDIR)/.tools:$(CURDIR)/$(BIN):$$PATH" POOLSMITH_E2E_TABLE="$(CURDIR)/.tools/e2e.md" \
	  $(BIN)/python -m pytest -q -p no:randomly tests/e2e

# Types take one processor as long as all the rest takes another: make --jobs=2 lint.
lint: lint-types lint-rest

lint-types: $(STAMP)
	@$(BIN)/mypy

lint-rest: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports
	@$(BIN)/yamllint -s profiles policies output .github action.yml action examples .pre-commit-hooks.yaml .pre-commit-config.yaml
	@$(BIN)/zizmor --offline --no-progress --quiet .github action.yml action

check: $(STAMP)
	@$(BIN)/poolsmith generate --check

bench: $(STAMP)
	@$(BIN)/python -m poolsmith.core.facts.twins
	@PATH="$(CURDIR)/.tools:$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tests/bench/run.py

fuzz: $(STAMP)
	@$(BIN)/python tests/fuzz/run.py

# What is committed is measured; it goes on where it ended, and the table is put into docs/mutations.md.
SEED ?= 1
PLACES ?= 80
MUTATE = PATH="$(CURDIR)/.tools:$(CURDIR)/$(BIN):$$PATH" PYTHONPATH=generator:tests $(BIN)/python -m tools.mutate
mutate: $(STAMP)
	@$(MUTATE) places --seed $(SEED) --places $(PLACES)
	@$(MUTATE) reach
	@$(MUTATE) run
	@$(MUTATE) table --write

audit: $(STAMP)
	@test -x .tools/audit/bin/python || $(PYTHON) -m venv .tools/audit
	@.tools/audit/bin/pip $(PIP) --require-hashes --requirement .ci/requirements-audit.lock
	@PYTHONPATH=generator:tests $(BIN)/python -m tools.audit_locks .tools/audit/bin/pip-audit $(AUDIT)

sbom: $(STAMP)
	@PYTHONPATH=generator:tests $(BIN)/python -m tools.make_sbom

# What is generated from code: rules, schemas, field tables, examples.
docs: docs-of-rules docs-of-fields docs-of-releases
	@UPDATE_DOCS=1 $(BIN)/python -m pytest -q tests/docs tests/architecture

docs-of-releases: $(STAMP)
	@UPDATE_DOCS=1 $(BIN)/python -m pytest -q tests/docs/test_catalog.py -k table_of_releases

docs-of-rules: $(RULES) $(STAMP)
	@$(BIN)/poolsmith rules --format markdown > docs/rules.md

docs-of-fields: $(STAMP)
	@for kind in Cluster:cluster NodePool:node-pool NodePoolBase:node-pool-base DriverImageList:driver-image-list; do \
	  $(BIN)/poolsmith schema $${kind%%:*} > profiles/_schemas/$${kind##*:}.schema.json; done
	@for kind in PrivilegeGrant:privilege-grant PrivilegeEnforcement:privilege-enforcement SupplyPolicy:supply-policy \
	  WaiverList:waiver-list RuleSettings:rule-settings PolicyTest:policy-test; do \
	  $(BIN)/poolsmith schema $${kind%%:*} > policies/_schemas/$${kind##*:}.schema.json; done
	@UPDATE_DOCS=1 $(BIN)/python -m pytest -q tests/docs/test_field_reference.py

# The picture of the README, from the report of a change to the sample fleet; needs chromium.
picture: $(STAMP)
	@PYTHONPATH=generator:tests $(BIN)/python -m tools.make_picture

# Pinned and hashed, for every platform; no index address in them, so that a mirror works as well. What makes the locks
# is installed from a lock itself; UV=path/to/uv makes them with another one, to raise its own version.
UV ?= .tools/uv/bin/uv
COMPILE = $(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
  --no-emit-find-links --no-annotate --no-config --quiet --custom-compile-command "make lock"
lock: .tools/uv/bin/uv
	@$(COMPILE) pyproject.toml --group dev --extra cel -o requirements.lock
	@$(COMPILE) pyproject.toml --group build --extra cel --constraint requirements.lock -o requirements-run.lock
	@for extra in live dask; do $(COMPILE) pyproject.toml --group build --extra cel --extra $$extra \
	  --constraint requirements.lock -o requirements-$$extra.lock || exit 1; done
	@$(COMPILE) --group audit -o .ci/requirements-audit.lock
	@$(COMPILE) --group lock -o .ci/requirements-uv.lock
	@$(COMPILE) --group schemas -o .ci/requirements-schemas.lock

.tools/uv/bin/uv: .ci/requirements-uv.lock
	@$(PYTHON) -m venv .tools/uv
	@.tools/uv/bin/pip $(PIP) --require-hashes --requirement .ci/requirements-uv.lock
	@touch $@

tools:
	@.ci/install-tools

# Flux's controllers and Argo CD, for tests/engines; not in .ci/run.
engines:
	@.ci/install-engines

# What runs know of the rules; code that names a rule loads with it only.
$(RULES): $(wildcard generator/poolsmith/data/rules/*.yaml) | $(INSTALLED)
	@$(BIN)/python tests/tools/rule_table.py

# The catalog's YAML as JSON and code that is loaded at once, which are faster to read; without them poolsmith says the
# same.
$(STAMP): $(INSTALLED) $(FACTS) $(RULES)
	@$(BIN)/python -m poolsmith.core.facts.twins
	@touch $@

$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "poolsmith needs Python 3.11 or later")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/pip $(PIP) --require-hashes --requirement requirements.lock
	@$(BIN)/pip $(PIP) --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q -j 0 generator tests
	@touch $@

clean:
	@rm -rf $(VENV) .tools .pytest_cache .mypy_cache .ruff_cache .hypothesis
