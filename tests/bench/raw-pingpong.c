/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * raw-pingpong [-b] [-s SIZE] [-n ROUNDS]: half the round trip of a datagram
 * of SIZE bytes between two processes over loopback. Both poll for it; with -b
 * both block in recv() instead. Prints one JSON line.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "raw.h"

#define MAX_SIZE 9000
#define MAX_ROUNDS 1000000
#define WARM_UP_ROUNDS 500

struct setup {
	bool block;
	size_t size;
	size_t rounds;
};

static void receive_one(int fd, const struct setup *setup)
{
	static char buffer[MAX_SIZE];
	ssize_t n;

	do {
		n = recv(fd, buffer, sizeof(buffer), setup->block ? 0 : MSG_DONTWAIT);
	} while (n < 0 && (errno == EAGAIN || errno == EINTR));
	if (n != (ssize_t)setup->size)
		raw_die("recv");
}

static void send_one(int fd, const struct setup *setup)
{
	static char buffer[MAX_SIZE];

	if (send(fd, buffer, setup->size, 0) != (ssize_t)setup->size)
		raw_die("send");
}

static void echo_run(int fd, const struct setup *setup)
{
	for (size_t i = 0; i < WARM_UP_ROUNDS + setup->rounds; i++) {
		receive_one(fd, setup);
		send_one(fd, setup);
	}
}

static void ping_run(int fd, const struct setup *setup, uint64_t *half)
{
	for (size_t i = 0; i < WARM_UP_ROUNDS + setup->rounds; i++) {
		uint64_t start = raw_now();

		send_one(fd, setup);
		receive_one(fd, setup);
		if (i >= WARM_UP_ROUNDS)
			half[i - WARM_UP_ROUNDS] = (raw_now() - start) / 2;
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void pingpong_run(const struct setup *setup)
{
	uint64_t *half = calloc(setup->rounds, sizeof(*half));
	pid_t child;
	int fds[2];

	if (!half)
		raw_die("calloc");
	raw_socketpair(fds);
	child = raw_fork();
	if (child == 0) {
		echo_run(fds[1], setup);
		_exit(0);
	}
	ping_run(fds[0], setup, half);
	raw_join(child);
	qsort(half, setup->rounds, sizeof(*half), compare);
	printf("{\"block\": %s, \"size\": %zu, \"rounds\": %zu, "
	       "\"min_us\": %.3f, \"median_us\": %.3f, \"p99_us\": %.3f}\n",
	       setup->block ? "true" : "false", setup->size, setup->rounds, (double)half[0] / 1e3,
	       (double)half[setup->rounds / 2] / 1e3, (double)half[setup->rounds * 99 / 100] / 1e3);
	free(half);
}

int main(int argc, char **argv)
{
	struct setup setup = {.size = 36, .rounds = 20000};
	int c;

	while ((c = getopt(argc, argv, "bs:n:")) != -1) {
		switch (c) {
		case 'b':
			setup.block = true;
			break;
		case 's':
			setup.size = strtoul(optarg, NULL, 10);
			break;
		case 'n':
			setup.rounds = strtoul(optarg, NULL, 10);
			break;
		default:
			fprintf(stderr, "usage: %s [-b] [-s SIZE] [-n ROUNDS]\n", argv[0]);
			return 2;
		}
	}
	if (setup.size < 1 || setup.size > MAX_SIZE || setup.rounds < 1 ||
	    setup.rounds > MAX_ROUNDS) {
		fprintf(stderr, "SIZE or ROUNDS out of range\n");
		return 2;
	}
	pingpong_run(&setup);
	return 0;
}
