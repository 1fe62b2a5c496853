/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Requests that cannot be posted. What the provider refuses by itself has no line in the log. */
#include <errno.h>
#include <stddef.h>

#include "refusals.h"

static int send_in(struct use *u, enum ibv_qp_state state)
{
	struct ibv_sge sge = {(uintptr_t)u->buf, 8, u->mr->lkey};
	struct ibv_qp *qp = rig_qp(&u->r, IBV_QPT_RC);
	int rc;

	ladder_to(&u->r, qp, state);
	rc = rig_post(qp, IBV_WR_SEND, &sge, 1, 0, 0);
	MUST(!ibv_destroy_qp(qp));
	return rc;
}

static int send_in_reset(struct use *u)
{
	return send_in(u, IBV_QPS_RESET);
}

static int send_in_init(struct use *u)
{
	return send_in(u, IBV_QPS_INIT);
}

static int send_in_rtr(struct use *u)
{
	return send_in(u, IBV_QPS_RTR);
}

static int recv_in_reset(struct use *u)
{
	ladder_to(&u->r, u->rc, IBV_QPS_RESET);
	return rig_recv(u->rc, NULL, 0);
}

static int send_of_too_many_sges(struct use *u)
{
	struct ibv_sge sge[40] = {{(uintptr_t)u->buf, 8, u->mr->lkey}};

	ladder_to(&u->r, u->rc, IBV_QPS_RTS);
	return rig_post(u->rc, IBV_WR_SEND, sge, 40, 0, 0);
}

static int recv_of_too_many_sges(struct use *u)
{
	struct ibv_sge sge[40] = {{(uintptr_t)u->buf, 8, u->mr->lkey}};

	ladder_to(&u->r, u->rc, IBV_QPS_INIT);
	return rig_recv(u->rc, sge, 40);
}

/* Nothing answers, so nothing leaves the queue. */
static int send_into_a_full_queue(struct use *u)
{
	struct ibv_qp *qp = rig_qp(&u->r, IBV_QPT_RC);
	int rc = 0, n = 0;

	rig_connect_with(&u->r, qp, 0xfffffe, 0, 7, 7);
	while (!rc && n++ < 1000)
		rc = rig_post(qp, IBV_WR_SEND, NULL, 0, 0, 0);
	MUST(!ibv_destroy_qp(qp));
	return rc;
}

static int recv_into_a_full_queue(struct use *u)
{
	int rc = 0, n = 0;

	ladder_to(&u->r, u->rc, IBV_QPS_INIT);
	while (!rc && n++ < 1000)
		rc = rig_recv(u->rc, NULL, 0);
	ladder_to(&u->r, u->rc, IBV_QPS_RESET);
	return rc;
}

static int multicast_by_rc(struct use *u)
{
	union ibv_gid group = {.raw = {[10] = 0xff, [11] = 0xff, 239, 1, 2, 3}};

	return ibv_attach_mcast(u->rc, &group, 0);
}

static int multicast_of_an_address_that_is_none(struct use *u)
{
	return ibv_attach_mcast(u->ud, &u->r.gid, 0);
}

static int qp_in_a_multicast_group_destroyed(struct use *u)
{
	union ibv_gid group = {.raw = {[10] = 0xff, [11] = 0xff, 239, 1, 2, 3}};
	int rc;

	MUST(!ibv_attach_mcast(u->ud, &group, 0));
	rc = ibv_destroy_qp(u->ud);
	MUST(rc && !ibv_detach_mcast(u->ud, &group, 0));
	return rc;
}

#define ROW(fn, expected, words)                                                                   \
	{                                                                                          \
#fn, fn, expected, words                                                           \
	}

const struct refusal refusals_posts[] = {
	ROW(send_in_reset, EINVAL, "post_send in RESET"),
	ROW(send_in_init, EINVAL, "post_send in INIT"),
	ROW(send_in_rtr, EINVAL, "post_send in RTR"),
	ROW(recv_in_reset, EINVAL, NULL),
	ROW(send_of_too_many_sges, EINVAL, NULL),
	ROW(recv_of_too_many_sges, EINVAL, NULL),
	ROW(send_into_a_full_queue, ENOMEM, NULL),
	ROW(recv_into_a_full_queue, ENOMEM, NULL),
	ROW(multicast_by_rc, EINVAL, "only a UD QP can join"),
	ROW(multicast_of_an_address_that_is_none, EINVAL, "only a multicast GID"),
	ROW(qp_in_a_multicast_group_destroyed, EBUSY, "it is attached to 1 multicast groups"),
};
const unsigned int n_refusals_posts = sizeof(refusals_posts) / sizeof(refusals_posts[0]);
