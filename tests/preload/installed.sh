#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# An installation, staged in a folder other than its prefix, works from there with nothing of the
# build folder; uninstall leaves nothing.
# shellcheck disable=SC2016,SC2317 # text for other shells; functions are called by name
set -u

tmp=$(mktemp -d "${TMPDIR:-/tmp}/rnic-installed-XXXXXX") || exit 99
unset RNIC_DIR LD_PRELOAD MAKEFLAGS MFLAGS MAKELEVEL
root=$tmp/stage/usr
failed=0

finish() {
	for _ in $(seq 1200); do
		[ -S "$tmp/dir/control" ] || break
		sleep 0.1
	done
	rm -rf "$tmp"
}
trap finish EXIT

rule() {
	if "$1" >"$tmp/said" 2>&1; then
		echo "ok $1"
	else
		echo "not ok $1"
		sed 's/^/# /' "$tmp/said"
		failed=1
	fi
}

stage() {
	make -s "$1" DESTDIR="$tmp/stage" prefix=/usr exec_prefix=/usr mandir=/usr/share/man \
		bindir=/usr/bin sbindir=/usr/sbin libdir=/usr/lib
}

install_puts_all_in_place() {
	stage install || return 1
	for file in bin/rnic-run bin/rnicctl sbin/rnicd share/man/man1/rnic-run.1 \
		share/man/man7/rnic.7 share/man/man8/rnicd.8 share/man/man8/rnicctl.8; do
		[ -s "$root/$file" ] || { echo "no $file"; return 1; }
	done
	[ -n "$(find "$root/lib" -name librnic.so)" ]
}

# The programs see a device, by the staged library and the staged daemon.
installed_run_serves_a_device() {
	"$root/bin/rnic-run" --dir "$tmp/dir" sh -c '
		cat /sys/class/infiniband/rxe0/node_type /proc/$$/maps &&
		"$1/bin/rnicctl" stat >&2 &&
		for pid in /proc/[0-9]*; do readlink "$pid/exe" || true; done' sh "$root" \
		>"$tmp/shown" &&
		grep -qx '1: CA' "$tmp/shown" &&
		grep -q " $root/lib/.*/librnic.so" "$tmp/shown" &&
		grep -qx "$root/sbin/rnicd" "$tmp/shown"
}

uninstall_leaves_nothing() {
	stage uninstall && [ -z "$(find "$tmp/stage" -type f)" ]
}

for name in install_puts_all_in_place installed_run_serves_a_device uninstall_leaves_nothing; do
	rule $name
done
exit $failed
