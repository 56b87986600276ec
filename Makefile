# `make demo` and `make test` do all the set-up: a virtual environment in .venv and everything in it.

PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: demo test lint docs bench clean

demo: $(INSTALLED)
	$(BIN)/python examples/demo.py --out demo

test: $(INSTALLED)
	$(BIN)/python -m pytest -n auto

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# The variable silences an advertisement; warnings about our pages are errors.
docs: $(INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "Open build/docs/index.html"

bench: $(INSTALLED)
	$(BIN)/python benchmarks/evaluate.py
	$(BIN)/python benchmarks/synthetic.py
	$(BIN)/python benchmarks/predict.py
	$(BIN)/python benchmarks/kernels.py
	$(BIN)/python benchmarks/train.py
	$(BIN)/python benchmarks/distill.py
	$(BIN)/python benchmarks/fit.py --growth

clean:
	rm -rf .venv demo build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("gnn2logic needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all,dev]'
	touch $(INSTALLED)
