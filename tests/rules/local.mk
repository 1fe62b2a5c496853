# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The rules that a hostile client or peer tries to break, against the real daemon. The programs
# run under librnic.so, where no sanitizer of ours can be; rnicd may well have one.
EXTRA_DIST += \
	tests/rules/lies.py \
	tests/rules/rulebook.py \
	tests/rules/run \
	tests/rules/sniff.py \
	$(NULL)

# Where its programs are not built it says so, and counts as skipped, unless RULES_PROGRAMS names
# another build folder that has them.
TESTS += tests/rules/run

if HAVE_VERBS
if !SANITIZERS
check_PROGRAMS += \
	tests/rules/async \
	tests/rules/channel \
	tests/rules/events \
	tests/rules/family \
	tests/rules/flow \
	tests/rules/foreign \
	tests/rules/grip \
	tests/rules/hog \
	tests/rules/mute_file \
	tests/rules/mute_user \
	tests/rules/orphan \
	tests/rules/peer \
	tests/rules/rings \
	tests/rules/storm \
	tests/rules/widow \
	$(NULL)
RULES_RIG = tests/rules/rig.c tests/rules/rig.h
RULES_CFLAGS = -std=gnu11 $(WARN_CFLAGS)

tests_rules_async_SOURCES = tests/rules/async.c $(RULES_RIG)
tests_rules_async_CFLAGS = $(RULES_CFLAGS)
tests_rules_async_LDFLAGS = -no-install
tests_rules_async_LDADD = -libverbs -lpthread

tests_rules_channel_SOURCES = tests/rules/channel.c $(RULES_RIG)
tests_rules_channel_CFLAGS = $(RULES_CFLAGS) -pthread
tests_rules_channel_LDFLAGS = -no-install
tests_rules_channel_LDADD = -libverbs

tests_rules_foreign_SOURCES = tests/rules/foreign.c $(RULES_RIG)
tests_rules_foreign_CFLAGS = $(RULES_CFLAGS)
tests_rules_foreign_LDFLAGS = -no-install
tests_rules_foreign_LDADD = -libverbs

tests_rules_grip_SOURCES = tests/rules/grip.c $(RULES_RIG)
tests_rules_grip_CFLAGS = $(RULES_CFLAGS) -pthread
tests_rules_grip_LDFLAGS = -no-install
tests_rules_grip_LDADD = -libverbs

tests_rules_events_SOURCES = tests/rules/events.c $(RULES_RIG)
tests_rules_events_CFLAGS = $(RULES_CFLAGS)
tests_rules_events_LDFLAGS = -no-install
tests_rules_events_LDADD = -libverbs

tests_rules_family_SOURCES = tests/rules/family.c $(RULES_RIG)
tests_rules_family_CFLAGS = $(RULES_CFLAGS)
tests_rules_family_LDFLAGS = -no-install
tests_rules_family_LDADD = -libverbs

tests_rules_flow_SOURCES = tests/rules/flow.c $(RULES_RIG)
tests_rules_flow_CFLAGS = $(RULES_CFLAGS)
tests_rules_flow_LDFLAGS = -no-install
tests_rules_flow_LDADD = -libverbs

tests_rules_mute_file_SOURCES = tests/rules/mute_file.c
tests_rules_mute_file_CFLAGS = $(RULES_CFLAGS)
tests_rules_mute_file_LDFLAGS = -no-install

tests_rules_mute_user_SOURCES = tests/rules/mute_user.c $(RULES_RIG)
tests_rules_mute_user_CFLAGS = $(RULES_CFLAGS)
tests_rules_mute_user_LDFLAGS = -no-install
tests_rules_mute_user_LDADD = -libverbs

tests_rules_orphan_SOURCES = tests/rules/orphan.c $(RULES_RIG)
tests_rules_orphan_CFLAGS = $(RULES_CFLAGS)
tests_rules_orphan_LDFLAGS = -no-install
tests_rules_orphan_LDADD = -libverbs

tests_rules_peer_SOURCES = tests/rules/peer.c $(RULES_RIG)
tests_rules_peer_CFLAGS = $(RULES_CFLAGS)
tests_rules_peer_LDFLAGS = -no-install
tests_rules_peer_LDADD = -libverbs bth/libbth.la $(CRC_LIBS)

tests_rules_storm_SOURCES = tests/rules/storm.c $(RULES_RIG)
tests_rules_storm_CFLAGS = $(RULES_CFLAGS) -pthread
tests_rules_storm_LDFLAGS = -no-install
tests_rules_storm_LDADD = -libverbs

tests_rules_hog_SOURCES = tests/rules/hog.c $(RULES_RIG)
tests_rules_hog_CFLAGS = $(RULES_CFLAGS)
tests_rules_hog_LDFLAGS = -no-install
tests_rules_hog_LDADD = -libverbs

tests_rules_widow_SOURCES = tests/rules/widow.c $(RULES_RIG)
tests_rules_widow_CFLAGS = $(RULES_CFLAGS)
tests_rules_widow_LDFLAGS = -no-install
tests_rules_widow_LDADD = -libverbs

tests_rules_rings_SOURCES = tests/rules/rings.c $(RULES_RIG)
tests_rules_rings_CFLAGS = $(RULES_CFLAGS)
tests_rules_rings_LDFLAGS = -no-install
tests_rules_rings_LDADD = -libverbs
endif
endif
