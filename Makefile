# Every command makes what it needs on first use: Python 3.11 or newer and make are enough.
PYTHON ?= python3
STACK ?= dev
FORMAT ?= tree
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest -q --numprocesses 2 --dist loadfile
ROOMS := components stacks policies preview tests docs bench examples __main__.py

# checkov pins an older boto3 than the tests need. Its environment is kept outside of the clone, one per version.
CHECKOV_PINS := tests/validators/checkov.txt
CHECKOV := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/winkube/checkov-$(shell sed -n 's/^checkov==//p' $(CHECKOV_PINS))

# The SDKs have thousands of modules, of which a program imports a few: those are compiled when they are imported.
PIP := --quiet --disable-pip-version-check --no-compile
# Images of Python often switch that off; every command would then compile the SDK anew.
export PYTHONDONTWRITEBYTECODE :=

# What an installation builds: the libraries that the node agent carries.
BUILD := setup.py components/node_agent/vendoring.py

.PHONY: help preview test verify proof binaries machines validators lint types format coverage docs snapshots site engine boot-test boot-up mutants bench bench-full scale clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

preview: $(VENV)/.run  ## Show what a stack would create (STACK=dev, FORMAT=tree|json|markdown)
	@$(BIN)/winkube preview $(STACK) --policies policies --format $(FORMAT)

test: $(VENV)/.dev  ## Run the fast tests: two minutes, needs nothing but Python (a plain pytest runs the same)
	@$(PYTEST)

verify: validators  ## Run the slow tests that are Python alone: agents, docs, the wheel, validators
	@WINKUBE_CHECKOV=$(CHECKOV) $(PYTEST) -m verify

proof: $(VENV)/.dev  ## Run what was built: API servers, kubeadm, Wine, an engine, machines; skip what was not
	@$(PYTEST) -m proof

binaries: $(VENV)/.dev  ## Build all real programs that tests run, once per version (half an hour; needs Go 1.26)
	@$(BIN)/python -m tests.binaries
	@$(BIN)/python -m tests.binaries 'kubernetes-v*' 'kubernetes-node-*-windows'

machines: $(VENV)/.dev  ## Build what booted machines run, so that `make proof` boots one (root, and Go)
	@$(BIN)/python -m tests.boot prepare

validators: $(VENV)/.dev $(CHECKOV)/.installed  ## Install the validators that need a place of their own (checkov, TypeScript)
	@$(BIN)/python -m tests.plugin.node || echo "what needs them is skipped" >&2

lint: $(VENV)/.dev  ## Check style, formatting and generated files
	$(BIN)/ruff check $(ROOMS)
	$(BIN)/ruff format --check $(ROOMS)
	$(BIN)/python docs/generate.py --check

types: $(VENV)/.dev  ## Check types
	@# Type checkers do not see the import name that setuptools maps: give them a tree of links that has it.
	@rm -rf build/types && mkdir -p build/types/winkube
	@ln -s $(CURDIR)/components/* $(CURDIR)/preview $(CURDIR)/policies build/types/winkube/
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright

format: $(VENV)/.dev  ## Format the code
	$(BIN)/ruff check --fix $(ROOMS)
	$(BIN)/ruff format $(ROOMS)

docs: $(VENV)/.dev  ## Write the generated files (settings schema, error codes, plan of the README)
	$(BIN)/python docs/generate.py --write

snapshots: $(VENV)/.dev  ## Write the plans of all stacks anew (tests/snapshots), to be reviewed with git diff
	@$(BIN)/python -m tests.plans

site: $(VENV)/.dev  ## Build the documentation site into build/site
	$(BIN)/python -m mkdocs build --strict

engine: $(VENV)/.dev  ## Run every stack under an engine (the real one where the CLI of Pulumi is installed)
	$(BIN)/python -m pytest -q -m '' tests/engine

boot-test: $(VENV)/.dev  ## Boot machines from the stacks' own user data, with all scenarios (root)
	@$(BIN)/python -m tests.boot all --stack kubeadm-prod --slots 3
	@$(BIN)/python -m tests.boot agent-killed restore --kills

boot-up: $(VENV)/.dev  ## Leave a cluster of booted machines running, and say how to reach it (root)
	@$(BIN)/python -m tests.boot up

coverage: $(VENV)/.dev  ## Count what the coverage ledger says
	$(BIN)/python docs/ledger.py

mutants: $(VENV)/.dev  ## Break what each row of the ledger says is built: its test must fail (ROWS="NET CP-36")
	@$(BIN)/python -m tests.mutants $(ROWS)

bench: $(VENV)/.dev  ## Measure speed and memory against the budget (four minutes)
	$(BIN)/python bench/run.py

bench-full: $(VENV)/.dev  ## Measure fleets of 5,000 groups as well, and beside them AWS CDK and cdk8s
	$(BIN)/python bench/run.py --full

scale: $(VENV)/.dev  ## Measure 1,000 Windows nodes with 5,000 pods, and what admission costs there (needs Go)
	@$(BIN)/python -m tests.binaries 'kubernetes-v*' etcd kwok
	@$(BIN)/python -m tests.cluster.scale

$(CHECKOV)/.installed: $(CHECKOV_PINS)
	@cmp -s $< $@ || { echo "making $(CHECKOV) (once; about a minute)" >&2; $(PYTHON) -m venv --clear $(CHECKOV) \
	  && $(CHECKOV)/bin/python -m pip install --quiet --disable-pip-version-check -r $<; }
	@cp $< $@

clean:  ## Remove everything that make made
	rm -rf $(VENV) build *.egg-info .pytest_cache .ruff_cache .hypothesis

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "winkube needs Python 3.11 or newer; name one with PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "making $(VENV) (once; about a minute)" >&2
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.run: $(VENV)/.python pyproject.toml constraints.txt $(BUILD)
	@$(BIN)/python -m pip install $(PIP) -c constraints.txt -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.python pyproject.toml constraints.txt $(BUILD)
	@$(BIN)/python -m pip install $(PIP) -c constraints.txt -e '.[dev,docs,eks]'
	@touch $@ $(VENV)/.run
