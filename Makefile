# rlar: the short way in. Meson does the work (meson.build); this file names the usual commands.
#
#   make            build; the program is build/rlar
#   make demo       install what is missing, build, and measure the paper's UCI table again: report.html
#   make check      install what is missing, build, and run every test (a few minutes)
#   make install    PREFIX=/usr/local, DESTDIR=
#   make python     the Python package in build-python/venv, which sees Debian's NumPy and scikit-learn
#   make check-python   the tests of the package with the newest NumPy and scikit-learn (needs PyPI)
#   make mpi        install MPI and build build/rlar-mpi as well: one fit over several processes
#   make check-mpi  the tests of build/rlar-mpi on this machine
#   make fuzz       fuzz every reader, the model loader, the arguments, fits: SECONDS=60 each, TARGETS="csv npy"
#   make verify     measure the rows of docs/verify.md again with reduced counts: under an hour
#   make verify-full    the same with the published counts: many hours
#   make bench      install the peers, and time everything against them and against the bare BLAS
#                   (QUICK=1: two minutes; ROWS=lda,csv: these groups; THREADS=2: peers on two threads)
#   make format     clang-format
#   make clean      remove the build folders
#
# SETUP=true skips the installation of packages.

PREFIX ?= /usr/local
SETUP ?= scripts/setup
# The system's Python, which has the packages that scripts/setup installs, before any other.
PYTHON ?= $(firstword $(wildcard /usr/bin/python3) python3)

# Larger data sets for the tests that can use them; without the folder those tests are skipped.
ifndef RLAR_DATA_DIR
ifneq ($(wildcard ../shared/data),)
export RLAR_DATA_DIR := $(abspath ../shared/data)
endif
endif

.PHONY: all demo check install python check-python mpi check-mpi fuzz verify verify-full bench format clean
.NOTPARALLEL:

all: build/build.ninja
	@meson compile -C build
	@echo "The program is build/rlar; try: build/rlar --help"

build/build.ninja:
	@meson setup build --prefix=$(PREFIX)

demo:
	@$(SETUP) build
	@$(MAKE) --no-print-directory all
	@scripts/demo

check:
	@$(SETUP) check
	@scripts/check

install: all
	@meson configure build --prefix=$(PREFIX)
	@DESTDIR=$(if $(DESTDIR),$(abspath $(DESTDIR))) meson install -C build

python:
	@$(SETUP) python
	@PYTHON=$(PYTHON) scripts/python install

check-python:
	@$(SETUP) python
	@$(MAKE) --no-print-directory all
	@PYTHON=$(PYTHON) scripts/python test-newest

# An older folder has to see the option first: hence the two steps.
mpi:
	@$(SETUP) mpi
	@test -e build/build.ninja || meson setup build --prefix=$(PREFIX)
	@ninja -C build build.ninja >/dev/null
	@meson configure build -Dmpi=enabled
	@$(MAKE) --no-print-directory all
	@echo "and build/rlar-mpi; try: mpirun -n 2 build/rlar-mpi fit data/wine.csv"

check-mpi: mpi
	@meson test -C build --no-rebuild --print-errorlogs --suite mpi

fuzz:
	@$(SETUP) check
	@scripts/fuzz --seconds $(or $(SECONDS),60) --jobs 2 $(TARGETS)

verify:
	@$(SETUP) verify
	@$(PYTHON) scripts/verify --jobs 2 $(ROWS)

verify-full:
	@$(SETUP) verify
	@$(PYTHON) scripts/verify --full --jobs 2 $(ROWS)

bench:
	@$(SETUP) bench
	@test -e build-bench/build.ninja || meson setup build-bench --buildtype=release
	@ninja -C build-bench bench/bench_driver
	@$(PYTHON) bench/run.py build-bench/bench/bench_driver $(if $(QUICK),--quick) \
		$(if $(ROWS),--rows $(ROWS)) $(if $(THREADS),--threads $(THREADS)) \
		$(if $(REPEATS),--repeats $(REPEATS))

format:
	@command -v clang-format-14 >/dev/null || { echo "make format needs clang-format-14 (apt-get install clang-format-14)"; exit 1; }
	@clang-format-14 -i $$(find include src cli python examples tests fuzz bench -name '*.[ch]')

clean:
	@rm -rf build build-*
