# Everything sets itself up: a machine with Python 3.11+ and make is enough.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
UV_VERSION := 0.13.7
# Commands that start without compiled modules take three times as long.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo demo-serve test test-slow corpus fuzz mutants check budget format notebooks sentences signatures docs bench results lock clean

help:  ## show this help
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Tallystick needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable . --group dev
	touch $@

demo: $(STAMP)  ## answer four questions from a generated table and write the report
	$(BIN)/tallystick demo

demo-serve: $(STAMP)  ## a day of the service in less than a minute: votes, drift, silence, labels
	$(BIN)/python examples/serve_a_day.py

test: $(STAMP)  ## run the tests, the README and the docs
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow"

test-slow: $(STAMP)  ## run the long coverage simulations, keep their figures and show them in docs/
	$(BIN)/python -m pytest -n auto -m slow
	$(BIN)/python -m benchmarks.record

corpus: $(STAMP)  ## keep the present answers of the corpus; say in the commit which moved, and why
	$(BIN)/python -m tests.corpus write

fuzz: $(STAMP)  ## 20,000 malformed tables x verbs, in one process and in many (about an hour)
	$(BIN)/python -m tests.fuzz.run --files 19000
	$(BIN)/python -m tests.fuzz.run --files 1000 --first 19000 --per-process 1

mutants: $(STAMP)  ## change the code in 120 places and see whether a test notices
	$(BIN)/python -m benchmarks.mutants --write

check: $(STAMP)  ## format, lint, types, benchmarks import, import rules, docs build
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m benchmarks
	$(BIN)/lint-imports
	$(BIN)/mkdocs build --strict --quiet

budget: $(STAMP)  ## lines, files, options, names, sentences, tests and words beside their ceilings
	$(BIN)/python -m tests.budget

format: $(STAMP)  ## rewrite the code in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

notebooks: $(STAMP)  ## run the notebooks of docs/notebooks and store their outputs
	$(BIN)/python docs/notebooks/run.py

sentences: $(STAMP)  ## list every sentence that a user may read, in build/sentences.md
	$(BIN)/python docs/sentences.py build/sentences.md

signatures: $(STAMP)  ## write what editors and type checkers see of the verbs
	$(BIN)/python -m docs.signatures
	$(BIN)/ruff format --quiet src/tallystick/__init__.pyi

docs: $(STAMP)  ## serve the documentation on this machine
	$(BIN)/mkdocs serve

bench: $(STAMP)  ## measure speed and truth, keep the figures and show them in docs/
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --requirement benchmarks/requirements.txt
	for script in benchmarks/speed/*.py benchmarks/truth/*.py; do \
	  case $$script in *_deep.py) continue;; esac; echo "== $$script"; $(BIN)/python -m $$(echo $${script%.py} | tr / .) --write || exit 1; done
	$(BIN)/python -m benchmarks.record

results: $(STAMP)  ## make the pages of docs/benchmarks/ from the data in benchmarks/results/
	$(BIN)/python -m benchmarks.record

COMPILE := $(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --no-header --no-annotate \
  --no-emit-index-url --quiet

lock: $(STAMP)  ## renew constraints.txt, for developers, and requirements.txt, with hashes, for users (no addresses in them)
	$(COMPILE) --group dev --upgrade --output-file constraints.txt
	$(COMPILE) --generate-hashes --constraint constraints.txt --output-file requirements.txt

clean:  ## remove everything that can be made again
	rm -rf .venv site dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
