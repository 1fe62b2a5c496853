/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Scatter/gather lists: moves message bytes between packets and a client's memory. */
#ifndef RNIC_SGL_H
#define RNIC_SGL_H

#include <stdint.h>
#include <sys/uio.h>

#include "rnic/personality.h"

struct rnic_mem;
struct rnic_device;
struct rnic_pd;
struct rnic_qp;

/* Pieces (packets) that one copy may have. */
#define SGL_PIECES_MAX 64

enum sgl_dir {
	SGL_READ,  /* from the list into the pieces */
	SGL_WRITE, /* from the pieces into the list, which needs LOCAL_WRITE */
};

/* Bytes of all SGEs. */
uint64_t sgl_length(const struct rnic_sge *sge, uint32_t n);

/* May all of it be accessed so by this PD? */
bool sgl_check(struct rnic_pd *pd, const struct rnic_sge *sge, uint32_t n, enum sgl_dir dir);

/*
 * Copy the bytes of the message that begin at off, as many as the pieces hold, with one access of
 * memory for each SGE. 0; -EACCES: a key or a range does not permit it, or the list is too short;
 * -EFAULT; -EINPROGRESS: *mem is the memory to wait for.
 */
int sgl_copy(struct rnic_pd *pd, const struct rnic_sge *sge, uint32_t n_sge, uint64_t off,
	     const struct iovec *piece, uint32_t n_pieces, enum sgl_dir dir, struct rnic_mem **mem);

/* The same for a range that the peer of a QP names by a key: an MR's or an MW's. */
int sgl_remote(const struct rnic_qp *qp, uint32_t rkey, uint64_t va, const struct iovec *piece,
	       uint32_t n_pieces, enum sgl_dir dir, struct rnic_mem **mem);

/* Before the accesses of one operation: what host.h calls mem_begin. */
void mem_operation_begin(struct rnic_device *dev);

#endif
