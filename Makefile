# Needs only Python 3.11+ and make; everything else is set up inside .venv.
PYTHON ?= python3
BIN := .venv/bin
JOBS ?= 2

.PHONY: demo test docs dist postgresql r browser test-browser spark test-spark test-matrix lint bench bench-full audit clean

.venv/runtime: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Sundog needs Python 3.11 or newer; found " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 $(MAKECMDGOALS)") if sys.version_info < (3, 11) else None'
	@echo "Setting up .venv (a minute the first time)"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/develop: .venv/runtime
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,lint]'
	@touch $@

# The website, into src/sundog/site, from where `sundog docs` opens it and where builds of the package find it.
docs: .venv/develop
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	$(BIN)/mkdocs build --strict
	@echo "src/sundog/site/index.html"

# The source distribution and the wheel, both with the website.
dist: docs
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build
	$(BIN)/python -m build

demo: .venv/runtime
	@$(BIN)/python examples/demo.py

test: .venv/develop
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder -m "not slow and not browser and not spark"

# What the tests of databases need: Debian's PostgreSQL server, where it is missing and may be installed. They start their own.
postgresql:
	@if command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -y -qq postgresql >/dev/null; fi \
	|| echo "PostgreSQL could not be installed: tests of it will be skipped."

# What the test of examples/read_release.R needs: Debian's R with jsonlite, where they are missing and may be installed.
r:
	@if Rscript -e 'library(jsonlite)' >/dev/null 2>&1; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -y -qq --no-install-recommends r-base-core r-cran-jsonlite >/dev/null; fi \
	|| echo "R could not be installed: the test of its script will be skipped."

# What the tests in a browser need: playwright, and Debian's Chromium where it is missing and may be installed.
browser: .venv/develop
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[browser]' || echo "playwright could not be installed: tests in a browser will be skipped."
	@if command -v chromium chromium-browser google-chrome >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -y -qq chromium >/dev/null; fi \
	|| echo "Chromium could not be installed: tests in a browser will be skipped."
	@command -v chromium chromium-browser google-chrome >/dev/null || echo "There is no Chromium here: tests in a browser will be skipped."

test-browser: .venv/develop
	$(BIN)/python -m pytest -m browser -rs

# What Spark needs: pyspark with pandas, and Debian's Java 17 where there is none and it may be installed.
spark: .venv/develop
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[spark]' || echo "pyspark could not be installed: tests on Spark will be skipped."
	@if command -v java >/dev/null || [ -n "$$JAVA_HOME" ]; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get update -qq && apt-get install -y -qq openjdk-17-jre-headless >/dev/null; fi \
	|| echo "Java could not be installed: tests on Spark will be skipped."
	@command -v java >/dev/null || [ -n "$$JAVA_HOME" ] || echo "There is no Java here: tests on Spark will be skipped."

# On two cores of this machine, and on a cluster of one master and two workers on its loopback interface.
test-spark: spark
	$(BIN)/python -m pytest -m spark -rs

# Python 3.11 to 3.13, each with the lowest versions that pyproject.toml allows and with the newest; needs uv and those Pythons.
test-matrix: .venv/develop
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/python tests/matrix.py

lint: .venv/develop
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The slow tests (also in a control group of one gigabyte, which needs the right to make one, and on a slow disk, which needs strace), 10,000
# malformed inputs of every kind (INPUTS=100 for fewer), and 100 deliberate faults. The latter two go on where they were stopped;
# FRESH=--fresh starts over.
INPUTS ?= 10000
audit: .venv/develop docs
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder -m slow
	$(BIN)/python tests/fuzz/run.py --inputs $(INPUTS) $(FRESH)
	$(BIN)/python tests/mutation/run.py $(FRESH)

# Both go on where they were stopped; FRESH=--fresh measures everything again.
bench: .venv/develop
	$(BIN)/python benchmarks/run.py $(FRESH)

bench-full: .venv/develop
	$(BIN)/python benchmarks/run.py --full $(FRESH)

clean:
	rm -rf .venv .matrix .peers build dist src/sundog/site demo-output .pytest_cache .mypy_cache .ruff_cache
