# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
if HAVE_CHECK
rnic_tests = \
	tests/unit/rnic_cc \
	tests/unit/rnic_cc_params \
	tests/unit/rnic_cc_rp \
	tests/unit/rnic_cm_end \
	tests/unit/rnic_cm_golden \
	tests/unit/rnic_cm_rules \
	tests/unit/rnic_cm_states \
	tests/unit/rnic_credit \
	tests/unit/rnic_error_order \
	tests/unit/rnic_errors \
	tests/unit/rnic_errors_unreliable \
	tests/unit/rnic_events \
	tests/unit/rnic_golden \
	tests/unit/rnic_hold \
	tests/unit/rnic_golden_unreliable \
	tests/unit/rnic_hostile \
	tests/unit/rnic_long \
	tests/unit/rnic_limits \
	tests/unit/rnic_memory \
	tests/unit/rnic_mcast \
	tests/unit/rnic_modify \
	tests/unit/rnic_modify_table \
	tests/unit/rnic_objects \
	tests/unit/rnic_recovery \
	tests/unit/rnic_replay \
	tests/unit/rnic_shape \
	tests/unit/rnic_source \
	tests/unit/rnic_pace \
	tests/unit/rnic_table \
	tests/unit/rnic_timeout \
	tests/unit/rnic_timer \
	$(NULL)
check_PROGRAMS += $(rnic_tests)
TESTS += $(rnic_tests)

check_LTLIBRARIES += tests/unit/librnic-fixture.la
tests_unit_librnic_fixture_la_SOURCES = \
	tests/unit/null_host.c \
	tests/unit/null_host.h \
	tests/unit/rnic_fixture.c \
	tests/unit/rnic_fixture.h \
	tests/unit/suite.h \
	$(NULL)
tests_unit_librnic_fixture_la_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)

rnic_test_libs = \
	tests/unit/librnic-fixture.la \
	rnic/librnic-core.la \
	bth/libbth.la \
	$(CHECK_LIBS) \
	$(NULL)
rnic_lone_sources = \
	tests/sim/endpoint.c \
	tests/sim/host.c \
	tests/sim/queues.c \
	tests/sim/world.c \
	tests/unit/rnic_lone.c \
	tests/unit/rnic_lone.h \
	$(NULL)
cm_rig_sources = tests/unit/cm_rig.c tests/unit/cm_rig.h
tests_unit_rnic_cm_golden_SOURCES = \
	tests/unit/bth_trace.c \
	tests/unit/bth_trace.h \
	tests/unit/rnic_cm_golden.c \
	$(cm_rig_sources) \
	$(NULL)
tests_unit_rnic_cm_golden_CPPFLAGS = $(AM_CPPFLAGS) \
	-DGOLDEN_DIR='"$(abs_top_srcdir)/tests/golden"'
tests_unit_rnic_cm_golden_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(PCAP_CFLAGS)
tests_unit_rnic_cm_golden_LDADD = $(rnic_test_libs) $(PCAP_LIBS)
cm_reach_sources = tests/unit/cm_reach.c tests/unit/cm_reach.h $(cm_rig_sources)
tests_unit_rnic_cm_end_SOURCES = tests/unit/rnic_cm_end.c $(cm_reach_sources)
tests_unit_rnic_cm_end_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_cm_end_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=calloc -Wl,--wrap=realloc
tests_unit_rnic_cm_end_LDADD = $(rnic_test_libs)
tests_unit_rnic_cm_rules_SOURCES = tests/unit/rnic_cm_rules.c $(cm_reach_sources)
tests_unit_rnic_cm_rules_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_cm_rules_LDADD = $(rnic_test_libs)
tests_unit_rnic_cm_states_SOURCES = tests/unit/rnic_cm_states.c $(cm_reach_sources)
tests_unit_rnic_cm_states_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_cm_states_LDADD = $(rnic_test_libs)
tests_unit_rnic_cc_SOURCES = tests/unit/rnic_cc.c $(rnic_lone_sources)
tests_unit_rnic_cc_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/sim
tests_unit_rnic_cc_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_cc_LDADD = $(rnic_test_libs)
tests_unit_rnic_cc_params_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_cc_params_LDADD = $(rnic_test_libs)
tests_unit_rnic_cc_rp_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_cc_rp_LDADD = $(rnic_test_libs)
tests_unit_rnic_credit_SOURCES = tests/unit/rnic_credit.c $(rnic_lone_sources)
tests_unit_rnic_credit_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/sim
tests_unit_rnic_credit_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_credit_LDADD = $(rnic_test_libs)
tests_unit_rnic_error_order_SOURCES = tests/unit/rnic_error_order.c $(rnic_lone_sources)
tests_unit_rnic_error_order_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/sim
tests_unit_rnic_error_order_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_error_order_LDADD = $(rnic_test_libs)
tests_unit_rnic_errors_SOURCES = tests/unit/rnic_errors.c $(rnic_lone_sources)
tests_unit_rnic_errors_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/sim
tests_unit_rnic_errors_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_errors_LDADD = $(rnic_test_libs)
tests_unit_rnic_errors_unreliable_SOURCES = tests/unit/rnic_errors_unreliable.c $(rnic_lone_sources)
tests_unit_rnic_errors_unreliable_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/sim
tests_unit_rnic_errors_unreliable_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_errors_unreliable_LDADD = $(rnic_test_libs)
tests_unit_rnic_source_SOURCES = tests/unit/rnic_source.c $(rnic_lone_sources)
tests_unit_rnic_source_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/sim
tests_unit_rnic_source_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_source_LDADD = $(rnic_test_libs)
tests_unit_rnic_events_SOURCES = tests/unit/rnic_events.c $(rnic_lone_sources)
tests_unit_rnic_events_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/sim
tests_unit_rnic_events_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_events_LDADD = $(rnic_test_libs)
tests_unit_rnic_golden_SOURCES = \
	tests/sim/endpoint.c \
	tests/sim/host.c \
	tests/sim/queues.c \
	tests/sim/world.c \
	tests/unit/bth_trace.c \
	tests/unit/bth_trace.h \
	tests/unit/rnic_golden.c \
	tests/unit/suite.h \
	$(NULL)
