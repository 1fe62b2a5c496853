# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# `make bench`: the machine's raw UDP limits and perftest beside them. Never part of a check.
bench_raw = \
	tests/bench/raw-pingpong \
	tests/bench/raw-stream \
	$(NULL)

EXTRA_PROGRAMS += $(bench_raw)
CLEANFILES += $(bench_raw)

tests_bench_raw_pingpong_SOURCES = \
	tests/bench/raw-pingpong.c \
	tests/bench/raw.c \
	tests/bench/raw.h \
	$(NULL)

tests_bench_raw_stream_SOURCES = \
	tests/bench/raw-stream.c \
	tests/bench/raw.c \
	tests/bench/raw.h \
	$(NULL)

EXTRA_DIST += \
	tests/bench/bench \
	$(NULL)

bench: all $(bench_raw)
	$(srcdir)/tests/bench/bench --builddir $(builddir) $(BENCH_FLAGS)
