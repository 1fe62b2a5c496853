# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Stock programs over the device: `make check-apps` (half an hour; as root in both settings) runs all
# of them, tests/apps/run those whose packages are not large; `make check` only the harness's tests.
TESTS += \
	tests/apps/selftest \
	$(NULL)

EXTRA_DIST += \
	docs/applications.log \
	tests/apps/cases/__init__.py \
	tests/apps/cases/captured.py \
	tests/apps/cases/catalogue.py \
	tests/apps/cases/cm.py \
	tests/apps/cases/congestion.py \
	tests/apps/cases/dapl.py \
	tests/apps/cases/devinfo.py \
	tests/apps/cases/fabric.py \
	tests/apps/cases/faults.py \
	tests/apps/cases/inspect.py \
	tests/apps/cases/iser.py \
	tests/apps/cases/lifetime.py \
	tests/apps/cases/loss.py \
	tests/apps/cases/matrix.py \
	tests/apps/cases/migration.py \
	tests/apps/cases/mpi.py \
	tests/apps/cases/ondemand.py \
	tests/apps/cases/pingpong.py \
	tests/apps/cases/pyverbs.py \
	tests/apps/cases/srq.py \
	tests/apps/cases/unharmed.py \
	tests/apps/cases/unreliable.py \
	tests/apps/cases/web.py \
	tests/apps/converge \
	tests/apps/harness/__init__.py \
	tests/apps/harness/capture.py \
	tests/apps/harness/daemon.py \
	tests/apps/harness/gids.py \
	tests/apps/harness/log.py \
	tests/apps/harness/packages.py \
	tests/apps/harness/pair.py \
	tests/apps/harness/ports.py \
	tests/apps/harness/process.py \
	tests/apps/harness/release.py \
	tests/apps/harness/report.py \
	tests/apps/harness/setting.py \
	tests/apps/harness/skips.py \
	tests/apps/harness/tree.py \
	tests/apps/iser_data.py \
	tests/apps/mpi_ring.c \
	tests/apps/perftest.matrix \
	tests/apps/pyverbs.skips \
	tests/apps/pyverbs_driver.py \
	tests/apps/run \
	tests/apps/selftest \
	tests/apps/srq_resize.py \
	tests/apps/unreliable.matrix \
	tests/golden/rxe-devinfo.txt \
	$(NULL)

.PHONY: check-apps
check-apps: all
	$(srcdir)/tests/apps/run --builddir $(builddir) --large --log $(srcdir)/docs/applications.log
