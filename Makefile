# memoryweb: `make run` starts it, `make test` tests it. Both install what they need into ./.venv first.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install run test test-more lint bench clean
# Tests and checks come one after another, also under `make -j`.
.NOTPARALLEL:

# A distribution's own Python is optimised, one that pyenv has built is not and takes a seventh more CPU.
PYTHON := $(shell for python in $$(/usr/bin/python3.11 -c 'import ensurepip, venv' 2>/dev/null && echo /usr/bin/python3.11) \
	python3.11 python3 python3.12 python3.13; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$python"; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input
# Checks need settings, but nobody's own data.
SCRATCH := MEMORYWEB_DATA_DIR="$(CURDIR)/$(VENV)/lint-data"

help:
	@echo "make run       start memoryweb and print a login link (ARGS=\"--port 9000\" for more)"
	@echo "make test      run the tests, then the checks of 'make lint'"
	@echo "make test-more run the long sweeps that 'make test' shows by a few cases, and tests on PostgreSQL"
	@echo "make lint      style, types, templates, migrations, deployment"
	@echo "make bench     measure speed beside its limits: one table (most of an hour; ARGS=\"tick --size 0.1\" for less)"
	@echo "make install   make ./.venv with everything in it"
	@echo "make clean     remove ./.venv"

install: $(STAMP)

# A third of what is installed: programs that no test imports, or modules that are machine code already.
NEVER_IMPORTED := site-packages/(mypyc?|pip|pkg_resources|pygments|setuptools)/

# A copy of the list stands in the environment, so that only a changed list installs again. Compiled by all cores: pip uses one.
$(STAMP): requirements/dev.txt
	@if [ -z "$(PYTHON)" ]; then \
		echo "memoryweb needs Python 3.11 or newer. Install it (on Debian: apt install python3 python3-venv)." >&2; exit 1; fi
	@if [ -x $(BIN)/python ] && cmp -s requirements/dev.txt $@; then touch $@; else \
		echo "Installing into ./$(VENV), once; this takes a minute or two." && \
		rm -f $@ && \
		{ [ -x $(BIN)/pip ] && $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
			"$(PYTHON)" -m venv --clear $(VENV) || \
			{ echo "Python cannot make a virtual environment here (on Debian: apt install python3-venv)." >&2; exit 1; }; } && \
		$(PIP) install --no-compile --require-hashes -r requirements/dev.txt && \
		{ $(BIN)/python -m compileall -qq -j 0 -x '$(NEVER_IMPORTED)' $(VENV)/lib || true; } && \
		cp requirements/dev.txt $@; fi

run: install
	@exec $(BIN)/python manage.py serve $(ARGS)

# Compiled modules are kept, whatever the environment says: else every process of a test compiles all of them again.
PYTEST := env PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -q

# To put the values into an assertion's message, pytest takes every test file apart, which is half a minute in a new clone:
# what fails is run once more with them, by $(1). Failed is failed, also where it passes then.
IN_FULL = { echo "What failed, once more with its values:"; $(1) -q --last-failed --last-failed-no-failures none --maxfail 20; false; }

# Runs $(1) while $(2) runs, whose output is shown when both are over: tests often wait, for a process or a browser. Fails if
# one of them does.
BESIDE = log=$$(mktemp); { $(2); } >"$$log" 2>&1 & other=$$!; trap 'rm -f "$$log"' EXIT; \
	$(1); first=$$?; wait $$other; second=$$?; cat "$$log"; exit $$((first + second))

# One process more than cores, as tests wait at times; not more than eight, as each takes ten seconds to collect.
CORES := $(shell cores=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); echo $$((cores < 7 ? cores : 7)))
PROCESSES := $(shell echo $$(($(CORES) + 1)))

# Compiled once by all cores, and not by each process of the tests anew.
test: install
	@$(BIN)/python -m compileall -q -j 0 dreams memoryweb tests
	@$(call BESIDE,$(PYTEST) -n $(PROCESSES) --assert=plain --dist loadfile --no-loadscope-reorder -m "not more and not sweep and not by_hand" $(ARGS) || $(call IN_FULL,$(BIN)/python -m pytest),\
		$(MAKE) --no-print-directory lint)

# A server of the tests' own, where PostgreSQL is installed; the driver is under the LGPL, so only tests install it.
ON_POSTGRESQL := $(BIN)/python -m tests.world.processes.postgres
FAILED_THERE := -o cache_dir=$(VENV)/failed-on-postgresql

# Long tests that wait for processes, disks and browsers more than half of their time: three processes more, and whoever has
# none left takes another's.
# On PostgreSQL there is one process, as a second one would collect all and make its database once more. It goes first, or it
# would be left alone with one of two cores.
test-more: install
	@$(PIP) install --require-hashes -r requirements/postgresql.txt || \
		echo "Without its driver the tests on PostgreSQL are reported as not run." >&2
	@$(call BESIDE,export HYPOTHESIS_PROFILE=more; nice -n 3 $(PYTEST) -n $$(($(PROCESSES) + 3)) --assert=plain --dist worksteal -m "(more or sweep) and not by_hand" $(ARGS) || $(call IN_FULL,$(BIN)/python -m pytest),\
		echo "On PostgreSQL:"; $(ON_POSTGRESQL) $(PYTEST) -n 0 $(FAILED_THERE) --assert=plain -m "(not more and not sweep and not not_on_postgresql or also_on_postgresql) and not by_hand" tests/pipeline || $(call IN_FULL,$(ON_POSTGRESQL) $(BIN)/python -m pytest $(FAILED_THERE)))

# Through Django's plugin files depend on every module of models, and mypy's cache keeps one that is gone as an error.
TYPES_OF = .mypy_cache/models-$(shell ls dreams/models/*.py | cksum | cut -d' ' -f1)

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@[ -e $(TYPES_OF) ] || { rm -rf .mypy_cache && mkdir .mypy_cache && touch $(TYPES_OF); }
	$(BIN)/mypy
	git ls-files -z 'templates/*.html' | xargs -0 $(BIN)/djade --check
	$(SCRATCH) $(BIN)/python manage.py makemigrations --check --dry-run
	$(SCRATCH) $(BIN)/python manage.py check --deploy --fail-level WARNING

bench: install
	@$(BIN)/python bench/table.py $(ARGS)

clean:
	rm -rf $(VENV)
