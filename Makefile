# `make` sets up a virtual environment with everything in it, from nothing but make, Python 3.11 or newer with
# pip and venv; every target does so first, and at once the second time.

VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
EXTRAS_READY := $(VENV)/.ready-extras
# The first Python that is new enough; `make PYTHON=/path/to/python` overrides.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$python; break; }; done)
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Kernels and learners are measured on one core each: more threads of BLAS or OpenMP only get in each other's way.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

.DEFAULT_GOAL := setup
.PHONY: setup quickstart test lint test-compiled test-uncompiled test-boundscheck test-extras bench dist clean
.PHONY: test-first test-rest test-beside

setup: $(READY) ## set up the virtual environment, and list these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 24

quickstart: $(READY) ## train an agent for a few minutes and rank it against honest baselines
	$(BIN)/tonk quickstart

# In two halves, one for each core; the output of the second follows when it is done.
test: $(READY) ## all checks and tests that need no optional extra
	@$(MAKE) --no-print-directory -j2 lint test-first test-beside

FIRST := tests/agents tests/api tests/arena tests/cli

test-first: $(READY)
	$(ONE_THREAD) $(BIN)/python -m pytest -m "not extras" $(FIRST)

test-rest: $(READY)
	$(ONE_THREAD) $(BIN)/python -m pytest -m "not extras" $(addprefix --ignore=,$(FIRST))

test-beside: $(READY)
	@$(MAKE) --no-print-directory -j1 test-rest test-uncompiled test-boundscheck >$(VENV)/.beside 2>&1; \
		status=$$?; cat $(VENV)/.beside; exit $$status

lint: $(READY) ## ruff, mypy and the import contracts
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test-compiled: $(READY) ## the whole suite, on compiled kernels
	$(ONE_THREAD) $(BIN)/python -m pytest -m "not extras"

# A smaller set, as plain Python: slow, but lines and branches of the engine can be counted.
test-uncompiled: $(READY) ## the uncompiled set, with branch coverage of the engine
	$(ONE_THREAD) NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -m "uncompiled and not extras" \
		--cov=tonk_env/engine --cov-branch --cov-report=term --cov-fail-under=98

# Out-of-range reads are silent in compiled code unless it is compiled to check them.
test-boundscheck: $(READY) ## the bounds-checked set
	$(ONE_THREAD) NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -m "boundscheck and not extras"

test-extras: $(EXTRAS_READY) ## tests of the optional extras, and in a browser
	$(ONE_THREAD) $(BIN)/python -m pytest -m extras

bench: $(EXTRAS_READY) ## measure speed on this machine, beside peers
	$(BIN)/tonk bench

dist: $(READY) ## build the wheel and the source archive into dist/
	$(BIN)/python -m build --no-isolation

clean: ## remove the virtual environment, build output and tools' caches (never runs/)
	rm -rf $(VENV) build dist .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

# The build backend goes in first and builds without isolation, so that it is pinned like everything else.
$(READY): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "tonk: Python 3.11 or newer is needed, and none was found:" \
		"install one, or name it with make PYTHON=/path/to/python" >&2; exit 2; }
	@echo "Setting up $(VENV): a minute or two, longer where torch must be downloaded ..."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --quiet --constraint constraints.txt hatchling
	@$(PIP) install --quiet --constraint constraints.txt --no-build-isolation --editable '.[dev]'
	@touch $@

$(EXTRAS_READY): $(READY)
	@echo "Adding the optional extras to $(VENV) ..."
	@$(PIP) install --quiet --constraint constraints.txt --no-build-isolation --editable '.[dev,openspiel,parquet,ratings]'
	@touch $@
