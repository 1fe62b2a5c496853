/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The rxe personality's table, and the constants of the core that it takes over untranslated. */
#include "config.h"

#include <assert.h>
#include <rdma/ib_user_verbs.h>

#include "verbs/kernel/rxe.h"

const struct rnic_personality rxe_personality = {
	.send_next = rxe_send_next,
	.send_retire = rxe_send_retire,
	.recv_next = rxe_recv_next,
	.recv_count = rxe_recv_count,
	.cq_push = rxe_cq_push,
	.cq_test_arm = rxe_cq_test_arm,
};

#define SAME(ours, theirs) static_assert((int)(ours) == (int)(theirs), #ours)

SAME(RNIC_WR_WRITE, IB_UVERBS_WR_RDMA_WRITE);
SAME(RNIC_WR_WRITE_IMM, IB_UVERBS_WR_RDMA_WRITE_WITH_IMM);
SAME(RNIC_WR_SEND, IB_UVERBS_WR_SEND);
SAME(RNIC_WR_SEND_IMM, IB_UVERBS_WR_SEND_WITH_IMM);
SAME(RNIC_WR_READ, IB_UVERBS_WR_RDMA_READ);
SAME(RNIC_WR_CMP_SWAP, IB_UVERBS_WR_ATOMIC_CMP_AND_SWP);
SAME(RNIC_WR_FETCH_ADD, IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD);
SAME(RNIC_WR_LOCAL_INV, IB_UVERBS_WR_LOCAL_INV);
SAME(RNIC_WR_BIND_MW, IB_UVERBS_WR_BIND_MW);
SAME(RNIC_WR_SEND_INV, IB_UVERBS_WR_SEND_WITH_INV);

SAME(RNIC_WC_SEND, IB_UVERBS_WC_SEND);
SAME(RNIC_WC_WRITE, IB_UVERBS_WC_RDMA_WRITE);
SAME(RNIC_WC_READ, IB_UVERBS_WC_RDMA_READ);
SAME(RNIC_WC_CMP_SWAP, IB_UVERBS_WC_COMP_SWAP);
SAME(RNIC_WC_FETCH_ADD, IB_UVERBS_WC_FETCH_ADD);
SAME(RNIC_WC_BIND_MW, IB_UVERBS_WC_BIND_MW);
SAME(RNIC_WC_LOCAL_INV, IB_UVERBS_WC_LOCAL_INV);
