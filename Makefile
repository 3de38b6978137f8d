# The verbs of daily work; CONTRIBUTING.md explains them. Everything runs in .venv.
PYTHON ?= python3
BIN := .venv/bin
# docker, podman or buildah
BUILDER ?= docker

.PHONY: help setup quick test check format ci dist site image clean

help:
	@echo "make setup   make .venv with codelens and the tools"
	@echo "make quick   the quick tests (up to 3 minutes of CPU)"
	@echo "make test    all tests, in parallel"
	@echo "make check   lint, format, spelling and types"
	@echo "make format  format the code and apply safe fixes"
	@echo "make ci      all that a submission must pass"
	@echo "make dist    the wheel and the sdist, in dist/"
	@echo "make site    the pages of docs/ as a site, in site/"
	@echo "make image   a container image, codelens:latest (BUILDER=podman or buildah, else docker)"
	@echo "make clean   remove caches and builds"

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'

setup: .venv/bin/python

quick: setup
	$(BIN)/python -m pytest -m "not slow"

test: setup
	$(BIN)/python -m pytest -n auto --dist loadgroup

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell codelens docs README.md CONTRIBUTING.md CHANGELOG.md
	$(BIN)/pyright --pythonpath $(BIN)/python

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

ci:
	bash .ci/run

dist: setup
	$(BIN)/python -m build

# protoc 25 makes code that every later protobuf runs; its stubs leave a type open.
scip-schema: setup ## generate codelens/scip/scip_pb2 from scip.proto (needs grpcio-tools 1.62)
	cd codelens/scip && python -m grpc_tools.protoc -I. --python_out=. --pyi_out=. scip.proto
	sed -i "s/_Mapping\]/_Mapping[str, object]]/g" codelens/scip/scip_pb2.pyi

site: setup
	@# An environment made by uv has no pip.
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip --default-pip >/dev/null
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	$(BIN)/python -m mkdocs build --strict

image:
	$(BUILDER) build -t codelens .

clean:
	rm -rf build dist site .pytest_cache .ruff_cache .hypothesis
	find codelens tests benchmarks -name __pycache__ -type d -exec rm -rf {} +
