# make demo    installs what is missing, builds, runs two real models
# make test    installs what is missing, builds, passes the tests
# make help    the rest
.PHONY: help deps build demo test check check-slow bench install format clean
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
BUILD := build/release

help:
	@sed -n 's/^# make/make/p; s/^\([a-z-]*\):.*## /make \1  /p' Makefile

deps: ## Debian packages, Python packages, models
	@scripts/deps.sh

$(BUILD)/build.ninja: | deps
	@cmake --preset release > build.log 2>&1 || { cat build.log; exit 1; }; rm -f build.log

build: deps $(BUILD)/build.ninja ## the program and the tests, Release
	@cmake --build $(BUILD) -j $(JOBS)

demo: deps $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS) --target tboost_program
	@python3 scripts/demo.py $(BUILD)/tboost

check: ## layers, lengths, format
	@python3 .ci/check_layers.py
	@python3 .ci/check_lengths.py
	@git ls-files '*.cc' '*.h' | xargs clang-format --dry-run -Werror && echo "format: as .clang-format has it"

test: build check
	@TBOOST_REQUIRE_MODELS=1 ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

check-slow: deps ## every instruction set, instruction counts, sanitizers, fuzzers
	@.ci/check_slow

bench: deps ## micro-benchmarks and the limits of this machine
	@cmake --preset bench > /dev/null && cmake --build build/bench -j $(JOBS)

install: build ## to PREFIX
	@cmake --install $(BUILD) --prefix $(PREFIX)

format: ## clang-format in place
	@git ls-files '*.cc' '*.h' | xargs clang-format -i

clean: ## build folders
	@rm -rf build
