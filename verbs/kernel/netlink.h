/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What `socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA)` makes: one end of a socket pair, at whose other
 * end the daemon answers. It ends when nobody has the program's end any more.
 */
#ifndef KERNEL_NETLINK_H
#define KERNEL_NETLINK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct kernel;
struct nl_sock;
struct owner;

/* admin: may change devices. *client_fd is to be passed to the client (the caller closes it). */
int nl_sock_open(struct kernel *k, uid_t uid, bool admin, uint32_t pid, struct nl_sock **s,
		 int *client_fd);
/* Who opened it, with the one descriptor that it costs and the reference that is its. */
void nl_sock_opener_set(struct nl_sock *s, struct owner *opener);
struct nl_sock *nl_sock_find(struct kernel *k, uint64_t id);
struct nl_sock *nl_sock_find_inode(struct kernel *k, dev_t dev, ino_t ino);
uint64_t nl_sock_id(const struct nl_sock *s);
/* bind(): 0 wants any port. The port, or -EINVAL if it has another, -EADDRINUSE. */
int64_t nl_sock_bind(struct nl_sock *s, uint32_t portid);
/* As getsockname() shows it; 0: none yet. */
uint32_t nl_sock_portid(const struct nl_sock *s);
void nl_socks_close(struct kernel *k);

#endif
