# Needs only Python 3.11+ and make; everything else is set up inside .venv, by uv where it is installed and by pip otherwise.
# requirements.lock fixes the versions. `make help` lists the targets.
PYTHON ?= python3
BIN := .venv/bin
JOBS ?= 2

INSTALL := $(if $(shell command -v uv),uv pip install --quiet --python $(BIN)/python,$(BIN)/python -m pip install --quiet --disable-pip-version-check) --constraint requirements.lock
PYTEST := $(BIN)/python -m pytest
# One file stays on one worker, so that what a file shares is made once.
SPREAD := -n $(JOBS) --dist loadfile --no-loadscope-reorder
# Each test has its place: make test, test-all (which also has the laws with all their examples), audit, or a target of its own.
OURS := not slow and not browser and not spark

.DEFAULT_GOAL := demo
.PHONY: help demo test test-all coverage lint hooks lock news docs dist postgresql r browser test-browser spark test-spark test-matrix audit bench bench-full clean

help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "make %-13s %s\n", $$1, $$2 }'

.venv/runtime: pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit("Sundog needs Python 3.11 or newer; found " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 $(MAKECMDGOALS)") if sys.version_info < (3, 11) else None'
	@echo "Setting up .venv (a minute the first time)"
	@$(PYTHON) -m venv .venv
	@$(INSTALL) --editable .
	@touch $@

# .venv/test, .venv/lint, ...: the packages of one extra.
.venv/%: .venv/runtime
	@$(INSTALL) --editable '.[$*]'
	@touch $@

# The kernels of a fresh checkout, compiled before any test is timed.
.venv/kernels: .venv/test
	@PYTHONPATH=tests $(BIN)/python tests/kernels.py
	@touch $@

demo: .venv/runtime ## A table of clinic visits, a release of it, a report and a certificate
	@$(BIN)/python examples/demo.py

test: .venv/kernels ## The tests to run while working: five minutes on two cores
	$(PYTEST) $(SPREAD) -m "$(OURS) and not long"

test-all: .venv/kernels ## The other tests of a change: longer forms of the same laws, pages with many commands
	HYPOTHESIS_PROFILE=long $(PYTEST) $(SPREAD) -m "$(OURS) and (long or hypothesis)"

coverage: .venv/test .venv/coverage ## Which lines of src no test of test and test-all runs: build/coverage/index.html
	rm -rf build/coverage && mkdir -p build/coverage
	HYPOTHESIS_PROFILE=long $(BIN)/coverage run --parallel-mode -m pytest -p no:xdist -m "$(OURS)"
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage html --quiet
	$(BIN)/coverage report --skip-covered

lint: .venv/lint ## Style, types, import rules, spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

hooks: .venv/lint ## Let git run the linters on every commit
	@$(INSTALL) pre-commit
	$(BIN)/pre-commit install --hook-type pre-commit --hook-type commit-msg

lock: ## Choose the newest versions of all packages anew; needs uv
	uv pip compile pyproject.toml --universal --python-version 3.11 --upgrade --quiet --no-header --no-annotate --no-emit-index-url \
	  $(addprefix --extra ,databases eval readers signing studio spark test notebooks browser coverage lint docs) --output-file requirements.lock

news: ## Move the notes in news/ into the top section of CHANGELOG.md
	@$(PYTHON) news/collect.py

# Into src/sundog/site, from where `sundog docs` opens it and where builds of the package find it.
docs: .venv/docs ## The website; fails on a broken link
	$(BIN)/mkdocs build --strict
	@echo "src/sundog/site/index.html"

dist: docs ## The source distribution and the wheel, both with the website
	$(INSTALL) build
	$(BIN)/python -m build

# They start a server of their own.
postgresql: ## Install PostgreSQL (Debian), which tests of databases need
	@if command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -y -qq postgresql >/dev/null; fi \
	|| echo "PostgreSQL could not be installed: tests of it will be skipped."

r: ## Install R with jsonlite (Debian), which the test of examples/read_release.R needs
	@if Rscript -e 'library(jsonlite)' >/dev/null 2>&1; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -y -qq --no-install-recommends r-base-core r-cran-jsonlite >/dev/null; fi \
	|| echo "R could not be installed: the test of its script will be skipped."

browser: .venv/test ## Install playwright and Chromium (Debian), which tests in a browser need
	@$(INSTALL) --editable '.[browser]' || echo "playwright could not be installed: tests in a browser will be skipped."
	@if command -v chromium chromium-browser google-chrome >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -y -qq chromium >/dev/null; fi \
	|| echo "Chromium could not be installed: tests in a browser will be skipped."
	@command -v chromium chromium-browser google-chrome >/dev/null || echo "There is no Chromium here: tests in a browser will be skipped."

test-browser: .venv/test ## The tests in a browser, after make browser
	$(PYTEST) -m browser -rs

spark: .venv/test ## Install pyspark and Java 17 (Debian), which tests on Spark need
	@$(INSTALL) --editable '.[spark]' || echo "pyspark could not be installed: tests on Spark will be skipped."
	@if command -v java >/dev/null || [ -n "$$JAVA_HOME" ]; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -y -qq openjdk-17-jre-headless >/dev/null; fi \
	|| echo "Java could not be installed: tests on Spark will be skipped."
	@command -v java >/dev/null || [ -n "$$JAVA_HOME" ] || echo "There is no Java here: tests on Spark will be skipped."

# On two cores of this machine, and on a cluster of one master and two workers on its loopback interface.
test-spark: spark ## The tests on Spark
	$(PYTEST) -m spark -rs

test-matrix: .venv/runtime ## The tests on Python 3.11 to 3.14, lowest and newest packages (PAIRS="--pythons 3.14 --quick" for fewer)
	$(INSTALL) uv
	$(BIN)/python tests/matrix.py $(PAIRS)

# The slow tests (also in a control group of one gigabyte, which needs the right to make one, and on a slow disk, which needs strace),
# malformed inputs (INPUTS=100 for fewer), random linked tables (CASES=100 for fewer) and deliberate faults. Inputs and faults go on
# where they were stopped; FRESH=--fresh starts over.
INPUTS ?= 10000
CASES ?= 10000
audit: .venv/test .venv/notebooks docs ## Hours: slow tests, 10,000 malformed inputs of every kind, as many linked tables, 168 deliberate faults
	HYPOTHESIS_PROFILE=random $(PYTEST) $(SPREAD) -m "not browser and not spark and (slow or hypothesis)"
	$(BIN)/python tests/fuzz/run.py --inputs $(INPUTS) $(FRESH)
	$(BIN)/python tests/privacy/linked_audit.py --cases $(CASES)
	$(BIN)/python tests/mutation/run.py $(FRESH)

# Both go on where they were stopped; FRESH=--fresh measures everything again.
bench: .venv/test ## A short version of every benchmark: ten minutes
	$(BIN)/python benchmarks/run.py $(FRESH)

bench-full: .venv/test ## All benchmarks: hours
	$(BIN)/python benchmarks/run.py --full $(FRESH)

clean: ## Remove .venv and everything that was built
	rm -rf .venv .matrix .peers build dist src/sundog/site demo-output .pytest_cache .mypy_cache .ruff_cache
