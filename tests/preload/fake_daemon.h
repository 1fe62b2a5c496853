/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A daemon for the tests of librnic: answers every operation in the simplest way and counts.
 * WRITE commands are one struct fake_command in the client's memory.
 */
#ifndef TESTS_FAKE_DAEMON_H
#define TESTS_FAKE_DAEMON_H

#include <stdbool.h>
#include <stdint.h>

#include "verbs/abi/control.h"
#include "verbs/abi/doorbell.h"

#define FAKE_RDEV_MAJOR 231
#define FAKE_RDEV_MINOR 192

enum fake_op {
	FAKE_ECHO = 0x70, /* *out = value */
	FAKE_CHANNEL,	  /* *out = descriptor of a new socketpair */
	FAKE_IDENTIFY,	  /* *out = inode of descriptor `value`, 0 if it is not open */
	FAKE_STAT,	  /* *out = counter `value`, enum fake_counter */
	FAKE_KICKED,	  /* *out = were QP `value`'s bit and pending set? clears */
	FAKE_ARMED,	  /* *out = CQ `value`'s arm word; clears */
	FAKE_SLEEP,	  /* sleeping = value; *out = wakes so far */
	FAKE_ERRNO,	  /* fails with errno `value` */
	FAKE_WAIT,	  /* answered by the next FAKE_RELEASE */
	FAKE_RELEASE,
	FAKE_REFUSE, /* refuses the next `value` connections */
};

enum fake_counter { FAKE_SESSIONS, FAKE_HELLOS, FAKE_JOINS, FAKE_ATTACHES, FAKE_CLOSED };

struct fake_command {
	uint32_t op;
	uint32_t pad;
	uint64_t value;
	uint64_t out; /* address of a uint64_t */
};

/* nl_pid of a netlink socket to which any was given. Who asks for it is sent "hello". */
#define FAKE_PORT 4711

/* The socket of DIR, which exists: clients may connect from now on. */
int fake_daemon_listen(const char *dir);
/* Serve it until `stop` is readable. */
void fake_daemon_run(int listener, int stop);

#endif
