# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Captures and ladders of stock programs, as tshark, tcpdump and a browser see them.
EXTRA_DIST += tests/capture/run
TESTS += tests/capture/run
