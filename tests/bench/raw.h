/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the programs that measure the machine's raw UDP limits share: a clock,
 * sockets on two loopback addresses, and a child that is always waited for.
 */
#ifndef RNIC_TESTS_BENCH_RAW_H
#define RNIC_TESTS_BENCH_RAW_H

#include <stdint.h>
#include <sys/types.h>

/* The two "hosts" of a measurement. */
#define RAW_ADDRESS_A "127.0.0.1"
#define RAW_ADDRESS_B "127.0.0.2"

/* No measurement may outlive this many seconds: SIGALRM ends both processes. */
#define RAW_LIMIT_SECONDS 30

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t raw_now(void);

/* Prints `what` and errno's meaning to stderr and exits with 1. */
void raw_die(const char *what) __attribute__((noreturn));

/*
 * Makes a pair of UDP sockets, fds[0] on RAW_ADDRESS_A and fds[1] on
 * RAW_ADDRESS_B, each on a port of the kernel's choice and connected to the
 * other, with the largest buffers that an unprivileged program may ask for.
 */
void raw_socketpair(int fds[2]);

/* Forks; in both processes SIGALRM is armed with RAW_LIMIT_SECONDS. */
pid_t raw_fork(void);

/* Waits for the child; exits with 1 if it did not end with 0. */
void raw_join(pid_t child);

#endif
