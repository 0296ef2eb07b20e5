# What a fresh machine needs: Python 3.11+, make, git and the package index that pip is set up for.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: run test test-deep lint check bench docs lock tools clean help

help:
	@echo "make run        generate and check the sample fleet"
	@echo "make test       tests, in minutes"
	@echo "make test-deep  tests with full example counts"
	@echo "make lint       linters, types, floors"
	@echo "make bench      the table of budgets, measured"
	@echo "make tools      kustomize, helm and kubeconform for the tests that use them (needs Go)"

run: $(STAMP)
	@$(BIN)/poolsmith generate
	@$(BIN)/poolsmith check

test: $(STAMP)
	@PATH="$(CURDIR)/.tools:$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest -q -n auto --dist worksteal

test-deep: $(STAMP)
	@PATH="$(CURDIR)/.tools:$(CURDIR)/$(BIN):$$PATH" HYPOTHESIS_PROFILE=deep $(BIN)/python -m pytest -q -n auto --dist worksteal

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/yamllint -s profiles policies output .github .pre-commit-hooks.yaml .pre-commit-config.yaml
	@$(BIN)/zizmor --offline --no-progress --quiet .github

check: $(STAMP)
	@$(BIN)/poolsmith generate --check

bench: $(STAMP)
	@$(BIN)/python tests/bench/run.py

# What is generated from code: rules, schemas, field tables, examples; and the catalog's YAML as JSON, to be read faster.
docs: $(STAMP)
	@UPDATE_CATALOG=1 $(BIN)/python -m pytest -q tests/catalog/test_compiled.py
	@$(BIN)/poolsmith rules --format markdown > docs/rules.md
	@for kind in Cluster:cluster NodePool:node-pool NodePoolBase:node-pool-base DriverImageList:driver-image-list; do \
	  $(BIN)/poolsmith schema $${kind%%:*} > profiles/_schemas/$${kind##*:}.schema.json; done
	@for kind in PrivilegeGrant:privilege-grant PrivilegeEnforcement:privilege-enforcement SupplyPolicy:supply-policy \
	  WaiverList:waiver-list RuleSettings:rule-settings PolicyTest:policy-test; do \
	  $(BIN)/poolsmith schema $${kind%%:*} > policies/_schemas/$${kind##*:}.schema.json; done
	@UPDATE_DOCS=1 $(BIN)/python -m pytest -q tests/docs tests/architecture

# Pinned and hashed, for every platform; no index address in it, so that a mirror works as well.
lock:
	@$(PYTHON) -m venv $(VENV) && $(BIN)/pip install --quiet uv==0.13.8
	@$(BIN)/uv pip compile pyproject.toml --group dev --extra cel --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --no-annotate --no-config --quiet \
	  --custom-compile-command "make lock" -o requirements.lock

tools:
	@.ci/install-tools

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "poolsmith needs Python 3.11 or later")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

clean:
	@rm -rf $(VENV) .tools .pytest_cache .mypy_cache .ruff_cache .hypothesis
