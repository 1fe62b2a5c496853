/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Protection domains and memory regions. */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdlib.h>

#include "rnic/objects.h"
#include "verbs/kernel/umem.h"
#include "verbs/kernel/uverbs_obj.h"

#define PAGE 4096ull

static_assert((int)RNIC_ACCESS_LOCAL_WRITE == (int)IB_UVERBS_ACCESS_LOCAL_WRITE, "access");
static_assert((int)RNIC_ACCESS_REMOTE_WRITE == (int)IB_UVERBS_ACCESS_REMOTE_WRITE, "access");
static_assert((int)RNIC_ACCESS_REMOTE_READ == (int)IB_UVERBS_ACCESS_REMOTE_READ, "access");
static_assert((int)RNIC_ACCESS_REMOTE_ATOMIC == (int)IB_UVERBS_ACCESS_REMOTE_ATOMIC, "access");
static_assert((int)RNIC_ACCESS_MW_BIND == (int)IB_UVERBS_ACCESS_MW_BIND, "access");
static_assert((int)RNIC_ACCESS_ZERO_BASED == (int)IB_UVERBS_ACCESS_ZERO_BASED, "access");

#define ACCESS_CHANGES                                                                             \
	(RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_ATOMIC |          \
	 RNIC_ACCESS_MW_BIND)
#define ACCESS_OF_CORE (2 * RNIC_ACCESS_ZERO_BASED - 1)
#define ACCESS_SUPPORTED ((IB_UVERBS_ACCESS_HUGETLB << 1) - 1)

enum { REREG_TRANS = 1 << 0, REREG_PD = 1 << 1, REREG_ACCESS = 1 << 2 };

int pd_destroy(struct context *c, struct uobject *u)
{
	int rc;

	if (!u->object)
		return uobject_bury(c, u, NULL, NULL);
	rc = rnic_pd_destroy(u->object);
	if (!rc)
		uobject_remove(c, u);
	return rc;
}

int cmd_alloc_pd(struct ucmd *cmd)
{
	struct ib_uverbs_alloc_pd_resp resp;
	struct rnic_pd *pd;
	struct uobject *u;
	int rc = rnic_pd_create(cmd->dev->rnic, &pd);

	if (rc)
		return rc;
	rc = uobject_add(cmd->context, UOBJ_PD, pd, 0, &u);
	if (rc) {
		rnic_pd_destroy(pd);
		return rc;
	}
	resp.pd_handle = u->handle;
	rc = ucmd_response(cmd, &resp, sizeof(resp));
	if (rc)
		pd_destroy(cmd->context, u);
	return rc;
}

int cmd_dealloc_pd(struct ucmd *cmd)
{
	struct ib_uverbs_dealloc_pd req;
	struct uobject *u;
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (!rc)
		rc = ucmd_lookup(cmd, UOBJ_PD, req.pd_handle, &u);
	return rc ? rc : pd_destroy(cmd->context, u);
}

int method_destroy_pd(struct ucmd *cmd)
{
	return pd_destroy(cmd->context, cmd->attr[UVERBS_ATTR_DESTROY_PD_HANDLE].object);
}

static int access_check(struct ucmd *cmd, uint32_t access)
{
	uint32_t known = ACCESS_SUPPORTED | IB_UVERBS_ACCESS_OPTIONAL_RANGE;
	uint32_t remote_change = RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_ATOMIC;

	if (access & ~known) {
		ucmd_log(cmd, "MR: access flags 0x%x are not known", access & ~known);
		return -EINVAL;
	}
	if (access & remote_change && !(access & RNIC_ACCESS_LOCAL_WRITE)) {
		ucmd_log(cmd, "MR: remote write and atomic need local write");
		return -EINVAL;
	}
	return 0;
}

static int range_check(struct ucmd *cmd, uint64_t start, uint64_t length, uint64_t iova)
{
	if (!start && length == UINT64_MAX && iova) {
		ucmd_log(cmd, "MR: the whole memory begins at iova 0");
		return -EINVAL;
	}
	if ((start ^ iova) % PAGE) {
		ucmd_log(cmd, "MR: start 0x%llx and iova 0x%llx lie differently in their pages",
			 (unsigned long long)start, (unsigned long long)iova);
		return -EINVAL;
	}
	if (start + length < start || iova + length < iova) {
		ucmd_log(cmd, "MR: %llu bytes wrap around", (unsigned long long)length);
		return -EINVAL;
	}
	return 0;
}

