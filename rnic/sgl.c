/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Scatter/gather lists: moves message bytes between packets and a client's memory. */
#include "config.h"

#include "rnic/sgl.h"

#include <errno.h>

#include "rnic/mw.h"
#include "rnic/qp_priv.h"

/* Where a copy stands among its pieces. */
struct piece_pos {
	const struct iovec *piece;
	uint32_t left; /* pieces, the current one included */
	size_t off;    /* in the current one */
};

uint64_t sgl_length(const struct rnic_sge *sge, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += sge[i].len;
	return sum;
}

static uint32_t local_access(enum sgl_dir dir)
{
	return dir == SGL_WRITE ? RNIC_ACCESS_LOCAL_WRITE : 0;
}

bool sgl_check(struct rnic_pd *pd, const struct rnic_sge *sge, uint32_t n, enum sgl_dir dir)
{
	struct rnic_mem *mem;
	uint64_t vaddr;

	for (uint32_t i = 0; i < n; i++)
		if (mr_check(pd, sge[i].lkey, sge[i].addr, sge[i].len, local_access(dir), &mem,
			     &vaddr) != MR_OK)
			return false;
	return true;
}

/* Take at most room bytes off the pieces, into at most SGL_PIECES_MAX parts. */
static uint64_t pieces_take(struct piece_pos *pos, uint64_t room, struct iovec *part, int *n)
{
	uint64_t got = 0;

	*n = 0;
	while (pos->left && got < room) {
		size_t len = pos->piece->iov_len - pos->off;

		if (len > room - got)
			len = (size_t)(room - got);
		if (len) {
			part[*n].iov_base = (uint8_t *)pos->piece->iov_base + pos->off;
			part[(*n)++].iov_len = len;
		}
		got += len;
		pos->off += len;
		if (pos->off == pos->piece->iov_len) {
			pos->off = 0;
			pos->piece++;
			pos->left--;
		}
	}
	return got;
}

/* Empty pieces need no memory. */
static void pieces_skip_empty(struct piece_pos *pos)
{
	while (pos->left && pos->piece->iov_len == 0) {
		pos->piece++;
		pos->left--;
	}
}

void mem_operation_begin(struct rnic_device *dev)
{
	if (dev->cfg.ops->mem_begin)
		dev->cfg.ops->mem_begin(dev->cfg.host);
}

static int mem_copy(struct rnic_device *dev, struct rnic_mem *mem, uint64_t vaddr,
		    const struct iovec *part, int n, enum sgl_dir dir)
{
	const struct rnic_ops *ops = dev->cfg.ops;

	if (dir == SGL_READ)
		return ops->mem_read(dev->cfg.host, mem, vaddr, part, n);
	return ops->mem_write(dev->cfg.host, mem, vaddr, part, n);
}

static int local_copy(struct rnic_pd *pd, const struct rnic_sge *sge, uint64_t off, uint64_t len,
		      const struct iovec *part, int n, enum sgl_dir dir, struct rnic_mem **mem)
{
	uint64_t vaddr;

	if (mr_check(pd, sge->lkey, sge->addr + off, len, local_access(dir), mem, &vaddr) != MR_OK)
		return -EACCES;
	return len ? mem_copy(pd->dev, *mem, vaddr, part, n, dir) : 0;
}

int sgl_copy(struct rnic_pd *pd, const struct rnic_sge *sge, uint32_t n_sge, uint64_t off,
	     const struct iovec *piece, uint32_t n_pieces, enum sgl_dir dir, struct rnic_mem **mem)
{
	struct piece_pos pos = {.piece = piece, .left = n_pieces};
	struct iovec part[SGL_PIECES_MAX];

	mem_operation_begin(pd->dev);
	pieces_skip_empty(&pos);
	for (uint32_t i = 0; i < n_sge && pos.left; i++) {
		uint64_t got;
		int n, ret;

		if (off >= sge[i].len) {
			off -= sge[i].len;
			continue;
		}
		got = pieces_take(&pos, sge[i].len - off, part, &n);
		ret = local_copy(pd, &sge[i], off, got, part, n, dir, mem);
		if (ret < 0)
			return ret;
		off = 0;
		pieces_skip_empty(&pos);
	}
	return pos.left ? -EACCES : 0;
}

int sgl_remote(const struct rnic_qp *qp, uint32_t rkey, uint64_t va, const struct iovec *piece,
	       uint32_t n_pieces, enum sgl_dir dir, struct rnic_mem **mem)
{
	uint32_t access = dir == SGL_READ ? RNIC_ACCESS_REMOTE_READ : RNIC_ACCESS_REMOTE_WRITE;
	uint64_t len = 0, vaddr;

	for (uint32_t i = 0; i < n_pieces; i++)
		len += piece[i].iov_len;
	mem_operation_begin(qp->dev);
	if (rkey_check(qp, rkey, va, len, access, mem, &vaddr) != MR_OK)
		return -EACCES;
	return len ? mem_copy(qp->dev, *mem, vaddr, piece, (int)n_pieces, dir) : 0;
}
