# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
EXTRA_DIST += \
	tests/interop/README.md \
	tests/interop/ends.py \
	tests/interop/interop.py \
	tests/interop/rig/agent \
	tests/interop/rig/build \
	tests/interop/rig/env \
	tests/interop/rig/init \
	tests/interop/rig/rig \
	$(NULL)

# Stock programs between rnicd and a guest's Linux rxe. Where the machine cannot
# run the guest it says so (exit 77), which is no failure.
check-interop: all
	$(AM_V_at)$(srcdir)/tests/interop/interop.py --build $(builddir) || test $$? = 77
