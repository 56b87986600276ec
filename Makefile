# `make demo` and `make test` do all the set-up: a virtual environment in .venv and everything in it.

PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: demo test lint docs smoke bench clean

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

# Every experiment on few graphs, two minutes at most, then three of its rows once more.
# DATASETS=psi_0,psi_1 runs these only.
smoke: $(INSTALLED)
	rm -rf build/smoke
	$(BIN)/gnn2logic reproduce --smoke --baselines --ablation --jobs 2 --out build/smoke \
		$(if $(DATASETS),--datasets $(DATASETS)) >/dev/null
	$(BIN)/gnn2logic reproduce --verify build/smoke

bench: $(INSTALLED)
	$(BIN)/python benchmarks/evaluate.py
	$(BIN)/python benchmarks/synthetic.py
	$(BIN)/python benchmarks/predict.py
	$(BIN)/python benchmarks/kernels.py
	$(BIN)/python benchmarks/train.py
	$(BIN)/python benchmarks/distill.py
	$(BIN)/python benchmarks/explainer.py
	$(BIN)/python benchmarks/fit.py --growth

clean:
	rm -rf .venv demo build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("gnn2logic needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all,dev]'
	touch $(INSTALLED)
