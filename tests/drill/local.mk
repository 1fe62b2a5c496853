# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Scripts of verbs and packets: `make check` runs them, `make mutation` switches their rules off.
TESTS += \
	tests/drill/fuzz \
	tests/drill/run \
	$(NULL)
EXTRA_DIST += \
	tests/drill/README.md \
	tests/drill/fuzz \
	tests/drill/mutate \
	tests/drill/run \
	$(NULL)

dist-hook:
	cp $(srcdir)/tests/drill/*.drill $(distdir)/tests/drill/

.PHONY: mutation
mutation: all
	$(srcdir)/tests/drill/mutate --build $(builddir)
