/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a client of uverbs begins with. */
#include "config.h"

#include "client.h"

#define ALL_ACCESS 0xf

static int32_t channel_begin(void)
{
	struct ib_uverbs_create_comp_channel req = {0};
	struct ib_uverbs_create_comp_channel_resp resp;

	ck_assert_int_eq(
		do_write(IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, &req, 8, &resp, sizeof(resp)), 16);
	return (int32_t)resp.fd;
}

void client_begin(struct client *c, uint64_t addr, uint64_t len)
{
	struct ib_uverbs_create_srq_resp srq;
	struct rxe_create_srq_resp srq_uhw;
	struct ib_uverbs_create_ah_resp ah;
	struct rxe_create_ah_resp ah_uhw;
	struct ib_uverbs_reg_mr_resp mr;

	c->pd = make_pd();
	c->cq = make_cq(31, channel_begin(), NULL);
	ck_assert_int_eq(make_mr(c->pd, addr, len, ALL_ACCESS, &mr), 0);
	c->lkey = mr.lkey;
	c->rkey = mr.rkey;
	ck_assert_int_eq(make_srq(c->pd, 7, 2, 1, &srq, &srq_uhw), 0);
	c->srq = srq.srq_handle;
	ck_assert_int_eq(make_ah(c->pd, 1, &ah, &ah_uhw), 0);
	c->ah = ah_uhw.ah_num;
}

uint32_t client_qp(const struct ib_uverbs_create_qp *req)
{
	struct ib_uverbs_create_qp_resp resp;
	struct rxe_create_qp_resp uhw;

	ck_assert_int_eq(make_qp(req, &resp, &uhw), 0);
	return resp.qp_handle;
}

void client_reads(void)
{
	for (struct channel *ch = rig.channels; ch; ch = ch->next)
		if (ch->n_records > RECORDS_MAX / 2)
			ch->n_records = ch->n_read = 0;
}
