/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Packets that fault rules have made late: they wait for a time, or until so many others have
 * passed. Pure: time is an argument; who owns the queue asks for the time and comes again then.
 */
#ifndef NET_LATE_H
#define NET_LATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct late_item {
	uint64_t due; /* ns */
	uint64_t order;
	uint32_t overtake; /* packets that are still to pass before it; 0: it waits for its time */
	uint32_t dqpn;	   /* that are to this QP */
	uint32_t len;
	void *head;    /* the owner's, of the size that the queue was made for */
	uint8_t *data; /* len bytes */
};

struct late_queue {
	size_t head_size;
	size_t bytes_max; /* of all that waits */
	size_t bytes;
	struct late_item **heap;
	uint32_t n, room;
	uint32_t n_overtaken; /* of those how many wait for others to pass */
	uint64_t order;
};

void late_begin(struct late_queue *q, size_t head_size, size_t bytes_max);
/* What waits is lost. */
void late_end(struct late_queue *q);

/* Copies head and data. False: there is no room. `like` is the item without what is copied. */
bool late_put(struct late_queue *q, const struct late_item *like, const void *head,
	      const uint8_t *data, uint32_t len);
/* A packet to that QP has passed: who has waited for it may be due now. */
void late_passed(struct late_queue *q, uint32_t dqpn);
/* When the next one is due; UINT64_MAX: none waits. */
uint64_t late_due(const struct late_queue *q);
/* The next one that is due, first come, first served; NULL: none is. To be freed by free(). */
struct late_item *late_take(struct late_queue *q, uint64_t now);
/* Forget the items of which `gone` says so. */
void late_forget(struct late_queue *q, bool (*gone)(const void *head, const void *arg),
		 const void *arg);

#endif
