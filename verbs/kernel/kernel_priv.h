/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the files of the kernel's side share among themselves. */
#ifndef KERNEL_KERNEL_PRIV_H
#define KERNEL_KERNEL_PRIV_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "verbs/abi/control.h"
#include "verbs/kernel/kernel.h"
#include "verbs/kernel/owner.h"
#include "verbs/kernel/session.h"

struct afterlife;
struct conn;
struct context;
struct nl_sock;
struct passed;
struct ucma;
struct wake_page;

struct kernel {
	struct kernel_config cfg;
	struct kdevice *devices;
	uint32_t devices_made;
	struct session *sessions;
	struct context *contexts;
	struct conn *conns;
	struct afterlife *afterlives;
	struct nl_sock *nl_socks;
	unsigned int nl_turn; /* the loop's, that had a request of netlink */
	uint32_t n_conns;
	uint32_t n_sessions, n_contexts;
	uint64_t next_id; /* of sessions, contexts, channels */
	/* listener.c */
	int listen_fd;
	int spare_fd; /* to be closed when no other is left */
	ev_io listen_io;
	ev_timer listen_pause;
	uint32_t conns_max, uid_conns_max;
	bool refusal_told; /* since the last connection ended */

	int dir_fd, tree_fd;
	int inotify_fd; /* contexts' memfds */
	ev_io inotify_io;
	ev_timer ask_again; /* whether closed contexts have ended */
	double ask_again_s;
	bool awoken;   /* some session's eventfd has fired */
	ev_io slow_io; /* umem_slow_fd */
	struct wake_page *wake;
	struct owners owners;
	struct ucma *ucma;
	struct passed *passed;
};

/* ---- wake.c ---- */
struct wake_page *wake_page_create(void);
void wake_page_destroy(struct wake_page *w);
int wake_page_fd(const struct wake_page *w); /* mappable read-only */
void wake_page_set(struct wake_page *w, bool sleeping);

/* ---- context.c ---- */
/* A new context of the device; *fd is to be passed to the client (caller closes it). */
int context_open(struct kernel *k, struct kdevice *dev, struct context **c, int *fd);
struct context *context_find(struct kernel *k, uint64_t id);
struct context *context_find_inode(struct kernel *k, dev_t dev, ino_t ino);
/* Who opened it, with the CONTEXT_FILES descriptors that it costs and the reference that is theirs,
 * and its process, for display. */
#define CONTEXT_FILES 2
void context_opener_set(struct context *c, struct owner *opener, uint32_t pid);
uint64_t context_id(const struct context *c);
uint64_t context_rdev(const struct context *c);
void contexts_watch(struct kernel *k);
void contexts_end(struct kernel *k);
void context_inotify_fired(struct kernel *k);
bool context_scan(struct context *c);
void context_destroy(struct context *c);
/* Its device is about to go: what is posted from now on is EIO. */
void context_leave(struct context *c);
/* Its device goes: it is told, its objects go, and it lives on without, until the client closes it.
 */
void context_disassociate(struct context *c);
struct context *context_next(struct context *c);

/* ---- channel.c ---- */
struct channel *channel_find(uint64_t id);
/* dev too: a file system of a user's own can give its files any inode numbers. */
struct channel *channel_find_inode(dev_t dev, ino_t ino);

/* ---- listener.c ---- */
int listener_open(struct kernel *k);
void listener_close(struct kernel *k);

/* ---- server.c, session.c ---- */
/* Takes the socket, unless it fails. */
int conn_create(struct kernel *k, int fd, uid_t uid, pid_t pid);
const struct conn *conn_next(const struct conn *c);
uid_t conn_uid(const struct conn *c);
void conns_close(struct kernel *k);
/* Connections from which nothing was taken, because too many descriptors waited, are read again. */
void passed_resume(struct kernel *k);
/* Run the request; the answer's ret, or -EINPROGRESS. */
int64_t session_call(struct call *call);
int session_create(struct kernel *k, int mem_fd, int maps_fd, const struct rnic_ctl_hello *hello,
		   uid_t uid, pid_t pid, struct session **out);
struct session *session_find(struct kernel *k, const uint8_t token[16]);
/* Does a session know a context or channel by this id? */
bool sessions_know(struct kernel *k, uint64_t id);
void session_join(struct session *s);
/* A connection has ended; the last one ends the session. */
void session_leave(struct session *s);
/* Before the loop sleeps: empty the eventfds that have woken it. */
void sessions_rest(struct kernel *k);
int session_eventfd(const struct session *s);
void session_welcome(const struct session *s, struct rnic_ctl_welcome *w);
/* Requests that wait for this memory may be run again. */
void server_resume(struct kernel *k, struct umem *u);

/* ---- call.c ---- */
struct call_io;
struct call_io *call_io_create(void);
void call_io_destroy(struct call_io *io);
void call_io_begin(struct call_io *io); /* before each run */
/* The number of a descriptor that the command waits for; false if it waits for none. */
bool call_needs_fd(const struct call *call, int32_t *number);
/* It came: the id of the channel behind it, or 0 if it is none of ours. */
void call_fd_came(struct call *call, uint64_t id);
/* May the call that waits for memory be waiting for this one? */
bool call_awaits(const struct call *call, const struct umem *u);
/* After the command: do what call_write kept. 0, -EFAULT, -EINPROGRESS. */
int call_io_finish(struct call *call);

/* ---- tree.c, tree_attr.c ---- */
int tree_create(struct kernel *k);
void tree_destroy(struct kernel *k);
int tree_device_add(struct kernel *k, struct kdevice *dev);
void tree_device_del(struct kernel *k, struct kdevice *dev);
/* Before dev->netdev is changed. */
void tree_netdev_rename(struct kernel *k, struct kdevice *dev, const char *netdev);
/* What a path names that is a character device. */
struct tree_node {
	struct kdevice *dev; /* uverbs, or NULL */
	bool rdma_cm;
};
/* open() of a path: a descriptor, -EXDEV (open it in the tree), or an errno. If the path is a
 * character device *node says which, and nothing is opened: 0. */
int tree_open(struct kernel *k, const char *path, int flags, struct tree_node *node);
/* A live attribute of a device, named below its folder ("ports/1/state"). Length, -errno, or
 * -ENOENT if it is no such attribute. */
int tree_attr_read(struct kdevice *dev, const char *name, char *buf, size_t size);
/* Calls fn for the name of each attribute that stands in the tree. */
int tree_attr_each(struct kdevice *dev, int (*fn)(void *arg, const char *name, bool writable),
		   void *arg);

#define TREE_UVERBS_MAJOR 231u
#define TREE_UVERBS_MINOR 192u

#endif
