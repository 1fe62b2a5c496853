/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The objects behind uverbs handles, and the command functions by object. What a struct uobject
 * points to: PD: struct rnic_pd; AH: struct rnic_ah; MW: struct rnic_mw; the others the structs
 * below.
 */
#ifndef KERNEL_UVERBS_OBJ_H
#define KERNEL_UVERBS_OBJ_H

#include "verbs/kernel/rxe.h"
#include "verbs/kernel/uverbs_attr.h"

struct rnic_mr;
struct umem;

struct uverbs_mr {
	struct rnic_mr *mr;
	struct umem *umem;
};

struct uverbs_cq {
	struct rxe_cq rxe;
	struct rnic_cq *cq;
	struct context *context;
	struct channel *channel; /* or NULL */
	struct channel *async;	 /* likewise */
	uint64_t user_handle;
};

struct uverbs_srq {
	struct rxe_rq rq;
	struct rnic_srq *srq;
	struct context *context;
	struct channel *async; /* or NULL */
	uint64_t user_handle;
};

struct uverbs_qp {
	struct rxe_qp rxe;
	struct rnic_qp *qp;
	struct context *context;
	struct channel *async; /* or NULL */
	uint64_t user_handle;
	struct rxe_cap send, recv;
	uint32_t handle;
	bool sq_sig_all;
};

/* Commands by write() and INVOKE_WRITE. */
int cmd_get_context(struct ucmd *cmd);
int cmd_query_device(struct ucmd *cmd);
int cmd_query_device_ex(struct ucmd *cmd);
int cmd_query_port(struct ucmd *cmd);
int cmd_alloc_pd(struct ucmd *cmd);
int cmd_dealloc_pd(struct ucmd *cmd);
int cmd_reg_mr(struct ucmd *cmd);
int cmd_rereg_mr(struct ucmd *cmd);
int cmd_dereg_mr(struct ucmd *cmd);
int cmd_alloc_mw(struct ucmd *cmd);
int cmd_dealloc_mw(struct ucmd *cmd);
int cmd_create_comp_channel(struct ucmd *cmd);
int cmd_create_cq(struct ucmd *cmd);
int cmd_create_cq_ex(struct ucmd *cmd);
int cmd_resize_cq(struct ucmd *cmd);
int cmd_req_notify_cq(struct ucmd *cmd);
int cmd_destroy_cq(struct ucmd *cmd);
int cmd_create_qp(struct ucmd *cmd);
int cmd_create_qp_ex(struct ucmd *cmd);
int cmd_query_qp(struct ucmd *cmd);
int cmd_modify_qp(struct ucmd *cmd);
int cmd_modify_qp_ex(struct ucmd *cmd);
int cmd_destroy_qp(struct ucmd *cmd);
int cmd_post_send(struct ucmd *cmd);
int cmd_attach_mcast(struct ucmd *cmd);
int cmd_detach_mcast(struct ucmd *cmd);
int cmd_create_ah(struct ucmd *cmd);
int cmd_destroy_ah(struct ucmd *cmd);
int cmd_create_srq(struct ucmd *cmd);
int cmd_create_xsrq(struct ucmd *cmd);
int cmd_modify_srq(struct ucmd *cmd);
int cmd_query_srq(struct ucmd *cmd);
int cmd_destroy_srq(struct ucmd *cmd);

/* Methods of the ioctl. */
int method_info_handles(struct ucmd *cmd);
int method_query_port(struct ucmd *cmd);
int method_get_context(struct ucmd *cmd);
int method_query_context(struct ucmd *cmd);
int method_query_gid_table(struct ucmd *cmd);
int method_query_gid_entry(struct ucmd *cmd);
int method_async_event_alloc(struct ucmd *cmd);
int method_destroy_pd(struct ucmd *cmd);
int method_destroy_mr(struct ucmd *cmd);
int method_query_mr(struct ucmd *cmd);
int method_advise_mr(struct ucmd *cmd);
int method_destroy_mw(struct ucmd *cmd);
int method_create_cq(struct ucmd *cmd);
int method_destroy_cq(struct ucmd *cmd);
int method_create_qp(struct ucmd *cmd);
int method_destroy_qp(struct ucmd *cmd);
int method_create_srq(struct ucmd *cmd);
int method_destroy_srq(struct ucmd *cmd);
int method_destroy_ah(struct ucmd *cmd);

/*
 * Destroy and remove the object: 0 or -EBUSY. *async and *comp: events that the program has read
 * of it in its life.
 */
int pd_destroy(struct context *c, struct uobject *u);
int mr_destroy(struct context *c, struct uobject *u); /* -EINVAL: windows are bound to it */
int mw_destroy(struct context *c, struct uobject *u);
int ah_destroy(struct context *c, struct uobject *u);
int cq_destroy(struct context *c, struct uobject *u, uint32_t *comp, uint32_t *async);
int qp_destroy(struct context *c, struct uobject *u, uint32_t *async);
int srq_destroy(struct context *c, struct uobject *u, uint32_t *async);

/* ---- uverbs_context.c ---- */
/* Where the new object's async events go: what its attribute names, or the descriptor that was made
 * first. A reference, or NULL. */
struct channel *async_get(struct ucmd *cmd, uint32_t attr);
/* Events of `owner` there that the program has read; the others are taken out. */
uint32_t async_forget(struct channel *async, const void *owner);
/* Is it one of this context's? */
bool context_has_channel(const struct uverbs_context *uc, const struct channel *ch);

#endif