tests_unit_rnic_golden_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/sim \
	-DGOLDEN_DIR='"$(abs_top_srcdir)/tests/golden"'
tests_unit_rnic_golden_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(PCAP_CFLAGS)
tests_unit_rnic_golden_LDADD = $(rnic_test_libs) $(PCAP_LIBS)
tests_unit_rnic_golden_unreliable_SOURCES = \
	tests/sim/endpoint.c \
	tests/sim/host.c \
	tests/sim/queues.c \
	tests/sim/world.c \
	tests/unit/bth_trace.c \
	tests/unit/bth_trace.h \
	tests/unit/rnic_golden_unreliable.c \
	tests/unit/suite.h \
	$(NULL)
tests_unit_rnic_golden_unreliable_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/sim \
	-DGOLDEN_DIR='"$(abs_top_srcdir)/tests/golden"'
tests_unit_rnic_golden_unreliable_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(PCAP_CFLAGS)
tests_unit_rnic_golden_unreliable_LDADD = $(rnic_test_libs) $(PCAP_LIBS)
tests_unit_rnic_hostile_SOURCES = \
	tests/sim/endpoint.c \
	tests/sim/host.c \
	tests/sim/queues.c \
	tests/sim/world.c \
	tests/unit/rnic_hostile.c \
	$(NULL)
tests_unit_rnic_hostile_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/sim
tests_unit_rnic_hostile_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_hostile_LDADD = $(rnic_test_libs)
tests_unit_rnic_long_SOURCES = tests/unit/rnic_long.c $(rnic_lone_sources)
tests_unit_rnic_long_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/sim
tests_unit_rnic_long_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_long_LDADD = $(rnic_test_libs)
tests_unit_rnic_limits_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_limits_LDADD = $(rnic_test_libs)
tests_unit_rnic_mcast_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_mcast_LDADD = $(rnic_test_libs)
tests_unit_rnic_memory_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_memory_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=calloc -Wl,--wrap=malloc -Wl,--wrap=realloc
tests_unit_rnic_memory_LDADD = $(rnic_test_libs)
tests_unit_rnic_modify_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_modify_LDADD = $(rnic_test_libs)
tests_unit_rnic_modify_table_SOURCES = \
	tests/use/transitions.c \
	tests/use/transitions.h \
	tests/unit/rnic_modify_table.c \
	$(NULL)
tests_unit_rnic_modify_table_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/use \
	-DTRANSITIONS='"$(abs_top_srcdir)/tests/use/transitions.txt"'
tests_unit_rnic_modify_table_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_modify_table_LDADD = $(rnic_test_libs)
tests_unit_rnic_objects_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_objects_LDADD = $(rnic_test_libs)
tests_unit_rnic_recovery_SOURCES = tests/unit/rnic_recovery.c $(rnic_lone_sources)
tests_unit_rnic_recovery_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/sim
tests_unit_rnic_recovery_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_recovery_LDADD = $(rnic_test_libs)
tests_unit_rnic_replay_SOURCES = tests/unit/rnic_replay.c $(rnic_lone_sources)
tests_unit_rnic_replay_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/sim
tests_unit_rnic_replay_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_replay_LDADD = $(rnic_test_libs)
tests_unit_rnic_hold_SOURCES = tests/unit/rnic_hold.c $(rnic_lone_sources)
tests_unit_rnic_hold_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/sim
tests_unit_rnic_hold_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_hold_LDADD = $(rnic_test_libs)
tests_unit_rnic_pace_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_pace_LDADD = $(rnic_test_libs)
tests_unit_rnic_shape_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_shape_LDADD = $(rnic_test_libs)
tests_unit_rnic_table_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_table_LDADD = $(rnic_test_libs)
tests_unit_rnic_timeout_SOURCES = tests/unit/rnic_timeout.c $(rnic_lone_sources)
tests_unit_rnic_timeout_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/sim
tests_unit_rnic_timeout_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_timeout_LDADD = $(rnic_test_libs)
tests_unit_rnic_timer_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_rnic_timer_LDADD = $(rnic_test_libs)
endif
