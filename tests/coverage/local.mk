# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# `make coverage`: branch coverage of rnic/ and bth/.
EXTRA_DIST += \
	tests/coverage/count \
	tests/coverage/run \
	$(NULL)

coverage_programs = \
	$(rnic_tests) \
	tests/sim/cm \
	tests/unit/bth_test \
	tests/unit/verbs_test \
	$(NULL)
coverage_tests = \
	$(coverage_programs) \
	$(sim_scripts) \
	tests/drill/run \
	$(NULL)

.PHONY: coverage coverage-programs coverage-tests
coverage-programs: all $(coverage_programs) tests/sim/sim
coverage:
	$(srcdir)/tests/coverage/run $(builddir)
coverage-tests:
	@echo $(coverage_tests)
