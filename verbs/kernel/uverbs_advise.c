/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * ADVISE_MR: prefetching of what is paged on demand. An access brings pages in as the process's own
 * would, so that nothing is left to be done before it; but what an access would be refused is
 * refused here, if the program waits for the answer (FLUSH). Without, only keys are judged.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <stdlib.h>

#include "rnic/objects.h"
#include "verbs/kernel/umem.h"
#include "verbs/kernel/uverbs_obj.h"

static_assert(sizeof(struct ib_uverbs_sge) == 16, "SGE");

static int key_check(struct ucmd *cmd, struct rnic_pd *pd, const struct ib_uverbs_sge *sge,
		     uint64_t advice, const struct rnic_mr_attr **attr)
{
	const struct rnic_mr *mr = rnic_mr_find(pd, sge->lkey);

	*attr = mr ? rnic_mr_attr_get(mr) : NULL;
	if (!mr || (struct umem *)(*attr)->mem == umem_base((struct umem *)(*attr)->mem)) {
		ucmd_log(cmd, "advice: key 0x%x is of no MR of this PD with on-demand paging",
			 sge->lkey);
		return -EINVAL;
	}
	if (advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE &&
	    !((*attr)->access & RNIC_ACCESS_LOCAL_WRITE)) {
		ucmd_log(cmd, "advice: key 0x%x does not permit to write", sge->lkey);
		return -EPERM;
	}
	return 0;
}

static int range_fault(struct ucmd *cmd, const struct rnic_mr_attr *attr,
		       const struct ib_uverbs_sge *sge, uint64_t advice)
{
	bool write = advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	uint64_t offset = sge->addr - attr->iova;
	int rc = 0;

	if (sge->addr < attr->iova || offset > attr->length || sge->length > attr->length - offset)
		rc = -EFAULT;
	else if (advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		rc = call_check(cmd->call, (struct umem *)attr->mem, attr->start + offset,
				sge->length, write);
	if (rc && rc != -EINPROGRESS)
		ucmd_log(cmd, "advice: 0x%llx, %u bytes, of key 0x%x cannot be reached",
			 (unsigned long long)sge->addr, sge->length, sge->lkey);
	return rc;
}

static int sges_advise(struct ucmd *cmd, struct rnic_pd *pd, const struct ib_uverbs_sge *sge,
		       uint32_t n, uint64_t advice, bool flush)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < n; i++) {
		const struct rnic_mr_attr *attr;

		rc = key_check(cmd, pd, &sge[i], advice, &attr);
		if (!rc && flush)
			rc = range_fault(cmd, attr, &sge[i], advice);
	}
	return rc;
}

int method_advise_mr(struct ucmd *cmd)
{
	const struct uattr *list = &cmd->attr[UVERBS_ATTR_ADVISE_MR_SGE_LIST];
	struct rnic_pd *pd = cmd->attr[UVERBS_ATTR_ADVISE_MR_PD_HANDLE].object->object;
	struct ib_uverbs_sge *sge;
	uint64_t advice;
	uint32_t flags;
	int rc = uattr_const(cmd, UVERBS_ATTR_ADVISE_MR_ADVICE, UINT64_MAX, &advice);

	if (!rc)
		rc = uattr_flags(cmd, UVERBS_ATTR_ADVISE_MR_FLAGS, IB_UVERBS_ADVISE_MR_FLAG_FLUSH,
				 &flags);
	if (!rc && list->len % sizeof(*sge))
		rc = -EINVAL;
	if (rc)
		return rc;
	if (advice > IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT) {
		ucmd_log(cmd, "advice %llu is not known", (unsigned long long)advice);
		return -EOPNOTSUPP;
	}
	sge = malloc(list->len);
	if (!sge)
		return -ENOMEM;
	rc = uattr_read(cmd, UVERBS_ATTR_ADVISE_MR_SGE_LIST, sge, list->len);
	if (!rc)
		rc = sges_advise(cmd, pd, sge, list->len / sizeof(*sge), advice, flags);
	free(sge);
	return rc;
}
