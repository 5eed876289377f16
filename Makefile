# The front door. `make help` says what there is; CMake and ninja do the work.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
BUILD := build/release
# What tools print and how they sort must not depend on who calls.
export LC_ALL := C.UTF-8
MAKEFLAGS += --no-print-directory

.PHONY: all help deps configure build demo tests test suite deep long soak bench install fuzz tidy
.PHONY: clean

all: build ## install what is missing, build into build/release (bin/, lib/)

help: ## say what there is
	@sed -n 's/^\([a-z]*\):[^#]*## /  make \1\t/p' Makefile | expand -t 18
	@echo 'Variables: PREFIX=/usr/local  SECONDS=60 and FUZZ=name (make fuzz)  JOBS=$(JOBS)'

deps:
	@tools/install_deps build

configure: deps
	@mkdir -p build
	@cmake --preset release -DCMAKE_INSTALL_PREFIX='$(PREFIX)' --log-level=WARNING \
	  >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }

build: configure
	@cmake --build $(BUILD) --target product -j $(JOBS)

demo: build ## trace a running program through stock GDB, print the trace, open it in GDB again
	@TRACEWELL_BIN=$(CURDIR)/$(BUILD)/bin examples/demo/run

tests: configure
	@cmake --build $(BUILD) -j $(JOBS)

test: tests ## release build, all tests, tidy (minutes)
	@tools/run_tests $(BUILD)

suite: build ## GDB's own testsuite against our server and gdbserver (long)
	@tools/install_deps suite
	@tools/gdb_suite --fetch
	@tools/gdb_suite --jobs $(JOBS)

deep: ## second compiler, sanitizers, header checks, each fuzz target for 10 s (longer)
	@tools/install_deps deep
	@tools/deep

long: configure ## tests whose number of cases is a matter of patience, with many more (hours)
	@cmake --build $(BUILD) -j $(JOBS)
	@tools/long $(BUILD)

soak: build ## an hour of redis, nginx and postgres, traced and killed; MINUTES=60, SEED=random
	@tools/install_deps programs
	@tools/soak --minutes $(or $(MINUTES),60) $(if $(SEED),--seed $(SEED)) --bin $(BUILD)/bin

bench: configure ## run bench/, print lines `bench NAME ours=… peer=… ratio=…`
	@tools/install_deps bench
	@tools/install_deps programs
	@cmake --build $(BUILD) --target product benchmarks -j $(JOBS)
	@tools/bench $(BUILD)

install: build ## install under PREFIX: programs, manual pages, completions, documents
	@cmake --install $(BUILD) --prefix '$(PREFIX)'

fuzz: ## run each fuzz target for SECONDS (default 60); FUZZ=name picks one
	@tools/install_deps deep
	@tools/fuzz --seconds $(or $(SECONDS),60) $(FUZZ)

tidy: ## the rules of the house: sizes, tables, documents, layers
	@tools/check_layers
	@tools/tidy

clean: ## remove build/
	rm -rf build
