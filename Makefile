# `make demo` and `make test` do all the set-up: a virtual environment in .venv and everything in it.

PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: demo test lint docs pages smoke bench coverage lowest package release house clean

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

# All tests again, with every line that is run written down, also in the processes that tests start.
coverage: $(INSTALLED)
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest -n auto
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage html --quiet
	$(BIN)/python -m coverage report

# All tests with the lowest version of every dependency that pyproject.toml promises.
# KEEP=torch leaves torch as it is in constraints.txt, where its lowest version cannot be had.
# New versions of what these need complain about old callers; that is nobody's fault.
lowest:
	rm -rf build/lowest && mkdir -p build/lowest
	$(PYTHON) tools/lowest.py $(if $(KEEP),--keep $(KEEP)) >build/lowest/constraints.txt
	$(PYTHON) -m venv build/lowest/venv
	build/lowest/venv/bin/python -m pip install --quiet --disable-pip-version-check \
		-c build/lowest/constraints.txt -e '.[all]' pytest pytest-xdist hypothesis selenium
	build/lowest/venv/bin/python -m pytest -n auto \
		-W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning \
		--ignore=tests/docs --ignore=tests/test_readme.py $(ONLY)

# The sdist, the wheel made from it, and each of them installed where nothing else is.
package: $(INSTALLED)
	rm -rf build/package && mkdir -p build/package
	$(BIN)/python -m build --outdir build/package $(FROM)
	for built in whl tar.gz; do \
		$(PYTHON) -m venv --clear build/package/venv && \
		build/package/venv/bin/python -m pip install --quiet --disable-pip-version-check \
			-c constraints.txt "$$(ls $(CURDIR)/build/package/*.$$built)[cli]" && \
		(cd build/package && venv/bin/python -I $(CURDIR)/tools/first_steps.py) || exit 1; \
	done
	rm -rf build/package/venv

# What is uploaded; RELEASING.md says what else there is to do. The address is given here alone.
release:
	@test -n "$(ADDRESS)" || { echo "Say where the sources are: make release ADDRESS=https://..."; exit 1; }
	rm -rf build/release && mkdir -p build/release
	git archive HEAD | tar -x -C build/release
	$(PYTHON) tools/release.py $(ADDRESS) build/release
	$(MAKE) package FROM=build/release

# Run the notebooks and the gallery, and keep what they show.
pages: $(INSTALLED)
	$(BIN)/jupyter execute --inplace docs/notebooks/*.ipynb
	$(BIN)/python tools/gallery.py

# How many files there are, how long, and who imports whom. The tests look at it as well.
house:
	$(PYTHON) tools/house.py --check

bench: $(INSTALLED)
	$(BIN)/python benchmarks/evaluate.py
	$(BIN)/python benchmarks/synthetic.py
	$(BIN)/python benchmarks/predict.py
	$(BIN)/python benchmarks/kernels.py
	$(BIN)/python benchmarks/train.py
	$(BIN)/python benchmarks/distill.py
	$(BIN)/python benchmarks/explainer.py
	$(BIN)/python benchmarks/fit.py --growth
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/structure.py

clean:
	rm -rf .venv demo build dist .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("gnn2logic needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all,dev]'
	touch $(INSTALLED)
