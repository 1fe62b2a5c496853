/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Ranges of a context's memfd for rings: first fit, under a limit, punched out when freed; but not
 * when the context as a whole goes, with completions that its client has not read yet.
 *
 * Nor where the client is another user's: to punch takes the file's lock, which a client that
 * writes to the file has for as long as the memory that it writes from lets it wait. What such a
 * client's rings have left is overwritten when the range has its next owner.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verbs/kernel/context_priv.h"

#define PAGE 4096ull

/* The link after which a range of this size fits; *offset is where. */
static struct ring_range **range_place(struct context *c, uint64_t size, uint64_t *offset)
{
	struct ring_range **p = &c->ranges;

	*offset = RNIC_DB_RINGS;
	while (*p && (*p)->offset - *offset < size) {
		*offset = (*p)->offset + (*p)->size;
		p = &(*p)->next;
	}
	return *offset + size <= RNIC_DB_FILE_SIZE ? p : NULL;
}

int context_ring_alloc(struct context *c, uint64_t size, struct ring_mem *ring)
{
	struct ring_range **p, *r;
	uint64_t offset;
	void *addr;

	size = (size + PAGE - 1) & ~(PAGE - 1);
	if (!size || size > CONTEXT_RING_LIMIT || c->ring_bytes + size > CONTEXT_RING_LIMIT)
		return -ENOMEM;
	p = range_place(c, size, &offset);
	r = p ? malloc(sizeof(*r)) : NULL;
	if (!r)
		return -ENOMEM;
	addr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, (off_t)offset);
	if (addr == MAP_FAILED) {
		free(r);
		return -ENOMEM;
	}
	if (offset < c->ring_used)
		memset(addr, 0, offset + size < c->ring_used ? size : c->ring_used - offset);
	*r = (struct ring_range){.next = *p, .offset = offset, .size = size};
	*p = r;
	c->ring_bytes += size;
	*ring = (struct ring_mem){.offset = offset, .size = size, .addr = addr};
	return 0;
}

void context_ring_free(struct context *c, struct ring_mem *ring)
{
	for (struct ring_range **p = &c->ranges; *p; p = &(*p)->next) {
		struct ring_range *r = *p;

		if (r->offset != ring->offset)
			continue;
		*p = r->next;
		munmap(ring->addr, ring->size);
		/* The next owner of the range finds zeros. */
		if (c->others) {
			if (c->ring_used < r->offset + r->size)
				c->ring_used = r->offset + r->size;
		} else if (!c->ending &&
			   fallocate(c->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				     (off_t)r->offset, (off_t)r->size)) {
			/* Only a client with a seal of its own could forbid it; the file is sealed.
			 */
		}
		c->ring_bytes -= r->size;
		free(r);
		break;
	}
	ring->addr = NULL;
	ring->size = 0;
}
