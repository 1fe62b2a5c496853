/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Asking the daemon: a command of words, descriptors with it, and its answer. */
#ifndef TOOLS_ASK_H
#define TOOLS_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct ask {
	const char *dir; /* of the daemon; NULL: the one that rnic-run would use */
	bool json;
	const int *fds; /* go with the command */
	unsigned n_fds;
};

/* The answer goes to `to`, lines of errors to stderr. 0 or -errno. */
int ask_daemon(const struct ask *ask, char *const *words, int n, FILE *to);

#endif
