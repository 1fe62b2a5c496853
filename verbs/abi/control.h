/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What librnic.so and rnicd say to each other: one request, one answer, over SOCK_SEQPACKET
 * connections to DIR/control. One connection carries one call at a time, so that a call that
 * waits holds up nobody; a process opens as many as it has threads in calls. All connections of
 * a process belong to one session, named by the token that the first HELLO was answered with; the
 * session ends when its last connection closes. A fork child makes a session of its own.
 * A connection too many is answered -EMFILE, without a look at what it said, and closed.
 * Both ends are of one release: HELLO checks RNIC_CTL_VERSION.
 */
#ifndef ABI_CONTROL_H
#define ABI_CONTROL_H

#include <stdint.h>

#define RNIC_CTL_VERSION 3
#define RNIC_CTL_SOCKET "control" /* in the daemon's folder */
#define RNIC_CTL_TREE "fs"	  /* in the daemon's folder: mirrors /sys and /dev, see tree */
#define RNIC_CTL_PATH_MAX 4096
#define RNIC_CTL_DATA_MAX (RNIC_CTL_PATH_MAX + 64)

enum rnic_ctl_op {
	/* fds: /proc/self/mem (O_RDWR), /proc/self/maps. data: struct rnic_ctl_hello. */
	RNIC_CTL_HELLO = 1,
	/* A further connection of a session. data: struct rnic_ctl_hello with its token. */
	RNIC_CTL_JOIN = 2,
	/* open(): arg[0] flags; data: absolute path without final NUL, as the program gave it after
	 * /sys and /dev resolution. Answer: one fd (where 0) to be returned, or -errno, or -EXDEV:
	 * open the file of that path in the tree. */
	RNIC_CTL_OPEN = 3,
	/* The process has a descriptor of a context or channel that this session does not know
	 * (dup by raw call, inheritance, SCM_RIGHTS). fd: that descriptor. Answer: id in ret; fd[0]
	 * describes it (kind, rdev) although n_fds is 0. */
	RNIC_CTL_ATTACH = 4,
	/* write(): arg[0] id, arg[1] pointer, arg[2] length, arg[3] 0.
	 * Answer: what write() returns, or RNIC_CTL_NEED_FD. */
	RNIC_CTL_WRITE = 5,
	/* ioctl(): arg[0] id, arg[1] request, arg[2] pointer. Answer as for WRITE. */
	RNIC_CTL_IOCTL = 6,
	/* A tracked descriptor of this id was closed here: a hint only. arg[0] id. */
	RNIC_CTL_CLOSED = 7,
	/* rnicctl: data: one command line; answer: data, text or JSON, in as many messages as it
	 * takes (len 0 ends). Needs no HELLO. arg[0]: 1 for JSON. fds: what the command is to write
	 * to or read. */
	RNIC_CTL_ADMIN = 8,
	/* What RNIC_CTL_NEED_FD asked for. arg[0]: the number. One fd if the process has it open,
	 * else none. The answer is that of the call that needed it. */
	RNIC_CTL_FD = 9,
	/* socket(AF_NETLINK, .., NETLINK_RDMA). Answer: one fd, to be returned. */
	RNIC_CTL_NETLINK = 10,
	/* bind() of such a socket, or getsockname(). arg[0] id; arg[1] nl_pid that is wanted, 0
	 * any, or RNIC_CTL_PORT_ASK. Answer: its nl_pid. */
	RNIC_CTL_PORT = 11,
};

#define RNIC_CTL_PORT_ASK (1ull << 32)

/*
 * As an answer's ret: the command names a descriptor of the process (a completion channel in
 * CREATE_CQ), whose number is fd[0].where. The next message on this connection is RNIC_CTL_FD;
 * the daemon tells the object by the inode of what comes, so that dup and inheritance work. It
 * may ask several times in one call.
 */
#define RNIC_CTL_NEED_FD (-4096)

/*
 * As an answer's ret to WRITE on an event channel of rdma_cm (RNIC_FD_UCMA): no event waits. The
 * process waits until the descriptor is readable, as it is set up to (O_NONBLOCK, signals), and
 * makes the call again. An answer to such a WRITE, also one that says that it has failed, has in
 * fd[0].where (n_fds 0, kind RNIC_FD_UCMA; another kind: none) how many records the process is to
 * read and forget, from the descriptor of the call or, if fd[0].rdev is not 0, from descriptor
 * fd[0].rdev - 1.
 */
#define RNIC_CTL_WAIT (-4097)

struct rnic_ctl_hello {
	uint32_t version;
	uint32_t reserved;
	uint8_t token[16]; /* JOIN */
	uint64_t pid;	   /* as the process sees itself: for display only */
	char comm[16];
};

struct rnic_ctl_request {
	uint32_t op;
	uint32_t len; /* bytes of data after this header */
	uint64_t arg[4];
};

enum rnic_fd_kind {
	RNIC_FD_FILE = 0,    /* nothing to track */
	RNIC_FD_CONTEXT = 1, /* memfd of a uverbs context */
	RNIC_FD_CHANNEL = 2, /* completion channel */
	RNIC_FD_ASYNC = 3,
	RNIC_FD_UCMA = 4,
	RNIC_FD_NETLINK = 5,
};

struct rnic_ctl_fd {
	uint64_t where; /* address of the number in the process; 0: the call returns it */
	uint32_t width; /* 4 or 8 bytes at `where` */
	uint32_t kind;	/* enum rnic_fd_kind */
	uint64_t id;	/* within the session */
	uint64_t rdev;	/* what fstat shows as st_rdev (makedev), 0: no character device */
};

#define RNIC_CTL_FDS_MAX 4

struct rnic_ctl_answer {
	int64_t ret;  /* >= 0, or -errno */
	uint32_t len; /* bytes of data after this header */
	uint32_t n_fds;
	struct rnic_ctl_fd fd[RNIC_CTL_FDS_MAX]; /* the descriptors come by SCM_RIGHTS, in order */
};

/* Data of the answer to HELLO. fds: wake page (memfd, read-only), eventfd. */
struct rnic_ctl_welcome {
	uint8_t token[16];
	uint64_t session;
};

#endif
