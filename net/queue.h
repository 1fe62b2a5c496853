/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A bottleneck: a line of some rate behind a queue of some bytes, which marks packets by RED as
 * switches do for DCQCN (by the queue's length of now, not by an average) and drops what does not
 * fit. It keeps no packets: it says of each what happens to it, and when it has left the line.
 */
#ifndef NET_QUEUE_H
#define NET_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct net_queue_config {
	uint64_t rate;	/* bit/s, not 0 */
	uint64_t limit; /* bytes that may wait, the packet on the line included */
	/* RED: nobody is marked up to min, everybody above max, and in between more and more, up to
	 * a chance of p just below max. max 0: no marks. */
	uint64_t red_min, red_max;
	double red_p;
	uint64_t seed;
};

struct net_queue {
	struct net_queue_config cfg;
	uint64_t free_at;  /* ns: the line has sent everything */
	uint64_t fraction; /* of a ns that it will take beside that, in 1/rate */
	uint64_t random;
	uint64_t passed, marked, dropped; /* packets */
	uint64_t bytes;			  /* that have passed */
};

enum net_queue_verdict { NET_QUEUE_PASS, NET_QUEUE_MARK, NET_QUEUE_DROP };

/* Packets are longer on the line than for UDP: Ethernet, IP and UDP headers. */
#define NET_QUEUE_OVERHEAD_V4 42
#define NET_QUEUE_OVERHEAD_V6 62

void net_queue_init(struct net_queue *q, const struct net_queue_config *cfg);

/* Bytes that wait now. */
uint64_t net_queue_length(const struct net_queue *q, uint64_t now);

/*
 * A packet of so many bytes comes. Only what is ECN-capable is marked. *leaves: when its last bit
 * has left, unless it is dropped. Times must not go backwards.
 */
enum net_queue_verdict net_queue_put(struct net_queue *q, uint64_t now, uint32_t bytes, bool ect,
				     uint64_t *leaves);

/*
 * rate 1gbit, queue 256k, red 5k,200k,0.01: rates in bit, kbit, mbit or gbit, bytes with k or m for
 * 1024 and its square; red may be left out. 0, -ENOENT if the name is none of these, or -EINVAL
 * with a line in err.
 */
int net_queue_set(struct net_queue_config *cfg, const char *name, const char *value, char *err,
		  size_t err_size);
/* Is what the words have said enough, and not contradictory? 0, or -EINVAL with a line in err. */
int net_queue_check(const struct net_queue_config *cfg, char *err, size_t err_size);

#endif
