# Needs GNU make, bash, git and Python 3.11 or newer. Everything else is installed into $(VENVS).
SHELL := bash
.DEFAULT_GOAL := help
# `make test` stops at the first step that fails, and the steps use both cores themselves.
.NOTPARALLEL:

PYTHON ?= python3
VENVS ?= .venv
HOST ?= 0.22

export PLAN_MODE_VENVS := $(if $(filter /%,$(VENVS)),$(VENVS),$(CURDIR)/$(or $(VENVS),.venv))
dev := "$(PLAN_MODE_VENVS)"/dev/bin
hermes-0.22 := "$(PLAN_MODE_VENVS)"/hermes-0.22/bin/python
hermes-0.19 := "$(PLAN_MODE_VENVS)"/hermes-0.19/bin/python

# A real process starts slowly on a busy machine.
acceptance := $(dev)/python -m pytest tests/acceptance -n 2 --dist worksteal --timeout 300
host_tests := tests/host/run.py tests/host -n 2 --dist worksteal
# What decides, and the tests that know every branch of it.
deciding := plan_mode.policy,plan_mode.transitions,plan_mode.state.identity
deciding_tests := tests/policy tests/test_transitions.py tests/state/test_identity.py

.PHONY: help
help: ## this list
	@echo "make TARGET [HOST=0.22|0.19] [PYTHON=python3.12] [VENVS=folder]"
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r name text; do printf '  %-12s %s\n' "$$name" "$$text"; done

.PHONY: demo
demo: env-demo ## plays one whole session in a real Hermes, with a scripted model; HOST says which
	@"$(PYTHON)" -m demo --host "$(HOST)"

.PHONY: test
test: lint types layers deciding unit host core ## all of the next seven: under 10 minutes, installs included

.PHONY: lint types layers deciding unit host core
lint: env-dev ## ruff
	$(dev)/ruff check

types: env-dev ## mypy, strict
	$(dev)/python -m mypy

layers: env-dev ## who may import whom
	$(dev)/lint-imports --no-logo

deciding: env-dev ## the tests of what decides, which must reach every branch of it
	$(dev)/coverage run --data-file=.coverage.deciding --source=$(deciding) -m pytest -q $(deciding_tests)
	$(dev)/coverage report --data-file=.coverage.deciding --fail-under=100

unit: env-dev ## the other tests that need no Hermes: a minute or two
	$(dev)/python -m pytest -q -n 2 $(addprefix --ignore=,$(deciding_tests))

host: env-dev env-hosts ## in process, with the real plugin manager of both hosts
	$(hermes-0.22) $(host_tests) -m "not long"
	$(hermes-0.19) $(host_tests) -m "not long"

core: env-dev env-hosts ## real Hermes processes and a scripted model
	$(acceptance) -m "not long"

.PHONY: acceptance
acceptance: env-dev env-hosts ## the long tables of the last two: under 45 minutes
	$(acceptance) -m long
	$(hermes-0.22) $(host_tests) -m long
	$(hermes-0.19) $(host_tests) -m long

.PHONY: coverage
coverage: env-dev ## which lines and branches the unit tests reach
	$(dev)/coverage run -m pytest -q
	$(dev)/coverage report

.PHONY: mutants
mutants: env-mutants ## changes what decides, bit by bit, and lists the changes that no test notices: a quarter of an hour
	rm -rf mutants
	"$(PLAN_MODE_VENVS)"/mutants/bin/mutmut run --max-children 2
	"$(PLAN_MODE_VENVS)"/mutants/bin/mutmut results

.PHONY: bench
bench: env-bench ## what a call costs; draws docs/bench-*.svg
	$(hermes-0.22) bench/run.py --draw docs

.PHONY: soak
soak: env-dev ## a minute of many threads and processes on one state folder, and what is wrong afterwards
	$(dev)/python -m bench.soak

.PHONY: lock
lock: env-uv ## renew requirements-dev.lock after a change of pyproject.toml (UPGRADE=1: to the newest versions)
	"$(PLAN_MODE_VENVS)"/uv/bin/uv --no-config pip compile pyproject.toml --group dev --output-file requirements-dev.lock --quiet \
		$(if $(UPGRADE),--upgrade) --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --custom-compile-command "make lock"

.PHONY: clean
clean: ## removes the virtual environments and all caches
	"$(PYTHON)" scripts/ensure_env.py --remove
	rm -rf .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage .coverage.* htmlcov mutants
	find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

# Not files but checks: the script returns at once where its environment is up to date.
.PHONY: env-dev env-hosts env-demo env-bench env-mutants env-uv
env-dev: environments := dev
env-hosts: environments := hermes-0.22 hermes-0.19
env-demo: environments := hermes-$(HOST)
env-bench: environments := hermes-0.22
env-mutants: environments := mutants
env-uv: environments := uv
env-dev env-hosts env-demo env-bench env-mutants env-uv:
	@command -v "$(PYTHON)" >/dev/null || { echo "$(PYTHON) isn't there: install Python 3.11 or newer, or name yours with make PYTHON=..." >&2; exit 1; }
	@"$(PYTHON)" scripts/ensure_env.py $(environments)
