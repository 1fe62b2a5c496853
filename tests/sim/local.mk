# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_PROGRAMS += tests/sim/sim
tests_sim_sim_SOURCES = \
	tests/sim/end_model.c \
	tests/sim/end_model.h \
	tests/sim/endpoint.c \
	tests/sim/endpoint.h \
	tests/sim/host.c \
	tests/sim/host.h \
	tests/sim/model_plan.c \
	tests/sim/model_srq.c \
	tests/sim/model_srq.h \
	tests/sim/model_window.c \
	tests/sim/model_window.h \
	tests/sim/queues.c \
	tests/sim/queues.h \
	tests/sim/rng.h \
	tests/sim/scenario.c \
	tests/sim/scenario.h \
	tests/sim/scenario_local.c \
	tests/sim/scenario_refuse.c \
	tests/sim/scenario_retry.c \
	tests/sim/scenario_rig.c \
	tests/sim/scenario_rig.h \
	tests/sim/scenario_srq.c \
	tests/sim/scenario_windows.c \
	tests/sim/sim.c \
	tests/sim/traffic.c \
	tests/sim/traffic.h \
	tests/sim/unreliable.c \
	tests/sim/unreliable.h \
	tests/sim/world.c \
	tests/sim/world.h \
	$(NULL)
tests_sim_sim_LDADD = \
	rnic/librnic-core.la \
	bth/libbth.la \
	$(NULL)

check_PROGRAMS += tests/sim/cm
tests_sim_cm_SOURCES = \
	tests/sim/cm.c \
	tests/sim/host.c \
	tests/sim/host.h \
	tests/sim/rng.h \
	tests/sim/world.c \
	tests/sim/world.h \
	$(NULL)
tests_sim_cm_LDADD = \
	rnic/librnic-core.la \
	bth/libbth.la \
	$(NULL)
TESTS += tests/sim/cm

check_PROGRAMS += tests/sim/cm_reset
tests_sim_cm_reset_SOURCES = \
	tests/sim/cm_reset.c \
	tests/sim/host.c \
	tests/sim/host.h \
	tests/sim/rng.h \
	tests/sim/world.c \
	tests/sim/world.h \
	$(NULL)
tests_sim_cm_reset_LDADD = \
	rnic/librnic-core.la \
	bth/libbth.la \
	$(NULL)
TESTS += tests/sim/cm_reset

check_PROGRAMS += tests/sim/dcqcn
tests_sim_dcqcn_SOURCES = \
	tests/sim/dcqcn.c \
	tests/sim/endpoint.c \
	tests/sim/endpoint.h \
	tests/sim/host.c \
	tests/sim/host.h \
	tests/sim/queues.c \
	tests/sim/queues.h \
	tests/sim/rng.h \
	tests/sim/world.c \
	tests/sim/world.h \
	$(NULL)
tests_sim_dcqcn_LDADD = \
	net/libfault.la \
	rnic/librnic-core.la \
	bth/libbth.la \
	$(NULL)
TESTS += tests/sim/dcqcn

check_PROGRAMS += tests/sim/faults
tests_sim_faults_SOURCES = \
	tests/sim/endpoint.c \
	tests/sim/endpoint.h \
	tests/sim/faults.c \
	tests/sim/faulty.c \
	tests/sim/faulty.h \
	tests/sim/host.c \
	tests/sim/host.h \
	tests/sim/queues.c \
	tests/sim/queues.h \
	tests/sim/rng.h \
	tests/sim/scenario_rig.c \
	tests/sim/scenario_rig.h \
	tests/sim/world.c \
	tests/sim/world.h \
	$(NULL)
tests_sim_faults_LDADD = \
	net/libfault.la \
	rnic/librnic-core.la \
	bth/libbth.la \
	$(NULL)
TESTS += tests/sim/faults

sim_scripts = \
	tests/sim/replay \
	tests/sim/scenarios \
	tests/sim/seeds \
	tests/sim/unreliable-seeds \
	$(NULL)
TESTS += $(sim_scripts)
EXTRA_DIST += $(sim_scripts)

# Seeds that have not been tried yet; SEEDS= for more or fewer.
SEEDS = 10000000
.PHONY: sim-nightly
sim-nightly: tests/sim/sim
	SIM_FROM=$$(date +%s)00000 SIM_SEEDS=$(SEEDS) SIM_TIMEOUT=86400 \
		$(srcdir)/tests/sim/seeds
