/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Memory windows of type 1 and 2B (IBA vol. 1, 10.6.7).
 *
 * A window gives part of an MR another key, with rights of its own. What a bind asks for is checked
 * against the MR when it is bound, and the MR can neither go nor change as long as windows are
 * bound to it, so an access is checked against the window alone.
 *
 * The numbers of statements are those that Linux's rxe names for these rules (unverified: the
 * specification's text was not at hand).
 */
#include "config.h"

#include "rnic/mw.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "rnic/qp_priv.h"

/* Local write and bind mean nothing to a window, but programs ask for them and rxe lets them. */
#define MW_ACCESS                                                                                  \
	(RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_READ |            \
	 RNIC_ACCESS_REMOTE_ATOMIC | RNIC_ACCESS_MW_BIND)

static struct rnic_mw *mw_find(const struct rnic_device *dev, uint32_t key)
{
	uint32_t index = key >> 8;
	struct rnic_mw *mw;

	if (!(index & MW_INDEX_FLAG))
		return NULL;
	mw = table_get(&dev->mws, index & ~MW_INDEX_FLAG);
	return mw && mw->key == key ? mw : NULL;
}

int rnic_mw_create(struct rnic_pd *pd, enum rnic_mw_type type, struct rnic_mw **out)
{
	struct rnic_device *dev = pd->dev;
	struct rnic_mw *mw;
	int64_t index;

	if (type != RNIC_MW_TYPE_1 && type != RNIC_MW_TYPE_2) {
		dev_log(dev, "MW: there is no type %d", (int)type);
		return -EINVAL;
	}
	if (dev->mws.used >= dev->limits.max_mw) {
		dev_log(dev, "MW: all %" PRIu32 " are in use", dev->limits.max_mw);
		return -ENOMEM;
	}
	mw = calloc(1, sizeof(*mw));
	if (!mw)
		return -ENOMEM;
	index = table_add(&dev->mws, mw);
	if (index < 0) {
		free(mw);
		return (int)index;
	}
	mw->pd = pd;
	mw->type = type;
	mw->key = ((uint32_t)index | MW_INDEX_FLAG) << 8 | dev->mr_variant++;
	pd->users++;
	*out = mw;
	return 0;
}

static void unbind(struct rnic_mw *mw)
{
	if (mw->mr)
		mw->mr->n_mw--;
	if (mw->qp)
		mw->qp->n_mw--;
	mw->mr = NULL;
	mw->qp = NULL;
	mw->access = 0;
	mw->addr = mw->length = 0;
}

int rnic_mw_destroy(struct rnic_mw *mw)
{
	unbind(mw);
	table_remove(&mw->pd->dev->mws, mw->key >> 8 & ~MW_INDEX_FLAG);
	mw->pd->users--;
	free(mw);
	return 0;
}

uint32_t rnic_mw_key(const struct rnic_mw *mw)
{
	return mw->key;
}

/* Why a window and a QP do not go with what is asked for, or NULL. */
static const char *mw_refusal(const struct rnic_qp *qp, const struct rnic_mw *mw,
			      const struct rnic_bind *bind)
{
	if (!mw)
		return "no window has its key";
	if (mw->pd != qp->pd) /* C10-72 */
		return "the window is of another PD";
	if ((bind->rkey ^ mw->key) >> 8)
		return "the new key differs in more than its low byte";
	if (bind->access & RNIC_ACCESS_ZERO_BASED) /* o10-36.2.2 for type 1 */
		return "zero-based windows are not supported";
	if (bind->access & ~(uint32_t)MW_ACCESS)
		return "a window has no such access";
	if (mw->type == RNIC_MW_TYPE_1)
		return NULL;
	if (mw->mr) /* o10-37.2.30 */
		return "a window of type 2 is bound already";
	if (!bind->length) /* o10-37.2.40 */
		return "a window of type 2 cannot be bound to nothing";
	return NULL;
}

static const char *mr_refusal(const struct rnic_qp *qp, const struct rnic_mr *mr,
			      const struct rnic_bind *bind)
{
	uint32_t change = RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_ATOMIC;

	if (!mr || mr->key != bind->mr_lkey)
		return "no MR has the local key";
	if (mr->pd != qp->pd)
		return "the MR is of another PD";
	if (mr->attr.access & RNIC_ACCESS_ZERO_BASED)
		return "the MR is zero-based";
	if (!(mr->attr.access & RNIC_ACCESS_MW_BIND)) /* C10-73 */
		return "the MR does not permit windows";
	if ((bind->access & change) && !(mr->attr.access & RNIC_ACCESS_LOCAL_WRITE)) /* C10-74 */
		return "the MR has no local write";
	if (!range_holds(mr->attr.iova, mr->attr.length, bind->addr,
			 bind->length)) /* IBA unverified */
		return "the range is not within the MR";
	return NULL;
}

bool mw_bind(struct rnic_qp *qp, const struct rnic_bind *bind)
{
	struct rnic_mw *mw = mw_find(qp->dev, bind->mw_rkey);
	struct rnic_mr *mr = bind->length ? table_get(&qp->dev->mrs, bind->mr_lkey >> 8) : NULL;
	const char *why = mw_refusal(qp, mw, bind);

	if (!why && bind->length)
		why = mr_refusal(qp, mr, bind);
	if (why) {
		dev_log(qp->dev, "QP %" PRIu32 ": bind of window 0x%" PRIx32 ": %s", qp->qpn,
			bind->mw_rkey, why);
		return false;
	}
	unbind(mw);
	mw->key = bind->rkey;
	if (!mr)
		return true;
	mw->access = bind->access;
	mw->addr = bind->addr;
	mw->length = bind->length;
	mw->mr = mr;
	mr->n_mw++;
	if (mw->type == RNIC_MW_TYPE_2) {
		mw->qp = qp;
		qp->n_mw++;
	}
	return true;
}

enum mr_verdict rkey_check(const struct rnic_qp *qp, uint32_t key, uint64_t addr, uint64_t len,
			   uint32_t access, struct rnic_mem **mem, uint64_t *vaddr)
{
	const struct rnic_mw *mw;

	if (!(key >> 8 & MW_INDEX_FLAG) || len == 0)
		return mr_check(qp->pd, key, addr, len, access, mem, vaddr);
	mw = mw_find(qp->dev, key);
	if (!mw || !mw->mr || mw->pd != qp->pd || (mw->qp && mw->qp != qp))
		return MR_BAD_KEY;
	if (access & ~mw->access)
		return MR_BAD_ACCESS;
	if (!range_holds(mw->addr, mw->length, addr, len))
		return MR_BAD_RANGE;
	mr_place(mw->mr, addr, mem, vaddr);
	return MR_OK;
}

bool mw_may_invalidate(const struct rnic_qp *qp, uint32_t key)
{
	const struct rnic_mw *mw = mw_find(qp->dev, key);

	return mw && mw->type == RNIC_MW_TYPE_2 && mw->qp == qp; /* o10-37.2.26: not type 1 */
}

void mw_invalidate(struct rnic_qp *qp, uint32_t key)
{
	unbind(mw_find(qp->dev, key));
}

void mw_qp_gone(struct rnic_qp *qp)
{
	struct rnic_mw *mw;

	for (uint32_t n = 0; qp->n_mw && (mw = table_next(&qp->dev->mws, &n)); n++)
		if (mw->qp == qp)
			unbind(mw);
}
