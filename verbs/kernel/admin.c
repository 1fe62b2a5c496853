/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Commands of rnicctl: splitting the line and gathering the answer. */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/kernel/admin.h"
#include "verbs/kernel/kernel_priv.h"

#define WORDS_MAX 64

void admin_printf(struct admin_reply *reply, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if (reply->len + (size_t)n + 1 > reply->room) {
		size_t room = (reply->len + (size_t)n + 1) * 2;
		char *p = realloc(reply->text, room);

		if (!p)
			return;
		reply->text = p;
		reply->room = room;
	}
	va_start(ap, fmt);
	vsnprintf(reply->text + reply->len, reply->room - reply->len, fmt, ap);
	va_end(ap);
	reply->len += (size_t)n;
}

void admin_reply_end(struct admin_reply *reply)
{
	if (reply->len && reply->text[reply->len - 1] != '\n')
		admin_printf(reply, "\n");
}

void admin_reply_free(struct admin_reply *reply)
{
	free(reply->text);
	*reply = (struct admin_reply){0};
}

int admin_fd_take(struct admin_reply *reply, uint32_t i)
{
	int fd = i < reply->n_fds ? reply->fds[i] : -1;

	if (fd >= 0)
		reply->fds[i] = -1;
	return fd;
}

int admin_run(struct kernel *k, const char *line, size_t len, bool json, struct admin_reply *reply)
{
	char words[RNIC_CTL_DATA_MAX + 1];
	char *argv[WORDS_MAX + 1];
	int argc = 0;

	if (len > RNIC_CTL_DATA_MAX || !k->cfg.admin)
		return -EINVAL;
	memcpy(words, line, len);
	words[len] = 0;
	for (char *p = words; p < words + len; p += strlen(p) + 1) {
		if (argc == WORDS_MAX)
			return -E2BIG;
		argv[argc++] = p;
	}
	argv[argc] = NULL;
	return k->cfg.admin(k->cfg.ctx, argc, argv, json, reply);
}