/* What is paged on demand need not even be mapped now. */
static int memory_check(struct ucmd *cmd, struct umem *umem, const struct rnic_mr_attr *attr)
{
	bool change = attr->access & ACCESS_CHANGES;
	int rc = 0;

	if (attr->length && umem == umem_base(umem))
		rc = call_check(cmd->call, umem, attr->start, attr->length, change);
	if (rc && rc != -EINPROGRESS)
		ucmd_log(cmd, "MR: 0x%llx, %llu bytes, are not mapped%s",
			 (unsigned long long)attr->start, (unsigned long long)attr->length,
			 change ? " for writing" : "");
	return rc;
}

/* A reference to the memory as an MR with that access sees it. */
static struct umem *umem_for(struct umem *u, uint32_t access)
{
	return access & IB_UVERBS_ACCESS_ON_DEMAND ? umem_paged(u) : umem_get(u);
}

/* Takes umem, also on error. */
static int mr_create(struct ucmd *cmd, struct rnic_pd *pd, struct rnic_mr_attr *attr,
		     struct umem *umem, struct uobject **u)
{
	struct uverbs_mr *mr = calloc(1, sizeof(*mr));
	int rc;

	if (!mr) {
		umem_put(umem);
		return -ENOMEM;
	}
	mr->umem = umem;
	attr->mem = (struct rnic_mem *)mr->umem;
	rc = rnic_mr_create(pd, attr, &mr->mr);
	if (!rc) {
		rc = uobject_add(cmd->context, UOBJ_MR, mr, 0, u);
		if (!rc)
			return 0;
		rnic_mr_destroy(mr->mr);
	}
	umem_put(mr->umem);
	free(mr);
	return rc;
}

int mr_destroy(struct context *c, struct uobject *u)
{
	struct uverbs_mr *mr = u->object;
	int rc;

	if (!mr)
		return uobject_bury(c, u, NULL, NULL);
	rc = rnic_mr_destroy(mr->mr);
	if (rc)
		return rc;
	umem_put(mr->umem);
	free(mr);
	uobject_remove(c, u);
	return 0;
}

int cmd_reg_mr(struct ucmd *cmd)
{
	struct ib_uverbs_reg_mr req;
	struct ib_uverbs_reg_mr_resp resp;
	struct rnic_mr_attr attr;
	struct uobject *pd, *u;
	struct umem *umem;
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (!rc)
		rc = access_check(cmd, req.access_flags);
	if (!rc)
		rc = range_check(cmd, req.start, req.length, req.hca_va);
	if (!rc)
		rc = ucmd_object(cmd, UOBJ_PD, req.pd_handle, &pd);
	if (rc)
		return rc;
	attr = (struct rnic_mr_attr){.start = req.start,
				     .length = req.length,
				     .iova = req.hca_va,
				     .access = req.access_flags & ACCESS_OF_CORE};
	umem = umem_for(session_umem(cmd->call->session), req.access_flags);
	if (!umem)
		return -ENOMEM;
	rc = memory_check(cmd, umem, &attr);
	if (rc)
		umem_put(umem);
	else
		rc = mr_create(cmd, pd->object, &attr, umem, &u);
	if (rc)
		return rc;
	resp.mr_handle = u->handle;
	resp.lkey = resp.rkey = rnic_mr_key(((struct uverbs_mr *)u->object)->mr);
	rc = ucmd_response(cmd, &resp, sizeof(resp));
	if (rc)
		mr_destroy(cmd->context, u);
	return rc;
}

static int rereg_flags_check(struct ucmd *cmd, const struct ib_uverbs_rereg_mr *req)
{
	if (!req->flags) {
		ucmd_log(cmd, "MR: nothing is to be changed");
		return -EINVAL;
	}
	if (req->flags & ~(uint32_t)(REREG_TRANS | REREG_PD | REREG_ACCESS)) {
		ucmd_log(cmd, "MR: flags 0x%x are not known", req->flags);
		return -EOPNOTSUPP;
	}
	return req->flags & REREG_TRANS ? range_check(cmd, req->start, req->length, req->hca_va)
					: 0;
}

/* The memory of the MR as it shall be: a reference. */
static struct umem *rereg_umem(struct ucmd *cmd, const struct ib_uverbs_rereg_mr *req,
			       const struct uverbs_mr *mr)
{
	uint32_t was = mr->umem == umem_base(mr->umem) ? 0 : IB_UVERBS_ACCESS_ON_DEMAND;

	return umem_for(req->flags & REREG_TRANS ? session_umem(cmd->call->session)
						 : umem_base(mr->umem),
			req->flags & REREG_ACCESS ? req->access_flags : was);
}

