/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Commands of rnicctl: splitting the line and gathering the answer. */
#ifndef KERNEL_ADMIN_H
#define KERNEL_ADMIN_H

#include <stdbool.h>
#include <stddef.h>

struct kernel;

struct admin_reply {
	char *text;
	size_t len, room;
	bool may_change; /* the asker is root or the daemon's own user: no other may change things
			  */
};

/* line: words separated by NUL bytes. */
int admin_run(struct kernel *k, const char *line, size_t len, bool json, struct admin_reply *reply);
void admin_reply_end(struct admin_reply *reply);
void admin_reply_free(struct admin_reply *reply);

#endif
