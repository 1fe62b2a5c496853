/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Test cases of verbs/kernel's sessions, memory, contexts and channels, and what they share. */
#ifndef KERNEL_SUITES_H
#define KERNEL_SUITES_H

#include <check.h>
#include <stdbool.h>

#include "verbs/abi/control.h"
#include "verbs/kernel/kernel_priv.h"

TCase *kernel_channel_tcase(void);
TCase *kernel_cm_tcase(void);
TCase *kernel_cm_rules_tcase(void);
TCase *kernel_command_tcase(void);
TCase *kernel_context_tcase(void);
TCase *kernel_netlink_tcase(void);
TCase *kernel_server_tcase(void);
TCase *kernel_umem_tcase(void);
TCase *kernel_bulk_tcase(void);

/* A kernel with one device rxe0 in a temporary folder, and its loop. */
struct rig {
	char dir[64];
	struct kernel *kernel;
	struct kdevice dev;
	char last_log[512];
};

struct rnic_ops;

void rig_start(struct rig *rig);
/* The device's host is this one. */
void rig_start_with(struct rig *rig, const struct rnic_ops *core_ops);
void rig_stop(struct rig *rig);
/* Run the loop until done(arg), for at most a few seconds; whether it came true. */
bool rig_until(struct rig *rig, bool (*done)(struct rig *rig, void *arg), void *arg);
bool rig_no_contexts(struct rig *rig, void *unused);

/* A client connection, not greeted yet. */
int client_connect(struct rig *rig);
/* Send a request and wait for the answer while the loop runs. fds in and out may be NULL. The
 * answer's ret; -ENOTCONN if the daemon hung up. */
int64_t client_call(struct rig *rig, int fd, struct rnic_ctl_request *req, const void *data,
		    const int *send_fds, int n_send, struct rnic_ctl_answer *answer, int *fds);
/* Greeted with this process's own memory; the answer's ret. */
int64_t client_hello(struct rig *rig, int fd);
/* open() of a path; the descriptor, or -errno. */
int client_open(struct rig *rig, int fd, const char *path, struct rnic_ctl_fd *info);

#endif
