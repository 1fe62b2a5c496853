/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Requests that the peer never hears of: binding and invalidating memory windows.
 *
 * A bind is done when its turn to be sent comes, so that what is posted behind it may tell the peer
 * of the new key at once; an invalidation only when all before it is acknowledged, so that nothing
 * that is sent again misses the key. Both complete in the order in which they were posted.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "rnic/mw.h"
#include "rnic/requester.h"

static bool bind_do(struct rnic_qp *qp, const struct send_entry *e)
{
	struct rnic_bind bind;

	memcpy(&bind, e->data, sizeof(bind));
	return mw_bind(qp, &bind);
}

static bool invalidate_do(struct rnic_qp *qp, const struct send_entry *e)
{
	if (mw_may_invalidate(qp, e->rkey)) {
		mw_invalidate(qp, e->rkey);
		return true;
	}
	dev_log(qp->dev,
		"QP %" PRIu32 ": key 0x%" PRIx32 " is not that of a window of type 2 that it "
		"has bound",
		qp->qpn, e->rkey);
	return false;
}

bool requester_do_local(struct rnic_qp *qp, struct send_entry *e)
{
	struct requester *req = qp->req;
	bool ok = e->done;

	if (!ok && e->op == RNIC_WR_BIND_MW)
		ok = bind_do(qp, e);
	else if (!ok && req->cur != req->una)
		return false;
	else if (!ok)
		ok = invalidate_do(qp, e);
	if (!ok) {
		e->status = RNIC_WC_MW_BIND_ERR;
		return true;
	}
	e->done = true;
	req->cur++;
	requester_settle(qp);
	return true;
}

void requester_settle(struct rnic_qp *qp)
{
	struct requester *req = qp->req;

	while (req->una != req->tail && send_entry(req, req->una)->done)
		requester_complete(qp, RNIC_WC_SUCCESS);
}
