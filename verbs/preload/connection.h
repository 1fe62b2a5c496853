/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One SOCK_SEQPACKET connection to the daemon: messages with descriptors, and whom to trust. */
#ifndef PRELOAD_CONNECTION_H
#define PRELOAD_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "verbs/abi/control.h"

/* 0, or -errno; -EPERM with a line on stderr if folder or daemon are not to be trusted. The
 * descriptor is out of the program's way. */
int connection_open(const char *dir, int *fd);
/* 0 or -errno. */
int connection_send(int fd, const struct rnic_ctl_request *req, const void *data, const int *fds,
		    unsigned int n_fds);
/*
 * 0 or -errno; at most size bytes of data. fds: RNIC_CTL_FDS_MAX, -1 where nothing came;
 * -EMFILE if the process could not take all.
 */
int connection_receive(int fd, struct rnic_ctl_answer *answer, void *data, size_t size,
		       int fds[RNIC_CTL_FDS_MAX]);

/* Renumber fd so that programs that count on low numbers, or close them all, are not disturbed. */
int connection_move_high(int fd);

#endif
