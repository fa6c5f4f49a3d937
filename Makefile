# Every target sets up what it needs: .venv is made when missing and refreshed when pyproject.toml changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
unexport PYTHONDONTWRITEBYTECODE # installed without bytecode, which is quick, and compiled once, when first used
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

.PHONY: demo serve quick test test-slow check format bench docs wheel lowest lock clean

demo: $(VENV)/.plot ## run the main job on an embedded default, offline, and write pictures
	$(BIN)/mfbo demo

serve: $(VENV)/.serve ## pages and HTTP interface at http://127.0.0.1:8765/, with a study to look at, offline
	$(BIN)/mfbo serve --storage sqlite:///mfbo-serve.db --demo

quick: $(VENV)/.quick ## the paper's evaluation in minutes, and its report; continues where it was stopped
	$(BIN)/mfbo benchmark --suite quick
	$(BIN)/mfbo report mfbo-benchmark-quick

test: $(VENV)/.dev ## the everyday tests
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow"

test-slow: $(VENV)/.dev ## the longer tests that CI runs too
	$(BIN)/python -m pytest -n auto --dist worksteal -m slow

check: $(VENV)/.dev ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.bench ## speed against a BoTorch implementation, one BLAS thread for both
	$(BIN)/python benchmarks/round_cost.py

docs: $(VENV)/.docs ## the documentation site, offline, in build/site
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/site

wheel: $(VENV)/pyvenv.cfg ## the packages in dist/, checked, installed into an empty environment and tried
	$(INSTALL) build twine
	rm -rf dist build/empty
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	$(PYTHON) -m venv build/empty
	build/empty/bin/python -m pip install --quiet --disable-pip-version-check "$$(ls dist/*.whl)[plot,experiments]"
	cd build && rm -f smoke.db && empty/bin/python ../tests/integration/installed_smoke.py
	cd build && empty/bin/mfbo demo --rounds 20

LOWEST_TESTS := tests/unit/models/test_kernel_contract.py tests/unit/test_study.py tests/unit/test_study_storage.py \
	tests/unit/test_records.py tests/unit/test_catalogue.py tests/unit/simplex tests/unit/cli tests/unit/test_frames.py \
	tests/unit/test_named_distributions.py tests/unit/population tests/unit/plotting tests/unit/serve \
	tests/unit/experiments/test_report_numbers.py
lowest: $(VENV)/pyvenv.cfg ## the tests of the core with the lowest versions that pyproject.toml allows
	$(INSTALL) uv
	$(BIN)/uv venv --quiet --clear --python $(PYTHON) build/lowest
	$(BIN)/uv pip install --quiet --python build/lowest --resolution lowest-direct \
		".[plot,data,experiments,serve]" "pytest>=8" "hypothesis>=6.100" "pandas>=2.2" "polars>=1.0"
	build/lowest/bin/python -m pytest -W default::DeprecationWarning -m "not slow" $(LOWEST_TESTS)

lock: $(VENV)/pyvenv.cfg ## requirements-dev.lock: every version of the developers' environment but torch, see below
	$(INSTALL) uv
	mkdir -p build && echo torch > build/not-locked
	$(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --extra dev --extra docs \
		--excludes build/not-locked --no-annotate --quiet --output-file requirements-dev.lock --no-header
	{ echo "# Every version of a developers' environment but torch, which is pinned in pyproject.toml: made by make lock"; \
		cat requirements-dev.lock; } > build/locked && mv build/locked requirements-dev.lock

clean:
	rm -rf $(VENV) build dist mfbo-demo .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "mfbo needs Python 3.11 or newer: make PYTHON=python3.11 …")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.plot: pyproject.toml $(VENV)/pyvenv.cfg
	$(INSTALL) --editable ".[plot,experiments]"
	@touch $@

$(VENV)/.serve: pyproject.toml $(VENV)/pyvenv.cfg
	$(INSTALL) --editable ".[serve]"
	@touch $@

# torch is pinned and installed by itself: an unpinned one takes gigabytes of CUDA libraries
$(VENV)/.quick: pyproject.toml $(VENV)/pyvenv.cfg
	$(INSTALL) torch==2.13.0
	$(INSTALL) --editable ".[plot,experiments,baselines]"
	@touch $@ $(VENV)/.plot

$(VENV)/.dev: pyproject.toml $(VENV)/pyvenv.cfg
	$(INSTALL) torch==2.13.0
	$(INSTALL) --editable ".[dev]"
	@touch $@ $(VENV)/.plot $(VENV)/.serve $(VENV)/.quick

$(VENV)/.docs: pyproject.toml $(VENV)/pyvenv.cfg
	$(INSTALL) torch==2.13.0
	$(INSTALL) --editable ".[docs]"
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(INSTALL) --editable ".[bench]"
	@touch $@
