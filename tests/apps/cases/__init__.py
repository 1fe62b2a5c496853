# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What is run: each module has `run(report, setting)`, or opens settings of
its own in `run_apart(report, kind, builddir)`."""
