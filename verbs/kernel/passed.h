/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Descriptors that clients have passed. Who serves the file behind one may never answer, and nearly
 * any call asks him, the last one too: close() flushes a file of FUSE, lets a TCP socket linger,
 * takes a pipe's lock, frees a memfd's pages, and ends what waits in a socket's queue. So those
 * that could wait are looked at and closed by threads of their own, and the loop goes on.
 */
#ifndef KERNEL_PASSED_H
#define KERNEL_PASSED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct kernel;
struct passed;
struct passed_look;

/* 0 or -ENOMEM. */
int passed_begin(struct kernel *k);
/* Threads that still wait end by themselves. */
void passed_end(struct kernel *k);

/* A memfd, a pipe or a socket of this host: fstat does not wait. */
bool passed_is_plain(int fd);
/* Of the proc that is mounted here: nothing waits. */
bool passed_is_proc(const struct kernel *k, int fd);
void passed_close(struct kernel *k, uid_t uid, int fd);
/* Any number of them. */
void passed_close_all(struct kernel *k, uid_t uid, const int *fds, uint32_t n);

/* Does the next message in this socket of ours bring descriptors? Whoever reads it without them
 * closes them. */
bool passed_follow(int fd);
/* Our end of a socket: what still waits in it may have descriptors with it, which go too. */
void passed_socket_close(struct kernel *k, uid_t uid, int fd);

/*
 * Takes n descriptors, at most RNIC_CTL_FDS_MAX, and gives back to fn, some time later, those that
 * are files of any proc; the others are closed, and -1. NULL: no memory or thread; all are closed
 * some time.
 */
struct passed_look *passed_look_begin(struct kernel *k, uid_t uid, const int *fds, uint32_t n,
				      void (*fn)(void *arg, const int *fds, uint32_t n), void *arg);
/* fn will not be called. */
void passed_look_abandon(struct passed_look *look);

/* So many of this user's wait that no more are to be taken from him; passed_resume in server.c is
 * called when one has come to its end. */
bool passed_is_full(const struct kernel *k, uid_t uid);

#endif