/* What the MR shall be, of the memory *umem, which is the caller's also on error (or NULL). */
static int rereg_attr(struct ucmd *cmd, const struct ib_uverbs_rereg_mr *req,
		      const struct uverbs_mr *mr, struct rnic_mr_attr *attr, struct umem **umem)
{
	int rc;

	*attr = *rnic_mr_attr_get(mr->mr);
	*umem = NULL;
	if (req->flags & REREG_ACCESS) {
		rc = access_check(cmd, req->access_flags);
		if (rc)
			return rc;
		attr->access = req->access_flags & ACCESS_OF_CORE;
	}
	*umem = rereg_umem(cmd, req, mr);
	if (!*umem)
		return -ENOMEM;
	attr->mem = (struct rnic_mem *)*umem;
	if (req->flags & REREG_TRANS) {
		attr->start = req->start;
		attr->length = req->length;
		attr->iova = req->hca_va;
	}
	return req->flags == REREG_PD ? 0 : memory_check(cmd, *umem, attr);
}

/* The keys stay, as rxe's do; nothing is changed on error. Takes *umem if it succeeds. */
static int mr_change(struct uverbs_mr *mr, struct rnic_pd *pd, const struct rnic_mr_attr *attr,
		     struct umem **umem)
{
	struct umem *old = mr->umem;
	int rc = rnic_mr_modify(mr->mr, pd, attr);

	if (rc)
		return rc;
	mr->umem = *umem;
	*umem = old;
	return 0;
}

int cmd_rereg_mr(struct ucmd *cmd)
{
	struct ib_uverbs_rereg_mr req;
	struct ib_uverbs_rereg_mr_resp resp;
	struct rnic_mr_attr attr;
	struct uobject *u, *pd = NULL;
	struct uverbs_mr *mr;
	struct umem *umem;
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (!rc)
		rc = rereg_flags_check(cmd, &req);
	if (!rc)
		rc = ucmd_lookup(cmd, UOBJ_MR, req.mr_handle, &u);
	if (rc)
		return rc;
	mr = u->object;
	rc = rereg_attr(cmd, &req, mr, &attr, &umem);
	if (!rc && req.flags & REREG_PD)
		rc = ucmd_object(cmd, UOBJ_PD, req.pd_handle, &pd);
	if (!rc)
		rc = mr_change(mr, pd ? pd->object : rnic_mr_pd(mr->mr), &attr, &umem);
	umem_put(umem);
	if (rc)
		return rc;
	resp.lkey = resp.rkey = rnic_mr_key(mr->mr);
	return ucmd_response(cmd, &resp, sizeof(resp));
}

int cmd_dereg_mr(struct ucmd *cmd)
{
	struct ib_uverbs_dereg_mr req;
	struct uobject *u;
	int rc = ucmd_request(cmd, &req, sizeof(req));

	if (!rc)
		rc = ucmd_lookup(cmd, UOBJ_MR, req.mr_handle, &u);
	return rc ? rc : mr_destroy(cmd->context, u);
}

int method_destroy_mr(struct ucmd *cmd)
{
	return mr_destroy(cmd->context, cmd->attr[UVERBS_ATTR_DESTROY_MR_HANDLE].object);
}

int method_query_mr(struct ucmd *cmd)
{
	const struct uverbs_mr *mr = cmd->attr[UVERBS_ATTR_QUERY_MR_HANDLE].object->object;
	const struct rnic_mr_attr *attr = rnic_mr_attr_get(mr->mr);
	uint32_t key = rnic_mr_key(mr->mr);
	int rc = uattr_write(cmd, UVERBS_ATTR_QUERY_MR_RESP_LKEY, &key, sizeof(key));

	if (!rc)
		rc = uattr_write(cmd, UVERBS_ATTR_QUERY_MR_RESP_RKEY, &key, sizeof(key));
	if (!rc)
		rc = uattr_write(cmd, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, &attr->length,
				 sizeof(attr->length));
	if (!rc)
		rc = uattr_write(cmd, UVERBS_ATTR_QUERY_MR_RESP_IOVA, &attr->iova,
				 sizeof(attr->iova));
	return rc == -ENOENT ? 0 : rc;
}
