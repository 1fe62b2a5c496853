/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * raw-stream [-g] [-s SIZE] [-t SECONDS]: how fast one process can stream
 * datagrams of SIZE bytes to another over loopback, with -g as runs that the
 * kernel carries whole (UDP_SEGMENT, UDP_GRO), else packet by packet.
 *
 * Nothing paces the sender, so datagrams may be lost; what counts is what the
 * receiver got, between its first datagram and its last. Prints one JSON line.
 */
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "raw.h"

#define MAX_UDP_PAYLOAD 65507
#define MAX_SEGMENTS 64
#define SENDS_PER_CLOCK_READ 16

struct setup {
	bool gso;
	unsigned int segment; /* bytes of one datagram on the wire */
	unsigned int run;     /* bytes handed to one send */
	double seconds;
};

struct received {
	uint64_t bytes;
	uint64_t first, last; /* ns */
};

static char buffer[MAX_UDP_PAYLOAD];

/* Ends at a datagram of one byte, which the sender repeats until we end. */
static struct received receive_until_stop(int fd)
{
	struct received got = {0};

	for (;;) {
		ssize_t n = recv(fd, buffer, sizeof(buffer), 0);

		if (n < 0)
			raw_die("recv");
		if (n == 1)
			return got;
		got.last = raw_now();
		if (got.first == 0)
			got.first = got.last;
		else
			got.bytes += (uint64_t)n;
	}
}

static uint64_t send_for(int fd, const struct setup *setup)
{
	uint64_t end = raw_now() + (uint64_t)(setup->seconds * 1e9);
	uint64_t bytes = 0;

	while (raw_now() < end) {
		for (int i = 0; i < SENDS_PER_CLOCK_READ; i++) {
			ssize_t n = send(fd, buffer, setup->run, 0);

			if (n < 0)
				raw_die("send");
			bytes += (uint64_t)n;
		}
	}
	return bytes;
}

/* Plain single datagrams, so that the stop is not part of a run. */
static void send_stop_until_answered(int fd, int answer)
{
	struct pollfd pfd = {.fd = answer, .events = POLLIN};
	int off = 0;

	if (setsockopt(fd, SOL_UDP, UDP_SEGMENT, &off, sizeof(off)))
		raw_die("UDP_SEGMENT");
	do {
		if (send(fd, buffer, 1, 0) < 0)
			raw_die("send");
	} while (poll(&pfd, 1, 1) == 0);
}

static void gso_enable(const int fds[2], const struct setup *setup)
{
	int segment = (int)setup->segment, on = 1;

	if (setsockopt(fds[0], SOL_UDP, UDP_SEGMENT, &segment, sizeof(segment)) ||
	    setsockopt(fds[1], SOL_UDP, UDP_GRO, &on, sizeof(on)))
		raw_die("UDP_SEGMENT, UDP_GRO");
}

static void stream_run(const struct setup *setup)
{
	struct received got;
	uint64_t sent;
	pid_t child;
	int fds[2], answer[2];

	raw_socketpair(fds);
	if (setup->gso)
		gso_enable(fds, setup);
	if (pipe(answer))
		raw_die("pipe");
	child = raw_fork();
	if (child == 0) {
		got = receive_until_stop(fds[1]);
		_exit(write(answer[1], &got, sizeof(got)) != sizeof(got));
	}
	close(answer[1]);
	sent = send_for(fds[0], setup);
	send_stop_until_answered(fds[0], answer[0]);
	if (read(answer[0], &got, sizeof(got)) != sizeof(got) || got.last <= got.first)
		raw_die("no answer from the receiver");
	raw_join(child);
	printf("{\"gso\": %s, \"segment\": %u, \"sent_bytes\": %llu, "
	       "\"received_bytes\": %llu, \"bytes_per_second\": %.0f}\n",
	       setup->gso ? "true" : "false", setup->segment, (unsigned long long)sent,
	       (unsigned long long)got.bytes,
	       (double)got.bytes * 1e9 / (double)(got.last - got.first));
}

int main(int argc, char **argv)
{
	struct setup setup = {.segment = 4096, .seconds = 1};
	int c;

	while ((c = getopt(argc, argv, "gs:t:")) != -1) {
		switch (c) {
		case 'g':
			setup.gso = true;
			break;
		case 's':
			setup.segment = (unsigned int)atoi(optarg);
			break;
		case 't':
			setup.seconds = atof(optarg);
			break;
		default:
			fprintf(stderr, "usage: %s [-g] [-s SIZE] [-t SECONDS]\n", argv[0]);
			return 2;
		}
	}
	if (setup.segment < 2 || setup.segment > MAX_UDP_PAYLOAD ||
	    !(setup.seconds > 0 && setup.seconds <= RAW_LIMIT_SECONDS / 2)) {
		fprintf(stderr, "SIZE or SECONDS out of range\n");
		return 2;
	}
	setup.run = setup.segment;
	if (setup.gso) {
		unsigned int count = MAX_UDP_PAYLOAD / setup.segment;

		setup.run *= count < MAX_SEGMENTS ? count : MAX_SEGMENTS;
	}
	memset(buffer, 0x5a, sizeof(buffer));
	stream_run(&setup);
	return 0;
}
