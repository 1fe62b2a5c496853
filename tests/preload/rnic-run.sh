#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# rnic-run: daemons on demand and private, and programs that have nothing to do with RDMA.
# shellcheck disable=SC2016,SC2317 # text for other shells; functions are called by name
set -u

run=$PWD/tools/rnic-run
tmp=$(mktemp -d "${TMPDIR:-/tmp}/rnic-run-test-XXXXXX") || exit 99
unset RNIC_DIR LD_PRELOAD
XDG_RUNTIME_DIR=$tmp
export XDG_RUNTIME_DIR
failed=0

# A daemon started for us is gone when its socket is; its lock is held until then.
finish() {
	for dir in "$tmp"/*/; do
		for _ in $(seq 1200); do
			[ -S "$dir/control" ] || break
			sleep 0.1
		done
	done
	rm -rf "$tmp"
}
trap finish EXIT

rule() {
	if "$1"; then
		echo "ok $1"
	else
		echo "not ok $1"
		failed=1
	fi
}

gone() {
	for _ in $(seq 1200); do
		[ -e "$1" ] || return 0
		sleep 0.1
	done
	return 1
}

status_is_the_programs() {
	"$run" sh -c 'exit 37'
	[ $? -eq 37 ] || return 1
	"$run" --dir "$tmp/status" "$tmp/absent" 2>/dev/null
	[ $? -eq 127 ] || return 1
	"$run" --dir "$tmp/status" /etc/passwd 2>/dev/null
	[ $? -eq 126 ] || return 1
	"$run" 2>/dev/null
	[ $? -eq 125 ]
}

daemon_that_cannot_start_is_reported() {
	RNIC_DAEMON=/bin/false "$run" --dir "$tmp/false" true 2>"$tmp/message"
	[ $? -eq 125 ] && grep -q 'did not start' "$tmp/message"
}

folder_of_others_is_refused() {
	mkdir "$tmp/open" && chmod 777 "$tmp/open" || return 1
	"$run" --dir "$tmp/open" true 2>"$tmp/message"
	[ $? -eq 125 ] && grep -q 'others may write' "$tmp/message"
}

programs_share_a_daemon_while_one_of_them_lives() {
	mkfifo "$tmp/go" "$tmp/there" || return 1
	"$run" --dir "$tmp/share" sh -c "echo > '$tmp/there'; read _ < '$tmp/go'; ls /sys/class/infiniband" \
		>"$tmp/late" &
	holder=$!
	read -r _ <"$tmp/there"
	"$run" --dir "$tmp/share" ls /sys/class/infiniband >"$tmp/early"
	sleep 5 # longer than a daemon stays without clients: nothing is to happen
	echo >"$tmp/go"
	wait "$holder" || { echo "# the holder failed"; return 1; }
	grep -q '^rxe' "$tmp/early" && grep -q '^rxe' "$tmp/late" &&
		[ "$(grep -cx 'rnicd: ready' "$tmp/share/log")" -eq 1 ] && gone "$tmp/share/control" && return
	cat "$tmp/early" "$tmp/late" "$tmp/share/log" | sed 's/^/# /'
	return 1
}

# The first may not end before the last has come, or there would be a second daemon.
many_at_once_start_one_daemon() {
	mkdir "$tmp/come" && exec 9>"$tmp/gate" && flock 9 || return 1
	for i in $(seq 50); do
		"$run" --dir "$tmp/many" sh -c "echo > '$tmp/come/$i'; flock -s '$tmp/gate' ls /sys/class/infiniband" \
			>"$tmp/many.$i" 2>&1 9>&- &
	done
	for _ in $(seq 1200); do
		[ "$(find "$tmp/come" -type f | wc -l)" -lt 50 ] || break
		sleep 0.1
	done
	exec 9>&-
	wait
	for i in $(seq 50); do
		grep -q '^rxe' "$tmp/many.$i" || return 1
	done
	[ "$(grep -cx 'rnicd: ready' "$tmp/many/log")" -eq 1 ]
}

# Those that came too late say so, and leave to the one that serves what is its own.
many_daemons_at_once_leave_one_that_serves() {
	pids=
	for i in $(seq 20); do
		"$PWD/tools/rnicd" --dir "$tmp/claimed" --private 2>"$tmp/claimed.$i" &
		pids="$pids $!"
	done
	for _ in $(seq 1200); do
		late=$(cat "$tmp"/claimed.* | grep -c 'another rnicd serves here')
		serve=$(cat "$tmp"/claimed.* | grep -cx 'rnicd: ready')
		[ $((late + serve)) -lt 20 ] || break
		sleep 0.1
	done
	for i in $(seq 20); do
		# shellcheck disable=SC2086 # words
		grep -qx 'rnicd: ready' "$tmp/claimed.$i" || wait "$(echo $pids | cut -d ' ' -f "$i")"
	done
	seen=$("$PWD/tools/rnicctl" --dir "$tmp/claimed" link show &&
		RNIC_DAEMON=/bin/false "$run" --dir "$tmp/claimed" ls /sys/class/infiniband)
	# shellcheck disable=SC2086 # words
	kill $pids 2>/dev/null
	wait
	[ "$late" -eq 19 ] && [ "$serve" -eq 1 ] && [ "$(echo "$seen" | grep -c '^\(name \)\?rxe0')" -eq 2 ] &&
		[ ! -e "$tmp/claimed/control" ] && return
	echo "$late late, $serve serve: $seen" | sed 's/^/# /'
	return 1
}

# As where `rnicd &` and `rnic-run` stand one after the other, and the latter finds no socket yet.
daemon_that_others_were_faster_to_start_is_used() {
	cat >"$tmp/slow" <<-END
		#!/bin/sh
		NOTIFY_SOCKET= $PWD/tools/rnicd --dir $tmp/race 2>$tmp/faster 3>&- &
		echo \$! >$tmp/faster.pid
		until grep -qx 'rnicd: ready' $tmp/faster; do sleep 0.1; done
		exec $PWD/tools/rnicd "\$@"
	END
	chmod +x "$tmp/slow"
	RNIC_DAEMON=$tmp/slow "$run" --dir "$tmp/race" ls /sys/class/infiniband >"$tmp/raced" 2>&1
	code=$?
	kill "$(cat "$tmp/faster.pid")"
	[ "$code" -eq 0 ] && grep -qx rxe0 "$tmp/raced" && gone "$tmp/race/control" && return
	cat "$tmp/faster" "$tmp/raced" | sed 's/^/# /'
	return 1
}

private_daemons_are_apart_and_leave_nothing() {
	show='echo $RNIC_DIR; cat /sys/class/infiniband/rxe0/ports/1/gids/0'
	"$run" --private sh -c "$show" >"$tmp/one" &
	one=$!
	"$run" --private sh -c "$show" >"$tmp/two" || return 1
	wait "$one" || return 1
	for which in one two; do
		[ "$(wc -l <"$tmp/$which")" -eq 2 ] || return 1
		gone "$(head -n 1 "$tmp/$which")" || return 1
	done
	! cmp -s "$tmp/one" "$tmp/two"
}

other_programs_run_as_without_it() {
	cat >"$tmp/hello.c" <<-'EOF'
		#include <stdio.h>
		int main(void) { return puts("hello") < 0; }
	EOF
	"$run" "${CC:-cc}" -o "$tmp/hello" "$tmp/hello.c" || return 1
	[ "$("$run" "$tmp/hello" | "$run" tr a-z A-Z | cat)" = HELLO ] || return 1
	if command -v python3 >/dev/null; then
		[ "$("$run" python3 -c '
import os, subprocess, tempfile, multiprocessing
with tempfile.TemporaryFile() as f:
    f.write(b"x" * 100000)
    assert f.tell() == 100000
with multiprocessing.Pool(2) as p:
    assert p.map(abs, [-1, 2]) == [1, 2]
print(subprocess.check_output(["echo", "fine"], close_fds=True).decode().strip())')" = fine ] ||
			return 1
	fi
	if command -v git >/dev/null; then
		"$run" git init -q "$tmp/repo" || return 1
		echo a >"$tmp/repo/a"
		"$run" git -C "$tmp/repo" add a || return 1
		"$run" git -C "$tmp/repo" -c user.name=n -c user.email=e@invalid commit -qm m || return 1
		"$run" git -C "$tmp/repo" fsck --strict 2>/dev/null || return 1
	fi
}

shell_sees_a_device_tree() {
	"$run" sh -c '
		cd /sys/class/infiniband/rxe0 || exit 1
		[ "$(cat node_type)" = "1: CA" ] || exit 2
		[ -c /dev/infiniband/uverbs0 ] || exit 3
		[ -r /dev/infiniband/uverbs0 ] && [ -w /dev/infiniband/uverbs0 ] || exit 4
		[ ! -e /sys/class/infiniband/absent ] || exit 5
		[ "$(find /dev/infiniband/ -name uverbs0 -type c)" = /dev/infiniband/uverbs0 ] || exit 6
		ls -l /dev/infiniband/uverbs0 >/dev/null 2>&1 || exit 7
		[ "$(ls /sys/class | grep -cx infiniband)" = 1 ] || exit 9
		cd /dev && [ "$(find . -name uverbs0 -type c)" = ./infiniband/uverbs0 ] || exit 10
		[ "$(echo inf*)" = infiniband ] || exit 11
		case $(readlink -f /sys/class/infiniband/rxe0) in /sys/devices/*) ;; *) exit 8 ;; esac
	'
	code=$?
	[ "$code" -eq 0 ] || echo "# step $code"
	return "$code"
}

# message PROGRAM: what rnic-run says of it, which has to run all the same.
message() {
	"$run" --dir "$tmp/unserved" "$@" >/dev/null 2>"$tmp/said"
	cat "$tmp/said"
}

programs_that_cannot_be_served_are_named() {
	[ -z "$(message true)" ] || return 1
	[ -z "$(message sh -c true)" ] || return 1
	if [ -x /sbin/ldconfig ] && file -L /sbin/ldconfig 2>/dev/null | grep -q static; then
		case $(message /sbin/ldconfig --version) in
		*"is linked statically"*) ;;
		*) return 1 ;;
		esac
	fi
	[ "$(id -u)" = 0 ] || return 0
	chmod 755 "$tmp"
	cp /bin/true "$tmp/lent"
	chown 65534 "$tmp/lent" 2>/dev/null || return 0 # a namespace may have no such user
	chmod 4755 "$tmp/lent"
	case $(message "$tmp/lent") in
	*"is set-uid"*) ;;
	*) return 1 ;;
	esac
}

for name in status_is_the_programs daemon_that_cannot_start_is_reported folder_of_others_is_refused \
	programs_share_a_daemon_while_one_of_them_lives many_at_once_start_one_daemon \
	many_daemons_at_once_leave_one_that_serves daemon_that_others_were_faster_to_start_is_used \
	private_daemons_are_apart_and_leave_nothing other_programs_run_as_without_it \
	shell_sees_a_device_tree programs_that_cannot_be_served_are_named; do
	rule $name
done
exit $failed
