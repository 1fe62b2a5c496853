/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The loop's part of accesses that may sleep. */
#ifndef KERNEL_UMEM_SLOW_H
#define KERNEL_UMEM_SLOW_H

/* Readable when accesses have been done: call umem_slow_ready. One for the whole process. */
int umem_slow_fd(void);
/* Calls the ready function of each umem that has news. */
void umem_slow_ready(void);
/* A new operation, of one or more accesses that are all made again if one of them is pending. */
void umem_operation_begin(void);

#endif
