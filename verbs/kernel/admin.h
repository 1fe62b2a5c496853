/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Commands of rnicctl: splitting the line and gathering the answer. */
#ifndef KERNEL_ADMIN_H
#define KERNEL_ADMIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel;

struct admin_reply {
	char *text;
	size_t len, room;
	bool may_change; /* the asker is root or the daemon's own user: no other may change things
			  */
	int *fds; /* came with the command, to keep one: admin_fd_take; the others are closed */
	uint32_t n_fds;
};

/* line: words separated by NUL bytes. */
int admin_run(struct kernel *k, const char *line, size_t len, bool json, struct admin_reply *reply);
/* Descriptor i, which is the caller's from now on; -1 if it did not come. */
int admin_fd_take(struct admin_reply *reply, uint32_t i);
void admin_reply_end(struct admin_reply *reply);
void admin_reply_free(struct admin_reply *reply);

#endif
