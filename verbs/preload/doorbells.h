/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The two commands that librnic answers itself, through shared memory. */
#ifndef PRELOAD_DOORBELLS_H
#define PRELOAD_DOORBELLS_H

#include <stdbool.h>
#include <stddef.h>

struct file;

/* Was this write() a doorbell, now rung? Then it has written len bytes. */
bool doorbell_write(const struct file *f, const void *buf, size_t len);
/* Was this ioctl() an arming of a CQ, now done? Then it returns 0. */
bool doorbell_ioctl(const struct file *f, const void *arg);

#endif
