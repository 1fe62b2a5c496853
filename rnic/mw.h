/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Memory windows, and the check of keys that come from a peer (IBA vol. 1, 10.6.7). */
#ifndef RNIC_MW_H
#define RNIC_MW_H

#include "rnic/device_priv.h"
#include "rnic/personality.h"

#define MW_INDEX_FLAG (1u << 23) /* in the index of a key, that is, its upper 24 bits */

/* Windows of type 2 are bound while they have an MR, and then to a QP (type 2B). Those of type 1
 * may have none and still have a valid key, which permits nothing. */
struct rnic_mw {
	struct rnic_pd *pd;
	enum rnic_mw_type type;
	uint32_t key;
	uint32_t access;
	uint64_t addr, length;
	struct rnic_mr *mr;
	struct rnic_qp *qp;
};

/* As mr_check, for a key that the peer of this QP names: an MR's or an MW's. */
enum mr_verdict rkey_check(const struct rnic_qp *qp, uint32_t key, uint64_t addr, uint64_t len,
			   uint32_t access, struct rnic_mem **mem, uint64_t *vaddr);

/* What a BIND_MW of this QP asks for; false, and a line in the log, if it is not to be had. */
bool mw_bind(struct rnic_qp *qp, const struct rnic_bind *bind);

/* May this QP invalidate the key? Only a window of type 2B that it has bound itself. */
bool mw_may_invalidate(const struct rnic_qp *qp, uint32_t key);
/* Do it; the key is one that it may. */
void mw_invalidate(struct rnic_qp *qp, uint32_t key);

/* The QP goes: its windows are free. */
void mw_qp_gone(struct rnic_qp *qp);

#endif
